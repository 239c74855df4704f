"""Buttons under a question on Telegram, at odd moments and in basic groups."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from loopforge.chat.commands.command_request import CommandRequest
from loopforge.io.platforms.line_buttons import NO_QUESTION, OVER
from loopforge.runtime.effects import effect_worker
from tests.asking_mate import at_length
from tests.hurried_clock import HurriedClock
from tests.telegram.city import City
from tests.telegram.homes import HURRIED, Home, hall, pair
from tests.telegram.records import Line
from tests.telegram.speaking import STALE
from tests.telegram.test_questions import _has, asked, posting, settled

DONE = "Yes: it is done now, and the mate is told."
UNANSWERED = effect_worker.UNANSWERED.format("a day")


class Tomorrow(HurriedClock):
    """As fast, and a day and some minutes ahead."""

    def now(self) -> datetime:
        """UTC, aware."""
        return super().now() + timedelta(days=1, minutes=5)


def data_of(question: Line) -> str:
    """What its first button says."""
    return str((question.markup or {})["inline_keyboard"][0][0]["callback_data"])


async def test_of_two_who_press_at_once_one_counts(tmp_path: Path, city: City) -> None:
    """It is posted once, and the others are told who was quicker."""
    maya, ana, lab = await hall(city)
    bob = await city.person("Bob", "bob")
    lab = await city.supergroup("Lab", [ana, bob, maya])
    async with posting(tmp_path, maya, city, ana) as (home, posted):
        await home.app.people.meet("telegram", str(bob.id), "Bob")
        await home.app.pairing.admit(f"telegram:{bob.id}", "")
        await city.say(ana, lab, "maya, send it to Cleo")
        question = await asked(city, maya, "Cleo")
        (room,) = await home.rooms()
        await home.app.front.commands.act(room, "", "rights", "everyone talk tools:*")
        told = await asyncio.gather(
            *(city.press(who, question, "Allow once") for who in (ana, bob, ana))
        )
        end = (await settled(city, maya, question)).text.rpartition("\n\n")[2]
        assert sorted(told) == sorted([DONE, f"{OVER} {end}", f"{OVER} {end}"])
        await home.until(lambda: _has(posted, "Cleo"))
    assert posted == ["Cleo"]


async def test_a_slow_press_holds_up_no_other(
    tmp_path: Path, city: City, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others are answered meanwhile; an answer that is too late for Telegram comes in private."""
    maya, ana, lab = await hall(city)
    async with posting(tmp_path, maya, city, ana) as (home, posted):
        carry_out, gate = home.app.front.commands.carry_out, asyncio.Event()
        await city.say(ana, lab, "maya, send it to Cleo")
        first = await asked(city, maya, "Cleo")
        (room,) = await home.rooms()
        await city.say(ana, maya, "send it to Dora")
        second = await asked(city, maya, "Dora")
        later = partial(_after, carry_out, gate, room)
        monkeypatch.setattr(home.app.front.commands, "carry_out", later)
        await city.pressing(ana, first, "Allow once")
        assert await city.press(ana, second, "Allow once") == DONE
        late = f"Bad Request: {STALE}"
        await city.fault("answerCallbackQuery", "refuse", code=400, description=late)
        gate.set()
        assert (await settled(city, maya, first)).text.endswith("Ana said yes.")

        async def told() -> bool:
            return any(DONE in one.text for one in await city.lines(second.chat, by=maya))

        await city.until(told)
        await home.until(lambda: _has(posted, "Cleo"))
    assert sorted(posted) == ["Cleo", "Dora"]


async def test_stop_takes_an_open_question_back(tmp_path: Path, city: City) -> None:
    """Its buttons go, and who presses one that they still see, or thumbs it, changes nothing."""
    maya, ana = await pair(city)
    async with posting(tmp_path, maya, city, ana) as (_, posted):
        await city.say(ana, maya, "send it to Cleo")
        question = await asked(city, maya, "Cleo")
        await city.command(ana, maya, "stop")
        assert (await settled(city, maya, question)).text.endswith("It was called off.")
        told = await city.press(ana, question, data=data_of(question))
        assert told == f"{OVER} It was called off."
        await city.react(ana, question, "👍")
        await city.say(ana, maya, "send it to Dora")
        await city.press(ana, await asked(city, maya, "Dora"), "Deny")
    assert posted == []


async def test_a_long_word_on_a_press_comes_in_private(tmp_path: Path, city: City) -> None:
    """Telegram shows 200 units of it: its beginning is shown, and all of it is said in private."""
    maya, ana, lab = await hall(city)
    async with posting(tmp_path, maya, city, ana):
        await city.say(ana, lab, "maya, send it to Cleo")
        question = await asked(city, maya, "Cleo")
        why = " ".join(["She moved, and nobody knows where she lives now 🏡."] * 6)
        await city.say(ana, lab, f"deny {why}", reply_to=question)
        end = (await settled(city, maya, question)).text.rpartition("\n\n")[2]
        told = await city.press(ana, question, data=data_of(question))
        assert told.endswith(" …")
        assert f"{OVER} {end}".startswith(told.removesuffix(" …"))
        private = await city.private(ana, maya)
        assert [one.text for one in await city.heard(private, by=maya)] == [f"{OVER} {end}"]


async def test_a_question_that_nobody_answered_in_a_day_is_over(tmp_path: Path, city: City) -> None:
    """The home was closed meanwhile: it says so when it is open again, and to who presses late."""
    maya, ana = await pair(city)
    async with posting(tmp_path, maya, city, ana):
        await city.say(ana, maya, "send it to Cleo")
        question = await asked(city, maya, "Cleo")
    async with posting(tmp_path, maya, city, ana, clock=Tomorrow(HURRIED.pace)) as (_, posted):
        while not (await settled(city, maya, question)).text.endswith(UNANSWERED):
            await asyncio.sleep(0.05)  # its buttons may go before its words
        told = await city.press(ana, question, data=data_of(question))
        assert told == f"{OVER} {UNANSWERED}"
    assert posted == []


async def test_a_question_of_several_messages_has_its_buttons_under_the_last(
    tmp_path: Path, city: City
) -> None:
    """All of what would run is shown, and a press answers it."""
    maya, ana = await pair(city)
    async with posting(tmp_path, maya, city, ana, at_length) as (home, posted):
        await city.say(ana, maya, "send it to Cleo")
        question = await asked(city, maya, "Cleo")
        parts = [one for one in await city.lines(None, by=maya) if "word" in one.text]
        assert len(parts) > 1
        assert [bool(one.markup) for one in parts] == [False] * (len(parts) - 1) + [True]
        whole = " ".join(one.text for one in parts)
        assert all(f"word{nth}" in whole for nth in range(700))
        assert await city.press(ana, question, "Allow once") == DONE
        assert (await settled(city, maya, question)).text.endswith("Ana said yes.")
        await home.until(lambda: _has(posted, "Cleo"))
    assert posted == ["Cleo"]


async def _after(
    carry_out: Callable[[str, CommandRequest], Awaitable[str]],
    gate: asyncio.Event,
    slow: str,
    name: str,
    asked: CommandRequest,
) -> str:
    """Do what a command asks, in this room only once the gate is open."""
    if asked.room == slow:
        await gate.wait()
    return await carry_out(name, asked)


async def test_in_a_basic_group_too(tmp_path: Path, city: City) -> None:
    """Whose messages are numbered for each bot: buttons, an answer, a thumb seen by an admin.

    After a restart, while there is another group of the same people; a copy there answers nothing.
    """
    maya, ana, _ = await hall(city)
    lab = await city.group("Lab", [ana, maya], admins=[maya])
    attic = await city.group("Attic", [ana, maya])
    async with posting(tmp_path, maya, city, ana) as (home, posted):
        await city.say(ana, attic, "maya, what a day")
        await city.say(ana, lab, "maya, send it to Cleo")
        question = await asked(city, maya, "Cleo")
        assert await city.press(ana, question, "Allow once") == DONE
        assert (await settled(city, maya, question)).text.endswith("Ana said yes.")
        await home.until(lambda: _has(posted, "Cleo"))
        for to, how, end in (("Dora", "deny: late", "Ana said no: late"), ("Emil", "👍", "yes.")):
            await _told(home)
            await city.say(ana, lab, f"maya, send it to {to}")
            question = await asked(city, maya, to)
            if len(how) == 1:
                await city.react(ana, question, how)
            else:
                await city.say(ana, lab, how, reply_to=question)
            assert (await settled(city, maya, question)).text.endswith(end)
        await home.until(lambda: _has(posted, "Emil"))
        await _told(home)
        await city.say(ana, attic, "maya, send it to Finn")
        question = await asked(city, maya, "Finn")
        other = (await city.lines(lab, by=maya))[-1]
        assert await city.press(ana, other, data=data_of(question)) == NO_QUESTION
    async with posting(tmp_path, maya, city, ana) as (home, later):
        while (told := await city.press(ana, question, "Allow once")) == NO_QUESTION:
            await asyncio.sleep(0.05)  # whether the question arrived, is being found out
        assert told == DONE
        assert (await settled(city, maya, question)).text.endswith("Ana said yes.")
        await home.until(lambda: _has(later, "Finn"))
    assert (posted, later) == (["Cleo", "Emil"], ["Finn"])


async def _told(home: Home) -> None:
    """Wait until the mate has said what it says once it is told what came of its tools."""
    for room in await home.rooms():
        await home.app.effects.settled(f"room:{room}")
        await home.app.front.rooms.settled(room)
