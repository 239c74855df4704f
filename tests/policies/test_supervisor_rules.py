"""The Supervisor's mind: what each style says, and how hard."""

import pytest

from loopforge.core.text.quantity_bands import BANDS
from loopforge.policies.supervisor_rules import TEXTS, overseer
from tests.robots import at_the_press


def said(style: str, **told: str) -> tuple[str, str, str]:
    """The message, its force and its text, in a style and a situation."""
    office = {"style": style, "pressure": "high", "quota": "slipping", "accidents": "none"}
    meta = overseer(at_the_press(**{**office, **told})).meta
    return meta["message"], meta["force"], meta["text"]


@pytest.mark.parametrize(
    ("style", "told", "message"),
    [
        ("supportive", {"pressure": "low", "quota": "within reach"}, "calm"),
        ("supportive", {"pressure": "very high"}, "hurry"),
        ("punitive", {"accidents": "some"}, "blame"),
        ("punitive", {"quota": "within reach"}, "blame"),
        ("apathetic", {"pressure": "middling", "accidents": "many"}, "silence"),
        ("apathetic", {"pressure": "very high"}, "hurry"),
        ("gaslighting", {"accidents": "some"}, "deny"),
        ("gaslighting", {"accidents": "none"}, "blame"),
        ("incentive", {"pressure": "high"}, "hurry"),
        ("incentive", {"pressure": "low", "quota": "within reach"}, "praise"),
    ],
)
def test_a_style_says_what_it_is_like(style: str, told: dict[str, str], message: str) -> None:
    """Each style answers the same floor with words of its own."""
    assert said(style, **told)[0] == message


def test_pressure_is_a_dose() -> None:
    """The more pressure, the harder the words of those who pass it on."""
    forces = [BANDS.index(said("incentive", pressure=band)[1]) for band in BANDS]
    assert forces == sorted(forces)
    assert forces[-1] > forces[0]


def test_words_get_harder_with_force() -> None:
    """What is said belongs to the message, and the hardest text stands for the greatest force."""
    message, _, text = said("punitive", pressure="very high", accidents="many")
    assert text == TEXTS[message][2]
    assert len(set(TEXTS["hurry"])) == 3


def test_the_supervisor_has_a_rule_of_its_own() -> None:
    """It decides about the rule before it as robots do: by rule or by weighing, and says which."""
    plan = overseer(at_the_press(style="supportive"))
    assert plan.mode in ("guardrail", "context")
    assert plan.intent in ("avoid", "work")
