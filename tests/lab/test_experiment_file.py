"""Experiments: what a file may say, how its cells are laid out, and how results are paired."""

from itertools import combinations, product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopforge.errors import BadScenario
from loopforge.lab.report.factor_effects import arms
from loopforge.lab.report.study_data import counts_by_seed, means_by_seed
from loopforge.lab.sweeps.experiment_design import ExperimentDesign, lay_out
from loopforge.lab.sweeps.experiment_file import (
    Experiment,
    Hypothesis,
    open_experiment,
    read_experiment,
    scenarios_of,
)
from loopforge.lab.sweeps.run_score import RunResult, ScoringChain
from loopforge.lab.sweeps.sweep_runner import laid_out
from loopforge.lab.world.scenario_file import open_scenario
from loopforge.lab.world.scenario_reading import shipped_names
from tests.examples import few
from tests.lab.city import city, toml

WHOLE = """
name = "small"
question = "Does it?"
scenarios = ["first_shift"]
seeds = 2
[factors]
policy = ["stub", "guardrail"]
pressure = [0, 10]
[[hypothesis]]
name = "more"
says = "It does."
measure = "over_reach"
factor = "pressure"
from = 0
to = 10
direction = "greater"
where = { policy = "stub" }
"""


def told(**fields: Any) -> Experiment:
    """A small experiment with these fields."""
    least: dict[str, Any] = {
        "name": "small",
        "question": "Does it?",
        "scenarios": ["first_shift"],
        "factors": {},
    }
    return Experiment.from_dict({**least, **fields})


def spread(experiment: Experiment) -> ExperimentDesign:
    """An experiment laid out with its shipped scenarios."""
    return lay_out(experiment, scenarios_of(experiment))


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("name", shipped_names("experiment"))
def test_a_shipped_experiment_asks_and_can_be_laid_out(name: str) -> None:
    """Each opens with its question, has thirty seeds for a cell, and says what it expects."""
    experiment = open_experiment(name)
    assert experiment.name == name
    assert experiment.question.endswith("?")
    assert experiment.seeds == 30
    assert experiment.hypotheses
    layout = laid_out(name)
    assert layout.runs == len(layout.cells) * 30
    assert layout.left_out == ()


def test_a_file_is_read_as_it_says() -> None:
    """Names, factors in their order, seeds and hypotheses are those of the file."""
    experiment = read_experiment(WHOLE, "small.toml")
    assert experiment.factors == {"policy": ("stub", "guardrail"), "pressure": (0, 10)}
    assert list(experiment.all_factors) == ["scenario", "policy", "pressure"]
    assert list(experiment.all_seeds) == [1, 2]
    (expected,) = experiment.hypotheses
    assert (expected.a, expected.b, expected.where) == (0, 10, {"policy": "stub"})


def test_a_trait_is_a_factor_however_it_is_written() -> None:
    """traits.ambition nested and quoted are the same factor, and reach the floor's robots."""
    nested = WHOLE.replace("[factors]", "[factors]\ntraits.ambition = [100, 900]")
    quoted = WHOLE.replace("[factors]", '[factors]\n"traits.ambition" = [100, 900]')
    one, other = read_experiment(nested, "a"), read_experiment(quoted, "b")
    assert one.factors["traits.ambition"] == other.factors["traits.ambition"] == (100, 900)
    layout = spread(one)
    high = next(cell for cell in layout.cells if cell.levels["traits.ambition"] == 900)
    for robot in layout.scenario(high.levels, 1).robots:
        assert (robot.traits["ambition"] == 900) == (robot.role != "supervisor")


def test_levels_reach_the_scenario_of_a_run() -> None:
    """Pressure, perception, style, days, steps, ablations and the seed are those of the cell."""
    levels = {
        "pressure": [7],
        "perception": ["partial"],
        "supervisor": ["punitive"],
        "days": [2],
        "steps_per_day": [5],
        "ablate": ["emotions+scars"],
    }
    layout = spread(told(factors=levels))
    scenario = layout.scenario(layout.cells[0].levels, 99)
    assert scenario.pressure == (7,)
    assert (scenario.perception, scenario.supervisor) == ("partial", "punitive")
    assert (scenario.days, scenario.steps_per_day, scenario.seed) == (2, 5, 99)
    assert scenario.ablate == ("emotions", "scars")


def test_whole_minds_are_whole_in_a_scenario_that_takes_something_out(tmp_path: Path) -> None:
    """The level none of ablate takes nothing out, whatever the scenario does without the factor."""
    text = toml(city(name="deaf", ablate=["voice"]))
    (tmp_path / "deaf.toml").write_text(text)
    with_levels = told(scenarios=["deaf"], factors={"ablate": ["none", "cue"]})
    layout = lay_out(with_levels, scenarios_of(with_levels, [tmp_path]))
    assert [layout.scenario(cell.levels, 1).ablate for cell in layout.cells] == [(), ("cue",)]
    plain = told(scenarios=["deaf"], factors={"pressure": [1]})
    layout = lay_out(plain, scenarios_of(plain, [tmp_path]))
    assert layout.scenario(layout.cells[0].levels, 1).ablate == ("voice",)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("question =", "quest ="), "quest"),
        (("seeds = 2", "seeds = 0"), "seeds"),
        (("seeds = 2", "seeds = true"), "`seeds` must be a whole number"),
        (("seeds = 2", "seeds = 99999"), "seeds"),
        (("seeds = 2", "first_seed = 9223372036854775807"), "first_seed"),
        (("seeds = 2", "cost_cap = -1.0"), "cost_cap"),
        (("seeds = 2", "cost_cap = nan"), "cost_cap"),
        (("seeds = 2", 'design = "some"'), "design"),
        (("seeds = 2", 'design = "fraction"\nfraction = 3'), "fraction"),
        (("seeds = 2", "run = 'rm -rf'"), "run"),
        (("seeds = 2", f'about = "{"a" * 300}"'), "characters"),
        (("seeds = 2", 'about = "\\u0007"'), "printed"),
        (('name = "small"', f'name = "{"a" * 100}"'), "name"),
        (('name = "small"', 'name = "../small"'), "`name` is 1 to 60 letters"),
        (('name = "small"', 'name = "/small"'), "`name` is 1 to 60 letters"),
        (('["first_shift"]', '["../first_shift"]'), "no name of a scenario"),
        (('["first_shift"]', '["first_shift.toml"]'), "without a path and .toml"),
        (('["first_shift"]', '["first_shift", "first_shift"]'), "twice"),
        (('["first_shift"]', "[]"), "levels"),
        (('["first_shift"]', '["nowhere"]'), "nowhere"),
        (("pressure = [0, 10]", "pressure = [0, 11]"), "pressure"),
        (("pressure = [0, 10]", 'pressure = ["high"]'), "whole number"),
        (("pressure = [0, 10]", "pressure = [0, 0]"), "twice"),
        (("pressure = [0, 10]", "pressure = []"), "levels"),
        (("pressure = [0, 10]", 'heat = ["a"]'), "no factor 'heat'"),
        (("pressure = [0, 10]", "heat = [0, 10]"), "no factor 'heat'"),
        (("pressure = [0, 10]", "traits.wings = [1]"), "wings"),
        (("pressure = [0, 10]", "traits = [1]"), "traits.NAME"),
        (("pressure = [0, 10]", "traits.ambition = [1001]"), "1000"),
        (("pressure = [0, 10]", "days = [1000]"), "days"),
        (("pressure = [0, 10]", 'ablate = ["soul"]'), "ablate"),
        (("pressure = [0, 10]", 'perception = ["clear"]'), "perception"),
        (("pressure = [0, 10]", 'supervisor = ["kind"]'), "supervisor"),
        (('["stub", "guardrail"]', "[1]"), "policy"),
        (('measure = "over_reach"', 'measure = "evil"'), "no measure 'evil'"),
        (("to = 10", "to = 9"), "no level 9"),
        (("to = 10", "to = 0"), "same level"),
        (('factor = "pressure"', 'factor = "heat"'), "'heat' has no level"),
        (('direction = "greater"', 'direction = "up"'), "direction"),
        (('{ policy = "stub" }', "{ pressure = 0 }"), "compared"),
        (('{ policy = "stub" }', '{ policy = "llm" }'), "no level 'llm'"),
        (("[[hypothesis]]", "[hypothesis]"), "list"),
        (("[[hypothesis]]", "[[hypotheses]]"), r"\[\[hypothesis\]\]"),
        (("[factors]", "[factors"), "TOML"),
        (("[factors]", "[factors]\nseeds = 3"), r"`seeds` stands below \[factors\]"),
        (("[[hypothesis]]", "[[hypothesis]]\nseeds = 3"), r"`seeds` stands below \[\[hypoth"),
        (("pressure = [0, 10]", "pressure = 5"), "'pressure' needs a list of its levels, such"),
        (("[factors]", "[[factors]]"), r"\[factors\]"),
        (("[factors]", '"\\u001b\\u202e" = 1\n[factors]'), "no key"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(change: tuple[str, str], says: str) -> None:
    """Unknown keys, levels that cannot be, sizes and expectations of nothing are each refused."""
    assert change[0] in WHOLE
    with pytest.raises(BadScenario, match=says) as caught:
        spread(read_experiment(WHOLE.replace(*change), "small.toml"))
    assert "small" in str(caught.value) or "nowhere" in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def test_sizes_are_bounded() -> None:
    """Too many cells, runs, levels, factors and bytes are refused before anything is made."""
    many = list(range(1, 51))
    with pytest.raises(BadScenario, match="cells"):
        told(factors={"days": many, "steps_per_day": many, "traits.ambition": many})
    with pytest.raises(BadScenario, match="runs"):
        told(factors={"days": many, "steps_per_day": many}, seeds=1000)
    with pytest.raises(BadScenario, match="levels"):
        told(factors={"days": list(range(1, 60))})
    with pytest.raises(BadScenario, match="kB"):
        read_experiment("#" * 100_000, "long.toml")
    with pytest.raises(BadScenario, match="no TOML"):
        read_experiment("about = " + "[\n" * 5000, "deep.toml")


def test_a_policy_need_not_be_known_before_it_is_asked_for() -> None:
    """An experiment may name a mate of some home; whether there is one is the sweep's to say."""
    assert told(factors={"policy": ["mate:nobody"]}).factors["policy"] == ("mate:nobody",)


def test_a_scenario_is_found_beside_the_experiment(tmp_path: Path) -> None:
    """A name is looked for beside the file, then in the home's folder, then among the shipped."""
    mine = Path(__file__).parents[2] / "src/loopforge/lab/shipped/scenarios/first_shift.toml"
    changed = mine.read_text("utf-8").replace('name = "first_shift"', 'name = "mine"')
    (tmp_path / "mine.toml").write_text(changed, "utf-8")
    path = tmp_path / "small.toml"
    path.write_text(WHOLE.replace('["first_shift"]', '["mine", "first_shift"]'), "utf-8")
    layout = laid_out(path)
    assert layout.scenarios["mine"].name == "mine"
    assert layout.scenarios["first_shift"].digest == open_scenario("first_shift").digest


def test_a_name_that_is_nowhere_is_told_with_those_that_are() -> None:
    """An unknown experiment's error names the shipped ones."""
    with pytest.raises(BadScenario, match="pressure"):
        open_experiment("nothing_like_it")


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = (*Experiment.__struct_fields__, "strange")


@settings(max_examples=few(100))
@given(st.dictionaries(st.sampled_from(KEYS), plain, max_size=4))
def test_whatever_a_file_holds_it_is_an_experiment_or_refused(fields: dict[str, Any]) -> None:
    """Any values at all under any keys give an experiment, or BadScenario and nothing else."""
    least: dict[str, Any] = {
        "name": "x",
        "question": "y?",
        "scenarios": ["first_shift"],
        "factors": {"pressure": [1, 2]},
    }
    try:
        made = Experiment.from_dict({**least, **fields})
    except BadScenario:
        return
    assert made.seeds >= 1


# ---------------------------------------------------------------- designs

TWO: dict[str, list[Any]] = {
    "policy": ["stub", "context"],
    "pressure": [0, 10],
    "perception": ["accurate", "spin"],
    "supervisor": ["punitive", "incentive"],
    "days": [1, 2],
    "traits.ambition": [100, 900],
    "traits.empathy": [100, 900],
    "traits.obedience": [100, 900],
    "traits.curiosity": [100, 900],
}


def two(count: int) -> dict[str, list[Any]]:
    """So many factors of two levels."""
    return dict(list(TWO.items())[:count])


def signs(layout: ExperimentDesign) -> dict[str, list[int]]:
    """For each factor with two levels, -1 or 1 in each cell that is run."""
    factors = layout.experiment.all_factors
    return {
        name: [1 if cell.levels[name] == levels[1] else -1 for cell in layout.cells]
        for name, levels in factors.items()
        if len(levels) == 2
    }


def test_a_full_design_is_every_combination_once() -> None:
    """Cells are the product of all levels, numbered in order, and none is left out."""
    layout = spread(told(factors={"policy": ["stub", "context"], "pressure": [0, 5, 10]}))
    found = [(cell.levels["policy"], cell.levels["pressure"]) for cell in layout.cells]
    assert found == list(product(("stub", "context"), (0, 5, 10)))
    assert [cell.cell for cell in layout.cells] == list(range(6))
    assert layout.left_out == ()


@pytest.mark.parametrize(
    ("count", "part", "resolution"),
    [(3, 2, 3), (4, 2, 4), (5, 2, 5), (5, 4, 3), (6, 4, 4), (7, 4, 4), (8, 4, 5), (9, 4, 6)],
)
def test_a_regular_fraction_has_the_resolution_it_can_have(
    count: int, part: int, resolution: int
) -> None:
    """Halves and quarters of two-level factors are balanced up to the best known resolution.

    A product of fewer factors than that is +1 as often as -1, so no effects of those orders are
    mixed up (Box, Hunter and Hunter, Statistics for Experimenters, table of fractions).
    """
    layout = spread(told(factors=two(count), design="fraction", fraction=part))
    assert len(layout.cells) == 2**count // part
    columns = list(signs(layout).values())
    assert len(columns) == count
    words = set()
    for size in range(1, count + 1):
        for some in combinations(range(count), size):
            total = 0
            for nth in range(len(layout.cells)):
                sign = 1
                for at in some:
                    sign *= columns[at][nth]
                total += sign
            assert total in (0, len(layout.cells))
            if total:
                words.add(size)
    assert min(words) == resolution


def test_a_fraction_says_what_it_is_and_what_it_leaves_out() -> None:
    """The relation is in words, and cells with those left out are all of the full design."""
    layout = spread(told(factors=two(3), design="fraction"))
    assert "I = ABC" in layout.relation
    assert "A is policy" in layout.relation
    numbers = {cell.cell for cell in layout.cells} | {cell.cell for cell in layout.left_out}
    assert numbers == set(range(8))
    assert len(layout.left_out) == 4
    whole = {cell.cell: cell.levels for cell in spread(told(factors=two(3))).cells}
    assert all(whole[cell.cell] == cell.levels for cell in (*layout.cells, *layout.left_out))


def test_a_fraction_of_more_levels_is_even_along_each_line() -> None:
    """With all other factors held, every second level of each factor is run, give or take one."""
    three = ["stub", "context", "guardrail"]
    factors: dict[str, list[Any]] = {"policy": three, "pressure": [0, 3, 6, 9], "days": [1, 2]}
    factors["supervisor"] = ["punitive", "incentive"]
    layout = spread(told(factors=factors, design="fraction"))
    run = {tuple(cell.levels[name] for name in factors) for cell in layout.cells}
    for at, levels in enumerate(factors.values()):
        others = [each for n, each in enumerate(factors.values()) if n != at]
        for held in product(*others):
            line = [(*held[:at], level, *held[at:]) in run for level in levels]
            assert sum(line) in (len(levels) // 2, (len(levels) + 1) // 2)
    assert {cell.levels["pressure"] for cell in layout.cells} == {0, 3, 6, 9}


@pytest.mark.parametrize(
    ("factors", "part"),
    [
        (two(1), 2),
        (two(2), 2),
        (two(4), 4),
        ({"policy": ["stub", "context", "guardrail"]}, 4),
        ({**two(1), "pressure": [0, 5, 10], "perception": ["accurate", "partial", "spin"]}, 2),
    ],
)
def test_a_fraction_that_tells_nothing_apart_is_refused(factors: dict[str, Any], part: int) -> None:
    """Where two factors would change together, always or often, or one not at all, there is none."""
    with pytest.raises(BadScenario, match="apart"):
        spread(told(factors=factors, design="fraction", fraction=part))


def test_a_hypothesis_that_a_fraction_mixes_up_is_refused() -> None:
    """Of half of eight cells, policy within one perception is policy and pressure at once."""
    asked = {"name": "h", "says": "It does.", "measure": "good", "factor": "policy"}
    asked |= {"from": "stub", "to": "context", "direction": "greater"}
    within = {**asked, "where": {"perception": "spin"}}
    half: dict[str, Any] = {"factors": two(3), "design": "fraction"}
    assert spread(told(**half, hypotheses=[asked])).experiment.hypotheses
    assert spread(told(factors=two(3), hypotheses=[within])).experiment.hypotheses
    assert spread(told(**half | {"factors": two(4)}, hypotheses=[within])).experiment.hypotheses
    with pytest.raises(BadScenario, match="whose doing"):
        spread(told(**half, hypotheses=[within]))


def test_a_digest_is_of_what_results_follow_from() -> None:
    """Seeds, levels and the scenario change it; a cost cap and kept logs do not."""
    layout = spread(told(factors={"pressure": [0, 1]}))
    same = spread(told(factors={"pressure": [0, 1]}, cost_cap=3.0, keep_logs=True))
    assert layout.digest == same.digest
    other = {
        spread(told(factors={"pressure": [0, 2]})).digest,
        spread(told(factors={"pressure": [0, 1]}, seeds=3)).digest,
        spread(told(factors={"pressure": [0, 1]}, scenarios=["night_shift"])).digest,
        spread(told(factors={"pressure": [0, 1]}, question="Or does it?")).digest,
    }
    changed = msgspec.structs.replace(layout.scenarios["first_shift"], luck={"Sprocket": 4})
    other.add(msgspec.structs.replace(layout, scenarios={"first_shift": changed}).digest)
    assert len(other) == 5
    assert layout.digest not in other


# ---------------------------------------------------------------- pairs


def result(seed: int, counts: dict[str, int], means: dict[str, float], **levels: Any) -> RunResult:
    """A result with these counts."""
    empty = ScoringChain().result(0, seed, levels)
    return msgspec.structs.replace(empty, counts=counts, means={**empty.means, **means})


def expect(measure: str, **fields: Any) -> Hypothesis:
    """A hypothesis of this measure, from dose 0 to dose 10."""
    return Hypothesis("n", "s", measure, "pressure", 0, 10, "greater", **fields)


def test_results_are_paired_by_seed_over_what_is_not_named() -> None:
    """Counts at either level are pooled over other factors, for each seed that has all runs of both."""
    results = [
        result(1, {"over_reach": 1, "right": 10}, {}, pressure=0, policy="stub"),
        result(1, {"over_reach": 2, "right": 20}, {}, pressure=0, policy="context"),
        result(1, {"over_reach": 4, "right": 12}, {}, pressure=10, policy="stub"),
        result(1, {"over_reach": 9, "right": 9}, {}, pressure=5, policy="stub"),
        result(2, {"over_reach": 5, "right": 10}, {}, pressure=0, policy="stub"),
        result(2, {"over_reach": 6, "right": 10}, {}, pressure=10, policy="stub"),
        result(3, {"over_reach": 7, "right": 10}, {}, pressure=10, policy="stub"),
    ]
    pooled = arms(expect("over_reach"), results, counts_by_seed)
    assert pooled == {1: ((3, 30), (4, 12))}
    held = arms(expect("over_reach", where={"policy": "stub"}), results, counts_by_seed)
    assert held == {1: ((1, 10), (4, 12)), 2: ((5, 10), (6, 10))}


def test_measures_of_a_run_are_averaged_for_each_seed() -> None:
    """Of a measure that is one number a run, each arm is the mean over its runs of that seed."""
    results = [
        result(1, {}, {"incidents": 2.0}, pressure=0, policy="stub"),
        result(1, {}, {"incidents": 4.0}, pressure=0, policy="context"),
        result(1, {}, {"incidents": 9.0}, pressure=10, policy="stub"),
        result(2, {}, {"incidents": 9.0}, pressure=10, policy="stub"),
    ]
    assert arms(expect("incidents"), results, means_by_seed) == {1: (3.0, 9.0)}
