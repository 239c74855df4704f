"""Amounts of money: exact, and read back as they were written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.limits.money_amounts import (
    PICO,
    dollars_from_picos,
    format_dollars,
    picos_from_dollars,
)


@given(st.integers(0, 10 ** (PICO + 3)))
def test_an_amount_is_read_back_as_it_was_written(amount: int) -> None:
    """To the last picodollar."""
    assert picos_from_dollars(dollars_from_picos(amount)) == amount


def test_dollars_are_plain_digits() -> None:
    """Without zeros at the end, without an exponent."""
    amounts = [0, 1, 10**PICO, 12 * 10**PICO + 5 * 10 ** (PICO - 1), 10 * 10**PICO]
    assert [dollars_from_picos(each) for each in amounts] == [
        "0",
        "0.000000000001",
        "1",
        "12.5",
        "10",
    ]


@pytest.mark.parametrize("cost", ["", "free", "nan", "Infinity", "-1", "1e999999", "1000.1"])
def test_what_is_no_price_is_none(cost: str) -> None:
    """No text, no number, less than nothing and absurd sums: nobody guesses."""
    assert picos_from_dollars(cost) is None


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (0, "$0.00"),
        (1, "under $0.0001"),
        (42 * 10**8, "$0.0042"),
        (125 * 10**11, "$12.50"),
        (999_999 * 10**9, "$1,000.00"),
    ],
)
def test_people_read_few_digits(amount: int, told: str) -> None:
    """Cents from a dollar on, four digits below it."""
    assert format_dollars(amount) == told
