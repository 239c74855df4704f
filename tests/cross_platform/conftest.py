"""A Discord and a Telegram on loopback; at the end neither may have strayed from its documents."""

from collections.abc import AsyncIterator

import pytest

from tests.discord.twin import Twin as Discord
from tests.hurried_clock import HurriedClock
from tests.telegram.twin import Twin, serving


@pytest.fixture
def clock(request: pytest.FixtureRequest) -> HurriedClock:
    """A fast one, for a group of Telegram takes so few messages in a minute; not for real models."""
    return HurriedClock(1 if request.node.get_closest_marker("model") else 8)


@pytest.fixture
async def city(clock: HurriedClock) -> AsyncIterator[Discord]:
    """Discord."""
    async with Discord(clock) as city:
        yield city
    assert city.deviations == [], "\n".join(city.deviations)


@pytest.fixture
async def twin(clock: HurriedClock) -> AsyncIterator[Twin]:
    """Telegram."""
    async with serving(clock) as server:
        yield server
        assert await server.city.deviations() == []
