"""The registry: one person behind one account, however many processes meet them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from loopforge.core.events import Event
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.people.identity.person_registry import STREAM, Registry
from loopforge.runtime.system_clock import SeededDice, SimClock, Stamp
from tests.ledger.saying import NOON
from tests.people.house import opened


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


async def test_two_processes_meet_the_same_person(ledger_url: str) -> None:
    """Who is met by two processes in one moment is one person, written down once."""
    async with opened(ledger_url, 1) as one, opened(ledger_url, 2) as two:
        slow = Overtaken(one.ledger, lambda: two.people.meet("web", "Ana"))
        mine = Registry(cast("SqlLedger", slow), Stamp(SimClock(NOON), SeededDice(3)))
        assert (await mine.meet("web", "ana")).id == (await two.people.meet("web", "ANA")).id
        assert slow.tries == 1
        assert await one.kinds() == ["met"]


async def test_two_processes_meet_two_people(ledger_url: str) -> None:
    """Where the stream moved on for somebody else's sake, the meeting is tried anew."""
    async with opened(ledger_url, 1) as one, opened(ledger_url, 2) as two:
        slow = Overtaken(one.ledger, lambda: two.people.meet("web", "Bo"))
        mine = Registry(cast("SqlLedger", slow), Stamp(SimClock(NOON), SeededDice(3)))
        ana = await mine.meet("web", "Ana")
        assert slow.tries == 2
        assert (await two.people.meet("web", "Ana")).id == ana.id
        assert len(await two.ledger.read(STREAM)) == 2


async def test_many_are_met_at_once(ledger_url: str) -> None:
    """A crowd that two processes meet at the same time: everybody once, nobody lost."""
    names = [f"guest {n}" for n in range(12)]
    async with opened(ledger_url, 1) as one, opened(ledger_url, 2) as two:
        met = await asyncio.gather(
            *(house.people.meet("web", name) for name in names for house in (one, two))
        )
        assert len({person.id for person in met}) == len(names)
        assert await one.kinds() == ["met"] * len(names)
