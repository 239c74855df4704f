"""A mate's line said anew on Discord: its message there is edited, and no other one comes."""

from itertools import count
from pathlib import Path

from loopforge.runtime.ports import Question
from tests.discord.lodging import STREAM, lodged
from tests.discord.twin import Twin


async def test_the_message_is_edited_to_the_version_that_stands(city: Twin, tmp_path: Path) -> None:
    """Said anew, and chosen back, by commands; also where words are shown as they come."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    numbers = count(1)

    def says(_: Question) -> str:
        return f"Tea, cup {next(numbers)}."

    async with lodged(city, tmp_path, {maya: "maya"}, says, manners=STREAM) as home:
        await city.until(lambda: maya.commands.get(None))
        await home.ask(ben, plaza, f"<@{maya.id}> what is there?")
        message = city.lines(plaza)[-1]
        assert message.text == "Tea, cup 1."

        def shown() -> str:
            return next(line.text for line in city.lines(plaza) if line.id == message.id)

        anew = await city.slash(ben, plaza, maya, "again", {})
        await city.until(lambda: shown() == "Tea, cup 2.")
        await home.settled(plaza)
        back = await city.slash(ben, plaza, maya, "again", {"n": "1"})
        await city.until(lambda: shown() == "Tea, cup 1.")
        await home.delivered(plaza)
        assert len(await home.said(plaza)) == 1
    assert "said anew" in anew.text
    assert anew.ephemeral
    assert "Version 1" in back.text
    assert len([line for line in city.lines(plaza) if not line.ephemeral]) == 2
