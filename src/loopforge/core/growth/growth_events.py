"""How mates grow: forks, merges, changed traits, undone changes; facts of the stream "mates".

What a mate's file says is a MateWritten (core/people_events.py), caused by one of these where one
led to it. `by` is the person who decided it, "" for whoever sits at the machine itself; `hash` is
the version of the mate's file that came of it, "" where the file stayed as it was. Words that came
from a talk are private, and cite the events they rest on.
"""

from typing import Literal

from msgspec import Struct

from loopforge.core.text.erasable_text import Words
from loopforge.core.text.quantity_bands import Band

MergeTake = Literal["a", "b", "both"]
"""How a conflict of a merge was decided: as the mate has it, as the other has it, or both."""


class MateForked(Struct, frozen=True, tag="mates.forked", kw_only=True, omit_defaults=True):
    """A mate began as a copy of `source`, as its file was in version `of`; each goes on from there.

    `upto` is the sequence number in the memory of `source` up to which it remembers the same.
    """

    mate: str
    source: str
    of: str
    hash: str
    upto: int = 0
    by: str = ""


class MergeChoice(Struct, frozen=True, kw_only=True):
    """What was decided of one conflict. `about` names it: role, traits.patience, character."""

    about: str
    take: MergeTake


class MateMerged(Struct, frozen=True, tag="mates.merged", kw_only=True, omit_defaults=True):
    """A mate took in what another is, whose file was in version `of`; that one stays as it is.

    `upto` is the sequence number in the memory of `source` up to which it was taken in.
    """

    mate: str
    source: str
    of: str
    hash: str = ""
    upto: int = 0
    choices: tuple[MergeChoice, ...] = ()
    by: str = ""


class TraitProposed(Struct, frozen=True, tag="mates.trait_proposed", kw_only=True):
    """A mate asks to be changed in a trait, and says why; `lines` are events that led to it.

    The event's id is the proposal's. `before` is None where it had no such trait.
    """

    mate: str
    trait: Words
    before: Band | None
    after: Band
    why: Words
    lines: tuple[str, ...] = ()


class TraitDecided(
    Struct, frozen=True, tag="mates.trait_decided", kw_only=True, omit_defaults=True
):
    """The owner of the home said yes or no to a proposal."""

    mate: str
    proposal: str
    approved: bool
    hash: str = ""
    by: str = ""


class GrowthUndone(
    Struct, frozen=True, tag="mates.change_undone", kw_only=True, omit_defaults=True
):
    """A change was taken back; `change` is the id of its event. What it was stays on record."""

    mate: str
    change: str
    hash: str = ""
    by: str = ""


GrowthEvent = MateForked | MateMerged | TraitProposed | TraitDecided | GrowthUndone
