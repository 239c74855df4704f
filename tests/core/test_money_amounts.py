"""Amounts of money: exact, and read back as they were written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.limits.money_amounts import PICO, dollars, picos, rounded


@given(st.integers(0, 10 ** (PICO + 3)))
def test_an_amount_is_read_back_as_it_was_written(amount: int) -> None:
    """To the last picodollar."""
    assert picos(dollars(amount)) == amount


@pytest.mark.parametrize("cost", ["", "free", "nan", "inf", "-1", "1001"])
def test_what_is_no_price_is_none(cost: str) -> None:
    """Nobody guesses."""
    assert picos(cost) is None


@pytest.mark.parametrize(
    ("amount", "told"),
    [(0, "$0.00"), (1, "under $0.0001"), (42 * 10**8, "$0.0042"), (125 * 10**11, "$12.50")],
)
def test_people_read_few_digits(amount: int, told: str) -> None:
    """Cents from a dollar on, four digits below it."""
    assert rounded(amount) == told
