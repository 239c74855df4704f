"""Who holds a thread: of one thread one task is worked on at a time.

    take -> fencing number, or the task that holds it
    renew, release

A lease has an end: a task whose process died is taken over by the next, under a larger number, and
at once by itself. Whoever holds a smaller number than the newest holds nothing.
"""

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple, TypeVar

from loopforge.core.events import Body, Event
from loopforge.core.work.work_vocabulary import ThreadReleased, ThreadRenewed, ThreadTaken
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp

T = TypeVar("T")
THREAD = "thread:"
LEASE = timedelta(minutes=10)
"""How long a lease stands that nobody renews; no turn takes longer."""


class HeldThread(NamedTuple):
    """Who holds a thread: which task, of which process, under which number, until when."""

    task: str = ""
    holder: str = ""
    fence: int = 0
    until: datetime | None = None


def held_by(events: Iterable[Event]) -> HeldThread:
    """Who holds a thread after these events; the fence is the newest there ever was."""
    held = HeldThread()
    for event in events:
        match event.body:
            case ThreadTaken(task=task, holder=holder, fence=fence, until=until):
                held = HeldThread(task, holder, fence, until)
            case ThreadRenewed(fence=fence, until=until) if fence == held.fence:
                held = held._replace(until=until)
            case ThreadReleased(fence=fence) if fence == held.fence:
                held = HeldThread(fence=held.fence)
    return held


class ThreadLeases:
    """The threads of a home, as one process takes them."""

    def __init__(self, ledger: Ledger, stamp: Stamp) -> None:
        self._ledger, self._stamp = ledger, stamp
        self.holder = stamp.id()
        self._mine: dict[str, HeldThread] = {}

    def mine(self, thread: str, task: str, fence: int) -> bool:
        """Whether this process holds the thread for that task, under that number."""
        held = self._mine.get(thread)
        return held is not None and (held.task, held.fence) == (task, fence)

    async def take(self, thread: str, task: str) -> HeldThread:
        """Take it where it is free, was this task's, or its lease is over; else who holds it."""

        async def attempt(seq: int) -> HeldThread:
            held, now = await self._held(thread), self._stamp.clock.now()
            if held.task not in ("", task) and held.until and held.until > now:
                return held
            taken = HeldThread(task, self.holder, held.fence + 1, now + LEASE)
            assert taken.until
            body = ThreadTaken(task=task, holder=self.holder, fence=taken.fence, until=taken.until)
            await self._append(thread, body, seq)
            self._mine[thread] = taken
            return taken

        return await self._decide(thread, attempt)

    async def renew(self, thread: str) -> bool:
        """Hold it on, where more than half of the time is over; whether it is still held."""
        mine, now = self._mine.get(thread), self._stamp.clock.now()
        if mine is None or mine.until is None:
            return False
        if mine.until - now > LEASE / 2:
            return True

        async def attempt(seq: int) -> bool:
            held = await self._held(thread)
            if held.fence != mine.fence or not held.task:
                self._mine.pop(thread, None)
                return False
            until = now + LEASE
            body = ThreadRenewed(task=mine.task, fence=mine.fence, until=until)
            await self._append(thread, body, seq)
            self._mine[thread] = mine._replace(until=until)
            return True

        return await self._decide(thread, attempt)

    async def release(self, thread: str, task: str, fence: int = 0) -> None:
        """Let it go, if this process holds it for that task; or one that died did, by `fence`."""
        if (mine := self._mine.get(thread)) and mine.task == task:
            fence = mine.fence
        if not fence or await self._free(thread):
            return

        async def attempt(seq: int) -> None:
            held = await self._held(thread)
            if (held.task, held.fence) == (task, fence):
                await self._append(thread, ThreadReleased(task=task, fence=fence), seq)
            if mine is not None and mine.task == task:
                self._mine.pop(thread, None)

        await self._decide(thread, attempt)

    async def _free(self, thread: str) -> bool:
        """Whether it was let go and not taken since: that much one row tells."""
        newest = await self._ledger.read(THREAD + thread, limit=1, newest=True)
        return bool(newest) and isinstance(newest[-1].body, ThreadReleased)

    async def _held(self, thread: str) -> HeldThread:
        return held_by(await self._ledger.read(THREAD + thread))

    async def _append(self, thread: str, body: Body, seq: int) -> None:
        fact = self._stamp.fact(body, actor="runtime")
        await self._ledger.append(THREAD + thread, [fact], expect=seq)

    async def _decide(self, thread: str, attempt: Callable[[int], Awaitable[T]]) -> T:
        return await self._ledger.decide(THREAD + thread, partial(self._head, thread), attempt)

    async def _head(self, thread: str, past: int) -> int:
        await self._ledger.told(THREAD + thread, past)
        newest = await self._ledger.read(THREAD + thread, limit=1, newest=True)
        return newest[-1].seq if newest else 0
