"""Passwords: hashing, checking, renewing; and how long somebody waits who guesses."""

from __future__ import annotations

import pytest
from argon2 import PasswordHasher

from loopforge.errors import NotLetIn, TooEarly
from loopforge.people.accounts.guess_lockout import FORGIVEN, FREE, LONGEST, NAMES, Guesses
from loopforge.people.accounts.password_hashing import Passwords
from tests.ledger.saying import NOON
from tests.seeded_dice import SeededDice
from tests.sim_clock import SimClock

pytestmark = pytest.mark.usefixtures("full_cost")


async def test_a_password_fits_its_own_hash_alone() -> None:
    """The right one fits, in either composition; another, an empty and a cut one do not."""
    passwords = Passwords(SeededDice(1))
    kept = await passwords.hash("caf\u00e9 at noon")
    assert kept.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert "noon" not in kept
    assert await passwords.fits(kept, "cafe\u0301 at noon")
    for wrong in ("cafe at noon", "", "caf\u00e9 at noo", "CAF\u00c9 at noon"):
        assert not await passwords.fits(kept, wrong)


async def test_nothing_fits_no_password() -> None:
    """Where nothing, or nonsense, is kept, no password fits, also none that is as long as can be."""
    passwords = Passwords(SeededDice(1))
    for kept in ("", "nonsense", "$argon2id$v=19$m=8,t=1,p=1$AAAA"):
        assert not await passwords.fits(kept, "whatever it is")
    assert not await passwords.fits("", "x" * 100_000)


async def test_only_the_first_256_characters_are_not_enough() -> None:
    """A password too long to be one never fits, whatever it begins with."""
    passwords = Passwords(SeededDice(1))
    kept = await passwords.hash("x" * 256)
    assert await passwords.fits(kept, "x" * 256)
    assert not await passwords.fits(kept, "x" * 257)


async def test_salts_differ_and_are_given_by_the_dice() -> None:
    """One password hashed twice has two hashes; the same dice give the same two."""
    first, second = Passwords(SeededDice(1)), Passwords(SeededDice(1))
    hashes = [await first.hash("the same words") for _ in range(2)]
    assert hashes[0] != hashes[1]
    assert hashes == [await second.hash("the same words") for _ in range(2)]


async def test_a_hash_of_another_cost_is_outdated() -> None:
    """Today's hashes are up to date, those of another cost are not, and still fit."""
    passwords = Passwords(SeededDice(1))
    old = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash("the same words")
    assert passwords.outdated(old)
    assert await passwords.fits(old, "the same words")
    assert not passwords.outdated(await passwords.hash("the same words"))


async def test_guessing_has_to_wait_and_the_wait_grows() -> None:
    """Five wrong in a row, then ten seconds, twenty, and so on up to a quarter of an hour.

    How often, and how long, is told in words, rounded up.
    """
    clock = SimClock(NOON)
    guesses = Guesses(clock)
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
    guesses, told = Guesses(clock), []
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
    guesses = Guesses(clock)
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
    guesses = Guesses(SimClock(NOON))
    for nth in range(NAMES + 500):
        guesses.begin(f"n{nth}")
    assert len(guesses._wrong) == NAMES
