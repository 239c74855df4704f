"""Connections of browsers: how long one may keep the home waiting, and how many there may be.

A client owes something from the moment it connects: a request, the rest of its head, the rest of
its body, to take what it is answered. Who owes it for too long is cut off; where there is no room
for another connection, who would be cut off first goes at once. A client that owes nothing, such
as the page that listens to a stream, is never cut off.

    no request yet    30 s
    half a head       20 s
    half a body       30 s, and one more for each 10 kB that came
    an answer left    60 s

Of the bodies of which a half came, so much is held in all; beyond it the largest is cut off, so
that nobody fills the memory by parking forms.

Knows connections and addresses; does not know requests, people or pages.
"""

from __future__ import annotations

import asyncio
import heapq
import ipaddress
import logging
import math
from collections import Counter

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from loopforge.runtime.ports import Clock

log = logging.getLogger(__name__)
REQUEST, HEAD, BODY, ANSWER = 30.0, 20.0, 30.0, 60.0
"""Seconds that a client may owe each."""
SLOWEST = 10_000
"""Bytes a second of a body that is not too slow."""
HELD = 256_000_000
"""Bytes of half bodies that are held at once, of all connections."""
STEP = 100_000
"""Bytes of one body after which all are counted again."""
STREAMED = "loopforge.streamed"
"""What the state of a request says whose body is written away as it comes, and so is not held."""
SPARED = 256
"""Open files that are left for all that is no connection: the database, platforms, logs."""
MOST = 4_096
"""Connections at once, however many files there may be."""
EVERY = 60.0
"""Seconds between two lines of the log about the same thing."""
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\n"
    b"content-length: 0\r\n\r\n"
)
LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def room_for(files: int) -> int:
    """How many connections there may be, where so many files may be open."""
    return min(MOST, max(files - SPARED, files // 2))


class SeldomLog:
    """Says the same thing once in a while, and then how often it happened."""

    def __init__(self, clock: Clock, told: str) -> None:
        self._clock, self._told = clock, told
        self._count, self._next = 0, 0.0

    def say(self) -> None:
        """It happened once more."""
        self._count += 1
        if (now := self._clock.ticks()) >= self._next:
            log.warning("%s (%d times)", self._told, self._count)
            self._count, self._next = 0, now + EVERY


class ConnectionLimits:
    """The connections of one server: `most` in all, `each` of one address."""

    def __init__(self, clock: Clock, *, most: int, each: int, held: int = HELD) -> None:
        self.clock, self._most, self._each, self._held = clock, most, each, held
        self._open: dict[Connection, str] = {}
        self._of: Counter[str] = Counter()
        self._full = SeldomLog(
            clock, "No room for another connection; who kept us waiting was cut off"
        )
        self._late = SeldomLog(clock, "A connection that kept us waiting was cut off")
        self._large = SeldomLog(clock, "Too much was sent at once; the largest was cut off")

    def __len__(self) -> int:
        return len(self._open)

    @property
    def now(self) -> float:
        """Seconds, by which all that clients owe is counted."""
        return self.clock.ticks()

    def admit(self, one: Connection, address: str) -> bool:
        """Take in a connection, if there is room or some can be made."""
        place = place_of(address)
        if place and self._of[place] >= self._each:
            self._make_room([each for each, of in self._open.items() if of == place])
        elif len(self._open) >= self._most:
            self._make_room(list(self._open))
        if (place and self._of[place] >= self._each) or len(self._open) >= self._most:
            return False
        self._open[one] = place
        self._of[place] += 1
        return True

    def gone(self, one: Connection) -> None:
        """A connection is over; or was never taken in."""
        place = self._open.pop(one, None)
        if place is not None:
            self._of[place] -= 1
            if not self._of[place]:
                del self._of[place]

    def sweep(self) -> None:
        """Cut off who owes something for too long."""
        now = self.now
        for each in [each for each in self._open if each.due() <= now]:
            self._late.say()
            each.cut()

    def bound(self) -> None:
        """Cut off the largest of the half bodies, as long as they are too much together."""
        held = {each: each.half_body for each in self._open if each.half_body}
        total = sum(held.values())
        while total > self._held:
            total -= held.pop(largest := max(held, key=held.__getitem__))
            self._large.say()
            largest.cut()

    def _make_room(self, among: list[Connection]) -> None:
        """Cut off a few of those who owe something: one at a time would be slow in a crowd."""
        self._full.say()
        owing = ((each.due(), nth, each) for nth, each in enumerate(among))
        late = heapq.nsmallest(1 + len(among) // 32, (one for one in owing if one[0] < math.inf))
        for _, _, each in late:
            each.cut()


def place_of(address: str) -> str:
    """What is counted together: an address, of IPv6 a network; "" for this machine's own.

    A proxy on this machine brings everybody by one address, so that is held to no number.
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped:
            return place_of(str(found.ipv4_mapped))
        if not found.is_loopback:
            return str(ipaddress.ip_network((found, 64), strict=False))
    return "" if found.is_loopback else str(found)


class Connection(H11Protocol):
    """One connection, as uvicorn serves it, with what its client owes."""

    among: ConnectionLimits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Serve it, if there is room; else say so and close it."""
        super().connection_made(transport)
        self._owed, self._since, self._came = "request", self.among.now, 0
        self._held = math.inf
        if not self.among.admit(self, self.client[0] if self.client else ""):
            transport.write(BUSY)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self.among.gone(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Something of a request came."""
        if self._owed == "request":
            self._owes("head")
        super().data_received(data)
        self._moved()
        self._came += len(data)
        if self._came // STEP != (self._came - len(data)) // STEP:
            self.among.bound()

    def on_response_complete(self) -> None:
        """A request was answered."""
        super().on_response_complete()
        self._moved()

    def pause_writing(self) -> None:
        """The client takes nothing of its answer just now."""
        self._held = self.among.now
        super().pause_writing()

    def resume_writing(self) -> None:
        """The client takes what it is answered."""
        self._held = math.inf
        super().resume_writing()

    @property
    def half_body(self) -> int:
        """Bytes of it that the home holds for this client."""
        return 0 if self._owed != "body" or STREAMED in self.scope["state"] else self._came

    def due(self) -> float:
        """When this client is too late with what it owes; never, where it owes nothing."""
        answer = self._held + ANSWER
        match self._owed:
            case "request":
                return min(answer, self._since + REQUEST)
            case "head":
                return min(answer, self._since + HEAD)
            case "body":
                if self.flow.read_paused:  # then it is the home that takes its time
                    self._since = self.among.now
                return min(answer, self._since + BODY + self._came / SLOWEST)
            case _:
                return answer

    def cut(self) -> None:
        """End it, with a word where nothing was answered yet."""
        self.among.gone(self)
        if self.cycle is None or (self.cycle.response_complete and self._owed == "head"):
            self.transport.write(LATE)
            self.transport.close()
        else:
            self.transport.abort()

    def _moved(self) -> None:
        """What is owed now, by where the request stands."""
        theirs = self.conn.their_state
        if theirs is h11.SEND_BODY:
            self._owes("body")
        elif theirs is not h11.IDLE:
            self._owes("")
        elif self._owed not in ("request", "head"):
            self._owes("head" if self.conn.trailing_data[0] else "request")

    def _owes(self, what: str) -> None:
        if what != self._owed:
            self._owed, self._since, self._came = what, self.among.now, 0


def connection_class(among: ConnectionLimits) -> type[Connection]:
    """The connections of one server, as uvicorn makes them."""

    class Served(Connection):
        """A connection of this server."""

    Served.among = among
    return Served
