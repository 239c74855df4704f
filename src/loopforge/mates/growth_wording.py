"""Claims of a mate's story: what a sentence may say, as facts, and the words for each.

    claim -> sentence(claim, names)

Facts of a claim are read from events alone. Words that came from a talk (why a mate asked for
something) are None where whoever reads may not know them. Knows no page.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from loopforge.core.events import Event
from loopforge.core.growth.growth_events import (
    MateMerged,
    TraitProposed,
)
from loopforge.core.limits.line_matching import LineMatcher
from loopforge.core.mates.mate_file import parse_mate
from loopforge.core.memory.memory_vocabulary import (
    MemoryCorrected,
    MemoryDropped,
    MemoryInvalidated,
    MemoryKept,
    MemoryRestored,
    MemorySuperseded,
)
from loopforge.core.people_events import MateWritten
from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.core.text.spoken_lists import pluralize as many
from loopforge.errors import BadMate

MemoryTurn = Literal["replaced", "aside", "let go", "back"]
TURNS: Mapping[MemoryTurn, str] = {
    "replaced": "another memory holds in the place of one",
    "aside": "it does not trust a memory any more",
    "let go": "it let go of a memory",
    "back": "it holds to a memory again",
}
Names = Callable[[str], str]
"""What people call somebody, by their id; "" is whoever sits at the machine."""


class BeganClaim(Struct, frozen=True, kw_only=True, tag="began"):
    """The first that is on record of it."""

    by: str


class RewroteClaim(Struct, frozen=True, kw_only=True, tag="rewrote"):
    """Lines of its file came and went; None where the words of a version were forgotten."""

    by: str
    came: int | None
    went: int | None


class TraitMovedClaim(Struct, frozen=True, kw_only=True, tag="trait_moved"):
    """A trait is another since a version of its file; "" where it had or has none."""

    trait: str
    before: str
    after: str


class GoneClaim(Struct, frozen=True, kw_only=True, tag="gone"):
    """Its file went away."""

    by: str


class ForkedClaim(Struct, frozen=True, kw_only=True, tag="forked"):
    """It began as another, or another began as it was; told of `mate`."""

    mate: str
    source: str
    new: str
    by: str


class MergedClaim(Struct, frozen=True, kw_only=True, tag="merged"):
    """It took in what another had become; how many conflicts were decided, for whom."""

    source: str
    by: str
    own: int
    other: int
    both: int


class AskedClaim(Struct, frozen=True, kw_only=True, tag="asked"):
    """It asked to be changed in a trait. `why` is None where the reader may not know it."""

    trait: str | None
    before: str
    after: str
    why: str | None


class DecidedClaim(Struct, frozen=True, kw_only=True, tag="decided"):
    """What was said to that."""

    approved: bool
    by: str


class UndoneClaim(Struct, frozen=True, kw_only=True, tag="undone"):
    """One of its changes was taken back, by its number."""

    number: int
    by: str


class KeptClaim(Struct, frozen=True, kw_only=True, tag="kept"):
    """A core memory was kept. `words` is None where they were forgotten, or are not for all."""

    words: str | None
    hidden: bool


class RewordedClaim(Struct, frozen=True, kw_only=True, tag="reworded"):
    """A core memory says something else since."""

    words: str | None
    hidden: bool


class MemoryTurnClaim(Struct, frozen=True, kw_only=True, tag="memory_turn"):
    """What became of a core memory: replaced, set aside, let go, or there again."""

    turn: MemoryTurn
    words: str | None
    hidden: bool


class AlongClaim(Struct, frozen=True, kw_only=True, tag="along"):
    """So many memories came along from another mate, in a fork or a merge."""

    source: str
    count: int


GrowthClaim = (
    BeganClaim
    | RewroteClaim
    | TraitMovedClaim
    | GoneClaim
    | ForkedClaim
    | MergedClaim
    | AskedClaim
    | DecidedClaim
    | UndoneClaim
    | KeptClaim
    | RewordedClaim
    | MemoryTurnClaim
    | AlongClaim
)


# ---------------------------------------------------------------- words


def claim_sentence(claim: GrowthClaim, names: Names) -> str:
    """A claim as a sentence."""
    match claim:
        case BeganClaim(by=by):
            return f"It was made by {names(by)}." if by else "It is on record from here on."
        case RewroteClaim(by=by, came=came, went=went):
            return f"{_who(by, names)} {_lines(came, went)}."
        case TraitMovedClaim():
            return _moved(claim)
        case GoneClaim(by=by):
            return f"{_who(by, names)} archived it." if by else "Its file went away."
        case ForkedClaim(mate=mate, source=source, new=new, by=by):
            if mate == new:
                return f"{_who(by, names)} made it, as a fork of @{source}."
            return f"{_who(by, names)} forked @{new} from it; each goes its own way since."
        case MergedClaim():
            return _merged(claim, names)
        case AskedClaim():
            return _asked(claim)
        case DecidedClaim(approved=approved, by=by):
            return f"{_who(by, names)} said {'yes' if approved else 'no'} to that."
        case UndoneClaim(number=number, by=by):
            return f"{_who(by, names)} took back change {number}."
        case KeptClaim():
            return _quoted("It keeps since", "It kept something", claim)
        case RewordedClaim():
            return _quoted("It puts what it keeps in other words", "It reworded a memory", claim)
        case MemoryTurnClaim(turn=turn):
            how = TURNS[turn]
            return _quoted(f"{how[0].upper()}{how[1:]}", f"Of a memory: {how}", claim)
        case AlongClaim(source=source, count=count):
            memories = many(count, "memory", "memories")
            return f"It took {memories} of @{source} along."


def _quoted(told: str, bare: str, claim: KeptClaim | RewordedClaim | MemoryTurnClaim) -> str:
    if claim.words is not None:
        return f"{told}: “{claim.words}”"
    if claim.hidden:
        return f"{bare}; what it rests on was said where you were not, or is gone."
    return f"{bare} that was forgotten since."


def _who(by: str, names: Names) -> str:
    return names(by) if by else "Somebody at the machine"


def _lines(came: int | None, went: int | None) -> str:
    if came is None or went is None:
        return "wrote its file anew; the words of a version were forgotten"
    told = ((came, "added"), (went, "took away"))
    parts = [f"{did} {many(number, 'line')}" for number, did in told if number]
    return f"{' and '.join(parts)} of its file" if parts else "wrote its file anew, with no change"


def _moved(claim: TraitMovedClaim) -> str:
    trait = claim.trait
    if not claim.before:
        return f"Its {trait} is {claim.after} since; before, nothing was said of it."
    if not claim.after:
        return f"Nothing is said of its {trait} since; it was {claim.before}."
    return f"Its {trait} went from {claim.before} to {claim.after}."


def _merged(claim: MergedClaim, names: Names) -> str:
    told = f"{_who(claim.by, names)} let it take in what @{claim.source} had become"
    found = (
        (claim.own, "stayed as it was"),
        (claim.other, f"became as @{claim.source} was"),
        (claim.both, "became both"),
    )
    parts = [f"{number} {how}" for number, how in found if number]
    if not parts:
        return f"{told}; nothing was in conflict."
    return f"{told}; of what was in conflict, {join_as_prose(parts)}."


def _asked(claim: AskedClaim) -> str:
    if claim.trait is None:
        return "It asked to be changed in a trait; what it said was forgotten, or is not for you."
    now = f"instead of {claim.before}" if claim.before else "(nothing was said of it)"
    why = "" if claim.why is None else f": “{claim.why}”"
    hidden = " (its reason was told where you were not)" if claim.why is None else ""
    return f"It asked to have its {claim.trait} {claim.after} {now}{hidden}{why}"


# ---------------------------------------------------------------- what events say


def moved_traits(before: MateWritten, after: MateWritten) -> list[TraitMovedClaim]:
    """How the traits of two versions differ; nothing where a version cannot be read."""
    try:
        old, new = (parse_mate(str(one.text), "the file").traits for one in (before, after))
    except BadMate:
        return []
    names = dict.fromkeys((*old, *new))
    return [
        TraitMovedClaim(trait=name, before=old.get(name, ""), after=new.get(name, ""))
        for name in names
        if old.get(name) != new.get(name)
    ]


def count_line_changes(before: MateWritten, after: MateWritten) -> tuple[int | None, int | None]:
    """How many lines came and went between two versions."""
    if before.text.text is None or after.text.text is None:
        return None, None
    old, new = before.text.text.splitlines(), after.text.text.splitlines()
    came = went = 0
    for tag, a, b, c, d in LineMatcher(old, new).get_opcodes():
        if tag != "equal":
            came, went = came + d - c, went + b - a
    return came, went


def merged_claim(merge: MateMerged) -> MergedClaim:
    """What a merge says."""
    takes = [choice.take for choice in merge.choices]
    own, other, both = (takes.count(one) for one in ("a", "b", "both"))
    return MergedClaim(source=merge.source, by=merge.by, own=own, other=other, both=both)


def asked_claim(asked: TraitProposed, *, seen: bool) -> AskedClaim:
    """What a proposal says to whoever may see the lines behind it, or may not."""
    return AskedClaim(
        trait=asked.trait.text,
        before=asked.before or "",
        after=asked.after,
        why=asked.why.text if seen else None,
    )


def memory_claim(
    events: Sequence[Event], *, seen: bool
) -> KeptClaim | RewordedClaim | MemoryTurnClaim | None:
    """What an event says of a core memory; with the one that kept it, if that is another."""
    event = events[0]
    kept = events[-1].body
    if not isinstance(kept, MemoryKept) or getattr(event.body, "item", events[-1].id) != (
        events[-1].id
    ):
        return None
    hidden = not (seen or kept.travels)
    told = event.body.text if isinstance(event.body, MemoryCorrected) else kept.text
    words = None if hidden else told.text
    match event.body:
        case MemoryKept():
            return KeptClaim(words=words, hidden=hidden)
        case MemoryCorrected():
            return RewordedClaim(words=words, hidden=hidden)
        case MemorySuperseded():
            return MemoryTurnClaim(turn="replaced", words=words, hidden=hidden)
        case MemoryInvalidated():
            return MemoryTurnClaim(turn="aside", words=words, hidden=hidden)
        case MemoryDropped():
            return MemoryTurnClaim(turn="let go", words=words, hidden=hidden)
        case MemoryRestored():
            return MemoryTurnClaim(turn="back", words=words, hidden=hidden)
        case _:
            return None
