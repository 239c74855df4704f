"""The colophon: what a report cannot show, and the manifest.

What it takes to have the same page again stands here: versions, hashes, seeds, cost, what is not
deterministic, and commands that can be typed as they are. Folders are named as they are called, not
by where they lie.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from importlib.metadata import version

from loopforge.errors import LoopforgeError
from loopforge.lab.report.error_rates import bounds
from loopforge.lab.report.html_page import (
    Block,
    Code,
    Facts,
    Items,
    Listing,
    Part,
    Section,
    Words,
    says,
)
from loopforge.lab.report.number_format import counted
from loopforge.lab.report.study_data import CALLED, ERRORS, Study, Watched, by_seed
from loopforge.lab.run.robot_minds import PLAIN
from loopforge.lab.run.run_lifecycle import Choice
from loopforge.lab.stats.rate_statistics import cluster_rate, minimal_detectable
from loopforge.lab.sweeps.experiment_design import lay_out, policies_of
from loopforge.lab.sweeps.experiment_file import open_experiment, scenarios_of
from loopforge.lab.sweeps.run_score import RunResult
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import open_scenario

MOST_CELLS = 60
"""Cells that are looked at for how alike runs are."""
LIBRARIES = ("numpy", "scipy", "matplotlib")
AGAIN = (
    "from pathlib import Path; import sys; from loopforge.lab.sweeps.sweep_results import "
    "layout_of; "
    "from loopforge.lab.sweeps.sweep_runner import sweep; "
    "sweep(layout_of(Path(sys.argv[1])), Path(sys.argv[2]))"
)
"""Sweeps what a folder holds once more, into another; no file of the experiment is needed."""
ANEW = (
    "import asyncio, sys; from pathlib import Path; from loopforge.lab.run.run_log import "
    "began_of; "
    "from loopforge.lab.run.run_lifecycle import minds_of, play; first = "
    "began_of(Path(sys.argv[1])); "
    "asyncio.run(play(first, minds_of(first), Path(sys.argv[2])))"
)
"""Plays the run that a folder holds once more, into another."""


# ---------------------------------------------------------------- limits


def limits(study: Study) -> Section:
    """What this cannot show."""
    items = [
        (
            "The world is code. It shows how minds fail in this city, not how often they would in "
            "yours."
        ),
        (
            "Truth is known because somebody wrote it down: one number says whether a rule is "
            "right here. Dilemmas that no number settles are not in it."
        ),
    ]
    if study.watched is not None:
        items.append(
            "This is one run with one seed. Its intervals take moments for independent that are "
            "not; nothing here tells a habit from an accident."
        )
    else:
        items += _sweep_limits(study)
    policies = _policies(study)
    if {name.partition("/")[0] for name in policies} <= set(PLAIN):
        items.append(
            "No language model was asked. The minds are rules in code: they show that the city "
            "measures what it claims to, and nothing about any model."
        )
    else:
        items.append(
            "Models change without a word, and one answer is not the next: what holds for the "
            "versions named below holds for those."
        )
    items.append(
        "Feelings and traits are treatments here, not findings: take one out (ablate) before you "
        "believe that it does something."
    )
    return Section("limits", "Limits", (Items(tuple((item,) for item in items)),))


def _sweep_limits(study: Study) -> list[str]:
    layout = study.layout
    assert layout is not None
    seeds = len(study.seeds)
    items = [
        f"{counted(seeds, 'seed')} stand behind each cell"
        + (
            ", and thirty are wanted: intervals over so few runs are too sure of themselves."
            if seeds < 30
            else "."
        ),
    ]
    parts = []
    for rate in ERRORS:
        found = _detectable(study, rate)
        if found is not None:
            parts.append(f"{found * 100:.0f} points of {CALLED[rate]}")
    if parts:
        items.append(
            f"Differences between two cells of less than about {' or '.join(parts)} would mostly "
            "have gone unseen (power 80%, arms not paired, runs as alike as they were)."
        )
    if told := bounds(study):
        items.append(told)
    if len(layout.scenarios) == 1:
        items.append("One scenario is one city: another cast may do otherwise.")
    return items


def _detectable(study: Study, rate: str) -> float | None:
    """The least difference upwards that two cells would show, from the cell in the middle."""
    cells: dict[int, list[RunResult]] = {}
    for result in study.results:
        cells.setdefault(result.cell, []).append(result)
    some = list(cells.values())[:: 1 + len(cells) // MOST_CELLS]
    counts = [by_seed(each, rate) for each in some]
    rates = [cluster_rate(each) for each in counts if any(n for _, n in each.values())]
    rates = [each for each in rates if 0 < each.rate.estimate < 1]
    if not rates:
        return None
    found = sorted(rates, key=lambda each: each.rate.estimate)[len(rates) // 2]
    of_run = found.trials / found.rate.n
    effective = int(found.trials / (1 + max(0.0, of_run - 1) * max(0.0, found.icc or 0.0)))
    return minimal_detectable(effective, found.rate.estimate) if effective else None


def _policies(study: Study) -> list[str]:
    if study.watched is not None:
        return sorted(set(study.watched.began.policies.values()))
    return sorted(str(each) for each in study.manifest.get("policies", {}).values())


# ---------------------------------------------------------------- the manifest


def manifest(study: Study) -> Section:
    """Versions, hashes, seeds, cost, what is not deterministic, and how to have it again."""
    blocks = _run_manifest(study) if study.watched is not None else _sweep_manifest(study)
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    told = (
        f"The figures of this page were computed by {libraries}; the same run gives the same bytes."
    )
    return Section("manifest", "Manifest", (*blocks, says(told, how="quiet")))


def _sweep_manifest(study: Study) -> tuple[Block, ...]:
    layout, held = study.layout, study.manifest
    assert layout is not None
    state = held.get("state", {})
    asked = sum(result.asked.get("asked", 0) for result in study.results)
    cost = sum(result.cost for result in study.results)
    unpriced = sum(result.unpriced for result in study.results)
    seeds = study.seeds
    facts: list[tuple[str, tuple[Words, ...]]] = [
        ("experiment", (Code(layout.digest),)),
        *((f"scenario {name}", (Code(each.digest),)) for name, each in layout.scenarios.items()),
        ("results", (Code(_digest(study)),)),
        ("policies", (", ".join(_policies(study)),)),
        ("versions", (_listed(held.get("versions", {})),)),
        ("seeds", (f"{seeds[0]} to {seeds[-1]} ({len(seeds)})",)),
        ("runs", (f"{state.get('done', len(study.results))} of {layout.runs}",)),
        ("cost", (_cost(max(cost, float(state.get("cost", 0))), asked, unpriced),)),
        ("not deterministic", (_unsure(tuple(held.get("not_deterministic", ()))),)),
    ]
    return Facts(tuple(facts)), Part("again", "Once more", _sweep_again(study))


def _sweep_again(study: Study) -> tuple[Block, ...]:
    """How to have it again: from the beginning, from its tapes, and this page."""
    assert study.layout is not None
    folder, name = shlex.quote(study.folder.name), shlex.quote(study.layout.experiment.name)
    fresh = shlex.quote(f"{study.folder.name}-again")
    named = name if _shipped_experiment(study) else f"{name}.toml"
    blocks: list[Block] = [
        says("The same sweep from the beginning, in a folder beside this one:"),
        Listing((f"loopforge lab sweep {named} --out {fresh}",)),
    ]
    if set(policies_of(study.layout)) <= set(PLAIN):
        blocks += [
            says("Or from nothing but this folder, since ", Code("experiment.json"), " holds all:"),
            Listing((f"python -c {shlex.quote(AGAIN)} {folder} {fresh}",)),
        ]
    return (
        *blocks,
        says("Scored again from its tapes, without asking any model; then this page:"),
        Listing(
            (
                f"loopforge lab sweep {named} --out {folder} --rescore",
                f"loopforge lab report {folder} -o report.html",
            )
        ),
        says(
            "Every number of this page follows from ",
            Code("results.jsonl"),
            ", a line for each run; ",
            Code("loopforge lab export"),
            " makes tables of it.",
        ),
    )


def _digest(study: Study) -> str:
    """SHA-256 over the heads of all runs: two sweeps with the same one did the same."""
    from hashlib import sha256

    heads = "".join(f"{each.cell} {each.seed} {each.head}\n" for each in study.results)
    return sha256(heads.encode()).hexdigest()


def _listed(found: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(found.items()))


def _cost(cost: float, asked: int, unpriced: int) -> str:
    if not asked:
        return "nothing; no model was asked"
    more = f", {unpriced} of them at a price that nobody knows" if unpriced else ""
    return f"${cost:.4f} for {counted(asked, 'answer')} of models{more}"


def _unsure(found: tuple[str, ...]) -> str:
    return (
        " ".join(found) or "nothing: the same seed gives the same bytes, with any number of workers"
    )


def _shipped_experiment(study: Study) -> bool:
    """Whether the experiment of that name that ships is this one, seeds and scenarios included."""
    assert study.layout is not None
    try:
        found = open_experiment(study.layout.experiment.name)
        return lay_out(found, scenarios_of(found)).digest == study.layout.digest
    except LoopforgeError:
        return False


def _run_manifest(study: Study) -> tuple[Block, ...]:
    watched = study.watched
    assert watched is not None
    began = watched.began
    asked = sum(watched.models.values())
    facts: list[tuple[str, tuple[Words, ...]]] = [
        ("scenario", (Code(began.digest),)),
        ("last row counted", (Code(watched.head),)),
        ("policies", (", ".join(_policies(study)),)),
        ("versions", (_listed(began.versions),)),
        ("seed", (str(began.seed),)),
        ("cost", (_cost(watched.cost, asked, 0),)),
        *((f"asked {name}", (f"{n} times",)) for name, n in sorted(watched.models.items())),
        ("not deterministic", (_unsure(_models(watched)),)),
    ]
    name = shlex.quote(study.folder.name)
    fresh = shlex.quote(study.folder.name + "-again")
    again = [f"python -c {shlex.quote(ANEW)} {name} {fresh}"]
    if command := _command(watched):
        again.insert(0, f"{command} --out {fresh}")
    return (
        Facts(tuple(facts)),
        Part(
            "again",
            "Once more",
            (
                says("The same run from the beginning, in a folder beside this one:"),
                Listing(tuple(again)),
                says("Its chain checked and the run played again, byte for byte; then this page:"),
                Listing(
                    (f"loopforge lab verify {name}", f"loopforge lab report {name} -o report.html")
                ),
                says(
                    "Every number of this page follows from ",
                    Code("actions.jsonl"),
                    "; nobody is asked again.",
                ),
            ),
        ),
    )


def _models(watched: Watched) -> tuple[str, ...]:
    if not watched.models:
        return ()
    told = (
        "What models answer. It stands in the rows, to the letter, and told from there it is the "
        "same; asked anew it would not be."
    )
    return (told,)


def _command(watched: Watched) -> str:
    """The command that gives this run, where its scenario ships and the command can say it all."""
    scenario, began = watched.scenario, watched.began
    settings = began.settings
    choice = Choice(
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
        f"--supervisor {scenario.supervisor}"
    )


def _ships(scenario: Scenario, choice: Choice, digest: str) -> bool:
    try:
        return choice.apply(open_scenario(scenario.name)).digest == digest
    except LoopforgeError:
        return False
