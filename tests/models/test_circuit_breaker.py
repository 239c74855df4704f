"""Rests: a model that failed is passed over for a while, then tried by one question."""

from hypothesis import given
from hypothesis import strategies as st

from loopforge.models.circuit_breaker import LONGEST, SHORTEST, CircuitBreaker


def test_the_life_of_a_rest() -> None:
    """It may not be asked until its time is up; then one may; an answer makes it well."""
    rests = CircuitBreaker()
    assert rests.enter("m", 0)
    rests.failed("m", 0)
    assert not rests.enter("m", SHORTEST - 1)
    assert rests.enter("m", SHORTEST + 1)
    assert not rests.enter("m", SHORTEST + 1)  # somebody is trying it
    rests.worked("m")
    assert rests.enter("m", SHORTEST + 1)
    assert rests.enter("m", SHORTEST + 1)


def test_a_trial_that_fails_doubles_the_rest() -> None:
    """Each failure in a row doubles the rest; one that was cancelled tells nothing."""
    rests = CircuitBreaker()
    rests.failed("m", 0)
    assert rests.enter("m", SHORTEST)
    rests.leave("m")
    assert rests.enter("m", SHORTEST)
    rests.failed("m", SHORTEST)
    assert rests.until("m") == SHORTEST + 2 * SHORTEST


def test_what_the_provider_asks_for() -> None:
    """It rests at least as long as it asked for, and longest when the fault will last."""
    rests = CircuitBreaker()
    rests.failed("busy", 0, least=90)
    rests.failed("keyless", 0, lasting=True)
    assert (rests.until("busy"), rests.until("keyless")) == (90, LONGEST)
    assert rests.until("other") == 0


@given(st.integers(1, 40), st.floats(0, 1e9))
def test_no_rest_is_for_ever(failures: int, least: float) -> None:
    """However often it fails and however long it asks for, it is tried again in the end."""
    rests = CircuitBreaker()
    for _ in range(failures):
        rests.failed("m", 0, least=least)
    assert SHORTEST <= rests.until("m") <= LONGEST
    assert rests.enter("m", LONGEST)
