"""Running sinks: each follows the ledger on its own, from where it left off, and slows nobody.

    the ledger told of a stream --> read what the sink has not had --> put, page by page
    an erasure in another one   --> put, too, where a sink forgets: events show texts of others
    a page was not taken        --> a pause, then again from what the sink says it has
    it alone was refused        --> its stream is set aside for a pause; the others go on

Does not know what a sink does with events.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime

from loopforge.core.events import Event
from loopforge.errors import SendFailed
from loopforge.ledger.storage.sink_cursors import SinkCursors
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock, Ledger, SinkStanding
from loopforge.sinks.sink_plugin import (
    EventOutlet,
    EventSink,
    HashedSink,
    InstalledSink,
    OutletChoice,
    split_by_comma,
)

log = logging.getLogger(__name__)
PAGE = 500
"""Events that a sink is given at once."""
PAUSES = (1.0, 5.0, 30.0, 120.0)
"""Seconds before a sink that failed is tried again, by how often it failed; the last holds."""
ERASED = "ledger.erased"
AHEAD = (
    "{place} holds events of {stream} that the ledger does not: another home's, or from before a "
    "backup was restored. Name a new file."
)
CLOSING = 10.0
"""Seconds that a sink has to close."""
LOOKED = 50
"""Streams that are looked into for the oldest event that has not gone."""


class CursoredOutlet:
    """An outlet as a sink: how far it came stands in the home's cursors."""

    def __init__(
        self, name: str, outlet: EventOutlet, cursors: SinkCursors, *, history: bool = False
    ) -> None:
        self._name, self._outlet, self._cursors = name, outlet, cursors
        self._history = history

    async def had(self) -> Mapping[str, int]:
        """As the cursors say."""
        return await self._cursors.begin(self._name, history=self._history)

    async def put(self, events: Sequence[Event]) -> None:
        """Send them in portions, moving the cursor after each."""
        for start in range(0, len(events), self._outlet.most):
            portion = events[start : start + self._outlet.most]
            await self._outlet.send(portion)
            await self._cursors.advance(self._name, portion[-1].stream, portion[-1].seq)


class Sinks:
    """The sinks of one home, from `open` to `close`."""

    def __init__(
        self, ledger: Ledger, clock: Clock, sinks: Sequence[InstalledSink], cursors: SinkCursors
    ) -> None:
        self._ledger, self._clock, self._sinks = ledger, clock, sinks
        self._cursors, self._tasks = cursors, BackgroundTasks()
        self._following = list[_Following]()

    async def standings(self) -> list[SinkStanding]:
        """See `SinkStandings`."""
        heads = await self._ledger.heads()
        return [await one.standing(heads) for one in self._following]

    async def open(self) -> None:
        """Begin with all of them: what happens from here on is passed on."""
        for each in self._sinks:
            if isinstance(sink := self._taking(each), CursoredOutlet):
                await sink.had()
            following = _Following(self._ledger, self._clock, each, sink)
            self._following.append(following)
            self._tasks.spawn(following.run(), f"sink {each.name}")

    async def close(self) -> None:
        """End; what was not taken yet is read from the ledger the next time."""
        await self._tasks.close()
        for each in self._sinks:
            if isinstance(each.sink, EventOutlet):
                try:
                    async with asyncio.timeout(CLOSING):
                        await each.sink.close()
                except (Exception, SystemExit) as error:
                    log.warning("the sink %s cannot close", each.name, exc_info=error)

    def _taking(self, one: InstalledSink) -> EventSink:
        if not isinstance(one.sink, EventOutlet):
            return one.sink
        history = isinstance(one.choice, OutletChoice) and one.choice.history
        return CursoredOutlet(one.name, one.sink, self._cursors, history=history)


class _Following:
    """Follows the ledger for one sink."""

    def __init__(self, ledger: Ledger, clock: Clock, one: InstalledSink, sink: EventSink) -> None:
        self._ledger, self._clock, self._name, self._sink = ledger, clock, one.name, sink
        self._place, self._began, self._passing = one.place, False, ""
        self._trouble: tuple[str, datetime | None] = ("", None)
        self._streams = tuple(split_by_comma(one.choice.streams))
        self._forgets = one.plugin.forgets
        kinds = split_by_comma(one.choice.kinds)
        self._kinds = [*kinds, ERASED] if kinds else []
        self._waiting, self._more = set[str](), asyncio.Event()
        self._aside, self._refused = set[str](), dict[str, int]()
        self._had: dict[str, int] = {}
        self._unchecked = set[str]()
        self._foreign: tuple[Mapping[str, int] | None, str] = (None, "")
        self._failures = 0  # in a row, since something was taken

    async def standing(self, heads: Mapping[str, int]) -> SinkStanding:
        """How it stands, where the ledger stands so."""
        if not self._began:
            return SinkStanding(self._name, self._place, -1, None, *self._trouble)
        left = {
            stream: heads[stream] - self._had.get(stream, 0)
            for stream in {*self._waiting, *self._aside, self._passing}
            if self._chosen(stream) and heads.get(stream, 0) > self._had.get(stream, 0)
        }
        first = [
            event.at
            for stream in sorted(left)[:LOOKED]
            for event in await self._ledger.read(
                stream, after=self._had.get(stream, 0), kinds=self._kinds, limit=1
            )
        ]
        behind = sum(left.values()) if first else 0
        return SinkStanding(
            self._name, self._place, behind, min(first, default=None), *self._trouble
        )

    def _failed(self, error: BaseException) -> None:
        self._trouble = (f"{type(error).__name__}: {error}", self._clock.now())

    def _chosen(self, stream: str) -> bool:
        return stream.startswith(self._streams)

    def _told(self, stream: str, events: Sequence[Event]) -> None:
        if self._chosen(stream) or any(event.kind == ERASED for event in events):
            self._wanted(stream)

    def _wanted(self, stream: str) -> None:
        if self._chosen(stream) or self._forgets:
            self._waiting.add(stream)
            self._more.set()

    async def run(self) -> None:
        """Pass on what comes until this is cancelled."""
        unsubscribe = self._ledger.subscribe(self._told)
        try:
            async with BackgroundTasks() as tasks:
                while True:
                    pause = await self._until_failure(tasks)
                    await self._clock.sleep(max(pause, _pause(self._failures)))
                    self._failures += 1
        finally:
            unsubscribe()

    async def _until_failure(self, tasks: BackgroundTasks) -> float:
        """Pass on what comes; once that fails, for how many seconds it is to be left alone."""
        try:
            if (had := dict(await self._sink.had())) != self._had:
                self._had, self._failures = had, 0  # some of a page was taken
            heads = await self._ledger.heads()
            self._refuse_foreign(had, heads)
            self._unchecked = set(had)
            for stream in heads:
                self._wanted(stream)
            self._began = True
            while True:
                await self._more.wait()
                self._more.clear()
                while ready := self._waiting - self._aside:
                    await self._next(min(ready), tasks)
        except (Exception, SystemExit) as error:
            said = "the sink %s is tried again: %s: %s"
            log.warning(said, self._name, type(error).__name__, error)
            self._failed(error)
            return error.after if isinstance(error, SendFailed) else 0.0

    def _refuse_foreign(self, had: Mapping[str, int], heads: Mapping[str, int]) -> None:
        """Raise SendFailed where it has what the ledger has not, also once that has grown past."""
        if ahead := [stream for stream, seq in had.items() if seq > heads.get(stream, 0)]:
            self._foreign = had, ahead[0]
        if had == self._foreign[0]:
            raise SendFailed(AHEAD.format(place=self._place, stream=self._foreign[1]))

    async def _next(self, stream: str, tasks: BackgroundTasks) -> None:
        """Pass on a stream; where an event of it is refused, it is set aside for a while."""
        self._waiting.discard(stream)
        self._passing = stream
        try:
            await self._pass_on(stream)
            self._refused.pop(stream, None)
        except SendFailed as error:
            if not error.final:
                raise
            said = "the sink %s does not take an event of %s, which waits: %s"
            log.warning(said, self._name, stream, error)
            self._failed(error)
            self._had = dict(await self._sink.had())
            self._waiting.add(stream)
            self._aside.add(stream)
            tasks.spawn(self._later(stream), f"{stream} to {self._name} again")

    async def _later(self, stream: str) -> None:
        """Take a stream up again that was set aside, after a pause by how often that was."""
        times = self._refused.get(stream, 0)
        self._refused[stream] = times + 1
        await self._clock.sleep(_pause(times))
        self._aside.discard(stream)
        self._more.set()

    async def _pass_on(self, stream: str) -> None:
        """Give it what it has not had of a stream; of one that is not chosen, erasures."""
        kinds = self._kinds if self._chosen(stream) else [ERASED]
        await self._check_same(stream)
        while True:
            after = self._had.get(stream, 0)
            page = await self._ledger.read(stream, after=after, kinds=kinds, limit=PAGE)
            if not page:
                return
            await self._sink.put(page)
            self._failures = 0
            self._had[stream] = page[-1].seq

    async def _check_same(self, stream: str) -> None:
        """Raise SendFailed where the last event that it has of a stream is not the ledger's."""
        if stream not in self._unchecked or not isinstance(self._sink, HashedSink):
            return
        (event,) = await self._ledger.read(stream, after=self._had[stream] - 1, limit=1)
        if event.hash != self._sink.last_hash(stream):
            raise SendFailed(AHEAD.format(place=self._place, stream=stream))
        self._unchecked.discard(stream)


def _pause(failures: int) -> float:
    return PAUSES[min(failures, len(PAUSES) - 1)]
