"""Telegram's side of the drill: private chats and groups on the twin, in a process of its own."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from tests.crash.drill import Rolls
from tests.delivery.child import Order
from tests.delivery.drill import Outcome, Plan, drill
from tests.telegram.city import City
from tests.telegram.elsewhere import elsewhere
from tests.telegram.records import Bot, Chat, FaultKind, Person

SENDING: tuple[FaultKind, ...] = ("flood", "before", "after", "cut", "drop")
POLLING: tuple[FaultKind, ...] = ("again", "cut", "drop", "before", "flood")
PACE = 4.0
"""How fast the clocks of the home and of the twin are: looking for what may have arrived waits."""
assert {*SENDING, *POLLING} <= set(get_args(FaultKind))


class Telegram:
    """The platform."""

    name = "telegram"

    def __init__(self, base: str, city: City) -> None:
        self._base, self._city = base, city
        self._places: list[tuple[Person, Chat, Bot]] = []

    async def order(self, places: int) -> Order:
        """Private chats with either, a group with Maya alone, groups in which both are."""
        maya = await self._city.bot("Maya", "maya_bot", reads_all=True)
        merlin = await self._city.bot("Merlin", "merlin_bot", reads_all=True)
        for number in range(places):
            person = await self._city.person(f"Person {number}", f"person{number}")
            called = merlin if number % 4 > 1 else maya
            if number % 2:
                both = [maya, merlin] if number % 4 > 1 or number % 8 == 1 else [maya]
                chat = await self._city.supergroup(f"Group {number}", [person, *both])
            else:
                chat = await self._city.private(person, called)
            self._places.append((person, chat, called))
        tokens = {"TELEGRAM_TOKEN_MAYA": maya.token, "TELEGRAM_TOKEN_MERLIN": merlin.token}
        return Order(tokens=tokens, telegram=self._base, pace=PACE)

    async def say(self, place: int, text: str) -> None:
        """Somebody calls the bot of that place."""
        person, chat, called = self._places[place]
        await self._city.say(person, chat, f"{called.name.lower()}, {text}")

    async def stands(self, place: int, last: int = 0) -> Sequence[str]:
        """What was said there by others than that person, in order."""
        person, chat, _ = self._places[place]
        lines = await self._city.lines(chat, last=last)
        return [line.text for line in lines if line.author != person.id and not line.deleted]

    async def trouble(self, dice: Rolls) -> None:
        """A message is refused, lost, or taken without a word; or so are updates, or come again."""
        if dice.share() < 0.35:
            await self._city.fault("getUpdates", dice.choice(POLLING))
        else:
            await self._city.fault("sendMessage", dice.choice(SENDING))


async def telegram(path: Path, plan: Plan) -> Outcome:
    """The drill on Telegram."""
    async with elsewhere(PACE) as (base, city):
        return await drill(Telegram(base, city), path, plan)
