"""A Telegram on loopback, and its people. At the end nothing may have strayed from the documents.

This folder is a package without __init__.py, as all folders of tests are: with one, pytest would
import it as `telegram` and hide the library of that name.
"""

from collections.abc import AsyncIterator

import pytest

from tests.telegram.city import City
from tests.telegram.homes import HURRIED
from tests.telegram.twin import Twin, serving


@pytest.fixture(autouse=True)
def spans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Telegram's library gives spans as such; else its errors themselves warn of their old type."""
    monkeypatch.setenv("PTB_TIMEDELTA", "1")


@pytest.fixture
async def twin() -> AsyncIterator[Twin]:
    """The server. A test that strays on purpose calls `city.forgive()`."""
    async with serving(HURRIED) as server:
        yield server
        assert await server.city.deviations() == []


@pytest.fixture
def city(twin: Twin) -> City:
    """Its people."""
    return twin.city
