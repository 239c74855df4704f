"""The idempotency key of what goes out, by which a platform takes it once."""

from __future__ import annotations

import hashlib


def nonce(delivery: str, part: int = 0) -> str:
    """The idempotency key of a delivery: 24 hex digits, the same after every restart.

    Things that go out in several parts have one for each.
    """
    name = f"{delivery}/{part}" if part else delivery
    return hashlib.sha256(name.encode()).hexdigest()[:24]
