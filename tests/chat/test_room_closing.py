"""Closing a room: nothing of it is left but that it was, and nobody comes in again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import pytest

from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.chat.service.room_closing import WHY
from loopforge.core.events import Erased
from loopforge.core.room_vocabulary import Heard, RoomClosed
from loopforge.core.text.erasable_text import Words
from loopforge.errors import Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger_opening import open_ledger_of
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice
from tests.rooms.conftest import Home, living

SECRET = "my locker opens with rhubarb-4711 on Tuesdays only"
PNG = b"\x89PNG\r\n\x1a\n" + b"rhubarb" * 50


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    """A home whose room `commons` knows a secret and a picture."""
    async with living(tmp_path) as made:
        await made.hears("ana", f"@maya {SECRET}")
        made.room = "cellar"
        await made.enter("ana")
        made.room = "commons"
        yield made


async def give(home: Home, data: bytes, line: str = "look") -> None:
    """Somebody gives a picture to the room."""
    file = await ingest_file(home.app.artifacts, "rhubarb.png", data, FileLimits(10_000, 10_000))
    await home.says("ana", line, files=(file,))


async def until(home: Home, work: Awaitable[object]) -> None:
    """Let simulated time go by until this is done."""
    await home.clock.until(asyncio.ensure_future(work))  # noqa: TID251


async def close(home: Home, *, keep_quotes: bool = False) -> None:
    """Ana closes the room."""
    ana = home.people["ana"]
    await until(home, home.app.front.closing.close_room(home.room, ana, keep_quotes=keep_quotes))


async def swept(home: Home) -> None:
    """The keeper has done what it was to do."""
    while home.app.keeper._busy:
        await home.clock.advance(0)


async def test_nothing_is_left_in_any_file(home: Home) -> None:
    """No text of the room, no prompt, no answer and no file of it stands in the home's data."""
    await give(home, PNG, "@maya look at this rhubarb")
    await home.rest()
    assert home.holding(b"rhubarb")
    await close(home)
    await swept(home)
    assert home.holding(b"rhubarb", b"locker") == []
    assert await home.app.artifacts.hashes() == []
    assert (await home.app.ledger.verify()).findings == ()


async def test_the_ledger_says_who_closed_it(home: Home) -> None:
    """The room's events stay; the last ones say by whom it was closed, and what was forgotten."""
    before = await home.kinds()
    await close(home)
    events = await home.events()
    assert [event.kind for event in events][: len(before)] == before
    closed = next(e.body for e in events if isinstance(e.body, RoomClosed))
    assert closed == RoomClosed(person=home.people["ana"])
    erased = [e.body for e in events if isinstance(e.body, Erased)]
    assert {(body.by, body.why) for body in erased} == {(home.people["ana"], WHY)}


async def test_a_closed_room_refuses_everything(home: Home) -> None:
    """Whatever somebody asks of it, there is no such room, and its name is not given again."""
    ana, front = home.people["ana"], home.app.front
    line = (await home.events())[-1].id
    await close(home)
    asked: list[Awaitable[object]] = [
        front.rooms.enter("commons", "ana", "terminal"),
        front.rooms.enter("commons", "ben", "terminal", ("maya",)),
        front.rooms.come_in("commons", ana, "ana"),
        front.rooms.hear("commons", Heard(person=ana, text=Words("hello"), surface="terminal")),
        front.commands.act("commons", ana, "stop", ""),
        front.commands.act("commons", ana, "title", "New"),
        front.history("commons"),
        front.search("commons", "rhubarb", 5),
        front.line("commons", line),
        front.rooms.scene("commons"),
        front.rooms.state("commons"),
        front.bring("commons", ana, "p2", "ben"),
        front.rooms.leave("commons", ana),
        front.closing.resting("commons"),
        front.closing.close_room("commons", ana),
    ]
    for each in asked:
        with pytest.raises(Unknown, match="There is no room called 'commons'"):
            await each
    assert await home.app.rooms.names() == ["cellar"]
    plates = await front.lobby.rooms_of(ana, {})
    assert [plate.room for plate in plates] == ["cellar"]


async def test_other_rooms_are_left_alone(home: Home) -> None:
    """What was said elsewhere stays, and talk there goes on."""
    home.room = "cellar"
    await home.hears("ana", "@merlin the locker is in the cellar")
    home.room = "commons"
    await close(home)
    home.room = "cellar"
    assert "ana: @merlin the locker is in the cellar" in await home.lines()
    await home.hears("ana", "@merlin still here?")
    assert (await home.said())[-1] == "merlin"


@pytest.mark.parametrize("keep", [True, False])
async def test_quotes_elsewhere_are_the_persons_choice(home: Home, keep: bool) -> None:
    """What quotes the room in another one is counted before, and kept or forgotten with it."""
    home.room = "cellar"
    for mate in ("maya", "merlin", "zuzu"):
        await home.does("ana", "remove", mate)
    await home.hears("ana", f"I said {SECRET}")
    assert (await home.app.front.closing.resting("commons")).quotes == 1
    home.room = "commons"
    await close(home, keep_quotes=keep)
    home.room = "cellar"
    assert (SECRET in "\n".join(await home.lines())) is keep


async def test_a_mate_that_is_speaking_is_stopped(tmp_path: Path) -> None:
    """A turn under way is broken off, and what it still wrote is forgotten with the rest."""

    def slow(_question: Question) -> ScriptedAnswer:
        return ScriptedAnswer(text="far too late", wait=100_000)

    async with living(tmp_path, slow) as home:
        await home.says("ana", f"@maya {SECRET}")
        while not home.models.asked:
            await home.clock.advance(0.2)
        await home.app.front.closing.close_room("commons", home.people["ana"])
        assert await home.said() == []
        assert (await home.kinds("turn."))[-1] == "turn.ended"
        assert await home.app.closing.unfinished() == []
        assert home.holding(b"rhubarb") == []


async def test_a_crash_before_the_erasure_is_made_up_for(tmp_path: Path) -> None:
    """A process dies when the room is closed and not yet forgotten: the next start forgets it."""
    async with living(tmp_path) as home:
        await home.hears("ana", f"@maya {SECRET}")
        home.room = "cellar"
        await home.enter("ana")
        await home.hears("ana", f"I said {SECRET}")
    stamp = Stamp(SystemClock(), SystemDice())
    async with open_ledger_of(home.app.settings) as other:
        body = RoomClosed(person=home.people["ana"], exactly=True)
        await other.append("room:commons", [stamp.fact(body, actor="room")])
    async with living(tmp_path, clock=home.clock, seed=8) as again:
        while await again.app.closing.unfinished():
            await again.clock.advance(0)
        events = await again.events()
        assert [event.kind for event in events].count("ledger.erased") == 1
        assert [e.body.by for e in events if isinstance(e.body, Erased)] == [home.people["ana"]]
        again.room = "cellar"
        assert SECRET in "\n".join(await again.lines())
        assert await again.app.rooms.names() == ["cellar"]
    async with living(tmp_path, clock=home.clock, seed=9) as third:
        assert await third.kinds() == [event.kind for event in events]


async def test_another_process_closes_a_room_that_is_running(home: Home) -> None:
    """A command that only says so is enough: the host notices and forgets the room."""
    await give(home, PNG)
    stamp = Stamp(SystemClock(), SystemDice())
    async with open_ledger_of(home.app.settings) as other:
        closed = stamp.fact(RoomClosed(person="", exactly=True), actor="room")
        await other.append("room:commons", [closed])
    await home.app.ledger.follow()
    while await home.app.closing.unfinished():
        await home.clock.advance(1)
    await swept(home)
    assert home.holding(b"rhubarb") == []
    assert await home.app.artifacts.hashes() == []
    with pytest.raises(Unknown):
        await home.app.front.rooms.scene("commons")


async def test_an_erased_line_takes_its_picture_along(home: Home) -> None:
    """A line that is forgotten while the room lives on takes the bytes it came with."""
    await give(home, PNG)
    (line,) = await home.app.front.search("commons", "rhubarb.png", 5)
    await home.app.ledger.erase(ErasureRequest(events=(line.id,), by="owner"))
    await swept(home)
    assert await home.app.artifacts.hashes() == []
    assert home.holding(PNG) == []


async def test_weighing_forgets_nothing(home: Home) -> None:
    """Asking what it would mean tells how many texts, and changes nothing."""
    before = await home.events()
    would = await home.app.closing.weigh("commons")
    assert would.named == len(would.texts["room:commons"]) > 3
    assert await home.events() == before
