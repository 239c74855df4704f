"""Building a record: a trace, redacted, becomes a flight record.

    event id -> trace (what the ledger holds) -> veil (what this reader may see) -> record

`build_why_record` is for the machine's own people (a terminal, the command line), who see
everything; `build_redacted_record` for a reader with a Sight. To those, a turn that began while
they could not see the room does not exist; of one that they saw begin, events that they could not
see are left out.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from loopforge.chat.room.event_wording import platform_name
from loopforge.chat.room.member_visibility import EVERYTHING, MemberSight
from loopforge.chat.room.room_store import PREFIX
from loopforge.chat.speaking.triggers import BOUND, CROWD, ENOUGH, LEFT, REASONS
from loopforge.chat.why.flight_record import (
    CallingLine,
    Flight,
    LineRecord,
    Purge,
    RecalledPart,
    ShownEdit,
    ShownPrompt,
    SpeakerCandidate,
    TriggerReason,
    TurnRecord,
)
from loopforge.chat.why.line_trace import LineTrace, MateCourse, line_trace
from loopforge.chat.why.redaction import SOMEBODY, RecordRedaction, build_redaction, private_texts
from loopforge.chat.why.turn_report import (
    recorded_acts,
    recorded_deliveries,
    recorded_plan,
    recorded_requests,
    redact_line,
    sum_turn_cost,
    turn_timeline,
)
from loopforge.chat.why.turn_trace import TurnTrace, joined_people, thing_of, turn_trace
from loopforge.core.events import Event
from loopforge.core.perception import REMEMBERED, Line
from loopforge.core.room_vocabulary import (
    Heard,
    LineEdited,
    PlaceJoined,
    PlaceLeft,
    PlaceRenamed,
    Purged,
    Reacted,
    Said,
    TurnDropped,
    Weighed,
    Weight,
)
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.turn_events import Answered, Perceived, Returned, TurnEnded
from loopforge.errors import Unknown
from loopforge.ledger.storage.revised_lines import latest_revisions
from loopforge.ledger.table_access import ReadableLedger
from loopforge.runtime.ports import Ledger

Names = Mapping[str, str]
"""Mates' names by handle; one that is not there is called by its handle."""

HANDLES: Names = MappingProxyType({})
"""No names: everybody is called by their handle."""

Trace = TurnTrace | LineTrace
PLACES = ("room.place_joined", "room.place_left", "room.place_renamed")

MORE_REASONS = {
    BOUND: "a score lies between 0 and 100",
    CROWD: "enough others have more cause to speak",
    LEFT: "it is only spoken of, so it chooses itself whether to speak",
    ENOUGH: "the only person here is answered by another one",
    "silence": "nobody has spoken for as long as its file says",
    "hour": "it is an hour that its file names",
    "stopped": "a person had said stop",
    "answered already": "it had taken this line in and answered it already",
}


async def build_why_record(ledger: ReadableLedger, id: str, names: Names = HANDLES) -> Flight:
    """The record of the turn that an event belongs to, or of a person's line. Raises Unknown."""
    event = await ledger.event(id)
    if isinstance(event.body, Said) and event.cause and not event.body.mode:
        event = await ledger.event(event.cause)  # said of what goes on beside the room
    event = await _wording_event(ledger, event, EVERYTHING)
    found = await _trace_of(ledger, event)
    events, lines, _ = _texts_referred_to(found)
    ids = {line.id for line in lines} | {event.id for event in events}
    changes = await ledger.look(lambda tables: latest_revisions(tables, ids))
    return await _with_place_names(
        ledger, _record_of(found, RecordRedaction(changes=changes), names), EVERYTHING
    )


async def build_redacted_record(
    ledger: ReadableLedger,
    id: str,
    stream: str,
    sight: MemberSight,
    names: Names = HANDLES,
    *,
    owner: bool = False,
    beside: Collection[str] = (),
) -> Flight:
    """The record as a reader with this sight of the room's stream may see it.

    `beside` are other streams that they may see whole. `owner`: they are the owner of this home,
    who reads the errors of models as they came. Raises Unknown for what is not in this room, and
    for what they could not see, alike.
    """
    nothing = Unknown(f"There is no event {id!r} in this room.")
    try:
        event = await ledger.event(id)
    except Unknown:
        raise nothing from None
    if event.stream != stream or not sight.sees(event.seq):
        raise nothing
    event = await _wording_event(ledger, event, sight)
    found = await _trace_of(ledger, event)
    if isinstance(found, TurnTrace) and not sight.sees(found.began.seq):
        raise nothing
    events, lines, prompts = _texts_referred_to(found)
    view = await build_redaction(
        ledger, stream, sight, events, lines, prompts, found.presence, beside
    )
    view.owner = owner
    return await _with_place_names(ledger, _record_of(found, view, names), sight)


async def _with_place_names(ledger: Ledger, record: Flight, sight: MemberSight) -> Flight:
    """The record with the names of the places that things went to.

    A reader is told those that are part of the room now, and those that they saw become so.
    """
    if not isinstance(record, TurnRecord) or not any(":" in d.surface for d in record.deliveries):
        return record
    names: dict[str, str] = {}
    for event in await ledger.read(PREFIX + record.room, kinds=PLACES):
        match event.body:
            case PlaceJoined(place=place, name=name) if name.text:
                names[place] = f"{name.text} on {platform_name(place)}"
            case PlaceRenamed(place=place, name=name) if name.text and place in names:
                names[place] = f"{name.text} on {platform_name(place)}"
            case PlaceLeft(place=place) if not sight.sees(event.seq):
                names.pop(place, None)
    found = [replace(one, place=names.get(one.surface, "")) for one in record.deliveries]
    return replace(record, deliveries=tuple(found))


async def _wording_event(ledger: ReadableLedger, event: Event, sight: MemberSight) -> Event:
    """Of a mate's line, or of an edit of one, the event whose turn said what stands there."""
    body = event.body
    if isinstance(body, Said):
        found = (await ledger.look(lambda tables: latest_revisions(tables, [event.id]))).get(
            event.id
        )
        if found is None or found.deleted or not sight.sees(found.seq):
            return event
        edit = await ledger.event(found.event)
        return await _wording_event(ledger, edit, sight) if _is_anew(edit) else event
    if isinstance(body, LineEdited) and body.version:
        return await ledger.event(body.version)
    return event


def _is_anew(event: Event) -> bool:
    return isinstance(event.body, LineEdited) and event.body.anew


async def _trace_of(ledger: Ledger, event: Event) -> Trace:
    line = isinstance(event.body, Heard)
    return await (line_trace(ledger, event) if line else turn_trace(ledger, event))


def _texts_referred_to(found: Trace) -> tuple[list[Event], list[Line], list[Words]]:
    """Everything that a record refers to: events, lines, and the texts of prompts."""
    if isinstance(found, LineTrace):
        return [found.heard], [], []
    lines = [line for line in found.lines if isinstance(line, Line)]
    prompts: list[Words] = []
    for prompt in found.prompts.values():
        prompts += private_texts(list(prompt))
    for event in found.events:
        if isinstance(event.body, Answered | Returned):
            lines += event.body.heard
    return found.whole, lines, prompts


def _record_of(found: Trace, view: RecordRedaction, names: Names) -> Flight:
    if isinstance(found, LineTrace):
        return _line_record(_line_seen(found, view), view, names)
    return _turn_record(_turn_seen(found, view), view, names)


# ---------------------------------------------------------------- a turn


def _turn_seen(found: TurnTrace, view: RecordRedaction) -> TurnTrace:
    """The trace without the events that the reader could not see, and what came of those."""
    _hide_unseen(found, ("weighed", "purged", "before", "after"), view)
    found.events = [event for event in found.events if view.sees(event)]
    began = {event.id for event in found.events}
    found.events = [e for e in found.events if not (of := thing_of(e)) or of in began]
    return found


def _hide_unseen(found: Trace | MateCourse, names: Sequence[str], view: RecordRedaction) -> None:
    """Let go of these events of it, as far as the reader could not see them."""
    for name in names:
        event = getattr(found, name)
        if event is not None and not view.sees(event):
            setattr(found, name, None)


def _turn_record(found: TurnTrace, view: RecordRedaction, names: Names) -> TurnRecord:
    began, shown = found.began, found.shown
    ended = found.told(TurnEnded)
    asked = recorded_requests(found, view)
    record = TurnRecord(
        turn=began.id,
        room=began.stream.removeprefix(PREFIX),
        seq=began.seq,
        at=began.at,
        mate=shown.mate,
        name=names.get(shown.mate) or _own_name(shown),
        mind=shown.mind,
        policy=shown.policy,
        summons=shown.summons,
        step=shown.step,
        shown=_shown_prompt(found, view),
        caller=_calling_line(found, view, names),
        candidates=_speaker_candidates(found.weighed, shown.line, names),
        requests=asked,
        intent=recorded_plan(found, view),
        deeds=recorded_acts(found, view),
        outcome=ended.outcome if ended else "",
        why=view.words(ended.why) if ended else "",
        bill=sum_turn_cost(found, asked),
        timeline=turn_timeline(found, names.get(shown.mate) or _own_name(shown)),
        deliveries=recorded_deliveries(found, view),
        before=found.before.id if found.before else "",
        after=found.after.id if found.after else "",
    )
    return replace(record, withheld=view.notice)


def _own_name(shown: Perceived) -> str:
    """The mate's name as it was told to itself."""
    try:
        return str(json.loads(shown.shown.text or "")["name"])
    except (ValueError, KeyError, TypeError):
        return shown.mate


def _shown_prompt(found: TurnTrace, view: RecordRedaction) -> ShownPrompt:
    shown: Perceived = found.shown
    purge = found.purged.body if found.purged else None
    return ShownPrompt(
        lines=tuple(redact_line(line, view) for line in found.lines if not _is_memory(line)),
        memory=tuple(_recalled_parts(found, view)),
        rest=view.words(shown.shown),
        character=view.words(shown.character),
        tokens=shown.tokens,
        edits=tuple(
            ShownEdit(
                kind=edit.kind,
                what=edit.what,
                by=edit.by,
                why=edit.why,
                count=edit.count or len(edit.lines),
            )
            for edit in shown.edits
        ),
        purge=Purge(lines=len(purge.lines), before=purge.before, after=purge.after)
        if isinstance(purge, Purged) and purge.lines
        else None,
    )


def _is_memory(line: Line | str) -> bool:
    return isinstance(line, Line) and line.kind in REMEMBERED


def _recalled_parts(found: TurnTrace, view: RecordRedaction) -> Iterator[RecalledPart]:
    """What came to the mate from earlier: what it was shown, then what was left out."""
    noted = {one.of: one for one in found.shown.recalled}
    for line in found.lines:
        if not isinstance(line, Line) or line.kind not in REMEMBERED:
            continue
        marker, note = view.marker(line.text, line.id), noted.get(line.id)
        part = RecalledPart(
            id=line.id,
            text=marker or view.words(line.text),
            score=note.score if note else 0.0,
            parts=note.parts if note else (),
            standing=line.kind == "standing",
            hidden=bool(marker),
        )
        shown = replace(part, who=view.who(line.who), at=line.at, which=line.which)
        yield part if marker else shown
    for event in found.left:
        note, text = noted[event.id], getattr(event.body, "text", public_words(""))
        marker = view.marker(text, event.id)
        yield RecalledPart(
            id=event.id,
            text=marker or view.words(text),
            at=f"{event.at.day} {event.at:%B %Y}",
            score=note.score,
            parts=note.parts,
            left=note.left,
            hidden=bool(marker),
        )


def _calling_line(found: TurnTrace, view: RecordRedaction, names: Names) -> CallingLine | None:
    event = found.caller
    if event is None or not isinstance(event.body, Heard | Said):
        return None
    body = event.body
    mate = body.mate if isinstance(body, Said) else ""
    hidden = bool(view.marker(body.text, event.id))
    return CallingLine(
        id="" if hidden else event.id,
        seq=0 if hidden else event.seq,
        at=None if hidden else event.at,
        who=SOMEBODY
        if hidden
        else names.get(mate, mate) or _person_name(found.presence, event, view),
        mate="" if hidden else mate,
        text=view.line(body.text, event.id),
        hidden=hidden,
        changed="" if hidden else view.changed(event.id),
    )


def _person_name(presence: Sequence[Event], event: Event, view: RecordRedaction) -> str:
    assert isinstance(event.body, Heard)
    joined = joined_people(presence).get(event.body.person)
    return view.who(joined.name if joined else public_words("a person"))


# ---------------------------------------------------------------- weights


def _speaker_candidates(
    weighed: Event | None, line: str, names: Names
) -> tuple[SpeakerCandidate, ...]:
    """How every mate was weighed for a line, those with the most cause first."""
    weights = weighed.body.weights if weighed and isinstance(weighed.body, Weighed) else ()
    found = [_speaker_candidate(weight, names) for weight in weights if weight.line == line]
    return tuple(sorted(found, key=lambda one: -one.score))


def _speaker_candidate(weight: Weight, names: Names) -> SpeakerCandidate:
    return SpeakerCandidate(
        mate=weight.mate,
        name=names.get(weight.mate, weight.mate),
        score=weight.score,
        verdict=weight.verdict,
        summons=weight.summons,
        reasons=tuple(
            TriggerReason(name=name, points=points, meaning=meaning(name))
            for name, points in weight.reasons.items()
        ),
    )


def meaning(reason: str) -> str:
    """What a reason means, in words."""
    points = REASONS.get(reason)
    return points.meaning if points else MORE_REASONS.get(reason, "")


# ---------------------------------------------------------------- a person's line


def _line_seen(found: LineTrace, view: RecordRedaction) -> LineTrace:
    if found.weighed and not view.sees(found.weighed):
        found.weighed, found.courses = None, {}
    for course in found.courses.values():
        _hide_unseen(course, ("began", "said", "ended", "dropped", "reacted", "step"), view)
    return found


def _line_record(found: LineTrace, view: RecordRedaction, names: Names) -> LineRecord:
    heard = found.heard
    assert isinstance(heard.body, Heard)
    candidates = [
        replace(one, **_came_of(found.courses.get(one.mate)))
        for one in _speaker_candidates(found.weighed, found.weighed_as, names)
    ]
    record = LineRecord(
        id=heard.id,
        room=heard.stream.removeprefix(PREFIX),
        seq=heard.seq,
        at=heard.at,
        who=_person_name(found.presence, heard, view),
        text=view.line(heard.body.text),
        state="weighed" if found.weighed else "stopped" if found.stopped else "waiting",
        gathered=found.gathered if found.weighed else 0,
        candidates=tuple(candidates),
        changed=view.changed(heard.id),
    )
    return replace(record, withheld=view.notice)


def _came_of(course: MateCourse | None) -> dict[str, str]:
    """The turn that a mate took for a line, and what came of it, in words."""
    if course is None:
        return {}
    if course.took_in and course.ended and isinstance(course.ended.body, TurnEnded):
        turn = course.ended.body.turn
        return {"turn": turn, "outcome": "took it in during the turn it was in"}
    if course.dropped and isinstance(course.dropped.body, TurnDropped):
        return {"outcome": f"took no turn: {course.dropped.body.why}"}
    if course.began is None:
        return {"outcome": "has not taken its turn yet"}
    if course.said:
        outcome = "answered"
    elif course.reacted:
        outcome = "answered with a sign alone"
    elif course.ended is None:
        outcome = "is thinking"
    elif isinstance(course.ended.body, TurnEnded) and course.ended.body.outcome == "done":
        outcome = "said nothing"
    else:
        outcome = "was broken off"
    told = course.said or course.reacted
    turn = told.body.turn if told and isinstance(told.body, Said | Reacted) else course.began.id
    return {"turn": turn, "outcome": outcome}
