"""Events: every body goes through the store's codec, and the chain covers every byte."""

from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.delivery_states import DeliveryEvent
from loopforge.core.events import (
    GENESIS,
    AnyBody,
    Body,
    Event,
    chain_hash,
    decode_body,
    encode_body,
    epoch_micros,
    from_epoch_micros,
    kind_of,
)
from loopforge.core.room_vocabulary import RoomEvent, Weight
from loopforge.core.text.erasable_text import Words, public_words, salted_digest
from loopforge.core.turn_events import TurnEvent

KINDS = get_args(Body)
texts = st.text(max_size=20)
refs = st.binary(min_size=2, max_size=2).map(lambda salt: salted_digest("x", salt))
stored_words = texts.map(public_words) | refs.map(lambda ref: Words("unspeakable", ref))
st.register_type_strategy(Words, stored_words)
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
st.register_type_strategy(
    Weight,  # a default that is made anew each time is more than Hypothesis can infer
    st.builds(
        Weight,
        mate=texts,
        line=texts,
        score=st.integers(0, 100),
        reasons=st.dictionaries(texts, st.integers(0, 100), max_size=3),
    ),
)
bodies = st.one_of(*(st.from_type(kind) for kind in KINDS))
moments = st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(bodies)
def test_every_body_survives_the_store(body: AnyBody) -> None:
    """What is encoded decodes to an equal body of the same type, and encodes the same again."""
    stored = encode_body(body)
    again = decode_body(stored)
    assert type(again) is type(body)
    assert again == body
    assert encode_body(again) == stored


@given(bodies)
def test_private_words_leave_no_trace_in_the_body(body: AnyBody) -> None:
    """The stored bytes hold refs of private words, never their text."""
    assert b'"unspeakable"' not in encode_body(body)


def test_every_kind_has_its_own_name() -> None:
    """Kinds are unique, and named after what they belong to."""
    names = [kind.__struct_config__.tag for kind in KINDS]
    assert len(set(names)) == len(names)
    for union, prefix in ((RoomEvent, "room."), (TurnEvent, "turn."), (DeliveryEvent, "delivery.")):
        assert all(kind.__struct_config__.tag.startswith(prefix) for kind in get_args(union))


def test_an_event_knows_its_kind() -> None:
    """`kind` is the body's tag."""
    body = decode_body(b'{"type":"room.opened","name":"commons"}')
    event = Event(
        stream="room:commons",
        seq=1,
        id="1",
        at=from_epoch_micros(0),
        actor="room",
        cause="",
        body=body,
    )
    assert event.kind == kind_of(body) == "room.opened"


@given(moments)
def test_times_are_exact_to_the_microsecond(at: datetime) -> None:
    """A time that is stored as microseconds comes back as it was."""
    assert from_epoch_micros(epoch_micros(at)) == at


LINK: dict[str, Any] = {
    "previous": GENESIS, "stream": "room:a", "seq": 1, "id": "e1", "at": 5, "actor": "room",
    "cause": "", "body": b"{}",
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("previous", "1" * 64), ("stream", "room:b"), ("seq", 2), ("id", "e2"), ("at", 6),
        ("actor", "mate:maya"), ("cause", "e0"), ("body", b"{} "),
    ],
)  # fmt: skip
def test_the_hash_covers_every_field(field: str, value: object) -> None:
    """Changing any one field changes the hash."""
    assert chain_hash(**LINK) != chain_hash(**{**LINK, field: value})
    assert len(chain_hash(**LINK)) == 64
