"""A task turn by turn, as pages show it: what each turn meant, used, saw, changed and cost. Pure.

    timeline_of(events) -> turns and what happened between them, in the order of the record

A change of a file is shown as the mate asked for it: what commands changed besides stands in the
result alone.
"""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Literal

from msgspec import Struct, field

from loopforge.core.effect_states import (
    EffectApproved,
    EffectDenied,
    EffectEnd,
    EffectProposed,
    EffectReturned,
)
from loopforge.core.events import Event
from loopforge.core.limits.line_matching import unified_diff_rows
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Answered, Perceived, Planned, TurnEnded
from loopforge.core.work.command_results import exit_code
from loopforge.core.work.work_vocabulary import (
    ChangeUndone,
    ConfidenceSignal,
    PlanSet,
    ResultOffered,
    TaskFinished,
    TaskOpened,
    TaskProgressed,
    TaskSteered,
    TaskSummarized,
    WorkEvent,
    WorkspaceSaved,
)
from loopforge.runtime.effects.nested_calls import TOLD
from loopforge.work.task_state import ToolUse, paths_of, spent_of, tool_use_argument, unpriced_of
from loopforge.work.task_transcript import lines_of
from loopforge.work.workspace.file_markers import without_marks

DIFF_ROWS = 400
"""Rows of one diff that are shown."""
DiffKind = Literal["add", "del", "at", "same"]
KINDS: dict[str, DiffKind] = {"+": "add", "-": "del"}
HEADS = ("+++ ", "--- ", "@@ ", "diff --git ", "index ")


class DiffRow(Struct, frozen=True):
    """One row of a diff."""

    kind: DiffKind
    text: str


class StepShown(Struct, kw_only=True):
    """A use of a tool: what it was used on, what it changed as it was asked, what it gave.

    `outcome` is "" while it is under way; `waits`: a person has to allow it first. `exit` is that
    of a command. `cut`: rows of the diff that are not shown.
    """

    effect: str
    tool: str
    what: str
    files: tuple[str, ...] = ()
    diff: tuple[DiffRow, ...] = ()
    cut: int = 0
    outcome: str = ""
    exit: int | None = None
    output: str = ""
    waits: bool = False


class TurnShown(Struct, kw_only=True):
    """One turn. `nth` is 0 for one that is none of the task's own (as what it is taken).

    `before` is the confidence before it; `cost` is of this turn alone, in US dollars;
    `unpriced` are its tokens whose price is not known. `undone`: it was taken back.
    """

    turn: str
    at: datetime
    summons: str = ""
    nth: int = 0
    model: str = ""
    mode: str = ""
    narrative: str = ""
    action: str = ""
    before: float = 0.0
    confidence: float = 0.0
    estimate: float = -1
    signals: tuple[ConfidenceSignal, ...] = ()
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    steps: list[StepShown] = field(default_factory=list)
    outcome: str = ""
    why: str = ""
    undone: bool = False


class TaskNote(Struct, frozen=True, kw_only=True):
    """What happened between turns, in words; `person` is who did it, "" where nobody did."""

    id: str
    at: datetime
    kind: str
    text: str
    person: str = ""
    said: bool = False


Timeline = list[TurnShown | TaskNote]
PASSED = TaskOpened | PlanSet | TaskProgressed | TaskSummarized | TaskFinished | ResultOffered
"""What stands elsewhere on the page, or in its turn."""


def timeline_of(events: Iterable[Event], start: float) -> Timeline:
    """Everything of a task; `start` is the confidence with which tasks begin."""
    drawn = _Drawing(start)
    for event in events:
        drawn.take(event)
    return drawn.found


class _Drawing:
    """A timeline that is being drawn."""

    def __init__(self, start: float) -> None:
        self.found: Timeline = []
        self._confidence = start
        self._turns: dict[str, TurnShown] = {}
        self._steps: dict[str, StepShown] = {}
        self._texts: dict[str, str] = {}
        self._of: dict[str, str] = {}

    def take(self, event: Event) -> None:
        """Draw one event."""
        body = event.body
        match body:
            case Perceived(summons=summons):
                made = TurnShown(turn=event.id, at=event.at, summons=summons)
                self._turns[event.id] = made
                self.found.append(made)
            case EffectProposed(turn=by, within=within):
                self._of[event.id] = by
                if not within:
                    self._proposed(event.id, body)
            case EffectApproved(effect=effect) if effect in self._steps:
                self._answered(event, effect, "Yes")
            case WorkspaceSaved() | ChangeUndone():
                self._kept(event, body)
            case _ if isinstance(body, EffectEnd):
                if isinstance(body, EffectDenied) and body.effect in self._steps:
                    self._answered(event, body.effect, "No")
                self._ended(body)
            case _ if isinstance(body, WorkEvent) and not isinstance(body, PASSED):
                self._note(event, body)
            case _:
                if (turn := self._turns.get(getattr(body, "turn", ""))) is not None:
                    self._turned(turn, event)

    def _turned(self, turn: TurnShown, event: Event) -> None:
        match event.body:
            case Planned(mode=mode, narrative=narrative):
                turn.mode = mode
                turn.narrative = without_marks(str(narrative), {})
            case Answered() as answered:
                turn.cost += Decimal(spent_of(answered)[0]) / 10**12
                turn.unpriced += unpriced_of(answered)
                turn.model = answered.model or turn.model
            case TurnEnded(outcome=outcome, why=why):
                turn.outcome, turn.why = outcome, str(why)
            case TaskProgressed() as body:
                turn.nth, turn.action = body.nth, str(body.action)
                turn.model = turn.model or body.model
                turn.before, turn.confidence = self._confidence, body.confidence
                turn.estimate, turn.signals = body.estimate, body.signals
                self._confidence = body.confidence

    def _proposed(self, effect: str, body: EffectProposed) -> None:
        use = ToolUse(effect, body.turn, body.tool, str(body.arguments), "", "")
        rows = self._changed(use)
        step = StepShown(
            effect=effect,
            tool=body.tool,
            what=what_of(use, body.arguments),
            files=paths_of(use),
            diff=tuple(rows[:DIFF_ROWS]),
            cut=max(0, len(rows) - DIFF_ROWS),
            waits=body.asks,
        )
        self._steps[effect] = step
        if (turn := self._turns.get(body.turn)) is not None:
            turn.steps.append(step)

    def _answered(self, event: Event, effect: str, word: str) -> None:
        """What a person said to a use of a tool that waited for that."""
        step = self._steps[effect]
        if step.waits and event.actor.startswith("person:"):
            self._add(event, f"{word} to {step.tool}.")
        step.waits = False

    def _changed(self, use: ToolUse) -> list[DiffRow]:
        """What a use of a tool is to change in files, as far as its arguments say."""
        if use.tool == "work_edit":
            if patch := tool_use_argument(use, "patch"):
                return diff_rows(patch)
            return _between(tool_use_argument(use, "old"), tool_use_argument(use, "new"))
        if use.tool != "work_write":
            return []
        path, text = tool_use_argument(use, "path"), tool_use_argument(use, "text")
        before, self._texts[path] = self._texts.get(path, ""), text
        return _between(before, text)

    def _ended(self, end: EffectEnd) -> None:
        turn = self._turns.get(self._of.get(end.effect, ""))
        if turn is not None and isinstance(end, EffectReturned):
            turn.cost += Decimal(str(end.cost))
        if (step := self._steps.get(end.effect)) is not None:
            step.outcome, step.output = TOLD[type(end)], str(end.value)
            step.exit, step.waits = exit_code(step.output), False

    def _kept(self, event: Event, body: WorkspaceSaved | ChangeUndone) -> None:
        if isinstance(body, ChangeUndone):
            for turn in self._turns.values():
                turn.undone = turn.undone or turn.nth > body.nth
                if turn.nth and not turn.undone:
                    self._confidence = turn.confidence
            self._texts.clear()
            self._note(event, body)
        elif body.checkpoint:
            self._add(event, f"The workspace was kept, as copy {body.checkpoint}.")
        else:
            self._add(event, f"The workspace could not be kept: {body.why}")

    def _note(self, event: Event, body: WorkEvent) -> None:
        if isinstance(body, TaskSteered):
            self._add(event, str(body.text), said=True)
        elif rows := lines_of(event):
            self._confidence = getattr(body, "confidence", self._confidence)
            self._add(event, "\n".join(rows))

    def _add(self, event: Event, text: str, *, said: bool = False) -> None:
        who = event.actor.removeprefix("person:") if event.actor.startswith("person:") else ""
        kind = event.kind.partition(".")[2]
        self.found.append(
            TaskNote(id=event.id, at=event.at, kind=kind, text=text, person=who, said=said)
        )


def what_of(use: ToolUse, arguments: Words) -> str:
    """What a tool is used on, in a line: a command, a path, else its arguments."""
    if arguments.text is None:
        return str(arguments)
    named = (
        tool_use_argument(use, "command")
        or tool_use_argument(use, "path")
        or tool_use_argument(use, "pattern")
    )
    return named or ("" if use.arguments == "{}" else use.arguments)


def diff_rows(diff: str) -> list[DiffRow]:
    """The rows of a unified diff, told apart."""
    return [
        DiffRow("at" if row.startswith(HEADS) else KINDS.get(row[:1], "same"), row)
        for row in diff.splitlines()
    ]


def _between(old: str, new: str) -> list[DiffRow]:
    """What becomes of a text."""
    rows = unified_diff_rows(old.splitlines(), new.splitlines())
    kinds = KINDS | {"@": "at"}
    return [DiffRow(kinds.get(row[:1], "same"), row) for row in list(rows)[2:]]


def counted_rows(rows: Iterable[DiffRow]) -> tuple[int, int]:
    """How many rows are added, and how many taken away."""
    kinds = [row.kind for row in rows]
    return kinds.count("add"), kinds.count("del")
