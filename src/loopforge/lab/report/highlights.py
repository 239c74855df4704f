"""Highlights: the ten episodes of a study that tell most, found while its rows go by.

Three ways to tell: the floor was as tense as it gets and somebody got it wrong; a mind stood as far
from the truth as any; an act ended a chain of incidents. The best of each robot under each rule are
kept, and then taken in turn, so that the ten are not one story ten times.

Knows no page. Of a sweep the runs that hold the worst rows are read from their logs, or played once
more where none was kept, and shown to be the same by their hashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from msgspec import Struct

from loopforge.core.factory_vocabulary import Decided, Incident, Row, Stepped
from loopforge.errors import LoopforgeError
from loopforge.lab.inspect.decision_why import DecisionWhy, act_told, gather
from loopforge.lab.run.robot_minds import PLAIN
from loopforge.lab.run.run_log import LOG, rows_of
from loopforge.lab.sweeps.experiment_file import policy_of
from loopforge.lab.sweeps.run_score import RunResult, Telling
from loopforge.lab.sweeps.sweep_worker import RUNS, Maker, SweepJob

TEN, MANY = 10, 1000
Kind = Literal["tension", "gap", "chain"]
KINDS: tuple[Kind, ...] = ("chain", "gap", "tension")
WIDE = 200
"""Thousandths by which a mind must be off for that to be told."""


class HighlightPick(Struct, frozen=True):
    """A decision worth reading, why, and how much so: tension or error in thousandths, links."""

    kind: Kind
    weight: int
    row: int
    step: int
    who: str
    rule: str


class Picks:
    """Collects picks from rows in order; holds one step, and the best of each kind."""

    def __init__(self) -> None:
        self._step: list[Decided] = []
        self._depth: dict[str, int] = {}
        self._best: dict[tuple[str, str, str], HighlightPick] = {}

    def add(self, row: Row) -> None:
        """One more row. What a Supervisor did is not among what is picked."""
        match row:
            case Decided() if row.role != "supervisor":
                self._step.append(row)
            case Stepped():
                self._close(row)
                self._step.clear()
            case _:
                pass

    def _close(self, row: Stepped) -> None:
        for incident in row.incidents:
            self._deepen(incident)
        for act in self._step:
            outcome = act.outcome
            if outcome.failing:
                self._keep("tension", row.tension, act)
            if outcome.failing and outcome.belief_error >= WIDE:
                self._keep("gap", outcome.belief_error, act)
            if outcome.incident and self._depth.get(outcome.incident, 0) > 1:
                self._keep("chain", self._depth[outcome.incident], act)

    def _deepen(self, incident: Incident) -> None:
        """How many incidents stand in the longest chain that ends in this one."""
        before = [self._depth.get(cause, 0) for cause in incident.causes]
        self._depth[incident.id] = 1 + max(before, default=0)

    def _keep(self, kind: Kind, weight: int, act: Decided) -> None:
        key = (kind, act.who, act.truth.rule)
        held = self._best.get(key)
        if held is None or weight > held.weight:
            self._best[key] = HighlightPick(kind, weight, act.n, act.step, act.who, act.truth.rule)

    def best(self, most: int = TEN) -> list[HighlightPick]:
        """The best, each kind in turn, no row twice, none again whose robot and rule were told."""
        ranked = {
            kind: sorted(
                (pick for pick in self._best.values() if pick.kind == kind),
                key=lambda pick: (-pick.weight, pick.row),
            )
            for kind in KINDS
        }
        found: list[HighlightPick] = []
        told: set[tuple[str, str]] = set()
        while len(found) < most and any(ranked.values()):
            for kind in KINDS:
                fresh = [one for one in ranked[kind] if (one.who, one.rule) not in told]
                ranked[kind] = fresh[1:]
                if fresh and len(found) < most:
                    found.append(fresh[0])
                    told.add((fresh[0].who, fresh[0].rule))
        return sorted(found, key=lambda pick: pick.row)


class Highlight(Struct, frozen=True, kw_only=True):
    """One of the ten: why it was picked, where it lies, and all about it, or what is left of that.

    `folder` is the run's own, by the name it has beside the report; "" where no log was kept.
    """

    kind: str
    weight: int
    step: int
    who: str
    folder: str
    result: RunResult | None = None
    found: DecisionWhy | None = None
    told: Telling | None = None

    @property
    def at(self) -> str:
        """Where it was."""
        return self.found.row.at if self.found else self.told.at if self.told else ""

    @property
    def title(self) -> str:
        """Who did what there."""
        if self.found is not None:
            return act_told(self.found.row, self.found.rule.title)
        assert self.told is not None
        error, rule = self.told.failing.replace("_", "-"), self.told.rule.replace("_", " ")
        return f"{self.who} at {self.at}: {error} under {rule}"

    @property
    def consequence(self) -> str:
        """What came of it."""
        if self.found is not None:
            return self.found.row.outcome.consequence
        return self.told.consequence if self.told else ""


def of_run(folder: Path, picks: Picks) -> list[Highlight]:
    """The ten of a run. Raises BadRun."""
    return [_picked(folder, pick, folder.name) for pick in picks.best()]


def _picked(
    folder: Path, pick: HighlightPick, name: str, result: RunResult | None = None
) -> Highlight:
    return Highlight(
        kind=pick.kind,
        weight=pick.weight,
        step=pick.step,
        who=pick.who,
        folder=name,
        result=result,
        found=gather(folder, pick.step, pick.who),
    )


def of_sweep(
    folder: Path, groups: Sequence[Sequence[RunResult]], maker: Maker | None
) -> tuple[list[Highlight], int]:
    """The ten of a sweep, and how many of their runs could not be had, but for their results."""
    found: list[Highlight] = []
    lost = 0
    for nth, result in enumerate(_worst(groups)):
        kind = KINDS[nth % len(KINDS)]
        kept = folder / RUNS / SweepJob(result.cell, result.seed).name
        if (kept / LOG).exists():
            found.append(_read(kept, result, kind, kept.name))
            continue
        with TemporaryDirectory(prefix="loopforge-") as held:
            try:
                again = _again(folder, result, Path(held) / "run", maker)
                found.append(_read(again, result, kind, ""))
            except LoopforgeError:
                lost += 1
                found.append(_left(result))
    return found, lost


def _worst(groups: Sequence[Sequence[RunResult]]) -> list[RunResult]:
    """The runs with the worst rows, each group in its turn."""
    ranked = [
        sorted(
            (result for result in group if result.telling),
            key=lambda result: (-result.telling[0].weight, result.cell, result.seed),
        )
        for group in groups
    ]
    found: list[RunResult] = []
    for nth in range(max((len(each) for each in ranked), default=0)):
        found += [each[nth] for each in ranked if nth < len(each)]
    return _unlike(found)[:TEN]


def _unlike(results: Sequence[RunResult]) -> list[RunResult]:
    """These, those last whose worst row some other before them had as well: the same luck."""
    told: set[tuple[int, int, str]] = set()
    fresh: list[RunResult] = []
    alike: list[RunResult] = []
    for result in results:
        worst = result.telling[0]
        key = (result.seed, worst.step, worst.who)
        (alike if key in told else fresh).append(result)
        told.add(key)
    return fresh + alike


def _again(folder: Path, result: RunResult, out: Path, maker: Maker | None) -> Path:
    from loopforge.lab.sweeps.sweep_runner import again

    plain = policy_of(result.levels) in PLAIN
    return again(folder, result.cell, result.seed, out, None if plain else maker).folder


def _read(folder: Path, result: RunResult, kind: Kind, name: str) -> Highlight:
    """What tells most in a run, of this kind if it has one, else of the first. Raises BadRun."""
    picks = Picks()
    for row in rows_of(folder):
        picks.add(row)
    best = picks.best(MANY)
    mine = (found for each in (kind, *KINDS) if (found := [p for p in best if p.kind == each]))
    pick = max(next(mine, []), key=lambda pick: (pick.weight, -pick.row), default=None)
    return _left(result, name) if pick is None else _picked(folder, pick, name, result)


def _left(result: RunResult, name: str = "") -> Highlight:
    """What a line of results says itself of the worst row of its run."""
    told = result.telling[0]
    return Highlight(
        kind="told",
        weight=told.weight,
        step=told.step,
        who=told.who,
        folder=name,
        result=result,
        told=told,
    )
