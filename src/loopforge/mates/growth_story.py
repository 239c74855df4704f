"""The story of a mate: how it grew, sentence by sentence, each citing the events that say so.

    story = tell("maya", events, reader)

The same events give the same sentences. What came from a talk is told to those alone who may see
the lines behind it; `lines` of a sentence are the ids of those. Does not know where lines stand.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from msgspec import Struct

from loopforge.core.events import Event
from loopforge.core.growth.growth_events import (
    GrowthUndone,
    MateForked,
    MateMerged,
    TraitDecided,
    TraitProposed,
)
from loopforge.core.mates.mate_changes import ItemChanged, MateChange, mate_changes
from loopforge.core.memory.memory_vocabulary import MemoryKept
from loopforge.core.people_events import MateGone, MateWritten
from loopforge.mates.growth_wording import (
    AlongClaim,
    BeganClaim,
    DecidedClaim,
    ForkedClaim,
    GoneClaim,
    GrowthClaim,
    Names,
    RewroteClaim,
    UndoneClaim,
    asked_claim,
    claim_sentence,
    count_line_changes,
    memory_claim,
    merged_claim,
    moved_traits,
)


class StoryReader(NamedTuple):
    """Whoever is told: what they call people, and whether they may see all of these lines."""

    names: Names
    sees: Callable[[Sequence[str]], bool]


class GrowthSentence(Struct, frozen=True, kw_only=True):
    """One sentence. `events` are what it rests on, `lines` what was said that led to it.

    `number` is that of the change that it tells of; 0: it tells of none.
    """

    text: str
    at: datetime
    events: tuple[str, ...]
    claim: GrowthClaim
    lines: tuple[str, ...] = ()
    number: int = 0


class _Telling(NamedTuple):
    """A claim with the events behind it."""

    claim: GrowthClaim
    events: tuple[Event, ...]
    lines: tuple[str, ...] = ()

    @property
    def when(self) -> Event:
        """The event of which it tells: of two versions the later one, else the first."""
        versions = all(isinstance(event.body, MateWritten) for event in self.events)
        return self.events[-1] if versions else self.events[0]


def growth_sentences(
    mate: str, events: Sequence[Event], reader: StoryReader
) -> list[GrowthSentence]:
    """The story of a mate, from all events of the stream of mates, in their order."""
    changes = mate_changes(mate, events)
    numbers = {event.id: change.number for change in changes for event in change.events}
    return [
        GrowthSentence(
            text=claim_sentence(each.claim, reader.names),
            at=each.when.at,
            events=tuple(event.id for event in each.events),
            claim=each.claim,
            lines=each.lines,
            number=numbers.get(each.when.id, 0),
        )
        for each in _tellings(mate, events, changes, reader)
    ]


def cited_lines(mate: str, events: Sequence[Event]) -> list[str]:
    """The lines that led to changes of a mate, by their events' ids."""
    found: list[str] = []
    for event in events:
        body = event.body
        if isinstance(body, TraitProposed) and body.mate == mate:
            found += body.lines
        elif isinstance(body, MemoryKept) and body.layer == "core":
            found += [line.line for line in body.evidence]
    return list(dict.fromkeys(found))


def _tellings(
    mate: str, events: Sequence[Event], changes: Sequence[MateChange], reader: StoryReader
) -> Iterator[_Telling]:
    led = {event.id for change in changes for event in change.events[1:]}
    along = {change.id: _along(change) for change in changes}
    kept = {event.id: event for event in events if isinstance(event.body, MemoryKept)}
    numbers = {event.id: change.number for change in changes for event in change.events}
    undone = {change.number for change in changes if change.kind == "undone"}
    last: Event | None = None
    for event in events:
        body = event.body
        if isinstance(body, MateForked) and mate in (body.mate, body.source):
            claim = ForkedClaim(mate=mate, source=body.source, new=body.mate, by=body.by)
            yield _Telling(claim, (event,))
            if body.mate == mate:
                yield from along.get(event.id, ())
        told = event.id not in led or numbers[event.id] in undone
        if told and event.id in numbers and isinstance(body, MemoryKept | ItemChanged):
            yield from _remembered(event, kept, reader)
        if getattr(body, "mate", "") != mate:
            continue
        match body:
            case MateWritten():
                yield from _written(event, body, last, led=event.id in led)
                last = event
            case MateGone():
                yield _Telling(GoneClaim(by=_by(event)), (event,))
            case MateMerged():
                yield _Telling(merged_claim(body), (event,))
                yield from along.get(event.id, ())
            case TraitProposed():
                seen = reader.sees(body.lines)
                lines = body.lines if seen else ()
                yield _Telling(asked_claim(body, seen=seen), (event,), lines)
            case TraitDecided():
                yield _Telling(DecidedClaim(approved=body.approved, by=body.by), (event,))
            case GrowthUndone():
                number = numbers.get(body.change, 0)
                yield _Telling(UndoneClaim(number=number, by=body.by), (event,))


def _along(change: MateChange) -> list[_Telling]:
    """The memories that came with a fork or a merge."""
    first, *rest = change.events
    if not isinstance(first.body, MateForked | MateMerged):
        return []
    kept = tuple(event for event in rest if isinstance(event.body, MemoryKept))
    claim = AlongClaim(source=first.body.source, count=len(kept))
    return [_Telling(claim, (first, *kept))] if kept else []


def _remembered(event: Event, kept: Mapping[str, Event], reader: StoryReader) -> Iterator[_Telling]:
    """A core memory: that it was kept, or what became of it."""
    item = kept.get(getattr(event.body, "item", event.id))
    if item is None or not isinstance(item.body, MemoryKept) or item.body.layer != "core":
        return
    lines = tuple(line.line for line in item.body.evidence)
    seen = reader.sees(lines)
    events = (event,) if item is event else (event, item)
    claim = memory_claim(events, seen=seen)
    if claim is not None:
        yield _Telling(claim, events, lines if seen else ())


def _written(
    event: Event, body: MateWritten, last: Event | None, *, led: bool
) -> Iterator[_Telling]:
    """A version: what is different in it; who wrote it, unless what led to it tells that."""
    if last is None:
        if not led:
            yield _Telling(BeganClaim(by=body.by), (event,))
        return
    assert isinstance(last.body, MateWritten)
    if not led:
        came, went = count_line_changes(last.body, body)
        yield _Telling(RewroteClaim(by=body.by, came=came, went=went), (last, event))
    for claim in moved_traits(last.body, body):
        yield _Telling(claim, (last, event))


def _by(event: Event) -> str:
    return event.actor.removeprefix("person:") if event.actor != "runtime" else ""
