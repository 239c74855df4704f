"""Small answers: an emoji in place of words, and short lines in place of one."""

from pathlib import Path

from loopforge.core.room_vocabulary import Reacted, Said
from tests.rooms.conftest import living


async def test_a_mate_reacts_and_says_short_lines(tmp_path: Path) -> None:
    """An emoji costs no energy and calls nobody; lines that an empty line parts are said apart."""
    small = {"say": "Ha!\n\nWait.", "react": ""}
    async with living(
        tmp_path,
        lambda asked: small if "oven" in str(asked.messages) else {"say": "", "react": "👍"},
    ) as home:
        line = await home.hears("ana", "thanks @maya")
        (reacted,) = await home.bodies(Reacted)
        assert (reacted.mate, reacted.to, reacted.emoji) == ("maya", line.id, "👍")
        assert await home.said() == []
        await home.hears("ana", "@maya, look what the oven did to the bread!")
        assert [str(said.text) for said in await home.bodies(Said)] == ["Ha!", "Wait."]
