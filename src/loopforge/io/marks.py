"""Marks on a line that called a mate: seen, answered, or failed. One rule for every platform.

    seen      its turn has begun
    answered  what it said has arrived; while it is owed, the line stays seen
    failed    the turn failed, or broke off, or people were told of a trouble of it; or what it said
              did not arrive, or nobody knows
    (none)    it kept still

Marks are signs and no facts: they are not noted, and one that a platform does not take is left out.
Does not know which signs a platform has for them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Literal, Protocol

from loopforge.runtime.tasks import Tasks

log = logging.getLogger(__name__)
Mark = Literal["seen", "answered", "failed", ""]
CALLS = ("mention", "reply", "name", "alone", "default")
"""How a line calls a mate so that it bears a mark.

"alone" is a line in a private chat; "default" one in a private chat with several mates, or one that
calls an account that is there for several.
"""
REMEMBERED = 50
"""Turns that said nothing, of which a trouble may still be told."""


class Marker(Protocol):
    """How a platform marks. What raises here is logged and passed over."""

    name: str

    async def mark(self, place: str, line: str, mate: str, new: Mark, old: Mark) -> None:
        """Let the message that this line is bear the mate's new mark and no more its old one.

        "" is no mark. A line may have no message in a place.
        """
        ...


class _Marked:
    """A line that bears a mark, in some places, of one mate's turn."""

    def __init__(self, places: Sequence[str], line: str, mate: str) -> None:
        self.places, self.line, self.mate = tuple(places), line, mate
        self.bears: Mark = ""
        self.spoke = self.told = self.lost = False
        self.order = asyncio.Lock()


class Marks:
    """The marks of turns that run, in the order in which they come."""

    def __init__(self, marker: Marker) -> None:
        self._marker = marker
        self._open: dict[str, _Marked] = {}
        self._quiet: dict[str, _Marked] = {}
        self._said: dict[str, _Marked] = {}
        self._owed: dict[str, _Marked] = {}
        self._tasks = Tasks()

    async def close(self) -> None:
        """Mark nothing any more."""
        await self._tasks.close()

    def began(self, places: Sequence[str], turn: str, mate: str, line: str, summons: str) -> None:
        """A turn began that this line called."""
        if summons in CALLS and places:
            marked = self._open[turn] = _Marked(places, line, mate)
            self._put(marked, "seen")

    def said(self, turn: str, line: str) -> None:
        """The mate said this line in it, which is to be delivered."""
        if (marked := self._open.get(turn)) is not None:
            marked.spoke = True
            self._said[line] = marked
            while len(self._said) > REMEMBERED:
                del self._said[next(iter(self._said))]

    def queued(self, delivery: str, line: str, place: str) -> None:
        """A line is to go out to a place."""
        marked = self._said.get(line)
        if marked is not None and place in marked.places:
            self._owed[delivery] = marked

    def delivered(self, delivery: str, *, arrived: bool) -> None:
        """It has arrived there, or never will."""
        marked = self._owed.pop(delivery, None)
        if marked is not None and not marked.lost:
            marked.told, marked.lost = True, not arrived
            self._put(marked, "answered" if arrived else "failed")

    def ended(self, turn: str, *, failed: bool) -> None:
        """It is over; where nothing was said, whether that is a trouble may be told later."""
        marked = self._open.pop(turn, None)
        if marked is not None and marked.spoke:
            if not marked.told and marked not in self._owed.values():
                self._put(marked, "answered")  # it was said elsewhere, where nothing is marked
        elif marked is not None:
            self._put(marked, "failed" if failed else "")
            self._quiet[turn] = marked
            while len(self._quiet) > REMEMBERED:
                del self._quiet[next(iter(self._quiet))]

    def troubled(self, turn: str) -> None:
        """People were told of a trouble of this turn."""
        if (marked := self._quiet.pop(turn, None)) is not None:
            self._put(marked, "failed")

    def _put(self, marked: _Marked, mark: Mark) -> None:
        self._tasks.spawn(self._mark(marked, mark), f"a mark on {marked.line}")

    async def _mark(self, marked: _Marked, new: Mark) -> None:
        async with marked.order:  # a lock lets in whoever came first
            old, marked.bears = marked.bears, new
            if new == old:
                return
            for place in marked.places:
                try:
                    await self._marker.mark(place, marked.line, marked.mate, new, old)
                except Exception as error:
                    name = self._marker.name
                    log.debug("a mark was left out on %s: %s", name, type(error).__name__)
