"""Small sweeps for tests: experiments, minds, engines that note what they do, and what is there."""

import json
from pathlib import Path
from typing import Any

from loopforge.lab.sweeps.experiment_design import ExperimentDesign, lay_out
from loopforge.lab.sweeps.experiment_file import Experiment, scenarios_of
from loopforge.lab.sweeps.run_score import RunResult
from loopforge.lab.sweeps.sweep_engines import Give, Take, run_here
from loopforge.lab.sweeps.sweep_results import results_of
from loopforge.lab.sweeps.sweep_runner import sweep
from loopforge.lab.sweeps.sweep_worker import MindsMaker, SweepJob, SweepWork

STEPS = 6


def laid(**fields: Any) -> ExperimentDesign:
    """A small experiment, laid out: two policies by two perceptions, two seeds."""
    factors = {
        "policy": ["stub", "context"],
        "perception": ["accurate", "spin"],
        "days": [2],
        "steps_per_day": [STEPS],
        **fields.pop("factors", {}),
    }
    least = {"name": "small", "question": "Does it?", "scenarios": ["first_shift"], "seeds": 2}
    experiment = Experiment.from_dict({**least, "factors": factors, **fields})
    return lay_out(experiment, scenarios_of(experiment))


def asking(**fields: Any) -> ExperimentDesign:
    """A small experiment that asks a model."""
    factors = {"policy": ["llm"], "days": [1], "steps_per_day": [4], "perception": ["accurate"]}
    return laid(seeds=fields.pop("seeds", 4), factors=factors, **fields)


def maker(tmp_path: Path, name: str = "priced", **arguments: Any) -> MindsMaker:
    """Minds of tests/lab/makers.py; `asked` counts how often the model was."""
    return MindsMaker(f"tests.lab.makers:{name}", {"asked": str(tmp_path / "asked"), **arguments})


def asked(tmp_path: Path) -> int:
    """How often the model was asked."""
    path = tmp_path / "asked"
    return len(path.read_text()) if path.exists() else 0


def written(folder: Path) -> bytes:
    """The results' bytes."""
    return (folder / "results.jsonl").read_bytes()


class Seen:
    """An engine of one worker that notes which jobs it is given."""

    def __init__(self) -> None:
        self.jobs: list[SweepJob] = []

    def __call__(self, work: SweepWork, give: Give, take: Take) -> None:
        """Note and run."""

        def noted() -> SweepJob | None:
            if job := give():
                self.jobs.append(job)
            return job

        run_here(work, noted, take)


class Backwards(Seen):
    """An engine that does what it is given last first."""

    def __call__(self, work: SweepWork, give: Give, take: Take) -> None:
        """Take all there is, and turn it round."""
        while job := give():
            self.jobs.append(job)
        run_here(work, lambda: self.jobs.pop() if self.jobs else None, take)


def kept(tmp_path: Path, **factors: Any) -> tuple[RunResult, Path]:
    """One result with its run's folder."""
    levels = {"policy": ["stub"], "perception": ["spin"], **factors}
    layout = laid(seeds=1, factors=levels, keep_logs=True)
    sweep(layout, tmp_path / "sweep")
    (result,) = results_of(tmp_path / "sweep")
    return result, tmp_path / "sweep/runs/c0000-s1"


def costs(folder: Path) -> float:
    """What the tapes of a sweep have cost."""
    lines = [
        line for tape in (folder / "tapes").iterdir() for line in tape.read_text().splitlines()
    ]
    used = [json.loads(line)["reply"]["usage"] for line in lines]
    return sum(float(each.get("cost", 0)) for each in used)
