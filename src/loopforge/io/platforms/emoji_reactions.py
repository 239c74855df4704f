"""Emojis on lines: those that people put to stop a mate or answer a question, and a mate's marks.

A mate marks the line that called it, by one rule for every platform:

    seen      its turn has begun
    waiting   the mate answered, but the platform does not take the answer yet: it is tried again
    answered  what it said has arrived in this place
    failed    the turn failed, or broke off, or people were told of a trouble of it; or what it said
              did not arrive in this place, or nobody knows
    (none)    it kept still

What a line is to bear is read from the ledger (chat/service/line_receipts.py), so that it is the
same after a restart; what it bears is remembered, else guessed. Marks are signs and no facts: they
are not noted, and one that a platform does not take is tried once more when something arrives
there. Does not know which emojis a platform has for them.
"""

import asyncio
import logging
from collections.abc import Sequence
from itertools import product
from typing import Literal, NamedTuple, Protocol

from loopforge.chat.room.turn_queue import CALLED
from loopforge.chat.service.line_receipts import CalledTurn, LineDelivery
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.runtime.background_tasks import BackgroundTasks

log = logging.getLogger(__name__)
Mark = Literal["seen", "waiting", "answered", "failed", ""]
UNDER_WAY: tuple[Mark, ...] = ("seen", "waiting")
"""Marks that a line may bear of which nothing is remembered."""
REMEMBERED = 500
"""Signs of which it is remembered what they bear."""
STOP_EMOJIS = ("🛑", "✋", "⏹️", "⏹", "🙊")
"""Reactions that say stop; the last is for platforms that have few."""
EMOJI_ANSWERS = {"👍": "approve", "✅": "approve", "👎": "deny", "❌": "deny"}
"""What reactions to a question whether a tool may be used say; skins of thumbs are no matter."""
SKINS = "".join(map(chr, range(0x1F3FB, 0x1F400)))


def says_something(emoji: str) -> bool:
    """Whether an emoji does something where it is put."""
    return emoji in STOP_EMOJIS or emoji.rstrip(SKINS) in EMOJI_ANSWERS


class StatusMarker(Protocol):
    """How a platform marks. What raises here is logged and passed over."""

    name: str

    async def mark(self, place: str, line: str, mate: str, new: Mark, old: Sequence[Mark]) -> None:
        """Let the message that this line is bear the mate's new mark, and none of the old ones.

        "" is no mark. It may bear fewer than the old ones. A line may have no message in a place.
        """


class ReceiptReader(Protocol):
    """What the ledger knows."""

    async def sending(self, delivery: str) -> LineDelivery:
        """What a delivery is."""

    async def call(self, turn: str) -> CalledTurn | None:
        """What a turn was called by, and what became of it."""


class _Where(NamedTuple):
    """A line in a place, and the mate whose marks it bears there."""

    place: str
    line: str
    mate: str


class _Sign:
    """What it bears there; unless that is sure, what it may bear."""

    def __init__(self, bears: Sequence[Mark]) -> None:
        self.bears, self.sure = tuple(bears), not bears
        self.order = asyncio.Lock()


class StatusReactions:
    """The marks of lines, in the order in which they come."""

    def __init__(self, marker: StatusMarker, fates: ReceiptReader) -> None:
        self._marker, self._fates = marker, fates
        self._signs: BoundedMapping[_Where, _Sign] = BoundedMapping(REMEMBERED)
        self._missed: dict[_Where, Mark] = {}
        self._tasks = BackgroundTasks()

    async def close(self) -> None:
        """Mark nothing any more."""
        await self._tasks.close()

    def began(self, places: Sequence[str], mate: str, lines: Sequence[str], summons: str) -> None:
        """A turn began that these lines called."""
        if summons in CALLED:
            self._all(places, lines, mate, "seen")

    def refused(self, places: Sequence[str], mate: str, line: str) -> None:
        """No turn can begin that this line calls for."""
        self._all(places, (line,), mate, "failed")

    async def ended(self, places: Sequence[str], turn: str, *, failed: bool) -> None:
        """It is over; where nothing was said, whether that is a trouble may be told later."""
        call = await self._call(turn)
        if call is not None and call.spoke:  # where it was said to nobody, nothing is owed
            there = [place for place in places if place not in call.fates]
            self._all(there, call.lines, call.mate, "answered")
        elif call is not None:
            self._all(places, call.lines, call.mate, "failed" if failed else "")

    async def troubled(self, places: Sequence[str], turn: str) -> None:
        """People were told of a trouble of this turn."""
        call = await self._call(turn)
        if call is not None and call.over and not call.spoke:
            self._all(places, call.lines, call.mate, "failed")

    async def put_off(self, delivery: str) -> None:
        """It has not arrived yet, and is tried again."""
        await self._went(delivery, waits=True)

    async def delivered(self, delivery: str, *, arrived: bool) -> None:
        """It has arrived, or never will."""
        place = await self._went(delivery)
        for where in [each for each in self._missed if arrived and each.place == place]:
            self._put(where, self._missed.pop(where), again=False)

    async def _went(self, delivery: str, *, waits: bool = False) -> str:
        """Mark what became of a delivery; the place that it is for."""
        place, turn = await self._fates.sending(delivery)
        if not place.startswith(f"{self._marker.name}:"):
            return ""
        call = await self._call(turn)
        fates = call.fates.get(place, ()) if call is not None else ()
        if call is not None and fates:
            if "lost" in fates:
                self._all([place], call.lines, call.mate, "failed")
            elif "owed" not in fates:
                self._all([place], call.lines, call.mate, "answered")
            elif waits:
                self._all([place], call.lines, call.mate, "waiting")
        return place

    async def _call(self, turn: str) -> CalledTurn | None:
        call = await self._fates.call(turn) if turn else None
        return call if call is not None and call.summons in CALLED else None

    def _all(self, places: Sequence[str], lines: Sequence[str], mate: str, mark: Mark) -> None:
        for place, line in product(places, lines):
            self._put(_Where(place, line, mate), mark)

    def _put(self, where: _Where, mark: Mark, *, again: bool = True) -> None:
        """Mark it; what is refused is tried once more if it may be so (`again`)."""
        if (sign := self._signs.get(where)) is None:
            sign = self._signs[where] = _Sign(() if mark == "seen" else UNDER_WAY)
        self._missed.pop(where, None)
        self._tasks.spawn(self._mark(where, sign, mark, again=again), f"a mark on {where.line}")

    async def _mark(self, where: _Where, sign: _Sign, new: Mark, *, again: bool) -> None:
        async with sign.order:  # a lock lets in whoever came first
            bears: tuple[Mark, ...] = (new,) if new else ()
            if sign.sure and sign.bears == bears:
                return
            old = tuple(each for each in sign.bears if each != new)
            try:
                await self._marker.mark(*where, new, old)
                sign.bears, sign.sure = bears, True
            except Exception as error:
                sign.bears, sign.sure = (*old, *bears), False
                if again and len(self._missed) < REMEMBERED:
                    self._missed[where] = new
                name = self._marker.name
                log.debug("a mark was left out on %s: %s", name, type(error).__name__)
