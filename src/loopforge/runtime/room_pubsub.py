"""The air of a room: who listens hears drafts, typing, and events as they are appended.

In one process only; nothing here is kept. A listener that is slow finds each draft replaced by its
newest state, never an event dropped.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator

from loopforge.core.events import Event
from loopforge.runtime.ports import Breath, Draft


class Ear(AsyncIterator[Breath | Event]):
    """One listener's ear; listening begins when it is made and ends with `close`."""

    def __init__(self, air: LocalAir, stream: str) -> None:
        self._air, self._stream = air, stream
        self._heard: deque[Breath | Event] = deque()
        self._wake = asyncio.Event()
        self._closed = False

    def put(self, what: Breath | Event) -> None:
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
        self._air.forget(self._stream, self)
        self._wake.set()

    async def __anext__(self) -> Breath | Event:
        """The next thing heard."""
        while not self._heard:
            if self._closed:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        return self._heard.popleft()


class LocalAir:
    """The Air of one process."""

    def __init__(self) -> None:
        self._ears: dict[str, set[Ear]] = defaultdict(set)

    def publish(self, stream: str, what: Breath | Event) -> None:
        """Let every listener of the stream hear it."""
        for ear in tuple(self._ears.get(stream, ())):
            ear.put(what)

    def listen(self, stream: str) -> Ear:
        """Listen from now on; close the ear when done."""
        ear = Ear(self, stream)
        self._ears[stream].add(ear)
        return ear

    def forget(self, stream: str, ear: Ear) -> None:
        """Let an ear go."""
        self._ears[stream].discard(ear)
        if not self._ears[stream]:
            del self._ears[stream]

    def anybody(self, stream: str) -> bool:
        """Whether somebody listens."""
        return stream in self._ears
