r"""Delivery: what became of one outgoing thing, as a table. `sent_to_viewer` means accepted.

    queued --Attempting--> attempting --Accepted--> accepted
      ^                        |  \--Failed(final)--> failed
       \-------PutOff---------/

The delivery's id is the id of its Queued event; a platform's nonce derives from it, so that a
second attempt after a crash is recognised as the same thing.
"""

from __future__ import annotations

import hashlib
from typing import Literal

from msgspec import Struct

from loopforge.core.words import Words, public

State = Literal["queued", "attempting", "accepted", "failed"]

TABLE: dict[State, dict[str, State]] = {
    "queued": {"delivery.attempting": "attempting", "delivery.accepted": "accepted"},
    "attempting": {
        "delivery.attempting": "attempting",
        "delivery.accepted": "accepted",
        "delivery.failed": "failed",
        "delivery.put_off": "queued",
    },
    "accepted": {},
    "failed": {},
}
"""From a state, by an event's kind, to the next state. What is not here cannot happen."""


class Queued(Struct, frozen=True, tag="delivery.queued", kw_only=True):
    """Something is to go out to `surface`; `of` is the event that holds it."""

    surface: str
    of: str
    what: Literal["line", "reaction", "file", "reminder", "approval"] = "line"


class Attempting(Struct, frozen=True, tag="delivery.attempting", kw_only=True):
    """It is being sent, for the nth time; written before the wire is touched."""

    delivery: str
    nth: int


class Accepted(Struct, frozen=True, tag="delivery.accepted", kw_only=True):
    """The surface took it and gave it `message_id`."""

    delivery: str
    message_id: str


class PutOff(Struct, frozen=True, tag="delivery.put_off", kw_only=True):
    """An attempt failed and will be made again."""

    delivery: str
    why: Words = public("")


class Failed(Struct, frozen=True, tag="delivery.failed", kw_only=True):
    """It will never arrive; the mate and the person are told."""

    delivery: str
    why: Words = public("")


DeliveryEvent = Queued | Attempting | Accepted | PutOff | Failed


def nonce(delivery: str) -> str:
    """The idempotency key of a delivery: 24 hex digits, the same after every restart."""
    return hashlib.sha256(delivery.encode()).hexdigest()[:24]
