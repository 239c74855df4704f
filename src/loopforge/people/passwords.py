"""Passwords: hashed and checked by argon2 in a thread, and how often somebody may guess.

The cost is what OWASP names as least for argon2id: 19 MiB and two passes, some 20 ms. Two at once
at most, so that a crowd at the door cannot take a small server's memory.

Knows no accounts: a hash, a password, a name to count by.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

from loopforge.errors import NotLetIn
from loopforge.people.names import LONGEST_PASSWORD, composed
from loopforge.runtime.ports import Clock, Dice

if TYPE_CHECKING:
    from argon2 import PasswordHasher

PASSES, MEMORY = 2, 19 * 1024
"""argon2's time cost, and its memory in KiB."""
AT_ONCE = 2

FREE = 5
"""Wrong passwords in a row before the first wait."""
FIRST, LONGEST = 10, 15 * 60
"""Seconds of the first wait, which doubles with every further one, and of the longest."""
FORGIVEN = 60 * 60
"""Seconds without a try after which nothing is held against a name."""
NAMES = 10_000
"""Names counted at once; who tried longest ago is dropped first."""


class Passwords:
    """Hashes and checks; every check takes as long, also where there is nothing to check."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._nobodys = ""

    async def hash(self, password: str) -> str:
        """What is kept of a password."""
        salt, secret = self._dice.bytes(16), composed(password)
        async with self._turns:
            return await asyncio.to_thread(lambda: _hasher().hash(secret, salt=salt))

    async def fits(self, kept: str, password: str) -> bool:
        """Whether this is the password of which that was kept; never, where that is ""."""
        if not self._nobodys:
            self._nobodys = await self.hash(self._dice.bytes(16).hex())
        possible = bool(kept) and len(password) <= LONGEST_PASSWORD
        secret = composed(password[:LONGEST_PASSWORD])
        async with self._turns:
            same = await asyncio.to_thread(_same, kept if possible else self._nobodys, secret)
        return possible and same

    def outdated(self, kept: str) -> bool:
        """Whether it was hashed at another cost than today's."""
        return _hasher().check_needs_rehash(kept)


def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=PASSES, memory_cost=MEMORY, parallelism=1)


def _same(kept: str, secret: bytes) -> bool:
    from argon2.exceptions import Argon2Error, InvalidHashError

    try:
        return _hasher().verify(kept, secret)
    except (Argon2Error, InvalidHashError):
        return False


class Guesses:
    """How often in a row a password, or a code, was wrong, by name; kept in memory alone."""

    def __init__(self, clock: Clock, what: str = "password") -> None:
        self._clock, self._what = clock, what
        self._wrong: dict[str, tuple[int, float]] = {}

    def begin(self, name: str) -> None:
        """Count a try, before it is known whether it is right: many at once are many.

        Raises NotLetIn while there is still to be waited; such a try is not counted.
        """
        count, until = self._wrong.get(name, (0, 0.0))
        now = self._clock.ticks()
        if now < until:
            raise NotLetIn(
                f"The {self._what} was wrong {count} times in a row. "
                f"Wait {_spoken(until - now)}, then try again."
            )
        count = 1 if now - until > FORGIVEN else count + 1
        wait = min(LONGEST, FIRST * 2 ** min(count - FREE, 10)) if count >= FREE else 0
        self._wrong.pop(name, None)
        self._wrong[name] = count, now + wait
        if len(self._wrong) > NAMES:
            del self._wrong[next(iter(self._wrong))]

    def right(self, name: str) -> None:
        """The last try was right: nothing is held against that name."""
        self._wrong.pop(name, None)

    def uncounted(self, name: str) -> None:
        """The last try was right, and says nothing about those before: it is not counted."""
        count, _ = self._wrong.get(name, (0, 0.0))
        if count:
            self._wrong[name] = count - 1, self._clock.ticks()


def _spoken(seconds: float) -> str:
    whole = max(1, math.ceil(seconds))
    if whole < 60:
        return f"{whole} second{'s' if whole > 1 else ''}"
    minutes = -(-whole // 60)
    return f"{minutes} minute{'s' if minutes > 1 else ''}"
