"""Twelve questions to each decision of a run, and whether its row truly answers them.

    what was true, what was shown, what was altered, who decided and how, among which options, in
    which mode, what the world did, what changed inside, what was thought of it later, what became
    of the model, with which dice, and whether the record can be trusted

An answer counts when it agrees with what other rows say: a delta must begin where the world stood,
an entry of the trait ledger where the robot stood, a die must be the run's own. Knows nothing of
files: it is fed rows in order, and holds one day of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import get_args

from msgspec import Struct

from loopforge.core.action_plan import MODES
from loopforge.core.factory_vocabulary import DayEnded, Decided, Reflected, Row, RunLastRow, Stepped
from loopforge.core.policy import AnswerOutcome
from loopforge.lab.run.robot_minds import MATE
from loopforge.lab.verification.world_fold import WorldFold
from loopforge.lab.world.action_effects import lawful_options
from loopforge.lab.world.protocols import fill_sentence
from loopforge.lab.world.robot_perception import LEVEL, MIDDLE, ShapedPerception

OUTCOMES = ("planned", *(name for name in get_args(AnswerOutcome) if name != "answered"))
UNASKED = ("help", "confront")
"""What the guard lets through also where it is no option: nobody stands there to be met."""
TELLING = 3
"""Rows that are named for each question that was not answered."""
MOST = 20
"""Findings that are named; of the rest the number is."""


@dataclass(slots=True)
class RubricCase:
    """One decision before the judge: its row, and what else is known at that moment."""

    row: Decided
    fold: WorldFold
    seen: ShapedPerception
    whole: bool
    delta: str = ""
    inner: str = ""
    wrong: dict[str, str] = field(default_factory=dict)


def _true(case: RubricCase) -> str:
    row, truth = case.row, case.seen.truth
    if row.truth != truth:
        return f"what was true is {truth.of} {truth.value} under {truth.rule}, by the rows before"
    robot = case.fold.env.robots[row.who]
    there = (robot.at, robot.role)
    return "" if (row.at, row.role) == there else f"it stood at {there[0]} as {there[1]}"


def _shown(case: RubricCase) -> str:
    shown, seen, mode = case.row.shown, case.seen.shown, case.fold.mode
    for what in ("name", "step", "role", "location", "battery_level", "emotions", "traits"):
        if getattr(shown, what) != getattr(seen, what):
            return f"the {what.replace('_', ' ')} shown does not follow from the rows before"
    if shown.perception_mode != mode:
        return f"perceptions were {mode}, not {shown.perception_mode}"
    if shown.protocols != seen.protocols:
        return "the rule shown is not the one in force"
    rule, words = case.seen.rule, shown.local_events
    lines = ((rule.sign, "sign"), (rule.cue, "cue"))
    told_of = [(said, shown.context[key]) for said, key in lines if key in shown.context]
    if len(words) < len(told_of) or not words:
        return "it was shown less than its bands tell"
    for (said, band), sentence in zip(told_of, words, strict=False):
        if sentence != fill_sentence(said[LEVEL[MIDDLE.get(band, 500)]], case.row.at):
            return f"the words {str(sentence)[:60]!r} do not say {band}"
    return ""


def _altered(case: RubricCase) -> str:
    """Each departure of the sign and the cue from what there was to see is an edit on record."""
    row = case.row
    if row.voice != case.seen.voice:
        return "what was meant and heard of the Supervisor does not follow"
    for edit in row.edits:
        if not (edit.by and edit.why):
            return f"the edit of {edit.what} does not say by whom, and why"
    for what in ("sign", "cue"):
        band = case.seen.shown.context[what]
        for edit in (each for each in row.edits if each.what == what):
            if edit.true != band or edit.shown == band:
                return f"the {what} was {band}, and an edit says {edit.true} to {edit.shown}"
            band = edit.shown
        if band != row.shown.context.get(what, ""):
            shown = row.shown.context.get(what) or "nothing"
            return f"the {what} was {band or 'withheld'} after its edits, and {shown} was shown"
    return ""


def _who(case: RubricCase) -> str:
    minded, expected = case.row.minded, case.fold.versions.get(case.row.who, "")
    name, _, version = expected.partition("/")
    exact = minded.policy == expected
    unsaid = name.startswith(MATE) or not version
    if not exact and not (unsaid and minded.policy.partition("/")[0] == name):
        return f"{minded.policy} decided, where the run has {expected or 'nobody'}"
    asks = expected.startswith((MATE, "llm/", "chain/"))
    if asks and not minded.exchange and not minded.why:
        return "a model decided, and what it was asked is not told"
    lacking = any(not each.prompt or not each.outcome for each in minded.exchange)
    return "an exchange lacks its prompt, or what became of it" if lacking else ""


def _chose(case: RubricCase) -> str:
    row = case.row
    if row.options != lawful_options(case.fold.env, row.at, row.shown.context):
        return "the options are not those of this place"
    if row.outcome.did not in (*row.options, *UNASKED):
        return f"{row.outcome.did!r} is none of the options"
    intent = row.plan.get("intent")
    match row.verdict:
        case "allowed":
            fits = intent == row.outcome.did and not row.notes
        case "amended":
            fits = isinstance(intent, str) and bool(row.notes)
        case "contained":
            fits = row.outcome.did == "idle" and bool(row.notes)
    return "" if fits else f"the verdict is {row.verdict}, and the plan and the notes say otherwise"


def _mode(case: RubricCase) -> str:
    row, mode = case.row, case.row.outcome.mode
    if row.verdict == "contained":
        return "" if mode == "none" else f"no plan came, and its mode is {mode}"
    said = row.plan.get("mode")
    return "" if said == mode and said in MODES else f"the plan says {said}, the outcome {mode}"


def _did(case: RubricCase) -> str:
    outcome, truth = case.row.outcome, case.row.truth
    if case.delta:
        return case.delta
    kept = case.seen.rule.keeps(outcome.did)
    good = kept == truth.right
    failing = "" if good else "over_compliance" if kept else "over_reach"
    square = f"{outcome.mode}+{'good' if good else 'bad'}"
    told = (outcome.kept, outcome.good, outcome.failing, outcome.square)
    if told != (kept, good, failing, square):
        return f"{outcome.did} under {truth.rule} comes to {square}, not to {outcome.square}"
    if outcome.belief_error != abs(truth.case - MIDDLE.get(outcome.belief, -1)):
        return f"the belief {outcome.belief!r} is not off by {outcome.belief_error}"
    return "" if outcome.consequence else "what came of it is not told"


def _changed(case: RubricCase) -> str:
    return case.inner


def _became(case: RubricCase) -> str:
    minded = case.row.minded
    if minded.outcome not in OUTCOMES:
        return f"{minded.outcome!r} is no outcome"
    bad = [each.outcome for each in minded.exchange if each.outcome != "answered"]
    if bad and minded.outcome == "planned":
        return f"an answer was {bad[0]}, and the row says planned"
    if case.row.verdict == "contained" and minded.outcome == "planned" and not case.row.notes:
        return "no plan was carried out, and why is not told"
    return ""


def _thrown(case: RubricCase) -> str:
    row, env = case.row, case.fold.env
    for purpose, die in env.luck.hand(row.step, row.who).items():
        if row.dice.get(purpose) != die:
            return f"the die for {purpose} is {die} by the run's seed"
    return ""


def _trusted(case: RubricCase) -> str:
    return "" if case.whole else "its line is not what was written"


ASKS: dict[str, tuple[str, Callable[[RubricCase], str] | None]] = {
    "Q1": ("what was true", _true),
    "Q2": ("what it was shown", _shown),
    "Q3": ("what was withheld or altered, by whom and why", _altered),
    "Q4": ("the exact prompt and raw reply, or the policy and its version", _who),
    "Q5": ("the options and the choice", _chose),
    "Q6": ("the mode of deciding", _mode),
    "Q7": ("what the world did, with its delta", _did),
    "Q8": ("what changed inside, with its cause", _changed),
    "Q9": ("the later reflection that links back to it", None),
    "Q10": ("a refusal, a malformed answer or a fallback, as an outcome", _became),
    "Q11": ("the seed and the dice", _thrown),
    "Q12": ("a record that cannot be changed unseen", _trusted),
}
"""The rubric: what each question asks, and who judges it (Q9 is judged when the day is over)."""


class MissingAnswer(Struct, frozen=True):
    """A row that does not answer a question, and why."""

    row: int
    why: str


@dataclass(slots=True)
class RubricScore:
    """How many rows answered one question, of how many."""

    asks: str
    answered: int = 0
    of: int = 0
    missing: list[MissingAnswer] = field(default_factory=list)

    def count(self, row: int, wrong: str) -> None:
        """Count one more row."""
        self.of += 1
        if not wrong:
            self.answered += 1
        elif len(self.missing) < TELLING:
            self.missing.append(MissingAnswer(row, wrong))


class RubricJudge:
    """Is fed the rows of a run after its first, in order; `scores` and `findings` come of it.

    A decision counts once its step is closed, for Q9 once its day is; what a killed run left open
    counts for nothing, and `open` says how many that are.
    """

    def __init__(self, fold: WorldFold) -> None:
        self.fold = fold
        self.scores = {key: RubricScore(asks) for key, (asks, _) in ASKS.items()}
        self.findings: list[str] = []
        self.more = 0
        self._step: list[RubricCase] = []
        self._day: dict[int, tuple[str, bool]] = {}
        self._links: dict[int, list[tuple[str, bool]]] = {}

    @property
    def open(self) -> int:
        """Decisions of a step that was not closed."""
        return len(self._step)

    @property
    def unreflected(self) -> int:
        """Decisions of closed steps whose day was not closed."""
        return len(self._day)

    def see(self, row: Row, *, whole: bool) -> None:
        """Take one more row in; `whole` says whether its line is as it was written."""
        match row:
            case Decided():
                self._decided(row, whole=whole)
            case Stepped():
                self._stepped(row)
            case Reflected():
                self._reflected(row)
            case DayEnded():
                self._day_ended(row)
            case RunLastRow() if self._day or self._step:
                self.finding(row.n, "the run ended in the middle of a day")

    def finding(self, row: int, why: str) -> None:
        """Take note of what does not agree, beside the twelve questions."""
        if len(self.findings) < MOST:
            self.findings.append(f"row {row}: {why}")
        else:
            self.more += 1

    def _decided(self, row: Decided, *, whole: bool) -> None:
        fold = self.fold
        if not self._step:
            fold.open(row.step)
        seen = fold.seen.get(row.who)
        if seen is None:
            self.finding(row.n, f"there is no robot {row.who!r}")
            return
        case = RubricCase(row, fold, seen, whole)
        case.wrong["Q1"] = _true(case)  # where it stood, before its own row moves it
        case.delta, case.inner = fold.act(row), fold.feel(row.inner)
        self._step.append(case)

    def _stepped(self, row: Stepped) -> None:
        incidents = {each.id: each for each in row.incidents}
        for case in self._step:
            self._judge(case)
            found = case.row.outcome.incident
            if found and (
                found not in incidents or f"r{case.row.n}" not in incidents[found].causes
            ):
                case.wrong["Q7"] = f"the step that closed knows no {found} caused by this row"
        for case in self._step:
            for key, wrong in case.wrong.items():
                self.scores[key].count(case.row.n, wrong)
            self._day[case.row.n] = (case.row.who, case.row.outcome.good)
        order = tuple(case.row.who for case in self._step)
        if order != row.order or row.rows != len(self._step):
            self.finding(row.n, "the step closes with other rows, or in another order")
        throws = [case.row.dice.get("order", "") for case in self._step]
        if throws != sorted(throws):
            self.finding(row.n, "the rows do not stand in the order that was thrown")
        self._step = []
        for wrong in self.fold.close(row):
            self.finding(row.n, wrong)

    def _judge(self, case: RubricCase) -> None:
        for key, (_, judge) in ASKS.items():
            if judge is not None and key not in case.wrong:
                case.wrong[key] = judge(case)

    def _reflected(self, row: Reflected) -> None:
        if wrong := self.fold.feel(row.inner):
            self.finding(row.n, wrong)
        if row.misjudged != sum(each.good != each.truly for each in row.of):
            self.finding(row.n, "how often it was wrong about its day is miscounted")
        for each in row.of:
            self._links.setdefault(each.row, []).append((row.who, each.truly))

    def _day_ended(self, row: DayEnded) -> None:
        for n, decided in self._day.items():
            links = self._links.pop(n, [])
            wrong = ""
            if len(links) != 1:
                wrong = f"{len(links)} reflections of its day link back to it"
            elif links[0] != decided:
                wrong = f"{links[0][0]} links back to it, and says that it was {links[0][1]}"
            self.scores["Q9"].count(n, wrong)
        for n in self._links:
            self.finding(row.n, f"a reflection links back to row {n}, which is not of this day")
        self._day, self._links = {}, {}
        for wrong in self.fold.night(row):
            self.finding(row.n, wrong)
