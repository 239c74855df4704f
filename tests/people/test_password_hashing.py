"""Passwords: hashing, checking, renewing."""

import pytest
from argon2 import PasswordHasher

from loopforge.people.accounts.password_hashing import Passwords
from tests.seeded_dice import SeededDice

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
