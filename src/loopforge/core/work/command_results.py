"""What results of commands tell: how one ended, what it changed, its error, and how tests ended.

Which commands run tests, and how runners say that some failed, stands in tables. Pure.
"""

import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

CHANGING = frozenset({"work_write", "work_edit"})
RUNNERS = "jest|vitest|mocha|ctest|phpunit|rspec"
BUILDERS = (
    "npm|pnpm|yarn|bun|deno|cargo|go|make|dotnet|gradle|mvn|mix|rake|rails|swift|zig|dart|flutter"
    "|composer"
)
TESTING = re.compile(
    rf"\b(pytest|unittest|tox|nox|nosetests|{RUNNERS}"
    rf"|(?:{BUILDERS}|bundle exec|manage\.py) (?:run )?(?:test|check))\b"
)
"""Names of what runs tests."""
LOOKING = re.compile(
    r"\s*(?:cat|head|tail|less|e?grep|rg|sed|awk|ls|find|which|type|command|echo|printf|wc|diff|cp|mv|rm"
    r"|touch|mkdir|git|apt(?:-get)?|pip3?|(?:python3? -m |uv )pip"
    r"|(?:npm|pnpm|yarn|bun|uv|poetry) (?:i|install|add|ci))\b"
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
    rf"|\b(?:pytest|tox|nox|nosetests|{RUNNERS}|{BUILDERS}|bundle): (?:command )?not found$"
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
