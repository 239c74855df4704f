"""Replay: feed a recorded exchange to a policy and see whether it does the same.

Pure but for reading the record. Used for two things: going on with a turn after a crash, and
`loopforge turn replay`, which reports the same plan or the first divergence.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.effect_states import EffectProposed
from loopforge.core.events import Event
from loopforge.core.limits.turn_bounds import MOST_REQUESTS
from loopforge.core.perception import AgentPerception, Picture
from loopforge.core.policy import Answer, Ask, Call, Policy, Result
from loopforge.core.text.erasable_text import Words, replace_lone_surrogates
from loopforge.core.text.prompt_rows import laid_out
from loopforge.core.turn_events import Answered, Asked, Called, Returned, TextPiece
from loopforge.runtime.mind_containment import (
    MindFailed,
    MindReturned,
    Parts,
    Replies,
    as_json,
    copy_perception,
    drive,
    plan_of,
)
from loopforge.runtime.ports import Ledger
from loopforge.runtime.turn_record import pieces_of


@dataclass(frozen=True, slots=True)
class ReplaySaid:
    """One recorded request (as text to compare) and its reply, None while it was in flight.

    `effect` is the id of what a call came to.
    """

    request: str
    reply: Answer | Result | None
    erased: bool = False
    effect: str = ""


@dataclass(frozen=True, slots=True)
class ReplaySame:
    """The policy returned a plan, as it stands written, once the record was used up."""

    plan: AgentActionPlan
    written: str


@dataclass(frozen=True, slots=True)
class ReplayDiverged:
    """The policy did something else than what is recorded at request `nth`."""

    nth: int
    recorded: str
    now: str


@dataclass(frozen=True, slots=True)
class ReplayErased:
    """Part of the record was forgotten, so that request `nth` cannot be compared."""

    nth: int


@dataclass(frozen=True, slots=True)
class ReplayOnward:
    """The record ends in the request that begins with number `nth`.

    Of its parts, by place: `asked` are recorded as begun, `replies` as ended.
    """

    nth: int
    asked: frozenset[int] = frozenset()
    replies: dict[int, Answer | Result] = field(default_factory=dict)


def request_text(request: Ask | Call) -> str:
    """A request as text: equal texts are equal requests."""
    if isinstance(request, Call):
        return f"call {request.tool} {as_json(request.arguments)}"
    texts = [(message.role, message.text, message.pictures) for message in request.messages]
    return _question(request, as_json(request.schema) if request.schema else "", texts)


def _question(
    asked: Ask | Asked, schema: object, texts: Iterable[tuple[str, str, Sequence[Picture]]]
) -> str:
    head = f"ask {asked.purpose}, {asked.max_tokens} tokens, aloud={asked.aloud}"
    body = "\n".join(f"[{role}] {text}{_seen(pictures)}" for role, text, pictures in texts)
    return f"{head}\n{schema}\n{body}"


def _seen(pictures: Sequence[Picture]) -> str:
    return "".join(f"\n[picture {one.name}: {one.media}, {one.hash}]" for one in pictures)


async def exchange_of(ledger: Ledger, events: Sequence[Event]) -> tuple[ReplaySaid, ...]:
    """The recorded exchange of one turn, from its events, by number of request."""
    replies: dict[int, Answer | Result] = {}
    erased: set[int] = set()
    for event in events:
        body = event.body
        if isinstance(body, Answered):
            replies[body.nth] = _answer(body)
        elif isinstance(body, Returned):
            value = str(body.value)
            replies[body.nth] = Result(body.outcome, value, body.heard, body.left, body.bound)  # type: ignore[arg-type]
        if isinstance(body, Answered | Returned) and _forgotten(body):
            erased.add(body.nth)
    said: dict[int, ReplaySaid] = {}
    for event in events:
        body = event.body
        if isinstance(body, Asked):
            pieces = await pieces_of(ledger, event)
            gone = any(words.text is None for piece in pieces for words in _of_piece(piece))
            texts = [(one.role, laid_out(one.words, one.layout), one.pictures) for one in pieces]
            said[body.nth] = ReplaySaid(
                _question(body, body.schema, texts),
                replies.get(body.nth),
                gone or body.nth in erased,
            )
        elif isinstance(body, EffectProposed) and body.within:
            continue  # a program wanted it, not the mind
        elif isinstance(body, EffectProposed | Called):
            said[body.nth] = ReplaySaid(
                f"call {body.tool} {body.arguments}",
                replies.get(body.nth),
                body.arguments.text is None or body.nth in erased,
                event.id if isinstance(body, EffectProposed) else "",
            )
    return tuple(said[nth] for nth in sorted(said))


def _of_piece(piece: TextPiece) -> tuple[Words, ...]:
    """Every text that a message of a prompt rests on."""
    return (*piece.words, *(words for one in piece.pictures for words in (one.name, one.hash)))


def _forgotten(body: Answered | Returned) -> bool:
    words = (body.text, body.parsed) if isinstance(body, Answered) else (body.value,)
    return any(word.text is None for word in words)


def _answer(body: Answered) -> Answer:
    data = msgspec.json.decode(body.parsed.text) if body.parsed.text else None
    return Answer(
        body.outcome,  # type: ignore[arg-type]
        replace_lone_surrogates(str(body.text)),
        data,
        body.model,
        body.fallback,
        body.heard,
        body.cut,
        body.small,
    )


class ExchangeReplay:
    """A record that a mind is driven over, as far as the record goes."""

    def __init__(self, exchange: Sequence[ReplaySaid]) -> None:
        self._exchange, self._used = exchange, 0

    def take(self, parts: Parts) -> Replies | ReplayDiverged | ReplayErased | ReplayOnward:
        """The recorded replies to a request, or why there are none."""
        used, self._used = self._used, self._used + len(parts)
        recorded = self._exchange[used : used + len(parts)]
        for nth, (part, said) in enumerate(zip(parts, recorded, strict=False), used + 1):
            if said.erased:
                return ReplayErased(nth)
            if said.request != request_text(part):
                return ReplayDiverged(nth, said.request, request_text(part))
        replies = {place: said.reply for place, said in enumerate(recorded) if said.reply}
        if len(replies) < len(parts):
            return ReplayOnward(used + 1, frozenset(range(len(recorded))), replies)
        return tuple(replies.values())

    def ended(self, made: MindReturned) -> ReplaySame | ReplayDiverged | MindFailed:
        """What it means that the mind returned this now."""
        if self._used < len(self._exchange):
            return ReplayDiverged(
                self._used + 1, self._exchange[self._used].request, "(returned a plan)"
            )
        plan = plan_of(made.value)
        return plan if isinstance(plan, MindFailed) else ReplaySame(*plan)


async def replay_exchange(
    policy: Policy, perception: AgentPerception, exchange: Sequence[ReplaySaid]
) -> ReplaySame | ReplayDiverged | ReplayErased | ReplayOnward | MindFailed:
    """Run the policy on the record as far as the record goes; nothing is awaited in this."""
    playback, most = ExchangeReplay(exchange), max(MOST_REQUESTS, len(exchange))

    async def perform(
        _nth: int, parts: Parts
    ) -> Replies | ReplayDiverged | ReplayErased | ReplayOnward:
        return playback.take(parts)

    found: MindReturned | MindFailed | ReplayDiverged | ReplayErased | ReplayOnward = await drive(
        lambda: policy(copy_perception(perception)), perform, most
    )
    if isinstance(found, MindReturned):
        return playback.ended(found)
    return found
