"""Guests of the hall: one terminal in one room, and the channel that all of a room share.

A guest has its own mailbox and its own writer, so that a slow one delays nobody: drafts are
replaced by newer ones, and events it could not take in time are read again from the room's
history. Lines and commands are done in order; questions beside them.

Knows nothing of how a terminal got in.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import assert_never

from msgspec.structs import replace

from loopforge.chat.room.room_snapshot import Scene
from loopforge.core.events import Event
from loopforge.errors import InputError, LoopforgeError
from loopforge.io.rooms_port import RoomsPort
from loopforge.io.socket import wire_protocol
from loopforge.io.socket.send_queue import Mailbox
from loopforge.io.socket.wire_protocol import FromClient, FromHost
from loopforge.runtime.background_tasks import Tasks

log = logging.getLogger(__name__)

BATCH = 200
"""Events read at once for a terminal that is behind."""
AT_ONCE = 16
"""Requests of one terminal that are worked on at the same time."""
BREATHER = 0.05
"""Seconds between two looks at one room: a burst of lines is one change of scene."""

Asked = (
    wire_protocol.Act
    | wire_protocol.History
    | wire_protocol.Search
    | wire_protocol.WhyRequest
    | wire_protocol.Settle
)


class RoomChannel:
    """One room and the terminals in it; listening begins when it is made."""

    def __init__(self, rooms: RoomsPort, room: str) -> None:
        self._rooms, self._room = rooms, room
        self._guests: set[Guest] = set()
        self._here: Counter[str] = Counter()
        self._changed = asyncio.Event()
        self._last = 0
        self._ear = rooms.listen(room)
        self._tasks = Tasks()
        self._tasks.spawn(self._listen(), f"hall: listening in {room}")
        self._tasks.spawn(self._look(), f"hall: looking at {room}")

    @property
    def here(self) -> tuple[str, ...]:
        """The people whose terminals are open, by id."""
        return tuple(sorted(self._here))

    def add(self, guest: Guest) -> None:
        """A terminal came in."""
        self._guests.add(guest)
        self._here[guest.person] += 1
        self._changed.set()

    def remove(self, guest: Guest) -> bool:
        """A terminal went away; True if it was the last one."""
        self._guests.discard(guest)
        self._here -= Counter((guest.person,))
        self._changed.set()
        return not self._guests

    async def close(self) -> None:
        """Stop listening."""
        self._ear.close()
        await self._tasks.close()

    async def _listen(self) -> None:
        try:
            async for what in self._ear:
                if isinstance(what, Event):
                    self._in_order(what)
                    self._changed.set()
                for guest in self._guests:
                    guest.mailbox.hear(what)
        finally:
            for guest in tuple(self._guests):
                guest.leave()

    def _in_order(self, event: Event) -> None:
        """What was published out of order, or not at all, is read from the history."""
        if self._last and event.seq != self._last + 1:
            for guest in self._guests:
                guest.mailbox.fall_behind()
        self._last = max(self._last, event.seq)

    async def _look(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                scene = await self._rooms.scene(self._room)
            except LoopforgeError:
                log.warning("the scene of %s cannot be drawn", self._room, exc_info=True)
            else:
                for guest in self._guests:
                    mine = replace(scene, you=guest.person)
                    guest.mailbox.see(wire_protocol.RoomSight(scene=mine, here=self.here))
            await asyncio.sleep(BREATHER)


class Guest:
    """One terminal that is in a room."""

    def __init__(
        self,
        rooms: RoomsPort,
        scene: Scene,
        hello: wire_protocol.Hello,
        channel: RoomChannel,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.person = scene.you
        self.mailbox = Mailbox()
        self._rooms, self._scene, self._hello = rooms, scene, hello
        self._channel, self._writer = channel, writer
        self._sent = 0
        self._tasks = Tasks()
        self._asked = asyncio.Semaphore(AT_ONCE)

    def leave(self) -> None:
        """Hang up at once; the terminal will come again if it wants to."""
        self._writer.transport.abort()

    async def stay(self, coming: AsyncIterator[FromClient]) -> None:
        """Serve it until it goes away."""
        writing = self._tasks.spawn(self._write_all(), "hall: writing to a terminal")
        writing.add_done_callback(lambda task: None if task.cancelled() else self.leave())
        try:
            async for frame in coming:
                if isinstance(frame, wire_protocol.Bye):
                    return
                await self.mailbox.slack()
                await self._handle(frame)
        finally:
            await self._tasks.close()

    # ------------------------------------------------------------ what it asks

    async def _handle(self, frame: FromClient) -> None:
        match frame:
            case wire_protocol.SayRequest():
                await self._say(frame)
            case wire_protocol.Act():
                await self._answer(frame)
            case wire_protocol.Seen(seq=seq):
                with contextlib.suppress(LoopforgeError):  # said again with the next line
                    await self._rooms.seen(self._scene.room, self.person, seq)
            case (
                wire_protocol.History()
                | wire_protocol.Search()
                | wire_protocol.WhyRequest()
                | wire_protocol.Settle()
            ):
                await self._asked.acquire()
                task = self._tasks.spawn(self._answer(frame), "hall: answering a terminal")
                task.add_done_callback(lambda _: self._asked.release())
            case wire_protocol.Hello() | wire_protocol.Bye():
                raise wire_protocol.Nonsense("Hello is said once.")
            case _:
                assert_never(frame)

    async def _say(self, said: wire_protocol.SayRequest) -> None:
        try:
            event = await self._rooms.hear(
                self._scene.room,
                self.person,
                said.text,
                surface=self._hello.surface,
                source=said.source,
                reply_to=said.reply_to,
                files=said.files,
                owner=True,  # whoever reaches the home's socket is at the machine
            )
        except LoopforgeError as error:
            self.mailbox.reply(wire_protocol.refusal(error, source=said.source))
        except Exception:
            log.exception("a line could not be heard")
            self.mailbox.reply(wire_protocol.refusal(fault(), source=said.source))
        else:
            self.mailbox.reply(wire_protocol.LineTaken(source=said.source, event=event.id))

    async def _answer(self, asked: Asked) -> None:
        try:
            for frame in await self._replies(asked):
                self.mailbox.reply(frame)
        except LoopforgeError as error:
            self.mailbox.reply(wire_protocol.refusal(error, n=asked.n))
        except Exception:
            log.exception("a request of a terminal failed")
            self.mailbox.reply(wire_protocol.refusal(fault(), n=asked.n))

    async def _replies(self, asked: Asked) -> list[FromHost]:
        room, n = self._scene.room, asked.n
        match asked:
            case wire_protocol.Act(name=name, argument=argument):
                told = await self._rooms.act(room, self.person, name, argument, owner=True)
                return [*wire_protocol.texts(n, told)]
            case wire_protocol.History(before=before, limit=limit):
                return _seen(n, await self._rooms.history(room, before=before, limit=limit))
            case wire_protocol.Search(words=words, limit=limit):
                return _seen(n, await self._rooms.search(room, words, limit))
            case wire_protocol.WhyRequest(event=event):
                return [*wire_protocol.texts(n, await self._rooms.why(event))]
            case wire_protocol.Settle():
                await self._rooms.settled(room)
                self.mailbox.fall_behind()  # so that all of it is sent before this reply
                return [wire_protocol.CommandDone(n=n)]
            case _:
                assert_never(asked)

    # ------------------------------------------------------------ what it is sent

    async def _write_all(self) -> None:
        try:
            await self._welcome()
            while True:
                await self.mailbox.wait()
                if self.mailbox.behind:
                    await self._catch_up()
                elif (frame := self.mailbox.pop()) is not None:
                    await self._send(frame)
        except OSError:
            log.debug("a terminal went away", exc_info=True)
        except LoopforgeError:
            log.warning("a terminal must come again", exc_info=True)

    async def _welcome(self) -> None:
        self._sent = await self._start()
        await write(
            self._writer,
            wire_protocol.SocketWelcome(
                version=wire_protocol.VERSION,
                at=self._sent,
                scene=self._scene,
                here=self._channel.here,
            ),
        )

    async def _start(self) -> int:
        """The number of the event before the first one this terminal is to be sent."""
        if self._hello.after is not None:
            return self._hello.after
        tail = self._hello.tail
        last = await self._rooms.history(self._scene.room, limit=max(tail, 1))
        if not last:
            return 0
        return last[0].seq - 1 if tail else last[-1].seq

    async def _catch_up(self) -> None:
        self.mailbox.behind = False  # from here on the mailbox takes in what happens
        missed = await self._rooms.history(self._scene.room, after=self._sent, limit=BATCH)
        if len(missed) >= BATCH:
            self.mailbox.fall_behind()
        await self._send_each(missed)

    async def _send_each(self, events: Sequence[Event]) -> None:
        for event in events:
            if (seen := wire_protocol.shown(event)) is not None:
                await self._send(wire_protocol.RoomHappened(event=seen))

    async def _send(self, frame: FromHost) -> None:
        if isinstance(frame, wire_protocol.RoomHappened):
            if frame.event.seq <= self._sent:
                return
            self._sent = frame.event.seq
        await write(self._writer, frame)


def _seen(n: int, events: Sequence[Event]) -> list[FromHost]:
    return [
        *wire_protocol.pages(n, (seen for event in events if (seen := wire_protocol.shown(event))))
    ]


def fault() -> LoopforgeError:
    """What a terminal is told of an error that nobody foresaw."""
    return LoopforgeError("Something failed in the host; its log says what. Nothing was done.")


async def write(writer: asyncio.StreamWriter, frame: FromHost) -> None:
    """Write one frame, waiting while the other end is slow."""
    try:
        line = wire_protocol.encode(frame)
    except InputError:
        log.exception("a frame cannot be sent")
        return
    writer.write(line)
    await writer.drain()
