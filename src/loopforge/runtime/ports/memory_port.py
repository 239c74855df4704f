"""Memory: what was said comes back, where it may."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from loopforge.core.events import Event
from loopforge.core.growth.growth_events import MergeTake
from loopforge.runtime.memory_values import (
    KeptItem,
    MemoryDifference,
    RecalledItem,
    RecalledLine,
    RecallQuery,
)


class Recall(Protocol):
    """What was said in rooms, by what it is about.

    A line is only ever recalled where everybody who is present may know it; that is decided where
    the lines are looked for, so that no caller can forget it.
    """

    async def recall(self, query: RecallQuery) -> Sequence[RecalledLine]:
        """The lines that fit best, the best first; none is there twice."""


class ItemRecall(Protocol):
    """What a mate keeps beyond lines; as with those, only what everybody present may know."""

    async def recall_items(self, query: RecallQuery) -> Sequence[RecalledItem]:
        """The items of `query.mate` that fit best, the best first."""

    async def usable(self, query: RecallQuery, layers: Collection[str] = ()) -> Sequence[KeptItem]:
        """All items of `query.mate`, of these layers, that may be used there, the oldest first."""


class MateMemory(Protocol):
    """The memories of mates, when they are forked and merged, and when a change is taken back."""

    async def head(self, mate: str) -> int:
        """The number of the last event in a mate's memory; 0: it keeps nothing."""

    async def copy(self, source: str, mate: str, *, cause: str, actor: str, until: str = "") -> int:
        """Let `mate` keep what `source` does, or did after the event `until`; how many items."""

    async def differences(self, a: str, b: str) -> Sequence[MemoryDifference]:
        """What `b` keeps that `a` does not, and what they keep differently."""

    async def take(
        self,
        mate: str,
        source: str,
        differences: Sequence[MemoryDifference],
        takes: Mapping[str, MergeTake],
        *,
        cause: str,
        actor: str,
    ) -> int:
        """Take what was found, and decided where it is in conflict; how many events that made."""

    async def take_back(self, mate: str, events: Sequence[Event], *, cause: str, by: str) -> int:
        """Undo what events did to a mate's memory, by events of their own; how many were undone."""
