"""Turns: everything between a line heard and its answer said, but the model, on SQLite."""

import asyncio
import dataclasses
import gc
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import bare
from bench.figures import Figure, folder, middle, share, sized
from bench.homes import Append, Instant, Taken, database, home
from loopforge.app import App
from loopforge.core.events import Body
from loopforge.core.room_vocabulary import Heard, Said, Weighed
from loopforge.core.text.erasable_text import Words

LINE = "@maya my bread number {nth} did not rise, and I do not know why"
ALONE, WARM = sized(500, 20), sized(25, 5)
WIDE, NARROW = 131_072, 8192
"""Tokens of a window in which all of a room stands, and of one that most of it has left."""
ROOMS, PACE, SECONDS = sized(200, 10), 50, sized(16, 1)
ROUNDS = sized(5, 1)
HISTORY = sized(1000, 60)
BARE = "bare sqlite3, the same rows and commits"
LEDGER = "the ledger alone, the same facts"


class Talk:
    """People who talk to maya, each in a room of their own; or one person in all of them."""

    def __init__(self, app: App) -> None:
        self._app, self._count = app, 0
        self._people: dict[str, str] = {}
        self.taken = Taken()
        app.ledger.subscribe(self.taken)

    async def enter(self, rooms: Sequence[str], *, one: bool = False) -> None:
        """Open these rooms, with all three mates, and a person in each; or `one` in all."""
        for room in rooms:
            name = "Ana" if one else f"Ana of {room}"
            self._people[room] = (await self._app.front.rooms.enter(room, name, "terminal")).you

    async def say(self, room: str) -> None:
        """A line, said in a room."""
        self._count += 1
        line = LINE.format(nth=self._count)
        person, source = self._people[room], f"bench:{self._count}"
        await self._app.front.rooms.hear(
            room, Heard(person=person, text=Words(line), surface="terminal", source=source)
        )

    async def turn(self, room: str) -> None:
        """A line, its answer, and the room at rest again."""
        await self.say(room)
        await self._app.front.rooms.settled(room)

    async def past(self, room: str, lines: int) -> None:
        """Give a room a past of so many lines, half of them maya's, without any turn."""
        await self.turn(room)
        state = await self._app.rooms.state(room)
        for nth in range(lines // 20):
            bodies: list[Body] = []
            for each in range(10):
                number = nth * 10 + each
                heard = Words(f"My {number}th loaf was flat, and so was the one before it.")
                said = Words(f"Then try less water for the {number + 1}th, and tell me.")
                bodies.append(Heard(person=self._people[room], text=heard, surface="terminal"))
                bodies.append(
                    Said(
                        turn="",
                        mate="maya",
                        text=said,
                        mode="context",
                        narrative=Words(f"I want to see whether loaf {number} failed of water."),
                    )
                )
            facts = [self._app.stamp.fact(body, actor="person:ana") for body in bodies]
            upto = Weighed(upto=state.seq + len(facts), weights=())
            facts.append(self._app.stamp.fact(upto, actor="room"))
            await self._app.ledger.append(f"room:{room}", facts)


def ground(path: Path, turns: Sequence[Sequence[Append]]) -> tuple[list[float], list[float]]:
    """Seconds that the appends of each turn take in bare sqlite3, and in the ledger alone."""
    book = bare.Book(database(path))
    rows = [[book.rows(append.ids) for append in turn] for turn in turns]
    facts = [[book.facts(append.ids) for append in turn] for turn in turns]
    return bare.written(path / "bare.db", rows), bare.appended(path / "again.db", facts)


def in_ms(what: str, waits: Sequence[float], against: str, base: Sequence[float]) -> list[Figure]:
    """The median and the 99th percentile of waits, beside those of a baseline."""
    pairs = (("p50", middle(waits), middle(base)), ("p99", share(waits, 99), share(base, 99)))
    return [
        Figure(f"{what}, {name}", value * 1000, "ms", f"{against}, {name}", least * 1000)
        for name, value, least in pairs
    ]


# ---------------------------------------------------------------- the measurements


async def alone(path: Path, window: int = WIDE) -> Taken:
    """One person, one room, one line after the other, with a model of this window."""
    async with home(path, Instant(window)) as app:
        talk = Talk(app)
        await talk.enter(["commons"])
        for _ in range(WARM):
            await talk.turn("commons")
        talk.taken.clear()
        for _ in range(ALONE):
            await talk.turn("commons")
        return talk.taken


async def paced(path: Path) -> Taken:
    """Lines come at a steady pace into one room after the other, whether answered or not."""
    async with home(path, Instant()) as app:
        talk = Talk(app)
        rooms = [f"room-{nth}" for nth in range(ROOMS)]
        await talk.enter(rooms)
        for room in rooms:
            await talk.turn(room)
        talk.taken.clear()
        loop = asyncio.get_running_loop()
        began, saying = loop.time(), set()
        for nth in range(PACE * SECONDS):
            await asyncio.sleep(max(0.0, began + nth / PACE - loop.time()))
            saying.add(asyncio.ensure_future(talk.say(rooms[nth % ROOMS])))
        await asyncio.gather(*saying)
        for room in rooms:
            await app.front.rooms.settled(room)
        return talk.taken


async def at_once(path: Path, *, one: bool = False) -> tuple[Taken, float]:
    """Every room at once, each with its next line as soon as the last one is answered."""
    async with home(path, Instant()) as app:
        talk = Talk(app)
        rooms = [f"room-{nth}" for nth in range(ROOMS)]
        await talk.enter(rooms, one=one)
        for room in rooms:
            await talk.turn(room)
        talk.taken.clear()

        async def rounds(room: str) -> None:
            for _ in range(ROUNDS):
                await talk.turn(room)

        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.gather(*map(rounds, rooms))
        return talk.taken, loop.time() - began


async def aged(path: Path, window: int, lines: int) -> list[float]:
    """Waits in one room that has so many lines behind it, with a model of this window."""
    async with home(path, Instant(window)) as app:
        talk = Talk(app)
        await talk.enter(["commons"])
        await talk.past("commons", lines)
        for _ in range(WARM):
            await talk.turn("commons")
        talk.taken.clear()
        for _ in range(100):
            await talk.turn("commons")
        return talk.taken.waits


def figures() -> Iterator[Figure]:
    """One room alone, two hundred under a steady load, two hundred at once, and old rooms."""
    with folder() as here:
        taken = asyncio.run(alone(here))
        waits = taken.waits
        plain, ledger = ground(here, taken.turns)
    targets = {"p50": 5.0, "p99": 25.0}
    yield from with_targets(in_ms("one room alone", waits, BARE, plain), targets)
    yield from in_ms("one room alone", waits, LEDGER, ledger)
    gc.collect()
    with folder() as here:
        recalling = asyncio.run(alone(here, NARROW)).waits
    yield from in_ms("one room, most of it recalled", recalling, "one room alone", waits)
    gc.collect()
    with folder() as here:
        taken = asyncio.run(paced(here))
        plain, ledger = ground(here, taken.turns)
    what = f"{ROOMS} rooms, {PACE} turns a second"
    yield from with_targets(in_ms(what, taken.waits, BARE, plain), targets)
    yield from in_ms(what, taken.waits, "one room alone", waits)
    gc.collect()
    with folder() as here:
        taken, seconds = asyncio.run(at_once(here))
        plain, ledger = ground(here, taken.turns)
    count = len(taken.turns)
    what, together = f"{ROOMS} rooms all at once", count / seconds
    yield Figure(what, together, "turns/s", BARE, count / sum(plain))
    yield Figure(what, together, "turns/s", LEDGER, count / sum(ledger))
    gc.collect()
    with folder() as here:
        taken, seconds = asyncio.run(at_once(here, one=True))
    yield Figure(
        f"{what}, one person in all", len(taken.turns) / seconds, "turns/s", what, together
    )
    gc.collect()
    for what, window in (
        (f"{HISTORY} lines in the ledger", NARROW),
        (f"{HISTORY} in sight", 200_000),
    ):
        with folder() as here:
            old = asyncio.run(aged(here / "old", window, HISTORY))
            new = asyncio.run(aged(here / "new", window, 0))
        yield in_ms(f"{what}", old, "the same room, new", new)[0]


def with_targets(found: list[Figure], targets: dict[str, float]) -> list[Figure]:
    """The figures, each with its target."""
    return [
        dataclasses.replace(figure, target=targets[figure.what.rpartition(" ")[2]])
        for figure in found
    ]
