"""Backlog: since when which account of ours has not heard all, and that a crash does not hide it.

    an account lost its connection, or begins a session  --> open, since the newest that it heard
    it resumed, or everything it missed is read          --> done
    a message waits in its place (for a file, say)       --> open, since the one before it
    something newer is heard while any is open           --> a fact says since when, once

So what is newest in the ledger is a watermark: what was said before it, and is not behind a fact,
was heard. Does not read anything.
"""

import asyncio
import logging
from collections import Counter

from loopforge.chat.rooms_api import RoomsApi
from loopforge.errors import LedgerError

log = logging.getLogger(__name__)
NAME = "discord"
MARGIN = 60_000 << 22
"""A minute, in ids: what is said at the same time in many places is heard in any order."""


class Backlog:
    """The watermark. Accounts are known by their index."""

    def __init__(self, front: RoomsApi) -> None:
        self._channels, self._behind = front.channels, front.rooms.behind
        self._newest: dict[int, int] = {}
        self._open: dict[int, int] = {}
        self._waiting: Counter[int] = Counter()
        self._heard = 0
        self._start: int | None = None
        self._noted = 0
        self._asking = asyncio.Lock()

    def heard(self, account: int, message: int) -> None:
        """This account was told of a message just now."""
        self._newest[account] = max(self._newest.get(account, 0), message)

    def opened(self, account: int) -> None:
        """What is said from now on, it may miss."""
        self._open.setdefault(account, self._newest.get(account, 0))

    def waits(self, message: int) -> None:
        """This message is heard when it is its turn."""
        self._waiting[message] += 1

    async def settled(self, message: int) -> None:
        """It was heard, or never will be."""
        self._waiting -= Counter((message,))
        await self._rest()

    async def since(self, account: int) -> int:
        """The message after which an account may have missed some; 0 if nobody was heard so far.

        Raises LedgerError.
        """
        return self._open.get(account, 0) or await self._begun()

    async def done(self, account: int) -> None:
        """This account missed nothing any more."""
        self._open.pop(account, None)
        await self._rest()

    async def _rest(self) -> None:
        if self._noted and not self._open and not self._late():
            await self._note(0)

    def _late(self) -> int:
        """The oldest that waits, if so much newer ones were heard that it would be passed over."""
        oldest = min(self._waiting, default=self._heard)
        return oldest if oldest < self._heard - MARGIN else 0

    async def guard(self, message: int) -> None:
        """This one is about to be heard. Raises LedgerError."""
        self._heard = max(self._heard, message)
        if not (self._open or self._late()):
            return
        start = await self._begun()
        sinces = [since or start for since in self._open.values()]
        sinces += [late - 1] if (late := self._late()) else []
        lowest = min(sinces, default=0)
        if lowest and (not self._noted or lowest < self._noted):
            await self._note(lowest)

    async def _begun(self) -> int:
        """The watermark as this process found it."""
        async with self._asking:
            if self._start is None:
                self._noted = await self._behind.since(NAME)
                self._start = self._noted or await self._channels.newest([f"{NAME}:%"])
        return self._start

    async def _note(self, since: int) -> None:
        async with self._asking:
            if since != self._noted:
                try:
                    await self._behind.note(NAME, since)
                except LedgerError as error:
                    if since:
                        raise
                    log.info("what was missed is read once more at the next start: %s", error)
                    return
                self._noted = since
