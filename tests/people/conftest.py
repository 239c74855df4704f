"""A home for each test of accounts, on SQLite and on PostgreSQL."""

from collections.abc import AsyncIterator

import pytest

from loopforge.people.accounts import password_hashing
from tests.people.house import House, opened

PASSES, MEMORY = password_hashing.PASSES, password_hashing.MEMORY


@pytest.fixture
def full_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A password costs what it costs in earnest."""
    monkeypatch.setattr(password_hashing, "PASSES", PASSES)
    monkeypatch.setattr(password_hashing, "MEMORY", MEMORY)


@pytest.fixture
async def house(ledger_url: str) -> AsyncIterator[House]:
    """One process of an empty home."""
    async with opened(ledger_url) as one:
        yield one
