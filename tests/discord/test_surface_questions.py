"""Questions whether a mate may use a tool, answered by buttons and thumbs on Discord."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from loopforge.core.room_vocabulary import RightsSet
from loopforge.io.platforms.line_buttons import NO_QUESTION, OVER
from loopforge.models.scripted_model import Script
from tests.asking_mate import MAYA, asking, with_post
from tests.discord.lodging import Lodging, lodged
from tests.discord.twin import Twin
from tests.discord.words import Bot, Line, Place
from tests.rooms.conftest import write_mates

FREE = RightsSet(who="everyone", rights=("talk", "tools"), tools=("*",))


@asynccontextmanager
async def posting(
    city: Twin, path: Path, maya: Bot, place: Place, script: Script = asking, **more: Any
) -> AsyncIterator[tuple[Lodging, list[str]]]:
    """A home whose Maya may post for everybody in a place, when somebody says yes."""
    if fresh := not (path / "mates").exists():
        write_mates(path, (), maya=MAYA)
    async with lodged(city, path, {maya: "maya"}, script, **more) as home:
        posted = with_post(home.app)
        if fresh:
            await city.say("ben", place, "hello")
            await home.hears(place, "hello")
            await home.app.rooms.add(await home.room(place), "", FREE)
        yield home, posted


async def asked(city: Twin, place: Place, to: str) -> Line:
    """Ben wants it sent to somebody; Maya's question."""
    await city.say("ben", place, f"maya, send it to {to}")

    def found() -> list[Line]:
        return [one for one in city.lines(place) if one.components and f'"{to}"' in one.text]

    await city.until(found)
    return found()[0]


async def settled(city: Twin, question: Line) -> str:
    """What a question says once it has no buttons any more."""
    await city.until(lambda: not city.line(question).components)
    return city.line(question).text


def buttons(line: Line) -> dict[str, str]:
    """The ids of its buttons, by what stands on them."""
    (row,) = line.components
    return {one["label"]: one["custom_id"] for one in row["components"]}


async def test_buttons_answer_once(city: Twin, tmp_path: Path) -> None:
    """A press counts once, for whom it may; every other is told why, and changes nothing."""
    maya, plaza = city.bot("Maya"), city.channel("plaza")
    ben, eve = city.person("ben"), city.person("eve")
    async with posting(city, tmp_path, maya, plaza) as (home, posted):
        room = await home.room(plaza)
        question = await asked(city, plaza, "Cleo")
        assert [*buttons(question)] == ["Allow once", "Always here", "Deny"]
        assert max(map(len, buttons(question).values())) <= 100
        assert '```\n{"to":"Cleo"}\n```' in question.text
        await home.rests(plaza)
        await home.app.rooms.add(room, "", RightsSet(who="everyone", rights=("talk",), tools=()))
        before = [event.kind for event in await home.events(plaza)]
        for label in ("Allow once", "Always here", "Deny"):
            told = await city.press(eve, question, label)
            assert told.ephemeral
            assert "You may not have post used here" in told.text
        for id in ("ask:once:" + "0" * 32, "ask:deny:" + "0" * 32, "ask:never", "x" * 100):
            assert (await city.press(ben, question, id=id)).text == NO_QUESTION
        town = city.as_bot(maya)
        made = town.create_message(
            plaza.id, maya.id, "Buy this", components=list(question.components)
        )
        for label in ("Allow once", "Deny"):
            assert (await city.press(ben, made.id, label)).text == NO_QUESTION
        assert [event.kind for event in await home.events(plaza)] == before
        await home.app.rooms.add(room, "", FREE)
        assert "Always is for" in (await city.press(ben, question, "Always here")).text
        assert "it is done now" in (await city.press(ben, question, "Allow once")).text
        assert (await settled(city, question)).endswith("ben said yes.")
        assert "/approve" not in city.line(question).text
        for id in buttons(question).values():
            told = await city.press(ben, question, id=id)
            assert (told.ephemeral, told.text) == (True, f"{OVER} ben said yes.")
        await city.until(lambda: posted == ["Cleo"])
        await tells(city, plaza, 1)

        question = await asked(city, plaza, "Dora")
        form = await city.press(ben, question, "Deny")
        assert "it is not done" in (await city.fill(ben, form, why="too late")).text
        assert (await settled(city, question)).endswith("ben said no: too late")
        await tells(city, plaza, 2)
        question = await asked(city, plaza, "Emil")
        form, late = (
            await city.press(ben, question, "Deny"),
            await city.press(eve, question, "Deny"),
        )
    async with posting(city, tmp_path, maya, plaza) as (_, posted):
        assert "it is not done" in (await city.fill(ben, form)).text
        assert (await city.fill(eve, late, why="me too")).text == f"{OVER} ben said no."
        assert (await settled(city, question)).endswith("ben said no.")
        await tells(city, plaza, 3)
        question = await asked(city, plaza, "Finn")
        city.guild.everyone_role.permissions |= 1 << 4
        assert "it is done now" in (await city.press(eve, question, "Always here")).text
        await tells(city, plaza, 4)
        await asked_for(city, plaza, "Gina")
        await city.until(lambda: posted == ["Finn", "Gina"])


async def tells(city: Twin, place: Place, number: int) -> None:
    """Maya told how a question ended; what she is asked before that, this mind would not take up."""

    def told() -> bool:
        texts = [one.text for one in city.lines(place)]
        ended = [nth for nth, text in enumerate(texts) if f"to question {number}" in text]
        return bool(ended) and any(text.startswith("Well, ") for text in texts[ended[0] :])

    await city.until(told)


async def asked_for(city: Twin, place: Place, to: str) -> None:
    """Ben wants it sent to somebody, and nobody is asked."""
    await city.say("ben", place, f"maya, send it to {to}")


async def test_a_thumb_answers_a_question(city: Twin, tmp_path: Path) -> None:
    """Up is a yes and down a no, if they are a person's who may have the tool used."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    other = city.bot("Other")

    def told(words: str) -> bool:
        return any(words in one.text for one in city.lines(plaza))

    async with posting(city, tmp_path, maya, plaza) as (home, posted):
        for to, thumbs, outcome in (
            ("Ana.", ("🥖", "👎"), "ben said no to question 1."),
            ("Cleo", ("👍🏽",), "ben said yes to question 2"),
        ):
            question = await asked(city, plaza, to)
            city.town.add_reaction(question.channel, question.id, "👍", other.id)
            for thumb in thumbs:
                await city.react(ben, question, thumb)
            await city.until(partial(told, outcome))
            await settled(city, question)
            await home.settled(plaza)
        await city.until(lambda: posted)
    assert posted == ["Cleo"]


async def test_a_thumb_in_private_is_that_of_who_manages_it(city: Twin, tmp_path: Path) -> None:
    """In a private talk who speaks may do what keepers may, by a thumb as by their words."""
    maya, ben = city.bot("Maya"), city.person("ben")
    here = city.private(ben, maya)
    async with posting(city, tmp_path, maya, here) as (home, posted):
        everyone = RightsSet(who="everyone", rights=("talk",), tools=())
        await home.app.rooms.add(await home.room(here), "", everyone)
        question = await asked(city, here, "Cleo")
        await city.react(ben, question, "👍")
        assert (await settled(city, question)).endswith("ben said yes.")
        await city.until(lambda: posted)
    assert posted == ["Cleo"]
