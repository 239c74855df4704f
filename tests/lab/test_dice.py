"""Dice: each throw is a function of run, step, name and purpose, and of nothing else."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.factory_vocabulary import Decided
from loopforge.lab.world.dice import PURPOSES, RunDice, roll_spread, roll_thousandths
from tests.lab.city import acts, play, read

Key = tuple[int, str, str]
keys = st.tuples(st.integers(0, 9), st.sampled_from(["Ada", "Bo"]), st.sampled_from(PURPOSES))
bits = st.integers(0, 2**64 - 1)


@given(st.lists(keys, unique=True).flatmap(lambda k: st.tuples(st.just(k), st.permutations(k))))
def test_the_order_of_throwing_is_no_matter(wanted: tuple[list[Key], list[Key]]) -> None:
    """Whoever is asked first, and whatever else is thrown, each throw is what it is."""
    one, other = RunDice(3), RunDice(3)
    first = {key: one.throw(*key) for key in wanted[0]}
    for key in wanted[1]:
        other.page(*key)
        assert other.throw(*key) == first[key]


def test_throws_differ_by_run_step_name_and_purpose() -> None:
    """No two of a thousand different throws are the same."""
    found = [
        RunDice(seed).throw(step, who, purpose)
        for seed in range(5)
        for step in range(10)
        for who in ("Ada", "Bo", "mill", "ma", "m")
        for purpose in PURPOSES
    ]
    assert len(set(found)) == len(found) == 1000


def test_a_hand_is_what_is_thrown_for_each_purpose() -> None:
    """A robot's dice of a step are its throws, as its row keeps them: sixteen digits."""
    luck = RunDice(3, {"Ada": 9})
    for step, who in ((0, "Ada"), (7, "Ada"), (7, "Bo")):
        thrown = {purpose: f"{luck.throw(step, who, purpose):016x}" for purpose in PURPOSES}
        assert luck.hand(step, who) == thrown


def test_other_luck_for_one_leaves_the_others_theirs() -> None:
    """A name with a seed of its own throws otherwise; nobody else does."""
    plain, lucky = RunDice(3), RunDice(3, {"Ada": 9})
    for step in range(20):
        for purpose in PURPOSES:
            assert lucky.throw(step, "Bo", purpose) == plain.throw(step, "Bo", purpose)
            assert lucky.throw(step, "Ada", purpose) != plain.throw(step, "Ada", purpose)
            assert lucky.page(step, "mill", purpose) == plain.page(step, "mill", purpose)
    assert lucky.throw(0, "Ada", "fate") == RunDice(9).throw(0, "Ada", "fate")


@given(bits, st.sampled_from([0, 16, 32, 48]), st.integers(0, 1000))
def test_what_is_cut_out_of_a_throw_is_in_its_range(throw: int, shift: int, width: int) -> None:
    """A spread lies within its width on both sides, a thousandth between 0 and 999."""
    assert -width <= roll_spread(throw, shift, width) <= width
    assert 0 <= roll_thousandths(throw, shift) <= 999


def test_the_ends_of_the_ranges_are_reached() -> None:
    """The least and the greatest throw give the least and the greatest number."""
    least, most = 0, 2**64 - 1
    for shift in (0, 16, 32, 48):
        assert (roll_spread(least, shift, 110), roll_spread(most, shift, 110)) == (-110, 110)
        assert (roll_thousandths(least, shift), roll_thousandths(most, shift)) == (0, 999)
    assert all(0 <= each < 1 << 16 for each in RunDice(1).page(0, "mill", "tick"))
    assert len(RunDice(1).page(0, "mill", "tick")) == 16


def test_throws_are_spread_evenly() -> None:
    """Over ten thousand throws each tenth of the range comes up about a tenth of the time."""
    luck = RunDice(7)
    for shift in (0, 16, 32, 48):
        throws = [luck.throw(step, "Ada", "fate") for step in range(10_000)]
        tenths = Counter(roll_thousandths(throw, shift) // 100 for throw in throws)
        assert len(tenths) == 10
        assert all(850 < count < 1150 for count in tenths.values())


# ------------------------------------------------------------ in a run


def _dice(rows: list[Decided]) -> dict[tuple[int, str], dict[str, str]]:
    return {(row.step, row.who): row.dice for row in rows}


def test_in_a_run_too_only_the_lucky_one_throws_otherwise() -> None:
    """Whatever comes of it, everybody else's dice are the same at every step of every day."""
    plain = read(days=3)
    robots = [robot.name for robot in plain.robots]
    before = _dice(acts(play(plain)))
    after = _dice(acts(play(read(days=3, luck={"Ada": 99}))))
    assert before.keys() == after.keys()
    for (step, who), dice in after.items():
        assert (dice == before[step, who]) == (who != "Ada"), (step, who)
    assert set(robots) == {who for _, who in after}
