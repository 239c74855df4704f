"""Events: the envelope of every fact, and what can stand in each kind of stream.

A Fact is what somebody wants to add to a stream; id and time are given by the runtime, never by
the fact itself. An Event is a Fact that the ledger has accepted: it has a sequence number and a
hash that chains over the event before it.

Knows nothing of databases. The order of bytes that are hashed is `chain_hash`, and nowhere else.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from loopforge.core.delivery_states import DeliveryEvent
from loopforge.core.effect_states import EffectEvent
from loopforge.core.factory_vocabulary import LabEvent
from loopforge.core.home_events import HomeEvent, PlatformEvent
from loopforge.core.memory.memory_vocabulary import MemoryEvent
from loopforge.core.people_events import MateEvent, PeopleEvent
from loopforge.core.room_vocabulary import RoomEvent
from loopforge.core.schedule.reminder_events import ReminderEvent, TimeChosen
from loopforge.core.text.erasable_text import decode_stored, encode_stored
from loopforge.core.turn_events import TurnEvent
from loopforge.core.work.watch_events import WatchEvent
from loopforge.core.work.work_vocabulary import ThreadEvent, WorkEvent


class Erased(Struct, frozen=True, tag="ledger.erased", kw_only=True):
    """Texts were forgotten on a person's wish; `refs` are the digests that have no text now."""

    refs: tuple[str, ...]
    by: str
    why: str = ""


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
