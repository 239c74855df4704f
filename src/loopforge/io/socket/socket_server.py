"""The hall: where terminals come in. A Unix socket on which the host of a home serves its rooms.

Every terminal is a client here, also the one in the host's own process. What is no frame is
answered by an error and ends that one connection.

Knows nothing of minds, models or the ledger, and does not decide who may be host.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Self

from loopforge.errors import LoopforgeError, Unreachable
from loopforge.io.socket import wire_protocol
from loopforge.io.socket.server_session import Guest, fault
from loopforge.io.socket.socket_address import SocketAddress
from loopforge.io.socket.wire_protocol import FromClient
from loopforge.runtime.background_tasks import Tasks

if TYPE_CHECKING:
    from loopforge.chat.rooms_api import Front

log = logging.getLogger(__name__)

PATIENCE = 15.0
"""Seconds within which a terminal must have said Hello."""
FAREWELL = 1.0
"""Seconds for the last words to a terminal that does not read."""


class Hall:
    """The host's end of the socket: `async with Hall(front, address)`."""

    def __init__(self, front: Front, address: SocketAddress) -> None:
        self._front, self._address = front, address
        self._tasks = Tasks()
        self._guests: set[Guest] = set()
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
                hello = await _greeting(coming)
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
        if not isinstance(hello, wire_protocol.Hello):
            raise Unreachable("The first frame must be Hello.")
        if hello.version != wire_protocol.VERSION:
            raise Unreachable(
                f"This terminal speaks version {hello.version} and the running host version "
                f"{wire_protocol.VERSION}. Close every terminal of this home and open them anew."
            )
        scene = await self._front.rooms.enter(hello.room, hello.name, hello.surface, hello.mates)
        guest = Guest(self._front, scene, hello, writer, self._here)
        self._guests.add(guest)
        self._moved(scene.room)
        try:
            await guest.stay(coming)
        except (Unreachable, OSError):
            raise
        except Exception:  # it was let in: hang up, and it comes again
            log.exception("a terminal could not be served")
        finally:
            self._guests.discard(guest)
            self._moved(scene.room)

    def _here(self, room: str) -> tuple[str, ...]:
        """The people whose terminals are open in a room, by id."""
        return tuple(sorted({guest.person for guest in self._guests if guest.room == room}))

    def _moved(self, room: str) -> None:
        """Somebody came or went."""
        for guest in self._guests:
            if guest.room == room:
                guest.look()


async def _greeting(coming: AsyncGenerator[FromClient, None]) -> FromClient | None:
    try:
        async with asyncio.timeout(PATIENCE):
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
