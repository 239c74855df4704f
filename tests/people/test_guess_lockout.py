"""How long somebody waits who guesses at passwords or codes, and what is held against whom."""

import pytest

from loopforge.errors import NotLetIn, TooEarly
from loopforge.people.accounts.guess_lockout import FORGIVEN, FREE, LONGEST, NAMES, GuessLockout
from tests.ledger.saying import NOON
from tests.sim_clock import SimClock


async def test_guessing_has_to_wait_and_the_wait_grows() -> None:
    """Five wrong in a row, then ten seconds, twenty, and so on up to a quarter of an hour.

    How often, and how long, is told in words, rounded up.
    """
    clock = SimClock(NOON)
    guesses = GuessLockout(clock)
    for _ in range(FREE):
        guesses.begin("ana")
    for nth, wait in enumerate((10, 20, 40, 80, 160, 320, 640, *[LONGEST] * 5)):
        told = f"{wait} seconds" if wait < 60 else f"{-(-wait // 60)} minutes"
        for early, left in ((0.0, told), (wait - 0.5, "1 second")):
            await clock.advance(early)
            said = f"wrong {FREE + nth} times in a row. Wait {left}, then try again"
            with pytest.raises(NotLetIn, match=said):
                guesses.begin("ana")
        guesses.begin("bo")
        guesses.right("bo")
        await clock.advance(0.5)
        guesses.begin("ana")


async def test_a_wait_knows_whether_it_was_told() -> None:
    """Who tries again during a wait was told of it; the next wait has to be told anew."""
    clock = SimClock(NOON)
    guesses, told = GuessLockout(clock), []
    for _ in range(FREE):
        guesses.begin("ana")
    for wait in (10, 20):
        for _ in range(3):
            with pytest.raises(TooEarly) as early:
                guesses.begin("ana")
            told.append(early.value.told)
        await clock.advance(wait)
        guesses.begin("ana")
    assert told == [False, True, True] * 2


async def test_right_or_long_ago_is_forgiven() -> None:
    """After the right password, or an hour without a try, counting begins anew."""
    clock = SimClock(NOON)
    guesses = GuessLockout(clock)
    for _ in range(FREE):
        guesses.begin("ana")
    guesses.right("ana")
    for _ in range(FREE):
        guesses.begin("ana")
    await clock.advance(10 + FORGIVEN + 1)
    for _ in range(FREE):
        guesses.begin("ana")
    with pytest.raises(NotLetIn):
        guesses.begin("ana")


def test_counting_takes_no_endless_memory() -> None:
    """Whoever tries a hundred thousand names makes this process forget the oldest ones."""
    guesses = GuessLockout(SimClock(NOON))
    for nth in range(NAMES + 500):
        guesses.begin(f"n{nth}")
    assert len(guesses._wrong) == NAMES
