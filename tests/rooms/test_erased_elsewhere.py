"""What is forgotten in one room is gone from what mates elsewhere were shown and said of it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, LineDeleted, Said
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.rooms.conftest import Home, living
from tests.rooms.test_note_taking import held, noted, talk
from tests.rooms.test_presence_attacks import WORD, kept, said
from tests.rooms.test_presence_in_turn import ASK, looking, scene, telling

ASKED: dict[Callable[[Question], Any], str] = {telling: ASK, looking: "@maya look up what I build"}
Answer = dict[str, Any] | ScriptedAnswer


async def told_line(home: Home, word: str = WORD) -> Event:
    """The first line in which a person said it."""
    for stream in await home.app.ledger.heads("room:"):
        for event in await home.app.ledger.read(stream, kinds=["room.heard"]):
            if isinstance(event.body, Heard) and word in str(event.body.text):
                return event
    raise AssertionError(f"nobody said {word!r}")


async def deleted(home: Home, line: Event) -> None:
    """Ana takes a line back, and all that follows of it is done."""
    room = line.stream.removeprefix("room:")
    await home.app.front.rooms.delete(room, home.people["ana"], line.id)
    await home.clock.advance(200)


@pytest.mark.sample(4)
@pytest.mark.parametrize("seconds", [10, 100], ids=["waiting", "over"])
@pytest.mark.parametrize("keeps", [True, False], ids=["kept", "heard"])
@pytest.mark.parametrize("script", [telling, looking])
async def test_a_turn_elsewhere_leaves_nothing_of_a_deleted_line(
    tmp_path: Path, script: Callable[[Question], Answer], keeps: bool, seconds: float
) -> None:
    """Recalled or found by a tool, said already or just being written: no file holds the words."""
    async with scene(tmp_path, script, keeps=keeps) as home:
        line = await told_line(home)
        await home.says("ana", ASKED[script])
        await home.clock.advance(seconds)
        assert WORD in str(home.models.asked)
        assert bool(await home.said()) == (seconds > 30)
        await deleted(home, line)
        assert home.holding(WORD.encode()) == []
        assert (await home.app.ledger.verify()).findings == ()


async def test_a_long_line_that_was_shown_in_part_leaves_nothing(tmp_path: Path) -> None:
    """The beginning of a long line, copied into another room's prompt, goes along."""
    async with scene(tmp_path, telling, keeps=False) as home:
        here, home.room = home.room, (await told_line(home)).stream.removeprefix("room:")
        long = f"Ana builds towers of glass that are marmoladic {'and then some more' * 40}"
        line = await home.hears("ana", long)
        home.room = here
        await home.hears("ana", ASK)
        assert "marmoladic" in str(home.models.asked)
        await deleted(home, line)
        assert home.holding(b"marmoladic") == []


async def test_what_a_line_said_since_it_was_edited_leaves_nothing(tmp_path: Path) -> None:
    """A tool that told of it elsewhere names the line, and told what the edit made of it."""
    async with scene(tmp_path, looking, keeps=False) as home:
        line = await told_line(home)
        told = line.stream.removeprefix("room:")
        now = "Now it is marmoladic domes that we build"
        await home.app.front.rooms.edit(told, home.people["ana"], line.id, now)
        await home.hears("ana", ASKED[looking])
        assert "marmoladic" in str(home.models.asked)
        await deleted(home, line)
        assert home.holding(b"marmoladic", WORD.encode()) == []


async def test_what_a_memory_said_since_it_was_corrected_leaves_nothing(tmp_path: Path) -> None:
    """It goes with its line; a tool that told of it elsewhere names it, and told its later words."""
    async with scene(tmp_path, looking, keeps=False) as home:
        here, told = home.room, (await told_line(home)).stream
        line = await said(home, told, "ana", "so be it")
        item = await kept(home, line, "Ana hums", trusted=False)
        now = "What towers of glass she likes: marmoladic"
        await home.app.memory.store.correct(item, now, by=home.people["ana"])
        home.room = here
        await home.hears("ana", ASKED[looking])
        assert "marmoladic" in str(home.models.asked)
        await deleted(home, line)
        assert home.holding(b"marmoladic") == []


async def test_a_person_who_is_forgotten_meanwhile_is_forgotten_whole(tmp_path: Path) -> None:
    """An erasure waits for the turns that may still write down what they were shown."""
    async with scene(tmp_path, telling) as home:
        await home.says("ana", ASK)
        await home.clock.advance(10)
        wish = ErasureRequest(person=home.people["ana"], by="owner")
        erasing = asyncio.ensure_future(home.app.ledger.erase(wish))  # noqa: TID251
        await home.clock.advance(200)
        assert (await erasing).refs
        assert home.holding(WORD.encode()) == []


async def test_a_room_that_is_deleted_meanwhile_is_forgotten_whole(tmp_path: Path) -> None:
    """What a mate just recalls of a room in another one goes with the room."""
    async with scene(tmp_path, telling) as home:
        line = await told_line(home)
        await home.says("ana", ASK)
        await home.clock.advance(10)
        room = line.stream.removeprefix("room:")
        closing = home.app.closing.close_room(room, home.people["ana"])
        await home.clock.until(asyncio.ensure_future(closing))  # noqa: TID251
        await home.clock.advance(200)
        assert home.holding(WORD.encode()) == []


async def test_a_look_back_that_is_over_leaves_nothing_of_a_deleted_line(tmp_path: Path) -> None:
    """What a model noted of a line, its raw answer and its plan go with the line."""
    notes = {"facts": [{"about": "ana", "subject": "home", "text": "Ana lives in Riga"}]}
    async with noted(tmp_path, notes) as home:
        await talk(home)
        await deleted(home, await told_line(home, "Riga"))
        assert home.holding(b"Riga") == []
        assert (await home.app.ledger.verify()).findings == ()


async def test_a_memory_that_is_forgotten_leaves_nothing_in_the_look_back(tmp_path: Path) -> None:
    """What is forgotten for good is gone from the answer and the plan by which it was kept."""
    notes = {"facts": [{"about": "ana", "subject": "home", "text": "Ana resides in Reykjavik"}]}
    async with noted(tmp_path, notes) as home:
        await talk(home, "@maya I reside in Reykjavik now")
        item = (await held(home))["Ana resides in Reykjavik"]
        await home.app.memory.store.forget(item.id, by=home.people["ana"])
        query = "SELECT text FROM texts WHERE stream = 'memory:maya'"
        texts = await home.app.ledger.look(lambda c: c.exec_driver_sql(query).scalars().all())
        assert texts
        assert "Reykjavik" not in str(texts)


async def test_what_people_say_elsewhere_of_the_same_matter_stays(tmp_path: Path) -> None:
    """Bo said a word of it himself, after maya did: his line is his."""
    async with scene(tmp_path, telling) as home:
        line = await told_line(home)
        await home.hears("ana", ASK)
        mine = await home.hears("ana", f"I like {WORD} towers")
        await deleted(home, line)
        heard = await home.app.ledger.event(mine.id)
        assert isinstance(heard.body, Heard)
        assert str(heard.body.text) == f"I like {WORD} towers"
        assert not [one for one in await home.bodies(Said) if WORD in str(one.text)]


async def test_a_deletion_that_the_program_did_not_outlive_is_finished(tmp_path: Path) -> None:
    """The turn elsewhere was cut off: it is taken up after the start, and leaves nothing."""
    async with scene(tmp_path, telling, keeps=False) as home:
        line = await told_line(home)
        await home.says("ana", ASK)
        await home.clock.advance(10)
        body = LineDeleted(line=line.id, by=f"person:{home.people['ana']}")
        await home.app.ledger.append(line.stream, [home.app.stamp.fact(body, actor="room")])
    async with living(tmp_path, telling, clock=home.clock, seed=9) as again:
        await again.clock.advance(300)
        assert again.holding(WORD.encode()) == []
        assert (await again.app.ledger.verify()).findings == ()
