"""A mind that has itself woken later: by its plan, as its file and those whom it answers allow."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import as_policy
from loopforge.core.room_vocabulary import Say, Schedule, StaySilent, Told
from loopforge.core.schedule.reminder_events import ReminderSet
from loopforge.core.turn_events import Judged, Perceived
from tests.rooms.conftest import Home, living, write_mates
from tests.rooms.test_reminders import passes, rung
from tests.sim_clock import SimClock

NOW = datetime(2026, 3, 25, 14, 0, tzinfo=UTC)
BAKER = "---\nname: Maya\nrole: baker\npolicy: stub\ntools: [remind]\n---\nYou are Maya."


def thinks(home: Home, *acts: Schedule) -> None:
    """Have a mind that asks nothing: called by a person it does these, woken it says so."""

    def baker(seen: AgentPerception) -> AgentActionPlan:
        woken = seen.context["summons"] == "scheduled"
        does: tuple[Say | Schedule | StaySilent, ...] = (Say(text="Look now!"),) if woken else acts
        return AgentActionPlan(intent="bake", mode="context", narrative="Bread rises.", acts=does)

    cast("dict[str, object]", home.app.policies)["stub"] = (as_policy(baker), "stub/9")


async def judged(home: Home) -> list[str]:
    """The rule by which each act of the first turn was refused; "" for one that was not."""
    return [verdict.rule for verdict in (await home.bodies(Judged))[0].verdicts]


async def test_a_mind_has_itself_woken(tmp_path: Path) -> None:
    """By a span and by a moment: it is told in the room, and it takes a turn, once each."""
    write_mates(tmp_path, maya=BAKER)
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        thinks(
            home,
            Schedule(when="PT2H", what="the bread"),
            Schedule(when="2026-03-26T09:00:00+01:00", what="the cake"),
        )
        await home.hears("ana", "@maya bake")
        first, second = await home.bodies(ReminderSet)
        assert (first.number, second.number) == (1, 2)
        assert first.due.replace(microsecond=0) == NOW + timedelta(hours=2)
        assert second.due == datetime(2026, 3, 26, 8, tzinfo=UTC)
        assert first.person == second.person == home.people["ana"]
        told = [str(word.text) for word in await home.bodies(Told)]
        assert "Maya has itself woken Wednesday 25 March, 16:00: the bread" in told[0]
        assert "/reminders cancel 2 ends it." in told[1]
        listed = await home.does("ana", "reminders")
        assert "[1] the bread: Wednesday 25 March, 16:00, in 2 hours" in listed
        await passes(home, timedelta(hours=3))
        assert await rung(home) == ["⏰ Scheduled for ana, Maya does it now: the bread [1]"]
        assert [seen.summons for seen in await home.bodies(Perceived)] == ["mention", "scheduled"]
        assert (await home.lines())[-1] == "maya: Look now!"
        await passes(home, timedelta(days=1))
        assert len(await rung(home)) == 2


async def test_nobody_wakes_itself_for_ever(tmp_path: Path) -> None:
    """It costs what a line costs: one that says nothing stops as well, until a person speaks."""
    write_mates(tmp_path, maya=BAKER)
    async with living(tmp_path, clock=SimClock(NOW), energy_capacity=3) as home:

        def baker(_seen: AgentPerception) -> AgentActionPlan:
            again = Schedule(when="PT30S", what="the bread")
            return AgentActionPlan(intent="bake", mode="context", narrative="So.", acts=(again,))

        cast("dict[str, object]", home.app.policies)["stub"] = (as_policy(baker), "stub/9")
        await home.hears("ana", "@maya bake")
        for _ in range(9):
            await passes(home, timedelta(minutes=1))
        assert len(await rung(home)) == len(await home.bodies(ReminderSet)) == 3


async def test_without_the_tool_it_is_refused(tmp_path: Path) -> None:
    """What its file does not give by a tool it does not get by an act; the record says so."""
    write_mates(tmp_path, maya=BAKER.replace("tools: [remind]\n", ""))
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        thinks(home, Schedule(when="PT2H", what="the bread"))
        await home.hears("ana", "@maya bake")
        assert await judged(home) == ["no-schedule"]
        assert await home.bodies(ReminderSet) == []


async def test_as_many_wait_as_anybody_may_have_set(tmp_path: Path) -> None:
    """Its own count among the reminders of whoever it answers."""
    write_mates(tmp_path, maya=BAKER)
    async with living(tmp_path, clock=SimClock(NOW), reminders_a_person=2) as home:
        thinks(home, *[Schedule(when=f"PT{nth}H", what="the bread") for nth in (1, 2, 3)])
        await home.hears("ana", "@maya bake")
        assert await judged(home) == ["", "", "no-schedule"]
        assert len(await home.bodies(ReminderSet)) == 2


async def test_a_secret_is_not_kept_for_later(tmp_path: Path) -> None:
    """What people will be told then goes through the same filter as what they are told now."""
    write_mates(tmp_path, maya=BAKER)
    key = "sk-proj-A1b2C3d4E5f6G7h8I9j0K1l2"
    async with living(tmp_path, clock=SimClock(NOW), environ={"OPENAI_API_KEY": key}) as home:
        thinks(home, Schedule(when="PT1H", what=f"the key is {key}"))
        await home.hears("ana", "@maya bake")
        await passes(home, timedelta(hours=2))
        (told,) = await rung(home)
        assert "the key is" in told
        assert key not in told
