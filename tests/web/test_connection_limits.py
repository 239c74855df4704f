"""Connections that keep the home waiting: by time, by number, by files; and what goes on beside."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.system_clock import SystemClock
from loopforge.web.server.connection_limits import (
    STREAMED,
    ConnectionLimits,
    place_of,
    room_for,
)
from loopforge.web.server.http_server import RunningServer
from loopforge.web.server.port_binding import bind_listening_socket

HALF_HEAD = b"GET / HTTP/1.1\r\nHost: x\r\nX-A: "
HALF_BODY = b"POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc"
STREAM = b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"
LARGE = b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n"


class Moved(SystemClock):
    """A clock that is moved on by hand."""

    def __init__(self) -> None:
        self.at = 1000.0

    def ticks(self) -> float:
        """As it was moved."""
        return self.at


async def application(scope: Any, receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
    """Reads a body to its end; streams until nobody listens; or answers with a great deal."""
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    if scope["path"] == "/slow":
        if b"streamed" in scope["query_string"]:
            scope["state"][STREAMED] = True
        while (event := await receive()).get("more_body"):
            pass
        if event["type"] == "http.disconnect":
            return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/stream":
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    body = b"x" * 30_000_000 if scope["path"] == "/large" else b"here"
    await send({"type": "http.response.body", "body": body})


class Post:
    """The application being served, and clients that keep it waiting."""

    def __init__(self, port: int, clock: Moved, among: ConnectionLimits) -> None:
        self.port, self.clock, self.among = port, clock, among

    async def open(self, sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection that has sent this and no more."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=4096)
        writer.write(sent)
        return reader, writer

    async def alive(self) -> bool:
        """Whether somebody who comes now is answered."""
        async with httpx.AsyncClient(timeout=60) as http:
            return (await http.get(f"http://127.0.0.1:{self.port}/")).text == "here"

    async def standing(self, count: int) -> None:
        """Until so many connections are there."""
        async with asyncio.timeout(60):
            while len(self.among) != count:
                await asyncio.sleep(0.01)


@asynccontextmanager
async def post(most: int = 100, each: int = 100, held: int = 1_000_000_000) -> AsyncIterator[Post]:
    """A server with room for so many connections."""
    clock, found, tasks = (
        Moved(),
        bind_listening_socket("127.0.0.1", 0, exactly=True),
        BackgroundTasks(),
    )
    among = ConnectionLimits(clock, most=most, each=each, held=held)
    server = RunningServer(application, found, among)
    running = tasks.spawn(server.run(), "serving")
    made = Post(found.getsockname()[1], clock, among)
    assert await made.alive()
    yield made
    server.stop()
    await running
    found.close()


@pytest.mark.parametrize(("sent", "said"), [(b"", b"408"), (HALF_HEAD, b"408"), (HALF_BODY, b"")])
async def test_who_never_ends_is_cut_off(sent: bytes, said: bytes) -> None:
    """No request, half a head or half a body end by time; a stream that is listened to does not."""
    async with post() as there:
        listening, listener = await there.open(STREAM)
        await listening.readuntil(b"first")
        reader, writer = await there.open(sent)
        await there.standing(2)
        assert await there.alive()
        there.clock.at += 31
        assert said in await reader.read()
        await there.standing(1)
        assert not listening.at_eof()
        for each in (writer, listener):
            each.close()


async def test_a_body_that_comes_slowly_has_its_time() -> None:
    """What comes at ten kilobytes a second or more is waited for; a byte now and then is not."""
    async with post() as there:
        (_, fast), (reader, slow) = await there.open(HALF_BODY), await there.open(HALF_BODY)
        await there.standing(2)
        fast.write(b"x" * 60_000)
        slow.write(b"x")
        await asyncio.sleep(0)
        while sum(one._came for one in there.among._open) < 60_000:
            await asyncio.sleep(0.01)
        there.clock.at += 31
        assert await reader.read() == b""
        await there.standing(1)
        for each in (fast, slow):
            each.close()


async def test_half_bodies_are_bounded_in_all() -> None:
    """Past what is held of half bodies the largest goes; smaller and streamed ones stay."""
    async with post(held=600_000) as there:
        streamed = HALF_BODY.replace(b"/slow", b"/slow?streamed")
        (_, away), (small, little), (large, much) = [
            await there.open(head + b"x" * count)
            for head, count in ((streamed, 900_000), (HALF_BODY, 250_000), (HALF_BODY, 200_000))
        ]
        async with asyncio.timeout(60):
            while sum(one._came for one in there.among._open) < 1_350_000:
                await asyncio.sleep(0.01)
        much.write(b"x" * 200_000)
        assert await large.read() == b""
        await there.standing(2)
        assert not small.at_eof()
        for each in (away, little, much):
            each.close()


async def test_an_answer_that_nobody_takes_is_given_up() -> None:
    """Who asks for much and takes none of it is cut off, and the home holds it no longer."""
    async with post() as there:
        _, writer = await there.open(LARGE)
        await there.standing(1)
        there.clock.at += 31
        assert await there.alive()
        while not any(one.flow.write_paused for one in there.among._open):  # buffers are filling
            await asyncio.sleep(0.01)
        there.clock.at += 61
        await there.standing(0)
        writer.close()


async def test_a_crowd_makes_room_for_who_comes(caplog: pytest.LogCaptureFixture) -> None:
    """Where all places are held by half requests, the oldest go, and who asks is answered."""
    async with post(most=20) as there:
        _, listener = await there.open(STREAM)
        crowd = [await there.open(HALF_HEAD if n % 2 else HALF_BODY) for n in range(100)]
        assert await there.alive()
        assert len(there.among) <= 20
        assert not listener.is_closing()
        for _, writer in crowd:
            writer.close()
        listener.close()
    told = [one for one in caplog.records if "No room for another connection" in one.message]
    assert len(told) == 1  # a line for each would fill the disk


async def test_who_owes_nothing_is_not_pushed_out() -> None:
    """Where every place is held by somebody who is answered, the next is told to come later."""
    async with post(most=5) as there:
        streams = [await there.open(STREAM) for _ in range(5)]
        for reader, _ in streams:
            await reader.readuntil(b"first")
        reader, writer = await there.open(b"")
        assert b"503" in await reader.read()
        for _, each in (*streams, (reader, writer)):
            each.close()


def test_addresses_are_counted_apart() -> None:
    """An address counts by itself, of IPv6 a network does; this machine's own are not counted."""
    assert place_of("203.0.113.9") != place_of("203.0.113.10")
    assert place_of("2001:db8::1") == place_of("2001:db8::ffff") != place_of("2001:db8:0:1::1")
    assert place_of("::ffff:203.0.113.9") == place_of("203.0.113.9")
    assert [place_of(own) for own in ("127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1")] == [
        ""
    ] * 4
    assert 1024 - 256 >= room_for(1024) > 500 > room_for(256) > 0


async def test_one_address_has_a_number_of_its_own() -> None:
    """Past its number an address makes room among its own; nobody else loses a connection."""
    among = ConnectionLimits(SystemClock(), most=50, each=3)

    class Waiting:
        """A connection that owes a head since a moment."""

        def __init__(self, since: float) -> None:
            self.since = since

        def due(self) -> float:
            """When it is too late."""
            return self.since

        def cut(self) -> None:
            """It goes."""
            among.gone(self)  # type: ignore[arg-type]

    other = Waiting(0.0)
    assert among.admit(other, "198.51.100.1")  # type: ignore[arg-type]
    for nth in range(1, 10):
        assert among.admit(Waiting(nth), "203.0.113.9")  # type: ignore[arg-type]
    assert len(among) == 4
    assert other in among._open  # type: ignore[comparison-overlap]


def test_running_out_of_files_ends_nothing(tmp_path: Path) -> None:
    """A home whose process has no file left says so, loses nobody, and answers again with one."""
    code = f"""
import asyncio, logging, os, resource, socket, sys
logging.basicConfig(filename={str(tmp_path / "log")!r})
from tests.web.test_connection_limits import post
async def main():
    async with post() as there:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        free = [socket.socket() for _ in range(3)]
        taken = []
        while True:
            try: taken.append(os.open("/dev/null", os.O_RDONLY))
            except OSError: break
        free.pop().close()
        late = socket.socket(); late.setblocking(False)
        try: late.connect(("127.0.0.1", there.port))
        except BlockingIOError: pass
        while not os.path.getsize({str(tmp_path / "log")!r}): await asyncio.sleep(0.01)
        [os.close(one) for one in taken]
        assert await there.alive()
asyncio.run(main())
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (out.returncode, out.stderr) == (0, "")
    told = (tmp_path / "log").read_text()
    assert told.count("No file is left for another connection") == 1
    assert "Traceback" not in told


def test_the_soft_limit_of_files_is_raised() -> None:
    """A host takes as many open files as the system lets it have."""
    code = (
        "import resource as r; hard = min(r.getrlimit(r.RLIMIT_NOFILE)[1], 4096)\n"
        "r.setrlimit(r.RLIMIT_NOFILE, (256, hard))\n"
        "from loopforge.runtime.installation.process_resources import raise_limit\n"
        "assert raise_limit() == r.getrlimit(r.RLIMIT_NOFILE)[0] == hard"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
