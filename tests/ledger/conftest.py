"""A ledger, and somebody who makes facts for it."""

from collections.abc import AsyncIterator

import pytest

from loopforge.ledger.sql_ledger import SqlLedger
from tests.ledger.saying import Scribbler, opened


@pytest.fixture
async def ledger(ledger_url: str) -> AsyncIterator[SqlLedger]:
    """A ledger without views, on each database."""
    async with opened(ledger_url) as ledger:
        yield ledger


@pytest.fixture
def scribbler() -> Scribbler:
    """Makes facts."""
    return Scribbler()
