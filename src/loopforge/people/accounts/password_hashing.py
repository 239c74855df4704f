"""Passwords: hashed and checked by argon2 in a thread.

The cost is what OWASP names as least for argon2id: 19 MiB and two passes, some 20 ms. Two at once
at most, so that a crowd at the door cannot take a small server's memory.

Knows no accounts: a hash and a password. How often one may guess is in login_throttle.py.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from loopforge.people.identity.password_rules import LONGEST_PASSWORD, password_bytes
from loopforge.runtime.ports import Dice

if TYPE_CHECKING:
    from argon2 import PasswordHasher

PASSES, MEMORY = 2, 19 * 1024
"""argon2's time cost, and its memory in KiB."""
AT_ONCE = 2


class Passwords:
    """Hashes and checks; every check takes as long, also where there is nothing to check."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._nobodys = ""

    async def hash(self, password: str) -> str:
        """What is kept of a password."""
        salt, secret = self._dice.bytes(16), password_bytes(password)
        async with self._turns:
            return await asyncio.to_thread(lambda: _hasher().hash(secret, salt=salt))

    async def fits(self, kept: str, password: str) -> bool:
        """Whether this is the password of which that was kept; never, where that is ""."""
        if not self._nobodys:
            self._nobodys = await self.hash(self._dice.bytes(16).hex())
        possible = bool(kept) and len(password) <= LONGEST_PASSWORD
        secret = password_bytes(password[:LONGEST_PASSWORD])
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
