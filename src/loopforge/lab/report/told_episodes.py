"""Episodes: the ten of a study that tell most, as a table, each told as `lab why` tells its row.

What went wrong tells the more, the clearer the case was, and most where it came to an incident
(run_score.py weighs it). Of one robot under one rule the ten tell once, so that they are not one
story ten times. Of a sweep each run has its worst row: it is read from the run's log, or, where
none was kept, the run is played once more and shown to be the same by its hashes.

Knows where rows are told in full (`lab why`, the page of a run), and leads there.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar
from urllib.parse import quote

from msgspec import Struct

from loopforge.errors import LoopforgeError
from loopforge.lab.charts.svg_drawing import printable_line
from loopforge.lab.inspect.decision_why import DecisionWhy, act_told, explain_decision
from loopforge.lab.report.html_page import Table
from loopforge.lab.report.study_data import Study, level_label
from loopforge.lab.run.robot_minds import PLAIN
from loopforge.lab.run.run_log import LOG
from loopforge.lab.sweeps.experiment_file import policy_of
from loopforge.lab.sweeps.run_score import RunResult, TellingRow
from loopforge.lab.sweeps.sweep_results import RUNS
from loopforge.lab.sweeps.sweep_runner import replay_sweep_run
from loopforge.lab.sweeps.sweep_worker import MindsMaker, SweepJob
from loopforge.lab.world.noun_articles import add_place_articles

T = TypeVar("T")
TEN = 10


class ToldEpisode(Struct, frozen=True, kw_only=True):
    """One of the ten: its row, and all about it where its run could be had.

    `result` is the run of a sweep that it is from. `run` is where its log lies, as reports see it;
    "" where none was kept.
    """

    told: TellingRow
    found: DecisionWhy | None
    run: str
    result: RunResult | None = None

    @property
    def title(self) -> str:
        """Who did what there."""
        if self.found is not None:
            return act_told(self.found.row, self.found.rule.title)
        error, rule = self.told.failing.replace("_", "-"), self.told.rule.replace("_", " ")
        return add_place_articles(
            f"{self.told.who} at {self.told.at}: {error} under {rule}", (self.told.at,)
        )

    @property
    def said(self) -> str:
        """What was done there, and what was so."""
        return add_place_articles(self.told.consequence, (self.told.at,))

    @property
    def command(self) -> str:
        """The command that tells the whole row."""
        return shlex.join(["loopforge", "lab", "why", self.run, str(self.told.step), self.told.who])

    @property
    def page(self) -> str:
        """The page of the run, by the name it has in the web app."""
        return self.run.replace(f"/{RUNS}/", "~")

    @property
    def href(self) -> str:
        """From where reports lie to the step."""
        return f"../../{quote(self.page, safe='~')}?step={self.told.step}"


class ToldEpisodes(Struct, frozen=True):
    """The ten, the same in a table, and how many could only be told from a line of results."""

    found: Sequence[ToldEpisode]
    lost: int
    table: Table


def select_episodes(study: Study, maker: MindsMaker | None = None) -> ToldEpisodes:
    """The ten of a run, or of a sweep."""
    found = _of_sweep(study, maker) if study.watched is None else _of_run(study)
    rows = tuple(_line(nth, each, study) for nth, each in enumerate(found, 1))
    head = ("who, and where", "day and step", "why this one")
    lost = sum(each.found is None for each in found)
    return ToldEpisodes(
        found, lost, Table("The episodes", head, rows, words=(0, 1, 2), folded=False)
    )


def _of_run(study: Study) -> list[ToldEpisode]:
    """Those of a run, in their order."""
    worst, _ = _unlike(study.results[0].telling, lambda each: (each.who, each.rule))
    return [
        ToldEpisode(
            told=told,
            found=explain_decision(study.folder, told.step, told.who),
            run=study.folder.name,
        )
        for told in sorted(worst[:TEN], key=lambda each: each.row)
    ]


def _of_sweep(study: Study, maker: MindsMaker | None) -> list[ToldEpisode]:
    """The worst row of the ten worst runs, each group in its turn."""
    ranked = [
        sorted(
            (result for result in group.results if result.telling),
            key=lambda result: (-result.telling[0].weight, result.cell, result.seed),
        )
        for group in study.groups()
    ]
    most = max(map(len, ranked), default=0)
    worst = [each[nth] for nth in range(most) for each in ranked if nth < len(each)]
    fresh, alike = _unlike(worst, _luck)
    return [_of_result(study.folder, result, maker) for result in (fresh + alike)[:TEN]]


def _luck(result: RunResult) -> tuple[int, int, str]:
    """Runs of one seed often have their worst row in the same robot and step."""
    worst = result.telling[0]
    return result.seed, worst.step, worst.who


def _unlike(found: Iterable[T], of: Callable[[T], object]) -> tuple[list[T], list[T]]:
    """The first of each kind, and the others."""
    known: set[object] = set()
    first: list[T] = []
    others: list[T] = []
    for each in found:
        (others if of(each) in known else first).append(each)
        known.add(of(each))
    return first, others


def _of_result(folder: Path, result: RunResult, maker: MindsMaker | None) -> ToldEpisode:
    told, name = result.telling[0], SweepJob(result.cell, result.seed).name
    log = folder / RUNS / name
    kept = (log / LOG).exists()
    found: DecisionWhy | None = None
    with TemporaryDirectory(prefix="loopforge-") as held, suppress(LoopforgeError):
        if not kept:
            made = None if policy_of(result.levels) in PLAIN else maker
            log = replay_sweep_run(
                folder, result.cell, result.seed, Path(held) / "run", made
            ).folder
        found = explain_decision(log, told.step, told.who)
    run = f"{folder.name}/{RUNS}/{name}" if kept else ""
    return ToldEpisode(told=told, found=found, run=run, result=result)


# ---------------------------------------------------------------- in a table


def _line(nth: int, each: ToldEpisode, study: Study) -> tuple[str, ...]:
    from markupsafe import Markup

    told, row = each.told, each.found.row if each.found else None
    day = f"day {row.day + 1}, step {told.step}" if row else f"step {told.step}"
    who = printable_line(f"{told.who}, {told.at}")
    way = Markup('<a href="#episode-{}">{}</a>').format(nth, who)
    return way, day, " ".join(_why(each, study))


def _why(each: ToldEpisode, study: Study) -> Iterator[str]:
    """Why this one; of a sweep, which run it was."""
    told = each.told
    yield f"{told.failing.replace('_', '-')} in a case {told.clear} of 500 from doubt"
    if told.incident:
        yield "that came to an incident"
    if each.result is not None:
        levels = [level_label(name, each.result.levels[name]) for name in study.varied]
        yield f"({', '.join([*levels, f'seed {each.result.seed}'])})"
