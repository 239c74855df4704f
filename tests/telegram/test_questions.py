"""Questions whether a mate may use a tool, answered by buttons, answers and thumbs on Telegram."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from loopforge.io.platforms.line_buttons import NO_QUESTION, OVER
from loopforge.models.scripted_model import Script
from telegram import InlineKeyboardMarkup
from tests.asking_mate import MAYA, asking, with_post
from tests.rooms.conftest import write_mates
from tests.telegram.city import City
from tests.telegram.clients import calling
from tests.telegram.homes import Home, hall, on_telegram, pair
from tests.telegram.records import Bot, Line, Person


@asynccontextmanager
async def posting(
    path: Path, maya: Bot, city: City, ana: Person, script: Script = asking, **more: Any
) -> AsyncIterator[tuple[Home, list[str]]]:
    """A home that knows Ana, whose Maya may post, when somebody says yes."""
    if not (path / "mates").exists():
        write_mates(path, (), maya=MAYA)
    async with on_telegram(path, maya, city.base, script=script, **more) as home:
        await home.app.pairing.admit(f"telegram:{ana.id}", "")
        yield home, with_post(home.app)


async def asked(city: City, maya: Bot, to: str) -> Line:
    """The question whether it may be sent to somebody, once it can be pressed."""

    async def found() -> Line | None:
        lines = await city.lines(None, by=maya)
        return next((one for one in lines if one.markup and f'"{to}"' in one.text), None)

    line = await city.until(found)
    assert line is not None
    return line


async def settled(city: City, maya: Bot, question: Line) -> Line:
    """The question, once it has no buttons any more."""

    async def bare() -> Line | None:
        lines = await city.lines(question.chat, by=maya)
        return next((one for one in lines if one.key == question.key and not one.markup), None)

    line = await city.until(bare)
    assert line is not None
    return line


async def true(home: Home, room: str) -> list[str]:
    """What is true in the room and of its tools; who thought of speaking next is not of it."""
    kinds = [event.kind for event in await home.events(room)]
    kinds = [kind for kind in kinds if kind.startswith(("room.", "effect."))]
    return [kind for kind in kinds if kind != "room.weighed"]


async def spoken_of(home: Home, room: str) -> None:
    """Wait until the mate had its turn about what a tool came to."""

    async def over() -> bool:
        kinds = [event.kind for event in await home.events(room)]
        *_, last = (nth for nth, kind in enumerate(kinds) if kind == "effect.approved")
        since = kinds[last:]
        return (
            "effect.returned" in since and "turn.ended" in since[since.index("effect.returned") :]
        )

    await home.until(over)
    await home.app.front.rooms.settled(room)


def labels(line: Line) -> list[list[str]]:
    """What stands on the buttons."""
    return [[one["text"] for one in row] for row in (line.markup or {})["inline_keyboard"]]


async def test_buttons_answer_once(tmp_path: Path, city: City) -> None:
    """A press counts once, for whom it may; every other is told why, and changes nothing."""
    maya, ana, lab = await hall(city)
    bob = await city.person("Bob", "bob")
    lab = await city.supergroup("Lab", [ana, bob, maya])
    async with posting(tmp_path, maya, city, ana) as (home, posted):
        await city.say(ana, lab, "maya, send it to Cleo")
        question = await asked(city, maya, "Cleo")
        assert labels(question) == [["Allow once", "Always here"], ["Deny"]]
        room = (await home.rooms())[0]
        await home.app.front.rooms.settled(room)  # it says something of its own after it asked
        before = await true(home, room)
        assert "You may not have post used here" in await city.press(bob, question, "Allow once")
        for data in ("ask:once:" + "0" * 32, "ask:never", "🙂"):
            assert await city.press(ana, question, data=data) == NO_QUESTION
        async with calling(city.base, maya) as bot:
            markup = InlineKeyboardMarkup.de_json(question.markup or {}, bot)
            await bot.send_message(lab.id, "Buy this", reply_markup=markup)
        copy = (await city.lines(lab, by=maya))[-1]
        assert await city.press(ana, copy, "Allow once") == NO_QUESTION
        assert await true(home, room) == before
        assert "bob" not in str(await home.app.front.rooms.scene(room)).casefold()
        assert "it is done now" in await city.press(ana, question, "Allow once")
        after = await settled(city, maya, question)
        assert after.text.endswith("Ana said yes.")
        assert "/approve" not in after.text
        for verb in ("once", "always", "deny"):
            data = (question.markup or {})["inline_keyboard"][0][0]["callback_data"]
            told = await city.press(ana, question, data=data.replace("once", verb))
            assert told == f"{OVER} Ana said yes."

        await city.say(ana, lab, "maya, send it to Dora")
        question = await asked(city, maya, "Dora")
        assert "it is not done" in await city.press(ana, question, "Deny")
        assert (await settled(city, maya, question)).text.endswith("Ana said no.")
        assert posted == ["Cleo"]

        await city.say(ana, lab, "maya, send it to Emil")
        question = await asked(city, maya, "Emil")
    async with posting(tmp_path, maya, city, ana) as (home, posted):
        data = (question.markup or {})["inline_keyboard"][0][0]["callback_data"]
        assert len(data) <= 64
        while (told := await city.press(ana, question, "Always here")) == NO_QUESTION:
            await asyncio.sleep(0.05)  # whether the question arrived, is being found out
        assert "it is done now" in told
        assert (await settled(city, maya, question)).text.endswith("Ana said yes.")
        await spoken_of(home, room)  # else what it says of that comes after what Ana says now
        await city.say(ana, lab, "maya, send it to Finn")
        await home.until(lambda: _has(posted, "Finn"))
    assert posted == ["Emil", "Finn"]


async def _has(posted: list[str], to: str) -> bool:
    return to in posted


async def test_answers_and_thumbs_answer(tmp_path: Path, city: City) -> None:
    """An answer that begins with "deny" is a no with its reason; thumbs are a yes and a no."""
    maya, ana = await pair(city)
    chat = await city.private(ana, maya)
    async with posting(tmp_path, maya, city, ana) as (home, posted):
        for to, how, told in (
            ("Cleo", "deny: too late", "Ana said no: too late"),
            ("Dora", "👎", "Ana said no."),
            ("Emil", "👍", "Ana said yes."),
        ):
            await city.say(ana, maya, f"send it to {to}")
            question = await asked(city, maya, to)
            if len(how) == 1:
                await city.react(ana, question, how)
            else:
                await city.say(ana, chat, "deny me nothing")
                await city.say(ana, chat, how, reply_to=question)
            assert (await settled(city, maya, question)).text.endswith(told)
        await home.until(lambda: _has(posted, "Emil"))
    assert posted == ["Emil"]
