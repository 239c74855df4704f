"""The trajectory of an attempt, read from the events of its task: what the evaluator looks at.

    events + which attempt -> Trajectory (how it went), TurnSeen by turn (what was seen in each)

Reads the record alone; what a mind said of itself is no part of it but its estimate. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from loopforge.core.effect_states import EffectEnd, EffectProposed
from loopforge.core.events import Event
from loopforge.core.turn_events import Perceived
from loopforge.core.work.attempt_trace import ENDING, AttemptTrace
from loopforge.core.work.command_results import SeenResult
from loopforge.core.work.reflection_rules import TurnSeen
from loopforge.core.work.task_score import Decision, Ending, Trajectory
from loopforge.core.work.work_vocabulary import (
    ChangeUndone,
    ResultApproved,
    ResultOffered,
    ResultRejected,
    TaskAsked,
    TaskEscalated,
    TaskFinished,
    TaskNudged,
    TaskProgressed,
    TaskRated,
    TaskSteered,
    TaskStopped,
    WorkEvent,
)
from loopforge.runtime.effects.nested_calls import TOLD
from loopforge.work.task_state import ToolUse, paths_of, tool_use_argument

CAME_TO_NOTHING = frozenset({"turn broke off", "answer was malformed"})
"""Signals of turns that came to nothing."""


class TaskBounds(NamedTuple):
    """What a task may take: turns, US dollars (0: no budget); whether it should change files."""

    most: int
    budget: float = 0.0
    changes: bool = False


class AttemptCourse(Struct, kw_only=True):
    """One attempt as it is being read."""

    uses: list[ToolUse] = field(default_factory=list)
    progress: list[TaskProgressed] = field(default_factory=list)
    ending: Ending = "going"
    decision: Decision = ""
    offered: ResultOffered | None = None
    up: int = 0
    down: int = 0
    corrections: int = 0
    circles: int = 0
    paid: float = 0.0


def attempts_of(events: Iterable[Event]) -> dict[int, AttemptCourse]:
    """The attempts of a task, by their numbers."""
    trace, turns, paid = AttemptTrace(), 0, 0.0
    found: dict[int, AttemptCourse] = {}
    proposed: dict[str, EffectProposed] = {}
    for event in events:
        body = event.body
        match body:
            case Perceived(summons="task"):
                trace.begin(())
            case EffectProposed(within=""):
                proposed[event.id] = body
            case TaskProgressed():
                turns = body.nth
            case ChangeUndone():
                turns = body.nth
        if trace.nth not in found:
            found[trace.nth] = AttemptCourse(paid=paid)
        course = found[trace.nth]
        if isinstance(body, EffectEnd) and (began := proposed.get(body.effect)) is not None:
            course.uses.append(_use(body, began))
        if isinstance(body, WorkEvent):
            _take(course, body)
            trace.take(body, turns)
        if isinstance(body, TaskProgressed):
            paid = float(body.cost)
    return found


def _use(end: EffectEnd, began: EffectProposed) -> ToolUse:
    arguments = str(began.arguments)
    return ToolUse(end.effect, began.turn, began.tool, arguments, TOLD[type(end)], str(end.value))


def _take(course: AttemptCourse, body: WorkEvent) -> None:
    match body:
        case TaskProgressed():
            course.progress.append(body)
        case TaskFinished():
            course.ending = "finished"
        case TaskStopped(kind=kind) if kind in ENDING:
            course.ending = "stopped"
        case TaskAsked(top=True):
            course.ending = "asked"
        case TaskEscalated() if course.ending == "going":
            course.ending = "escalated"
        case ResultOffered():
            course.offered = body
        case ResultApproved():
            course.decision = "approved"
        case ResultRejected():
            course.decision = "rejected"
        case ChangeUndone():
            course.decision = "undone"
        case TaskRated(up=up):
            course.up, course.down = course.up + up, course.down + (not up)
        case TaskSteered(corrects=True):
            course.corrections += 1
        case TaskNudged():
            course.circles += 1


def seen_use(use: ToolUse) -> SeenResult:
    """A use of a tool as it is judged: a command by its words, a file by its path."""
    what = tool_use_argument(use, "command") or tool_use_argument(use, "path") or use.arguments
    return SeenResult(use.tool, what, use.outcome, use.value)


def trajectory_of(course: AttemptCourse, bounds: TaskBounds) -> Trajectory:
    """What the evaluator looks at."""
    offered, last = course.offered, course.progress[-1] if course.progress else None
    estimates = [one.estimate for one in course.progress if one.estimate >= 0]
    names = [{signal.name for signal in one.signals} for one in course.progress]
    return Trajectory(
        seen=[seen_use(use) for use in course.uses],
        ending=course.ending,
        decision=course.decision,
        turns=len(course.progress),
        most=bounds.most,
        changes=bounds.changes,
        files=None if offered is None else tuple(map(str, offered.files)),
        diff=str(offered.diff) if offered is not None else "",
        thumbs_up=course.up,
        thumbs_down=course.down,
        corrections=course.corrections,
        broken=sum(bool(one & CAME_TO_NOTHING) for one in names),
        circles=course.circles,
        cost=max(0.0, float(last.cost) - course.paid) if last is not None else 0.0,
        budget=bounds.budget,
        estimate=estimates[-1] if estimates else -1,
    )


def turns_of(progress: Iterable[TaskProgressed], uses: Sequence[ToolUse]) -> Mapping[int, TurnSeen]:
    """What was seen in each of these turns, by its number."""
    found: dict[int, TurnSeen] = {}
    for one in progress:
        own = [use for use in uses if use.turn == one.turn]
        written = [path for use in own if use.tool != "work_read" for path in paths_of(use)]
        words = [str(one.action), *(f"{use.arguments} {use.value}" for use in own)]
        found[one.nth] = TurnSeen(tuple(map(seen_use, own)), frozenset(written), " ".join(words))
    return found
