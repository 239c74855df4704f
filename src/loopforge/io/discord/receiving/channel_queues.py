"""Channel queues: what is to be done in each place, one thing after the other, in its order.

    what a client hears  --> held, while it is not known what that client, or the first one of the
                             place, missed
                         --> the queue of its place --> done; again, while it cannot be written down
    a change             --> done by the first of us that brings it, however late another one does

Does not know what is done.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Hashable
from typing import NamedTuple

from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.errors import LedgerError
from loopforge.io.discord.connection.api_errors import FAILURES, redact_tokens
from loopforge.io.discord.connection.bot_accounts import BotAccounts
from loopforge.io.discord.connection.gateway_client import GatewayClient
from loopforge.io.discord.connection.rate_limit import ReadLimiter
from loopforge.io.discord.connection.unread_backlog import Backlog
from loopforge.io.discord.receiving.missed_backfill import TRIES, Job, Read
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock

log = logging.getLogger(__name__)
REMEMBERED = 4000
"""Changes of which it is known who brought them."""


class _Change:
    """One kind of change of one thing: how often each account brought it, and it was done."""

    def __init__(self) -> None:
        self.brought, self.done = Counter[int](), 0


class _Turn(NamedTuple):
    """Something to be done in a place; `message`: the one that is heard by it, or 0."""

    job: Job
    message: int = 0


class ChannelQueues:
    """The queues of all places; `put` and its like return at once."""

    def __init__(
        self, crowd: BotAccounts, backlog: Backlog, clock: Clock, tasks: BackgroundTasks
    ) -> None:
        self._crowd, self._backlog, self._clock, self._tasks = crowd, backlog, clock, tasks
        self._queues: dict[int, asyncio.Queue[_Turn]] = {}
        self._held: dict[GatewayClient, list[tuple[GatewayClient, int, _Turn]]] = {}
        self._changes: BoundedMapping[Hashable, _Change] = BoundedMapping(REMEMBERED)
        self._turnstile = ReadLimiter()

    def begin(self, client: GatewayClient) -> None:
        """A session begins: what others brought before it, this client brings no more."""
        for change in self._changes.values():
            change.brought[self._crowd.index(client)] = max(change.brought.values())

    def hold(self, client: GatewayClient) -> None:
        """What this client hears waits from now on."""
        self._held.setdefault(client, [])

    def holds(self, client: GatewayClient) -> bool:
        """Whether what it hears waits."""
        return client in self._held

    def release(self, client: GatewayClient, *, gone: bool = False) -> None:
        """What waited for it waits no more; what it heard itself falls away if it is `gone`."""
        for by, channel, turn in self._held.pop(client, []):
            if by is not client or not gone:
                self._put_or_hold(by, channel, turn)

    def put(self, client: GatewayClient, channel: int, job: Job, message: int = 0) -> None:
        """Have it done in its turn; `message` is what is heard by it."""
        self._put_or_hold(client, channel, _Turn(job, message))

    def put_change(
        self, client: GatewayClient, channel: int, what: tuple[Hashable, ...], job: Job
    ) -> None:
        """The same for what says not by itself that it was brought already by another of us.

        `what` is the same for all of us; that which comes twice to one of us came about twice.
        """
        change = self._changes[what] = self._changes.get(what) or _Change()
        change.brought[index := self._crowd.index(client)] += 1
        nth = change.brought[index]

        async def work() -> None:
            if nth > change.done:
                await job()
                change.done = nth

        self.put(client, channel, work)

    def put_reading(self, channel: int, read: Read) -> asyncio.Future[bool]:
        """Let a place be read in its turn, whatever is held; whether all of it was."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        async def job() -> None:
            hurried = not self._queues[channel].empty()
            complete = False
            try:
                async with self._turnstile.turn(channel, hurried=hurried):
                    complete = await read()
            finally:
                if not done.done():
                    done.set_result(complete)

        self._put(channel, _Turn(job))
        return done

    def _put_or_hold(self, client: GatewayClient, channel: int, turn: _Turn) -> None:
        reads = client if client in self._held else self._crowd.first(channel)
        if reads is not None and reads in self._held:  # what was missed there comes first
            self._held[reads].append((client, channel, turn))
        else:
            self._put(channel, turn)

    def _put(self, channel: int, turn: _Turn) -> None:
        if channel not in self._queues:
            self._queues[channel] = asyncio.Queue()
            self._tasks.spawn(self._work_through(channel), f"inward {channel}")
        self._queues[channel].put_nowait(turn)
        if turn.message:
            self._backlog.waits(turn.message)
        self._turnstile.hurry(channel)

    async def _work_through(self, channel: int) -> None:
        """Do what came in one place, in order, until there is nothing more."""
        queue = self._queues[channel]
        while not queue.empty():
            turn, written = queue.get_nowait(), True
            waits = (LedgerError, *FAILURES) if turn.message else LedgerError
            for pause in (*TRIES, None):
                try:
                    await turn.job()
                except waits as error:
                    log.warning("something said on Discord waits: %s", redact_tokens(repr(error)))
                    if pause is not None:
                        await self._clock.sleep(pause)
                        continue
                    log.critical("something said on Discord could not be written down")
                    written = False  # so it is read again after the next start
                except Exception as error:
                    log.critical(
                        "something said on Discord was not heard: %s", redact_tokens(repr(error))
                    )
                break
            if turn.message and written:
                await self._backlog.settled(turn.message)
        del self._queues[channel]
