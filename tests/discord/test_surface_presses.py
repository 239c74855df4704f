"""Buttons under a question on Discord, at odd moments: together, after a stop, late, slowly."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import RightsSet
from loopforge.io.discord.receiving.slash_commands import SOON
from loopforge.io.platforms.line_buttons import OVER
from loopforge.runtime.effects import effect_worker
from loopforge.runtime.system_clock import SystemClock
from tests.asking_mate import at_length
from tests.discord.test_surface_questions import asked, buttons, posting, settled
from tests.discord.twin import Twin
from tests.sim_clock import SimClock

DONE = "Yes: it is done now, and the mate is told."
UNANSWERED = effect_worker.UNANSWERED.format("a day")
DENIED = "No: it is not done, and the mate is told."


async def test_of_two_who_press_at_once_one_counts(city: Twin, tmp_path: Path) -> None:
    """Two yeses post once; a yes and a no are one of the two, and the other is told who was it."""
    maya, plaza = city.bot("Maya"), city.channel("plaza")
    ben, zoe = city.person("ben"), city.person("zoe")
    async with posting(city, tmp_path, maya, plaza) as (home, posted):
        question = await asked(city, plaza, "Cleo")
        both = await asyncio.gather(
            *(city.press(who, question, "Allow once") for who in (ben, zoe, ben))
        )
        told = sorted(one.text for one in both)
        assert told.count(DONE) == 1
        assert [one.partition(". ")[0] + "." for one in told if one != DONE] == [OVER, OVER]
        await settled(city, question)
        await city.until(lambda: posted)
        question = await asked(city, plaza, "Dora")
        form = await city.press(zoe, question, "Deny")
        yes, no = await asyncio.gather(
            city.press(ben, question, "Allow once"), city.fill(zoe, form, why="no")
        )
        end = await settled(city, question)
        if yes.text == DONE:
            assert (no.text, end.endswith("ben said yes.")) == (f"{OVER} ben said yes.", True)
            await city.until(lambda: posted == ["Cleo", "Dora"])
        else:
            assert (yes.text, no.text) == (f"{OVER} zoe said no: no", DENIED)
        await home.settled(plaza)
    assert posted[1:] == (["Dora"] if yes.text == DONE else [])


async def test_stop_takes_an_open_question_back(city: Twin, tmp_path: Path) -> None:
    """Its buttons go, and who presses one that they still see, or sends a form, is told why."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with posting(city, tmp_path, maya, plaza) as (home, posted):
        question = await asked(city, plaza, "Cleo")
        form = await city.press(ben, question, "Deny")
        await home.settled(plaza)
        await city.until(lambda: maya.commands.get(None))
        city.guild.everyone_role.permissions |= 1 << 4
        await city.slash(ben, plaza, maya, "stop", {})
        assert (await settled(city, question)).endswith("It was called off.")
        for id in buttons(question).values():
            told = await city.press(ben, question, id=id)
            assert (told.ephemeral, told.text) == (True, f"{OVER} It was called off.")
        assert (await city.fill(ben, form)).text == f"{OVER} It was called off."
    assert posted == []


async def test_a_question_that_nobody_answered_in_a_day_is_over(city: Twin, tmp_path: Path) -> None:
    """The home was closed meanwhile: it says so when it is open again, and to who presses late."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with posting(city, tmp_path, maya, plaza) as (home, _):
        question = await asked(city, plaza, "Cleo")
        await home.rests(plaza)
    later = SimClock(SystemClock().now() + timedelta(days=1, minutes=5))
    async with posting(city, tmp_path, maya, plaza, sim=later) as (_, posted):
        over = asyncio.ensure_future(settled(city, question))  # noqa: TID251
        await later.until(over)
        assert over.result().endswith(UNANSWERED)
        pressed = asyncio.ensure_future(  # noqa: TID251
            city.press(ben, question, id=buttons(question)["Allow once"])
        )
        await later.until(pressed)
        assert pressed.result().text == f"{OVER} {UNANSWERED}"
    assert posted == []


async def test_a_question_of_several_messages_has_its_buttons_under_the_last(
    city: Twin, tmp_path: Path
) -> None:
    """All of what would run is shown; a press answers it, and each of its messages is mended."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with posting(city, tmp_path, maya, plaza, at_length) as (home, posted):
        question = await asked(city, plaza, "Cleo")
        await home.delivered(plaza)
        parts = [one for one in city.lines(plaza) if "word" in one.text]
        assert len(parts) > 2
        assert [bool(one.components) for one in parts] == [False] * (len(parts) - 1) + [True]
        whole = " ".join(one.text for one in parts)
        assert all(f"word{nth}" in whole for nth in range(700))
        assert (await city.press(ben, question, "Allow once")).text == DONE
        assert (await settled(city, question)).endswith("ben said yes.")
        await city.until(lambda: posted)
    assert posted == ["Cleo"]


@pytest.mark.sqlite
async def test_an_answer_that_takes_longer_than_discord_waits_is_announced(
    city: Twin, tmp_path: Path
) -> None:
    """While another program holds the database it says so in time; then the press counts, once."""
    assert SOON < 3  # seconds, which Discord waits
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    patient = "PRAGMA busy_timeout = 120000"
    async with posting(city, tmp_path, maya, plaza) as (home, posted):
        question = await asked(city, plaza, "Cleo")
        await home.rests(plaza)
        await home.app.ledger.change(lambda found: found.exec_driver_sql(patient).all())
        database = tmp_path / "data" / "loopforge.db"
        with closing(sqlite3.connect(database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            answer, again = [
                await city.press(ben, question, "Allow once", settled=False) for _ in range(2)
            ]
            assert answer.deferred
            assert posted == []
            other.execute("ROLLBACK")
        await city.until(lambda: answer.text and again.text)
        assert sorted((answer.text, again.text)) == sorted((DONE, f"{OVER} ben said yes."))
        await city.until(lambda: posted)
        await settled(city, question)
    assert posted == ["Cleo"]


async def test_a_thumb_of_who_manages_the_place_counts(city: Twin, tmp_path: Path) -> None:
    """Where tools are for nobody else: another's thumb changes nothing."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    city.guild.owner_id = ben.id
    async with posting(city, tmp_path, maya, plaza) as (home, posted):
        question = await asked(city, plaza, "Cleo")
        await home.rests(plaza)
        rights = RightsSet(who="everyone", rights=("talk",), tools=())
        await home.app.rooms.add(await home.room(plaza), "", rights)
        await city.react(city.person("eve"), question, "👎")
        await city.until(lambda: any("You may not" in one.text for one in city.lines(plaza)))
        await city.react(ben, question, "👍")
        assert (await settled(city, question)).endswith("ben said yes.")
        await city.until(lambda: posted)
    assert posted == ["Cleo"]
