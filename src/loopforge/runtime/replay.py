"""Replay: feed a recorded exchange to a policy and see whether it does the same.

Pure but for reading the record. Used for two things: going on with a turn after a crash, and
`loopforge turn replay`, which reports the same plan or the first divergence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from loopforge.core.events import Answered, Asked, Called, Event, Piece, Returned
from loopforge.core.perception import AgentPerception, Picture
from loopforge.core.plan import AgentActionPlan
from loopforge.core.policy import All, Answer, Ask, Call, Policy, Reply, Request, Result, Thinking
from loopforge.core.rows import laid_out
from loopforge.core.words import FORGOTTEN, Words, mended
from loopforge.runtime.ports import Ledger
from loopforge.runtime.record import pieces_of


@dataclass(frozen=True, slots=True)
class Said:
    """One recorded request (as text to compare) and its reply, None while it was in flight."""

    request: str
    reply: Answer | Result | None
    erased: bool = False
    idempotent: bool = True


@dataclass(frozen=True, slots=True)
class Same:
    """The policy returned a plan after using the record up to its end."""

    plan: AgentActionPlan


@dataclass(frozen=True, slots=True)
class Diverged:
    """The policy did something else than what is recorded at request `nth`."""

    nth: int
    recorded: str
    now: str


@dataclass(frozen=True, slots=True)
class Gone:
    """Part of the record was forgotten, so that request `nth` cannot be compared."""

    nth: int


@dataclass(frozen=True, slots=True)
class Onward:
    """The record ends here: the policy waits for `request`; `nth` is the next free number.

    Of its parts, by place: `asked` are recorded as begun, `replies` as ended; `flying` are tool
    calls that were in flight and may or may not have happened.
    """

    thinking: Thinking
    request: Request
    nth: int
    asked: frozenset[int] = frozenset()
    replies: dict[int, Answer | Result] = field(default_factory=dict)
    flying: frozenset[int] = frozenset()


def described(request: Ask | Call) -> str:
    """A request as text: equal texts are equal requests."""
    if isinstance(request, Call):
        return f"call {request.tool} {as_json(request.arguments)}"
    head = f"ask {request.purpose}, {request.max_tokens} tokens, aloud={request.aloud}"
    schema = as_json(request.schema) if request.schema else ""
    body = "\n".join(
        f"[{message.role}] {message.text}{_seen(message.pictures)}" for message in request.messages
    )
    return f"{head}\n{schema}\n{body}"


def _seen(pictures: Sequence[Picture]) -> str:
    return "".join(f"\n[picture {one.name}: {one.media}, {one.hash}]" for one in pictures)


def as_json(value: object) -> str:
    """A value as it stands in the record: as JSON, the same for the same value."""
    return msgspec.json.encode(value, order="sorted").decode()


async def exchange_of(ledger: Ledger, events: Sequence[Event]) -> tuple[Said, ...]:
    """The recorded exchange of one turn, from its events, by number of request."""
    replies: dict[int, Answer | Result] = {}
    erased: set[int] = set()
    for event in events:
        body = event.body
        if isinstance(body, Answered):
            replies[body.nth] = _answer(body)
        elif isinstance(body, Returned):
            replies[body.nth] = Result(body.outcome, str(body.value), body.heard)  # type: ignore[arg-type]
        if isinstance(body, Answered | Returned) and FORGOTTEN in _texts(body):
            erased.add(body.nth)
    said: dict[int, Said] = {}
    for event in events:
        body = event.body
        if isinstance(body, Asked):
            pieces = await pieces_of(ledger, event)
            gone = any(words.text is None for piece in pieces for words in _of_piece(piece))
            said[body.nth] = Said(
                _recorded_ask(body, pieces), replies.get(body.nth), gone or body.nth in erased
            )
        elif isinstance(body, Called):
            said[body.nth] = Said(
                f"call {body.tool} {body.arguments}",
                replies.get(body.nth),
                body.arguments.text is None or body.nth in erased,
                body.idempotent,
            )
    return tuple(said[nth] for nth in sorted(said))


def _of_piece(piece: Piece) -> tuple[Words, ...]:
    """Every text that a message of a prompt rests on."""
    return (*piece.words, *(words for one in piece.pictures for words in (one.name, one.hash)))


def _texts(body: Answered | Returned) -> tuple[str, ...]:
    words = (body.text, body.parsed) if isinstance(body, Answered) else (body.value,)
    return tuple(FORGOTTEN if word.text is None else "" for word in words)


def _answer(body: Answered) -> Answer:
    data = msgspec.json.decode(body.parsed.text) if body.parsed.text else None
    return Answer(
        body.outcome,  # type: ignore[arg-type]
        mended(str(body.text)),
        data,
        body.model,
        body.fallback,
        body.heard,
        body.cut,
        body.small,
    )


def _recorded_ask(body: Asked, pieces: tuple[Piece, ...]) -> str:
    head = f"ask {body.purpose}, {body.max_tokens} tokens, aloud={body.aloud}"
    lines = "\n".join(
        f"[{piece.role}] {laid_out(piece.words, piece.layout)}{_seen(piece.pictures)}"
        for piece in pieces
    )
    return f"{head}\n{body.schema}\n{lines}"


def replay(
    policy: Policy, perception: AgentPerception, exchange: Sequence[Said]
) -> Same | Diverged | Gone | Onward:
    """Run the policy on the record as far as the record goes."""
    thinking = policy(perception)
    used = 0
    reply: Reply | None = None
    while True:
        try:
            request = next(thinking) if reply is None else thinking.send(reply)
        except StopIteration as stop:
            if used < len(exchange):
                return Diverged(used + 1, exchange[used].request, "(returned a plan)")
            return Same(stop.value)
        parts = request.requests if isinstance(request, All) else (request,)
        recorded = exchange[used : used + len(parts)]
        for place, (part, said) in enumerate(zip(parts, recorded, strict=False)):
            if said.erased:
                return Gone(used + place + 1)
            if said.request != described(part):
                return Diverged(used + place + 1, said.request, described(part))
        replies = {place: said.reply for place, said in enumerate(recorded) if said.reply}
        if len(replies) < len(parts):
            flying = frozenset(
                place
                for place, said in enumerate(recorded)
                if said.reply is None and not said.idempotent
            )
            asked = frozenset(range(len(recorded)))
            return Onward(thinking, request, used + 1, asked, replies, flying)
        used += len(parts)
        reply = tuple(replies.values()) if isinstance(request, All) else replies[0]
