"""How long a model is waited for, and how often it is tried again."""

from msgspec import Struct

MOST_WAITED = 600.0
"""Seconds that a model's limits are waited out for one question, where nobody may stand in."""
SLOW = 15.0
"""Seconds without a sign of life, or without more, after which who waits is told of it."""
AMISS = 2
"""Tries at a model whose answer is there and cannot be read."""
LEAST = 0.05
"""Seconds that any try has, however late it is."""


class RetryPatience(Struct, frozen=True, kw_only=True):
    """How failures of a model are met; in seconds.

    `tries` at one model, `wait` before the second (doubled for each one after, give or take a
    quarter), never longer than `longest`, also when the provider asks for more. `climb` until a
    first word, over all models: each has an equal share of what is left.
    """

    tries: int = 2
    wait: float = 1.0
    longest: float = 20.0
    climb: float = 90.0
