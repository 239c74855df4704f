"""The counts of a run: its decisions by outcome, the two errors of its floor, its incidents.

A run that is played is counted as its rows are written; one that lies in a folder, from its log.
"""

import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopforge.core.factory_vocabulary import Decided, Reflected, Row, Stepped
from loopforge.lab.run.answered_decisions import ERRORS, FATES, AnswerCounts
from loopforge.lab.run.run_log import LogChain


@dataclass(slots=True)
class RunCounts:
    """What came of a run: where it lies, the head of its chain, and its counts.

    Failings, and the moments in which a rule was right or wrong, are those of the floor: what the
    Supervisor itself kept or broke stands in `squares` alone. (A day's own row, DayEnded, counts
    failings of everybody.)
    """

    folder: Path
    head: str = ""
    rows: int = 0
    decisions: int = 0
    squares: Counter[str] = field(default_factory=Counter)
    failings: Counter[str] = field(default_factory=Counter)
    right: int = 0
    wrong: int = 0
    incidents: int = 0
    belief_error: int = 0
    answers: AnswerCounts = field(default_factory=AnswerCounts)

    def add(self, row: Row) -> None:
        """Count one more row."""
        self.rows += 1
        match row:
            case Decided():
                self.decided(row)
            case Stepped():
                self.incidents += len(row.incidents)
            case Reflected():
                self.answers.reflected(row.minded)

    def decided(self, row: Decided) -> None:
        """Count a decision."""
        outcome, floor, right = row.outcome, row.role != "supervisor", row.truth.right
        self.decisions += 1
        self.squares[outcome.square] += 1
        self.belief_error += outcome.belief_error
        self.answers.decided(row.minded, floor=floor, right=right, failing=outcome.failing)
        if floor:
            self.right += right
            self.wrong += not right
            if outcome.failing:
                self.failings[outcome.failing] += 1

    @property
    def over_compliance(self) -> float:
        """Kept to the rule, of all moments in which it was wrong here; NaN of none."""
        return _number(self.rate("over_compliance"))

    @property
    def over_reach(self) -> float:
        """Broke the rule, of all moments in which it was right here; NaN of none."""
        return _number(self.rate("over_reach"))

    def rate(self, name: str) -> float | None:
        """One of the two rates; None where there was no moment for it."""
        return _share(self.failings[name], self.wrong if name == "over_compliance" else self.right)

    def answered(self, rate: str) -> tuple[int, int]:
        """How often, of how many, for one of the two rates without what was not answered."""
        of = self.wrong if rate == "over_compliance" else self.right
        return self.answers.without(rate, self.failings[rate], of)

    @property
    def mean_belief_error(self) -> float:
        """How far minds were from the case on average, in thousandths."""
        return self.belief_error / self.decisions if self.decisions else 0.0


class CountingChain(LogChain):
    """A chain that counts what it writes into the run of this folder."""

    __slots__ = ("run",)

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.run = RunCounts(folder)

    def line(self, row: Row) -> bytes:
        """The row's line, counted."""
        self.add(row)
        return super().line(row)

    def add(self, row: Row) -> None:
        """Count a row."""
        self.run.add(row)


def run_counts_as_dict(run: RunCounts) -> dict[str, Any]:
    """A run's counts as plain values."""
    return {
        "folder": str(run.folder),
        "head": run.head,
        "rows": run.rows,
        "decisions": run.decisions,
        "squares": dict(run.squares),
        **{rate: _rounded(run.rate(rate)) for rate in ERRORS},
        "belief_error": round(run.mean_belief_error, 1),
        "incidents": run.incidents,
        "answers": {
            "line": run.answers.line,
            **{name: run.answers.fates[name] for name in FATES},
            "by_code": run.answers.coded,
            "by_others": run.answers.others,
            "unanswered": round(run.answers.share, 4),
            "finding": run.answers.counts,
        },
        "answered_only": {rate: _rounded(_share(*run.answered(rate))) for rate in ERRORS},
    }


def _share(some: int, of: int) -> float | None:
    return some / of if of else None


def _number(rate: float | None) -> float:
    return math.nan if rate is None else rate


def _rounded(rate: float | None) -> float | None:
    return None if rate is None else round(rate, 4)
