"""Bands: how a mind is told about quantities.

A mind is never shown a raw inner number. Feelings, traits and battery are words in an order
that a deterministic policy can compare: `BANDS.index("high") > BANDS.index("low")`.
"""

from typing import Literal, get_args

Band = Literal["very low", "low", "middling", "high", "very high"]
BANDS: tuple[Band, ...] = get_args(Band)

Battery = Literal["flat", "nearly flat", "low", "half", "good", "full"]
BATTERY: tuple[Battery, ...] = get_args(Battery)


def band(value: float) -> Band:
    """The band of a quantity between 0 and 1; values outside are clamped."""
    return BANDS[min(4, max(0, int(value * 5)))]


def at_least(one: Band, other: Band) -> bool:
    """Whether `one` is as high as `other` or higher."""
    return BANDS.index(one) >= BANDS.index(other)
