"""The evaluator: how good an attempt at a task was, 0 to 100, by what can be seen of it.

    completion   is what was wanted there?          half of the whole
    quality      would one want it so?              three tenths
    efficiency   how much did it take to get there? two tenths

All of it stands in one table, HEURISTICS: what is looked for, for which of the three it counts, how
many points, and whose word it is. What people decided weighs more than what tests say, tests more
than commands. What the mind itself thinks is no row of it: it is reported beside the score, with
how far it was off. Nothing is stopped by a score. Pure.
"""

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from loopforge.core.work.command_results import (
    CHANGING,
    SeenResult,
    changes_in,
    error_of,
    exit_code,
    exit_of_tests,
)
from loopforge.core.work.work_vocabulary import ScoreName, ScoreReason, ScoreSource

Ending = Literal["finished", "stopped", "asked", "escalated", "going"]
Decision = Literal["", "approved", "rejected", "undone"]
STARTS: dict[ScoreName, float] = {"completion": 50.0, "quality": 60.0, "efficiency": 100.0}
"""Where each of the three begins, before anything was seen."""
SHARES: dict[ScoreName, float] = {"completion": 0.5, "quality": 0.3, "efficiency": 0.2}
"""What each of them is of the whole."""
LEAST, MOST = 0.0, 100.0
ADDING = 3
"""What went wrong counts up to so many times."""
LARGE = 400
"""Rows of a diff above which it is hard to review."""
LINTING = re.compile(
    r"\b(?:ruff|flake8|pylint|mypy|pyright|bandit|eslint|tsc|biome|shellcheck|hadolint|yamllint"
    r"|clippy|golangci-lint|go vet|rubocop|(?:black|prettier|isort)\b.*--check)\b"
)
"""Commands that look for faults without running anything."""
TEST_FILE = re.compile(r"(?:^|/)(?:tests?/|test_[^/]*$|[^/]*[._]test\.[^/]*$|[^/]*\.spec\.[^/]*$)")
LEFT_OVER = re.compile(
    r"^\+(?!\+\+ ).*(?:\b(?:TO[D]O|FIX[M]E|X[X]X)\b|breakpoint\(\)|set_trace\(|console\.log\(|debugger;)"
    r"|^\+(?:<{7}|={7}|>{7})(?: |$)",
    re.MULTILINE,
)
"""What somebody forgot in a change: marks, debuggers, conflicts."""
WEAKENED = re.compile(
    r"^\+(?!\+\+ ).*(?:pytest\.mark\.(?:skip|xfail)|@unittest\.skip|\b(?:it|test|describe)\.skip\()"
    r"|^-(?!-- )\s*assert\b",
    re.MULTILINE,
)
"""Tests that a change skips, or checks that it takes out."""


class Trajectory(NamedTuple):
    """What can be seen of one attempt: uses of tools in order, how it ended, what people did.

    `changes`: it should change files. `files` and `diff` are what it offers to be merged (None: no
    repository). `broken` turns came to nothing; `circles` are nudges. `cost` and `budget` are in US
    dollars (a budget of 0: none). `estimate` is the mind's own last one, 0 to 100 (-1: none).
    """

    seen: Sequence[SeenResult] = ()
    ending: Ending = "going"
    decision: Decision = ""
    turns: int = 0
    most: int = 1
    changes: bool = False
    files: tuple[str, ...] | None = None
    diff: str = ""
    thumbs_up: int = 0
    thumbs_down: int = 0
    corrections: int = 0
    broken: int = 0
    circles: int = 0
    cost: float = 0.0
    budget: float = 0.0
    estimate: float = -1

    @property
    def tests(self) -> list[int]:
        """How runs of tests ended."""
        codes = (exit_of_tests(one.what, one.value) for one in self.seen)
        return [code for code in codes if code is not None]

    @property
    def linters(self) -> list[int]:
        """How linters ended."""
        codes = (exit_code(one.value) for one in self.seen if LINTING.search(one.what))
        return [code for code in codes if code is not None]

    @property
    def commands(self) -> list[int]:
        """How all other commands ended."""
        rest = [one for one in self.seen if exit_of_tests(one.what, one.value) is None]
        codes = [exit_code(one.value) for one in rest if not LINTING.search(one.what)]
        return [code for code in codes if code is not None]

    @property
    def changed(self) -> bool:
        """Whether a file was changed by its tools, or is offered as changed."""
        wrote = any(one.tool in CHANGING and one.outcome == "returned" for one in self.seen)
        return wrote or bool(self.files) or any(changes_in(one.value) for one in self.seen)

    @property
    def errors(self) -> list[str]:
        """What went wrong, one text for one kind."""
        return [error for one in self.seen if (error := error_of(one))]


class Heuristic(NamedTuple):
    """One row: its points count as often as `times` says (a share of one, or up to ADDING)."""

    name: str
    score: ScoreName
    points: float
    source: ScoreSource
    times: Callable[[Trajectory], float]


def _rows(diff: str) -> int:
    return sum(
        row[:1] in "+-" and row[:3] not in ("+++", "---") for row in diff.splitlines() if row
    )


def _last(codes: list[int], *, good: bool) -> bool:
    return bool(codes) and (codes[-1] == 0) is good


def _repeated(seen: Trajectory) -> int:
    return len(seen.errors) - len(set(seen.errors))


# fmt: off
HEURISTICS: tuple[Heuristic, ...] = (
    # ---- what people decided
    Heuristic("approved",                 "completion",  50, "people",   lambda t: t.decision == "approved"),
    Heuristic("rejected",                 "completion", -60, "people",   lambda t: t.decision == "rejected"),
    Heuristic("taken back",               "completion", -60, "people",   lambda t: t.decision == "undone"),
    Heuristic("approved",                 "quality",     25, "people",   lambda t: t.decision == "approved"),
    Heuristic("rejected",                 "quality",    -30, "people",   lambda t: t.decision == "rejected"),
    Heuristic("taken back",               "quality",    -40, "people",   lambda t: t.decision == "undone"),
    Heuristic("thumb up",                 "quality",     15, "people",   lambda t: t.thumbs_up),
    Heuristic("thumb down",               "quality",    -20, "people",   lambda t: t.thumbs_down),
    Heuristic("thumb down",               "completion", -15, "people",   lambda t: t.thumbs_down),
    Heuristic("corrected by a person",    "quality",    -10, "people",   lambda t: t.corrections),
    # ---- what tests and linters say
    Heuristic("its last tests passed",    "completion",  30, "tests",    lambda t: _last(t.tests, good=True)),
    Heuristic("its last tests failed",    "completion", -30, "tests",    lambda t: _last(t.tests, good=False)),
    Heuristic("its last tests failed",    "quality",    -15, "tests",    lambda t: _last(t.tests, good=False)),
    Heuristic("its last tests passed",    "quality",     15, "tests",    lambda t: _last(t.tests, good=True)),
    Heuristic("its last linter was content", "quality",  10, "linters",  lambda t: _last(t.linters, good=True)),
    Heuristic("its last linter complained", "quality",  -15, "linters",  lambda t: _last(t.linters, good=False)),
    # ---- what commands say
    Heuristic("its last command ended well", "completion", 15, "commands", lambda t: _last(t.commands, good=True)),
    Heuristic("its last command failed",  "completion", -20, "commands", lambda t: _last(t.commands, good=False)),
    Heuristic("a use has an unknown outcome", "completion", -10, "commands", lambda t: sum(s.outcome == "unknown" for s in t.seen)),
    Heuristic("a command failed",         "efficiency",  -5, "commands", lambda t: sum(map(bool, t.commands))),
    Heuristic("the same error again",     "efficiency", -10, "commands", _repeated),
    # ---- what changed
    Heuristic("no file was changed, though one should be", "completion", -30, "diff", lambda t: t.changes and not t.changed),
    Heuristic("nothing to merge",         "completion", -20, "diff",     lambda t: t.files == ()),
    Heuristic("the change has tests",     "quality",     10, "diff",     lambda t: any(map(TEST_FILE.search, t.files or ()))),
    Heuristic("the change weakens tests", "quality",    -20, "diff",     lambda t: bool(WEAKENED.search(t.diff))),
    Heuristic("something was left over in it", "quality", -10, "diff",   lambda t: bool(LEFT_OVER.search(t.diff))),
    Heuristic("the change is large",      "quality",    -10, "diff",     lambda t: _rows(t.diff) > LARGE),
    # ---- how it went
    Heuristic("it came to its end",       "completion",  10, "course",   lambda t: t.ending == "finished"),
    Heuristic("it stood still before its end", "completion", -30, "course", lambda t: t.ending in ("stopped", "asked")),
    Heuristic("another model had to go on", "completion", -30, "course", lambda t: t.ending == "escalated"),
    Heuristic("turns that it took",       "efficiency", -40, "course",   lambda t: min(1.0, t.turns / max(1, t.most))),
    Heuristic("what it cost of its budget", "efficiency", -20, "course", lambda t: min(1.0, t.cost / t.budget) if t.budget else 0),
    Heuristic("a turn came to nothing",   "efficiency", -10, "course",   lambda t: t.broken),
    Heuristic("it went in circles",       "efficiency", -10, "course",   lambda t: t.circles),
)
# fmt: on
"""The table. Every row that holds is named with the score, so that nobody has to guess."""


class TrajectoryScores(NamedTuple):
    """The scores of an attempt, each 0 to 100, and the rows of the table that made them so.

    `own` is what the mind thought (-1: nothing), `off` how far above or below the whole that is.
    """

    completion: float
    quality: float
    efficiency: float
    together: float
    reasons: tuple[ScoreReason, ...]
    own: float = -1
    off: float = 0.0


def score_trajectory(seen: Trajectory) -> TrajectoryScores:
    """The scores of an attempt."""
    found = dict(STARTS)
    reasons: list[ScoreReason] = []
    for row in HEURISTICS:
        times = min(float(ADDING), float(row.times(seen)))  # an int is not read back as it was
        points = round(row.points * times, 1)
        if points:
            found[row.score] += points
            reason = ScoreReason(name=row.name, score=row.score, points=points, source=row.source)
            reasons.append(reason)
    scores = {name: round(min(MOST, max(LEAST, value)), 1) for name, value in found.items()}
    together = round(sum(scores[name] * share for name, share in SHARES.items()), 1)
    known = LEAST <= seen.estimate <= MOST
    return TrajectoryScores(
        scores["completion"],
        scores["quality"],
        scores["efficiency"],
        together,
        tuple(reasons),
        seen.estimate if known else -1,
        round(seen.estimate - together, 1) if known else 0.0,
    )
