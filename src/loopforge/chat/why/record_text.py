"""Why: a flight record as plain text, for a terminal and the command line.

The story first, then everything. Nothing is computed again: what stands here was stored when it
happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, tzinfo

from loopforge.chat.turns.turn_trace import turn_of
from loopforge.chat.why.flight_record import (
    AskedStep,
    Calling,
    Flight,
    Intended,
    LineRecord,
    SpokenPart,
    TurnRecord,
)
from loopforge.chat.why.plain_summary import many, story
from loopforge.chat.why.record_building import gather
from loopforge.ledger.table_access import Readable

__all__ = ["told", "turn_of", "why"]


async def why(ledger: Readable, id: str) -> str:
    """The answer to "why?" about any event, as plain text. Raises Unknown."""
    return told(await gather(ledger, id))


def told(record: Flight, zone: tzinfo = UTC) -> str:
    """The record as plain text: for people first, and complete below."""
    if isinstance(record, LineRecord):
        return "\n".join(_line(record))
    parts = [
        _headline(record),
        record.withheld,
        "\n".join(story(record, zone)),
        _section("Why it spoke", _cause(record)),
        _section("What it was shown", _shown(record)),
        _section("How it came to that", _plan(record)),
        *(_section(f"Request {one.nth}", _request(one)) for one in record.requests),
        _section("What it cost", _cost(record)),
        _section("What came of it", _deeds(record)),
        _section("Delivery", _arrival(record)),
        _section("When", [f"{moment.after:+7d} ms  {moment.what}" for moment in record.timeline]),
        _section("Its chain, and again", _chain(record)),
    ]
    return "\n\n".join(part for part in parts if part)


def _section(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    return "\n".join([f"── {title} ──", *lines])


def _headline(record: TurnRecord) -> str:
    head = f"{record.name}, {record.at:%Y-%m-%d %H:%M:%S} UTC, turn {record.turn}"
    if record.said:
        return f"{head}\n“{' / '.join(deed.text for deed in record.said)}”"
    if record.outcome:
        return f"{head}\nIt said nothing ({record.outcome}{_because(record.why)})."
    return f"{head}\nThis turn is still going on, or was broken off."


def _because(why: str) -> str:
    return f": {why}" if why else ""


def _cause(record: TurnRecord) -> list[str]:
    lines = []
    if caller := record.caller:
        who = caller.who or "a person"
        since = _since(caller.changed)
        lines.append(f"It was called ({record.summons}) by {who}: “{caller.text}”{since}")
    for one in record.candidates:
        reasons = ", ".join(f"{reason.name} {reason.points:+d}" for reason in one.reasons)
        whose = "" if one.mate == record.mate else f"{one.name}: "
        lines.append(f"{whose}Score {one.score} of 100 → {one.verdict}. {reasons}")
    if own := record.own:
        lines += [f"  {reason.name}: {reason.meaning}" for reason in own.reasons]
    if record.step:
        lines.append(f"This was step {record.step + 1} of a chain.")
    return lines


def _shown(record: TurnRecord) -> list[str]:
    shown = record.shown
    about = f"about {shown.tokens} tokens; policy {record.policy}; mate file {record.mind}"
    lines = [f"{many(shown.spoken, 'line')}, {about}"]
    if not shown.edits:
        lines.append("Nothing was withheld.")
    for edit in shown.edits:
        count = f"{edit.count} " if edit.count else ""
        lines.append(f"{edit.kind}: {count}{edit.what} (by the {edit.by}: {edit.why})")
    if shown.purge:
        gone = many(shown.purge.lines, "line")
        lines.append(f"{gone} had to go: {shown.purge.before} → {shown.purge.after} tokens")
    lines += [f"  {_spoken(line)}" for line in shown.lines]
    return [*lines, f"perception: {shown.rest}"]


def _spoken(line: SpokenPart) -> str:
    who = f"{line.who}: " if line.who else ""
    meant = f" ({line.mode}: {line.narrative})" if line.narrative else ""
    return f"{line.at:5} {line.kind}: {who}{line.text}{meant}{_since(line.changed)}"


def _since(changed: str) -> str:
    return f" ({changed} since)" if changed else ""


def _plan(record: TurnRecord) -> list[str]:
    intent = record.intent
    if intent is None:
        return ["There is no plan."]
    rule = f", following the rule “{intent.rule}”" if intent.rule else ""
    lines = [f"Mode: {intent.mode}{rule}", f"Narrative: {intent.narrative}"]
    lines += [f"Act: {act.act} {act.detail} — {_ruling(act)}" for act in intent.acts]
    if not intent.acts:
        lines.append(f"Plan: {intent.plan}")
    return [*lines, *(f"Odd: {note}" for note in intent.notes)]


def _ruling(act: Intended) -> str:
    if not act.judged:
        return "not judged"
    if act.allowed:
        return f"allowed. {act.why}" if act.why else "allowed"
    refuses = f" The rule refuses {act.refuses}." if act.refuses else ""
    return f"refused ({act.rule}){_because(act.why)}{refuses}"


def _request(one: AskedStep | Calling) -> list[str]:
    lines = _calling(one) if isinstance(one, Calling) else _asking(one)
    return [*lines, *(f"  heard meanwhile: {heard.who}: {heard.text}" for heard in one.heard)]


def _calling(one: Calling) -> list[str]:
    lines = [f"Tool {one.tool} {one.arguments}"]
    if one.outcome:
        lines.append(f"{one.outcome} after {one.took} ms: {one.value}")
    return lines


def _asking(one: AskedStep) -> list[str]:
    aloud = "aloud" if one.aloud else "quietly"
    lines = [f"Asked {aloud} to {one.purpose}, at most {one.max_tokens} tokens. The prompt:"]
    lines += [f"  [{message.role}] {message.text}" for message in one.prompt]
    if one.schema:
        lines.append(f"  (the answer must fit {one.schema})")
    if not one.outcome:
        return [*lines, "No answer is recorded."]
    lines.append(f"{one.model or 'No model'} {one.outcome}, word for word:")
    lines.append(f"  {one.text}")
    if one.parsed:
        lines.append(f"  parsed: {one.parsed}")
    if one.mended:
        lines.append(f"  not as it was asked for: {'; '.join(one.mended)}")
    for tried in one.tried:
        detail = _because(tried.detail)
        lines.append(f"  tried {tried.model}: {tried.outcome}, {tried.took} ms{detail}")
    return lines


def _cost(record: TurnRecord) -> list[str]:
    bill = record.bill
    cost = f"${bill.cost}" if bill.cost else "no price known"
    tokens = f"{bill.read} read (of them {bill.cached} cached), {bill.written} written"
    lines = [f"Tokens: {tokens}; cost: {cost}"]
    times = [
        f"{one.purpose} {one.took} ms (first token {one.first} ms)"
        for one in record.requests
        if isinstance(one, AskedStep) and one.outcome
    ]
    if times:
        lines.append("Times: " + ", ".join(times))
    if record.outcome:
        lines.append(f"From perception to the end: {bill.took} ms")
    return lines


def _deeds(record: TurnRecord) -> list[str]:
    return [f"{deed.kind}: {deed.text}" for deed in record.deeds]


def _arrival(record: TurnRecord) -> list[str]:
    return [
        f"{one.where} " + " → ".join(_stage(s.what, s.detail) for s in one.stages)
        for one in record.deliveries
    ]


def _stage(what: str, detail: str) -> str:
    return f"{what} ({detail})" if detail else what


def _chain(record: TurnRecord) -> list[str]:
    lines = [f"The step before: {record.before}"] if record.before else []
    lines += [f"The step after: {record.after}"] if record.after else []
    return [*lines, f"Replay it: {record.replay}"]


# ---------------------------------------------------------------- a person's line


def _line(record: LineRecord) -> Iterator[str]:
    yield f"{record.who or 'A person'} said: “{record.text}”{_since(record.changed)}"
    if record.withheld:
        yield record.withheld
    for one in record.candidates:
        reasons = ", ".join(f"{reason.name} {reason.points:+d}" for reason in one.reasons)
        yield f"{one.mate}: score {one.score} → {one.verdict}. {reasons}"
        if one.outcome:
            turn = f" (turn {one.turn})" if one.turn else ""
            yield f"  It {one.outcome}{turn}."
    if record.gathered:
        more = many(record.gathered, "line")
        yield f"It was weighed as one with the {more} that followed at once."
    if record.state == "stopped":
        yield "A stop came before anybody had weighed it."
    elif record.state == "waiting":
        yield "Nobody has weighed it yet; it may be gathered with the lines that follow it."
