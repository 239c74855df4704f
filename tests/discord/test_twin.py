"""The twin against unmodified clients: what persons and bots do reaches each other."""

from __future__ import annotations

from tests.discord.clients import online
from tests.discord.twin import Twin


async def test_a_line_reaches_a_bot_and_its_answer_is_recorded(city: Twin) -> None:
    """A person's line is heard by discord.py over TLS, and what it sends stands in the records."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    async with online(city, aria) as client:
        line = await city.say(ben, plaza, "hello")
        await city.until(lambda: client.said() == ["hello"])
        heard = client.heard[-1][1]
        assert (heard.id, heard.author.name, heard.author.bot) == (line.id, "ben", False)
        await heard.reply("hi, ben")
    answer = city.lines(plaza)[-1]
    assert (answer.by, answer.text, answer.reply_to) == ("Aria", "hi, ben", line.id)
