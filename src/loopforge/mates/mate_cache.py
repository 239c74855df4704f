"""The cache: the mates of a home as a mapping, for whoever asks dozens of times in a turn.

A look at the files holds for a moment; who is not found is looked for anew, since a mate may have
been made just now. Does not know why somebody is missing (mate_roster.py does).
"""

from collections.abc import ItemsView, Iterator, Mapping, ValuesView

from loopforge.core.mates.mate_file import Mate
from loopforge.mates.mate_roster import MateRoster
from loopforge.runtime.ports import Clock
from loopforge.runtime.ttl_cache import TtlCache


class MateCache(Mapping[str, Mate]):
    """The mates of the home, by handle, as they are on file at this moment."""

    def __init__(self, roster: MateRoster, clock: Clock) -> None:
        self._now = TtlCache(roster.mates, clock)

    def __getitem__(self, handle: str) -> Mate:
        mates = self._now.get()
        return mates[handle] if handle in mates else self._now.get(anew=True)[handle]

    def items(self) -> ItemsView[str, Mate]:
        """As of one look."""
        return self._now.get().items()

    def values(self) -> ValuesView[Mate]:
        """As of one look."""
        return self._now.get().values()

    def __iter__(self) -> Iterator[str]:
        return iter(self._now.get())

    def __len__(self) -> int:
        return len(self._now.get())
