"""The tasks of a home as they are held in memory, each the fold of its stream.

A state is read when it is first needed, and follows the ledger from then on; once anything was
forgotten it is read anew before it is looked at, into the same object where a turn may hold it.
Whoever listens to a task hears its events. Which tasks there are is asked of the ledger. One whose
record cannot be read is left out wherever many are looked at, and the log says so.
"""

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import LineDeleted
from loopforge.core.work.work_vocabulary import TaskOpened
from loopforge.errors import LedgerBroken, Unknown
from loopforge.runtime.ports import Ledger, Listening, Signals
from loopforge.work.task_state import PREFIX, TaskState

log = logging.getLogger(__name__)
DELETED = "room.line_deleted"
FEWEST = 4
"""Digits of an id by which a task is named: every id begins with the same one."""


@contextmanager
def skip_unreadable_task() -> Iterator[None]:
    """Go on without a task whose record cannot be read."""
    try:
        yield
    except LedgerBroken as error:
        log.warning("a task is left out: %s", error)


class TaskStore:
    """The states of tasks."""

    def __init__(self, ledger: Ledger, signals: Signals) -> None:
        self._ledger, self._signals = ledger, signals
        self._states: dict[str, TaskState] = {}
        self._stale: set[str] = set()
        self._threads: dict[str, set[str]] = {}
        self._indexing, self._indexed = asyncio.Lock(), False
        ledger.subscribe(self._follow, streams=PREFIX)
        self._erasures = 0
        ledger.subscribe(self._erased, kinds=["ledger.erased"])
        ledger.subscribe(self._deleted, kinds=[DELETED])

    async def state(self, stream: str) -> TaskState:
        """The task as it is now, as far as it is known what others wrote."""
        await self._ledger.told(stream)
        while stream not in self._states or stream in self._stale:
            state, erasures = TaskState(stream=stream), self._erasures
            while state.seq < await self._ledger.told(stream):
                for event in await self._ledger.read(stream, after=state.seq):
                    state.apply(event)
                await self._withdraw(state)
            if erasures == self._erasures:  # else it was read with words that are no more
                self._stale.discard(stream)
                known = self._states.setdefault(stream, state)
                for name in TaskState.__struct_fields__:
                    setattr(known, name, getattr(state, name))
        return self._states[stream]

    async def _withdraw(self, state: TaskState) -> None:
        """Take out of a task that was read what its room deleted before a mind was shown it."""
        if any(body.source for body in state.pending.values()):
            self._without(await self._ledger.read(state.thread, kinds=[DELETED]), [state])

    async def states(self, streams: Iterable[str]) -> list[TaskState]:
        """The tasks of these streams, but those that cannot be read."""
        found = []
        for stream in streams:
            with skip_unreadable_task():
                found.append(await self.state(stream))
        return found

    async def head(self, stream: str, past: int) -> int:
        """Up to which event the task is known, having read on if that is not beyond `past`."""
        await self._ledger.told(stream, past)
        return (await self.state(stream)).seq

    def known(self) -> list[TaskState]:
        """Those that were looked at, as they stand."""
        return list(self._states.values())

    async def streams(self) -> list[str]:
        """The streams of all tasks, the oldest first."""
        return sorted(await self._ledger.heads(PREFIX))

    async def of_thread(self, thread: str) -> list[TaskState]:
        """The tasks of a thread, the oldest first."""
        async with self._indexing:  # else who asks meanwhile is told of some of them
            if not self._indexed:
                for stream in await self.streams():
                    with skip_unreadable_task():
                        self._index(await self._ledger.read(stream, kinds=["task.opened"], limit=1))
                self._indexed = True
        found = await self.states(sorted(self._threads.get(thread, ())))
        return [state for state in found if state.opened is not None]

    def _index(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event.body, TaskOpened):
                thread = event.body.thread or event.stream.removeprefix(PREFIX)
                self._threads.setdefault(thread, set()).add(event.stream)

    async def named(self, which: str) -> TaskState:
        """A task by its id, or by four of its last or first digits. Raises Unknown."""
        found = [one for one in await self.streams() if self._meant(one, which)]
        if len(found) != 1:
            several = "there is more than one such task" if found else "there is no such task"
            raise Unknown(f"{which!r}: {several}; `loopforge work list` shows them.")
        return await self.state(found[0])

    def listen(self, stream: str) -> Listening:
        """Hear what happens to a task from now on; whoever listens closes it."""
        return self._signals.listen(stream)

    def _erased(self, _stream: str, _events: Sequence[Event]) -> None:
        self._erasures += 1
        self._states = {stream: one for stream, one in self._states.items() if one.at_work}
        self._stale = set(self._states)

    def _deleted(self, _stream: str, events: Sequence[Event]) -> None:
        self._without(events, self._states.values())

    def _without(self, deleted: Sequence[Event], states: Iterable[TaskState]) -> None:
        lines = [event.body.line for event in deleted if isinstance(event.body, LineDeleted)]
        for state in states:
            for line in lines:
                state.withdraw(line)

    def _meant(self, stream: str, which: str) -> bool:
        id = stream.removeprefix(PREFIX)
        return len(which) >= FEWEST and (id.startswith(which) or id.endswith(which))

    def _follow(self, stream: str, events: Sequence[Event]) -> None:
        state = self._states.get(stream)
        self._index(events)
        for event in events:
            if state is not None:
                state.apply(event)
            self._signals.publish(stream, event)
