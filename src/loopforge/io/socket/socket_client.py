r"""The client: a terminal's end of the socket, which survives its host.

    seeking --a host answers--> talking --the host goes away--> seeking
       |  \--nobody holds the home--> hosting (this process opens the hall), then talking
       \--the host refuses--> broken

Nothing is lost or doubled on the way: lines are said again, with the same source, until a host has
taken them; events are numbered, and after a pause the link asks for what follows the last it has.

Whoever iterates over a link must not wait for one of its answers in the same task: while updates
are not taken, nothing is read.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Self, assert_never

from msgspec import Struct
from msgspec.structs import replace

from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.core.events import Event
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.core.room_vocabulary import File, Said
from loopforge.errors import HostElsewhere, HostTaken, LedgerError, LoopforgeError, Unreachable
from loopforge.io.socket import wire_protocol
from loopforge.io.socket.pending_requests import PendingRequests
from loopforge.io.socket.socket_address import SocketAddress
from loopforge.io.socket.socket_server import SocketServer
from loopforge.io.socket.wire_protocol import (
    FromHost,
    Hello,
    HostAnswer,
    RoomSight,
    TextsForgotten,
)
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import (
    Clock,
    Draft,
    Rested,
    Signal,
    Thinking,
    ToolProgress,
    Withdrawn,
)

if TYPE_CHECKING:
    from loopforge.chat.rooms_api import RoomsApi

log = logging.getLogger(__name__)

WAITING = 256
"""Updates that wait to be shown before nothing more is read."""
PAUSES = (0.05, 1.0)
"""Seconds between two tries to find a host: the first, and the longest; each doubles the last."""
PATIENCE = 90.0
"""Seconds after which a link that never found a host says so and gives up."""
GATHER = 0.2
"""Seconds in which what was seen is gathered into one acknowledgement."""
FAREWELL = 2.0
"""Seconds for the host to finish what was said last."""

BecomeHost = Callable[[], "AbstractAsyncContextManager[RoomsApi]"]
"""Take the home's lock and open its rooms. Raises HostTaken if another process has it."""


class LinkJoined(Struct, frozen=True, kw_only=True):
    """The room is open. `again`: it was before, too.

    `anew`: what was shown of it is to go, and the last of it comes once more.
    """

    scene: RoomSnapshot
    here: tuple[str, ...]
    again: bool
    anew: bool = False


class LinkParted(Struct, frozen=True, kw_only=True):
    """The host went away, or cannot be had for the moment. The link goes on trying."""

    why: str


class LineTaken(Struct, frozen=True, kw_only=True):
    """The line of this source is in the ledger."""

    source: str


class UnsentLine(Struct, frozen=True, kw_only=True):
    """The host did not take the line of this source; it is not in the room."""

    source: str
    text: str
    error: LoopforgeError


Update = (
    LinkJoined | LinkParted | UnsentLine | LineTaken | RoomSight | TextsForgotten | Event | Signal
)


class SocketLink:
    """`async with Link(...) as link: async for update in link: ...`.

    `lasting`: once it had a host, it waits for another one for ever.
    """

    def __init__(
        self,
        address: SocketAddress,
        become_host: BecomeHost,
        person: Hello,
        clock: Clock,
        *,
        lasting: bool = True,
    ) -> None:
        self.person = person
        self.hosting = False
        self._address, self._become_host, self._clock = address, become_host, clock
        self._lasting = lasting
        self._tasks = BackgroundTasks()
        self._updates: asyncio.Queue[Update | None] = asyncio.Queue(WAITING)
        self._outbox = PendingRequests(person.client)
        self.mine = self._outbox.mine
        self._writer: asyncio.StreamWriter | None = None
        self._parted = asyncio.Event()
        self._handed = False
        self._closing = False
        self._error: Exception | None = None
        self._last: int | None = None
        self._why = ""
        self._seen = self._seen_told = 0
        self._over: BoundedMapping[str, None] = BoundedMapping(WAITING)

    async def __aenter__(self) -> Self:
        self._keeper = self._tasks.spawn(self._keep_connected(), "link")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        while not self._updates.empty():  # nobody looks any more
            self._updates.get_nowait()
        if self._writer is None:
            self._keeper.cancel()
        else:
            self._acknowledge()
            self._outbox.part()
            self._writer.write_eof()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FAREWELL):
                    await self._parted.wait()
            if self._writer is not None:
                self._writer.transport.abort()
        await asyncio.wait((self._keeper,))
        await self._tasks.close()

    def __aiter__(self) -> AsyncIterator[Update]:
        return self

    async def __anext__(self) -> Update:
        """The next update. Raises what broke the link, if anything did."""
        if self._handed:
            self._handed = False
            self._updates.task_done()
        update = await self._updates.get()
        self._handed = True
        if update is not None:
            return update
        self._updates.put_nowait(None)
        if self._error is not None:
            raise self._error
        raise StopAsyncIteration

    async def _queue_update(self, update: Update) -> None:
        if not self._closing:
            await self._updates.put(update)

    # ------------------------------------------------------------ what one may say

    def say(self, text: str, *, reply_to: str = "", files: Sequence[File] = ()) -> str:
        """Say a line, now or as soon as there is a host; its source. Raises BadLine if too long."""
        return self._outbox.say(text, reply_to, files)

    async def act(self, name: str, argument: str = "") -> str:
        """Give a command and return the room's sentence. Raises what the room raises."""
        return (await self._outbox.ask(do="act", words=name, argument=argument)).text

    async def history(self, before: int | None = None, limit: int = 50) -> list[Event]:
        """The events before `before`, in order."""
        asked = await self._outbox.ask(do="history", before=before, limit=limit)
        return list(asked.as_they_stand)

    async def search(self, words: str, limit: int = 20) -> list[Event]:
        """Lines that hold these words."""
        return list((await self._outbox.ask(do="search", words=words, limit=limit)).as_they_stand)

    async def why(self, event: str) -> str:
        """The flight record of an event."""
        return (await self._outbox.ask(do="why", words=event)).text

    async def anew(self) -> None:
        """Have the last of the room once more, as one who is new there."""
        await self._outbox.ask(do="anew")

    async def taken(self) -> None:
        """Until every line said here is taken or refused."""
        await self._outbox.empty.wait()

    async def settled(self) -> None:
        """Until every line said here is taken or refused, and nothing is pending in the room."""
        await self.taken()
        await self._outbox.ask(do="settle")

    async def shown(self) -> None:
        """Until whoever iterates over this link (another task!) has dealt with all there is."""
        await self._updates.join()

    def seen(self, seq: int) -> None:
        """Everything up to `seq` was shown."""
        if seq <= self._seen:
            return
        if self._seen == self._seen_told:
            asyncio.get_running_loop().call_later(GATHER, self._acknowledge)
        self._seen = seq

    def _acknowledge(self) -> None:
        if self._writer is not None and self._seen > self._seen_told:
            self._seen_told = self._seen
            self._writer.write(wire_protocol.encode(wire_protocol.Seen(seq=self._seen)))

    # ------------------------------------------------------------ keeping a host

    async def _keep_connected(self) -> None:
        try:
            async with AsyncExitStack() as house:
                await self._live_connected(house)
        except Exception as error:
            self._error = error
        finally:
            broken = self._error if isinstance(self._error, LoopforgeError) else None
            self._outbox.fail(broken or Unreachable("This terminal is closed."))
            while self._updates.full():
                self._updates.get_nowait()
            self._updates.put_nowait(None)

    async def _live_connected(self, house: AsyncExitStack) -> None:
        pause, since = PAUSES[0], self._clock.ticks()
        while not self._closing:
            try:
                reader, writer = await asyncio.open_unix_connection(self._address.path())
            except OSError:
                if not self.hosting and await self._try_to_host(house):
                    continue
                self._give_up(since)
                await self._clock.sleep(pause)
                pause = min(pause * 2, PAUSES[1])
                continue
            if await self._talk_to_host(reader, writer):
                pause, since = PAUSES[0], self._clock.ticks()
            elif not self._closing:
                self._give_up(since)
                await self._clock.sleep(pause)
                pause = min(pause * 2, PAUSES[1])

    async def _try_to_host(self, house: AsyncExitStack) -> bool:
        """Try to become the host of this home."""
        try:
            async with AsyncExitStack() as opening:
                front = await opening.enter_async_context(self._become_host())
                await opening.enter_async_context(SocketServer(front, self._address))
                house.push_async_exit(opening.pop_all())
        except LoopforgeError as error:
            if isinstance(error, HostTaken) and not isinstance(error, HostElsewhere):
                return False
            if self._last is None:
                raise
            await self._tell_parted(str(error))
            return False
        self.hosting = True
        return True

    def _give_up(self, since: float) -> None:
        if self._lasting and self._last is not None:
            return
        if self._clock.ticks() - since > PATIENCE:
            raise Unreachable(
                "Another process holds this home but does not answer. Close every loopforge of "
                "this home (`ps ax | grep loopforge`) and try again."
            )

    async def _tell_parted(self, why: str) -> None:
        """Tell why there is no host, once for each reason."""
        if why != self._why:
            self._why = why
            await self._queue_update(LinkParted(why=why))

    # ------------------------------------------------------------ talking to it

    async def _talk_to_host(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Until the host goes away; whether it had let us in."""
        self._parted.clear()
        try:
            writer.write(wire_protocol.encode(replace(self.person, after=self._last)))
            frames = wire_protocol.frames(reader, wire_protocol.from_host)
            async with contextlib.aclosing(frames) as coming:
                async for frame in coming:
                    await self._take_frame(frame, writer)
        except OSError:
            log.debug("the host went away", exc_info=True)
        finally:
            let_in = self._writer is not None
            self._writer = None
            self._outbox.shut()
            writer.close()
            self._parted.set()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        if let_in and not self._closing:
            await self._tell_parted("The host went away.")
        return let_in

    async def _take_welcome(
        self, welcome: wire_protocol.SocketWelcome, writer: asyncio.StreamWriter
    ) -> None:
        self._why = ""
        again, anew = self._last is not None, self._writer is not None
        self._last = welcome.at if anew else max(self._last or 0, welcome.at)
        if not anew:
            self._writer = writer
            self._outbox.open(writer.write)
            self._seen_told = 0
            self._acknowledge()
        scene, here = welcome.scene, welcome.here
        await self._queue_update(LinkJoined(scene=scene, here=here, again=again, anew=anew))

    async def _take_frame(self, frame: FromHost, writer: asyncio.StreamWriter) -> None:
        match frame:
            case wire_protocol.SocketWelcome():
                await self._take_welcome(frame, writer)
            case wire_protocol.RoomHappened(event=event):
                await self._take_event(event)
            case HostAnswer(n=n):
                if (line := self._outbox.done(n, frame)) is not None:
                    await self._queue_update(LineTaken(source=self._outbox.source(line)))
            case wire_protocol.RequestRefused():
                await self._take_refusal(frame)
            case Thinking() | Draft():
                if frame.turn not in self._over:
                    await self._queue_update(frame)
            case Withdrawn() | Rested() | ToolProgress() | RoomSight() | TextsForgotten():
                await self._queue_update(frame)
            case _:
                assert_never(frame)

    async def _take_event(self, event: Event) -> None:
        if self._last is not None and event.seq <= self._last:
            return
        self._last = event.seq
        if isinstance(event.body, Said):
            self._over[event.body.turn] = None  # a draft that comes late is no news
        await self._queue_update(event)

    async def _take_refusal(self, refused: wire_protocol.RequestRefused) -> None:
        error = wire_protocol.raised(refused)
        if refused.n:
            if (line := self._outbox.done(refused.n, error)) is not None:
                source = self._outbox.source(line)
                await self._queue_update(UnsentLine(source=source, text=line.words, error=error))
        elif self._last is not None and isinstance(error, LedgerError):
            await self._tell_parted(str(error))
        else:
            raise error
