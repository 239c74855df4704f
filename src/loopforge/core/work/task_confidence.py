"""Confidence in a task, 0 to 100: from what can be seen, the mind's own estimate, and thumbs.

All weights stand in one table. Calibration says whether the figure deserves its name: over tasks
that are over, how often those of which so much was thought came out well (Brier score, and a
reliability curve). Pure.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from loopforge.core.work.command_results import (
    CHANGING,
    SeenResult,
    changes_in,
    error_of,
    exit_code,
    exit_of_tests,
    runs_tests,
)
from loopforge.core.work.work_vocabulary import ConfidenceSignal

START = 60.0
"""Before anything was seen."""
LEAST, MOST = 0.0, 100.0
LEAST_RATED = 10.0
"""A thumb never brings it below."""
OWN = 0.25
"""How far the mind's own estimate draws it: a quarter of the way."""
WEIGHTS: dict[str, float] = {
    "command succeeded": 5.0,
    "command failed": -6.0,
    "tests passed": 12.0,
    "tests failed": -6.0,
    "files changed": 4.0,
    "no files changed": -2.0,
    "same error again": -10.0,
    "tool failed": -5.0,
    "tool was refused": -4.0,
    "outcome unknown": -5.0,
    "answer was malformed": -8.0,
    "turn broke off": -6.0,
    "in circles": -10.0,
    "done though tests failed": -10.0,
    "thumb up": 15.0,
    "thumb down": -20.0,
}
"""Points by what was seen; each counts once in a turn but failures, which add up to three times."""
ADDING = 3
BINS = 5
"""Into how many parts confidences are put, to see how each came true."""


def signals_of(
    seen: Sequence[SeenResult], before: Iterable[str], *, changes: bool
) -> tuple[ConfidenceSignal, ...]:
    """What a turn's results say, each by its weight. `before` are errors of earlier turns.

    `changes`: it is a task that should change files.
    """
    known, found = set(before), list[str]()
    for one in seen:
        found += filter(None, [_of_one(one)])
        if (error := error_of(one)) and error in known:
            found.append("same error again")
        if changes_in(one.value):
            found.append("files changed")
    if changes and seen and "files changed" not in found:
        found.append("no files changed")
    return weigh_signals(found)


def _of_one(one: SeenResult) -> str:
    """The name of what it says; "" where it says nothing."""
    if one.outcome == "returned":
        code = exit_code(one.value)
        if code is None:
            return "files changed" if one.tool in CHANGING else ""
        if (tests := exit_of_tests(one.what, one.value)) is not None:
            return "tests failed" if tests else "tests passed"
        return "command failed" if code or runs_tests(one.what) else "command succeeded"
    failed = dict.fromkeys(("failed", "timed_out"), "tool failed")
    named = {"refused": "tool was refused", "unknown": "outcome unknown", **failed}
    return named.get(one.outcome, "")


def weigh_signals(found: Iterable[str]) -> tuple[ConfidenceSignal, ...]:
    """Signals by their names, what is good once each, what is bad up to three times."""
    counts: dict[str, int] = {}
    signals: list[ConfidenceSignal] = []
    for name in found:
        counts[name] = counts.get(name, 0) + 1
        if counts[name] <= (ADDING if WEIGHTS[name] < 0 else 1):
            signals.append(ConfidenceSignal(name=name, points=WEIGHTS[name]))
    return tuple(signals)


def moved(before: float, signals: Iterable[ConfidenceSignal], estimate: float = -1) -> float:
    """The confidence after these signals and the mind's own estimate (-1: it gave none)."""
    now = before + sum(one.points for one in signals)
    if 0 <= estimate <= MOST:
        now += OWN * (estimate - now)
    return round(min(MOST, max(LEAST, now)), 1)


def rated(before: float, *, up: bool) -> float:
    """The confidence after a thumb."""
    points = WEIGHTS["thumb up" if up else "thumb down"]
    return round(min(MOST, max(LEAST_RATED, before + points)), 1)


# ---------------------------------------------------------------- does it deserve its name?


class ReliabilityBin(NamedTuple):
    """Tasks of whose outcome about so much was thought: how many, thought and came true."""

    tasks: int
    thought: float
    came: float


def brier(past: Sequence[tuple[float, bool]]) -> float | None:
    """The mean squared error of confidences (0 to 100) against what came; 0 is perfect."""
    if not past:
        return None
    return sum((thought / 100 - came) ** 2 for thought, came in past) / len(past)


def reliability(past: Sequence[tuple[float, bool]]) -> tuple[ReliabilityBin, ...]:
    """How well confidences came true, by bins of equal width; empty ones are left out."""
    held: dict[int, list[tuple[float, bool]]] = {}
    for thought, came in past:
        held.setdefault(min(BINS - 1, int(thought * BINS / 100)), []).append((thought, came))
    return tuple(
        ReliabilityBin(
            len(those),
            sum(thought for thought, _ in those) / len(those) / 100,
            sum(came for _, came in those) / len(those),
        )
        for _, those in sorted(held.items())
    )
