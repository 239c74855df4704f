"""A routine has the rights and the budgets of whoever set it, when it rings."""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from loopforge.chat.reminders.reminder_service import ReminderRequester
from loopforge.chat.room.permissions import charge_for_lines, tools_in_turn
from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.core.room_vocabulary import RightsSet
from loopforge.errors import InputError
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Tool
from tests.rooms.conftest import living, write_mates
from tests.rooms.test_reminders import MAYA, NOW, minding, passes, rung
from tests.sim_clock import SimClock


@pytest.mark.parametrize(
    ("who", "tools"),
    [
        ({}, {"clock"}),
        ({"keeper": True}, {"clock", "shell"}),
        ({"owner": True}, {"clock", "shell"}),
        ({"owner": True, "untrusted": True}, {"clock"}),
    ],
)
async def test_a_routine_may_what_whoever_set_it_might(
    tmp_path: Path, who: dict[str, bool], tools: set[str]
) -> None:
    """It has their tools, and they pay for it, as if they asked for it when it rings."""
    form = {"what": "sum up", "said": "in two hours", "in": "PT2H", "act": True}
    clock = Tool(name="clock", summary="Tells.", harmless=True, idempotent=True)
    write_mates(tmp_path, maya=MAYA)
    async with living(tmp_path, minding(form), clock=SimClock(NOW)) as home:
        await home.enter("ana")
        group = ChannelSpot("discord:7", "general", "group")
        await home.app.front.rooms.join_place(group, (), home.room)
        asked = "@maya remind yourself to sum up in two hours"
        line = await home.hears("ana", asked, surface="discord:7", **who)
        await passes(home, timedelta(hours=2, minutes=1))
        state = await home.app.rooms.state(home.room)
        (told,) = [one.id for one in state.lines.values() if "Scheduled" in str(one.text)]
        assert tools_in_turn(state, [told], (clock, Tool(name="shell", summary="Runs."))) == tools
        assert charge_for_lines(state, [told]) == charge_for_lines(state, [line.id])


@pytest.mark.parametrize("who", [{"guest": True}, {"untrusted": True}, {}])
async def test_a_routine_of_a_turn_that_answers_two_may_what_both_might(
    tmp_path: Path, who: dict[str, bool]
) -> None:
    """A guest who asks for it beside a word of the owner lends it none of the owner's rights."""
    form = {"what": "sum up", "said": "in two hours", "in": "PT2H", "act": True}
    clock = Tool(name="clock", summary="Tells.", harmless=True, idempotent=True)
    write_mates(tmp_path, maya=MAYA)
    async with living(tmp_path, minding(form), clock=SimClock(NOW)) as home:
        await home.enter("ana", "bo")
        group = ChannelSpot("discord:7", "general", "group")
        await home.app.front.rooms.join_place(group, (), home.room)
        await home.says("bo", "@maya remind yourself to sum up in two hours", **who)
        await home.hears("ana", "@maya hi", surface="discord:7", owner=True)
        await passes(home, timedelta(hours=2, minutes=1))
        state = await home.app.rooms.state(home.room)
        (told,) = [one.id for one in state.lines.values() if "Scheduled" in str(one.text)]
        may = tools_in_turn(state, [told], (clock, Tool(name="shell", summary="Runs.")))
        assert may == {"clock"}


async def test_who_asks_beside_another_takes_nothing_of_theirs_away(tmp_path: Path) -> None:
    """A turn that answers two cancels what is of both, or of nobody: it may be either's wish."""
    form = {"what": "sum up", "said": "in two hours", "in": "PT2H", "act": True}
    write_mates(tmp_path, maya=MAYA)
    async with living(tmp_path, minding(form), clock=SimClock(NOW)) as home:
        await home.enter("ana", "bo")
        await home.hears("ana", "@maya remind yourself to sum up in two hours", owner=True)
        ana, bo = home.people["ana"], home.people["bo"]
        cancel = partial(home.app.book.cancel, "room:commons")
        with pytest.raises(InputError, match="somebody else's"):
            await cancel(ReminderRequester(person=ana, beside=(bo,), cause="a"), 1)
        await cancel(ReminderRequester(person=ana, beside=(ana,), cause="b"), 1)


async def test_a_routine_is_not_done_where_its_person_would_not_be_answered(
    tmp_path: Path,
) -> None:
    """Their answers of the day were given, its own among them, or they may not talk any more."""
    said = "every two hours"
    form = {"what": "sum up", "said": said, "rule": "FREQ=HOURLY;INTERVAL=2", "act": True}
    sums = count(1)

    def summing(question: Question) -> ScriptedAnswer | str | Mapping[str, Any]:
        if "Scheduled for" in str(question.messages):
            return {"say": f"It comes to {next(sums)}."}
        return minding(form)(question)

    write_mates(tmp_path, maya=MAYA)
    most: dict[str, Any] = {"answers_per_person_a_day": 2}
    async with living(tmp_path, summing, clock=SimClock(NOW), **most) as home:
        await home.hears("ana", f"@maya remind yourself to sum up {said}", surface="web")
        for _ in range(3):
            await passes(home, timedelta(hours=2))
        assert len(await home.said()) == 2
        *_, again, last = await rung(home)
        assert "Maya cannot do it now" in again
        assert "Maya cannot do it now" in last
        await passes(home, timedelta(hours=8))  # another day
        done = len(await home.said())
        assert done > 2
        none = RightsSet(who=home.people["ana"])
        await home.app.rooms.add(home.room, "", none)
        await passes(home, timedelta(hours=24))
        assert len(await home.said()) == done
