"""The link: joining, resending, taking over, over real sockets and with real processes."""

import asyncio
import contextlib
import itertools
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.errors import (
    BadSettings,
    HostElsewhere,
    LedgerError,
    LedgerFull,
    LoopforgeError,
    Unknown,
    Unreachable,
)
from loopforge.host_lock import lock_home
from loopforge.io.socket import wire_protocol
from loopforge.io.socket.socket_address import SocketAddress
from loopforge.io.socket.socket_client import (
    LinkJoined,
    LinkParted,
    SocketLink,
    UnsentLine,
    Update,
)
from loopforge.runtime.ports import Draft, Rested
from loopforge.runtime.system_clock import SystemClock
from tests.io.commons import HOSTED, Commons, Temper, hosting

CLIENTS = itertools.count(1)
SILENT = Temper(answer=lambda text: None)


def link(home: Path, name: str, temper: Temper | None = None, **person: object) -> SocketLink:
    """A link of somebody into the commons of a home; it hosts if nobody does."""
    (home / "data").mkdir(exist_ok=True)
    who = {"client": f"c{next(CLIENTS)}", "room": "commons", "name": name, "tail": 50, **person}
    return SocketLink(
        SocketAddress(home / "data"),
        lambda: hosting(home, temper),
        wire_protocol.Hello(**who),  # type: ignore[arg-type]
        SystemClock(),
    )


class Watch:
    """What a link has told, as it comes."""

    def __init__(self, link: SocketLink) -> None:
        self.link = link
        self.all: list[Update] = []

    async def until(self, *kinds: type[Update]) -> Update:
        """The next update of one of these kinds."""
        async with asyncio.timeout(60):
            async for update in self.link:
                self.all.append(update)
                if isinstance(update, kinds):
                    return update
        raise AssertionError("the link ended")

    async def taken(self) -> None:
        """Read on until the room has taken what was said: what nobody reads stops the link."""

        async def read() -> None:
            async for update in self.link:
                self.all.append(update)

        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(read())
            await self.link.taken()
            reading.cancel()

    async def lines(self, count: int) -> list[str]:
        """Wait until so many lines were seen, and return all."""
        seen = len(self.texts())
        while seen < count:
            await self.until(Event)
            last = self.all[-1]
            seen += isinstance(last, Event) and isinstance(last.body, Heard | Said)
        return self.texts()

    async def until_here(self, person: str) -> None:
        """Wait until somebody's terminal is open."""
        while True:
            sight = await self.until(wire_protocol.RoomSight)
            assert isinstance(sight, wire_protocol.RoomSight)
            if person in sight.here:
                return

    def texts(self) -> list[str]:
        """The lines seen so far."""
        return [
            str(one.body.text)
            for one in self.all
            if isinstance(one, Event) and isinstance(one.body, Heard | Said)
        ]


@contextlib.asynccontextmanager
async def watching(made: SocketLink) -> AsyncIterator[Watch]:
    """Open a link and wait until it is in the room."""
    async with made:
        watch = Watch(made)
        await watch.until(LinkJoined)
        yield watch


async def test_the_first_one_hosts_and_the_second_joins(tmp_path: Path) -> None:
    """With no host the process becomes one; the next terminal is a client of it; both talk."""
    async with watching(link(tmp_path, "ana")) as ana, watching(link(tmp_path, "ben")) as ben:
        assert ana.link.hosting
        assert not ben.link.hosting
        ben.link.say("hello")
        assert await ana.lines(2) == ["hello", "You said: hello"]
        assert await ben.lines(2) == ["hello", "You said: hello"]
        await ben.link.settled()


async def test_answers_to_questions(tmp_path: Path) -> None:
    """Commands, history, search and why come back; what the room refuses is raised here."""
    async with watching(link(tmp_path, "ana")) as ana:
        for n in range(3):
            ana.link.say(f"number {n}")
        lines = await ana.lines(6)
        assert len(lines) == 6
        (first, *_, last) = [one for one in ana.all if isinstance(one, Event)]
        history = await ana.link.history(before=last.seq, limit=2)
        assert len(history) == 2
        assert history[-1].seq < last.seq
        found = await ana.link.search("number 1")
        assert {str(e.body.text) for e in found if isinstance(e.body, Heard)} == {"number 1"}
        assert (await ana.link.why(last.id)).startswith(f"Event {last.id}")
        assert "tides" in await ana.link.act("title", "tides")
        with pytest.raises(Unknown):
            await ana.link.why("nothing")
        assert first.seq < last.seq


async def test_a_refused_line_comes_back(tmp_path: Path) -> None:
    """A line the room does not take is given back with the error, and nothing waits for it."""
    async with watching(link(tmp_path, "ana", Temper(full=True))) as ana:
        source = ana.link.say("precious words")
        unsaid = await ana.until(UnsentLine)
        assert isinstance(unsaid, UnsentLine)
        assert (unsaid.source, unsaid.text) == (source, "precious words")
        assert isinstance(unsaid.error, LedgerFull)
        await ana.link.settled()


async def test_who_may_not_enter_is_told(tmp_path: Path) -> None:
    """A mate that is not there is an error of the link, raised where it is read."""
    async with link(tmp_path, "ana", mates=("nobody",)) as made:
        with pytest.raises(Unknown, match="nobody"):
            await Watch(made).until(LinkJoined)
        with pytest.raises(Unknown):
            made.say("hello?")


async def test_what_keeps_a_home_from_opening_is_told(tmp_path: Path) -> None:
    """An error while becoming the host ends the link with that error."""

    def broken() -> contextlib.AbstractAsyncContextManager[Commons]:
        raise BadSettings("loopforge.toml, line 3: no such setting.")

    person = wire_protocol.Hello(client="c", room="commons", name="ana")
    async with SocketLink(SocketAddress(tmp_path), broken, person, SystemClock()) as made:
        with pytest.raises(BadSettings, match="line 3"):
            await Watch(made).until(LinkJoined)


async def test_a_host_that_holds_the_home_but_never_answers_is_named(tmp_path: Path) -> None:
    """A link that finds the home held and no socket gives up after its patience, with a remedy."""

    class Quick(SystemClock):
        """A clock on which a pause passes at once and takes ten seconds."""

        gone = 0.0

        def ticks(self) -> float:
            """Seconds by this clock."""
            return self.gone

        async def sleep(self, seconds: float) -> None:
            """No time at all."""
            self.gone += 10
            await asyncio.sleep(0)

    with lock_home(tmp_path):
        person = wire_protocol.Hello(client="c", room="commons", name="ana")
        address = SocketAddress(tmp_path / "data")
        async with SocketLink(address, lambda: hosting(tmp_path), person, Quick()) as made:
            with pytest.raises(Unreachable, match="does not answer"):
                await Watch(made).until(LinkJoined)


async def test_a_host_of_another_version_is_named(tmp_path: Path) -> None:
    """A host that cannot be understood ends the link with a sentence."""
    address = SocketAddress(tmp_path)

    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b'{"type":"welcome","new":true}\n')
        writer.close()

    server = await asyncio.start_unix_server(other, sock=address.bind())
    person = wire_protocol.Hello(client="c", room="commons", name="ana")
    async with SocketLink(address, lambda: hosting(tmp_path), person, SystemClock()) as made:
        with pytest.raises(Unreachable, match="cannot be understood"):
            await Watch(made).until(LinkJoined)
    server.close()


async def test_what_was_seen_is_acknowledged_at_the_latest_when_leaving(tmp_path: Path) -> None:
    """The highest event shown reaches the room before the link is closed."""
    async with watching(link(tmp_path, "host", SILENT)) as host:
        async with watching(link(tmp_path, "ana")) as ana:
            ana.link.say("hi")
            await ana.lines(1)
            event = ana.all[-1]
            assert isinstance(event, Event)
            for seq in (event.seq, event.seq + 5, 3):
                ana.link.seen(seq)
        await host.link.settled()
        assert (tmp_path / "data" / "host.sock").exists()
        assert HOSTED[tmp_path].seen_up_to == {"p-ana": event.seq + 5}


async def test_when_the_host_leaves_another_takes_over_and_nothing_is_lost(tmp_path: Path) -> None:
    """The second terminal becomes host when the first closes; its lines go on, each once."""
    ben = Watch(link(tmp_path, "ben", tail=0))
    async with watching(link(tmp_path, "ana")) as ana, ben.link:
        await ben.until(LinkJoined)
        ben.link.say("one")
        await ben.lines(2)
        assert ana.link.hosting
        await ana.link.__aexit__()
        parted = await ben.until(LinkParted)
        assert isinstance(parted, LinkParted)
        ben.link.say("two")
        joined = await ben.until(LinkJoined)
        assert isinstance(joined, LinkJoined)
        assert (joined.again, ben.link.hosting) == (True, True)
        expected = ["one", "You said: one", "two", "You said: two"]
        assert await ben.lines(4) == expected
        await ben.link.settled()
        assert ben.texts() == expected


class Refused:
    """Becoming the host fails by these errors in order, then no more."""

    def __init__(self, home: Path, *errors: LoopforgeError) -> None:
        self._home, self._errors = home, list(errors)

    def link(self, name: str) -> SocketLink:
        """A link of somebody who would be the host so."""
        made = link(self._home, name)
        return SocketLink(SocketAddress(self._home / "data"), self, made.person, SystemClock())

    def __call__(self) -> contextlib.AbstractAsyncContextManager[Commons]:
        if self._errors:
            raise self._errors.pop(0)
        return hosting(self._home)


async def test_why_there_is_no_host_is_told_once(tmp_path: Path) -> None:
    """However often it is tried; another reason is told again."""
    away, elsewhere = LedgerError("It is away."), HostElsewhere("Another machine has it.")
    ben = Watch(Refused(tmp_path, *[away] * 3, elsewhere, away).link("ben"))
    async with watching(link(tmp_path, "ana")) as ana, ben.link:
        await ben.until(LinkJoined)
        await ana.link.__aexit__()
        await ben.until(LinkJoined)
    told = [one.why for one in ben.all if isinstance(one, LinkParted)]
    assert told == ["The host went away.", str(away), str(elsewhere), str(away)]


async def test_a_ledger_that_runs_elsewhere_is_told_at_once(tmp_path: Path) -> None:
    """Nobody at this home would ever answer: whoever comes in need not wait for that."""
    with pytest.raises(HostElsewhere, match="Another machine has it"):
        async with Refused(tmp_path, HostElsewhere("Another machine has it.")).link("ben") as ben:
            await anext(ben)


HOST = """
import asyncio, sys
from pathlib import Path
from tests.io.commons import Temper, hosting
from loopforge.io.socket.socket_address import SocketAddress
from loopforge.io.socket.socket_server import SocketServer

async def main(home):
    async with hosting(home, Temper(step=0.002)) as rooms:
        async with SocketServer(rooms, SocketAddress(home / "data")):
            print("ready", flush=True)
            await asyncio.Event().wait()

asyncio.run(main(Path(sys.argv[1])))
"""


async def spawn_host(home: Path) -> asyncio.subprocess.Process:
    """A host in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, str(home), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process


@pytest.mark.crash
async def test_a_host_killed_at_any_moment_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Three terminals talk while their host is killed with -9: each line and answer stands once.

    One of the terminals becomes the host; all of them see the same transcript in the same order.
    """
    lines = 60
    (tmp_path / "data").mkdir()
    process = await spawn_host(tmp_path)
    names = ("ana", "ben", "cem")
    async with contextlib.AsyncExitStack() as stack:
        watches = [
            await stack.enter_async_context(watching(link(tmp_path, name, tail=0)))
            for name in names
        ]
        assert not any(watch.link.hosting for watch in watches)

        async def chatter(watch: Watch) -> None:
            for n in range(lines):
                watch.link.say(f"{watch.link.person.name} {n}")
                await asyncio.sleep(0)

        async def murder() -> None:
            await watches[0].lines(lines)
            os.kill(process.pid, signal.SIGKILL)
            await process.wait()

        await asyncio.gather(murder(), *(chatter(watch) for watch in watches))
        wanted = len(names) * lines * 2
        await asyncio.gather(*(watch.lines(wanted) for watch in watches))
        await asyncio.gather(*(watch.link.settled() for watch in watches))
        assert sum(watch.link.hosting for watch in watches) == 1
        transcript = watches[0].texts()
        assert len(transcript) == len(set(transcript)) == wanted
        for watch in watches:
            assert watch.texts() == transcript
            name = watch.link.person.name
            own = [text for text in transcript if text.startswith(name)]
            assert own == [f"{name} {n}" for n in range(lines)]


async def test_a_draft_that_comes_after_its_line_is_not_shown(tmp_path: Path) -> None:
    """Once a turn's line was seen, a late draft of that turn is no update."""
    async with watching(link(tmp_path, "ana", SILENT)) as ana:
        made = HOSTED[tmp_path]
        ana.link.say("hi")
        await ana.lines(1)
        from loopforge.core.text.erasable_text import Words

        made.add("commons", Said(turn="t9", mate="maya", text=Words("done")), "mate:maya")
        await ana.lines(2)
        made.signals.publish("commons", Draft(turn="t9", mate="maya", text="do"))
        made.signals.publish("commons", Rested(turn="t9", mate="maya"))
        await ana.until(Rested)
        assert not [one for one in ana.all if isinstance(one, Draft)]
