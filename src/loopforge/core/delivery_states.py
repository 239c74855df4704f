r"""Delivery: what became of one outgoing thing, as a table. `sent_to_viewer` means accepted.

    queued --Attempting--> attempting --Accepted--> accepted
      ^                        |  |\--Failed(final)--> failed
       \-------PutOff---------/   \---Uncertain-----> uncertain

The delivery's id is the id of its Queued event; a platform's nonce derives from it, so that a
second attempt after a crash is recognised as the same thing. Where a platform knows no nonce and
cannot be asked what is there, an attempt that broke off is uncertain: it is never made again.
"""

import hashlib
from typing import Literal

from msgspec import Struct

from loopforge.core.text.erasable_text import Words, public_words

State = Literal["queued", "attempting", "accepted", "failed", "uncertain"]
What = Literal["line", "reaction", "file", "reminder", "approval", "edit", "deletion"]

TABLE: dict[State, dict[str, State]] = {
    "queued": {"delivery.attempting": "attempting", "delivery.accepted": "accepted"},
    "attempting": {
        "delivery.attempting": "attempting",
        "delivery.accepted": "accepted",
        "delivery.failed": "failed",
        "delivery.put_off": "queued",
        "delivery.uncertain": "uncertain",
    },
    "accepted": {},
    "failed": {},
    "uncertain": {},
}
"""From a state, by an event's kind, to the next state. What is not here cannot happen."""


class Queued(Struct, frozen=True, tag="delivery.queued", kw_only=True):
    """Something is to go out to `surface`; `of` is the event that holds it."""

    surface: str
    of: str
    what: What = "line"


class Attempting(Struct, frozen=True, tag="delivery.attempting", kw_only=True):
    """It is being sent, for the nth time; written before the wire is touched."""

    delivery: str
    nth: int


class Accepted(Struct, frozen=True, tag="delivery.accepted", kw_only=True):
    """The surface took it and gave it `message_id`; several, with spaces between, if it is cut."""

    delivery: str
    message_id: str


class PutOff(Struct, frozen=True, tag="delivery.put_off", kw_only=True):
    """An attempt failed and will be made again."""

    delivery: str
    why: Words = public_words("")


class Failed(Struct, frozen=True, tag="delivery.failed", kw_only=True):
    """It will never arrive; the mate and the person are told."""

    delivery: str
    why: Words = public_words("")


class Uncertain(Struct, frozen=True, tag="delivery.uncertain", kw_only=True):
    """It may have arrived or not, and nobody can find out; it is not sent again."""

    delivery: str
    why: Words = public_words("")


IN_DOUBT = "?"
"""In place of a message that nobody knows to stand: its posting broke off."""


class Drafted(Struct, frozen=True, tag="delivery.drafted", kw_only=True):
    """What a mate is saying in `turn` stands on the surface already, as `message_id`.

    The line itself will take its place; a draft whose turn says nothing is taken away ("").
    IN_DOUBT: it may stand there.
    """

    turn: str
    surface: str
    message_id: str


DeliveryEvent = Queued | Attempting | Accepted | PutOff | Failed | Uncertain | Drafted


def nonce(delivery: str, part: int = 0) -> str:
    """The idempotency key of a delivery: 24 hex digits, the same after every restart.

    Things that go out in several parts have one for each.
    """
    name = f"{delivery}/{part}" if part else delivery
    return hashlib.sha256(name.encode()).hexdigest()[:24]
