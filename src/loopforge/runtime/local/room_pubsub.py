"""Signals of one process: who listens to a stream hears drafts, typing, and events as they come.

Nothing here is kept. A listener that is slow finds each draft replaced by its newest state, never
an event dropped.

Does not cover: several machines (the same port is to be served by LISTEN/NOTIFY on PostgreSQL).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable

from loopforge.core.events import Event
from loopforge.runtime.ports import Draft, Signal

Halted = tuple[Callable[[str], None], tuple[str, ...]]


class SignalListener(AsyncIterator[Signal | Event]):
    """One listener's ear; listening begins when it is made and ends with `close`."""

    def __init__(self, ears: dict[str, set[SignalListener]], stream: str) -> None:
        self._ears, self._stream = ears, stream
        self._heard: deque[Signal | Event] = deque()
        self._wake = asyncio.Event()
        self._closed = False
        ears[stream].add(self)

    def put(self, what: Signal | Event) -> None:
        """Hear something; a newer draft of the same turn takes the place of an older one."""
        if isinstance(what, Draft) and self._heard:
            last = self._heard[-1]
            if isinstance(last, Draft) and last.turn == what.turn:
                self._heard[-1] = what
                return
        self._heard.append(what)
        self._wake.set()

    def close(self) -> None:
        """Stop listening; whoever waits is let go."""
        self._closed = True
        self._ears[self._stream].discard(self)
        if not self._ears[self._stream]:
            del self._ears[self._stream]
        self._wake.set()

    async def __anext__(self) -> Signal | Event:
        """The next thing heard."""
        while not self._heard:
            if self._closed:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        return self._heard.popleft()


class LocalSignals:
    """The Signals of one process."""

    def __init__(self) -> None:
        self._ears: dict[str, set[SignalListener]] = defaultdict(set)
        self._halted: dict[str, list[Halted]] = defaultdict(list)

    def publish(self, stream: str, what: Signal | Event) -> None:
        """See `Signals.publish`."""
        for ear in tuple(self._ears.get(stream, ())):
            ear.put(what)

    def listen(self, stream: str) -> SignalListener:
        """See `Signals.listen`."""
        return SignalListener(self._ears, stream)

    def halt(self, stream: str, why: str, name: str = "") -> None:
        """See `Signals.halt`."""
        for stop, names in tuple(self._halted.get(stream, ())):
            if not name or name in names:
                stop(why)

    def on_halt(self, stream: str, stop: Callable[[str], None], *names: str) -> Callable[[], None]:
        """See `Signals.on_halt`."""
        one = (stop, names)
        self._halted[stream].append(one)

        def over() -> None:
            self._halted[stream].remove(one)
            if not self._halted[stream]:
                del self._halted[stream]

        return over
