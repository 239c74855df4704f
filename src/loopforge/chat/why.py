"""Why: the flight record of one turn, gathered from the ledger.

What called it and how strongly, what it was shown and what was withheld, what it asked and what it
was answered word for word, its plan, the guard's verdicts, tools, cost, times, and whether it all
arrived. Nothing is computed again: everything here was stored when it happened.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from loopforge.core.delivery import Accepted, Attempting, Failed, PutOff, Queued
from loopforge.core.events import (
    Answered,
    Asked,
    Called,
    Event,
    Judged,
    Perceived,
    Piece,
    Planned,
    Returned,
    TurnEnded,
)
from loopforge.core.perception import Line
from loopforge.core.room import Heard, Noted, Said, ToolUsed, TurnDropped, Weighed, Weight
from loopforge.errors import Unknown
from loopforge.runtime.ports import Ledger
from loopforge.runtime.record import lines_of, pieces_of

BEHIND = 400
"""How many events before a turn are searched for what called it."""


@dataclass
class Exchange:
    """One request of a turn and what became of it."""

    asked: Asked | Called
    prompt: tuple[Piece, ...] = ()
    answered: Answered | Returned | None = None


@dataclass
class Record:
    """Everything the ledger holds about one turn."""

    began: Event
    shown: Perceived
    lines: tuple[Line | str, ...]
    caller: Event | None = None
    weight: Weight | None = None
    exchanges: list[Exchange] = field(default_factory=list)
    planned: Planned | None = None
    judged: Judged | None = None
    ended: Event | None = None
    said: list[Event] = field(default_factory=list)
    deliveries: list[tuple[str, str]] = field(default_factory=list)


async def turn_of(ledger: Ledger, event: Event) -> str:
    """The turn that an event belongs to. Raises Unknown for one that belongs to none."""
    if isinstance(event.body, Perceived):
        return event.id
    turn: str = getattr(event.body, "turn", "")
    if turn:
        return turn
    if isinstance(event.body, Queued):
        return await turn_of(ledger, await ledger.event(event.body.of))
    raise Unknown(
        f"Event {event.id} ({event.kind}) is no part of a turn. Ask why about a mate's line, "
        "or about a person's line to see who weighed it."
    )


async def gather(ledger: Ledger, id: str) -> Record:
    """The record of the turn that this event belongs to. Raises Unknown."""
    event = await ledger.event(id)
    began = await ledger.event(await turn_of(ledger, event))
    assert isinstance(began.body, Perceived)
    record = Record(began, began.body, await lines_of(ledger, began))
    await _behind(ledger, record)
    asked: dict[int, Exchange] = {}
    ids: set[str] = set()
    for later in await ledger.read(began.stream, after=began.seq):
        body = later.body
        if getattr(body, "turn", "") == began.id:
            await _add(ledger, record, asked, later)
            ids.add(later.id)
        elif isinstance(body, Queued) and body.of in ids:
            ids.add(later.id)
            record.deliveries.append((body.surface, "queued"))
        elif isinstance(body, Attempting | Accepted | PutOff | Failed) and body.delivery in ids:
            record.deliveries.append(("", _delivery(body)))
        elif record.ended and later.seq > record.ended.seq + BEHIND:
            break
    record.exchanges = [asked[nth] for nth in sorted(asked)]
    return record


async def _behind(ledger: Ledger, record: Record) -> None:
    """What came before the turn: the line that called it, and how it was weighed."""
    body, began = record.shown, record.began
    if body.line:
        try:
            record.caller = await ledger.event(body.line)
        except Unknown:
            record.caller = None
    before = await ledger.read(
        began.stream, before=began.seq, kinds=("room.weighed",), limit=BEHIND, newest=True
    )
    for event in before:
        if isinstance(event.body, Weighed):
            for weight in event.body.weights:
                if weight.mate == body.mate and weight.line == body.line:
                    record.weight = weight


async def _add(ledger: Ledger, record: Record, asked: dict[int, Exchange], event: Event) -> None:
    body = event.body
    match body:
        case Asked():
            asked[body.nth] = Exchange(body, await pieces_of(ledger, event))
        case Called():
            asked[body.nth] = Exchange(body)
        case Answered() | Returned():
            if body.nth in asked:
                asked[body.nth].answered = body
        case Planned():
            record.planned = body
        case Judged():
            record.judged = body
        case TurnEnded():
            record.ended = event
        case Said() | Noted() | ToolUsed():
            record.said.append(event)
        case _:
            pass


def _delivery(body: Attempting | Accepted | PutOff | Failed) -> str:
    match body:
        case Attempting(nth=nth):
            return f"attempt {nth}"
        case Accepted(message_id=message):
            return f"accepted ({message})"
        case PutOff(why=why):
            return f"put off: {why}"
        case Failed(why=why):
            return f"failed: {why}"


# ---------------------------------------------------------------- as text


def told(record: Record) -> str:
    """The record as plain text: for people first, and complete below."""
    parts = [
        _headline(record),
        _section("Why it spoke", _cause(record)),
        _section("What it was shown", _shown(record)),
        _section("How it came to that", _plan(record)),
        *(_section(f"Request {x.asked.nth}", _exchange(x)) for x in record.exchanges),
        _section("What it cost", _cost(record)),
        _section("Delivery", _arrival(record)),
    ]
    return "\n\n".join(part for part in parts if part)


def _section(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    return "\n".join([f"── {title} ──", *lines])


def _headline(record: Record) -> str:
    mate, at = record.shown.mate, record.began.at
    said = [str(event.body.text) for event in record.said if isinstance(event.body, Said)]
    head = f"{mate}, {at:%Y-%m-%d %H:%M:%S} UTC, turn {record.began.id}"
    if said:
        return f"{head}\n“{' / '.join(said)}”"
    end = record.ended.body if record.ended else None
    if isinstance(end, TurnEnded):
        return f"{head}\nIt said nothing ({end.outcome}{_because(str(end.why))})."
    return f"{head}\nThis turn is still going on, or was broken off."


def _because(why: str) -> str:
    return f": {why}" if why else ""


def _cause(record: Record) -> list[str]:
    lines = []
    if record.caller is not None and isinstance(record.caller.body, Heard | Said):
        body = record.caller.body
        who = body.mate if isinstance(body, Said) else "a person"
        lines.append(f"It was called ({record.shown.summons}) by {who}: “{body.text}”")
    if record.weight is not None:
        weight = record.weight
        reasons = ", ".join(f"{name} {points:+d}" for name, points in weight.reasons.items())
        lines.append(f"Score {weight.score} of 100 → {weight.verdict}. {reasons}")
    if record.shown.step:
        lines.append(f"This was step {record.shown.step + 1} of a chain.")
    return lines


def _shown(record: Record) -> list[str]:
    shown = record.shown
    count = sum(isinstance(line, Line) for line in record.lines)
    about = f"about {shown.tokens} tokens; policy {shown.policy}; mate file {shown.mind}"
    lines = [f"{count} lines, {about}"]
    if not shown.edits:
        lines.append("Nothing was withheld.")
    for edit in shown.edits:
        many = f"{edit.count} " if edit.count else ""
        lines.append(f"{edit.kind}: {many}{edit.what} (by the {edit.by}: {edit.why})")
    return [*lines, f"perception: {shown.shown}"]


def _plan(record: Record) -> list[str]:
    if record.planned is None:
        return ["There is no plan."]
    planned = record.planned
    rule = f", following the rule “{planned.rule}”" if planned.rule else ""
    lines = [f"Mode: {planned.mode}{rule}", f"Narrative: {planned.narrative}"]
    try:
        acts = json.loads(str(planned.plan)).get("acts", [])
    except ValueError:
        acts = []
        lines.append(f"Plan: {planned.plan}")
    verdicts = record.judged.verdicts if record.judged else ()
    for place, act in enumerate(acts):
        verdict = verdicts[place] if place < len(verdicts) else None
        ruling = "not judged"
        if verdict is not None:
            ruling = "allowed" if verdict.allowed else f"refused ({verdict.rule})"
            ruling += _because(verdict.why)
        detail = {key: value for key, value in act.items() if key != "type"}
        lines.append(f"Act: {act.get('type')} {json.dumps(detail, ensure_ascii=False)} — {ruling}")
    return lines


def _exchange(exchange: Exchange) -> list[str]:
    if isinstance(exchange.asked, Called):
        called, returned = exchange.asked, exchange.answered
        lines = [f"Tool {called.tool} {called.arguments}"]
        if isinstance(returned, Returned):
            lines.append(f"{returned.outcome}: {returned.value}")
        return lines
    asked, answered = exchange.asked, exchange.answered
    aloud = "aloud" if asked.aloud else "quietly"
    lines = [f"Asked {aloud} to {asked.purpose}, at most {asked.max_tokens} tokens. The prompt:"]
    for piece in exchange.prompt:
        lines.append(f"  [{piece.role}] {''.join(map(str, piece.words))}")
    if asked.schema:
        lines.append(f"  (the answer must fit {asked.schema})")
    if not isinstance(answered, Answered):
        return [*lines, "No answer is recorded."]
    lines.append(f"{answered.model or 'No model'} {answered.outcome}, word for word:")
    lines.append(f"  {answered.text}")
    if answered.parsed:
        lines.append(f"  parsed: {answered.parsed}")
    if len(answered.attempts) > 1 or answered.fallback:
        for attempt in answered.attempts:
            detail = _because(str(attempt.detail))
            lines.append(f"  tried {attempt.model}: {attempt.outcome}, {attempt.took} ms{detail}")
    lines += [f"  heard meanwhile: {heard.who}: {heard.text}" for heard in answered.heard]
    return lines


def _cost(record: Record) -> list[str]:
    answers = [x.answered for x in record.exchanges if isinstance(x.answered, Answered)]
    read = sum(answer.usage.read for answer in answers)
    cached = sum(answer.usage.cached for answer in answers)
    written = sum(answer.usage.written for answer in answers)
    costs = [float(answer.usage.cost) for answer in answers if answer.usage.cost]
    cost = f"${sum(costs):.6f}" if costs else "no price known"
    lines = [f"Tokens: {read} read (of them {cached} cached), {written} written; cost: {cost}"]
    times = [f"{answer.purpose} {answer.took} ms" for answer in _timed(record)]
    if times:
        lines.append("Times: " + ", ".join(times))
    if record.ended:
        whole = (record.ended.at - record.began.at).total_seconds() * 1000
        lines.append(f"From perception to the end: {whole:.0f} ms")
    return lines


@dataclass
class _Timed:
    purpose: str
    took: int


def _timed(record: Record) -> list[_Timed]:
    return [
        _Timed(x.asked.purpose, x.answered.took)
        for x in record.exchanges
        if isinstance(x.asked, Asked) and isinstance(x.answered, Answered)
    ]


def _arrival(record: Record) -> list[str]:
    if not record.deliveries:
        return []
    return [" → ".join(f"{s} {what}".strip() for s, what in record.deliveries)]


# ---------------------------------------------------------------- a person's line


async def weighed(ledger: Ledger, event: Event) -> str:
    """For a line of a person: who weighed it, and what came of that."""
    assert isinstance(event.body, Heard)
    lines = [f"A person said: “{event.body.text}”"]
    dropped: dict[str, str] = {}
    for later in await ledger.read(
        event.stream, after=event.seq, kinds=("room.weighed", "room.turn_dropped"), limit=BEHIND
    ):
        body = later.body
        if isinstance(body, TurnDropped) and body.line == event.id:
            dropped[body.mate] = body.why
        if isinstance(body, Weighed):
            for weight in body.weights:
                if weight.line == event.id:
                    reasons = ", ".join(f"{n} {p:+d}" for n, p in weight.reasons.items())
                    lines.append(
                        f"{weight.mate}: score {weight.score} → {weight.verdict}. {reasons}"
                    )
    lines += [f"{mate} took no turn: {why}." for mate, why in dropped.items()]
    if len(lines) == 1:
        lines.append("Nobody has weighed it yet; it may be gathered with the lines that follow it.")
    return "\n".join(lines)


async def why(ledger: Ledger, id: str) -> str:
    """The answer to "why?" about any event, as plain text. Raises Unknown."""
    event = await ledger.event(id)
    if isinstance(event.body, Heard):
        return await weighed(ledger, event)
    return told(await gather(ledger, id))
