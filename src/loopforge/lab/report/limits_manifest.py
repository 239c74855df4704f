"""What a report cannot show, and what it takes to have the same page again.

Versions, hashes, seeds, cost, what is not deterministic, and commands that can be typed as they
are. Folders are named as they are called, not by where they lie.
"""

import shlex
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import version

from msgspec import Struct

from loopforge.core.statistics.rate_statistics import cluster_rate, minimal_detectable
from loopforge.errors import LoopforgeError
from loopforge.lab.report.study_data import CALLED, Study, WatchedRun, counts_by_seed
from loopforge.lab.run.answered_decisions import ERRORS
from loopforge.lab.run.robot_minds import PLAIN
from loopforge.lab.run.run_folder import EXPERIMENT
from loopforge.lab.run.run_lifecycle import RunChoice
from loopforge.lab.sweeps.experiment_design import lay_out
from loopforge.lab.sweeps.experiment_file import open_experiment, scenarios_of
from loopforge.lab.sweeps.sweep_results import results_by_cell
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import open_scenario

MOST_CELLS = 60
"""Cells that are looked at for how alike runs are."""
LIBRARIES = ("numpy", "scipy")
ANSWERED = (
    "What models answer. It stands in the rows, to the letter, and told from there it is the same; "
    "asked anew it would not be."
)


class LimitsManifest(Struct, frozen=True, kw_only=True):
    """What the page was made of. `plain`: no model was asked; `unsure`: what may be otherwise.

    `anew` are commands that do the same from the beginning, `checks` those that show that what lies
    here is so, and make the page once more.
    """

    policies: list[str]
    plain: bool
    versions: str
    libraries: str
    cost: float
    asked: int
    unpriced: int = 0
    unsure: str
    digest: str = ""
    anew: list[str]
    checks: list[str]


def study_limits_manifest(study: Study) -> LimitsManifest:
    """Of a sweep, or of a run."""
    return _sweep_manifest(study) if study.watched is None else _run_manifest(study, study.watched)


def detectable_differences(study: Study) -> list[str]:
    """For each error the least difference upwards that two cells of a sweep would show."""
    found = [] if study.watched else [(rate, _detectable(study, rate)) for rate in ERRORS]
    return [f"{least * 100:.0f} points of {CALLED[rate]}" for rate, least in found if least]


def _detectable(study: Study, rate: str) -> float | None:
    """The same of one, from the cell in the middle."""
    cells = list(results_by_cell(study.results).values())
    counts = [counts_by_seed(each, rate) for each in cells[:: 1 + len(cells) // MOST_CELLS]]
    rates = [cluster_rate(each) for each in counts if any(n for _, n in each.values())]
    rates = [each for each in rates if 0 < each.rate.estimate < 1]
    if not rates:
        return None
    found = sorted(rates, key=lambda each: each.rate.estimate)[len(rates) // 2]
    of_run = found.trials / found.rate.n
    effective = int(found.trials / (1 + max(0.0, of_run - 1) * max(0.0, found.icc or 0.0)))
    return minimal_detectable(effective, found.rate.estimate) if effective else None


# ---------------------------------------------------------------- a sweep


def _sweep_manifest(study: Study) -> LimitsManifest:
    layout, held, results = study.layout, study.manifest, study.results
    assert layout is not None
    folder, name = shlex.quote(study.folder.name), shlex.quote(layout.experiment.name)
    fresh = shlex.quote(f"{study.folder.name}-again")
    given = name if _shipped_experiment(study) else f"{folder}/{EXPERIMENT}"
    given += _model_option(held.get("minds", {}))
    policies = sorted(str(each) for each in held.get("policies", {}).values())
    # Two sweeps of which all runs end alike did the same.
    heads = "".join(f"{each.cell} {each.seed} {each.head}\n" for each in results)
    spent = float(held.get("state", {}).get("cost", 0))
    return LimitsManifest(
        policies=policies,
        plain=_plain(policies),
        versions=_listed(held.get("versions", {})),
        libraries=_libraries(),
        cost=max(sum(each.cost for each in results), spent),
        asked=sum(each.asked.get("asked", 0) for each in results),
        unpriced=sum(each.unpriced for each in results),
        unsure=" ".join(held.get("not_deterministic", ())),
        digest=sha256(heads.encode()).hexdigest(),
        anew=[f"loopforge lab sweep {given} --out {fresh}"],
        checks=[
            f"loopforge lab sweep {given} --out {folder} --rescore",
            f"loopforge lab report {folder} -o report.html",
        ],
    )


def _shipped_experiment(study: Study) -> bool:
    """Whether the experiment of that name that ships is this one, seeds and scenarios included."""
    assert study.layout is not None
    try:
        found = open_experiment(study.layout.experiment.name)
        return lay_out(found, scenarios_of(found)).digest == study.layout.digest
    except LoopforgeError:
        return False


# ---------------------------------------------------------------- a run


def _run_manifest(study: Study, watched: WatchedRun) -> LimitsManifest:
    name = shlex.quote(study.folder.name)
    fresh = shlex.quote(f"{study.folder.name}-again")
    command = _command(watched)
    policies = sorted(set(watched.began.policies.values()))
    return LimitsManifest(
        policies=policies,
        plain=_plain(policies),
        versions=_listed(watched.began.versions),
        libraries=_libraries(),
        cost=watched.cost,
        asked=sum(watched.models.values()),
        unsure=ANSWERED if watched.models else "",
        anew=[f"{command} --out {fresh}"] if command else [],
        checks=[f"loopforge lab verify {name}", f"loopforge lab report {name} -o report.html"],
    )


def _command(watched: WatchedRun) -> str:
    """The command that gives this run, where its scenario ships and the command can say it all."""
    scenario, began = watched.scenario, watched.began
    settings = began.settings
    choice = RunChoice(
        began.seed, scenario.days, scenario.steps_per_day, scenario.perception, scenario.supervisor
    )
    plain = not settings["named"] and settings["supervisor"] == "overseer"
    if began.forked or not plain or settings["reflects"] != "template":
        return ""
    if not _ships(scenario, choice, began.digest):
        return ""
    return (
        f"loopforge lab run {shlex.quote(scenario.name)} --policy "
        f"{shlex.quote(str(settings['policy']))} --seed {began.seed} --days {scenario.days} "
        f"--steps-per-day {scenario.steps_per_day} --perception {scenario.perception} "
        f"--supervisor {scenario.supervisor}{_model_option(settings.get('route', {}))}"
    )


def _model_option(asked: Mapping[str, object]) -> str:
    """The option that names the model that was asked; "" where none was named."""
    return f" --model {shlex.quote(str(asked['model']))}" if asked.get("model") else ""


def _ships(scenario: Scenario, choice: RunChoice, digest: str) -> bool:
    try:
        return choice.apply(open_scenario(scenario.name)).digest == digest
    except LoopforgeError:
        return False


# ---------------------------------------------------------------- both


def _plain(policies: list[str]) -> bool:
    return {name.partition("/")[0] for name in policies} <= set(PLAIN)


def _listed(found: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(found.items()))


def _libraries() -> str:
    return ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
