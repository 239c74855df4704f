"""Counter-based dice: every throw is a function of (run, step, who, purpose), and of nothing else.

So no throw depends on who was asked first, on how many workers there are, or on what others drew:
give one robot other luck, and everybody else's day stays the day it was. Each throw is 64 bits of
keyed BLAKE2b; thousandths and small ranges are cut out of it.
"""

import struct
from collections.abc import Mapping
from hashlib import blake2b

_SIXTEEN = struct.Struct(">16H").unpack


PURPOSES = ("sense", "shape", "fate", "order")
"""What a robot throws for in a step: its senses, how its view is shaped, its fate, its turn."""
_HAND = {purpose: purpose.encode() for purpose in PURPOSES}


class RunDice:
    """The dice of one run. `reseeded` gives single names a seed of their own."""

    def __init__(self, seed: int, reseeded: Mapping[str, int] | None = None) -> None:
        self.seed = seed
        self._dice = _dice(seed)
        self._own = {name: _dice(other) for name, other in (reseeded or {}).items()}

    def throw(self, step: int, who: str, purpose: str) -> int:
        """64 bits."""
        return int(self._thrown(step, who, {purpose: purpose.encode()})[purpose], 16)

    def hand(self, step: int, who: str) -> dict[str, str]:
        """All that this robot throws in this step, by purpose, as its row keeps it: hexadecimal."""
        return self._thrown(step, who, _HAND)

    def _thrown(self, step: int, who: str, purposes: Mapping[str, bytes]) -> dict[str, str]:
        die = self._own.get(who, self._dice)[0].copy()
        die.update(f"{step}|{who}|".encode())
        thrown = {}
        for purpose, name in purposes.items():
            each = die.copy()
            each.update(name)
            thrown[purpose] = each.hexdigest()
        return thrown

    def page(self, step: int, who: str, purpose: str) -> tuple[int, ...]:
        """Sixteen throws of 16 bits at once, for what needs many small ones."""
        die = self._own.get(who, self._dice)[1].copy()
        die.update(f"{step}|{who}|{purpose}".encode())
        return _SIXTEEN(die.digest())


def _dice(seed: int) -> tuple[blake2b, blake2b]:
    """For throws of 64 bits and for pages: keyed once, since a copy costs less than a key."""
    key = blake2b(f"loopforge factory {seed}".encode(), digest_size=32).digest()
    return blake2b(digest_size=8, key=key), blake2b(digest_size=32, key=key)


def roll_spread(bits: int, shift: int, width: int) -> int:
    """A whole number from -width to width, cut out of a throw at `shift` bits."""
    return (bits >> shift & 0xFFFF) * (2 * width + 1) // 0x10000 - width


def roll_thousandths(bits: int, shift: int) -> int:
    """A whole number from 0 to 999, cut out of a throw at `shift` bits."""
    return (bits >> shift & 0xFFFF) * 1000 // 0x10000
