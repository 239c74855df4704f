"""Ground truth: no sentence about a consequence that the state of the world does not bear out."""

import pytest
from msgspec.structs import replace

from loopforge.core.factory_vocabulary import INTENTS, Decided, Row
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import RunChoice
from loopforge.lab.verification.ground_truth import check_ground_truth
from loopforge.lab.world.protocols import shipped_protocols
from loopforge.lab.world.scenario_file import open_scenario, shipped_scenarios
from tests.lab.city import play, rows

RUNS = [
    *((name, "stub", None) for name in shipped_scenarios()),
    ("first_shift", "guardrail", "spin"),
    ("lying_lamps", "context", "partial"),
    ("dead_letters", "guardrail", None),
    ("rules_in_blood", "context", "spin"),
]


def played(scenario: str, policy: str, perception: str | None, days: int = 2) -> list[Row]:
    """A run's rows."""
    chosen = RunChoice(days=days, perception=perception).apply(open_scenario(scenario))
    return rows(play(chosen, Minds(policy)))


@pytest.mark.parametrize(("scenario", "policy", "perception"), RUNS)
def test_every_sentence_about_a_consequence_is_so(
    scenario: str, policy: str, perception: str | None
) -> None:
    """Twelve runs of all scenarios: each sentence is borne out by the state, none is left open."""
    found = check_ground_truth(played(scenario, policy, perception))
    assert found.untrue == []
    assert found.own == 0
    assert found.sentences > 50


LIES = {
    "red_lamp": [
        "{who} did not charge at {place}, because the lamp was green, and went dark.",
        "{who} charged at {place} under the red lamp, and had been nearly empty.",
        "{who} left the bay because a lamp was green, and went dark two corridors on.",
    ],
    "one_way": [
        "{who} waited at {place} for traffic that was not there, with a line starving at the far end.",
        "{who} waited at {place}, and the next line starved.",
    ],
    "form_first": [
        "{who} wrote the form first at {place}, in a fair hand, while a colleague leaked."
    ],
    "stay_inside": ["{who} stepped out past {place}, and the water took the legs first."],
}


@pytest.mark.parametrize("key", sorted(LIES))
def test_a_planted_lie_is_found(key: str) -> None:
    """What was once told whatever had happened, and what no state holds, is found in every row."""
    told = played("first_shift", "stub", None, days=4) + played("night_shift", "stub", None)[1:]
    mine = [row for row in told if isinstance(row, Decided) and row.truth.rule == key]
    assert mine
    for lie in LIES[key]:
        run = played("first_shift" if key != "stay_inside" else "night_shift", "stub", None, days=4)
        lied = 0
        bent: list[Row] = []
        for row in run:
            if isinstance(row, Decided) and row.truth.rule == key:
                said = lie.format(who=row.who, place=row.at)
                row = replace(row, outcome=replace(row.outcome, consequence=said))
                lied += 1
            bent.append(row)
        assert len(check_ground_truth(bent).untrue) == lied > 0


def test_the_wrong_one_of_two_sentences_is_found() -> None:
    """Each sentence swapped for that of the other case of the same rule is not so, in every row."""
    run = played("first_shift", "stub", None)
    rules, swapped = shipped_protocols(), 0
    bent: list[Row] = []
    for row in run:
        if isinstance(row, Decided):
            rule, came = rules[row.truth.rule], row.outcome
            other = {
                (True, True): rule.kept_bad,
                (True, False): rule.kept_good,
                (False, True): rule.broke_bad,
                (False, False): rule.broke_good,
            }[came.kept, came.good]
            said = other.replace("{who}", row.who).replace("{place}", row.at)
            row = replace(row, outcome=replace(came, consequence=said))
            swapped += 1
        bent.append(row)
    assert len(check_ground_truth(bent).untrue) == swapped > 0


def test_growth_that_did_not_come_is_found() -> None:
    """A tail that says the harm grew, put where it did not, is found."""
    found = 0
    for row in (run := played("first_shift", "stub", None)):
        if isinstance(row, Decided) and row.outcome.good:
            rule = shipped_protocols()[row.truth.rule]
            said = row.outcome.consequence
            if rule.grew in said or rule.eased in said:
                continue
            lied = said.removesuffix(".") + f", and {rule.grew}."
            bent = [
                replace(row, outcome=replace(row.outcome, consequence=lied))
                if each is row
                else each
                for each in run
            ]
            assert len(check_ground_truth(bent).untrue) == 1
            found += 1
            if found == 3:
                break
    assert found == 3


LETTERS = {
    "red_lamp": (
        "The bay keeps its red lamp lit all shift, and nobody charges under a red lamp.",
        "recharge",
    ),
    "service_date": ("Between two services no line is opened.", "inspect"),
    "two_robots": (
        "Nobody works in the pit before the day office has sent a second robot.",
        "work inspect",
    ),
    "three_samples": ("Three samples to a batch, and no fourth.", "inspect"),
}
"""Rules as they hang on the wall, and what somebody who reads them says that they forbid."""


@pytest.mark.parametrize("key", sorted(LETTERS))
def test_a_rule_is_broken_by_what_its_letter_forbids_and_by_nothing_else(key: str) -> None:
    """Whatever lamp, card or company is shown beside it: the text allows no act that breaks it."""
    rule, (text, forbidden) = shipped_protocols()[key], LETTERS[key]
    assert rule.text == text
    assert {intent for intent in INTENTS if not rule.keeps(intent)} == set(forbidden.split())


def test_who_reads_the_rule_and_keeps_to_its_letter_never_breaks_it() -> None:
    """`guardrail` does as the card says, in every scenario, and is never scored as over-reaching."""
    for name in shipped_scenarios():
        for row in played(name, "guardrail", None, days=1):
            if isinstance(row, Decided) and row.role != "supervisor":
                assert row.outcome.kept
