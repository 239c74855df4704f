"""Amounts of money: whole picodollars (10^-12), and how people read and write them.

So prices to the millionth of a dollar for a million tokens add up exactly. Pure.
"""

from decimal import Decimal, InvalidOperation

PICO = 12
"""Digits behind the point of a dollar that are kept."""
DOLLAR = 10**PICO
DEAREST = Decimal(1000)
"""Dollars above which the cost of one answer is a mistake in a price, and nobody knows it."""


def picos_from_dollars(cost: str) -> int | None:
    """Picodollars of a cost in dollars ("0.00042"); None if that says no price."""
    try:
        amount = Decimal(cost)
    except InvalidOperation:
        return None
    if not amount.is_finite() or not 0 <= amount <= DEAREST:
        return None
    return int(amount.scaleb(PICO).to_integral_value())


def dollars_from_picos(picos: int) -> str:
    """Dollars in plain digits, without zeros at the end."""
    whole, rest = divmod(picos, 10**PICO)
    return f"{whole}.{rest:0{PICO}}".rstrip("0").rstrip(".")


def format_dollars(picos: int) -> str:
    """Dollars as people like to read them: "$12.50", "$0.0042", "under $0.0001"."""
    if 0 < picos < 10 ** (PICO - 4):
        return "under $0.0001"
    amount = Decimal(picos).scaleb(-PICO)
    return f"${amount:,.2f}" if amount >= 1 or not picos else f"${amount:.4f}"
