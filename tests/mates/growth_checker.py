"""What holds the story of a mate against the events that its sentences cite."""

from collections.abc import Callable, Sequence

from loopforge.core.events import Event
from loopforge.core.growth.growth_events import (
    GrowthUndone,
    MateForked,
    MateMerged,
    TraitDecided,
    TraitProposed,
)
from loopforge.core.mates.mate_changes import mate_changes
from loopforge.core.people_events import MateGone, MateWritten
from loopforge.mates.growth_story import GrowthSentence
from loopforge.mates.growth_wording import (
    AlongClaim,
    AskedClaim,
    BeganClaim,
    DecidedClaim,
    ForkedClaim,
    GoneClaim,
    GrowthClaim,
    KeptClaim,
    MemoryTurnClaim,
    MergedClaim,
    Names,
    RewordedClaim,
    RewroteClaim,
    TraitMovedClaim,
    UndoneClaim,
    asked_claim,
    claim_sentence,
    count_line_changes,
    memory_claim,
    merged_claim,
    moved_traits,
)


def check(
    mate: str, story: Sequence[GrowthSentence], events: Sequence[Event], names: Names
) -> list[str]:
    """What is wrong in a story, held against the events; nothing if all is borne out."""
    known = {event.id: event for event in events}
    numbers = {event.id: one.number for one in mate_changes(mate, events) for event in one.events}
    problems = []
    for one in story:
        cited = [known[id] for id in one.events if id in known]
        told = f"“{one.text[:60]}”"
        if not one.events or len(cited) < len(one.events):
            problems.append(f"{told}: it cites what is not on record.")
        elif not borne(one.claim, cited, lambda change: numbers.get(change, 0)):
            problems.append(f"{told}: the events do not bear it out.")
        if one.text != claim_sentence(one.claim, names):
            problems.append(f"{told}: its words are not those of its claim.")
    return problems


def borne(claim: GrowthClaim, events: Sequence[Event], undone: Callable[[str], int]) -> bool:
    """Whether these events, and they alone, say what a claim says.

    `undone` gives the number of a change by the id of its event.
    """
    bodies = [event.body for event in events]
    match claim, bodies:
        case BeganClaim(by=by), [MateWritten(by=who)]:
            return by == who
        case RewroteClaim(by=by, came=came, went=went), [
            MateWritten() as old,
            MateWritten() as new,
        ]:
            return (by, came, went) == (new.by, *count_line_changes(old, new))
        case TraitMovedClaim(), [MateWritten() as old, MateWritten() as new]:
            return claim in moved_traits(old, new)
        case GoneClaim(by=by), [MateGone()]:
            return by == _by(events[0])
        case ForkedClaim(), [MateForked() as fork]:
            told = (claim.new, claim.source, claim.by) == (fork.mate, fork.source, fork.by)
            return told and claim.mate in (fork.mate, fork.source)
        case MergedClaim(), [MateMerged() as merge]:
            return claim == merged_claim(merge)
        case AskedClaim(), [TraitProposed() as asked]:
            return claim in (asked_claim(asked, seen=True), asked_claim(asked, seen=False))
        case DecidedClaim(approved=approved, by=by), [TraitDecided() as decided]:
            return (approved, by) == (decided.approved, decided.by)
        case UndoneClaim(number=number, by=by), [GrowthUndone() as back]:
            return (number, by) == (undone(back.change), back.by)
        case KeptClaim() | RewordedClaim() | MemoryTurnClaim(), _:
            return claim in (memory_claim(events, seen=True), memory_claim(events, seen=False))
        case AlongClaim(source=source, count=count), [MateForked() | MateMerged() as led, *rest]:
            kept = [one for one in events[1:] if one.cause == events[0].id]
            whole = len(kept) == len(rest) == count
            return whole and led.source == source
        case _:
            return False


def _by(event: Event) -> str:
    return event.actor.removeprefix("person:") if event.actor != "runtime" else ""
