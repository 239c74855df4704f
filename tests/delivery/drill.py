"""The drill: people say lines in many places at once, trouble comes, the home is killed, again.

In each place somebody says a line, and when that is answered up to three lines in a row, waits until
all are answered, and goes on. Meanwhile, by how far it is: trouble is ordered at the platform, and the
home is killed with -9 and started anew, the first time when it knows every place. Randomness is
seeded. Does not know which platform it is.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tests.crash.drill import Rolls
from tests.delivery.child import Order
from tests.delivery.tally import Line, Score, marks, score
from tests.rooms.conftest import write_mates

ROOT = Path(__file__).parent.parent.parent
BURST = 3
LOOKS = 100
"""Looks for answers in a second, in all places together."""
RECENT = 12
"""Messages that are looked at for an answer."""
PATIENCE = 120.0
"""Seconds after which an answer is lost."""


class Plan(Struct, frozen=True, kw_only=True):
    """How many lines in how many places, with how many kills and troubles."""

    lines: int = 2000
    places: int = 20
    kills: int = 20
    troubles: int = 120
    seed: int = 7


class Platform(Protocol):
    """A platform with places where people talk."""

    name: str

    async def order(self, places: int) -> Order:
        """Make the places; how the home gets there."""
        ...

    async def say(self, place: int, text: str) -> None:
        """Somebody says something in a place."""
        ...

    async def stands(self, place: int, last: int = 0) -> Sequence[str]:
        """What the mates said there, in the order in which it stands; the `last` so many, or all."""
        ...

    async def trouble(self, dice: Rolls) -> None:
        """Order some trouble."""
        ...


class Talk(Struct):
    """How far it is: what was said, how many places were answered once, what was done to it."""

    said: list[Line]
    known: int = 0
    kills: int = 0
    struck: int = 0


class Outcome(NamedTuple):
    """What was counted, and of what: what people said, and what stands there."""

    score: Score
    said: Sequence[Line]
    stands: Sequence[Line]


class Home:
    """The home's process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Begin."""
        log = (self._path / "child.log").open("ab")
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "tests.delivery.child",
            str(self._path),
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
        log.close()
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        assert line == b"ready\n", (self._path / "child.log").read_text()[-3000:]

    async def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)
            await self._process.wait()


@asynccontextmanager
async def alive(path: Path, order: Order) -> AsyncIterator[Home]:
    """A home in this folder."""
    write_mates(path)
    (path / "data").mkdir(exist_ok=True)
    (path / "order.json").write_bytes(msgspec.json.encode(order))
    home = Home(path)
    await home.start()
    try:
        yield home
    finally:
        await home.kill()


async def drill(platform: Platform, path: Path, plan: Plan) -> Outcome:
    """Run it, and count."""
    talk = Talk([])
    numbers = iter(range(1, plan.lines + 1))
    done = asyncio.Event()
    async with alive(path, await platform.order(plan.places)) as home:
        havoc = asyncio.create_task(_havoc(platform, home, plan, talk, done))  # noqa: TID251
        try:
            async with asyncio.TaskGroup() as group:
                for place in range(plan.places):
                    group.create_task(_talk(platform, place, numbers, talk, plan.places))
        finally:
            done.set()
            await havoc
        await asyncio.sleep(2)  # whatever would come twice comes now
        stands = [
            Line(str(place), text)
            for place in range(plan.places)
            for text in await platform.stands(place)
        ]
    found = replace(score(talk.said, stands), kills=talk.kills, struck=talk.struck)
    return Outcome(found, talk.said, stands)


async def _talk(
    platform: Platform, place: int, numbers: Iterator[int], talk: Talk, places: int
) -> None:
    """Somebody talks in a place until there are no more lines; after the first, all wait for all.

    Else a place whose first answer is slow would keep the kills away until there is nothing left.
    """
    dice, most = Rolls(place), 1
    while True:
        waiting = []
        for _ in range(1 + dice.below(most)):
            number = next(numbers, None)
            if number is None:
                break
            text = f"[k{number}]"
            talk.said.append(Line(str(place), text))
            await platform.say(place, text)
            waiting.append(number)
        if not waiting:
            return
        await _answered(platform, place, waiting, places / LOOKS)
        if most == 1:
            talk.known, most = talk.known + 1, BURST
            while talk.known < places:
                await asyncio.sleep(0.05)


async def _answered(platform: Platform, place: int, numbers: Sequence[int], pause: float) -> None:
    """Wait until all of these are answered; what is not after a long while is lost."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while True:
                recent = await platform.stands(place, RECENT)
                found = {mark for text in recent for mark in marks(text)}
                if found.issuperset(numbers):
                    return
                await asyncio.sleep(pause)


async def _havoc(
    platform: Platform, home: Home, plan: Plan, talk: Talk, done: asyncio.Event
) -> None:
    """Kill and trouble, spread over the lines."""
    dice = Rolls(plan.seed)
    kills = sorted((0.02 + 0.93 * dice.share()) * plan.lines for _ in range(plan.kills))
    troubles = sorted(0.97 * dice.share() * plan.lines for _ in range(plan.troubles))
    while not done.is_set() or (talk.known == plan.places and (kills or troubles)):
        if troubles and len(talk.said) >= troubles[0]:
            troubles.pop(0)
            await platform.trouble(dice)
            talk.struck += 1
        elif kills and len(talk.said) >= kills[0] and talk.known == plan.places:
            kills.pop(0)
            await asyncio.sleep(0.3 * dice.share())
            await home.kill()
            talk.kills += 1
            await home.start()
        else:
            await asyncio.sleep(0.05)


Driver = Callable[[Path, Plan], Awaitable[Outcome]]
