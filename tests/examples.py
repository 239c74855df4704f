"""How many examples a costly property test tries."""

from hypothesis import settings

HOUSE = 30
"""Examples under the profile "house"."""


def few(count: int) -> int:
    """So many examples under the profile "house", and more where a profile wants more."""
    return count * settings().max_examples // HOUSE
