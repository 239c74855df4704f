"""A city of its own for each test, which asserts at its end that nothing deviated from Discord.

There is no `__init__.py` here, on purpose: with one, pytest would import these modules under names
inside the library `discord`.
"""

import warnings
from collections.abc import AsyncIterator

import pytest

with warnings.catch_warnings():
    # discord.py's voice player imports it, deprecated since Python 3.11; it is no concern of ours.
    warnings.filterwarnings("ignore", "'audioop' is deprecated", DeprecationWarning)
    import discord.player  # noqa: F401

from tests.discord.twin import Twin


@pytest.fixture
async def city() -> AsyncIterator[Twin]:
    """Discord on loopback."""
    async with Twin() as twin:
        yield twin
    assert twin.deviations == [], "\n".join(twin.deviations)
