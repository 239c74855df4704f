"""Processes that spend from one budget and are killed with -9: it is passed by one call at most."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.budgets.test_spending_store import MOST, used
from tests.crash.drill import Rolls
from tests.crash.spender import ESTIMATE
from tests.ledger.saying import opened

PROCESSES, TURNS = 4, 25


async def spends(url: str, nth: int, life: int, fate: int) -> tuple[int, bool]:
    """One process over its turns: what it truly cost, and whether it was killed.

    It is killed as soon as it has said so many costs; 0: never.
    """
    arguments = (url, f"p{nth}.{life}", str(97 * nth + life), str(nth * TURNS), str(TURNS))
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.crash.spender", *arguments, stdout=PIPE
    )
    assert child.stdout is not None
    cost = said = 0
    async for line in child.stdout:
        cost, said = cost + int(line), said + 1
        if said == fate:
            child.kill()
    return cost, await child.wait() < 0


@pytest.mark.patient
@pytest.mark.crash
async def test_a_budget_is_passed_by_one_call_at_most(
    tmp_path: Path, seed: int, pytestconfig: pytest.Config
) -> None:
    """A hundred turns at once in four processes; the killed are begun anew until all is spent."""
    url, rolls = f"sqlite:///{tmp_path / 'l.db'}", Rolls(seed)
    kills, died, truth = int(pytestconfig.getoption("kills")), 0, 0
    async with opened(url):
        pass

    async def lives(nth: int) -> None:
        nonlocal died, truth
        for life in range(kills):
            cost, killed = await spends(url, nth, life, 1 + rolls.below(3))
            truth, died = truth + cost, died + killed
        truth += (await spends(url, nth, kills, 0))[0]

    await asyncio.gather(*map(lives, range(PROCESSES)))
    async with opened(url) as ledger:
        ((spent, held),) = await used(ledger)
    assert truth <= spent + held < MOST + ESTIMATE
    assert died > 0
