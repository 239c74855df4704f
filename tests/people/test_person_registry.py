"""The registry: one person behind one account, however many processes meet them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from loopforge.core.events import Event
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.people.identity.person_registry import PersonRegistry
from loopforge.runtime.system_clock import Stamp
from tests.ledger.saying import NOON
from tests.people.house import opened
from tests.seeded_dice import SeededDice
from tests.sim_clock import SimClock


class Overtaken:
    """A ledger into which somebody else writes just before the first thing that is appended."""

    def __init__(self, ledger: SqlLedger, first: Callable[[], Awaitable[Any]]) -> None:
        self._ledger, self._first = ledger, first
        self.tries = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    async def append(self, *given: Any, **more: Any) -> tuple[Event, ...]:
        """The other is quicker, once."""
        self.tries += 1
        if self.tries == 1:
            await self._first()
        return await self._ledger.append(*given, **more)


@pytest.mark.parametrize("other", ["ANA", "Bo"])
async def test_two_processes_meet_at_once(ledger_url: str, other: str) -> None:
    """Who is met by two in one moment is one person, written down once; somebody else is another.

    Where the stream moved on for somebody else's sake, the meeting is tried anew.
    """
    async with opened(ledger_url, 1) as one, opened(ledger_url, 2) as two:
        slow = Overtaken(one.ledger, lambda: two.people.meet("web", other))
        mine = PersonRegistry(cast("SqlLedger", slow), Stamp(SimClock(NOON), SeededDice(3)))
        ana = await mine.meet("web", "ana")
        assert (await two.people.meet("web", "Ana")).id == ana.id
        people = len({"ana", other.casefold()})
        assert slow.tries == people
        assert await one.kinds() == ["met"] * people


async def test_many_are_met_at_once(ledger_url: str) -> None:
    """A crowd that two processes meet at the same time: everybody once, nobody lost."""
    names = [f"guest {n}" for n in range(12)]
    async with opened(ledger_url, 1) as one, opened(ledger_url, 2) as two:
        met = await asyncio.gather(
            *(house.people.meet("web", name) for name in names for house in (one, two))
        )
        assert len({person.id for person in met}) == len(names)
        assert await one.kinds() == ["met"] * len(names)
