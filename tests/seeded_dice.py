"""Dice that fall the same every time."""

import hashlib


class SeededDice:
    """Randomness that is the same every time: counter-based SHA-256 over a seed."""

    def __init__(self, seed: int) -> None:
        self._seed, self._count = seed, 0

    def bytes(self, count: int) -> bytes:
        """That many bytes, determined by the seed and how often it was asked."""
        out = b""
        while len(out) < count:
            self._count += 1
            out += hashlib.sha256(f"{self._seed}:{self._count}".encode()).digest()
        return out[:count]
