"""Memory: what was said comes back, where it may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from loopforge.runtime.looking_back import KeptItem, RecalledItem, RecalledLine, RecallQuery


class Recall(Protocol):
    """What was said in rooms, by what it is about.

    A line is only ever recalled where everybody who is present may know it; that is decided where
    the lines are looked for, so that no caller can forget it.
    """

    async def recall(self, query: RecallQuery) -> Sequence[RecalledLine]:
        """The lines that fit best, the best first; none is there twice."""
        ...


class ItemRecall(Protocol):
    """What a mate keeps beyond lines; as with those, only what everybody present may know."""

    async def recall_items(self, query: RecallQuery) -> Sequence[RecalledItem]:
        """The items of `query.mate` that fit best, the best first."""
        ...

    async def usable(self, query: RecallQuery) -> Sequence[KeptItem]:
        """All items of `query.mate` that may be used there, the first kept first."""
        ...
