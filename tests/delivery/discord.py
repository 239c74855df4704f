"""Discord's side of the drill: the twin in a process of its own, and places of every kind.

Maya has a bot of her own; Merlin and Zuzu are there by another one that they share, under their own
names where a webhook can be. One line out of so many is said in each of KINDS.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec import Struct

from loopforge.io.discord.sending.reply_quote import strip_reply_quote
from tests.crash.drill import Rolls
from tests.delivery.child import Order
from tests.delivery.drill import Outcome, Plan, drill
from tests.discord.remote import Remote, remote_twin

KINDS = (
    ("private", "maya"),
    ("channel", "maya"),
    ("channel", "merlin"),
    ("thread", "zuzu"),
    ("private", "merlin"),
    ("thread", "maya"),
)
"""Where, and which mate is called there: by a bot of its own, by a webhook, by a shared bot."""
BOTS = {"maya": "Maya", "merlin": "Family", "zuzu": "Family"}
MESSAGES = ("POST /channels/*/messages", "POST /webhooks/**")
CHANGES = ("PATCH /channels/*/messages/*", "PATCH /webhooks/**")
READING = "GET /channels/*/messages"
PULSE = 40
"""Looks at a place between two events that mean nothing."""


class Spot(Struct):
    """A place: of a kind, with a mate; its channel's id, 0 before a first private word."""

    kind: str
    mate: str
    person: str
    channel: int = 0


class Discord:
    """The platform."""

    name = "discord"

    def __init__(self, twin: Remote) -> None:
        self._twin = twin
        self._spots: list[Spot] = []
        self._looks = self._noise = 0
        self._there = False
        self._troubles: tuple[Callable[[Rolls], Awaitable[None]], ...] = (
            self._patience,
            self._broken,
            self._broken,
            self._slow,
            self._cut,
            self._stream,
            self._stream,
        )

    async def order(self, places: int) -> Order:
        """Make the places, of each kind in turn."""
        twin, tokens = self._twin, self._twin.told["tokens"]
        hall = (await twin.do("channel", "hall"))["id"]
        await twin.do("person", "nobody")
        self._noise = (await twin.do("say", "nobody", hall, "hm"))["id"]
        for number in range(places):
            kind, mate = KINDS[number % len(KINDS)]
            spot = Spot(kind, mate, f"person{number}")
            await twin.do("person", spot.person)
            if kind == "channel":
                spot.channel = (await twin.do("channel", f"channel{number}"))["id"]
            elif kind == "thread":
                made = await twin.do("thread", spot.person, hall, f"thread{number}")
                spot.channel = made["id"]
            self._spots.append(spot)
        return Order(
            tokens={"DISCORD_TOKEN_MAYA": tokens["Maya"], "DISCORD_TOKEN": tokens["Family"]},
            rest=twin.told["rest"],
            gateway=twin.told["gateway"],
        )

    async def say(self, place: int, text: str) -> None:
        """Somebody calls the mate of that place; nobody does before the bots were there once.

        Discord does not tell a bot of private talks that it never heard of.
        """
        if not self._there:
            for bot in ("Maya", "Family"):
                await self._twin.until("online", bot, holds=bool)
            self._there = True
        spot, words = self._spots[place], f"{self._spots[place].mate}, {text}"
        if spot.kind == "private":
            line = await self._twin.do("dm", spot.person, BOTS[spot.mate], words)
            spot.channel = line["channel"]
        else:
            await self._twin.do("say", spot.person, spot.channel, words)

    async def stands(self, place: int, last: int = 0) -> Sequence[str]:
        """What was said there by others than that person, in order."""
        spot = self._spots[place]
        await self._pulse()
        if not spot.channel:
            return []
        lines = await self._twin.do("lines", spot.channel, last=last)
        return [strip_reply_quote(line["text"]) for line in lines if line["by"] != spot.person]

    async def trouble(self, dice: Rolls) -> None:
        """A call fails, or a connection, or what is told by it."""
        await dice.choice(self._troubles)(dice)

    async def _pulse(self) -> None:
        """Now and then something happens that concerns nobody: an event kept back then follows."""
        self._looks += 1
        if self._looks % PULSE == 0:
            verb = "react" if self._looks // PULSE % 2 else "unreact"
            await self._twin.do(verb, "nobody", self._noise, "👍")

    async def _patience(self, dice: Rolls) -> None:
        """A route asks to wait, for a moment or for a second."""
        seconds = dice.choice((0.1, 1.0))
        route = dice.choice((*MESSAGES, *CHANGES, READING))
        await self._twin.do("rate_limit", route, retry_after=seconds)

    async def _broken(self, dice: Rolls) -> None:
        """A call fails with 502 or without an answer, before it is carried out, or after it."""
        carried, route = dice.share() < 0.6, dice.choice((*MESSAGES, *MESSAGES, *CHANGES, READING))
        if dice.share() < 0.5:
            await self._twin.do("fail", route, 502, carried=carried)
        else:
            await self._twin.do("lose", route, carried=carried)

    async def _slow(self, dice: Rolls) -> None:
        """An answer takes its time."""
        await self._twin.do("slow", dice.choice(MESSAGES), 0.5 + 1.5 * dice.share())

    async def _cut(self, dice: Rolls) -> None:
        """The gateway's socket goes: it may come back to its session, or must begin a new one."""
        bot = dice.choice(("Maya", "Family"))
        match dice.below(3):
            case 0:
                await self._twin.do("reconnect", bot)
            case 1:
                await self._twin.do("cut", bot, 4000)
            case _:
                await self._twin.do("forget", bot)
                await self._twin.do("cut", bot, 4000)

    async def _stream(self, dice: Rolls) -> None:
        """A message is told twice, or after the next event, or in a form that nobody understands."""
        match dice.below(3):
            case 0:
                await self._twin.do("double", "MESSAGE_CREATE")
            case 1:
                await self._twin.do("swap", "MESSAGE_CREATE")
            case _:
                await self._twin.do("spoil", "MESSAGE_CREATE", "author")


async def discord(path: Path, plan: Plan) -> Outcome:
    """The drill on Discord."""
    async with remote_twin("--bots", "Maya,Family") as twin:
        return await drill(Discord(twin), path, plan)
