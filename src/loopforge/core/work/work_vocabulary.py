"""The vocabulary of the workspace: all that can happen to a task, and all a mate at work may do.

A task is a stream of its own ("task:ID"). Which thread it belongs to, and which task a thread is
held by, stands in the stream of the thread ("thread:NAME"). What may follow on what is
task_lifecycle.py's to say.
"""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from loopforge.core.text.erasable_text import Words, public_words

TaskType = Literal[
    "social",
    "question",
    "writing",
    "research",
    "coding",
    "review",
    "operations",
    "data",
    "design",
    "command",
]
Complexity = Literal["SIMPLE", "MEDIUM", "COMPLEX"]
FlowName = Literal["simple", "branch", "sequential-thinking", "breakglass", "shell"]
DecidedBy = Literal["rules", "model", "person", "default"]
EscalationReason = Literal["confidence", "errors", "idle", "stuck", "corrections", "thumb"]
HaltKind = Literal["person", "turns", "time", "tokens", "money", "budget", "model", "top", "lost"]
ScoreName = Literal["completion", "quality", "efficiency"]
ScoreSource = Literal["people", "tests", "linters", "commands", "diff", "course"]
"""Whose word a score rests on; `course` is how the turns went."""
ReflectionPart = Literal["worked", "failed", "cause", "change", "insight"]
LearningArm = Literal["on", "off", "shuffled"]
"""Whether a task is given what earlier ones taught, nothing, or as much of what others taught."""

# ---------------------------------------------------------------- what can happen

ANY_TOOL = "*"
"""All tools, where tools are named that somebody may have used."""


class TaskOpened(Struct, frozen=True, tag="task.opened", kw_only=True, omit_defaults=True):
    """A person gave a mate a task; the stream's name has its id.

    `thread` is where it belongs: of one thread one task is worked on at a time. `repo` is the
    registered repository that it works on; `budget` is in US dollars (0: what the home allows);
    `owner`: who gave it is the owner of the home. `mate` may be "": the role's mate takes it.
    `only` is all that it may change; "" for anything. `tools` are those that whoever gave it may
    have used in its room.
    """

    text: Words
    person: str
    mate: str = ""
    thread: str = ""
    repo: str = ""
    budget: float = 0.0
    surface: str = "terminal"
    owner: bool = False
    only: Literal["", "docstrings"] = ""
    tools: tuple[str, ...] = (ANY_TOOL,)


class TaskClassified(Struct, frozen=True, tag="task.classified", kw_only=True, omit_defaults=True):
    """As what it is taken: its type, the role that does it, how complex it is, by which flow.

    `by` says who decided that: the rules, a model, a person who corrected it, or nobody could
    (`default`). `reason` is for people. `skipped` are steps that the flow leaves out.
    """

    task_type: TaskType
    role: str
    complexity: Complexity
    flow: FlowName
    by: DecidedBy
    reason: Words
    skipped: tuple[str, ...] = ()
    tier: int = 0
    model: str = ""


class TierRecord(Struct, frozen=True, kw_only=True):
    """What came of tasks that began with a tier: how many, how many approved, dollars in all."""

    tier: int
    tasks: int
    approved: int
    dollars: float


class TierChosen(Struct, frozen=True, tag="task.tier_chosen", kw_only=True):
    """With which tier it begins: by what past tasks of its type came to, or by lot, to try it.

    With what stood on record then, so that the same choice can be made again.
    """

    tier: int
    by: Literal["learned", "tried"]
    records: tuple[TierRecord, ...]
    tiers: tuple[int, ...]
    explore: float


class TaskQueued(Struct, frozen=True, tag="task.queued", kw_only=True):
    """Its thread is held by another task; it waits until that is over."""

    behind: str


class TaskLeased(Struct, frozen=True, tag="task.leased", kw_only=True):
    """It holds its thread from now on, under this fencing number."""

    fence: int


class PlanSet(Struct, frozen=True, tag="task.plan_set", kw_only=True):
    """What the mate means to do, step by step, in place of what it meant before."""

    turn: str
    steps: tuple[Words, ...]


class ConfidenceSignal(Struct, frozen=True, kw_only=True):
    """Something that was seen, and by how much it moved the confidence."""

    name: str
    points: float


class TaskProgressed(Struct, frozen=True, tag="task.progressed", kw_only=True, omit_defaults=True):
    """A turn is over: where the task stands; by this one record surfaces show how it goes.

    Turn `nth` of at most `most`; `confidence` 0 to 100, moved by `signals`; `estimate` is the
    mind's own (-1: it gave none). `files_read` and `files_written` are how many so far, each
    once. `cost` is in US dollars, of the whole task so far; `heeded` are ids of lines that were
    put before the mate. `said` is what the mate said of the turn, `told` why what it wanted came to
    nothing: both are put before it in the next one.
    """

    turn: str
    nth: int
    most: int
    confidence: float
    model: str = ""
    action: Words = public_words("")
    signals: tuple[ConfidenceSignal, ...] = ()
    estimate: float = -1
    files_read: int = 0
    files_written: int = 0
    cost: str = "0"
    tokens: int = 0
    heeded: tuple[str, ...] = ()
    said: Words = public_words("")
    told: Words = public_words("")


class TaskSteered(Struct, frozen=True, tag="task.steered", kw_only=True, omit_defaults=True):
    """A person said something during the task; it is put before the mate in its next turn.

    `corrects`: it says that it is to be done otherwise. `source` is the surface's id of the line.
    `tools` are those that this person may have used in its room.
    """

    person: str
    text: Words
    corrects: bool = False
    source: str = ""
    tools: tuple[str, ...] = (ANY_TOOL,)


class TaskAsked(Struct, frozen=True, tag="task.asked", kw_only=True, omit_defaults=True):
    """The mate asks a person, and waits for a line, for days if need be. `tried` is what it did."""

    turn: str
    question: Words
    tried: tuple[Words, ...] = ()
    top: bool = False


class TaskNudged(Struct, frozen=True, tag="task.nudged", kw_only=True):
    """It seems to go in circles: the mate is told so, and nothing of its context is dropped."""

    turn: str
    what: Words


class TaskEscalated(Struct, frozen=True, tag="task.escalated", kw_only=True):
    """Another model goes on, for a reason that is told in words, too."""

    turn: str
    reason: EscalationReason
    why: Words
    before: str
    after: str


class TaskDelayed(Struct, frozen=True, tag="task.delayed", kw_only=True, omit_defaults=True):
    """No model answered, and one may soon: it goes on by itself, not before `until`.

    `mend` as in TaskStopped.
    """

    turn: str
    until: datetime
    why: Words
    mend: tuple[tuple[str, ...], ...] = ()


class TaskRated(Struct, frozen=True, tag="task.rated", kw_only=True, omit_defaults=True):
    """A person's thumb on a line of the mate in its thread. `confidence` is what it became."""

    person: str
    up: bool
    confidence: float
    line: str = ""


class WorkspaceSaved(Struct, frozen=True, tag="task.workspace_saved", kw_only=True):
    """The workspace was copied as it stood after turn `nth`; `checkpoint` names the copy."""

    nth: int
    checkpoint: str
    why: str = ""


class WorkspaceRecovered(Struct, frozen=True, tag="task.workspace_recovered", kw_only=True):
    """The workspace was gone from the disk, and is back as it was after turn `nth`.

    `checkpoint` as in WorkspaceSaved, "" where there was none: then it is empty. `what` says so.
    """

    nth: int
    checkpoint: str
    what: Words


class TaskStopped(Struct, frozen=True, tag="task.stopped", kw_only=True, omit_defaults=True):
    """It stands still until somebody says go on; `by` a person, or "" where a limit ended it.

    `tools`: from then on it uses none but these, for whoever gave it may have no others used.
    `mend` are troubles as in core/model_trouble.py, which the owner alone is told, in words.
    """

    kind: HaltKind
    why: Words
    by: str = ""
    tools: tuple[str, ...] = (ANY_TOOL,)
    mend: tuple[tuple[str, ...], ...] = ()


class TaskSummarized(Struct, frozen=True, tag="task.summarized", kw_only=True):
    """What was done and what was not, made from the record, of when it stood still or ended."""

    text: Words


class TaskResumed(Struct, frozen=True, tag="task.resumed", kw_only=True, omit_defaults=True):
    """It goes on from where it stood, with as many turns, minutes and tokens as at first.

    `budget` adds US dollars to what it may cost.
    """

    by: str
    budget: float = 0.0


class TaskFinished(Struct, frozen=True, tag="task.finished", kw_only=True, omit_defaults=True):
    """The mate says that it is done. `evidence` is what was seen that speaks for it."""

    turn: str
    result: Words
    evidence: Words = public_words("")


class ResultOffered(Struct, frozen=True, tag="task.result_offered", kw_only=True):
    """What the task changed in its repository, as it is shown: a yes is for exactly this commit.

    `notes` say what people should look at twice, such as files that are run by themselves.
    """

    commit: str
    branch: Words
    base: str
    message: Words
    diff: Words
    files: tuple[Words, ...] = ()
    notes: tuple[Words, ...] = ()


class ResultApproved(Struct, frozen=True, tag="task.approved", kw_only=True, omit_defaults=True):
    """A person took the result; `commit` is what was shown, `merged` what it became."""

    by: str
    commit: str = ""
    merged: str = ""


class ResultRejected(Struct, frozen=True, tag="task.rejected", kw_only=True, omit_defaults=True):
    """A person did not take the result, perhaps for a reason; its branch is gone."""

    by: str
    why: Words = public_words("")


class ChangeUndone(Struct, frozen=True, tag="task.undone", kw_only=True, omit_defaults=True):
    """The last change of files, and the conversation with it, was taken back to turn `nth`.

    Without a `checkpoint` it was the merge.
    """

    by: str
    nth: int
    checkpoint: str = ""


class ScoreReason(Struct, frozen=True, kw_only=True):
    """A row of the table of heuristics that held: what it moved by how much, on whose word."""

    name: str
    score: ScoreName
    points: float
    source: ScoreSource


class AttemptScored(Struct, frozen=True, tag="task.scored", kw_only=True, omit_defaults=True):
    """Attempt `attempt` (from 1) of a task was scored, 0 to 100; a later score takes its place.

    `mate` worked in it, from turn `since` + 1 to turn `upto`; `used` are the insights that it was
    given, by their ids, in the arm `arm`. `own` is what the mind thought (-1: nothing), `off` how
    far over the truth that was; nothing goes by it. `reflects`: a look back on it follows.
    """

    attempt: int
    mate: str
    completion: float
    quality: float
    efficiency: float
    together: float
    reasons: tuple[ScoreReason, ...] = ()
    own: float = -1
    off: float = 0.0
    since: int = 0
    upto: int = 0
    used: tuple[str, ...] = ()
    arm: LearningArm = "on"
    reflects: bool = False


class ReflectionClaim(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sentence of a look back: of which part, the turns that it cites.

    `flag` says how the record contradicts it; "" where it does not.
    """

    part: ReflectionPart
    text: Words
    turns: tuple[int, ...] = ()
    flag: str = ""


class TaskReflected(Struct, frozen=True, tag="task.reflected", kw_only=True, omit_defaults=True):
    """What the mate makes of attempt `attempt`, in `claims`; `text` is its insight in a sentence.

    `trouble` says why there is nothing: no model answered, or none to any purpose.
    """

    turn: str
    text: Words
    attempt: int = 0
    claims: tuple[ReflectionClaim, ...] = ()
    trouble: str = ""


class TaskLearned(Struct, frozen=True, tag="task.learned", kw_only=True, omit_defaults=True):
    """What is kept of a look back: the ids of insights in the memory of `mate`.

    `left` says why it is none, "" where it is.
    """

    mate: str
    reflection: str
    insights: tuple[str, ...] = ()
    left: str = ""


WorkEvent = (
    TaskOpened
    | TaskClassified
    | TierChosen
    | TaskQueued
    | TaskLeased
    | PlanSet
    | TaskProgressed
    | TaskSteered
    | TaskAsked
    | TaskNudged
    | TaskEscalated
    | TaskDelayed
    | TaskRated
    | WorkspaceSaved
    | WorkspaceRecovered
    | TaskStopped
    | TaskSummarized
    | TaskResumed
    | TaskFinished
    | ResultOffered
    | ResultApproved
    | ResultRejected
    | ChangeUndone
    | AttemptScored
    | TaskReflected
    | TaskLearned
)


class ThreadTaken(Struct, frozen=True, tag="thread.taken", kw_only=True):
    """A task works in this thread from now on, until `until` unless that is renewed.

    `fence` counts who took it: who holds a smaller one writes nothing more.
    """

    task: str
    holder: str
    fence: int
    until: datetime


class ThreadRenewed(Struct, frozen=True, tag="thread.renewed", kw_only=True):
    """It goes on working there."""

    task: str
    fence: int
    until: datetime


class ThreadReleased(Struct, frozen=True, tag="thread.released", kw_only=True):
    """The thread is free."""

    task: str
    fence: int


ThreadEvent = ThreadTaken | ThreadRenewed | ThreadReleased

# ---------------------------------------------------------------- what a mate at work may do


class SetPlan(Struct, frozen=True, tag="set_plan", kw_only=True):
    """Say what it means to do, step by step."""

    steps: tuple[str, ...]


class GoOn(Struct, frozen=True, tag="go_on", kw_only=True, omit_defaults=True):
    """Take another turn; `did` is what this one came to, `estimate` its confidence (0 to 100).

    `unused` says of uses of tools that it wanted why they were not even tried.
    """

    did: str
    estimate: float = -1
    unused: str = ""


class AskPerson(Struct, frozen=True, tag="ask_person", kw_only=True):
    """Ask a person, and wait for what they say."""

    question: str


class AdmitStuck(Struct, frozen=True, tag="admit_stuck", kw_only=True):
    """Say that it does not know how to go on."""

    why: str


class FinishWork(Struct, frozen=True, tag="finish_work", kw_only=True, omit_defaults=True):
    """Say that it is done; `evidence` is what it saw that speaks for it."""

    result: str
    evidence: str = ""
    estimate: float = -1


class Classify(Struct, frozen=True, tag="classify", kw_only=True):
    """Say as what a task is to be taken."""

    task_type: TaskType
    role: str
    complexity: Complexity
    flow: FlowName
    reason: str


class SaidOfAttempt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One sentence of a look back, of which part, and the turns that it cites."""

    part: ReflectionPart
    text: str
    turns: tuple[int, ...] = ()


class LookBack(Struct, frozen=True, tag="look_back", kw_only=True):
    """Say what worked, what failed, why, what to do otherwise, and what is to be remembered."""

    claims: tuple[SaidOfAttempt, ...]


WorkAct = SetPlan | GoOn | AskPerson | AdmitStuck | FinishWork | Classify | LookBack
