"""What was lost while a question waited, or a mate thought: nobody gains by a loss."""

from pathlib import Path

import pytest

from loopforge.chat.room.permissions import charge_for_lines
from loopforge.core.effect_states import EffectDenied
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.room_vocabulary import LineDeleted, RightsSet
from loopforge.errors import InputError
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Tool, ToolCall
from tests.rooms.conftest import Home, living, write_mates
from tests.rooms.test_talking import speaker
from tests.rooms.test_what_was_shown import MAYA, SHOWN, gives, press

CACHED = 60.0
"""Seconds after which a mate's file is read anew."""


async def takes_its_tool_away(home: Home, _line: str) -> None:
    """The owner edits maya's file."""
    (home.path / "mates" / "maya.md").write_text(MAYA.replace("publish", "clock"))


async def takes_its_file_away(home: Home, _line: str) -> None:
    """The owner deletes it."""
    (home.path / "mates" / "maya.md").unlink()


async def sends_it_out(home: Home, _line: str) -> None:
    """The owner sends maya out of the room."""
    await home.acts("", "remove", "maya")


async def takes_the_line_back(home: Home, line: str) -> None:
    """Ana deletes what she had said, and with it goes what the question showed."""
    await home.app.rooms.add(home.room, "", LineDeleted(line=line, by=home.people["ana"]))


@pytest.mark.parametrize(
    ("what", "why"),
    [
        (takes_its_tool_away, "maya has publish no longer"),
        (takes_its_file_away, "the mate that wanted it is here no longer"),
        (sends_it_out, "the mate that wanted it is here no longer"),
        (takes_the_line_back, "what its mate was to answer is gone"),
    ],
)
async def test_nobody_can_say_yes_to_what_may_not_be_done_any_more(
    tmp_path: Path, what: object, why: str
) -> None:
    """Whoever tries is told why; nothing is done, and a no ends the question."""
    assert callable(what)
    async with press(tmp_path, {"file": "beans.csv"}) as (home, published):
        await gives(home, "ana", "beans.csv", SHOWN)
        line = await home.hears("ana", "@maya publish it")
        await what(home, line.id)
        await home.passes(CACHED)
        for who, how in (("bo", "1"), ("", "1 always")):
            with pytest.raises(InputError, match=f"Nobody can say yes to that any more: {why}"):
                await home.does(who, "approve", how)
        await home.finishes()
        assert published == []
        await home.acts("bo", "deny", "1")
        assert [one.rule for one in await home.bodies(EffectDenied)] == ["asked"]


LATHE = Tool(name="lathe", summary="Turns a piece.", schema={"type": "object"})
HANDY = "---\nname: {name}\nrole: mate\ntools: [lathe]\n---\nYou are {name}.\n"


def relaying(question: Question) -> dict[str, object] | ScriptedAnswer:
    """Maya passes on what she is asked; Zuzu thinks, and then runs it."""
    if speaker(question) == "maya":
        return {"say": "@zuzu please run lathe"}
    return ScriptedAnswer(data={"say": "", "tool": "lathe", "arguments": "{}"}, wait=60)


@pytest.mark.parametrize("how", ["the line is deleted", "a new talk begins"])
async def test_nobody_gains_rights_by_taking_back_what_mates_go_on_from(
    tmp_path: Path, how: str
) -> None:
    """Who may talk alone has no tool used, and pays, though their own line is gone meanwhile."""
    ran = list[ToolCall]()

    async def runs(call: ToolCall) -> str:
        ran.append(call)
        return "done"

    write_mates(tmp_path, (), maya=HANDY.format(name="Maya"), zuzu=HANDY.format(name="Zuzu"))
    async with living(tmp_path, relaying) as home:
        home.app.tools.add(LATHE, runs)
        await home.enter("gus")
        gus = home.people["gus"]
        await home.app.rooms.add(home.room, "", RightsSet(who=gus, rights=("talk",)))
        line = await home.says("gus", "@maya have the lathe run", surface="web", source="1")
        while "zuzu" not in {
            one.mate for one in (await home.app.rooms.state(home.room)).open.values()
        }:
            await home.clock.advance(1)
        if how == "the line is deleted":
            await home.app.rooms.add(home.room, "", LineDeleted(line=line.id, by=gus))
        else:
            await home.does("", "new")
            await home.says("ana", "good morning")
        state = await home.app.rooms.state(home.room)
        (asked,) = [one.id for one in state.lines.values() if one.who == "maya"]
        assert charge_for_lines(state, [asked]) == Charge(person=gus, surface="web")
        await home.finishes()
        assert ran == []
