"""The flight record: what is kept of one turn of a mate, or of one line of a person, as plain text.

These are the shapes alone, ready for a page, for JSON and for a terminal. Every text in them has
been through the veil (redaction.py): it is the text itself, "[forgotten]", or a marker in brackets
that says why the reader may not see it. Times are UTC; spans are in milliseconds.

Does not know how a record is gathered (record_building.py), nor how it is told (plain_summary.py,
plain_summary.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from msgspec import Struct

from loopforge.core.limits.budget_limits import BudgetNote

Changed = Literal["", "edited", "deleted"]
"""What became of a line later. A record shows it as it was then, if it is not forgotten."""


class SpokenPart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line as the mate saw it. `seq` is its place in the room, 0 where it has none.

    `kind`: heard, said, mine, note, result, told, file. `at` is local time as shown, "14:05".
    """

    kind: str
    text: str
    who: str = ""
    id: str = ""
    seq: int = 0
    at: str = ""
    mode: str = ""
    narrative: str = ""
    kept: bool = False
    hidden: bool = False
    changed: Changed = ""


class CallingLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The line that called. `mate` is its author's handle, "" for a person."""

    id: str
    who: str
    text: str
    seq: int = 0
    at: datetime | None = None
    mate: str = ""
    hidden: bool = False
    changed: Changed = ""


class TriggerReason(Struct, frozen=True, kw_only=True):
    """One reason of a score, its points, and what it means."""

    name: str
    points: int
    meaning: str


class SpeakerCandidate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A mate that was weighed for a line. `verdict`: speak, ask (its mind decides), pass.

    In the record of a person's line, `turn` is the turn it took then, `outcome` what came of it.
    """

    mate: str
    name: str
    score: int
    verdict: str
    summons: str
    reasons: tuple[TriggerReason, ...] = ()
    turn: str = ""
    outcome: str = ""


class ShownEdit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One way in which what it was shown departs from the truth."""

    kind: str
    what: str
    by: str
    why: str
    count: int = 0


class Purge(Struct, frozen=True, kw_only=True):
    """Lines that left the mate's window just before this turn; `before` and `after` in tokens."""

    lines: int
    before: int
    after: int


class RecalledPart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line or an item of memory that came to the mate: when and from whom, how well it fitted.

    `standing`: it keeps it and goes by it. `left` says why it was not shown, "" where it was.
    """

    id: str
    text: str
    who: str = ""
    at: str = ""
    which: str = ""
    score: float = 0.0
    parts: tuple[tuple[str, float], ...] = ()
    left: str = ""
    standing: bool = False
    hidden: bool = False


class ShownPrompt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the mind was shown. `rest` is the perception without its lines, as JSON.

    `memory` is what came to it from earlier, also what was left out.
    """

    lines: tuple[SpokenPart, ...]
    rest: str
    character: str = ""
    tokens: int = 0
    edits: tuple[ShownEdit, ...] = ()
    purge: Purge | None = None
    memory: tuple[RecalledPart, ...] = ()

    @property
    def spoken(self) -> int:
        """How many of the lines are somebody's."""
        return len({line.id for line in self.lines if line.id}) + sum(
            line.hidden for line in self.lines
        )


class Prompt(Struct, frozen=True, kw_only=True):
    """One message of a prompt, to the letter."""

    role: str
    text: str


class ModelTry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One try at one model, and what came of it."""

    model: str
    outcome: str
    took: int = 0
    detail: str = ""


class AskedStep(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag="asked", tag_field="kind"
):
    """A question to a language model and its answer; `outcome` "" while there is none.

    `text` is the raw answer, `parsed` what was read out of it, `mended` what it lacked of the
    form. `trouble` says why no model answered, where that is known. `first` and `took`:
    milliseconds to the first token and in all. `heard`: lines that came in meanwhile.
    """

    nth: int
    purpose: str
    prompt: tuple[Prompt, ...]
    aloud: bool = False
    field: str = ""
    schema: str = ""
    max_tokens: int = 0
    outcome: str = ""
    trouble: str = ""
    model: str = ""
    fallback: bool = False
    text: str = ""
    parsed: str = ""
    mended: tuple[str, ...] = ()
    attempts: tuple[ModelTry, ...] = ()
    read: int = 0
    cached: int = 0
    written: int = 0
    cost: str = ""
    budget: BudgetNote | None = None
    first: int = 0
    took: int = 0
    heard: tuple[SpokenPart, ...] = ()

    @property
    def tried(self) -> tuple[ModelTry, ...]:
        """The tries that say more than the answer does."""
        told = len(self.attempts) > 1 or self.fallback or any(one.detail for one in self.attempts)
        return self.attempts if told else ()


class RecordedCall(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag="call", tag_field="kind"
):
    """A call of a tool and its result. `planned`: it was an act of the plan.

    `deferred`: its turn did not wait for it to the end. `stages`: what happened to it, in order.
    `within`: a program that this tool ran called it, not the mind.
    """

    nth: int
    tool: str
    arguments: str
    planned: bool = False
    idempotent: bool = False
    outcome: str = ""
    value: str = ""
    deferred: bool = False
    took: int = 0
    heard: tuple[SpokenPart, ...] = ()
    stages: tuple[RecordStage, ...] = ()
    within: str = ""


class PlannedAct(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One act of the plan and the guard's verdict: `rule` refused it, because of `why`.

    Where it is allowed, `why` says what was taken out of it before it was said.
    """

    act: str
    detail: str = ""
    judged: bool = True
    allowed: bool = True
    rule: str = ""
    refuses: str = ""
    why: str = ""


class RecordedPlan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The plan: `mode` guardrail (it follows `rule`) or context; `notes`: what is odd about it."""

    intent: str
    mode: str
    narrative: str
    plan: str
    rule: str = ""
    acts: tuple[PlannedAct, ...] = ()
    notes: tuple[str, ...] = ()


ActKind = Literal[
    "said",
    "said anew",
    "written down",
    "noted",
    "kept",
    "let go",
    "reacted",
    "tool",
    "marked",
    "titled",
]
"""What became of a turn in the room."""
CAME: Mapping[ActKind, str] = {
    "said": "Said",
    "said anew": "Said anew",
    "written down": "Wrote down what is said",
    "noted": "Noted for itself",
    "kept": "Remembers",
    "let go": "Let go of",
    "reacted": "Reacted",
    "tool": "Used a tool",
    "marked": "Marked a line",
    "titled": "Gave the room a title",
}


class ActRecord(Struct, frozen=True, kw_only=True):
    """Something of the turn that is in the room."""

    kind: ActKind
    text: str
    id: str
    seq: int

    @property
    def came(self) -> str:
        """What it is called."""
        return CAME[self.kind]


class RecordStage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of a delivery, or of a use of a tool."""

    what: str
    at: datetime
    detail: str = ""


class RecordedDelivery(Struct, frozen=True, kw_only=True):
    """What became of one thing on one surface.

    `state`: queued, attempting, accepted, put off, failed, uncertain. `place` is
    what people call that place of a platform, its name and where that is.
    """

    surface: str
    what: str
    of: str
    state: str
    stages: tuple[RecordStage, ...]
    place: str = ""

    @property
    def where(self) -> str:
        """The place as people call it, else the surface."""
        return self.place or self.surface


class RecordMoment(Struct, frozen=True, kw_only=True):
    """Something on the timeline; `after` is milliseconds from when the mate began to look."""

    at: datetime
    after: int
    what: str


class TurnCost(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What it took: tokens, cost in USD ("" where no price is known), milliseconds.

    `first` is from the beginning of the first question to its first token. `budget` says in one
    sentence against which budget it was, and what that said; "" where nothing was bound.
    """

    questions: int = 0
    read: int = 0
    cached: int = 0
    written: int = 0
    cost: str = ""
    budget: str = ""
    first: int = 0
    took: int = 0


class TurnRecord(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag="turn", tag_field="about"
):
    """Everything the ledger holds about one turn.

    `outcome`: done, stopped, diverged, failed; "" while it goes on. `withheld` says in one sentence
    what the reader may not see, and why; "" for nothing. `before` and `after` are the turns of the
    steps before and after this one in a chain.
    """

    turn: str
    room: str
    seq: int
    at: datetime
    mate: str
    name: str
    mind: str
    policy: str
    summons: str
    step: int
    shown: ShownPrompt
    withheld: str = ""
    caller: CallingLine | None = None
    candidates: tuple[SpeakerCandidate, ...] = ()
    requests: tuple[AskedStep | RecordedCall, ...] = ()
    intent: RecordedPlan | None = None
    deeds: tuple[ActRecord, ...] = ()
    outcome: str = ""
    why: str = ""
    bill: TurnCost = TurnCost()
    timeline: tuple[RecordMoment, ...] = ()
    deliveries: tuple[RecordedDelivery, ...] = ()
    before: str = ""
    after: str = ""

    @property
    def own(self) -> SpeakerCandidate | None:
        """How this mate itself was weighed."""
        return next((one for one in self.candidates if one.mate == self.mate), None)

    @property
    def others(self) -> tuple[SpeakerCandidate, ...]:
        """How the others were weighed for the same line."""
        return tuple(one for one in self.candidates if one.mate != self.mate)

    @property
    def said(self) -> tuple[ActRecord, ...]:
        """What it said."""
        return tuple(deed for deed in self.deeds if deed.kind == "said")

    @property
    def at_work(self) -> bool:
        """Whether it was a turn of a task, which is in no conversation."""
        return self.summons in ("triage", "task", "reflect")

    @property
    def replay(self) -> str:
        """The command that replays this turn."""
        return f"loopforge turn replay {self.turn}"


Verdict = Literal["weighed", "waiting", "stopped"]


class LineRecord(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag="line", tag_field="about"
):
    """What became of a person's line: who weighed it, who answered, who passed.

    `state`: weighed, waiting (nobody has weighed it yet) or stopped (a stop came before anybody
    did). `gathered` says with how many later lines of the same person it was weighed as one.
    """

    id: str
    room: str
    seq: int
    at: datetime
    who: str
    text: str
    state: Verdict
    gathered: int = 0
    changed: Changed = ""
    withheld: str = ""
    candidates: tuple[SpeakerCandidate, ...] = ()


Flight = TurnRecord | LineRecord
