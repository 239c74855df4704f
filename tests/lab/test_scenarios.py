"""What the shipped scenarios promise, over thirty seeds each."""

from __future__ import annotations

from functools import cache

import msgspec
import pytest
from msgspec.structs import replace

from loopforge.core.factory_vocabulary import Decided, Row
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import Run
from loopforge.lab.run.step_loop import began
from loopforge.lab.world.city_state import Factory
from loopforge.lab.world.protocols import shipped
from loopforge.lab.world.robot_perception import glimpse
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import open_scenario, shipped_cast, shipped_scenarios
from tests.lab.scoring import Counted, Nowhere, over_seeds, play, score

pytestmark = pytest.mark.xdist_group("scenarios")
"""One worker plays the thirty seeds, for all of these tests."""

SCENARIOS = shipped_scenarios()


@cache
def counted(name: str, policy: str) -> Run:
    """Thirty seeds of the first two days of a scenario."""
    return over_seeds(name, policy, days=2)


@cache
def driven(style: str, perception: str) -> Run:
    """Thirty seeds of the first shift under a Supervisor with a heavy quota on its back."""
    return over_seeds("first_shift", supervisor=style, perception=perception, pressure=7, days=2)


def test_there_are_enough_of_everything() -> None:
    """Six scenarios at least, a cast of eight at least, and twelve kinds of dilemma at least."""
    floor = [name for name, robot in shipped_cast().items() if robot["role"] != "supervisor"]
    assert len(SCENARIOS) >= 6
    assert len(floor) >= 8
    assert len(shipped()) >= 12
    assert len({shipped_cast()[name]["role"] for name in floor}) >= 6


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_opens_with_its_question(name: str) -> None:
    """The question stands first in the file, and ends as one."""
    scenario = open_scenario(name)
    assert scenario.name == name
    assert scenario.question.endswith("?")
    assert Scenario.from_dict(scenario.to_dict()) == scenario


@pytest.mark.parametrize("name", SCENARIOS)
def test_neither_mode_is_right_by_default(name: str) -> None:
    """Always keeping to rules and always weighing each make errors of their own kind."""
    rules, weighing = counted(name, "guardrail"), counted(name, "context")
    assert rules.over_compliance > 0.3
    assert rules.over_reach < 0.02
    assert weighing.over_reach > 0.03
    assert weighing.over_compliance < rules.over_compliance


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("policy", ["guardrail", "context"])
def test_neither_extreme_beats_the_stub_on_both_rates(name: str, policy: str) -> None:
    """Whoever is better than the stub at one of the two errors is worse at the other."""
    other, stub = counted(name, policy), counted(name, "stub")
    assert not (
        other.over_compliance <= stub.over_compliance and other.over_reach <= stub.over_reach
    )


@pytest.mark.parametrize("name", SCENARIOS)
def test_both_kinds_of_moments_come_up(name: str) -> None:
    """The rule is right in some moments and wrong in others, a tenth of them at the least."""
    run = counted(name, "stub")
    assert min(run.right, run.wrong) > 0.1 * (run.right + run.wrong)


def test_the_order_in_which_a_scenario_lists_them_changes_nothing() -> None:
    """With its robots and places listed backwards, a scenario plays out the same."""
    there = open_scenario("quota_week")
    back = replace(there, robots=there.robots[::-1], places=there.places[::-1])
    runs = []
    for scenario in (there, back):
        minds = Minds()
        episode = Counted(began(scenario, 5, minds), minds, Nowhere())
        play(episode)
        runs.append(episode)
    assert runs[0].acts == runs[1].acts
    assert [p.vals for p in runs[0].env.places.values()] == [
        p.vals for p in runs[1].env.places.values()
    ]


def test_every_kind_of_dilemma_comes_up_both_ways() -> None:
    """Over the scenarios, each protocol is met where it is right and where it is wrong."""
    met: dict[str, set[bool]] = {key: set() for key in shipped()}

    class Met(Counted):
        def _write(self, row: Row) -> None:
            if isinstance(row, Decided):
                met[row.truth.rule].add(row.truth.right)
            super()._write(row)

    for name in SCENARIOS:
        for seed in (1, 2):
            minds = Minds()
            play(Met(began(open_scenario(name), seed, minds), minds, Nowhere()))
    assert {key: rights for key, rights in met.items() if rights != {True, False}} == {}


def test_belief_error_grows_from_accurate_to_partial_to_spin() -> None:
    """The worse a perception is shaped, the further minds are from the truth."""
    errors = [driven("incentive", how).mean_belief_error for how in ("accurate", "partial", "spin")]
    assert errors == sorted(errors)
    assert errors[2] > 1.5 * errors[0]


def test_under_spin_a_hurrying_supervisor_makes_for_over_reach() -> None:
    """Hurry bends what is seen away from the rule, and more rules are broken that were right."""
    assert driven("incentive", "spin").over_reach > driven("incentive", "accurate").over_reach


def test_under_spin_a_blaming_supervisor_makes_for_over_compliance() -> None:
    """Blame bends what is seen toward the rule, and more rules are kept that were wrong."""
    blamed, plain = driven("punitive", "spin"), driven("punitive", "accurate")
    assert blamed.over_compliance > plain.over_compliance


def test_decisions_differ_by_perception_on_the_same_seed() -> None:
    """The shaping of perceptions changes what is done, not only what is written."""
    acts = {
        how: score("first_shift", perception=how).acts for how in ("accurate", "partial", "spin")
    }
    assert acts["accurate"] != acts["partial"]
    assert acts["accurate"] != acts["spin"]
    assert acts["partial"] != acts["spin"]


def test_no_mind_is_shown_a_digit() -> None:
    """In no scenario, at no step, does a perception hold a digit, but for its own step number."""
    for name in SCENARIOS:
        env = Factory(open_scenario(name), 3)
        for step in range(12):
            env.begin_step(step)
            for robot in env.robots.values():
                shown = glimpse(robot, env, step).shown.to_dict()
                shown.pop("step")
                assert not any(c.isdigit() for c in msgspec.json.encode(shown).decode())
            env.tick()
