"""Memory: what was said comes back, where it may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from loopforge.runtime.looking_back import RecalledLine, RecallQuery


class Recall(Protocol):
    """What was said in rooms, by what it is about.

    A line is only ever recalled where everybody who is present may know it; that is decided where
    the lines are looked for, so that no caller can forget it.
    """

    async def recall(self, query: RecallQuery) -> Sequence[RecalledLine]:
        """The lines that fit best, the best first; none is there twice."""
        ...
