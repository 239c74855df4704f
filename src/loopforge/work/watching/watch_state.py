"""What is true of a watch over a repository, folded from its stream."""

from datetime import datetime
from zoneinfo import ZoneInfo

from msgspec import Struct, field

from loopforge.core.events import Event
from loopforge.core.work.watch_events import (
    CodePlace,
    CommitsSeen,
    DocstringsDecided,
    DocstringsWanted,
    LookWanted,
    WatchBegan,
    WatchEnded,
)
from loopforge.schedule.rule_expansion import next_ring

WATCHES = "watch:"
Named = tuple[str, str]
"""A place without its line, which moves: its file, and its name there."""


class WatchState(Struct, kw_only=True):
    """A watch as it stands after event `seq`.

    `mark` is the commit up to which was looked, "" for none; `missing` are places that wait for a
    docstring; `task` is the one that nobody decided on yet, given for `places`; `refused` are
    those of tasks whose result was not taken. `wanted` is the last look that somebody asked for.
    """

    stream: str
    seq: int = 0
    began: WatchBegan | None = None
    mark: str = ""
    missing: tuple[CodePlace, ...] = ()
    unread: tuple[str, ...] = ()
    left: int = 0
    task: str = ""
    places: tuple[CodePlace, ...] = ()
    refused: set[Named] = field(default_factory=set)
    wanted: int = 0
    last: datetime | None = None

    @property
    def repo(self) -> str:
        """The registered repository."""
        return self.stream.removeprefix(WATCHES)

    def next_look(self, after: datetime) -> datetime | None:
        """When it is looked at next, by its rule."""
        if self.began is None:
            return None
        start = datetime.fromisoformat(self.began.start)
        return next_ring(self.began.rule, start, after, ZoneInfo(self.began.zone))

    def apply(self, event: Event) -> None:
        """Take in one event of its stream."""
        if event.seq <= self.seq:
            return
        self.seq, self.last = event.seq, event.at
        match event.body:
            case WatchBegan():
                if self.began is None:  # from now on: what was there before is no news
                    self.mark, self.missing, self.refused = "", (), set()
                self.began = event.body
            case WatchEnded():
                self.began = None
            case LookWanted():
                self.wanted = event.seq
            case CommitsSeen():
                self.mark, self.missing = event.body.head, event.body.missing
                self.unread, self.left = event.body.unread, event.body.left
            case DocstringsWanted(places=places):
                given = {place_without_line(one) for one in places}
                self.missing = tuple(
                    one for one in self.missing if place_without_line(one) not in given
                )
                self.task, self.places = event.id, places
            case DocstringsDecided(taken=taken):
                if not taken:
                    self.refused |= {place_without_line(one) for one in self.places}
                self.task, self.places = "", ()


def place_without_line(place: CodePlace) -> Named:
    """A place without its line."""
    return (place.path, place.name)
