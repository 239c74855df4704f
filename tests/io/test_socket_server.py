"""The hall, over a real Unix socket: several terminals, slow ones, and those that talk garbage."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, Noted, Said, Told
from loopforge.core.text.erasable_text import Words
from loopforge.errors import LedgerBroken
from loopforge.io.socket import socket_server, wire_protocol
from loopforge.io.socket.socket_address import SocketAddress
from loopforge.io.socket.socket_server import SocketServer
from loopforge.io.socket.wire_protocol import (
    FromClient,
    FromHost,
    Hello,
    HostAnswer,
    RequestRefused,
    RoomHappened,
    RoomSight,
    Seen,
    SocketWelcome,
    TerminalRequest,
)
from loopforge.runtime.ports import Draft, Rested, Signal, Thinking
from tests.io.commons import Commons, Temper

SILENT = Temper(answer=lambda text: None)
SETTLE = TerminalRequest(n=9, do="settle")


class Wire:
    """A terminal's bare end of the socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._frames = wire_protocol.frames(reader, wire_protocol.from_host)

    def tell(self, *said: FromClient) -> None:
        """Write frames."""
        for frame in said:
            self.writer.write(wire_protocol.encode(frame))

    async def next(self) -> FromHost | None:
        """The next frame; None when the host hung up."""
        return await anext(self._frames, None)

    async def until(self, kind: type[FromHost]) -> list[FromHost]:
        """Everything up to the first frame of a kind, which is the last."""
        got: list[FromHost] = []
        while True:
            frame = await self.next()
            assert frame is not None, f"hung up before {kind.__name__}: {got}"
            got.append(frame)
            if isinstance(frame, kind):
                return got


class House:
    """A hall over rooms, and wires into it."""

    def __init__(self, rooms: Commons, address: SocketAddress) -> None:
        self.rooms, self.address = rooms, address
        self._stack = contextlib.AsyncExitStack()

    async def wire(self, name: str = "", **hello: object) -> Wire:
        """A new connection; with a name, one that has said Hello and was welcomed."""
        made = Wire(*await asyncio.open_unix_connection(self.address.path()))
        self._stack.callback(made.writer.close)
        if name:
            asked = {
                "client": name,
                "room": "commons",
                "name": name,
                **hello,
            }
            made.tell(Hello(**asked))  # type: ignore[arg-type]
            await made.until(SocketWelcome)
        return made

    async def close(self) -> None:
        """Close every wire."""
        await self._stack.aclose()


@contextlib.asynccontextmanager
async def house(tmp_path: Path, temper: Temper | None = None) -> AsyncIterator[House]:
    """A hall in a temporary folder."""
    address = SocketAddress(tmp_path)
    async with asyncio.timeout(60), Commons(temper) as rooms:
        await rooms.enter("commons", "first", "test")
        async with SocketServer(rooms, address):
            made = House(rooms, address)
            try:
                yield made
            finally:
                await made.close()


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[House]:
    """One in which mates are silent."""
    async with house(tmp_path, SILENT) as made:
        yield made


def texts(got: list[FromHost]) -> list[str]:
    """The lines among frames."""
    return [
        str(frame.event.body.text)
        for frame in got
        if isinstance(frame, RoomHappened) and isinstance(frame.event.body, Heard | Said)
    ]


def saying(text: str) -> TerminalRequest:
    """A line, the first of its terminal."""
    return TerminalRequest(n=1, do="say", words=text)


async def test_a_line_said_twice_is_heard_once(hall: House) -> None:
    """The same source gives the same event; nobody sees the line a second time."""
    ana = await hall.wire("ana")
    ana.tell(saying("once"), saying("once"))
    got = [frame for _ in range(2) for frame in await ana.until(HostAnswer)]
    ana.tell(SETTLE)
    assert texts(got + await ana.until(HostAnswer)) == ["once"]


async def test_drafts_come_before_the_line_and_rest_after_it(tmp_path: Path) -> None:
    """An answer is seen as thinking, drafts, the line, rest, in this order."""
    async with house(tmp_path, Temper(step=0.001)) as hall:
        ana = await hall.wire("ana")
        ana.tell(saying("tell me more"))
        got = await ana.until(Rested)
        kinds = [type(frame) for frame in got if not isinstance(frame, RoomSight)]
        said = max(n for n, kind in enumerate(kinds) if kind is RoomHappened)
        assert kinds.index(Thinking) < kinds.index(Draft) < said
        assert kinds[-1] is Rested
        assert kinds[said + 1 :] == [Rested]


async def test_who_comes_in_gets_the_last_lines_and_who_comes_back_what_was_missed(
    hall: House,
) -> None:
    """`tail` lines for a new terminal; everything after `after`, each once, for one that returns."""
    for n in range(1, 301):
        await hall.rooms.hear(
            "commons",
            Heard(person="p-first", text=Words(f"line {n}"), surface="test", source=f"x:{n}"),
        )
    new = await hall.wire("new", tail=3)
    new.tell(SETTLE)
    assert texts(await new.until(HostAnswer)) == ["line 299", "line 300"]
    bare = await hall.wire("new", tail=0)
    bare.tell(SETTLE)
    assert texts(await bare.until(HostAnswer)) == []
    back = await hall.wire("new", after=12)
    back.tell(SETTLE)
    assert texts(await back.until(HostAnswer)) == [f"line {n}" for n in range(11, 301)]


async def test_a_slow_terminal_delays_nobody_and_misses_nothing(hall: House) -> None:
    """While one terminal reads nothing, others get all; when it reads again, it gets all, once."""
    slow, quick = await hall.wire("slow"), await hall.wire("quick")
    slow.reader._transport.pause_reading()  # type: ignore[attr-defined]
    long = "x" * 2000
    for n in range(1500):
        await hall.rooms.hear(
            "commons",
            Heard(person="p-first", text=Words(f"{n} {long}"), surface="t", source=f"s:{n}"),
        )
        await asyncio.sleep(0)
    quick.tell(SETTLE)
    assert len(texts(await quick.until(HostAnswer))) == 1500
    slow.reader._transport.resume_reading()  # type: ignore[attr-defined]
    slow.tell(SETTLE)
    got = texts(await slow.until(HostAnswer))
    assert [int(text.split()[0]) for text in got] == list(range(1500))


async def test_a_terminal_that_takes_nothing_is_hung_up_on(
    hall: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much is said, what waits for it does not wait for ever; it may come again."""
    monkeypatch.setattr(socket_server, "PATIENCE", 0.1)
    slow = await hall.wire("slow")
    slow.reader._transport.pause_reading()  # type: ignore[attr-defined]
    for n in range(1500):
        line = Heard(person="p-slow", text=Words("x" * 2000), surface="t", source=f"s:{n}")
        await hall.rooms.hear("commons", line)
    ben = await hall.wire("ben")
    while "p-slow" in (await _sight(ben)).here:
        pass
    slow.writer.transport.abort()


async def _sight(wire: Wire) -> RoomSight:
    sight = (await wire.until(RoomSight))[-1]
    assert isinstance(sight, RoomSight)
    return sight


async def test_events_that_were_published_out_of_order_arrive_in_order(hall: House) -> None:
    """A gap in the numbers makes the hall read the history again."""
    ana = await hall.wire("ana")
    publish = hall.rooms.signals.publish
    held: list[Signal | Event] = []

    def late(stream: str, what: Signal | Event) -> None:
        held.append(what)

    await hall.rooms.hear(
        "commons", Heard(person="p-first", text=Words("one"), surface="t", source="t:1")
    )
    hall.rooms.signals.publish = late  # type: ignore[method-assign]
    await hall.rooms.hear(
        "commons", Heard(person="p-first", text=Words("two"), surface="t", source="t:2")
    )
    hall.rooms.signals.publish = publish  # type: ignore[method-assign]
    await hall.rooms.hear(
        "commons", Heard(person="p-first", text=Words("three"), surface="t", source="t:3")
    )
    ana.tell(SETTLE)
    assert texts(await ana.until(HostAnswer)) == ["one", "two", "three"]
    publish("commons", held[0])
    ana.tell(SETTLE)
    assert texts(await ana.until(HostAnswer)) == []


async def test_a_line_that_comes_while_history_is_read_arrives_once(tmp_path: Path) -> None:
    """What stands in a page of history and is heard too is sent once."""

    class Busy(Commons):
        """Rooms in which somebody speaks whenever history is read."""

        async def history(self, room: str, **page: Any) -> list[Event]:
            self.add(room, Told(text=Words("meanwhile")), "room")
            await asyncio.sleep(0)
            return await super().history(room, **page)

    address = SocketAddress(tmp_path)
    async with asyncio.timeout(60), Busy(SILENT) as rooms, SocketServer(rooms, address):
        wire = Wire(*await asyncio.open_unix_connection(address.path()))
        wire.tell(Hello(client="c", room="commons", name="ana", tail=50))
        got = await wire.until(RoomHappened)
        while len(got) < 12:  # sights come too
            got += [frame] if (frame := await wire.next()) else []
            rooms.signals.publish("commons", Rested(turn="t", mate="maya"))
        seqs = [frame.event.seq for frame in got if isinstance(frame, RoomHappened)]
        assert len(seqs) >= 3
        assert seqs == sorted(set(seqs))
        wire.writer.close()


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00\xff\n",
        b"{}\n",
        b"x" * (wire_protocol.LIMIT + 10),
        b'{"type":"settle","n":1}\n',
        wire_protocol.encode(Hello(version=99, client="c", room="r", name="n")),
    ],
    ids=["http", "bytes", "empty", "endless", "no hello", "version"],
)
async def test_garbage_is_answered_and_ends_that_connection_only(
    hall: House, garbage: bytes
) -> None:
    """What is no frame is refused with a hang-up; the hall and the others go on."""
    ana, bad = await hall.wire("ana"), await hall.wire()
    bad.writer.write(garbage)
    answer = await bad.next()
    assert isinstance(answer, RequestRefused)
    assert answer.sentence
    with contextlib.suppress(ConnectionResetError):
        assert await bad.next() is None
    inside = await hall.wire("bad")
    inside.writer.write(garbage)
    await inside.until(RequestRefused)
    ana.tell(saying("still here"))
    await ana.until(HostAnswer)


async def test_a_terminal_that_vanishes_leaves_the_room(hall: House) -> None:
    """Who is here is told to the others when somebody comes and when they go, in whatever way."""
    ana = await hall.wire("ana")
    ben = await hall.wire("ben")

    while (await _sight(ana)).here != ("p-ana", "p-ben"):
        pass
    ben.writer.transport.abort()
    while (await _sight(ana)).here != ("p-ana",):
        pass


async def test_an_unforeseen_error_is_told_plainly_and_ends_nothing(
    hall: House, caplog: pytest.LogCaptureFixture
) -> None:
    """A fault in the rooms becomes a sentence without its details, which stand in the log."""

    def broken(text: str) -> str:
        raise ZeroDivisionError("secret detail")

    ana = await hall.wire("ana")
    hall.rooms.why = broken  # type: ignore[method-assign, assignment]
    ana.tell(TerminalRequest(n=1, do="why", words="e"))
    refused = (await ana.until(RequestRefused))[-1]
    assert isinstance(refused, RequestRefused)
    assert "secret" not in refused.sentence
    assert "secret detail" in caplog.text
    ana.tell(SETTLE)
    await ana.until(HostAnswer)


async def test_a_ledger_that_cannot_be_read_is_told(
    hall: House, caplog: pytest.LogCaptureFixture
) -> None:
    """Who comes in while a room cannot be read is told why, and the log has no alarm."""

    async def damaged(room: str, **more: object) -> list[Event]:
        raise LedgerBroken("It is damaged.")

    hall.rooms.history = damaged  # type: ignore[method-assign]
    ana = await hall.wire()
    ana.tell(Hello(client="ana", room="commons", name="ana"))
    refused = (await ana.until(RequestRefused))[-1]
    assert isinstance(refused, RequestRefused)
    assert refused.sentence == "It is damaged."
    assert not [each for each in caplog.records if each.name.startswith("loopforge")]


async def test_a_fault_after_the_welcome_hangs_up_and_no_more(
    hall: House, caplog: pytest.LogCaptureFixture
) -> None:
    """A terminal that cannot be served on is cut off without a word, so that it comes again."""

    async def broken(room: str, person: str, seq: int, surface: str = "") -> None:
        raise ZeroDivisionError("secret detail")

    ana = await hall.wire("ana")
    hall.rooms.seen = broken  # type: ignore[method-assign]
    ana.tell(Seen(seq=1))
    while (frame := await ana.next()) is not None:
        assert not isinstance(frame, RequestRefused)
    assert "secret detail" in caplog.text
    assert isinstance((await hall.wire("ana")).reader, asyncio.StreamReader)


async def test_what_a_mad_model_writes_can_be_sent(hall: House) -> None:
    """Halves of characters and drafts without end reach the terminal as something readable."""
    ana = await hall.wire("ana")
    hall.rooms.signals.publish("commons", Thinking(turn="t", mate="maya"))
    hall.rooms.signals.publish(
        "commons", Draft(turn="t", mate="maya", text="\ud800" + "z" * 2_000_000)
    )
    draft = (await ana.until(Draft))[-1]
    assert isinstance(draft, Draft)
    assert draft.text.startswith("?zzz")
    hall.rooms.add("commons", Told(text=Words("half \udfff")), "room")
    hall.rooms.add("commons", Heard(person="p", text=Words("half \udfff")), "person:p")
    ana.tell(SETTLE)
    got = await ana.until(HostAnswer)
    assert texts(got) == ["half ?"]
    told = [f.event.body for f in got if isinstance(f, RoomHappened)]
    assert [str(body.text) for body in told if isinstance(body, Told)] == ["half ?"]


async def test_who_hangs_up_is_hung_up_on_after_all_is_done(hall: House) -> None:
    """What was said and seen before is done before the host hangs up, too."""
    ana = await hall.wire("ana")
    ana.tell(saying("last words"), Seen(seq=7))
    ana.writer.write_eof()
    while await ana.next() is not None:
        pass
    assert hall.rooms.seen_up_to == {"p-ana": 7}
    assert [str(e.body.text) for e in hall.rooms.events("commons") if isinstance(e.body, Heard)]


async def test_stop_is_not_held_up_by_questions(tmp_path: Path) -> None:
    """A command is done while a question waits for the room to settle."""
    gate = asyncio.Event()
    async with house(tmp_path, Temper(gate=gate)) as hall:
        ana = await hall.wire("ana")
        ana.tell(saying("talk"))
        await ana.until(HostAnswer)
        ana.tell(SETTLE, TerminalRequest(n=3, do="act", words="stop"))
        done = (await ana.until(HostAnswer))[-1]
        assert isinstance(done, HostAnswer)
        assert done.n == 3
        gate.set()
        await ana.until(HostAnswer)


async def test_the_hall_hangs_up_when_it_closes_also_on_a_terminal_that_does_not_read(
    tmp_path: Path,
) -> None:
    """Closing ends in time with a stalled terminal, and leaves no socket behind."""
    address = SocketAddress(tmp_path)
    async with asyncio.timeout(60), Commons(SILENT) as rooms:
        await rooms.enter("commons", "first", "test")
        async with SocketServer(rooms, address):
            _, writer = await asyncio.open_unix_connection(address.path())
            writer.write(wire_protocol.encode(Hello(client="c", room="commons", name="n")))
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            for n in range(600):
                rooms.add("commons", Heard(person="p", text=Words("y" * 3000), source=f"{n}"), "p")
                await asyncio.sleep(0)
        assert not address.path().exists()
        writer.close()


async def test_a_mates_private_words_never_leave_the_hall(tmp_path: Path) -> None:
    """Notes, modes and narratives are in no byte that a terminal receives."""
    async with house(tmp_path) as hall:
        noted = Noted(turn="t", mate="maya", text=Words("a private thought"))
        hall.rooms.add("commons", noted, "mate:maya")
        reader, writer = await asyncio.open_unix_connection(hall.address.path())
        hello = Hello(client="c", room="commons", name="n", tail=50)
        writer.write(wire_protocol.encode(hello))
        writer.write(wire_protocol.encode(saying("hello")))
        writer.write(wire_protocol.encode(TerminalRequest(n=2, do="history")))
        seen = b""
        while b"You said" not in seen or b'"answer"' not in seen or b'"rested"' not in seen:
            seen += await reader.read(1 << 16)
        assert b"private thought" not in seen
        assert b"because I was asked" not in seen
        writer.close()
