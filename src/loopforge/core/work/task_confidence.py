"""Confidence in a task, 0 to 100: from what can be seen, the mind's own estimate, and thumbs.

All weights stand in one table. Calibration says whether the figure deserves its name: over tasks
that are over, how often those of which so much was thought came out well (Brier score, and a
reliability curve). Pure.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

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
CHANGING = frozenset({"work_write", "work_edit"})
TESTING = re.compile(
    r"\b(pytest|unittest|tox|nox|nosetests|jest|vitest|mocha|ctest|phpunit|rspec"
    r"|(?:npm|pnpm|yarn|cargo|go|make|dotnet|gradle|mvn|mix|bundle exec) (?:run )?(?:test|check))\b"
)
"""Names of what runs tests."""
LOOKING = re.compile(
    r"\s*(?:cat|head|tail|less|e?grep|rg|sed|awk|ls|find|which|type|command|echo|printf|wc|diff|cp|mv|rm"
    r"|touch|mkdir|git|apt(?:-get)?|pip3?|(?:python3? -m |uv )pip"
    r"|(?:npm|pnpm|yarn|uv|poetry) (?:i|install|add|ci))\b"
)
"""Commands in which such a name is but a word."""
PARTS = re.compile(r"&&|\|\|?|;|\n")
FAILING = re.compile(
    r"^FAILED\b|^(?:--- )?FAIL\b|^not ok\b|^# fail [1-9]|test result: FAILED"
    r"|\b[1-9]\d* (?:failed|failing|failures?)\b|\b[1-9]\d* errors? in \d"
    r"|\b(?:failures|errors)[:=] ?[1-9]",
    re.IGNORECASE | re.MULTILINE,
)
"""How runners of tests say that some failed: `pytest | tail` ends with the 0 of tail."""
UNTRIED = re.compile(
    r"^[^\n]*: No module named (?:pytest|nose\w*|tox|nox)(?:\.\w+)*$"
    r"|\b(?:pytest|tox|nox|nosetests|jest|vitest|mocha|ctest|phpunit|rspec"
    r"|npm|pnpm|yarn|cargo|go|make|dotnet|gradle|mvn|mix|bundle): (?:command )?not found$"
    r"|\bmissing script: \"?(?:test|check)|No rule to make target \W(?:test|check)"
    r"|^(?:=+ )?no tests ran\b|^Ran 0 tests\b|^No tests found\b",
    re.IGNORECASE | re.MULTILINE,
)
"""How it is said that no test was run: the runner is not there, or there are none."""
EXIT = re.compile(r"\[exit code (-?\d+)")
ENDED = re.compile(
    r"^\[(?:exit code |it was ended: )[^;\n]*?"
    r"(?:; changed(?: [\d,]+ files, such as)?: ([^\n]*))?\]$",
    re.MULTILINE,
)
"""The line that tells how a command ended, and which files it changed."""
ERROR = re.compile(
    r"^.*\b(?:\w*Error|\w*Exception|error|fatal|panic|failed|not found|denied)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
BINS = 5
"""Into how many parts confidences are put, to see how each came true."""
NUMBERS = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?")
TIMES = re.compile(r"\b\d+(?:\.\d+)?\s?m?s\b")
NAMED, NAMES = 20, 500
"""Files that one command changed of which it is told, and characters of their names."""


class SeenResult(NamedTuple):
    """A use of a tool as it was seen: the tool, what was run by it, what came of it."""

    tool: str
    what: str
    outcome: str
    value: str


def exit_code(value: str) -> int | None:
    """The exit code that a result tells of, if it tells one."""
    found = EXIT.search(value)
    return int(found[1]) if found else None


def runs_tests(command: str) -> bool:
    """Whether a command runs tests, and does not only speak of what does."""
    return any(TESTING.search(one) and not LOOKING.match(one) for one in PARTS.split(command))


def exit_of_tests(command: str, value: str) -> int | None:
    """How a run of tests ended, as an exit code; None where none ran, or it did not end.

    Where the exit code is that of another command of the line, what was printed says it.
    """
    code = exit_code(value) if runs_tests(command) else None
    failing = FAILING.search(value)
    if code is None or (UNTRIED.search(value) and not failing):
        return None
    return 1 if code == 0 and failing else code


def with_changes(ended: str, paths: Sequence[str]) -> str:
    """The line that tells how a command ended, with the files that it changed."""
    named = list[str]()
    for path in map(shlex.quote, paths[:NAMED]):
        if len(" ".join([*named, path])) <= NAMES:
            named.append(path)
    if not named:
        return ended
    several = f" {len(paths):,} files, such as" if len(paths) > len(named) else ""
    return f"{ended.removesuffix(']')}; changed{several}: {' '.join(named)}]"


def changes_in(value: str) -> tuple[str, ...]:
    """The files that a command changed, as far as its result names them."""
    found = ENDED.search(value)
    with suppress(ValueError):  # a name that was cut off
        return tuple(shlex.split(found[1] or "")) if found else ()
    return ()


def error_of(seen: SeenResult) -> str:
    """What went wrong, so that the same is known again; "" where nothing did.

    Tests by which of them failed, and how many; all else without numbers. A command that said
    nothing by what it was.
    """
    code = exit_code(seen.value)
    tests = exit_of_tests(seen.what, seen.value)
    if seen.outcome == "returned" and not (code or tests):
        return ""
    if seen.outcome in ("deferred", "cancelled", "unknown"):
        return ""  # unknown: the program ended under it, which the mind did not bring about
    lines = [line.strip() for line in ENDED.sub("", seen.value, count=1).splitlines()]
    if tests and (failing := [line for line in lines if FAILING.search(line)]):
        return TIMES.sub("#", " ".join(" ".join(failing).split()))[:200]
    said = ERROR.findall("\n".join(lines)) or [line for line in lines if line]
    if not said:
        ended = seen.outcome if code is None else f"ended with {code}"
        return f"`{seen.what[:160]}` {ended}"
    return NUMBERS.sub("#", " ".join(said[-1].split()))[:200]


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
