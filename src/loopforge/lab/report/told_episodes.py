"""Episodes: the ten that tell most, as a table, and the way to the row of each.

An episode is told as `lab why` tells its row (decision_why.py), but for what a model was asked.
Knows where rows are told in full (`lab why`, the page of a run), and leads there.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from urllib.parse import quote

from msgspec import Struct

from loopforge.lab.charts.svg_drawing import printable
from loopforge.lab.report.highlights import Highlight, of_run, of_sweep
from loopforge.lab.report.html_page import Table
from loopforge.lab.report.study_data import Study, labelled
from loopforge.lab.sweeps.sweep_worker import RUNS, Maker, SweepJob

AGAIN = (
    "import sys; from pathlib import Path; from loopforge.lab.sweeps.sweep_runner import again; "
    "again(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))"
)
"""Plays one run of a sweep once more: its folder, the cell, the seed, the folder to be."""
WHY = {
    "tension": "it went wrong at a tension of {} of 1000",
    "gap": "it went wrong in a mind {} of 1000 from the truth",
    "chain": "it ended a chain of {} incidents",
    "told": "the worst row of its run",
}


class Episodes(Struct, frozen=True):
    """The ten in a table, and how many could only be told from a line of results."""

    found: Sequence[Highlight]
    lost: int
    table: Table


class RowLink(Struct, frozen=True):
    """The commands and the page that lead to a row; `again` plays its run where no log was kept."""

    folder: str
    why: str
    page: str
    again: str = ""

    @property
    def href(self) -> str:
        """From where reports lie to the page of the run."""
        return f"../../{quote(self.page, safe='~')}"


def episodes(study: Study, maker: Maker | None = None) -> Episodes:
    """The ten of a run, or of a sweep."""
    if study.watched is not None:
        found, lost = of_run(study.folder, study.picks), 0
    else:
        found, lost = of_sweep(study.folder, [each.results for each in study.groups()], maker)
    rows = tuple(_line(nth, each, study) for nth, each in enumerate(found, 1))
    head = ("who, and where", "day and step", "why this one")
    return Episodes(found, lost, Table("The episodes", head, rows, words=(0, 1, 2), folded=False))


def _line(nth: int, each: Highlight, study: Study) -> tuple[str, ...]:
    from markupsafe import Markup

    row = each.found.row if each.found else None
    day = f"day {row.day + 1}, step {each.step}" if row else f"step {each.step}"
    who = printable(f"{each.who}, {each.at}")
    way = Markup('<a href="#episode-{}">{}</a>').format(nth, who)
    return way, day, f"{WHY[each.kind].format(each.weight)}{_whose(each, study)}"


def _whose(each: Highlight, study: Study) -> str:
    """Of a sweep, which run it was."""
    if each.result is None:
        return ""
    levels = ", ".join(labelled(name, each.result.levels[name]) for name in study.varied)
    return f" ({levels + ', ' if levels else ''}seed {each.result.seed})"


def way_of(study: Study, each: Highlight) -> RowLink:
    """The command that tells the whole row, and the page of the run where there is one."""
    name = study.folder.name
    folder, page, again = name, name, ""
    if each.folder and each.result is not None:
        folder, page = f"{name}/{RUNS}/{each.folder}", f"{name}~{each.folder}"
    elif each.result is not None:
        folder = SweepJob(each.result.cell, each.result.seed).name
        given = f"{shlex.quote(name)} {each.result.cell} {each.result.seed} {folder}"
        again = f"python -c {shlex.quote(AGAIN)} {given}"
    why = f"loopforge lab why {shlex.quote(folder)} {each.step} {shlex.quote(each.who)}"
    return RowLink(folder, why, page, again)
