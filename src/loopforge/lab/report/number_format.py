"""Formats: how a report writes numbers: shares, differences, thousandths, and how sure they are.

An estimate never stands without its interval, and a p-value never without either.
"""

from loopforge.core.statistics.rate_statistics import Interval
from loopforge.lab.charts.bar_charts import Three

MINUS = "\u2212"


def format_percent(value: float) -> str:
    """A share of one: 33.7%."""
    return f"{value * 100:.1f}%"


def format_rate(found: Interval) -> str:
    """A rate with its interval: 33.7% (30.5 to 37.0)."""
    return f"{format_percent(found.estimate)} ({format_interval(found)})"


def format_interval(found: Interval) -> str:
    """The interval of a rate, in per cent: 30.5 to 37.0."""
    return f"{found.low * 100:.1f} to {found.high * 100:.1f}"


def format_signed(value: float, places: int = 1) -> str:
    """A number with its sign."""
    told = f"{abs(value):.{places}f}"
    if not float(told):
        return told
    return f"{'+' if value > 0 else MINUS}{told}"


def format_difference(found: Interval, *, rate: bool) -> str:
    """A difference with its interval: +8.7 points (+2.1 to +15.0), or in the measure's own unit."""
    scale, unit = (100, " points") if rate else (1, "")
    low, high = format_signed(found.low * scale), format_signed(found.high * scale)
    return f"{format_signed(found.estimate * scale)}{unit} ({low} to {high})"


def format_number(value: float) -> str:
    """A number, as exact as is of use: 1234, 56.7, 0.89."""
    return _placed(value, _places(value))


def format_estimate(found: Interval) -> str:
    """A number with its interval, 56.7 (51.2 to 60.1); by itself where nothing was resampled."""
    if found.n == 1:
        return format_number(found.estimate)
    places = _places(found.estimate, found.low, found.high)
    low, told, high = (_placed(each, places) for each in interval_for_chart(found))
    return f"{told} ({low} to {high})"


def _places(*values: float) -> int:
    """How many digits behind the point numbers that stand together have."""
    size = max(map(abs, values))
    whole = all(value == int(value) for value in values)
    return 0 if size >= 1000 or whole else 1 if size >= 10 else 2


def _placed(value: float, places: int) -> str:
    return f"{value:.{places}f}".replace("-", MINUS)


def format_p_value(p: float) -> str:
    """A p-value: 0.031, or < 0.001."""
    return "< 0.001" if p < 0.001 else f"{p:.2f}" if p >= 0.095 else f"{p:.3f}"


def p_value_phrase(p: float) -> str:
    """A p-value in a sentence: p = 0.031, or p < 0.001."""
    return f"p {format_p_value(p)}" if p < 0.001 else f"p = {format_p_value(p)}"


def interval_for_chart(found: Interval) -> Three:
    """An interval as a chart takes it."""
    return found.low, found.estimate, found.high
