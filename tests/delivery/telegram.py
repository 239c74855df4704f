"""Telegram's side of the drill: private chats and groups on the twin, in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from tests.crash.drill import Rolls
from tests.delivery.child import Order
from tests.delivery.drill import Plan, drill
from tests.delivery.tally import Score
from tests.telegram.city import City
from tests.telegram.elsewhere import elsewhere
from tests.telegram.records import Bot, Chat, FaultKind, Person

KINDS: tuple[FaultKind, ...] = ("flood", "before", "after", "cut", "drop")
assert set(KINDS) <= set(get_args(FaultKind))


class Telegram:
    """The platform."""

    name = "telegram"

    def __init__(self, base: str, city: City) -> None:
        self._base, self._city = base, city
        self._places: list[tuple[Person, Chat]] = []
        self._bot: Bot | None = None

    async def order(self, places: int) -> Order:
        """Every other place is a group."""
        self._bot = maya = await self._city.bot("Maya", "maya_bot", reads_all=True)
        for number in range(places):
            person = await self._city.person(f"Person {number}", f"person{number}")
            if number % 2:
                chat = await self._city.supergroup(f"Group {number}", [person, maya])
            else:
                chat = await self._city.private(person, maya)
            self._places.append((person, chat))
        return Order(tokens={"TELEGRAM_TOKEN_MAYA": maya.token}, servers={"telegram": self._base})

    async def say(self, place: int, text: str) -> None:
        """Somebody says something."""
        person, chat = self._places[place]
        await self._city.say(person, chat, text)

    async def stands(self, place: int) -> Sequence[str]:
        """What Maya said, in order."""
        return [line.text for line in await self._city.lines(self._places[place][1], by=self._bot)]

    async def trouble(self, dice: Rolls) -> None:
        """A message is refused, lost, or taken without a word; or updates come again."""
        if dice.share() < 0.2:
            await self._city.fault("getUpdates", "again")
        else:
            await self._city.fault("sendMessage", dice.choice(KINDS))


async def telegram(path: Path, plan: Plan) -> Score:
    """The drill on Telegram."""
    async with elsewhere() as (base, city):
        return await drill(Telegram(base, city), path, plan)
