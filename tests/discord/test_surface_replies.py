"""Answers on Discord: a webhook cannot reply, so what it says begins with what it answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from loopforge.io.discord.sending.reply_quote import glimpse, reference, strip_reply_quote
from tests.discord.lodging import Lodging, lodged
from tests.discord.twin import Twin
from tests.discord.words import Place


@asynccontextmanager
async def both(city: Twin, path: Path) -> AsyncIterator[tuple[Lodging, Place, Place]]:
    """A home whose mate is in two channels, which are one room."""
    maya, plaza, mall = city.bot("Maya"), city.channel("plaza"), city.channel("mall")
    city.person("ben")
    async with lodged(city, path, {maya: "maya"}) as home:
        await home.join(plaza, mall, "the ||old|| days")
        yield home, plaza, mall


async def test_a_relayed_answer_says_what_it_answers(city: Twin, tmp_path: Path) -> None:
    """It names whom and what in small print, leads there, uncovers no spoiler, and stands once."""
    async with both(city, tmp_path) as (home, plaza, mall):
        await city.say("ben", plaza, "the *bread* is ||burnt|| again")
        await city.until(lambda: len(city.lines(mall)) == 1)
        city.faults.fail("POST /webhooks/*/*", 502, carried=True)
        bread = city.lines(plaza)[-1]
        await city.say("ben", plaza, "oh no", reply_to=bread)
        await city.until(lambda: len(city.lines(mall)) == 2)
        await city.edit("ben", bread, "the cake")  # before it is looked whether that arrived
        await city.until(lambda: city.lines(mall)[0].text == "the cake")
        line = await city.say("ben", plaza, "long " * 390, reply_to=city.lines(plaza)[-1])
        await city.until(lambda: len(city.lines(mall)) == 4)
        await home.delivered(plaza)
        await city.edit("ben", line, "short")
        await city.until(lambda: city.lines(mall)[-2].text.endswith("short"))
        await home.delivered(plaza)
    shown = city.lines(mall)
    address = f"https://discord.com/channels/{city.guild.id}/{mall.id}/{shown[0].id}"
    said = f"-# ↪ [ben: the bread is ▒▒▒ again]({address})\noh no"
    assert (shown[1].by, shown[1].text) == ("ben (plaza)", said)
    assert shown[2].text.startswith("-# ↪ [ben: oh no](https://")
    assert shown[2].text.endswith(")\nshort")
    assert city.faults.left == []
    assert len(shown) == 3


async def test_nobody_passes_for_a_mate(city: Twin, tmp_path: Path) -> None:
    """Who bears a mate's name is marked: over their lines elsewhere, where they are answered, here."""
    async with both(city, tmp_path) as (home, plaza, mall):
        line = await city.say(city.person("MERLIN"), plaza, "obey me")
        await city.say("ben", plaza, "who are you?", reply_to=line)
        await city.until(lambda: len(city.lines(mall)) == 2)
        await home.delivered(plaza)
        scene = await home.app.front.rooms.scene(await home.room(plaza))
    shown = city.lines(mall)
    assert (shown[0].by, shown[0].text) == ("MERLIN (not the mate) (plaza)", "obey me")
    assert shown[1].text.startswith("-# ↪ [MERLIN (not the mate): obey me](https://")
    names = {scene.person(id) for id, _ in scene.people}
    assert names == {"ben", "MERLIN (not the mate)"}


async def test_what_a_channel_was_never_shown_is_not_told(city: Twin, tmp_path: Path) -> None:
    """Of a line from before a channel was part of the room, it is told only whose it was."""
    async with both(city, tmp_path) as (home, plaza, mall):
        await city.say("ben", plaza, "do you?", reply_to=city.lines(plaza)[0])
        await city.until(lambda: len(city.lines(mall)) == 1)
        await home.delivered(plaza)
    assert city.lines(mall)[0].text == "-# ↪ ben\ndo you?"


@pytest.mark.parametrize("who", ["*", "maya"])
async def test_a_mates_answer_among_others(city: Twin, tmp_path: Path, who: str) -> None:
    """What a mate answers stands before its words; with an account of its own it is a reply."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {house: who}, debounce_seconds=3600) as home:
        line = await city.say(ben, plaza, "maya, are you there?")
        await city.say(city.person("eve"), plaza, "ben, it rains")
        await home.hears(plaza, "maya, are you there?", "ben, it rains")
    async with lodged(city, tmp_path, {house: who}):
        await city.until(lambda: len(city.lines(plaza)) == 3)
    answer = city.lines(plaza)[-1]
    address = f"https://discord.com/channels/{city.guild.id}/{plaza.id}/{line.id}"
    head = f"-# ↪ [ben: maya, are you there?]({address})\n"
    assert answer.text.startswith(head) == (who == "*")
    assert answer.reply_to == (None if who == "*" else line.id)


async def test_where_what_was_said_cannot_be_read(city: Twin, tmp_path: Path) -> None:
    """Discord refuses a reply of who may not read the past: an answer comes as none, a notice too."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    await city.forbid(maya, plaza, "read_message_history")
    async with lodged(city, tmp_path, {maya: "maya"}, debounce_seconds=3600) as home:
        await city.say(ben, plaza, "maya, are you there?")
        await city.say(city.person("eve"), plaza, "ben, it rains")
        await home.hears(plaza, "maya, are you there?", "ben, it rains")
    async with lodged(city, tmp_path, {maya: "maya"}, line_limit=100):
        await city.until(lambda: len(city.lines(plaza)) == 3)
        await city.say(ben, plaza, f"{maya.mention} {'long ' * 100}")
        await city.until(lambda: len(city.lines(plaza)) == 5)
    answer, notice = city.lines(plaza)[2], city.lines(plaza)[4]
    assert [answer.by, notice.by] == ["Maya", "Maya"]
    assert "did not reach" not in answer.text
    assert "a line may have 100" in notice.text


def test_a_glimpse_of_a_text() -> None:
    """It is one short line without marks, addresses and hidden words, and stays in its brackets."""
    assert glimpse("# A\n> b\n```py\nc_d = [1]\n``` _e_ ~~f~~ ||g\nh|| <@12>") == (
        "A b c_d = (1) e f ▒▒▒ ‹@12›"
    )
    assert glimpse("see [this](https://a.example/x) or https://key@b.example/y.") == (
        "see this or (link)"
    )
    assert glimpse("Run `a || b || c`. || He did it. || ||She") == "Run a b c. ▒▒▒ ▒▒▒"
    assert glimpse("🦊" * 100) == "🦊" * 39 + "…"
    assert glimpse("a" + "_" * 100_000 + "b") == "a"
    head = reference("B]en*", "x" * 900 + "||secret||", "https://discord.com/channels/1/2/3")
    assert head == f"-# ↪ [B)en: {'x' * 79}…](https://discord.com/channels/1/2/3)"
    assert strip_reply_quote(f"{head}\nyes\nno") == "yes\nno"
    assert strip_reply_quote("yes\nno") == "yes\nno"
    assert reference("", "||") == ""
    assert reference("Ana", "@everyone") == "-# ↪ Ana: @\u200beveryone"
