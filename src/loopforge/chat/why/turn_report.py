"""The account of a turn: what it asked, planned, did and spent, and whether it arrived.

Each function makes one part of a flight record out of a trace, every text seen through the veil.
Nothing is read here, and nothing of what was decided is decided again; only what is odd about a
plan is noted by the guard afresh.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from loopforge.chat.why.flight_record import (
    ActKind,
    ActRecord,
    AskedStep,
    ModelTry,
    PlannedAct,
    Prompt,
    RecordedCall,
    RecordedDelivery,
    RecordedPlan,
    RecordMoment,
    RecordStage,
    SpokenPart,
    TurnCost,
)
from loopforge.chat.why.redaction import RecordRedaction
from loopforge.chat.why.turn_trace import TurnTrace, thing_of
from loopforge.chat.why.unproven_claims import unproven_claims
from loopforge.core.act_guard import RULES, plan_oddities
from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.delivery_states import Accepted, Attempting, Failed, PutOff, Queued, Uncertain
from loopforge.core.effect_states import (
    EffectApproved,
    EffectEnd,
    EffectProposed,
    EffectRunning,
)
from loopforge.core.events import Event
from loopforge.core.limits.budget_limits import explain_budget_note
from loopforge.core.limits.money_amounts import dollars_from_picos, picos_from_dollars
from loopforge.core.model_trouble import (
    UNREACHED,
    cause_to_report,
    explain_attempt,
    explain_no_answer,
)
from loopforge.core.perception import Line
from loopforge.core.room_vocabulary import (
    LineEdited,
    Marked,
    MemoryAsked,
    Noted,
    Reacted,
    Said,
    Titled,
    ToolUsed,
)
from loopforge.core.text.prompt_rows import NAME, PLAIN, QUOTE, TEXT, laid_out
from loopforge.core.text.spoken_lists import seconds_in_words
from loopforge.core.turn_events import (
    Answered,
    Asked,
    Attempt,
    Called,
    Judged,
    Planned,
    Returned,
    TextPiece,
    TurnEnded,
    Verdict,
)
from loopforge.errors import BadPlan
from loopforge.runtime.effects.nested_calls import TOLD

# ---------------------------------------------------------------- lines and prompts


def redact_line(line: Line | str, view: RecordRedaction) -> SpokenPart:
    """A line as the mate saw it, as far as the reader may."""
    if isinstance(line, str):
        return SpokenPart(kind="told", text=view.text(line))
    if marker := view.marker(line.text, line.id):
        return SpokenPart(kind=line.kind, text=marker, hidden=True)
    return SpokenPart(
        kind=line.kind,
        text=view.line(line.text) if line.kind in _PUBLIC else view.words(line.text),
        who=view.who(line.who),
        id=line.id,
        seq=view.seqs.get(line.id, 0),
        at=line.at,
        mode=line.mode,
        narrative=view.words(line.narrative),
        kept=line.kept,
        changed=view.changed(line.id),
    )


_PUBLIC = ("heard", "said", "mine", "told", "file")
"""Kinds of lines that everybody in the room saw."""


def prompt(pieces: tuple[TextPiece, ...], view: RecordRedaction) -> tuple[Prompt, ...]:
    """The messages of a prompt to the letter; who said a line that is withheld goes with it."""
    return tuple(Prompt(role=piece.role, text=_message_text(piece, view)) for piece in pieces)


def _message_text(piece: TextPiece, view: RecordRedaction) -> str:
    parts: list[tuple[str, str]] = []
    row: int | None = None
    for words, form in zip(piece.words, piece.layout or PLAIN * len(piece.words), strict=True):
        if form in (NAME, QUOTE) and row is None:
            row = len(parts)
        if marker := view.marker(words):
            if form in (TEXT, PLAIN):
                parts = _without_head(parts, row)
            if [text for text, _ in parts[-2:]] == [marker, "\n"]:
                parts.pop()
                continue
            parts.append((marker, PLAIN))
        else:
            known = words.ref in view.unknown
            parts.append((view.who(words) if known else view.words(words), form))
        row = None if form == TEXT else row
    parts += [(f"\n[picture: {view.words(one.name)}]", PLAIN) for one in piece.pictures]
    return laid_out([text for text, _ in parts], "".join(form for _, form in parts))


def _without_head(parts: list[tuple[str, str]], row: int | None) -> list[tuple[str, str]]:
    """What stands before a text that is withheld, without who said it.

    Records of before rows were laid out have a name, a colon and the text.
    """
    if row is not None:
        return parts[:row]
    return parts[:-2] if len(parts) > 1 and parts[-1][0] == ": " else parts


# ---------------------------------------------------------------- requests


def recorded_requests(
    found: TurnTrace, view: RecordRedaction
) -> tuple[AskedStep | RecordedCall, ...]:
    """Every question to a model and every call of a tool, in order; one that was repeated, once."""
    asked = {
        e.body.nth: e
        for e in found.events
        if isinstance(e.body, Asked | Called | EffectProposed) and not getattr(e.body, "within", "")
    }
    ends = {e.body.nth: e.body for e in found.events if isinstance(e.body, Answered | Returned)}
    made: list[AskedStep | RecordedCall] = []
    for nth, event in sorted(asked.items()):
        if isinstance(event.body, Asked):
            pieces = prompt(found.prompts[event.id], view)
            made.append(_asked_step(event.body, pieces, ends.get(nth), view))
        elif isinstance(event.body, Called | EffectProposed):
            stages = [each for each in found.events if thing_of(each) == event.id]
            made.append(_recorded_call(event.body, stages, ends.get(nth), view))
            made += _inner_calls(found, event, view)
    return tuple(made)


def _inner_calls(found: TurnTrace, program: Event, view: RecordRedaction) -> Iterator[RecordedCall]:
    """The calls that a program made, in order."""
    for event in found.events:
        body = event.body
        if isinstance(body, EffectProposed) and body.within == program.id:
            stages = [each for each in found.events if thing_of(each) == event.id]
            called = _recorded_call(body, stages, None, view)
            yield replace(called, within=program.body.tool)  # type: ignore[attr-defined]


End = Answered | Returned | None


def _asked_step(
    body: Asked, pieces: tuple[Prompt, ...], answered: End, view: RecordRedaction
) -> AskedStep:
    asked: dict[str, Any] = {
        "nth": body.nth,
        "purpose": body.purpose,
        "prompt": pieces,
        "aloud": body.aloud,
        "field": body.field,
        "schema": str(body.schema),
        "max_tokens": body.max_tokens,
    }
    if not isinstance(answered, Answered):
        return AskedStep(**asked)
    cause = cause_to_report(one.cause for one in answered.attempts)
    return AskedStep(
        **asked,
        outcome=answered.outcome,
        trouble=explain_no_answer(cause) if cause and answered.outcome in UNREACHED else "",
        model=answered.model,
        fallback=answered.fallback,
        text=view.words(answered.text),
        parsed=view.words(answered.parsed),
        mended=answered.mended,
        attempts=tuple(
            ModelTry(
                model=one.model,
                outcome=one.outcome,
                took=one.took,
                detail=_detail_of(one, view),
            )
            for one in answered.attempts
        ),
        read=sum(one.read for one in answered.usages),
        cached=sum(one.cached for one in answered.usages),
        written=sum(one.written for one in answered.usages),
        cost=_total_cost(one.cost for one in answered.usages),
        budget=answered.budget,
        first=answered.first,
        took=answered.took,
        heard=tuple(redact_line(line, view) for line in answered.heard),
    )


def _detail_of(one: Attempt, view: RecordRedaction) -> str:
    """Why a try came to nothing, as far as the reader may; and for how long it would."""
    error = explain_attempt(one.outcome, one.cause, str(one.detail))
    told = view.words(one.detail) if view.owner else error
    left = f"it asked to be left alone for {seconds_in_words(one.wait)}" if one.wait else ""
    return "; ".join(filter(None, (told, left)))


FIRST_ACT = 1000
"""From this number on, before there were effects, a call was an act of the plan."""


def _recorded_call(
    body: EffectProposed | Called, stages: Sequence[Event], returned: End, view: RecordRedaction
) -> RecordedCall:
    called: dict[str, Any] = {
        "nth": body.nth,
        "tool": body.tool,
        "arguments": view.words(body.arguments),
        "planned": body.nth >= FIRST_ACT,
        "idempotent": body.idempotent,
    }
    called |= {"stages": tuple(_recorded_stage(event, view) for event in stages)}
    end = stages[-1].body if stages else None
    if isinstance(end, EffectEnd):
        called |= {"outcome": TOLD[type(end)], "value": view.words(end.value)}
    if not isinstance(returned, Returned):
        return RecordedCall(**called)
    told = {"outcome": returned.outcome, "value": view.words(returned.value)}
    return RecordedCall(
        **(told | called),
        deferred=returned.outcome == "deferred",
        took=returned.took,
        heard=tuple(redact_line(line, view) for line in returned.heard),
    )


def _recorded_stage(event: Event, view: RecordRedaction) -> RecordStage:
    body = event.body
    by = str(getattr(body, "by", ""))
    said_yes = "somebody who was asked" if by.startswith("person:") else by
    detail = view.words(body.value) if isinstance(body, EffectEnd) else said_yes
    return RecordStage(what=event.kind.partition(".")[2], at=event.at, detail=detail)


# ---------------------------------------------------------------- the plan


def recorded_plan(found: TurnTrace, view: RecordRedaction) -> RecordedPlan | None:
    """The plan with the guard's verdicts, and what is odd about it; None without a plan."""
    planned, judged = found.told(Planned), found.told(Judged)
    if planned is None:
        return None
    verdicts = judged.verdicts if judged else ()
    plan = _read_plan(planned.plan.text or "")
    acts = plan.get("acts", [])
    return RecordedPlan(
        intent=planned.intent,
        mode=planned.mode,
        narrative=view.words(planned.narrative),
        rule=view.words(planned.rule),
        plan=view.words(planned.plan),
        acts=tuple(
            _planned_act(act, verdicts[nth] if nth < len(verdicts) else None, view)
            for nth, act in enumerate(acts)
        ),
        notes=(*_plan_notes(plan), *_unproven_claims(found, view)),
    )


def _read_plan(written: str) -> dict[str, Any]:
    try:
        plan = json.loads(written)
    except (ValueError, RecursionError):
        return {}
    return plan if isinstance(plan, dict) else {}


def _plan_notes(plan: dict[str, Any]) -> tuple[str, ...]:
    try:
        return tuple(plan_oddities(AgentActionPlan.from_dict(plan)))
    except BadPlan:
        return ()


def _unproven_claims(found: TurnTrace, view: RecordRedaction) -> Iterator[str]:
    """What it says it did and did not; a turn that goes on after a result has that to speak of."""
    if any(isinstance(line, Line) and line.kind == "result" for line in found.lines[-1:]):
        return iter(())
    said = [view.line(e.body.text, e.id) for e in found.events if isinstance(e.body, Said)]
    return unproven_claims(found.events, said)


def _planned_act(act: dict[str, Any], verdict: Verdict | None, view: RecordRedaction) -> PlannedAct:
    fields = {name: value for name, value in act.items() if name != "type"}
    detail = view.text(json.dumps(fields, ensure_ascii=False)) if fields else ""
    kind = str(act.get("type", ""))
    if verdict is None:
        return PlannedAct(act=kind, detail=detail, judged=False)
    rule = RULES.get(verdict.rule)
    return PlannedAct(
        act=kind,
        detail=detail,
        allowed=verdict.allowed,
        rule=verdict.rule,
        refuses=rule.refuses if rule else "",
        why=verdict.why,
    )


def recorded_acts(found: TurnTrace, view: RecordRedaction) -> tuple[ActRecord, ...]:
    """What came of it in the room."""
    return tuple(deed for event in found.events if (deed := _act_record(event, view)))


def _act_record(event: Event, view: RecordRedaction) -> ActRecord | None:
    kind: ActKind
    match event.body:
        case Said(text=text):
            kind, told = "said", view.line(text, event.id)
        case LineEdited(text=text) as body:
            kind, told = "written down" if body.transcribed else "said anew", view.words(text)
        case Noted(text=text):
            kind, told = "noted", view.words(text)
        case MemoryAsked(want=want, text=text):
            kind, told = "kept" if want == "keep" else "let go", view.words(text)
        case Reacted(emoji=emoji):
            kind, told = "reacted", emoji
        case ToolUsed(tool=tool, outcome=outcome, value=value):
            kind, told = "tool", f"{tool} {outcome}: {view.words(value)}"
        case Marked(mark=mark):
            kind, told = "marked", mark
        case Titled(title=title):
            kind, told = "titled", view.words(title)
        case _:
            return None
    return ActRecord(kind=kind, text=told, id=event.id, seq=event.seq)


# ---------------------------------------------------------------- arriving


def recorded_deliveries(found: TurnTrace, view: RecordRedaction) -> tuple[RecordedDelivery, ...]:
    """What became of everything that was to go out."""
    return tuple(
        _delivery_record(event, event.body, found, view)
        for event in found.events
        if isinstance(event.body, Queued)
    )


def _delivery_record(
    began: Event, queued: Queued, found: TurnTrace, view: RecordRedaction
) -> RecordedDelivery:
    stages, state = [RecordStage(what="queued", at=began.at)], "queued"
    for event in found.events:
        if thing_of(event) != began.id:
            continue
        match event.body:
            case Attempting(nth=nth):
                state, detail = "attempting", f"attempt {nth}"
            case Accepted(message_id=message):
                state, detail = "accepted", message
            case PutOff(why=why):
                state, detail = "put off", view.words(why)
            case Failed(why=why):
                state, detail = "failed", view.words(why)
            case Uncertain(why=why):
                state, detail = "uncertain", view.words(why)
            case _:
                continue
        stages.append(RecordStage(what=state, at=event.at, detail=detail))
    return RecordedDelivery(
        surface=queued.surface, what=queued.what, of=queued.of, state=state, stages=tuple(stages)
    )


# ---------------------------------------------------------------- cost and time


def sum_turn_cost(found: TurnTrace, asked: tuple[AskedStep | RecordedCall, ...]) -> TurnCost:
    """What it took."""
    answers = [one for one in asked if isinstance(one, AskedStep) and one.outcome]
    costs = [one.cost for one in answers]
    costs += [
        str(e.body.cost) for e in found.events if isinstance(e.body, Returned) and e.body.cost
    ]
    notes = [one.budget for one in answers if one.budget]
    ended = [event for event in found.events if isinstance(event.body, TurnEnded)]
    took = (ended[-1].at - found.began.at).total_seconds() if ended else 0.0
    return TurnCost(
        questions=sum(isinstance(one, AskedStep) for one in asked),
        read=sum(one.read for one in answers),
        cached=sum(one.cached for one in answers),
        written=sum(one.written for one in answers),
        cost=_total_cost(costs),
        budget=explain_budget_note(notes[-1]) if notes else "",
        first=answers[0].first if answers else 0,
        took=round(took * 1000),
    )


def _total_cost(costs: Iterable[str]) -> str:
    """Dollars in plain digits, of those whose price is known; "" where none is."""
    known = [picos_from_dollars(one) for one in costs if one]
    return dollars_from_picos(sum(one or 0 for one in known)) if known else ""


def turn_timeline(found: TurnTrace, name: str) -> tuple[RecordMoment, ...]:
    """What happened when, from the line that called to the last delivery; `name` is the mate's."""
    events = [e for e in (found.weighed, found.began, *found.events) if e]
    moments = []
    for event in sorted(events, key=lambda event: event.seq):
        if what := _describe_event(event, found, name):
            after = round((event.at - found.began.at).total_seconds() * 1000)
            moments.append(RecordMoment(at=event.at, after=after, what=what))
    return tuple(moments)


def _describe_event(event: Event, found: TurnTrace, name: str) -> str:
    match event.body:
        case Asked(purpose=purpose, nth=nth):
            return f"question {nth} went out ({purpose})"
        case Answered(nth=nth, outcome=outcome):
            return f"question {nth}: {outcome}"
        case Called(tool=tool) | EffectProposed(tool=tool):
            return f"the tool {tool} was called"
        case EffectRunning():
            return "the tool began"
        case EffectApproved():
            return "it was allowed"
        case body if isinstance(body, EffectEnd):
            return f"the tool was done: {event.kind.partition('.')[2]}"
        case Returned(outcome=outcome):
            return f"the tool came back: {outcome}"
        case Planned():
            return "the plan stood"
        case Judged():
            return "the guard had judged it"
        case Attempting(delivery=id, nth=nth):
            return f"sending to the {_surface_of(found, id)}, attempt {nth}"
        case Accepted(delivery=id):
            return f"it arrived: {_surface_of(found, id)}"
        case PutOff(delivery=id):
            return f"put off: {_surface_of(found, id)}"
        case Failed(delivery=id):
            return f"it will not arrive: {_surface_of(found, id)}"
        case Uncertain(delivery=id):
            return f"nobody knows whether it arrived: {_surface_of(found, id)}"
        case TurnEnded(outcome=outcome):
            return f"the turn was over: {outcome}"
        case Said():
            return f"{name} said it"
        case LineEdited() as body:
            if body.transcribed:
                return "what is said in the voice note stood in its line"
            return f"{name} said it in place of what it had said"
        case Noted():
            return f"{name} made a note"
        case MemoryAsked(want=want):
            return f"{name} {'keeps something' if want == 'keep' else 'lets something go'}"
        case Reacted():
            return f"{name} reacted"
        case ToolUsed() | Marked() | Titled() | Queued():
            return ""
        case _:
            if event is found.weighed:
                return "the line was weighed"
            return f"{name} looked at the {'task' if event.stream.startswith('task:') else 'room'}"


def _surface_of(found: TurnTrace, delivery: str) -> str:
    queued = (e.body for e in found.events if e.id == delivery and isinstance(e.body, Queued))
    return next((body.surface for body in queued), "")
