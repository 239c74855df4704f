"""What a turn has taken of its bounds."""

from loopforge.core.limits.turn_bounds import UNSPENT, TurnBounds
from loopforge.runtime.turn_meter import TurnMeter
from tests.runtime.conftest import START
from tests.sim_clock import SimClock


def test_what_a_program_paid_counts_though_it_failed() -> None:
    """Its calls cost what they cost; the words that say why it failed are no output of a tool."""
    bounds = TurnBounds(calls=9, output=30, money=0.4)
    meter = TurnMeter(bounds, UNSPENT, SimClock(START))
    meter.called()
    assert meter.ended("failed", "It broke off.", 0.5, 2) == "It broke off."
    assert meter.left == "6 uses of tools, 30 characters of what they give and $0.0000"
    assert meter.bound == "a turn may cost $0.4 here"
