"""What was lost while a question waited: a yes is for what may be done when it is said."""

from pathlib import Path

import pytest

from loopforge.core.effect_states import EffectDenied
from loopforge.core.room_vocabulary import LineDeleted
from loopforge.errors import InputError
from tests.rooms.conftest import Home
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
