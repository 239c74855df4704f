"""The updates of one bot until it acknowledges them, and the long poll that fetches them.

As Telegram documents it: an update is forgotten once an offset above its id was asked for; of two
who poll at once the earlier is told Conflict; allowed_updates stays as it was last given, and
says what is kept from then on. An update is never lost by an answer that did not arrive.
"""

import asyncio
from collections.abc import Sequence

from tests.telegram.records import Body
from tests.telegram.wire import Refused

UNASKED = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
"""Kinds of update that only come to those who ask for them by name."""
CONFLICT = (
    "Conflict: terminated by other getUpdates request; "
    "make sure that only one bot instance is running"
)
PAGE = 100
"""Updates in one answer at most, which is Telegram's limit too."""


class Mailbox:
    """Updates in order, with ids that count from `first`."""

    def __init__(self, first: int) -> None:
        self.waiting: list[Body] = []
        self.last: list[Body] = []
        self._next = first
        self._allowed: frozenset[str] | None = None
        self._poll: asyncio.Future[bool] | None = None

    def wants(self, kind: str) -> bool:
        """Whether the bot asked for this kind of update."""
        return kind not in UNASKED if self._allowed is None else kind in self._allowed

    def put(self, kind: str, body: Body) -> Body:
        """Add an update, and wake who polls."""
        update = {"update_id": self._next, kind: body}
        self._next += 1
        self.waiting.append(update)
        self._wake()
        return update

    def acknowledge(self, offset: int) -> None:
        """Forget what is below the offset."""
        gone = [update for update in self.waiting if update["update_id"] < offset]
        self.last = gone or self.last
        self.waiting = [update for update in self.waiting if update["update_id"] >= offset]

    def again(self) -> None:
        """Deliver once more what was acknowledged last."""
        held = {update["update_id"] for update in self.waiting}
        self.waiting = [u for u in self.last if u["update_id"] not in held] + self.waiting

    def spoil(self) -> None:
        """Let the first that waits have a date that nobody can read."""
        for body in self.waiting[0].values() if self.waiting else ():
            if isinstance(body, dict):
                body["date"] = "soon"

    def allow(self, kinds: Sequence[str] | None) -> None:
        """None leaves it as it was; an empty list is the default again."""
        if kinds is not None:
            self._allowed = frozenset(kinds) or None

    async def fetch(self, limit: int, seconds: float) -> list[Body]:
        """What waits, or what comes within the time. Raises Refused (409) if another polls."""
        if self._poll is not None and not self._poll.done():
            self._poll.set_result(False)
        mine: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._poll = mine
        try:
            if not self.waiting and seconds > 0:
                await asyncio.wait([mine], timeout=seconds)
        finally:
            mine.cancel()
        if not mine.cancelled() and not mine.result():
            raise Refused(409, CONFLICT)
        return self.waiting[: max(1, min(limit or PAGE, PAGE))]

    def _wake(self) -> None:
        if self._poll is not None and not self._poll.done():
            self._poll.set_result(True)
