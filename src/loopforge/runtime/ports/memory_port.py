"""Memory: what was said comes back, where it may; what such a look asks for, and what it finds."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

from msgspec import Struct

from loopforge.core.events import Event
from loopforge.core.growth.growth_events import MergeTake
from loopforge.core.memory.memory_vocabulary import MemoryKept


class LineSearch(Struct, frozen=True, kw_only=True):
    """Which lines of a room are wanted: with all these words, by whose name holds `who`, and when.

    `since` is in the time, `until` is not; the newest `limit` of them.
    """

    words: str = ""
    who: str = ""
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 10


class FoundLine(Struct, frozen=True, kw_only=True):
    """A line of a room as it stands now; `address` is where the browser shows it in the room."""

    at: datetime
    who: str
    text: str
    address: str


EVER = 2**62
"""Beyond every number that a line has."""


class RecallQuery(Struct, frozen=True, kw_only=True):
    """What is to be recalled in the room `stream`, by a mate, and by what it is to be found.

    `text` is a question or a description. `asker` and `names` (names by speaker) have speakers as
    person:ID or mate:HANDLE. `present` are the ids of all who will hear what comes of it: nothing
    is recalled that one of them may not know. `everywhere`: from other rooms, too, where presence
    allows it; `mate` must have been in them. `seen` are numbers of lines of the room itself that it
    has before its eyes anyway: they are not given, and where there are no others, nothing is
    looked for. Lines of the room itself after `upto` are news to it, and not given either.
    """

    text: str
    stream: str
    present: tuple[str, ...]
    mate: str = ""
    asker: str = ""
    names: dict[str, str] = {}
    everywhere: bool = False
    seen: frozenset[int] = frozenset()
    upto: int = EVER
    limit: int = 10


class RecalledLine(Struct, frozen=True, kw_only=True):
    """A line of a room as it stands now, how well it fits, and what that is made of, by name."""

    line: Event
    score: float
    parts: dict[str, float]


ItemState = Literal["held", "superseded", "invalidated", "dropped", "forgotten"]
"""What an item of memory is; only of the first two kinds one is ever recalled."""


class KeptItem(MemoryKept, frozen=True, kw_only=True):
    """An item of a mate's memory as it stands now: what is not said here is as in MemoryKept.

    `text` is what it says now, `until` when it ended or will end, `replaced` the item that holds in
    its place, `seq` its number in the mate's stream. `worded_by` is the person who corrected it;
    `changed_by` and `because` say by whom and because of what its state is what it is.
    """

    id: str
    mate: str
    seq: int
    at: datetime
    state: ItemState
    replaced: str = ""
    locked: bool = False
    worded_by: str = ""
    changed_by: str = ""
    because: str = ""

    def anew(self, **changed: Any) -> MemoryKept:
        """What is to be kept that is as this item, but for what is `changed`."""
        same = {name: getattr(self, name) for name in MemoryKept.__struct_fields__}
        return MemoryKept(**(same | changed))


class RecalledItem(Struct, frozen=True, kw_only=True):
    """An item of memory, how well it fits, and what that is made of, by name."""

    item: KeptItem
    score: float
    parts: dict[str, float]


class MemoryDifference(Struct, frozen=True, kw_only=True):
    """Something that another mate keeps, `item`, and a mate does not, or not so (`kin`).

    `about` names it where a person decides. Without `conflict` it is taken unasked.
    """

    about: str
    item: KeptItem
    kin: KeptItem | None = None
    conflict: bool = False


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
