"""A home for each test of accounts, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.people.house import House, opened


@pytest.fixture
async def house(ledger_url: str) -> AsyncIterator[House]:
    """One process of an empty home."""
    async with opened(ledger_url) as one:
        yield one
