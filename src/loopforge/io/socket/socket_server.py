"""The server: where terminals come in, a Unix socket on which the host of a home serves its rooms.

Every terminal is a client here, also the one in the host's own process. What is no frame is
answered by an error and ends that one connection.

A guest is one terminal in one room. It listens to the room by itself and is written to by itself,
so that a slow one delays nobody: of drafts it finds the newest (see Signals), and one that takes
nothing for too long is hung up on; it comes again and is given what it missed. Lines and commands
are done in order; questions beside them.

Knows nothing of minds, models or the ledger, and does not decide who may be host.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import TYPE_CHECKING, Self, assert_never

from msgspec.structs import replace

from loopforge.chat.room.event_wording import ERASED
from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, LedgerError, LoopforgeError, Unreachable
from loopforge.io.socket import wire_protocol
from loopforge.io.socket.socket_address import SocketAddress
from loopforge.io.socket.wire_protocol import (
    FromClient,
    FromHost,
    Hello,
    HostAnswer,
    SocketWelcome,
    TerminalRequest,
    TextsForgotten,
)
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Draft

if TYPE_CHECKING:
    from loopforge.chat.rooms_api import RoomsApi

log = logging.getLogger(__name__)

SURFACE = "terminal"
BATCH = 200
"""Events read at once for a terminal that is behind."""
AT_ONCE = 16
"""Requests of one terminal that are worked on at the same time."""
PATIENCE = 300.0
"""Seconds after which a terminal that takes nothing is hung up on."""
GREETING = 15.0
"""Seconds within which a terminal must have said Hello."""
FAREWELL = 1.0
"""Seconds for the last words to a terminal that does not read."""
BREATHER = 0.05
"""Seconds between two looks at one room: a burst of lines is one change of scene."""


class SocketServer:
    """The host's end of the socket: `async with SocketServer(front, address)`."""

    def __init__(self, front: RoomsApi, address: SocketAddress) -> None:
        self._front, self._address = front, address
        self._tasks = BackgroundTasks()
        self._guests: set[SocketGuest] = set()
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._open = True

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_unix_server(self._come_in, sock=self._address.bind())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._open = False
        self._server.close()
        await self._tasks.close()
        for _turn in range(3):  # until asyncio has handed over whom it let in at the last moment
            await asyncio.sleep(0)
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0)
        self._address.clear()

    def _come_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._open:
            writer.transport.abort()
            return
        self._writers.add(writer)
        self._tasks.spawn(self._serve(reader, writer), "hall: a terminal")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            frames = wire_protocol.frames(reader, wire_protocol.from_client, wire_protocol.LIMIT)
            async with contextlib.aclosing(frames) as coming:
                hello = await _read_greeting(coming)
                if hello is not None:
                    await self._receive(hello, coming, writer)
        except LoopforgeError as error:
            writer.write(wire_protocol.encode(wire_protocol.refusal(error)))
        except OSError:
            log.debug("a terminal went away", exc_info=True)
        except Exception:
            log.exception("a terminal could not be let in")
            writer.write(wire_protocol.encode(wire_protocol.refusal(fault())))
        finally:
            await _hang_up(writer)
            self._writers.discard(writer)

    async def _receive(
        self,
        hello: FromClient,
        coming: AsyncGenerator[FromClient, None],
        writer: asyncio.StreamWriter,
    ) -> None:
        """Let a terminal into its room, and serve it until it goes away."""
        if not isinstance(hello, Hello):
            raise Unreachable("The first frame must be Hello.")
        if hello.version != wire_protocol.VERSION:
            raise Unreachable(
                f"This terminal speaks version {hello.version} and the running host version "
                f"{wire_protocol.VERSION}. Close every terminal of this home and open them anew."
            )
        scene = await self._front.rooms.enter(hello.room, hello.name, SURFACE, hello.mates)
        guest = SocketGuest(self._front, scene, hello, writer, self._people_here)
        self._guests.add(guest)
        self._tell_who_is_here(scene.room)
        try:
            await guest.stay(coming)
        except (Unreachable, LedgerError, OSError):
            raise
        except Exception:  # it was let in: hang up, and it comes again
            log.exception("a terminal could not be served")
        finally:
            self._guests.discard(guest)
            self._tell_who_is_here(scene.room)

    def _people_here(self, room: str) -> tuple[str, ...]:
        """The people whose terminals are open in a room, by id."""
        return tuple(sorted({guest.person for guest in self._guests if guest.room == room}))

    def _tell_who_is_here(self, room: str) -> None:
        """Somebody came or went."""
        for guest in self._guests:
            if guest.room == room:
                guest.look()


async def _read_greeting(coming: AsyncGenerator[FromClient, None]) -> FromClient | None:
    try:
        async with asyncio.timeout(GREETING):
            return await anext(coming, None)
    except TimeoutError as error:
        raise Unreachable("Nobody said hello.") from error


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    try:
        async with asyncio.timeout(FAREWELL):
            await writer.wait_closed()
    except TimeoutError:
        writer.transport.abort()
    except OSError:
        log.debug("a terminal was gone already", exc_info=True)


class SocketGuest:
    """One terminal that is in a room. `here` tells whose terminals are open there, by id."""

    def __init__(
        self,
        front: RoomsApi,
        scene: RoomSnapshot,
        hello: Hello,
        writer: asyncio.StreamWriter,
        here: Callable[[str], tuple[str, ...]],
    ) -> None:
        self.room, self.person = scene.room, scene.you
        self._front, self._scene, self._hello = front, scene, hello
        self._writer, self._here = writer, here
        self._ear = front.rooms.listen(scene.room)
        self._sent = 0
        self._order = asyncio.Lock()
        self._changed = asyncio.Event()
        self._tasks = BackgroundTasks()
        self._asked = asyncio.Semaphore(AT_ONCE)

    def look(self) -> None:
        """The room looks different now; only the newest look is worth sending."""
        self._changed.set()

    def leave(self) -> None:
        """Hang up at once; the terminal will come again if it wants to."""
        self._writer.transport.abort()

    async def stay(self, coming: AsyncIterator[FromClient]) -> None:
        """Serve it until it goes away."""
        try:
            await self._begin()
            for work in (self._write_room(), self._write_looks()):
                writing = self._tasks.spawn(work, "hall: writing to a terminal")
                writing.add_done_callback(lambda task: None if task.cancelled() else self.leave())
            async for frame in coming:
                await self._handle(frame)
        finally:
            self._ear.close()
            await self._tasks.close()

    # ------------------------------------------------------------ what it asks

    async def _handle(self, frame: FromClient) -> None:
        match frame:
            case TerminalRequest(do="say" | "act"):
                await self._answer_request(frame)
            case wire_protocol.Seen(seq=seq):
                with contextlib.suppress(LoopforgeError):  # said again with the next line
                    await self._front.seen(self.room, self.person, seq)
            case TerminalRequest():
                await self._asked.acquire()
                task = self._tasks.spawn(self._answer_request(frame), "hall: answering a terminal")
                task.add_done_callback(lambda _: self._asked.release())
            case Hello():
                raise Unreachable("Hello is said once.")
            case _:
                assert_never(frame)

    async def _answer_request(self, asked: TerminalRequest) -> None:
        try:
            await self._send_frame(await self._do_request(asked))
        except LoopforgeError as error:
            await self._send_frame(wire_protocol.refusal(error, asked.n))
        except Exception:
            log.exception("a request of a terminal failed")
            await self._send_frame(wire_protocol.refusal(fault(), asked.n))

    async def _become_person(self) -> None:
        """Be whom this person has become, who gave their own name in the browser meanwhile."""
        rooms, hello = self._front.rooms, self._hello
        if rooms.same(self.person) != self.person:
            self.person = (await rooms.enter(hello.room, hello.name, SURFACE, hello.mates)).you

    async def _do_request(self, asked: TerminalRequest) -> HostAnswer:
        front, room, n, words = self._front, self.room, asked.n, asked.words
        await self._become_person()
        match asked.do:
            case "say":
                await front.rooms.hear(room, self._heard_line(asked))
                return HostAnswer(n=n)
            case "act":
                told = await front.commands.act(
                    room, self.person, words, asked.argument, owner=True
                )
                return HostAnswer(n=n, text=wire_protocol.sound(told))
            case "history":
                found = await front.history(room, before=asked.before, limit=asked.limit)
                return wire_protocol.answer(n, found)
            case "search":
                return wire_protocol.answer(n, await front.search(room, words, asked.limit))
            case "why":
                return HostAnswer(n=n, text=wire_protocol.sound(await front.why(words)))
            case "settle":
                await front.rooms.settled(room)
                await self._catch_up()  # so that all of it is sent before this reply
                return HostAnswer(n=n)
            case "anew":
                self._scene = replace(await front.rooms.scene(room), you=self.person)
                async with self._order:
                    await self._welcome(await self._number_before_tail())
                    await self._send_missed()
                return HostAnswer(n=n)
            case _:
                assert_never(asked.do)

    def _heard_line(self, said: TerminalRequest) -> Heard:
        return Heard(
            person=self.person,
            text=Words(said.words),
            surface=SURFACE,
            source=f"{self._hello.client}:{said.n}",
            reply_to=said.argument,
            files=said.files,
            owner=True,  # whoever reaches the home's socket is at the machine
        )

    # ------------------------------------------------------------ what it is sent

    async def _write_room(self) -> None:
        """What happens in the room; where its numbers have a gap, the history is read."""
        try:
            await self._catch_up()
            last = 0
            async for what in self._ear:
                if isinstance(what, Draft) and what.anew:
                    continue  # the line is edited when it is said
                if not isinstance(what, Event):
                    what = wire_protocol.shown_draft(what) if isinstance(what, Draft) else what
                    await self._send_frame(what)
                    continue
                self.look()
                if what.kind == ERASED:
                    await self._send_frame(TextsForgotten())
                if last and what.seq != last + 1:
                    await self._catch_up()
                else:
                    async with self._order:
                        await self._send_event(what)
                last = max(last, what.seq)
        except LoopforgeError as error:
            log.warning("a terminal must come again: %s", error)

    async def _write_looks(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._become_person()
                scene = await self._front.rooms.scene(self.room)
            except LoopforgeError as error:
                log.warning("the scene of %s cannot be drawn: %s", self.room, error)
            else:
                mine = replace(scene, you=self.person)
                await self._send_frame(
                    wire_protocol.RoomSight(scene=mine, here=self._here(self.room))
                )
            await asyncio.sleep(BREATHER)

    async def _begin(self) -> None:
        """Welcome it; what it has already it is not sent again."""
        after = self._hello.after
        await self._welcome(await self._number_before_tail() if after is None else after)
        if after is not None and await self._front.forgotten(self.room, after):
            await self._send_frame(TextsForgotten())

    async def _welcome(self, after: int) -> None:
        """Let it know how the room looks; what is sent from now on comes after event `after`."""
        self._sent = after
        here = self._here(self.room)
        await write(self._writer, SocketWelcome(at=after, scene=self._scene, here=here))

    async def _number_before_tail(self) -> int:
        """The number of the event before the first one a terminal that is new here is sent."""
        tail = self._hello.tail
        last = await self._front.history(self.room, limit=max(tail, 1))
        if not last:
            return 0
        return last[0].seq - 1 if tail else last[-1].seq

    async def _catch_up(self) -> None:
        async with self._order:
            await self._send_missed()

    async def _send_missed(self) -> None:
        missed = list[Event]()
        while True:
            after = missed[-1].seq if missed else self._sent
            missed = await self._front.history(self.room, after=after, limit=BATCH)
            for event in missed:
                await self._send_event(event)
            if len(missed) < BATCH:
                return

    async def _send_event(self, event: Event) -> None:
        seen = wire_protocol.shown(event)
        if seen is not None and event.seq > self._sent:
            self._sent = event.seq
            await self._send_frame(wire_protocol.RoomHappened(event=seen))

    async def _send_frame(self, frame: FromHost) -> None:
        try:
            await write(self._writer, frame)
        except OSError:
            log.debug("a terminal went away", exc_info=True)
            self.leave()


def fault() -> LoopforgeError:
    """What a terminal is told of an error that nobody foresaw."""
    return LoopforgeError("Something failed in the host; its log says what. Nothing was done.")


async def write(writer: asyncio.StreamWriter, frame: FromHost) -> None:
    """Write one frame, waiting while the other end is slow; OSError where it takes nothing."""
    try:
        line = wire_protocol.encode(frame)
    except InputError:
        log.exception("a frame cannot be sent")
        return
    writer.write(line)
    async with asyncio.timeout(PATIENCE):
        await writer.drain()
