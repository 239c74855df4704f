"""Budgets in a living room: held, settled, stepped down, spent, told once, and begun anew."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from loopforge.budgets.spending_store import SpendingAmounts
from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.effect_states import EffectFailed, EffectReturned
from loopforge.core.limits.budget_limits import (
    Budget,
    Charge,
    Period,
    Scope,
    Unit,
    explain_budget_note,
)
from loopforge.core.limits.money_amounts import DOLLAR
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import Thinking, ask, call
from loopforge.core.room_vocabulary import Said, Told
from loopforge.core.turn_events import Answered
from loopforge.errors import Unknown
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.budgets.test_stopped_spending import SlowTables
from tests.models.server import Behaviour, serving
from tests.rooms.conftest import MATE, Home, living, write_mates
from tests.still import while_answering

CENT = DOLLAR // 100


def budget(
    scope: Scope, amount: int, subject: str = "", unit: Unit = "dollars", period: Period = "day"
) -> Budget:
    """A budget."""
    return Budget(scope=scope, subject=subject, unit=unit, period=period, amount=amount)


def costly(question: Question) -> ScriptedAnswer:
    """Each answer costs a cent."""
    return ScriptedAnswer(text=f"So you say {len(question.messages)}.", cost="0.01")


@asynccontextmanager
async def household(path: Path, *budgets: Budget, **more: Any) -> AsyncIterator[Home]:
    """A home with Maya, whose answers cost a cent, with these budgets."""
    write_mates(path, ("maya",))
    async with living(path, more.pop("script", costly), **more) as home:
        for one in budgets:
            await home.app.budgets.book.put(one, "person:owner")
        yield home


async def gone(home: Home, **charge: Any) -> list[int]:
    """What is used or held of the budgets of a charge."""
    found = await home.app.budgets.standings(Charge(**charge))
    assert all(one.held == 0 for one in found)
    return [one.used for one in found]


@pytest.mark.parametrize(
    "bound",
    [
        budget("home", 3 * CENT),
        budget("room", 3 * CENT, "commons"),
        budget("mate", 3, "maya", "calls"),
        budget("surface", 3, "terminal", "calls", "month"),
    ],
)
async def test_a_spent_budget_stops_mates_and_the_room_is_told_once(
    tmp_path: Path, bound: Budget
) -> None:
    """No model is asked any more, for a title neither; it goes on when the period begins anew."""
    async with household(tmp_path, bound, script=costly) as home:
        for nth in range(6):
            await home.hears("ana", f"@maya say {nth}")
        said = len(await home.bodies(Said))
        asked = [one.charge.mate for one in home.models.asked]
        assert 2 <= said <= 3
        assert len([one for one in asked if one == "maya" or bound.scope != "mate"]) == 3
        (told,) = await home.bodies(Told)
        assert str(told.text).startswith("The budget is used up: ")
        again = "from 1 December on (UTC)" if bound.period == "month" else "after midnight (UTC)"
        assert str(told.text).endswith(f"It goes on {again}.")
        assert told.mend[0][1] == "budget"
        refused = (await home.bodies(Answered))[-1]
        assert refused.outcome == "failed"
        assert refused.budget is not None
        assert refused.budget.level == "spent"
        await home.clock.advance(timedelta(days=12).total_seconds())
        await home.hears("ana", "@maya good morning")
        assert len(await home.bodies(Said)) == said + 1


async def test_what_is_answered_counts_for_all_it_is_for(tmp_path: Path) -> None:
    """Once for each meter, by what the answer cost; Why? says against which budget that was."""
    bounds = [
        budget("home", 90 * CENT),
        budget("person", 10 * CENT, "p"),
        budget("mate", 50, "maya", "calls"),
    ]
    async with household(tmp_path) as home:
        await home.enter("ana")
        ana = home.people["ana"]
        for one in bounds:
            subject = ana if one.subject == "p" else one.subject
            known = budget(one.scope, one.amount, subject, one.unit)
            await home.app.budgets.book.put(known, "person:owner")
        await home.hears("ana", "@maya hello")
        asked = len(home.models.asked)
        assert await gone(home, person=ana) == [asked * CENT] * 2
        assert await gone(home, mate="maya", person="nobody") == [asked * CENT, asked]
        usage = await home.app.usage.by(("mate", "person", "surface"))
        assert {(row.person, row.surface) for row in usage} == {(ana, "terminal")}
        assert sum(row.picos for row in usage) == asked * CENT
        why = await home.does("ana", "why")
        assert "Against the budget of $0.90 a day for this home, of which $0.00 was gone" in why


async def test_guests_have_a_budget_of_their_own(tmp_path: Path) -> None:
    """Each of them, of the settings; nobody else is bound by it."""
    async with household(tmp_path, dollars_per_guest_a_day=0.02) as home:
        home.app.rooms.is_guest = lambda person: person == home.people["gus"]
        await home.enter("gus", "ana")
        for nth in range(3):
            await home.hears("gus", f"@maya guest {nth}", surface="web")
        assert len(await home.bodies(Said)) == 2
        await home.hears("ana", "@maya member", surface="web")
        assert len(await home.bodies(Said)) == 3
        (told,) = await home.bodies(Told)
        assert "$0.02 a day for one guest" in str(told.text)


async def test_an_answer_that_is_stopped_is_paid_as_far_as_it_came(tmp_path: Path) -> None:
    """It is counted as about what came, and what was held for it is held no more."""

    def slow(_: Question) -> ScriptedAnswer:
        return ScriptedAnswer(text="one two three", pieces=3, pause=100, cost="0.01")

    async with household(tmp_path, budget("home", DOLLAR), script=slow) as home:
        home.models._most = "0.05"
        line = asyncio.ensure_future(home.hears("ana", "@maya hello"))  # noqa: TID251
        await home.clock.advance(20)
        await home.app.rooms.stop(home.room, home.people["ana"])
        await home.clock.until(line)
        assert await gone(home) == [5 * CENT]
        (answered,) = await home.bodies(Answered)
        assert (answered.outcome, answered.usage.cost) == ("cancelled", "0.05")
        assert (await home.app.usage.total()).picos == 5 * CENT


async def test_what_a_dead_process_held_counts_when_its_turn_is_taken_up(tmp_path: Path) -> None:
    """A question in flight as the program died may have been paid: it counts in full, once."""
    async with household(tmp_path, budget("home", DOLLAR)) as home:
        home.models._most = "0.25"
        held = await home.app.budgets.reserve(
            Charge(turn="t1", stream="room:commons"), home_amounts(25 * CENT)
        )
        assert held.hold
    async with household(tmp_path, seed=8) as home:
        (standing,) = await home.app.budgets.standings(Charge())
        assert (standing.used, standing.held) == (0, 25 * CENT)
        await home.app.budgets.reserve(Charge(turn="t1"), home_amounts(CENT))
        (standing,) = await home.app.budgets.standings(Charge())
        assert (standing.used, standing.held) == (25 * CENT, CENT)


def home_amounts(picos: int):  # type: ignore[no-untyped-def]
    """What one question takes."""
    return SpendingAmounts(picos=picos, calls=1)


async def test_uses_of_a_tool_without_a_price_are_bound_too(tmp_path: Path) -> None:
    """The mate is told that the tool was not used, and until when."""

    def ticking(question: Question) -> ScriptedAnswer:
        if question.tools:
            return ScriptedAnswer(data={"say": "", "calls": [{"tool": "clock", "arguments": "{}"}]})
        return ScriptedAnswer(text=question.messages[-1][1][-300:])

    two = budget("tool", 2, "clock", "uses")
    async with household(tmp_path, two, script=ticking) as home:
        await home.hears("ana", "@maya what time is it?")
        assert len(await home.bodies(EffectReturned)) == 2
        failed = await home.bodies(EffectFailed)
        assert "clock was not used. The budget is used up: 2 uses of tools" in str(failed[0].value)
        assert await gone(home, tool="clock") == [2]


ANSWER = {"mode": "context", "rule": "", "narrative": "I answer.", "say": "Here.", "note": ""}
REST = {"files": [], "again": False, "tool": "", "arguments": "{}", "calls": []}


async def test_where_little_is_left_the_cheapest_tier_answers(tmp_path: Path) -> None:
    """From the first mark on; recorded, and shown by Why?."""
    write_mates(tmp_path, (), maya=MATE.format(name="Maya", role="mate", interest="x").replace(
        "role: mate", "role: mate\ntier: 3"))  # fmt: skip
    async with serving() as server:
        server.does(Behaviour(pieces=[json.dumps(ANSWER | REST)], read=100))
        models = {
            name: {
                "base_url": f"{server.url}/v1",
                "id": name,
                "price": {"read": price, "written": price},
            }
            for name, price in (("cheap", 1), ("dear", 1000))
        }
        tiers = {"1": ["cheap"], "3": ["dear"]}
        async with living(tmp_path, None, models=models, tiers=tiers) as home:
            while_answering(home.clock, lambda: server.waiting)
            await home.app.budgets.book.put(budget("home", 50 * CENT), "person:owner")
            for nth in range(8):
                await home.hears("ana", f"@maya {nth}")
            answered = [one for one in await home.bodies(Answered) if one.budget]
            stepped = [one for one in answered if one.budget and one.budget.stepped]
            assert {one.model for one in stepped} == {"cheap"}
            assert answered[0].model == "dear"
            last = stepped[-1].budget
            assert last is not None
            assert explain_budget_note(last).endswith(
                "little is left, so the cheapest tier was asked."
            )
            (before,) = await gone(home)
            await home.app.listing.check("dear")  # the owner tries it out: counted, never refused
            assert await gone(home) > [before + 10 * CENT]


async def test_what_is_stopped_is_recorded_as_it_is_paid(tmp_path: Path) -> None:
    """Also where a cheaper tier was asked than the mate's own."""
    write_mates(tmp_path, (), maya=MATE.format(name="Maya", role="mate", interest="x").replace(
        "role: mate", "role: mate\ntier: 3"))  # fmt: skip
    async with serving(tokenizer=True) as server:
        at = {"base_url": f"{server.url}/v1"}
        models = {
            name: at | {"id": name, "price": {"read": price, "written": price}}
            for name, price in (("cheap", 1), ("dear", 1000))
        }
        tiers = {"1": ["cheap"], "3": ["dear"]}
        async with living(tmp_path, None, models=models, tiers=tiers) as home:
            while_answering(home.clock, lambda: server.waiting)
            bound = budget("home", DOLLAR)
            await home.app.budgets.book.put(bound, "person:owner")
            await home.app.budgets.count(Charge(), home_amounts(90 * CENT))
            server.does(Behaviour(pieces=["I was about", " to say"], stall=1))
            line = asyncio.ensure_future(home.hears("ana", "@maya hello"))  # noqa: TID251
            await home.clock.until(asyncio.ensure_future(server.reached.wait()))  # noqa: TID251
            await home.app.rooms.stop(home.room, home.people["ana"])
            await home.clock.until(line)
            answered, *_ = await home.bodies(Answered)
            assert answered.outcome == "cancelled"
            assert answered.usage.read > 0
            total = await home.app.usage.total()
            assert await gone(home) == [90 * CENT + total.picos]


async def test_what_is_stopped_is_paid_at_the_model_that_spoke(tmp_path: Path) -> None:
    """Where the tier's first model failed, what came of the next is priced by that one's price."""
    write_mates(tmp_path, ("maya",))
    async with serving(tokenizer=True) as server:
        at = {"base_url": f"{server.url}/v1"}
        models = {
            name: at | {"id": name, "price": {"read": price, "written": price}}
            for name, price in (("cheap", 1), ("dear", 1000))
        }
        tiers = {str(tier): ["cheap", "dear"] for tier in (1, 2, 3, 4)}
        async with living(tmp_path, None, models=models, tiers=tiers) as home:
            while_answering(home.clock, lambda: server.waiting)
            server.does(Behaviour(status=404, body="{}"), Behaviour(pieces=["I was"] * 2, stall=1))
            line = asyncio.ensure_future(home.hears("ana", "@maya hello"))  # noqa: TID251
            while "dear" not in [asked.body.get("model") for asked in server.asked]:
                server.reached.clear()
                waiting = asyncio.ensure_future(server.reached.wait())  # noqa: TID251
                await home.clock.until(waiting)
            await home.app.rooms.stop(home.room, home.people["ana"])
            await home.clock.until(line)
            answered = (await home.bodies(Answered))[-1]
            assert answered.outcome == "cancelled"
            tokens = answered.usage.read + answered.usage.written
            assert float(answered.usage.cost) == pytest.approx(tokens * 1000 / 1_000_000)


async def test_what_is_stopped_is_paid_with_the_tries_before_it(tmp_path: Path) -> None:
    """A model took the question and gave no word, the next was stopped: both are recorded and paid."""
    write_mates(tmp_path, ("maya",))
    async with serving(tokenizer=True) as server:
        at = {"base_url": f"{server.url}/v1"}
        models = {
            name: at | {"id": name, "price": {"read": price, "written": price}}
            for name, price in (("cheap", 1), ("dear", 1000))
        }
        tiers = {str(tier): ["cheap", "dear"] for tier in (1, 2, 3, 4)}
        async with living(tmp_path, None, models=models, tiers=tiers) as home:
            while_answering(home.clock, lambda: server.waiting)
            await home.app.budgets.book.put(budget("home", DOLLAR), "person:owner")
            mute = Behaviour(pieces=[], read=7_000)
            server.does(*[mute] * 2, Behaviour(pieces=["I was"] * 2, stall=1))
            line = asyncio.ensure_future(home.hears("ana", "@maya hello"))  # noqa: TID251
            while "dear" not in [asked.body.get("model") for asked in server.asked]:
                server.reached.clear()
                waiting = asyncio.ensure_future(server.reached.wait())  # noqa: TID251
                await home.clock.until(waiting)
            await home.app.rooms.stop(home.room, home.people["ana"])
            await home.clock.until(line)
            answered = (await home.bodies(Answered))[-1]
            assert answered.outcome == "cancelled"
            tries = [one.usage for one in answered.attempts if one.usage]
            assert {one.read for one in tries} == {7_000}
            written = answered.usage.read + answered.usage.written
            cost = written * 1000 / 1_000_000 + len(tries) * 7_000 / 1_000_000
            total = await home.app.usage.total()
            assert total.picos / DOLLAR == pytest.approx(cost)
            assert await gone(home) == [total.picos]


async def test_keepers_bound_their_room_and_everybody_sees_what_they_cost(tmp_path: Path) -> None:
    """`/budget` tells and sets, `/usage` tells one's own and, to who may change it, the room's.

    What keepers set holds beside what the owner set, and can be taken away by themselves.
    """
    async with household(tmp_path) as home:
        await home.hears("ana", "@maya hello")
        told = await home.does("ana", "usage")
        assert told.startswith("For you, today: ")
        assert "written, $0.0100." in told.splitlines()[0]
        assert "In this room, today:\n  Maya: " in told
        await home.does("", "budget", "90 calls")
        assert await home.does("ana", "budget", "4 calls day") == (
            "Set: 4 questions to models a day for this room."
        )
        told = await home.does("ana", "budget")
        assert told.splitlines() == [
            "90 questions to models a day for this room: 1 question to models used.",
            "4 questions to models a day for this room: 1 question to models used.",
            "200 answers a day for one person: 1 answer used.",
        ]
        for nth in range(6):
            await home.hears("ana", f"@maya say {nth}")
        assert len(home.models.asked) == 4
        told = await home.does("ana", "budget")
        assert "4 questions to models used, which is all: it goes on after midnight" in told
        await home.does("ana", "budget", "none calls")
        await home.hears("ana", "@maya and now?")
        assert len(home.models.asked) > 4
        with pytest.raises(Unknown, match="Nobody set a budget"):
            await home.does("ana", "budget", "none calls")


async def test_a_budget_that_is_raised_and_spent_again_is_told_again(tmp_path: Path) -> None:
    """Each amount that runs out is told, once: whoever spoke knows why nobody answers."""
    async with household(tmp_path, budget("room", 2, "commons", "calls")) as home:
        for amount in (2, 4, 4):
            await home.app.budgets.book.put(
                budget("room", amount, "commons", "calls"), "person:owner"
            )
            for nth in range(4):
                await home.hears("ana", f"@maya say {nth}")
        told = [str(one.text).partition(" a day")[0] for one in await home.bodies(Told)]
        begun = "The budget is used up:"
        assert told == [f"{begun} {n} questions to models" for n in (2, 4)]


@pytest.mark.parametrize("halts", [1, 2])
async def test_a_turn_that_is_stopped_takes_no_telling_with_it(tmp_path: Path, halts: int) -> None:
    """It comes upon a spent budget, and a person says stop at that, or at its tool: told once."""

    def asks_and_calls(_seen: AgentPerception) -> Thinking:
        yield from ask("And?")
        yield from call("clock")
        return AgentActionPlan(intent="talk", mode="context", meta={"trouble": "failed"})

    async with household(tmp_path, budget("home", 1, unit="calls")) as home:
        await home.hears("ana", "@maya hello")
        cast("dict[str, object]", home.app.policies)["talk"] = (asks_and_calls, "talk/9")
        home.app.budgets._ledger = slow = SlowTables(home.app.ledger, halts)
        await home.says("ana", "@maya and now?")
        while not slow.changed.is_set():
            await home.clock.advance(0.1)
        await home.does("ana", "stop")
        slow.let_go.set()
        await home.rest()
        for nth in range(2):
            await home.hears("ana", f"@maya say {nth}")
        told = [str(one.text) for one in await home.bodies(Told)]
        assert len([one for one in told if one.startswith("The budget is used up: ")]) == 1


async def test_a_tool_that_finds_a_budget_spent_leaves_the_telling_to_the_room(
    tmp_path: Path,
) -> None:
    """An effect that runs after its turn is refused first; the next turn tells the room."""
    async with household(tmp_path, budget("home", 1, unit="calls")) as home:
        await home.hears("ana", "@maya hello")
        charge = Charge(turn="before", stream="room:commons", tool="clock")
        assert (await home.app.budgets.reserve(charge, SpendingAmounts(uses=1))).level == "spent"
        await home.hears("ana", "@maya and now?")
        (told,) = await home.bodies(Told)
        assert str(told.text).startswith("The budget is used up: ")


async def test_usage_says_whose_days_it_counts(tmp_path: Path) -> None:
    """Half past midnight at home, a budget has begun anew and the day of UTC has not."""
    environ = {"LOOPFORGE_TIMEZONE": "Europe/Vienna"}
    async with household(tmp_path, budget("room", 9, "commons", "calls"), environ=environ) as home:
        await home.hears("ana", "@maya hello")
        await home.clock.advance(timedelta(hours=14.5).total_seconds())
        assert "9 questions to models a day for this room: 0 " in await home.does("ana", "budget")
        told = await home.does("ana", "usage")
        assert told.startswith("For you, today (UTC): ")
        assert "In this room, this month (UTC):\n  Maya: " in told


async def test_answers_are_bound_by_the_same_budgets(tmp_path: Path) -> None:
    """A room's own budget in answers holds as those of the settings do."""
    async with household(tmp_path) as home:
        await home.hears("ana", "@maya hello")
        assert (
            await home.does("ana", "budget", "2 answers") == "Set: 2 answers a day for this room."
        )
        for nth in range(3):
            await home.hears("ana", f"@maya {nth}")
        assert len(await home.bodies(Said)) == 2
        (told,) = await home.bodies(Told)
        assert str(told.text) == (
            "This room had 2 answers today, which is as many as this home gives this room in a "
            "day. Mates answer again after midnight (UTC)."
        )
        listed = {one.limit.meter: one for one in await home.app.budgets.listing()}
        assert (listed["room:commons"].used, listed["room:commons"].left) == (2, 0)
        assert "2 answers a day for this room: 2 answers used, which is all" in await home.does(
            "ana", "budget"
        )
        await home.does(
            "ana", "budget", "3 answers"
        )  # what is raised and spent again is told again
        for nth in range(3):
            await home.hears("ana", f"@maya {nth}")
        assert [str(one.text)[:22] for one in await home.bodies(Told)][1:] == [
            "This room had 3 answer"
        ]


async def test_who_calls_nobody_is_not_told_that_the_answers_are_used_up(tmp_path: Path) -> None:
    """Among several people that word comes after a line that a mate would have answered."""
    async with household(tmp_path) as home:
        await home.enter("ana", "ben")
        await home.does("ana", "budget", "1 answer")
        for text in ("@maya hello", "the kettle is on", "ok"):
            await home.hears("ana", text)
        assert await home.bodies(Told) == []
        for text in ("@maya and now?", "@maya please"):
            await home.hears("ana", text)
        (told,) = await home.bodies(Told)
        assert str(told.text).startswith("This room had 1 answer today")


async def test_a_mate_is_told_in_words_what_is_left(tmp_path: Path) -> None:
    """At the very end of what it is asked, so that what stands before is the same as ever."""
    async with household(tmp_path, budget("home", 4 * CENT)) as home:
        await home.hears("ana", "@maya one")
        await home.hears("ana", "@maya two")
        first, *_, last = [one.messages for one in home.models.asked if one.charge.mate == "maya"]
        most = "Left to spend here: most of it of what this day has for models and tools."
        assert first[-1][1].endswith(f"\n{most}")
        assert last[-1][1].rpartition("\n")[2] != most
        assert last[: len(first) - 1] == first[:-1]
