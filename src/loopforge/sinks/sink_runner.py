"""Running sinks: each follows the ledger on its own, from where it left off, and slows nobody.

    the ledger told of a stream --> read what the sink has not had --> put, page by page
    a page was not taken        --> a pause, then again from what the sink says it has

Does not know what a sink does with events.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from loopforge.core.events import Event
from loopforge.runtime.background_tasks import Tasks
from loopforge.runtime.ports import Clock, Ledger
from loopforge.sinks.sink_plugin import InstalledSink

log = logging.getLogger(__name__)
PAGE = 500
"""Events that a sink is given at once."""
PAUSES = (1.0, 5.0, 30.0, 120.0)
"""Seconds before a sink that failed is tried again, by how often it failed; the last holds."""
ERASED = "ledger.erased"


class Sinks:
    """The sinks of one home, from `open` to `close`."""

    def __init__(self, ledger: Ledger, clock: Clock, sinks: Sequence[InstalledSink]) -> None:
        self._ledger, self._clock, self._sinks = ledger, clock, sinks
        self._tasks = Tasks()

    def open(self) -> None:
        """Begin with all of them."""
        for sink in self._sinks:
            self._tasks.spawn(self._keep(sink), f"sink {sink.name}")

    async def close(self) -> None:
        """End; what was not taken yet is read from the ledger the next time."""
        await self._tasks.close()

    async def _keep(self, sink: InstalledSink) -> None:
        """Follow for one sink until this is cancelled."""
        waiting, more = set[str](), asyncio.Event()
        streams = [each.strip() for each in sink.choice.streams.split(",") if each.strip()]

        def told(stream: str, _: Sequence[Event] = ()) -> None:
            if stream.startswith(tuple(streams)):
                waiting.add(stream)
                more.set()

        unsubscribe, failures = self._ledger.subscribe(told), 0
        try:
            while True:
                try:
                    had = dict(await sink.sink.had())
                    for stream in await self._ledger.heads():
                        told(stream)
                    while True:
                        await more.wait()
                        more.clear()
                        while waiting:
                            waiting.discard(stream := min(waiting))
                            await self._pass_on(sink, stream, had)
                            failures = 0
                except Exception as error:
                    said = "the sink %s is tried again: %s: %s"
                    log.warning(said, sink.name, type(error).__name__, error)
                await self._clock.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
                failures += 1
        finally:
            unsubscribe()

    async def _pass_on(self, sink: InstalledSink, stream: str, had: dict[str, int]) -> None:
        """Give it what it has not had of a stream."""
        kinds = [each.strip() for each in sink.choice.kinds.split(",") if each.strip()]
        chosen = [*kinds, ERASED] if kinds else []
        while True:
            after = had.get(stream, 0)
            page = await self._ledger.read(stream, after=after, kinds=chosen, limit=PAGE)
            if not page:
                return
            await sink.sink.put(page)
            had[stream] = page[-1].seq
