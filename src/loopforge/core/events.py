"""Events: the envelope of every fact, and the facts of a turn.

A Fact is what somebody wants to add to a stream; id and time are given by the runtime, never by
the fact itself. An Event is a Fact that the ledger has accepted: it has a sequence number and a
hash that chains over the event before it.

Knows nothing of databases. The order of bytes that are hashed is `chain_hash`, and nowhere else.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from loopforge.core.delivery_states import DeliveryEvent
from loopforge.core.effect_states import EffectEvent
from loopforge.core.factory_vocabulary import LabEvent
from loopforge.core.home_events import HomeEvent
from loopforge.core.limits.budget_limits import BudgetNote, Charge
from loopforge.core.memory.memory_vocabulary import MemoryEvent
from loopforge.core.people_events import MateEvent, PeopleEvent
from loopforge.core.perception import Edit, Line, Picture
from loopforge.core.platform_events import PlatformEvent
from loopforge.core.room_vocabulary import RoomEvent
from loopforge.core.schedule.reminder_events import ReminderEvent, TimeChosen
from loopforge.core.text.erasable_text import Words, decode_stored, encode_stored, public_words
from loopforge.core.work.watch_events import WatchEvent
from loopforge.core.work.work_vocabulary import ThreadEvent, WorkEvent

# ---------------------------------------------------------------- the facts of a turn


class LineRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Lines shown, written as a change: the first `keep` lines of event `base`, then `more`."""

    more: tuple[Line | str, ...]
    base: str = ""
    keep: int = 0


class TextPiece(Struct, frozen=True, omit_defaults=True):
    """One message of a prompt: its role, the words that make it up, the pictures shown with it.

    `layout` says how each of the words is laid out (prompt_rows.py); "": all as they are.
    """

    role: str
    words: tuple[Words, ...]
    pictures: tuple[Picture, ...] = ()
    layout: str = ""


class PieceRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A prompt, written as a change: the first `keep` messages of event `base`, then `more`."""

    more: tuple[TextPiece, ...]
    base: str = ""
    keep: int = 0


class Recollection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line or an item of memory that came to a mind before its turn, by its event's id.

    `score` says how well it fitted, `parts` of what that is made; `left` why it was not shown, ""
    where it was.
    """

    of: str
    score: float = 0.0
    parts: tuple[tuple[str, float], ...] = ()
    left: str = ""


class Perceived(Struct, frozen=True, tag="turn.perceived", kw_only=True, omit_defaults=True):
    """A turn began: what one mind was shown. The event's id is the turn's.

    `shown` is the perception as JSON without its lines, which stand in `lines`, and without the
    mate's own words about itself, which stand in `character`. `mind` is the hash
    of the mate's file, `policy` a name with its version ("talk/1"). `line` is the event that called
    the turn, `summons` how (mention, reply, name, conversation, continue, title). `upto` is the
    sequence number up to which the stream had been read for it; 0: of before that was kept.
    `recalled` is what was remembered for it, `also` are other lines that called it, and are
    answered too.
    """

    mate: str
    policy: str
    mind: str
    line: str
    summons: str
    step: int
    shown: Words
    lines: LineRun
    character: Words = public_words("")
    edits: tuple[Edit, ...] = ()
    tokens: int = 0
    upto: int = 0
    recalled: tuple[Recollection, ...] = ()
    also: tuple[str, ...] = ()


class Asked(Struct, frozen=True, tag="turn.asked", kw_only=True, omit_defaults=True):
    """A model is about to be asked; `nth` counts the requests of the turn from 1.

    `tier` is that of the question, where it is not the mate's own (0).
    """

    turn: str
    nth: int
    purpose: str
    prompt: PieceRun
    schema: Words = public_words("")
    aloud: bool = False
    field: str = ""
    max_tokens: int = 0
    tier: int = 0


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens read (of which `cached` came from the provider's cache) and written; `cost` in USD."""

    read: int = 0
    cached: int = 0
    written: int = 0
    cost: str = ""


class Attempt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One try at one model: what came of it, how long it took (milliseconds), the raw error.

    `cause` is why there is no answer, as in core/model_trouble.py; `has` what its server has
    instead, in words, where it does not know the model. `usage` is what it took, where another try
    came after it. `wait`: the seconds for which its service asked to be left alone.
    """

    model: str
    outcome: str
    took: int = 0
    detail: Words = public_words("")
    cause: str = ""
    has: str = ""
    usage: Usage | None = None
    wait: float = 0.0


class Answered(Struct, frozen=True, tag="turn.answered", kw_only=True, omit_defaults=True):
    """What became of an Asked: the raw answer, what was parsed of it (JSON), every attempt.

    `first` and `took` are milliseconds to the first token and in all; `heard` are the ids of lines
    that came in meanwhile and were given to the mind with this answer. `mended` says what the
    answer lacked of the form it was asked for; `cut`: its words broke off; `small`: a small model
    was to be asked in its own form. `charge` says for whom it was paid, beside what stands here
    anyway; `budget` is what the tightest budget said.
    """

    turn: str
    nth: int
    outcome: str
    text: Words
    parsed: Words = public_words("")
    model: str = ""
    fallback: bool = False
    attempts: tuple[Attempt, ...] = ()
    usage: Usage = Usage()
    first: int = 0
    took: int = 0
    heard: tuple[Line, ...] = ()
    mended: tuple[str, ...] = ()
    cut: bool = False
    small: bool = False
    charge: Charge | None = None
    budget: BudgetNote | None = None

    @property
    def usages(self) -> tuple[Usage, ...]:
        """All that it took: of the answer, and of each try before it."""
        return (*(one.usage for one in self.attempts if one.usage), self.usage)


class Called(Struct, frozen=True, tag="turn.called", kw_only=True, omit_defaults=True):
    """A tool was about to be called, in a ledger of before there were effects.

    Calls by acts of a plan had numbers from 1000 on.
    """

    turn: str
    nth: int
    tool: str
    arguments: Words
    idempotent: bool = False


class Returned(Struct, frozen=True, tag="turn.returned", kw_only=True, omit_defaults=True):
    """What a mind was told of its request for a tool; `outcome` "deferred" if it goes on.

    `cost` in US dollars, as far as it is known; `left` and `bound` as in `Result`.
    """

    turn: str
    nth: int
    outcome: str
    value: Words
    took: int = 0
    heard: tuple[Line, ...] = ()
    cost: float = 0.0
    left: str = ""
    bound: str = ""


class Planned(Struct, frozen=True, tag="turn.planned", kw_only=True, omit_defaults=True):
    """The mind returned its plan (JSON in `plan`)."""

    turn: str
    intent: str
    mode: str
    plan: Words
    narrative: Words = public_words("")
    rule: Words = public_words("")


class Verdict(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the guard said of one act: its kind, whether it may happen, by which rule, why."""

    act: str
    allowed: bool
    rule: str = ""
    why: str = ""


class Judged(Struct, frozen=True, tag="turn.judged", kw_only=True):
    """The guard's verdict on each act of the plan, in the plan's order."""

    turn: str
    verdicts: tuple[Verdict, ...]


class TurnEnded(Struct, frozen=True, tag="turn.ended", kw_only=True, omit_defaults=True):
    """The turn is over. `done`: its plan was carried out. `took` in milliseconds.

    `took_in` are ids of lines that came in meanwhile and were put before the mind in this very
    turn: it needs no further turn for them.
    """

    turn: str
    outcome: Literal["done", "stopped", "diverged", "failed"]
    why: Words = public_words("")
    took: int = 0
    took_in: tuple[str, ...] = ()


class Erased(Struct, frozen=True, tag="ledger.erased", kw_only=True):
    """Texts were forgotten on a person's wish; `refs` are the digests that have no text now."""

    refs: tuple[str, ...]
    by: str
    why: str = ""


TurnEvent = Perceived | Asked | Answered | Called | Returned | Planned | Judged | TurnEnded

RoomBody = RoomEvent | TurnEvent | EffectEvent | DeliveryEvent | ReminderEvent | Erased
"""What can stand in the stream of a room ("room:NAME")."""
PeopleBody = PeopleEvent | TimeChosen | Erased
MatesBody = MateEvent | Erased
HomeBody = HomeEvent | Erased
MemoryBody = MemoryEvent | TurnEvent | Erased
TaskBody = WorkEvent | TurnEvent | EffectEvent | Erased
"""What can stand in the stream of a task ("task:ID")."""
ThreadBody = ThreadEvent | Erased
"""What can stand in the stream of a thread ("thread:NAME")."""
WatchBody = WatchEvent | Erased
"""What can stand in the stream of a watch over a repository ("watch:NAME")."""
Body = (
    RoomBody
    | PeopleBody
    | MatesBody
    | HomeBody
    | MemoryBody
    | TaskBody
    | ThreadBody
    | WatchBody
    | PlatformEvent
    | LabEvent
)
"""What can stand in any stream; each kind of stream has a closed union of its own."""

# ---------------------------------------------------------------- the envelope


if TYPE_CHECKING:
    AnyBody = Struct  # to narrow so long a union, case by case, took half of all type checking
else:
    AnyBody = Body


class Fact(Struct, frozen=True, kw_only=True):
    """Something to be added to a stream. `cause` is the id of the event that led to it."""

    id: str
    at: datetime
    actor: str
    body: AnyBody
    cause: str = ""


class Event(Struct, frozen=True, kw_only=True):
    """A fact in the ledger. `seq` counts from 1 in its stream; `hash` covers everything before."""

    stream: str
    seq: int
    id: str
    at: datetime
    actor: str
    cause: str
    body: AnyBody
    hash: str = ""

    @property
    def kind(self) -> str:
        """The body's name, such as "room.heard"."""
        return kind_of(self.body)


def kind_of(body: Struct) -> str:
    """The name of a body's or an act's type, such as "room.heard" or "say"."""
    tag = type(body).__struct_config__.tag
    assert isinstance(tag, str)
    return tag


GENESIS = "0" * 64
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_encoder = msgspec.json.Encoder(enc_hook=encode_stored)


def epoch_micros(moment: datetime) -> int:
    """Microseconds since 1970, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def from_epoch_micros(micros: int) -> datetime:
    """The UTC time that many microseconds after 1970."""
    return _EPOCH + timedelta(microseconds=micros)


def encode_body(body: AnyBody) -> bytes:
    """The body as it is stored and hashed: JSON in the order of its fields. Needs refs filled."""
    return _encoder.encode(body)


def decode_body(stored: bytes | str) -> AnyBody:
    """A body as it was stored; private Words have their ref and no text yet."""
    body: AnyBody = _body_decoder().decode(stored)
    return body


@cache
def _body_decoder() -> msgspec.json.Decoder[AnyBody]:
    """Made where a body is first read: to go through all kinds of them takes milliseconds."""
    return msgspec.json.Decoder(Body, dec_hook=decode_stored)


def chain_hash(
    previous: str, stream: str, seq: int, id: str, at: int, actor: str, cause: str, body: bytes
) -> str:
    """The hash of an event over the one before it. `at` in microseconds; 64 hex digits."""
    head = "\x1f".join((previous, stream, str(seq), id, str(at), actor, cause)).encode()
    return hashlib.sha256(head + b"\x1e" + body).hexdigest()
