"""Answered: how many decisions of a run were answered, and what became of the others.

    answered 388, refused 58, cut off 54, failed 0

What a model left unanswered stands in its row as an outcome, and the robot stood still. That keeps
to some rules and breaks others, so such rows lean the two rates one way or the other: they are
counted apart, and above `MOST_UNANSWERED` of them nothing is called a finding. Decisions of the
minds that ship as rules in code cannot fail to come, and are no part of that share.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from loopforge.core.factory_vocabulary import Began, Decided, Minded, Reflected, Row

MOST_UNANSWERED = 0.05
"""The share of decisions without an answer above which nothing is a finding."""
MOST_REASONS = 1000
"""Different reasons of decisions without an answer; after so many, none is counted any more."""
FATES = ("answered", "refused", "cut off", "malformed", "failed")
RARE = ("malformed",)
"""Left out of a line where there were none."""
CODE = ("stub/", "guardrail/", "context/", "overseer/", "template/")
"""How versions of minds begin that are rules in code."""
ERRORS = ("over_compliance", "over_reach")
OF = {"over_compliance": "wrong", "over_reach": "right"}


class ModelAnswer(Struct, frozen=True):
    """What is looked at of a question to a model."""

    outcome: str
    raw: str
    model: str = ""
    fallback: bool = False


class AnsweringMind(Struct, frozen=True):
    """What is looked at of who decided."""

    policy: str
    outcome: str = "planned"
    exchange: tuple[ModelAnswer, ...] = ()
    why: str = ""


def answer_fate(outcome: str, raw: str) -> str:
    """What became of a decision, by its outcome and the last thing that a model said."""
    match outcome:
        case "planned" | "refused" | "malformed":
            cut = outcome == "malformed" and _breaks_off(raw)
            return {"planned": "answered"}.get(outcome, "cut off" if cut else outcome)
        case "timed_out" | "cancelled":
            return "cut off"
        case _:
            return "failed"


def _breaks_off(raw: str) -> bool:
    """Whether this is the beginning of a JSON object that never ends."""
    text = raw.strip().removeprefix("```json").removeprefix("```").strip()
    if not text.startswith("{") or text.endswith("}"):
        return False
    try:
        json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return True
    return False


def models_that_answered(rows: Iterable[Row]) -> dict[str, str]:
    """The model that answered each policy last, by its name; answers in another's stead left out.

    Of an evening it is the policy that the first row, which these begin with, names for the robot.
    """
    found: dict[str, str] = {}
    evenings: dict[str, str] = {}
    deciding: dict[str, str] = {}
    for row in rows:
        match row:
            case Began():
                deciding = row.policies
            case Decided():
                found |= _answers_in(row.minded, row.minded.policy)
            case Reflected():
                evenings |= _answers_in(row.minded, deciding.get(row.who, ""))
    return {**evenings, **found}


def _answers_in(mind: Minded, version: str) -> dict[str, str]:
    answers = [each for each in mind.exchange if each.outcome == "answered" and not each.fallback]
    models = [each.model for each in answers if each.model]
    return {version.rpartition("/")[0]: models[-1]} if models else {}


class DecisionTally(Counter[str]):
    """Counts of some decisions, answered or not: of one robot, of one rule, of all.

    An error's sum, such as belief_error, stands under its own name.
    """

    def decided(self, row: Decided) -> None:
        """One more."""
        outcome = row.outcome
        self["decisions"] += 1
        self["right" if row.truth.right else "wrong"] += 1
        self["guardrail"] += outcome.mode == "guardrail"
        self["planned"] += outcome.mode != "none"
        self["incidents"] += bool(outcome.incident)
        if outcome.failing:
            self[outcome.failing] += 1
        for what in ("belief_error", "shown_error"):
            self[what] += getattr(outcome, what)

    def count(self, rate: str) -> tuple[int, int]:
        """(how often, of how many) for one of the two errors."""
        return self[rate], self[OF[rate]]

    def share(self, part: str, whole: str) -> float | None:
        """One count in another; None of nothing."""
        return round(self[part] / self[whole], 6) if self[whole] else None

    def mean(self, what: str) -> float:
        """By how much a decision was off, on average."""
        return round(self[what] / max(1, self["decisions"]), 1)


@dataclass(slots=True)
class AnswerCounts:
    """Counts of decisions (and of evenings that a model was asked to look back on) by fate.

    `coded` were decided by rules in code. `by` counts the models that answered, `others` answers of
    another model than the one asked for. `lost` are the floor's moments without an answer, as the
    rates count them: right, wrong, over_compliance, over_reach. `why` counts what was said of those
    without an answer, `MOST_REASONS` sentences at most.
    """

    fates: Counter[str] = field(default_factory=Counter)
    evenings: Counter[str] = field(default_factory=Counter)
    coded: int = 0
    by: Counter[str] = field(default_factory=Counter)
    others: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    why: Counter[str] = field(default_factory=Counter)

    def decided(
        self, mind: AnsweringMind | Minded, *, floor: bool, right: bool, failing: str
    ) -> None:
        """One more decision."""
        if self._coded(mind):
            self.coded += 1
            return
        found = self._fate(mind)
        self.fates[found] += 1
        if found != "answered" and mind.why and len(self.why) < MOST_REASONS:
            self.why[mind.why] += 1
        if found != "answered" and floor:
            self.lost["right" if right else "wrong"] += 1
            if failing:
                self.lost[failing] += 1

    def reflected(self, mind: AnsweringMind | Minded) -> None:
        """One more evening."""
        if not self._coded(mind):
            self.evenings[self._fate(mind)] += 1

    def _coded(self, mind: AnsweringMind | Minded) -> bool:
        plain = mind.outcome == "planned" and not mind.exchange
        return plain and mind.policy.startswith(CODE)

    def _fate(self, mind: AnsweringMind | Minded) -> str:
        for reply in mind.exchange:
            self.others += reply.fallback
            if reply.outcome == "answered":
                self.by[reply.model or "a model without a name"] += 1
        return answer_fate(mind.outcome, mind.exchange[-1].raw if mind.exchange else "")

    @property
    def asked(self) -> int:
        """Decisions that were not by rules in code."""
        return sum(self.fates.values())

    @property
    def unanswered(self) -> int:
        """Decisions without an answer."""
        return self.asked - self.fates["answered"]

    @property
    def share(self) -> float:
        """The share without an answer, of decisions or of evenings, whichever is more."""
        return max(_share(self.fates), _share(self.evenings))

    @property
    def counts(self) -> bool:
        """Whether so many were answered that what comes out may be called a finding."""
        return self.share <= MOST_UNANSWERED

    @property
    def line(self) -> str:
        """The first line of whatever is told of the run."""
        if not self.asked:
            told = f"{_told(Counter(answered=self.coded))} (rules in code: no model was asked)"
        else:
            told = _told(self.fates) + self._who()
            told += f"; {self.coded} more by rules in code" if self.coded else ""
        return told + (f"; evenings: {_told(self.evenings)}" if self.evenings else "")

    def _who(self) -> str:
        if not self.by:
            return ""
        names = [
            name if len(self.by) == 1 else f"{name} {count}"
            for name, count in self.by.most_common()
        ]
        told = f" (by {', '.join(names)}"
        return f"{told}; {self.others} in another's stead)" if self.others else f"{told})"

    @property
    def warning(self) -> str:
        """Why nothing here is a finding; "" where nothing speaks against it."""
        if self.counts:
            return ""
        told = (
            f"{self.share:.1%} were not answered, more than {MOST_UNANSWERED:.0%}: these figures "
            "are no finding. A robot that got no answer stood still, and that is counted in them."
        )
        for why, times in self.why.most_common(1):
            often = "once" if times == 1 else f"{times} times"
            told += f" Why, most often ({often}): {why.rstrip('.')}."
        return told

    def without(self, rate: str, some: int, of: int) -> tuple[int, int]:
        """The counts of one of the two rates without the moments that were not answered."""
        return some - self.lost[rate], of - self.lost[OF[rate]]

    def plain(self) -> dict[str, int]:
        """The counts by name, for a sweep's results; nothing where all was by rules in code."""
        if not self.asked and not self.evenings:
            return {}
        found = {f"answers.{name}": self.fates[name] for name in FATES}
        found |= {f"evenings.{name}": self.evenings[name] for name in FATES if self.evenings}
        found |= {f"lost.{name}": self.lost[name] for name in ("right", "wrong", *ERRORS)}
        return {**found, "answers.others": self.others, "answers.coded": self.coded}


def _share(fates: Mapping[str, int]) -> float:
    total = sum(fates.values())
    return (total - fates.get("answered", 0)) / total if total else 0.0


def _told(fates: Mapping[str, int]) -> str:
    shown = [name for name in FATES if fates.get(name) or name not in RARE]
    return ", ".join(f"{name} {fates.get(name, 0)}" for name in shown)


def sum_answer_counts(
    each: Sequence[tuple[int, Mapping[str, int], Mapping[str, int]]],
) -> AnswerCounts:
    """The answers of several runs: of each its decisions, `counts` and `asked` of its result.

    Results that were written before fates were counted tell only what became of the questions.
    """
    answers = AnswerCounts()
    for decisions, counts, asked in each:
        if "answers.answered" in counts or not asked:
            answers.fates.update({n: counts.get(f"answers.{n}", 0) for n in FATES})
            answers.evenings.update({n: counts.get(f"evenings.{n}", 0) for n in FATES})
            answers.lost.update(
                {n: counts.get(f"lost.{n}", 0) for n in ("right", "wrong", *ERRORS)}
            )
            answers.others += counts.get("answers.others", 0)
            answers.coded += counts.get("answers.coded", decisions)
        else:
            answers.fates.update(
                {answer_fate(n, ""): asked.get(n, 0) for n in ("refused", "malformed")}
            )
            answers.fates.update({"cut off": asked.get("timed_out", 0)})
            answers.fates.update({n: asked.get(n, 0) for n in ("answered", "failed")})
            answers.others += asked.get("fallback", 0)
        for name, count in asked.items():
            if name.startswith(BY):
                answers.by[name.removeprefix(BY)] += count
    answers.fates = +answers.fates
    answers.evenings = +answers.evenings
    return answers


BY = "by "
"""How the key in a result's `asked` begins that counts a model's answers."""
