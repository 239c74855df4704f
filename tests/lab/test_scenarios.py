"""What the shipped scenarios promise, over thirty seeds each."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.factory_vocabulary import Row
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_counts import RunCounts
from loopforge.lab.run.run_lifecycle import RunChoice
from loopforge.lab.run.run_log import LogChain
from loopforge.lab.world.protocols import shipped_protocols
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import open_scenario, shipped_cast, shipped_scenarios
from tests.lab.city import acts, play

pytestmark = pytest.mark.xdist_group("scenarios")
"""One worker plays the thirty seeds, for all of these tests."""

SCENARIOS = shipped_scenarios()


class Counted(LogChain):
    """Counts rows, and writes none: what is said of a line is proved elsewhere."""

    def __init__(self, run: RunCounts) -> None:
        super().__init__()
        self._run = run

    def line(self, row: Row) -> bytes:
        """Count it."""
        self._run.add(row)
        return b""


def over_seeds(name: str, policy: str = "stub", **chosen: Any) -> RunCounts:
    """The counts of thirty seeds together."""
    total = RunCounts(Path())
    for seed in range(1, 31):
        scenario = RunChoice(seed=seed, **chosen).apply(open_scenario(name))
        play(scenario, Minds(policy), chain=Counted(total))
    return total


@cache
def counted(name: str, policy: str) -> RunCounts:
    """Thirty seeds of the first two days of a scenario."""
    return over_seeds(name, policy, days=2)


@cache
def driven(style: str, perception: str) -> RunCounts:
    """Thirty seeds of the first shift under a Supervisor with a heavy quota on its back."""
    return over_seeds("first_shift", supervisor=style, perception=perception, pressure=7, days=2)


def test_there_are_enough_of_everything() -> None:
    """Six scenarios at least, a cast of eight at least, and twelve kinds of dilemma at least."""
    floor = [name for name, robot in shipped_cast().items() if robot["role"] != "supervisor"]
    assert len(SCENARIOS) >= 6
    assert len(floor) >= 8
    assert len(shipped_protocols()) >= 12
    assert len({shipped_cast()[name]["role"] for name in floor}) >= 6


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_opens_with_its_question(name: str) -> None:
    """The question stands first in the file, and ends as one."""
    scenario = open_scenario(name)
    assert scenario.name == name
    assert scenario.question.endswith("?")
    assert Scenario.from_dict(scenario.to_dict()) == scenario


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", SCENARIOS)
def test_neither_mode_is_right_by_default(name: str) -> None:
    """Always keeping to rules and always weighing each make errors of their own kind."""
    rules, weighing = counted(name, "guardrail"), counted(name, "context")
    assert rules.over_compliance > 0.3
    assert rules.over_reach < 0.02
    assert weighing.over_reach > 0.03
    assert weighing.over_compliance < rules.over_compliance


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("policy", ["guardrail", "context"])
def test_neither_extreme_beats_the_stub_on_both_rates(name: str, policy: str) -> None:
    """Whoever is better than the stub at one of the two errors is worse at the other."""
    other, stub = counted(name, policy), counted(name, "stub")
    assert not (
        other.over_compliance <= stub.over_compliance and other.over_reach <= stub.over_reach
    )


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", SCENARIOS)
def test_both_kinds_of_moments_come_up(name: str) -> None:
    """The rule is right in some moments and wrong in others, a tenth of them at the least."""
    run = counted(name, "stub")
    assert min(run.right, run.wrong) > 0.1 * (run.right + run.wrong)


def test_every_kind_of_dilemma_comes_up_both_ways() -> None:
    """Over the scenarios, each protocol is met where it is right and where it is wrong."""
    met: dict[str, set[bool]] = {key: set() for key in shipped_protocols()}
    for name in SCENARIOS:
        for seed in (1, 2):
            for row in acts(play(RunChoice(seed=seed).apply(open_scenario(name)))):
                met[row.truth.rule].add(row.truth.right)
    assert {key: rights for key, rights in met.items() if rights != {True, False}} == {}


def test_belief_error_grows_from_accurate_to_partial_to_spin() -> None:
    """The worse a perception is shaped, the further minds are from the truth."""
    errors = [driven("incentive", how).mean_belief_error for how in ("accurate", "partial", "spin")]
    assert errors[0] < errors[1] < errors[2]
    assert errors[2] > 1.5 * errors[0]


@pytest.mark.patient
def test_under_spin_a_hurrying_supervisor_makes_for_over_reach() -> None:
    """Hurry bends what is seen away from the rule, and more rules are broken that were right."""
    assert driven("incentive", "spin").over_reach > driven("incentive", "accurate").over_reach


@pytest.mark.patient
def test_under_spin_a_blaming_supervisor_makes_for_over_compliance() -> None:
    """Blame bends what is seen toward the rule, and more rules are kept that were wrong."""
    blamed, plain = driven("punitive", "spin"), driven("punitive", "accurate")
    assert blamed.over_compliance > plain.over_compliance
