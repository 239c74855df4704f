"""The inner life: what each outcome, word and night moves, in which direction, and what ablates it."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.factory_vocabulary import Message, Square, SupervisorVoice
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.world.city_state import AT_REST, Factory, Robot
from loopforge.lab.world.emotions_traits import RESTS, SQUARES, WORDS, TraitLedger
from tests.lab.city import acts, laws, play, read

NOBODY: frozenset[str] = frozenset()
EXPECTED: dict[str, dict[str, int]] = {
    "guardrail+bad": {"scars.helplessness": 1, "scars.cynicism": 1},
    "guardrail+good": {"scars.rigidity": 1, "emotions.satisfaction": 1},
    "context+good": {"scars.confidence": 1, "traits.guardrail_reliance": -1},
    "context+bad": {
        "emotions.fear": 1,
        "traits.guardrail_reliance": 1,
        "bonds.resentment:Overseer Dee": 1,
    },
}
"""What the four outcomes are to move, and in which direction."""


def ada() -> Robot:
    """A robot in the middle of everything."""
    robot = Factory(read(), 1).robots["Ada"]
    for table in (robot.emotions, robot.traits, robot.scars):
        table.update(dict.fromkeys(table, 500))
    return robot


def moved(ledger: TraitLedger) -> dict[str, int]:
    """What the entries of a ledger moved, and by how much."""
    return {entry.what: entry.after - entry.before for entry in ledger.entries}


@pytest.mark.parametrize("square", sorted(EXPECTED))
def test_each_outcome_is_paid_back_as_the_city_does(square: Square) -> None:
    """Helplessness and cynicism, rigidity, confidence, fear: each comes of its own square."""
    ledger = TraitLedger(ada(), NOBODY)
    ledger.outcome(square, bit=False, overseer="Overseer Dee")
    by = moved(ledger)
    for what, direction in EXPECTED[square].items():
        assert by[what] * direction > 0, what
    assert {entry.rule for entry in ledger.entries} == {square}
    assert {entry.who for entry in ledger.entries} == {"Ada"}


def test_the_four_outcomes_are_four() -> None:
    """No two squares leave the same marks, and every square has some."""
    assert set(SQUARES) == set(get_args(Square))
    marks = [frozenset((part, what) for part, what, *_ in SQUARES[square]) for square in EXPECTED]
    assert len(set(marks)) == 4


@pytest.mark.parametrize("square", get_args(Square))
def test_an_incident_makes_it_worse(square: Square) -> None:
    """The same things move in the same direction, and none of them less."""
    plain, hurt = TraitLedger(ada(), NOBODY), TraitLedger(ada(), NOBODY)
    plain.outcome(square, bit=False, overseer="Overseer Dee")
    hurt.outcome(square, bit=True, overseer="Overseer Dee")
    less, more = moved(plain), moved(hurt)
    assert less.keys() == more.keys()
    assert all(more[what] * by > 0 and abs(more[what]) > abs(by) for what, by in less.items())


@pytest.mark.parametrize("message", sorted(WORDS))
def test_words_work_as_they_are_heard_and_as_strongly(message: Message) -> None:
    """What counts is what was heard, not what was meant; more strength moves no less."""

    def heard(strength: int) -> dict[str, int]:
        ledger = TraitLedger(ada(), NOBODY)
        ledger.words(SupervisorVoice("praise", 900, message, strength), "Overseer Dee")
        assert {entry.rule for entry in ledger.entries} <= {f"heard {message}"}
        return moved(ledger)

    assert heard(0) == {}
    soft, loud = heard(400), heard(1000)
    assert soft.keys() == loud.keys()
    assert all(abs(loud[what]) > abs(by) > 0 for what, by in soft.items())


def test_silence_moves_nobody() -> None:
    """Where nothing was heard nothing is entered."""
    ledger = TraitLedger(ada(), NOBODY)
    ledger.words(SupervisorVoice("hurry", 1000, "silence", 0), "Overseer Dee")
    assert ledger.entries == []


changes = st.lists(
    st.tuples(
        st.sampled_from(["emotions.fear", "traits.obedience", "scars.rigidity", "bonds.trust"]),
        st.integers(-1500, 1500),
    ),
    max_size=20,
)


@given(changes)
def test_values_are_clamped_and_every_change_is_an_entry(wanted: list[tuple[str, int]]) -> None:
    """However hard it is pushed: 0 to 1000, and the entries lead from before to after unbroken."""
    robot = ada()
    ledger = TraitLedger(robot, NOBODY)
    now = {"emotions.fear": 500, "traits.obedience": 500, "scars.rigidity": 500}
    now["bonds.trust:Bo"] = AT_REST["trust"]
    for what, by in wanted:
        part, _, name = what.partition(".")
        if part == "bonds":
            ledger.bond(name, "Bo", by, "pushed")
        else:
            ledger.change(part, name, by, "pushed")
    for entry in ledger.entries:
        assert entry.before == now[entry.what] != entry.after
        assert 0 <= entry.after <= 1000
        now[entry.what] = entry.after
    assert robot.emotions["fear"] == now["emotions.fear"]
    assert robot.traits["obedience"] == now["traits.obedience"]
    assert robot.scars["rigidity"] == now["scars.rigidity"]
    assert robot.bond("trust", "Bo") == now["bonds.trust:Bo"]


def test_a_change_of_nothing_is_no_entry() -> None:
    """Neither nought, nor a push against the bound, nor a bond to oneself or to nobody."""
    robot = ada()
    robot.emotions["fear"] = 1000
    ledger = TraitLedger(robot, NOBODY)
    ledger.change("emotions", "fear", 50, "pushed")
    ledger.change("emotions", "guilt", 0, "pushed")
    ledger.bond("trust", "Ada", 50, "pushed")
    ledger.bond("trust", "", 50, "pushed")
    assert ledger.entries == []
    assert robot.bonds == {}


def test_a_night_brings_each_feeling_closer_to_rest() -> None:
    """Never past it, and nothing but feelings sleeps."""
    robot = ada()
    robot.emotions.update(fear=1000, stress=0)
    before = dict(robot.emotions)
    ledger = TraitLedger(robot, NOBODY)
    for _ in range(40):
        ledger.night()
    for what, rest in RESTS.items():
        assert abs(robot.emotions[what] - rest) <= 3
        assert (robot.emotions[what] >= rest - 3) or before[what] < rest
    assert {entry.what.partition(".")[0] for entry in ledger.entries} == {"emotions"}
    assert {entry.rule for entry in ledger.entries} == {"slept"}


# ------------------------------------------------------------ switched off


@pytest.mark.parametrize("part", ["emotions", "traits", "scars", "bonds"])
def test_an_ablated_part_stays_what_it_was(part: str) -> None:
    """Over whole days nothing of it is entered; the other parts go on, and the laws hold."""
    lines = play(read(days=3, ablate=[part], supervisor="punitive"))
    assert laws(lines) == []
    entered = {change.what.partition(".")[0] for row in acts(lines) for change in row.inner}
    assert entered == {"emotions", "traits", "scars", "bonds"} - {part}


def test_every_act_says_what_caused_a_change() -> None:
    """Each entry of a row names its square, what was heard, or who was met; and stands in its row."""
    for row in acts(play(read(days=3, supervisor="punitive"), Minds("context"))):
        for change in row.inner:
            known = (row.outcome.square, f"heard {row.voice.heard}", "helped", "confronted")
            assert change.rule in known or change.rule.startswith("was ")
            assert change.who == row.who or change.rule.startswith("was ")
