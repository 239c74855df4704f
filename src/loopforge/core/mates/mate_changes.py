"""What became of a mate, change by change, numbered from 1: one list, folded from events.

    MateWritten, MateGone                      a change of its file
    MateForked, MateMerged, TraitDecided (yes),
    GrowthUndone, each with the MateWritten    one change, under whatever led to it
      and the changes of memory that came of it
    MemoryKept of a core memory, and what      one change each: it shapes the mate as
      becomes of it                            its file does

Pure. The words of events are not looked at, so that forgotten ones change no number.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from loopforge.core.events import Event
from loopforge.core.growth.growth_events import GrowthUndone, MateForked, MateMerged, TraitDecided
from loopforge.core.memory.memory_vocabulary import (
    PREFIX,
    MemoryCorrected,
    MemoryDropped,
    MemoryInvalidated,
    MemoryKept,
    MemoryRestored,
    MemorySuperseded,
)
from loopforge.core.people_events import MateGone, MateWritten

ChangeKind = Literal["written", "gone", "forked", "merged", "trait", "undone", "memory"]
ItemChanged = (
    MemorySuperseded | MemoryCorrected | MemoryInvalidated | MemoryDropped | MemoryRestored
)
"""What becomes of an item, and can be taken back."""


class MateChange(Struct, frozen=True, kw_only=True):
    """One change. `id` is that of the event that began it, `events` are all it is made of.

    `hash` is the version of the file after it, `before` the one before ("": there was no file).
    """

    number: int
    id: str
    at: datetime
    by: str
    kind: ChangeKind
    hash: str
    before: str
    events: tuple[Event, ...]

    @property
    def told(self) -> str:
        """What it is, in a few words."""
        match self.events[0].body:
            case MateWritten():
                return "the file was changed" if self.before else "the file is there"
            case MateGone():
                return "the file went away"
            case MateForked(source=source):
                return f"forked from {source}"
            case MateMerged(source=source):
                return f"merged with {source}"
            case TraitDecided():
                return "a trait was approved"
            case GrowthUndone():
                return "a change was undone"
            case MemoryKept():
                return "a core memory was kept"
            case MemorySuperseded():
                return "a core memory was replaced"
            case MemoryCorrected():
                return "a core memory was reworded"
            case MemoryInvalidated():
                return "a core memory was set aside"
            case MemoryDropped():
                return "a core memory was let go"
            case MemoryRestored():
                return "a core memory came back"
            case _:
                return ""


def mate_changes(mate: str, events: Iterable[Event]) -> list[MateChange]:
    """The changes of a mate, the oldest first; of events in the order in which they came."""
    changes: list[MateChange] = []
    hash, core = "", set[str]()
    for event in events:
        kind, after = _read(mate, event, hash)
        if kind is None:
            continue
        place = _place(changes, event, kind, after)
        shaping = kind != "memory" or _shapes(event, core)
        if place is None and not shaping:
            continue
        if place is None:
            changes.append(_change(len(changes) + 1, event, kind, after, hash))
        else:
            changes[place] = _joined(changes[place], event, kind, after)
        hash = after
    return changes


def _shapes(event: Event, core: set[str]) -> bool:
    """Whether it is about a core memory; `core` are those that were kept so far."""
    if isinstance(event.body, MemoryKept):
        if event.body.layer == "core":
            core.add(event.id)
        return event.id in core
    return getattr(event.body, "item", "") in core


def _read(mate: str, event: Event, hash: str) -> tuple[ChangeKind | None, str]:
    """What an event is to this mate, and the version of its file afterwards."""
    body = event.body
    if isinstance(body, MemoryKept | ItemChanged):
        return ("memory" if event.stream == PREFIX + mate else None), hash
    if getattr(body, "mate", "") != mate:
        return None, hash
    match body:
        case MateWritten():
            return "written", body.hash
        case MateGone():
            return "gone", ""
        case MateForked():
            return "forked", hash
        case MateMerged():
            return "merged", hash
        case TraitDecided(approved=True):
            return "trait", hash
        case GrowthUndone():
            return "undone", hash
        case _:
            return None, hash


def _place(changes: Sequence[MateChange], event: Event, kind: ChangeKind, hash: str) -> int | None:
    """The change that an event is a part of, if it begins none."""
    if event.cause:
        for place in range(len(changes) - 1, -1, -1):
            if changes[place].id == event.cause:
                return place
    late = kind not in ("written", "gone", "memory") and changes and changes[-1].kind == "written"
    if late and getattr(event.body, "hash", "") == hash == changes[-1].hash:
        return len(changes) - 1
    return None


def _change(number: int, event: Event, kind: ChangeKind, hash: str, before: str) -> MateChange:
    by = event.actor.removeprefix("person:") if event.actor.startswith("person:") else ""
    return MateChange(
        number=number,
        id=event.id,
        at=event.at,
        by=by,
        kind=kind,
        hash=hash,
        before=before,
        events=(event,),
    )


def _joined(change: MateChange, event: Event, kind: ChangeKind, hash: str) -> MateChange:
    """A change with one more event; what led to a version may be told after it."""
    if kind in ("written", "gone", "memory"):
        return replace(change, hash=hash, events=(*change.events, event))
    told = _change(change.number, event, kind, change.hash, change.before)
    return replace(told, events=(event, *change.events))
