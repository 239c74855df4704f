"""A flight record as text: a few plain sentences for people who are no programmers, and the whole.

    why_story(record, clock(zone))   paragraphs, each a list of sentences that belong together
    why_record_as_text(record)       that story, then everything, as record.txt lays it out

Every sentence says one thing that stands in the record; what is not recorded is not told, and
nothing is computed again: what stands here was stored when it happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from loopforge.chat.speaking.room_rules import SCREEN
from loopforge.chat.why.flight_record import (
    AskedStep,
    Flight,
    LineRecord,
    RecordedCall,
    RecordedDelivery,
    SpeakerCandidate,
    TurnRecord,
)
from loopforge.core.model_trouble import OUTCOMES
from loopforge.core.text.spoken_lists import join_as_prose, pluralize

if TYPE_CHECKING:
    from jinja2 import Template

SUMMONS = {
    "mention": "called {name} with an @",
    "reply": "replied to something {name} had said",
    "name": "called {name} by name",
    "default": "spoke to mates and named none, and {name} is the one who answers that here",
    "greeting": "came in where nobody had spoken yet, and {name} greets those who do",
    "again": "was to be said anew, for a person wanted another answer of {name}",
    "more": "was to be gone on from, for a person wanted more of {name}",
    "silence": "was the last for so long that {name} was woken, to speak up or not",
    "hour": "was the last before an hour at which {name} is woken, to speak up or not",
    "alone": "could only be meant for {name}, the one mate here with the one person",
}
UNCALLED = {
    "title": "The room wanted a name for this conversation, so it sat down and thought of one.",
    "transcript": "A line came with a voice note, so the room had what is said in it written down.",
    "triage": "{name} was given a task, and looked at what kind of task it is.",
    "task": "{name} was at work on a task, and took its next turn.",
    "reflect": "{name} looked back on how a task had gone.",
}
"""Turns for which nobody called, and in which nothing is said."""
CALLS: dict[str, str] = {
    "": "wants {tool}, which is not done",
    "returned": "used {tool}, which returned",
    "failed": "used {tool}, which failed",
    "refused": "wanted {tool}, which was not used",
    "deferred": "used {tool}, which goes on",
    "unknown": "used {tool}, and nobody knows whether that happened",
    "timed_out": "wanted {tool}, to which nobody said yes in time",
    "cancelled": "wanted {tool}, which was stopped",
}
"""What came of a use of a tool, by its outcome."""
Clock = Callable[[datetime], str]
PURPOSES = {
    "decide": "whether it has anything to say",
    "talk": "what to say",
    "account": "how it came to say that",
    "plan": "what it means to say",
    "critique": "what is wrong with that",
    "final": "what it says in the end",
    "tool": "what to give the tool that fits",
    "title": "what this conversation is about",
    "notes": "what is worth keeping",
    "triage": "what kind of task it is",
    "options": "how it could be done",
    "consolidate": "what to make of that",
    "work": "what to do next",
    "answer": "what to answer",
    "write": "what to write",
    "reflect": "what is to be learnt from it",
    "transcript": "what is said in a voice note",
}


def why_story(record: Flight, told: Clock) -> list[str]:
    """The paragraphs of the story; times are given by this clock."""
    if isinstance(record, LineRecord):
        return [part for part in (_heard(record, told), *_answers(record)) if part]
    within = chain(_seen(record), _thought(record))
    parts = (_cause(record, told), within, _mind(record), _end(record))
    return [paragraph for part in parts if (paragraph := " ".join(part))]


def clock(zone: tzinfo) -> Clock:
    """Tells the time of day there, "14:03"."""
    return lambda at: at.astimezone(zone).strftime("%H:%M")


def span(ms: int) -> str:
    """A span of time in words: "40 ms", "1.2 seconds", "2 minutes 5 seconds"."""
    if ms < 1000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} seconds"
    minutes, seconds = divmod(round(ms / 1000), 60)
    return f"{pluralize(minutes, 'minute')} {pluralize(seconds, 'second')}"


# ---------------------------------------------------------------- a turn


def _cause(record: TurnRecord, told: Clock) -> Iterator[str]:
    name, own = record.name, record.own
    if uncalled := UNCALLED.get(record.summons):
        yield uncalled.format(name=name)
        return
    if record.summons == "continue":
        last = record.shown.lines[-1].kind if record.shown.lines else ""
        why = (
            "had used a tool, and now sees what came of that"
            if last == "result"
            else "had wished for another step, and the room let it"
        )
        yield f"This is step {record.step + 1} of a chain: {name} {why}."
        return
    called = SUMMONS.get(record.summons)
    line = _line(record, told)
    if called:
        yield f"{line} {called.format(name=name)}."
        if own and own.score >= 100:
            yield "That alone is reason enough: 100 of 100."
        elif own:
            yield f"That weighs {own.score} of 100 ({_reasons(own)})."
    else:
        yield f"Nobody called {name}."
        if own:
            yield f"{line} still gave it {own.score} of 100 points of cause ({_reasons(own)})."
            yield (
                "That is enough to speak up unasked."
                if own.verdict == "speak"
                else "That is not enough to speak up unasked, but enough to be asked whether it "
                "has anything to say."
            )
    yield from _rivals(record)


def _line(record: TurnRecord, told: Clock) -> str:
    caller = record.caller
    if caller is None:
        return "Somebody" if record.summons == "greeting" else "A line"
    if caller.hidden or caller.at is None:
        return "A line that you may not see"
    since = f" (it was {caller.changed} since)" if caller.changed else ""
    return f"{caller.who}’s line at {told(caller.at)}{since}"


def _reasons(one: SpeakerCandidate) -> str:
    return ", ".join(f"{reason.name} {reason.points:+d}" for reason in one.reasons) or "no reason"


def _rivals(record: TurnRecord) -> Iterator[str]:
    passed = [one.name for one in record.others if one.verdict == "pass"]
    rest = [one.name for one in record.others if one.verdict != "pass"]
    if rest:
        yield f"{join_as_prose(rest)} had cause to answer, too."
    if passed:
        yield (
            f"{join_as_prose(passed)} {'was' if len(passed) == 1 else 'were'} weighed and "
            "passed over."
        )


def _seen(record: TurnRecord) -> Iterator[str]:
    shown = record.shown
    withheld = [edit for edit in shown.edits if edit.kind == "withheld"]
    all_of = "and done in this task" if record.at_work else "in this conversation"
    whole = f", everything that was said {all_of}" if not shown.edits else ""
    if shown.spoken or not whole:
        yield f"{record.name} was shown {pluralize(shown.spoken, 'line')}{whole}."
    else:
        yield "Nothing had been said in this conversation yet."
    for edit in withheld:
        count = f"{edit.count:,} × " if edit.count > 1 else ""
        yield f"Not shown: {count}{edit.what}, because {edit.why}."
    if told := [one for one in shown.memory if not one.left]:
        yield f"It remembered {pluralize(len(told), 'thing')} from earlier."
    for edit in shown.edits:
        if edit.kind != "withheld":
            yield f"{edit.what.capitalize()} was {edit.kind} by the {edit.by}: {edit.why}."
    if shown.purge:
        gone = pluralize(shown.purge.lines, "line")
        yield f"Just before, {gone} had to go to make room for new ones."
    heard = sum(len(one.heard) for one in record.requests)
    if heard:
        yield f"While it thought, {pluralize(heard, 'more line')} came in and were put before it."


def _thought(record: TurnRecord) -> Iterator[str]:
    asked = [one for one in record.requests if isinstance(one, AskedStep)]
    if not asked:
        yield "It asked no language model."
    for model, questions in _by_model(asked):
        what = join_as_prose(PURPOSES.get(one.purpose, one.purpose) for one in questions)
        whom = f"the language model “{model}”" if model else "a language model"
        yield f"It asked {whom} {what}."
    for one in asked:
        if one.outcome == "cancelled":
            yield f"Question {one.nth} went wrong: a person said stop."
        elif trouble := one.trouble or OUTCOMES.get(one.outcome):
            yield f"Question {one.nth} went wrong: {trouble}."
        elif not one.outcome:
            yield f"To question {one.nth} no answer is recorded."
        if one.fallback:
            yield f"{one.model} answered in place of its usual model, which could not."
    for call in record.requests:
        if isinstance(call, RecordedCall):
            later = ", after it had gone on without it" if call.deferred and call.outcome else ""
            who = f"Its program in {call.within}" if call.within else "It"
            yield f"{who} {CALLS[call.outcome].format(tool=f'the tool {call.tool}')}{later}."


def _by_model(asked: Sequence[AskedStep]) -> Iterator[tuple[str, list[AskedStep]]]:
    models: dict[str, list[AskedStep]] = {}
    for one in asked:
        models.setdefault(one.model, []).append(one)
    yield from models.items()


def _mind(record: TurnRecord) -> Iterator[str]:
    intent = record.intent
    if intent is None:
        return
    if intent.mode == "guardrail" and intent.rule:
        yield f"It followed the rule “{intent.rule}”."
    elif intent.mode == "guardrail":
        yield "It says it followed a rule."
    else:
        yield "It followed no fixed rule; it weighed the situation."
    if intent.narrative:
        yield f"In its own words: “{intent.narrative}”"
    refused = [act for act in intent.acts if act.judged and not act.allowed]
    for act in refused:
        yield f"The guard refused its wish to {act.act.replace('_', ' ')}. {act.why}"
    if intent.acts and not refused and all(act.judged for act in intent.acts):
        yield "The guard had nothing against it."
    yield from (act.why for act in intent.acts if act.allowed and act.why)
    for note in intent.notes:
        yield f"Odd: {note[:1].lower()}{note[1:]}"


def _end(record: TurnRecord) -> Iterator[str]:
    if not record.outcome:
        yield "The turn is still going on, or was broken off."
    elif record.outcome == "done" and not record.deeds and record.summons not in UNCALLED:
        yield "In the end it said nothing."
    elif record.outcome != "done":
        why = f": {record.why.rstrip('.')}" if record.why else ""
        yield f"The turn was {_ENDED.get(record.outcome, record.outcome)}{why}."
    yield from _arrived(record)
    if record.bill.took:
        yield f"All of it took {span(record.bill.took)}{_price(record)}."


_ENDED = {"stopped": "stopped", "diverged": "broken off", "failed": "a failure"}


def _arrived(record: TurnRecord) -> Iterator[str]:
    lines = [one for one in record.deliveries if one.what == "line"]
    there = [_place(one) for one in lines if one.state == "accepted"]
    lost = [_place(one) for one in lines if one.state == "failed"]
    unsure = [_place(one) for one in lines if one.state == "uncertain"]
    if there:
        yield f"Its line arrived: {join_as_prose(dict.fromkeys(there))}."
    elif lines and not (lost or unsure):
        yield "It is not known yet whether anybody has seen its line."
    if lost:
        yield f"Its line did not arrive: {join_as_prose(dict.fromkeys(lost))}."
    if unsure:
        yield f"Nobody knows whether its line arrived: {join_as_prose(dict.fromkeys(unsure))}."


def _place(one: RecordedDelivery) -> str:
    return "a page or terminal of this home" if one.surface == SCREEN else one.where


def _price(record: TurnRecord) -> str:
    bill = record.bill
    if not bill.questions:
        return ""
    tokens = f", {bill.read:,} tokens read and {bill.written:,} written"
    if not bill.cost:
        return f"{tokens}; no price is known for them"
    return f"{tokens}, at no cost" if not float(bill.cost) else f"{tokens}, for ${bill.cost}"


# ---------------------------------------------------------------- a person's line


def _heard(record: LineRecord, told: Clock) -> str:
    said = f"{record.who} said this at {told(record.at)}."
    if record.changed == "edited":
        said += " It says something else by now: it was edited later."
    elif record.changed == "deleted":
        said += " It was deleted later, and its words are forgotten."
    match record.state:
        case "stopped":
            return f"{said} A stop came before any mate had weighed it, so nobody answers it."
        case "waiting":
            return (
                f"{said} Nobody has weighed it yet; it may be gathered with the lines that follow."
            )
        case "weighed" if not record.candidates:
            return f"{said} There was no mate who could have answered."
        case _:
            mates = pluralize(len(record.candidates), "mate")
            along = (
                f", together with {pluralize(record.gathered, 'more line')} that followed at once"
                if record.gathered
                else ""
            )
            return f"{said} It was weighed for {mates}{along}."


def _answers(record: LineRecord) -> Iterator[str]:
    passed = []
    for one in record.candidates:
        if one.verdict == "pass" and not one.outcome:
            passed.append(f"{one.name} ({one.score})")
            continue
        asked = " and was asked whether it had anything to say" if one.verdict == "ask" else ""
        came = f" It {one.outcome}." if one.outcome else ""
        yield f"{one.name} had {one.score} of 100 points of cause{asked}.{came}"
    if passed:
        yield f"Too little cause to speak: {join_as_prose(passed)}."


# ---------------------------------------------------------------- the whole


def why_record_as_text(record: Flight, zone: tzinfo = UTC) -> str:
    """The record as plain text: for people first, and complete below."""
    written = _layout().render(record=record, story=why_story(record, clock(zone)), many=pluralize)
    return written.removesuffix("\n")


@cache
def _layout() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(  # noqa: S701 - plain text, in which nothing is escaped
        loader=PackageLoader("loopforge.chat.why", ""),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return made.get_template("record.txt")
