"""What is true of one task, folded from its stream.

Everything the task goes by stands here: its stage, its plan, what was said and seen in order, what
it cost, how sure it is, which model is at work. Does not know how any of it came to be.
"""

import re
from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct, field

from loopforge.core.effect_states import (
    EffectApproved,
    EffectEnd,
    EffectProposed,
    EffectReturned,
    EffectRunning,
)
from loopforge.core.events import Event
from loopforge.core.limits.money_amounts import picos_from_dollars
from loopforge.core.model_trouble import UNREACHED
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.turn_events import Answered, Asked, Perceived, Returned, TurnEnded
from loopforge.core.work import command_results, task_confidence
from loopforge.core.work.attempt_trace import AttemptTrace
from loopforge.core.work.task_lifecycle import AT_WORK, TaskStage, next_stage
from loopforge.core.work.work_roles import WorkRole, role_of
from loopforge.core.work.work_vocabulary import (
    ANY_TOOL,
    ChangeUndone,
    PlanSet,
    ResultOffered,
    ResultRejected,
    TaskAsked,
    TaskClassified,
    TaskDelayed,
    TaskEscalated,
    TaskFinished,
    TaskLeased,
    TaskNudged,
    TaskOpened,
    TaskProgressed,
    TaskQueued,
    TaskRated,
    TaskResumed,
    TaskSteered,
    TaskStopped,
    TaskSummarized,
    TierChosen,
    WorkEvent,
    WorkspaceRecovered,
    WorkspaceSaved,
)
from loopforge.runtime.effects.nested_calls import TOLD
from loopforge.work.workspace.workspace_tools import CLONE

PREFIX = "task:"
FORGOTTEN = "it was forgotten"
"""Why a task stands still whose words are no more."""
PATCHED = re.compile(r"^\+\+\+ (?:b/)?([^\t\n]+)", re.MULTILINE)
"""Files that a patch makes or changes."""
TaskStanding = tuple[str, int]
"""How a task stands for whoever decides on it: its stage, and the turns that count."""
EntryKind = Literal["heard", "result", "mine", "note", "told", "option"]


class TaskEntry(NamedTuple):
    """One thing in the order in which it was said or seen; `who` is a person, a tool, the mate.

    Of an option, which stands until the task ends or a person speaks, `who` is the model and
    `outcome` its tier.
    """

    kind: EntryKind
    who: str
    text: Words
    id: str
    at: datetime
    outcome: str = ""
    arguments: Words = Words("", public=True)
    turn: int = 0


class ToolUse(NamedTuple):
    """A use of a tool that is over: what was wanted, what came of it, in words.

    `began`: it ran, as far as it did, which one that was called off before that did not.
    """

    effect: str
    turn: str
    tool: str
    arguments: str
    outcome: str
    value: str
    began: bool = True


class OpenUse(NamedTuple):
    """A use of a tool that is not over; `asks`: a person has to allow it first."""

    turn: str
    tool: str
    arguments: Words
    asks: bool = False
    began: bool = False


class TaskState(Struct, kw_only=True):
    """A task as it stands after event `seq`."""

    stream: str
    seq: int = 0
    opened: Event | None = None
    stage: TaskStage = "opened"
    tools: frozenset[str] = frozenset({ANY_TOOL})
    classified: TaskClassified | None = None
    corrections: int = 0
    fence: int = 0
    behind: str = ""
    plan: tuple[Words, ...] = ()
    entries: list[TaskEntry] = field(default_factory=list)
    open: str = ""
    open_summons: str = ""
    open_mate: str = ""
    open_options: dict[int, int] = field(default_factory=dict)
    shown: int = 0
    steered: int = 0
    turns: int = 0
    since: int = 0
    started: datetime | None = None
    busy: datetime | None = None
    spent_seconds: float = 0.0
    seconds_before: float = 0.0
    delayed: datetime | None = None
    delays: int = 0
    confidence: float = task_confidence.START
    model: str = ""
    tier: int = 0
    model_seen: str = ""
    fresh: list[ToolUse] = field(default_factory=list)
    uses: list[ToolUse] = field(default_factory=list)
    running: dict[str, OpenUse] = field(default_factory=dict)
    inner: dict[str, OpenUse] = field(default_factory=dict)
    pending: dict[str, TaskSteered] = field(default_factory=dict)
    read: dict[str, None] = field(default_factory=dict)
    written: dict[str, None] = field(default_factory=dict)
    cost: int = 0
    tokens: int = 0
    unpriced: int = 0
    tokens_before: int = 0
    extra: float = 0.0
    progress: list[TaskProgressed] = field(default_factory=list)
    escalated: list[TaskEscalated] = field(default_factory=list)
    nudged: int = 0
    model_since: int = 0
    uses_since: int = 0
    steps_since: int = 0
    corrected: int = 0
    asked: TaskAsked | None = None
    halted: TaskStopped | None = None
    summary: Words | None = None
    summarized: bool = True
    saved: bool = True
    checkpoint: WorkspaceSaved | None = None
    checkpoints: list[WorkspaceSaved] = field(default_factory=list)
    undone: set[str] = field(default_factory=set)
    finished: TaskFinished | None = None
    offered: ResultOffered | None = None
    retried: bool = False
    refused: Words = public_words("")
    attempts: AttemptTrace = field(default_factory=AttemptTrace)
    ratings: list[TaskRated] = field(default_factory=list)
    last: datetime | None = None

    # ------------------------------------------------------------ what is read of it

    @property
    def id(self) -> str:
        """The task's id."""
        return self.stream.removeprefix(PREFIX)

    @property
    def task(self) -> TaskOpened:
        """What was given."""
        assert self.opened is not None
        assert isinstance(self.opened.body, TaskOpened)
        return self.opened.body

    @property
    def role(self) -> WorkRole:
        """The role in which it is worked on; a generalist's until it is classified."""
        return role_of(self.classified.role if self.classified else "general")

    @property
    def thread(self) -> str:
        """The thread it belongs to; one of its own where none was named."""
        return self.task.thread or self.id

    @property
    def standing(self) -> TaskStanding:
        """How it stands, for whoever decides on it."""
        return self.stage, self.turns

    @property
    def forgotten(self) -> bool:
        """Whether its words are no more: nothing is done for it, whoever says so."""
        return self.opened is not None and self.task.text.text is None

    @property
    def at_work(self) -> bool:
        """Whether something is done without a person."""
        return self.stage in AT_WORK

    @property
    def failing(self) -> str:
        """The command by which tests were run last, where they failed; "" where they did not."""
        for use in reversed(self.uses):
            command = tool_use_argument(use, "command")
            if (code := command_results.exit_of_tests(command, use.value)) is not None:
                return command if code else ""
        return ""

    @property
    def undoable(self) -> bool:
        """Whether a copy of its workspace is older than a change, so that one can be taken back."""
        past = {one.checkpoint for one in self.checkpoints if one.nth <= self.turns}
        return len({copy for copy in past - self.undone if copy.isdigit()}) > 1

    @property
    def changes_files(self) -> bool:
        """Whether it is a task that should change files."""
        known = self.classified
        return bool(known and known.flow == "sequential-thinking" and role_of(known.role).changes)

    @property
    def budget(self) -> float:
        """What it may cost in US dollars, with what was added; 0 for what the home allows."""
        return self.task.budget + self.extra if self.task.budget else 0.0

    @property
    def unheard(self) -> TaskSteered | None:
        """The last line that came too late to be put before the mate in its last turn."""
        late = self.steered > self.shown
        return next(reversed(self.pending.values()), None) if late else None

    @property
    def allowing(self) -> dict[str, OpenUse]:
        """Uses of tools that wait for the yes of a person, by id."""
        return {id: use for id, use in self.running.items() if use.asks}

    @property
    def dollars(self) -> Decimal:
        """What it cost so far in US dollars, as far as prices are known."""
        return Decimal(self.cost) / 10**12

    @property
    def looks_back(self) -> bool:
        """Whether its planner is looking back on the last attempt now."""
        return bool(self.open) and self.open_summons == "reflect"

    def tools_among(self, given: Collection[str]) -> frozenset[str]:
        """Those of its tools that are among these, too."""
        if ANY_TOOL in given:
            return self.tools
        return frozenset(given) if ANY_TOOL in self.tools else self.tools.intersection(given)

    def worked_seconds(self, now: datetime) -> float:
        """How long it worked so far: not while it waited for people, or for its model."""
        return self.spent_seconds + ((now - self.started).total_seconds() if self.started else 0.0)

    # ------------------------------------------------------------ the fold

    def withdraw(self, line: str) -> None:
        """A line was deleted: as far as no mind has read it yet, none does. Its words go later."""
        gone = {id for id, body in self.pending.items() if body.source == line}
        for id in gone:
            del self.pending[id]
        self.entries = [entry for entry in self.entries if entry.id not in gone]

    def apply(self, event: Event) -> None:
        """Take in one event of its stream."""
        if event.seq <= self.seq:
            return
        self.seq, self.last, body = event.seq, event.at, event.body
        was = self.stage
        self.stage = next_stage(self.stage, event.kind)
        if was == "working" and isinstance(body, TaskLeased) and self.started:
            self._clocked_until(self.busy or self.started)  # the process before it ended
        match body:
            case TaskOpened():
                self.opened, self.tools = event, frozenset(body.tools)
                self._add_entry("heard", body.person, body.text, event)
            case Perceived() | TurnEnded() | Asked() | Answered() | Returned():
                self._apply_turn(event)
            case EffectProposed() as proposed:
                self._apply_proposed(event, proposed)
            case TaskProgressed():
                self._apply_progress(event, body)
            case TaskClassified() | TaskQueued() | TaskLeased() | PlanSet():
                self._apply_course(body)
                if was == "stopped" and self.stage != was:  # by a person who wants it otherwise
                    self._renew_limits()
            case TaskSteered():
                self.pending[event.id], self.steered = body, event.seq
                self.tools = self.tools_among(body.tools)
                self._drop_options()
                self._add_entry("heard", body.person, body.text, event)
                if body.corrects:
                    self.corrections += 1
                if was in ("waiting", "finished"):
                    self._renew_limits()
            case TaskAsked():
                self.asked, self.saved = body, False
                self._add_entry("mine", self.task.mate, body.question, event)
            case TaskNudged():
                self.nudged += 1
                self.uses_since, self.steps_since = len(self.uses), self.turns
                self._add_entry("told", "", body.what, event)
            case WorkspaceRecovered(what=what):
                self._add_entry("told", "", what, event)
            case TaskEscalated():
                self.escalated.append(body)
                self.model, self.model_since = body.after, self.turns
                self.steps_since = self.turns
                self.nudged, self.uses_since = 0, len(self.uses)
                self.corrected = self.corrections
                self._add_entry("told", "", body.why, event)
            case TaskStopped():
                self.tools = self.tools_among(body.tools)
                self.halted, self.summarized, self.saved = body, False, False
                self._add_entry("told", "", body.why, event)
            case TaskResumed():
                self.extra += body.budget
                self.retried = self.retried or not body.by
                self._renew_limits()
            case TaskFinished():
                self.finished, self.summarized, self.saved = body, False, False
                self.offered = None  # what was shown before is not what it came to now
                self._drop_options()
                self._add_entry("mine", self.task.mate, body.result, event)
            case EffectApproved(effect=effect) if effect in self.running:
                self.running[effect] = self.running[effect]._replace(asks=False)
            case EffectRunning(effect=effect) if effect in self.running:
                self.running[effect] = self.running[effect]._replace(began=True)
            case _:
                if isinstance(body, EffectEnd):
                    self._apply_effect_end(event, body)
                else:
                    self._apply_review(event)
        if isinstance(body, WorkEvent):
            self.attempts.take(body, self.turns, event.id, event.seq)
        self._count_working_time(event)

    def _count_working_time(self, event: Event) -> None:
        """Count the time in which it works: not that in which it waits for a yes or a model."""
        asks = bool(self.running) and len(self.allowing) == len(self.running)
        waits = (asks or self.delayed is not None) and not self.open
        if self.stage != "working" or waits:
            self._clocked_until(event.at)
        elif self.started is None:
            self.started = event.at
        if not (event.actor.startswith("person:") or isinstance(event.body, EffectEnd)):
            self.busy = event.at  # else a program that died has perhaps not been at it until then

    def _clocked_until(self, at: datetime) -> None:
        if self.started is not None:
            self.spent_seconds += max(0.0, (at - self.started).total_seconds())
            self.started = None

    def _apply_review(self, event: Event) -> None:
        """What came of it, and what people said of that."""
        match event.body:
            case TierChosen():
                self.tier, self.model = event.body.tier, ""
            case TaskDelayed(until=until):
                self.delayed, self.delays = until, self.delays + 1
            case TaskRated():
                self.ratings.append(event.body)
                self.confidence = event.body.confidence
            case WorkspaceSaved():
                self.checkpoint, self.saved = event.body, True
                self.checkpoints.append(event.body)
            case TaskSummarized():
                self.summary, self.summarized = event.body.text, True
            case ResultOffered():
                self.offered = event.body
                if not event.body.commit:
                    self._add_entry("told", "", event.body.message, event)
            case ChangeUndone():
                self._apply_undo(event.body)
            case ResultRejected(why=why):
                self.refused = why

    def _renew_limits(self) -> None:
        """It goes on, with as many turns, minutes and tokens as at first."""
        self.since, self.tokens_before = self.turns, self.tokens
        self.seconds_before = self.spent_seconds
        self.asked = self.halted = self.delayed = None
        self.delays = 0

    def _apply_turn(self, event: Event) -> None:
        match event.body:
            case Perceived(mate=mate, summons=summons, recalled=recalled, upto=upto):
                self.open, self.open_summons, self.open_mate = event.id, summons, mate
                self.delayed = None
                self.open_options.clear()
                if summons == "task":
                    self.shown = upto
                    self.attempts.begin(tuple(one.of for one in recalled if not one.left))
            case TurnEnded(turn=turn, took_in=took_in):
                self.open = "" if self.open == turn else self.open
                for line in took_in:
                    self.pending.pop(line, None)
            case Asked(purpose="options", nth=nth, tier=tier):
                self.open_options[nth] = tier
            case Answered() as answered:
                self._keep_option(event, answered)
                cost, tokens = spent_of(answered)
                self.cost += cost
                self.tokens += tokens
                self.unpriced += unpriced_of(answered)
                self.delays = self.delays if answered.outcome in UNREACHED else 0
                if self.open_summons != "reflect":  # that is by the planner's model
                    self.model_seen = answered.model or self.model_seen

    def _keep_option(self, event: Event, body: Answered) -> None:
        """What was proposed stands, for a turn that may have to consolidate it in place of this."""
        tier = self.open_options.pop(body.nth, 0)
        if tier and body.outcome == "answered" and body.text.text:
            self._add_entry("option", body.model, body.text, event)
            self.entries[-1] = self.entries[-1]._replace(outcome=str(tier))

    def _drop_options(self) -> None:
        self.entries = [one for one in self.entries if one.kind != "option"]

    def _apply_proposed(self, event: Event, body: EffectProposed) -> None:
        held = self.inner if body.within else self.running
        held[event.id] = OpenUse(body.turn, body.tool, body.arguments, body.asks)

    def _apply_effect_end(self, event: Event, end: EffectEnd) -> None:
        within = end.effect in self.inner
        found = (self.inner if within else self.running).pop(end.effect, None)
        if found is None:
            return
        outcome = TOLD[type(end)]
        told = found.tool, str(found.arguments), outcome, str(end.value)
        use = ToolUse(end.effect, found.turn, *told, found.began)
        self.fresh.append(use)
        # Its turn may be over: people were asked, or it is long.
        if isinstance(end, EffectReturned):
            self.cost += round(end.cost * 10**12)
            for path in paths_of(use):
                (self.read if found.tool == "work_read" else self.written)[path] = None
        if within:
            return  # the mate is told what its program came to, and that alone
        self.uses.append(use)
        self.entries.append(
            TaskEntry(
                "result",
                found.tool,
                end.value,
                event.id,
                event.at,
                outcome,
                found.arguments,
                self.turns + 1,
            )
        )

    def _apply_course(self, body: TaskClassified | TaskQueued | TaskLeased | PlanSet) -> None:
        match body:
            case TaskClassified():
                self.classified, self.tier = body, 0
                self.model = body.model
            case TaskQueued():
                self.behind = body.behind
            case TaskLeased():
                self.fence, self.behind = body.fence, ""
            case PlanSet():
                self.plan = body.steps

    def _apply_progress(self, event: Event, body: TaskProgressed) -> None:
        """A turn is over: what the mate said in it stands before what its tools gave."""
        self.turns, self.confidence = body.nth, body.confidence
        self.progress.append(body)
        self.fresh.clear()
        for line in body.heeded:
            self.pending.pop(line, None)
        if body.said.text != "":
            self._add_entry("note", self.task.mate, body.said, event)
            gave = (
                nth
                for nth, entry in enumerate(self.entries)
                if entry.kind == "result" and entry.turn == body.nth
            )
            self.entries.insert(next(gave, len(self.entries) - 1), self.entries.pop())
        if body.told.text != "":
            self._add_entry("told", "", body.told, event)

    def _apply_undo(self, body: ChangeUndone) -> None:
        """Files and conversation are as they were after that turn."""
        self.undone.add(body.checkpoint)
        self.entries = [one for one in self.entries if one.turn <= body.nth or one.kind == "heard"]
        self.uses = [one for one in self.uses if one.turn in self._turns_upto(body.nth)]
        self.progress = [one for one in self.progress if one.nth <= body.nth]
        self.turns, self.finished, self.offered = body.nth, None, None
        self.confidence = self.progress[-1].confidence if self.progress else task_confidence.START

    def _turns_upto(self, nth: int) -> frozenset[str]:
        return frozenset(one.turn for one in self.progress if one.nth <= nth)

    def _add_entry(self, kind: EntryKind, who: str, text: Words, event: Event) -> None:
        self.entries.append(TaskEntry(kind, who, text, event.id, event.at, turn=self.turns))


def tool_use_argument(use: ToolUse, name: str) -> str:
    """One argument of a use of a tool, as text; "" where there is none, or it was forgotten."""
    try:
        found: Any = msgspec.json.decode(use.arguments)
    except (msgspec.DecodeError, RecursionError):
        return ""
    return str(found.get(name, "")) if isinstance(found, dict) else ""


def paths_of(use: ToolUse) -> tuple[str, ...]:
    """The files that a use of a tool read or changed, as far as it is told of them."""
    if use.tool == "work_run":
        return command_results.changes_in(use.value)
    if use.tool not in ("work_read", "work_write", "work_edit"):
        return ()
    if patch := tool_use_argument(use, "patch"):
        return tuple(PATCHED.findall(patch))
    path = tool_use_argument(use, "path")
    within = f"{CLONE}/{path}"
    return ((within if use.value.startswith(within) else path),) if path else ()


def spent_of(body: Answered) -> tuple[int, int]:
    """What an answer took, over all its tries: picodollars, and tokens."""
    usages = body.usages
    cost = sum(picos_from_dollars(one.cost) or 0 for one in usages)
    return cost, sum(one.read + one.written for one in usages)


def unpriced_of(body: Answered) -> int:
    """The tokens of an answer whose price is not known, over all its tries."""
    return sum(
        one.read + one.written for one in body.usages if picos_from_dollars(one.cost) is None
    )
