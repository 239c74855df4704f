"""Experiments: a question, factors with their levels, seeds for each cell, and what is expected.

An experiment is written by strangers, like a scenario, and is as strictly read: every key is known,
every number bounded, a scenario is named and not pathed. What is expected of it, the hypotheses, is
named before anything is run, and is part of the experiment's digest.

[factors] may name policy, pressure, perception, supervisor, ablate, days, steps_per_day and
"traits.NAME" (the floor's robots start with it, in thousandths). `scenarios` is a factor too, named
scenario. All cells have the same seeds, so that a seed pairs them.

Knows nothing of workers or files of results; which cells are run is laid out in `design`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct, field

from loopforge.core.factory_vocabulary import PERCEPTION_MODES, STYLES, TRAITS
from loopforge.core.text.validation_errors import explain_validation_error
from loopforge.errors import BadScenario
from loopforge.lab.run.run_lifecycle import RunChoice
from loopforge.lab.sweeps.run_score import MEANS, RATES
from loopforge.lab.world.protocols import printable_excerpt, sentence_problem
from loopforge.lab.world.scenario_checks import (
    ABLATIONS,
    MOST_DAYS,
    MOST_STEPS,
    NAMED,
    Scenario,
    plain_name,
)
from loopforge.lab.world.scenario_file import open_scenario
from loopforge.lab.world.scenario_reading import (
    find_toml_text,
    parse_bounded_toml,
    refuse_misplaced_keys,
)

Level: TypeAlias = str | int
Levels: TypeAlias = dict[str, Level]
"""A level for each factor."""

BIGGEST = 64 * 1024
"""Bytes of an experiment file."""
MOST_FACTORS, MOST_LEVELS, MOST_CELLS, MOST_SEEDS, MOST_RUNS = 12, 50, 10_000, 10_000, 1_000_000
MOST_HYPOTHESES = 100
LONGEST_NAME = 80
DEAREST = 1_000_000
FIXED: dict[str, tuple[str, ...]] = {"perception": PERCEPTION_MODES, "supervisor": STYLES}
NUMBERS = {"pressure": (0, 10), "days": (1, MOST_DAYS), "steps_per_day": (1, MOST_STEPS)}
TRAIT = "traits."
FACTORS = ("scenario", "policy", "ablate", *FIXED, *NUMBERS, "traits.NAME")
Direction = Literal["greater", "less", "differs"]


class Hypothesis(Struct, frozen=True, forbid_unknown_fields=True):
    """What is expected: `measure` at the level `to` of a factor is greater than at `from`, or less.

    `where` holds other factors at one level; over those that it does not name runs are pooled.
    """

    name: str
    says: str
    measure: str
    factor: str
    a: Level = field(name="from")
    b: Level = field(name="to")
    direction: Direction
    where: Levels = {}


class Experiment(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An experiment, checked. `fraction` is one part in so many of the cells, of a fraction.

    `cost_cap` is in US dollars, None for no cap; with `keep_logs` each run keeps its own log.
    """

    name: str
    question: str
    scenarios: tuple[str, ...]
    factors: dict[str, tuple[Level, ...]]
    about: str = ""
    seeds: int = 30
    first_seed: int = 1
    design: Literal["full", "fraction"] = "full"
    fraction: Literal[2, 4] = 2
    hypotheses: tuple[Hypothesis, ...] = ()
    cost_cap: float | None = None
    keep_logs: bool = False

    @property
    def all_factors(self) -> dict[str, tuple[Level, ...]]:
        """The factors with the scenarios among them, first."""
        return {"scenario": self.scenarios, **self.factors}

    @property
    def all_seeds(self) -> range:
        """The seeds of each cell."""
        return range(self.first_seed, self.first_seed + self.seeds)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Experiment:
        """Read and check plain values. Raises BadScenario."""
        try:
            made = msgspec.convert(dict(fields), cls)
        except (msgspec.ValidationError, RecursionError) as error:
            called = {"hypotheses": ("hypothesis", fields.get("hypotheses"))}
            told = explain_validation_error(error, cls, Hypothesis, many=called)
            raise BadScenario(printable_excerpt(f"This is no experiment: {told}.")) from error
        checks = (_texts, _sizes, _levels, _hypotheses)
        problem = next((found for check in checks if (found := check(made))), "")
        if problem:
            raise BadScenario(printable_excerpt(f"Experiment {made.name[:60]!r}: {problem}"))
        return made


def read_experiment(text: str, source: str) -> Experiment:
    """Read an experiment from TOML. Raises BadScenario, naming the source and what to do."""
    fields = parse_bounded_toml(text, source, BIGGEST)
    try:
        if "hypotheses" in fields:
            raise BadScenario("write each hypothesis under a line of its own: [[hypothesis]].")
        fields["hypotheses"] = fields.pop("hypothesis", [])
        if isinstance(fields["hypotheses"], list):
            for each in (one for one in fields["hypotheses"] if isinstance(one, dict)):
                refuse_misplaced_keys(each, "[[hypothesis]]", Experiment.__struct_fields__[1:])
        fields["factors"] = _flat(fields.pop("factors", {}))
        made = Experiment.from_dict(fields)
    except BadScenario as error:
        raise BadScenario(f"{source}: {error}") from error
    if not plain_name(made.name):
        raise BadScenario(f"{source}: experiment {printable_excerpt(made.name)!r}: {NAMED}")
    return made


def _flat(factors: object) -> dict[str, Any]:
    """`traits.NAME` is one factor, however TOML nests it."""
    if not isinstance(factors, dict):
        raise BadScenario("`[factors]` is a table with a list of levels for each factor.")
    refuse_misplaced_keys(factors, "[factors]", Experiment.__struct_fields__)
    flat = dict(factors)
    traits = flat.pop("traits", {})
    if not isinstance(traits, dict):
        raise BadScenario("write a trait as traits.NAME = [...], with a list of levels.")
    flat |= {f"{TRAIT}{name}": levels for name, levels in traits.items()}
    if bare := next((name for name, levels in flat.items() if not isinstance(levels, list)), ""):
        raise BadScenario(
            f"the factor {bare[:40]!r} needs a list of its levels, such as pressure = [0, 5, 10]."
        )
    return flat


def _texts(made: Experiment) -> str:
    texts = [made.name, made.question, *([made.about] if made.about else [])]
    for each in made.hypotheses:
        texts += [each.name, each.says]
    for name in (made.name, *(each.name for each in made.hypotheses)):
        if len(name) > LONGEST_NAME:
            return f"a name has {len(name)} characters; {LONGEST_NAME} is the most."
    return sentence_problem(tuple(texts))


def _sizes(made: Experiment) -> str:
    if len(made.factors) > MOST_FACTORS:
        return f"it has {len(made.factors)} factors; {MOST_FACTORS} is the most."
    cells = 1
    for name, levels in made.all_factors.items():
        if not 1 <= len(levels) <= MOST_LEVELS:
            return f"the factor {name[:40]!r} has {len(levels)} levels; 1 to {MOST_LEVELS} can be."
        cells *= len(levels)
    if cells > MOST_CELLS:
        return f"its factors make {cells} cells; {MOST_CELLS} is the most. Take levels out."
    if not 1 <= made.seeds <= MOST_SEEDS:
        return f"`seeds` is how many seeds each cell has, 1 to {MOST_SEEDS}; 30 is a good number."
    if cells * made.seeds > MOST_RUNS:
        return f"{cells} cells of {made.seeds} seeds are more than {MOST_RUNS} runs; take fewer."
    if abs(made.first_seed) >= 1 << 62:
        return "`first_seed` is a whole number of at most 18 digits."
    if made.cost_cap is not None and not 0 < made.cost_cap <= DEAREST:
        return "`cost_cap` is in US dollars, more than 0; leave it out for no cap."
    if len(made.hypotheses) > MOST_HYPOTHESES:
        return f"it has {len(made.hypotheses)} hypotheses; {MOST_HYPOTHESES} is the most."
    return ""


def _levels(made: Experiment) -> str:
    for name in made.scenarios:
        if not name.replace("_", "").replace("-", "").isalnum() or not name.isascii():
            return (
                f"{name[:60]!r} is no name of a scenario: letters, digits, _ and - alone, without "
                "a path and .toml. It is looked for beside the experiment, too."
            )
    for name, levels in made.all_factors.items():
        if len(set(levels)) < len(levels):
            return f"the factor {name!r} has a level twice."
        problem = next((found for each in levels if (found := _level(name, each))), "")
        if problem:
            return problem
    return ""


def _level(name: str, level: Level) -> str:
    """What is wrong with this level of this factor, or ""."""
    if name not in FACTORS and not name.startswith(TRAIT):
        return f"there is no factor {name[:40]!r}; factors are {', '.join(FACTORS)}."
    if name in NUMBERS or name.startswith(TRAIT):
        trait = name.removeprefix(TRAIT)
        if name.startswith(TRAIT) and trait not in TRAITS:
            return f"there is no trait {trait[:40]!r}; traits are {', '.join(TRAITS)}."
        least, most = NUMBERS.get(name, (0, 1000))
        if not isinstance(level, int) or not least <= level <= most:
            return f"a level of {name} is a whole number from {least} to {most}, not {level!r}."
        return ""
    if not isinstance(level, str):
        return f"a level of {name[:40]!r} is a text, not {level!r}."
    if name in FIXED:
        known: tuple[str, ...] = FIXED[name]
        return "" if level in known else f"{name} is one of {', '.join(known)}, not {level[:40]!r}."
    if name == "ablate":
        unknown = [part for part in ablated(level) if part not in ABLATIONS]
        known = ("none", *ABLATIONS)
        return f"ablate is one of {', '.join(known)}, or several: a+b." if unknown else ""
    fine = level.isprintable() and 0 < len(level) <= LONGEST_NAME
    return "" if fine else f"{level[:40]!r} is no name of a {name}."


def _hypotheses(made: Experiment) -> str:
    names = [each.name for each in made.hypotheses]
    if len(set(names)) < len(names):
        return "two hypotheses have one name."
    for each in made.hypotheses:
        if each.measure not in (*RATES, *MEANS):
            known = ", ".join((*RATES, *MEANS))
            return f"hypothesis {each.name!r}: there is no measure {each.measure[:40]!r}: {known}."
        if each.a == each.b:
            return f"hypothesis {each.name!r}: `from` and `to` are the same level."
        if each.factor in each.where:
            return f"hypothesis {each.name!r}: `where` names the factor that is compared."
        for factor, level in ((each.factor, each.a), (each.factor, each.b), *each.where.items()):
            if level not in made.all_factors.get(factor, ()):
                return f"hypothesis {each.name!r}: {factor[:40]!r} has no level {level!r} here."
    return ""


def ablated(level: Level) -> tuple[str, ...]:
    """The parts that a level of `ablate` takes out."""
    return () if level == "none" else tuple(str(level).split("+"))


def choice_for_levels(levels: Mapping[str, Level], seed: int) -> RunChoice:
    """What a run with these levels has other than its scenario says."""
    own = {name for name in levels if name.startswith(TRAIT)}
    traits = {name.removeprefix(TRAIT): int(levels[name]) for name in own}
    fields: dict[str, Any] = {name: levels[name] for name in (*NUMBERS, *FIXED) if name in levels}
    if "ablate" in levels:
        fields["ablate"] = ablated(levels["ablate"])
    return RunChoice(seed=seed, traits=traits, **fields)


def policy_of(levels: Mapping[str, Level]) -> str:
    """The policy of a run with these levels."""
    return str(levels.get("policy", "stub"))


def scenarios_of(experiment: Experiment, folders: Iterable[Path] = ()) -> dict[str, Scenario]:
    """The scenarios that it names, from the first of these folders that has them, or as shipped.

    Raises BadScenario.
    """
    found = {}
    for name in experiment.scenarios:
        held = next((each for each in folders if (each / f"{name}.toml").is_file()), None)
        found[name] = open_scenario(name, held)
    return found


def open_experiment(name: str, folder: Path | None = None) -> Experiment:
    """An experiment by its path, by its name in `folder` (a home's), or by its shipped name.

    Raises BadScenario: no such experiment, or what is wrong in it.
    """
    return read_experiment(*find_toml_text("experiment", name, folder, BIGGEST))
