"""A line's trace: what became of it, read from the ledger up to where it was settled.

    heard --> weighed (with the lines of the same person that followed at once) --> each mate's turn

Who passed needs no reading on; who was called is followed until its turn is over, was dropped, or
is too far away. Withholds nothing; that is the veil's (redaction.py).
"""

from dataclasses import dataclass, field

from loopforge.chat.room.turn_queue import AGAIN
from loopforge.chat.why.turn_trace import PRESENCE, events_after
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, Reacted, Said, Stopped, TurnDropped, Weighed
from loopforge.core.turn_events import Judged, Perceived, TurnEnded
from loopforge.runtime.ports import Ledger

AFTER_A_LINE = (
    "room.heard",
    "room.said",
    "room.reacted",
    "room.weighed",
    "room.turn_dropped",
    "room.stopped",
    "turn.perceived",
    "turn.judged",
    "turn.ended",
)


@dataclass
class MateCourse:
    """What one mate did after a person's line: the turn it took, how that ended, why it took none.

    `step` is the last turn of its chain of steps so far, `again` says that another may follow.
    `took_in`: the line came in during that turn and was put before the mind there.
    """

    began: Event | None = None
    said: Event | None = None
    ended: Event | None = None
    dropped: Event | None = None
    reacted: Event | None = None
    step: Event | None = None
    again: bool = False
    took_in: bool = False


@dataclass
class LineTrace:
    """Everything around a person's line. `weighed_as` is the last of the lines weighed as one."""

    heard: Event
    presence: list[Event]
    weighed_as: str
    gathered: int = 0
    weighed: Event | None = None
    stopped: bool = False
    courses: dict[str, MateCourse] = field(default_factory=dict)


async def line_trace(ledger: Ledger, heard: Event) -> LineTrace:
    """Everything around a person's line."""
    found = LineTrace(heard, await ledger.read(heard.stream, kinds=PRESENCE), heard.id)
    assert isinstance(heard.body, Heard)
    gathering = True
    async for event in events_after(ledger, heard.stream, heard.seq, AFTER_A_LINE):
        body = event.body
        if found.weighed is None:
            if isinstance(body, Stopped):
                found.stopped = True
                break
            if isinstance(body, Heard | Said):
                same = isinstance(body, Heard) and body.person == heard.body.person
                gathering = gathering and same
                if gathering:
                    found.weighed_as, found.gathered = event.id, found.gathered + 1
            if isinstance(body, Weighed) and body.upto >= heard.seq:
                await _weighed(ledger, found, event, body)
        _follow(found, event)
        if found.weighed is not None and _settled(found):
            break
    return found


async def _weighed(ledger: Ledger, found: LineTrace, event: Event, body: Weighed) -> None:
    """Lines that came while the weighing was written down are no part of it."""
    found.weighed = event
    if found.gathered and (await ledger.event(found.weighed_as)).seq > body.upto:
        between = await ledger.read(
            found.heard.stream, after=found.heard.seq, before=body.upto + 1, kinds=("room.heard",)
        )
        found.gathered = len(between)
        found.weighed_as = between[-1].id if between else found.heard.id
    for weight in body.weights:
        if weight.line == found.weighed_as and weight.verdict != "pass":
            found.courses.setdefault(weight.mate, MateCourse())


def _follow(found: LineTrace, event: Event) -> None:
    """What mates did after the line."""
    body = event.body
    course = found.courses.get(event.actor.removeprefix("mate:"), MateCourse())
    match body:
        case Perceived() if body.summons != "title":
            _begin(course, event, body)
        case Judged():
            for course in found.courses.values():
                if course.step is not None and course.step.id == body.turn:
                    course.again = any(v.allowed and v.act in AGAIN for v in body.verdicts)
        case TurnDropped(mate=mate) if mate in found.courses:
            course = found.courses[mate]
            course.again = False
            course.dropped = course.dropped or (event if course.began is None else None)
        case Said() | Reacted() if course.step is not None and body.turn == course.step.id:
            if isinstance(body, Said):
                course.said = course.said or event
            else:
                course.reacted = course.reacted or event
        case Stopped():
            for course in found.courses.values():
                course.again = False
        case TurnEnded():
            if found.heard.id in body.took_in:
                found.courses[event.actor.removeprefix("mate:")] = MateCourse(
                    ended=event, took_in=True
                )
            elif course.step is not None and course.step.id == body.turn:
                course.ended = event


def _begin(course: MateCourse, event: Event, body: Perceived) -> None:
    """A mate begins its turn for the line, or the next step of it."""
    if course.began is None and course.dropped is None and body.step == 0:
        course.began = course.step = event
    elif course.again and body.summons == "continue":
        course.step, course.ended, course.again = event, None, False


def _settled(found: LineTrace) -> bool:
    """Whether every mate that was called has done what it was called for."""
    assert found.weighed is not None
    body = found.weighed.body
    assert isinstance(body, Weighed)
    for weight in body.weights:
        if weight.line == found.weighed_as and weight.verdict != "pass":
            course = found.courses[weight.mate]
            if not (course.ended or course.dropped) or course.again:
                return False
    return True
