"""Memory: everything that happens to what a mate keeps, in a stream of its own for each mate.

    memory:MATE   items of one mate: kept, superseded, corrected, shared, dropped, ...
    memory        what holds for all: who wants to be remembered where, and what may be used where

An item is a sentence or two that rests on lines (its evidence), on other items, or on a person's
word alone. Nothing here forgets a text: an item that is dropped can come back, and what is to be
gone for good is erased (ledger/erasure), with the text of every item that it stood in.

Facts stamp nothing themselves: the id of an item is that of the event that kept it.
"""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from loopforge.core.text.erasable_text import Words, public_words

STREAM = "memory"
"""The stream of what holds for all mates; that of one is memory:MATE."""
PREFIX = "memory:"
EVERYWHERE = "everywhere"
"""Any room of this home that is no group, channel or thread of a platform."""

MACHINE = "terminal"
"""How somebody at the machine itself is called (`by`)."""

Layer = Literal[
    "note",
    "final",
    "core",
    "fact",
    "instruction",
    "saved",
    "lesson",
    "reflection",
    "insight",
    "word",
]
"""A note of a talk under way, one at its end, a core memory in the mate's own "I", a fact about
somebody, a standing instruction, what a tool saved, a lesson of what failed, a look back, what an
attempt at a task taught, a word that a room uses in a way of its own."""
Maker = Literal["mate", "person", "tool", "idle", "fork"]
"""Who made an item: the mate in a turn, a person by word or command, a tool, idle time, a fork."""


class EvidenceLine(Struct, frozen=True, omit_defaults=True):
    """An event that an item rests on: of which stream, its number there, its id."""

    stream: str
    seq: int
    line: str


class MemoryKept(Struct, frozen=True, tag="memory.kept", kw_only=True, omit_defaults=True):
    """An item was kept.

    `about` are the ids of persons whom it is about; `told_by` is the one who said so. `subject`
    is what a fact is of ("favourite tea"): a new one of the same supersedes the old. It holds
    from `since` until `until`, as far as that is known. `rests_on` are items that it was made of.
    `room` is the stream where it was made. `travels`: checked when it was made to hold no person,
    no quote and no fact about anybody. `trusted` is false where a source of it was untrusted.
    `learned_by` is the mate that heard it, where that is another one (a fork took it along).
    """

    layer: Layer
    text: Words
    made_by: Maker
    evidence: tuple[EvidenceLine, ...] = ()
    rests_on: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    told_by: str = ""
    subject: Words = public_words("")
    since: datetime | None = None
    until: datetime | None = None
    room: str = ""
    travels: bool = False
    trusted: bool = True
    learned_by: str = ""


class MemorySuperseded(
    Struct, frozen=True, tag="memory.superseded", kw_only=True, omit_defaults=True
):
    """An item holds no longer, since `when`: the item `new` holds in its place."""

    item: str
    new: str
    when: datetime


class MemoryCorrected(
    Struct, frozen=True, tag="memory.corrected", kw_only=True, omit_defaults=True
):
    """An item says this from now on, on the word of a person.

    `back_to` is the event whose wording this is again, where a correction was taken back.
    """

    item: str
    text: Words
    by: str
    back_to: str = ""


class MemoryInvalidated(
    Struct, frozen=True, tag="memory.invalidated", kw_only=True, omit_defaults=True
):
    """An item is not used until it is restored: its evidence changed, or somebody doubts it.

    `because` is the event or the item that this follows from.
    """

    item: str
    why: str
    by: str
    because: str = ""


class MemoryDropped(Struct, frozen=True, tag="memory.dropped", kw_only=True, omit_defaults=True):
    """An item was let go, by a mate, a person or idle time; its text is still there."""

    item: str
    why: str
    by: str
    because: str = ""


class MemoryRestored(Struct, frozen=True, tag="memory.restored", kw_only=True, omit_defaults=True):
    """An item that was superseded, invalidated or dropped holds again."""

    item: str
    by: str
    because: str = ""


class MemoryLocked(Struct, frozen=True, tag="memory.locked", kw_only=True):
    """A person says that this stands: nothing but a person changes it from now on."""

    item: str
    by: str


class MemoryUnlocked(Struct, frozen=True, tag="memory.unlocked", kw_only=True):
    """It may be changed by what is learned, too."""

    item: str
    by: str


class MemoryShared(Struct, frozen=True, tag="memory.shared", kw_only=True, omit_defaults=True):
    """A person whom it concerns lets an item be used elsewhere, or (`on` false) no longer.

    `to` is the stream of a room, or EVERYWHERE.
    """

    by: str
    to: str
    item: str = ""
    on: bool = True


class KeepingSet(Struct, frozen=True, tag="memory.keeping_set", kw_only=True):
    """Whether something is kept of a room ("room:NAME") or of a person ("person:ID").

    "default" takes back what was said before.
    """

    scope: str
    kept: Literal["on", "off", "default"]
    by: str


MemoryEvent = (
    MemoryKept
    | MemorySuperseded
    | MemoryCorrected
    | MemoryInvalidated
    | MemoryDropped
    | MemoryRestored
    | MemoryLocked
    | MemoryUnlocked
    | MemoryShared
    | KeepingSet
)
