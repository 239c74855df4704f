"""Sweeps: all runs of an experiment, by as many workers as there are, into a folder of results.

A result is written when its run is done, so a sweep that was killed goes on where it was; and since
lines are sorted at the end, and dice and answers are the run's own, the bytes depend on nothing
else. Runs go seed by seed: where a sweep stops early, what it has is whole seeds, which are pairs.

What models answer goes to a tape for each run (models/model_tape.py). A cost cap is kept to within
one step of each run that is under way; a run that stops there is taken up on its tape.

Knows nothing of how results are told, and of models only that a `MindsMaker` gives them.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from loopforge.errors import BadRun, BadScenario
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_counts import RunCounts
from loopforge.lab.run.run_folder import EXPERIMENT, UNFINISHED, label_of
from loopforge.lab.run.run_lifecycle import play_run
from loopforge.lab.run.run_log import write_all
from loopforge.lab.run.step_loop import FORMAT, make_first_row
from loopforge.lab.sweeps.experiment_design import ExperimentDesign, lay_out, policies_of
from loopforge.lab.sweeps.experiment_file import (
    DEAREST,
    Experiment,
    open_experiment,
    policy_of,
    scenarios_of,
)
from loopforge.lab.sweeps.sweep_engines import SweepEngine, run_here
from loopforge.lab.sweeps.sweep_results import (
    ANEW,
    MANIFEST,
    RESULTS,
    Key,
    heads_in,
    layout_of,
    lock_folder,
    manifest_of,
    recover_finished_runs,
    results_of,
    sort_results,
    write_json,
)
from loopforge.lab.sweeps.sweep_worker import MindsMaker, RunDone, SweepJob, SweepWork, tape_of
from loopforge.models.model_tape import Tape, spent_on

SHARE = 4
"""A run may spend one part in so many of what is left below a cap, before it has to ask again."""
ASKED = ("models", "minds")
"""What a manifest says of who is asked; `models` by policy, none where others may step in."""
LEFT_OVER = 0.005
"""The part of a cap that may stay unspent: below it a sweep stops, since nothing would fit."""


Watcher = Callable[[int, int, float], None]
"""Is told how a sweep comes along: so many runs, so many done, at that cost in US dollars."""


@dataclass(frozen=True)
class SweepOutcome:
    """How far a sweep came. `stopped` says in a sentence why it is not whole, or is empty."""

    folder: Path
    runs: int
    done: int
    cost: float
    stopped: str

    @property
    def missing(self) -> int:
        """Runs that are not done."""
        return self.runs - self.done


class SweepQueue:
    """Hands out jobs and writes down what became of them. `done` is what finished runs cost.

    `cap` is in US dollars; None: no cap. `asks` says that runs may ask models, and so have tapes.
    """

    def __init__(
        self,
        path: Path,
        jobs: Iterable[SweepJob],
        done: Mapping[Key, float],
        watcher: Watcher | None,
    ) -> None:
        self._path = path
        self._file: BinaryIO = path.open("ab", buffering=0)
        self._waiting = deque(jobs)
        self._watcher = watcher
        self._paid = sum(done.values())
        self._parts: dict[Key, float] = {}
        self._held: dict[Key, float] = {}
        self._cap: float | None = None
        self._asks = False
        self.done = len(done)
        self._runs = self.done + len(self._waiting)

    def mind(self, folder: Path, cap: float | None) -> None:
        """Mind the purse: what unfinished runs have cost, by their tapes, and what may be spent."""
        self._asks, self._cap = True, cap
        for job in self._waiting:
            self._parts[job.cell, job.seed] = spent_on(tape_of(folder, job))

    @property
    def cost(self) -> float:
        """What was spent, on finished runs and on others, in US dollars."""
        return round(self._paid + sum(self._parts.values()), 9)

    @property
    def waiting(self) -> tuple[SweepJob, ...]:
        """Jobs that are not done and not under way."""
        return tuple(self._waiting)

    def give(self) -> SweepJob | None:
        """The next job."""
        if not self._waiting:
            return None
        if not self._asks:
            return self._waiting.popleft()
        budget = None
        if self._cap is not None:
            free = self._cap - self.cost - sum(self._held.values())
            if free <= self._cap * LEFT_OVER:
                return None
            budget = free / SHARE
        job = self._waiting.popleft()
        self._held[job.cell, job.seed] = budget or 0.0
        return SweepJob(job.cell, job.seed, budget)

    def take(self, done: RunDone) -> None:
        """Write a result down; a run that stopped at its budget goes on when there is more.

        Raises BadRun where it cannot be written: the next start cuts off what was written of it.
        """
        key = (done.job.cell, done.job.seed)
        self._held.pop(key, None)
        if done.result is None:
            self._parts[key] = done.spent
            self._waiting.appendleft(SweepJob(*key))
        else:
            self._parts.pop(key, None)
            self._paid += done.spent
            write_all(self._file, self._path, msgspec.json.encode(done.result) + b"\n")
            self.done += 1
        self.tell()

    def tell(self) -> None:
        """Say how far it is."""
        if self._watcher is not None:
            self._watcher(self._runs, self.done, self.cost)

    def close(self) -> None:
        """No more is written."""
        self._file.close()


def laid_out(
    experiment: Experiment | str | Path,
    *,
    experiments: Path | None = None,
    scenarios: Path | None = None,
) -> ExperimentDesign:
    """An experiment (read, or by its name or path) with its scenarios, laid out and checked.

    Of the file that a sweep keeps of its experiment it is as that sweep was begun.
    `experiments` and `scenarios` are folders of a home. Scenarios are looked for beside the
    experiment's file, in the home, and among the shipped. Raises BadScenario.
    """
    if not isinstance(experiment, Experiment) and Path(experiment).name == EXPERIMENT:
        return layout_of(Path(experiment).parent)
    folders = [scenarios] if scenarios else []
    if not isinstance(experiment, Experiment):
        if Path(experiment).suffix == ".toml":
            folders.insert(0, Path(experiment).parent)
        experiment = open_experiment(str(experiment), experiments)
    layout = lay_out(experiment, scenarios_of(experiment, folders))
    layout.check()
    return layout


def as_begun(layout: ExperimentDesign, folder: Path) -> ExperimentDesign:
    """The layout that this folder was begun with, where it is of the same experiment.

    Its scenarios stand in it as they were then, whatever has become of them since.
    """
    if not (folder / EXPERIMENT).exists():
        return layout
    begun = layout_of(folder)
    capless = {"cost_cap": None, "keep_logs": False}
    same, other = (msgspec.structs.replace(each.experiment, **capless) for each in (layout, begun))
    return begun if same == other else layout


def sweep(
    layout: ExperimentDesign,
    out: Path,
    *,
    engine: SweepEngine = run_here,
    maker: MindsMaker | None = None,
    cost_cap: float | None = None,
    rescore: bool = False,
    watcher: Watcher | None = None,
) -> SweepOutcome:
    """Run what is missing of an experiment in this folder, or with `rescore` score all of it again.

    `cost_cap` goes before the one of the experiment. Raises BadScenario, and BadRun for a folder of
    another experiment, a worker that died, a tape that lacks an answer, runs that come out
    otherwise.
    """
    experiment = layout.experiment
    cap = cost_cap if cost_cap is not None else experiment.cost_cap
    if cap is not None and not 0 < cap <= DEAREST:
        most = f"{DEAREST:,}; leave it out for no cap."
        raise BadScenario(f"A cost cap is in US dollars, more than 0 and at most {most}")
    minds = maker.make() if maker else Minds()
    asks = _asks_models(minds, layout, rescore=rescore)
    with lock_folder(out):
        manifest = _open_manifest(out, layout, minds, asks=asks, rescore=rescore)
        model = _model_named(manifest) if rescore else ""
        work = SweepWork(layout.to_dict(), str(out), maker, experiment.keep_logs, rescore, model)
        keys = _run_keys(layout)
        done = recover_finished_runs(out / RESULTS, frozenset(keys))
        jobs = [SweepJob(*key) for key in keys if (key in done) == rescore]
        target = out / (ANEW if rescore else RESULTS)
        if rescore:
            target.unlink(missing_ok=True)
        with closing(SweepQueue(target, jobs, {} if rescore else done, watcher)) as queue:
            if asks:
                queue.mind(out, None if rescore else cap)
            queue.tell()
            if jobs:
                engine(work, queue.give, queue.take)
        if queue.done < len(jobs) and rescore:
            raise BadRun("Not all runs were scored again; the results are as they were.")
        if rescore:
            _refuse_other_runs(out)
        sort_results(target, out / RESULTS)
        swept = _outcome_of(out, layout, queue, cap)
        write_json(
            out / MANIFEST,
            {**manifest, "state": _state_of(swept, sorted({job.seed for job in queue.waiting}))},
        )
    return swept


def _refuse_other_runs(out: Path) -> None:
    """Raises BadRun where what was scored again are not the runs that stand in the results."""
    there, anew = heads_in(out / RESULTS), heads_in(out / ANEW)
    others = [SweepJob(*key).name for key in sorted(there) if there[key] != anew[key]]
    if others:
        raise BadRun(
            f"{len(others)} of {len(there)} runs came out otherwise than when they were run, such "
            f"as {others[0]}: a mind of theirs does not do the same each time, or the program, a "
            "plugin or a prompt is another. The results are as they were; what came out now lies "
            f"beside them, in {ANEW}."
        )


def _run_keys(layout: ExperimentDesign) -> list[Key]:
    """All runs, seed by seed."""
    seeds = layout.experiment.all_seeds
    return [(cell.cell, seed) for seed in seeds for cell in layout.cells]


def _asks_models(minds: Minds, layout: ExperimentDesign, *, rescore: bool) -> bool:
    """Whether any of its minds may ask a model. Raises BadScenario for one that cannot be."""
    asking = False
    for name in policies_of(layout):
        each = replace(minds, policy=name)
        each.version(name)
        if not rescore:
            each.check()
        asking = asking or not each.deterministic()
    return asking


def _outcome_of(
    out: Path, layout: ExperimentDesign, queue: SweepQueue, cap: float | None
) -> SweepOutcome:
    missing, why = layout.runs - queue.done, ""
    if missing and queue.waiting and cap is not None:
        why = (
            f"The cost cap of ${cap:g} is reached with ${queue.cost:.4f} spent, and {missing} of "
            f"{layout.runs} runs are missing. Start the same sweep with a higher cap to go on."
        )
    elif missing:
        why = f"{missing} of {layout.runs} runs are missing. Start the same sweep to go on."
    return SweepOutcome(out, layout.runs, queue.done, queue.cost, why)


# ---------------------------------------------------------------- the manifest


def _open_manifest(
    out: Path, layout: ExperimentDesign, minds: Minds, *, asks: bool, rescore: bool
) -> dict[str, Any]:
    """The manifest of this sweep in this folder, begun or found. Raises BadRun if it is another."""
    manifest = _manifest_of(layout, minds, asks=asks, rescore=rescore)
    if (out / MANIFEST).exists():
        there = manifest_of(out)
        if there["digest"] != manifest["digest"]:
            raise BadRun(f"{out} holds a sweep of another experiment. Name another --out.")
        if rescore:
            return {**manifest, **{name: there[name] for name in ASKED if name in there}}
        for name in ("versions", "policies", *ASKED):
            now = manifest[name]
            then = {**now, **there[name]} if name == "minds" else there.get(name, now)
            if then != now:
                raise BadRun(
                    f"{out} was begun with other {name} ({then}, now {now}), and results of both "
                    "do not mix. Name another --out."
                )
        return there
    if rescore:
        raise BadRun(f"{out} holds no sweep that could be scored again.")
    begun = {EXPERIMENT, *(f"{name}{UNFINISHED}" for name in (EXPERIMENT, MANIFEST))}
    strange = next((each.name for each in out.iterdir() if each.name not in begun), "")
    if strange:
        told = label_of(out).said(out.name) or f"{out} holds something else ({strange})."
        raise BadRun(f"{told} Name another --out.")
    going = "It is under way, or was cut off. Start the same sweep to go on."
    so_far = SweepOutcome(out, layout.runs, 0, 0.0, going)
    write_json(out / EXPERIMENT, layout.to_dict())
    write_json(out / MANIFEST, {**manifest, "state": _state_of(so_far, manifest["seeds"])})
    return manifest


def _model_named(manifest: Mapping[str, Any]) -> str:
    """The model that a sweep was told to ask; "" where none was named."""
    return str(manifest["minds"].get("model", ""))


def _manifest_of(
    layout: ExperimentDesign, minds: Minds, *, asks: bool, rescore: bool
) -> dict[str, Any]:
    from loopforge import __version__

    experiment = layout.experiment
    names = (*policies_of(layout), minds.supervisor, *minds.named.values())
    unsure = (
        "What models answer. It is on the tapes, and scored from there the results are the same "
        "bytes; asked anew they would not be."
    )
    own = sorted({*names} & {*minds.own})
    unsure_of_own = (
        f"What minds of plugins do without asking a model ({', '.join(own)}). No tape holds it; "
        "where one does not do the same each time, scoring again says so, and changes nothing."
    )
    return {
        "experiment": experiment.name,
        "question": experiment.question,
        "digest": layout.digest,
        "design": experiment.design,
        "relation": layout.relation,
        "factors": experiment.all_factors,
        "seeds": list(experiment.all_seeds),
        "runs": layout.runs,
        "hypotheses": experiment.hypotheses,
        "scenarios": {name: each.digest for name, each in layout.scenarios.items()},
        "policies": {name: replace(minds, policy=name).version(name) for name in sorted({*names})},
        "minds": {
            "supervisor": minds.supervisor,
            "named": minds.named,
            "reflects": minds.reflects,
            "model": minds.route.model,
        },
        "models": {
            name: model
            for policy in (() if rescore else policies_of(layout))
            for name, model in replace(minds, policy=policy).models_asked().items()
        },
        "versions": {"loopforge": __version__, "format": str(FORMAT)},
        "not_deterministic": [unsure] * asks + [unsure_of_own] * bool(own),
        "cells": layout.cells,
        "left_out": layout.left_out,
    }


def _state_of(swept: SweepOutcome, seeds: list[int]) -> dict[str, Any]:
    return {
        "done": swept.done,
        "missing": swept.missing,
        "missing_seeds": seeds,
        "cost": swept.cost,
        "stopped": swept.stopped,
    }


# ---------------------------------------------------------------- one run of it


def replay_sweep_run(
    folder: Path, cell: int, seed: int, out: Path, maker: MindsMaker | None = None
) -> RunCounts:
    """One run of a sweep once more, with its whole log, into a folder of its own.

    Models are not asked: its tape answers. Raises BadRun if it is not the run that was scored.
    """
    layout = layout_of(folder)
    found = next((each for each in layout.cells if each.cell == cell), None)
    if found is None or seed not in layout.experiment.all_seeds:
        raise BadRun(f"{folder} has no run of cell {cell} with seed {seed}.")
    made = (maker.make() if maker else Minds()).on_model(_model_named(manifest_of(folder)))
    minds = replace(made, policy=policy_of(found.levels))
    tape = tape_of(folder, SweepJob(cell, seed))
    if tape.exists() or not minds.deterministic():
        minds.models = Tape(tape)
    scenario = layout.scenario(found.levels, seed)
    run = asyncio.run(play_run(make_first_row(scenario, seed, minds), minds, out))
    heads = [each.head for each in results_of(folder) if (each.cell, each.seed) == (cell, seed)]
    if heads not in ([], [run.head]):
        raise BadRun(f"The run in {out} is not the one that was scored: its hashes differ.")
    return run
