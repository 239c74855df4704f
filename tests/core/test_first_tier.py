"""With which tier a task begins, learned: a bandit over what people approved, and what it cost."""

from collections import Counter

from loopforge.core.work.first_tier import (
    DecidedTask,
    advice_of,
    best_tier,
    chosen_tier,
    records_of,
)


def tasks(tier: int, approved: int, refused: int, dollars: float) -> list[DecidedTask]:
    """Decided tasks of one kind, each at this price."""
    return [
        DecidedTask("coding", tier, nth < approved, dollars) for nth in range(approved + refused)
    ]


def test_the_cheapest_of_those_that_are_good_enough() -> None:
    """A cheap tier whose results people refuse is dear; one that is nearly as good is taken."""
    poor = tasks(1, 2, 8, 0.01)
    good, best = tasks(2, 9, 1, 0.05), tasks(3, 10, 0, 0.40)
    assert best_tier(records_of(poor + good + best, "coding")) == 2
    assert best_tier(records_of(poor + best, "coding")) == 3
    assert best_tier(records_of(poor + good, "writing")) == 0
    assert best_tier(records_of(tasks(2, 2, 0, 0.01), "coding")) == 0


def test_some_begin_elsewhere_by_lot_and_each_choice_can_be_made_again() -> None:
    """About as many as the floor says; by the task's id alone, from what stands on record."""
    records = records_of(tasks(1, 9, 1, 0.01) + tasks(2, 10, 0, 0.05), "coding")
    ids = [f"{nth:032x}" for nth in range(2_000)]
    chosen = [chosen_tier(records, (1, 2, 3), id, 0.1) for id in ids]
    for one, id in zip(chosen, ids, strict=True):
        assert one is not None
        assert chosen_tier(one.records, one.tiers, id, one.explore) == one
    ways = Counter((one.by, one.tier) for one in chosen if one is not None)
    tried = sum(count for (by, _), count in ways.items() if by == "tried")
    assert 150 < tried < 250
    assert {tier for by, tier in ways if by == "tried"} == {1, 2, 3}
    assert {tier for by, tier in ways if by == "learned"} == {1}


def test_where_nobody_knows_anything_the_tables_hold() -> None:
    """Neither without records, nor where the best tier is there no more."""
    later = "f" * 32
    assert chosen_tier((), (1, 2), later, 0.02) is None
    records = records_of(tasks(4, 5, 0, 0.5), "coding")
    assert chosen_tier(records, (1, 2), later, 0.02) is None


def test_regret_is_what_could_have_been_saved() -> None:
    """Of results that were approved, by the tier that was advised in hindsight."""
    (advice,) = advice_of(tasks(1, 10, 0, 0.01) + tasks(3, 10, 0, 0.11))
    assert advice.tier == 1
    assert round(advice.regret, 3) == round(10 * (0.11 - 0.01) * 12 / 11, 3)
