"""The cast: the mates of a home as a mapping, for whoever asks dozens of times in a turn.

A look at the files holds for a moment; who is not found is looked for anew, since a mate may have
been made just now. Does not know why somebody is missing (mate_roster.py does).
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView

from loopforge.core.mates.mate_file import Mate
from loopforge.mates.mate_roster import Roster
from loopforge.runtime.ports import Clock

MOMENT = 0.05
"""Seconds for which a look at the mates' files holds."""


class Cast(Mapping[str, Mate]):
    """The mates of the home, by handle, as they are on file at this moment."""

    def __init__(self, roster: Roster, clock: Clock) -> None:
        self._roster, self._clock = roster, clock
        self._mates: dict[str, Mate] = {}
        self._looked = -MOMENT

    def _now(self, *, anew: bool = False) -> dict[str, Mate]:
        ticks = self._clock.ticks()
        if anew or ticks - self._looked >= MOMENT:
            self._mates, self._looked = self._roster.mates(), ticks
        return self._mates

    def __getitem__(self, handle: str) -> Mate:
        mates = self._now()
        return mates[handle] if handle in mates else self._now(anew=True)[handle]

    def items(self) -> ItemsView[str, Mate]:
        """As of one look."""
        return self._now().items()

    def values(self) -> ValuesView[Mate]:
        """As of one look."""
        return self._now().values()

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())
