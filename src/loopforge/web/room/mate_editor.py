"""Drafts of mates' files: what is wrong with one, shown at its line, and how two of them differ.

Pure, but for the roster that is asked which handles are taken. Knows no page.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from loopforge.core.limits.line_matching import LineMatcher
from loopforge.core.mates.mate_file import Mate, mate_file_flaws, parse_mate
from loopforge.errors import BadMate
from loopforge.mates.mate_roster import MateRoster, RosterStanding

AROUND = 3
"""Lines that stay the same and are shown around a change."""
WIDE = 300
"""Characters of a line that are shown beside what is wrong with it."""


class ShownFlaw(NamedTuple):
    """What is wrong, in which line (0: none is to blame), and what to do; with lines around it."""

    line: int
    problem: str
    around: tuple[tuple[int, str], ...]


class EditorRow(NamedTuple):
    """One line of a comparison. `sign` is "+", "-", " ", or "…" where equal lines are left out."""

    sign: str
    old: int
    new: int
    text: str


def locate_problems(problems: Iterable[BadMate], text: str) -> list[ShownFlaw]:
    """Each problem with the line it stands in, and one before and after."""
    lines = re.split("\r\n|\r|\n", text)
    found = []
    for bad in problems:
        near = range(max(1, bad.line - 1), min(len(lines), bad.line + 1) + 1) if bad.line else ()
        around = tuple((n, lines[n - 1][:WIDE]) for n in near)
        found.append(ShownFlaw(bad.line, bad.problem, around))
    return found


def check_mate_text(
    roster: MateRoster, one: RosterStanding | None, text: str
) -> tuple[Mate | None, list[ShownFlaw]]:
    """The mate that a text would be in this file (None: in a new one), or all that is wrong."""
    file = one.file if one else "the new file"
    problems = mate_file_flaws(text, file)
    if problems:
        return None, locate_problems(problems, text)
    mate = parse_mate(text, file)
    if said := _misnamed(roster, one, mate):
        return None, locate_problems([BadMate(file, _naming(text), said)], text)
    return mate, []


def _misnamed(roster: MateRoster, one: RosterStanding | None, mate: Mate) -> str:
    """Why this file may not hold a mate of that handle."""
    if one is not None and one.handle and one.handle != mate.handle:
        return (
            f"this would be @{mate.handle}, and this file is @{one.handle}, by which rooms know "
            f"it; add a line `handle: {one.handle}`, or make a new mate"
        )
    taken = mate.handle in roster.mates() and not (one and one.handle == mate.handle)
    place = roster.path(mate.handle)
    if taken or (one is None and place.exists()):
        return f"@{mate.handle} is taken, by {place.name}; give this one a handle of its own"
    return ""


def _naming(text: str) -> int:
    """The line that gives the handle."""
    lines = text.split("\n")
    for key in ("handle:", "name:"):
        for number, line in enumerate(lines, 1):
            if line.startswith(key):
                return number
    return 1


def count_changed_lines(old: str, new: str) -> tuple[int, int]:
    """How many lines were added, and how many taken away."""
    signs = [row.sign for row in diff_lines(old, new)]
    return signs.count("+"), signs.count("-")


def diff_lines(old: str, new: str) -> list[EditorRow]:
    """The lines of two texts: what was taken away, what was added, and a few around each."""
    before, after = old.splitlines(), new.splitlines()
    rows: list[EditorRow] = []
    matcher = LineMatcher(before, after)
    for group in matcher.get_grouped_opcodes(AROUND):
        if rows or group[0][1]:
            rows.append(EditorRow("…", 0, 0, ""))
        for tag, a, b, c, d in group:
            if tag == "equal":
                pairs = zip(range(a, b), range(c, d), strict=True)
                rows += [EditorRow(" ", n + 1, m + 1, before[n]) for n, m in pairs]
                continue
            rows += [EditorRow("-", n + 1, 0, before[n]) for n in range(a, b)]
            rows += [EditorRow("+", 0, m + 1, after[m]) for m in range(c, d)]
    return rows
