"""A process that spends from a budget, made to be killed: many questions at once on one database.

Says each cost on a line of its own before it settles it, as a service has taken it by then.

    python -m tests.crash.spender URL NAME SEED FIRST COUNT
"""

import asyncio
import sys
from random import Random  # noqa: TID251 - a seed of its own

from loopforge.budgets.spending_store import SpendingAmounts, reserve, settle
from tests.budgets.test_spending_store import DAY, HOME, hold
from tests.ledger.saying import opened

ESTIMATE = 400


async def spend(url: str, name: str, dice: Random, turns: range) -> None:
    """Ask for each of these turns once, all at the same time."""
    async with opened(url) as ledger:

        async def turn(nth: int) -> None:
            wanted = hold(f"t{nth}", name, ESTIMATE)._replace(id=f"{name}-{nth}")
            found = await ledger.change(lambda to: reserve(to, wanted, [HOME], 0.8))
            if found.level == "spent":
                return
            cost = dice.randint(0, ESTIMATE)
            print(cost, flush=True)
            paid = SpendingAmounts(picos=cost, calls=1)
            await ledger.change(lambda to: settle(to, wanted.id, wanted.meters, DAY, paid))

        await asyncio.gather(*map(turn, turns))


if __name__ == "__main__":
    url, name, seed, first, count = sys.argv[1:]
    turns = range(int(first), int(first) + int(count))
    asyncio.run(spend(url, name, Random(int(seed)), turns))
