"""The web room: a mate's line to all its readers, memory of open pages, rooms with a long past."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec
import psutil  # type: ignore[import-untyped]

from bench.figures import Figure, folder, middle, share, sized
from bench.readers import Browser, Reader, Sent

ROOMS, PEOPLE = sized(20, 4), 5
"""Everybody has a page open on every room: 100 streams."""
PACE, SECONDS = 10, sized(20, 2)
"""Lines of people in a second, over all rooms."""
LINE = "@maya my bread number {nth} did not rise, and I do not know why"
REST = 1.0
"""Seconds after which memory is looked at."""
PAST, NEW = sized(100_000, 2_000), 120
TRIES = sized(12, 2)
BARE = "bare uvicorn, the same bytes"


class Process:
    """A program that is told things line by line, and answers so."""

    def __init__(self, module: str, path: Path, *more: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(path), *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.first = self._read()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if kind is None:
            assert self._process.stdin is not None
            self._process.stdin.close()
        else:
            self._process.kill()
        self._process.wait()

    def tell(self, *what: Any) -> None:
        """Say something."""
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(what) + b"\n")
        self._process.stdin.flush()

    async def ask(self, *what: Any) -> Any:
        """Say something, and wait for the answer; what is read meanwhile is read on time."""
        self.tell(*what)
        return await asyncio.to_thread(self._read)

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise EOFError("a process of the benchmark ended; what it said stands above")
        return msgspec.json.decode(line)

    def memory(self) -> float:
        """Kilobytes that it holds."""
        return float(psutil.Process(self._process.pid).memory_info().rss) / 1e3


def port_of(address: str) -> int:
    """The port of "http://127.0.0.1:8321"."""
    return int(address.rpartition(":")[2])


class Town(NamedTuple):
    """A home whose web room is open, and who comes to it."""

    home: Process
    port: int
    people: Sequence[Browser]
    rooms: Sequence[str]

    async def streams(self, rooms: Sequence[str]) -> list[Reader]:
        """A page of everybody's on each of these rooms; the first of each keeps what came."""
        made = [
            await person.read(room, 0, keeps=nth == 0)
            for room in rooms
            for nth, person in enumerate(self.people)
        ]
        for reader in made:
            await reader.open.wait()
        return made


async def town(home: Process) -> Town:
    """Everybody signed in, every room open, and every way walked once."""
    port = port_of(home.first)
    tokens = await home.ask("people", PEOPLE)
    rooms = [await home.ask("room", f"room {nth}") for nth in range(ROOMS)]
    people = [Browser(port, token) for token in tokens]
    for nth, room in enumerate(rooms):
        await people[nth % PEOPLE].say(room, LINE.format(nth=nth), f"warm {nth}")
    await home.ask("settled", *rooms)
    return Town(home, port, people, rooms)


# ---------------------------------------------------------------- memory


async def pages(town: Town) -> list[Figure]:
    """Kilobytes of one more open page, beside one more idle connection."""
    idle: list[Browser] = []
    least, taken = [], []
    for _ in range(2):
        before = town.home.memory()
        more = [Browser(town.port) for _ in range(ROOMS * PEOPLE)]
        for browser in more:
            await browser.get("/alive")
        await asyncio.sleep(REST)
        idle += more
        least.append((town.home.memory() - before) / len(more))
    for reader in await town.streams(town.rooms):  # what the first pages make is made once
        reader.close()
    await asyncio.sleep(REST)
    readers: list[Reader] = []
    for _ in range(2):
        before = town.home.memory()
        found = await town.streams(town.rooms)
        await asyncio.sleep(REST)
        readers += found
        taken.append((town.home.memory() - before) / len(found))
    for browser in idle:
        browser.close()
    for reader in readers:
        reader.close()
    await asyncio.sleep(REST)
    against = "an idle connection"
    first, second = f"1 to {len(idle) // 2}", f"{len(idle) // 2 + 1} to {len(idle)}"
    return [
        Figure(f"memory of an open page, {first}", taken[0], "kB", against, least[0]),
        Figure(f"memory of an open page, {second}", taken[1], "kB", against, least[1]),
    ]


# ---------------------------------------------------------------- a line to all its readers


class Load(NamedTuple):
    """What a while of talk came to: seconds of each line, what was sent, and how it was counted."""

    waits: list[float]
    sent: list[Sent]
    lines: int
    lost: int
    doubled: int


async def load(town: Town) -> Load:
    """People talk at a steady pace, mates answer, everybody reads everything."""
    newest = {room: max(await town.home.ask("shown", room, 0)) for room in town.rooms}
    readers = await town.streams(town.rooms)
    await town.home.ask("said")
    began, saying = time.perf_counter(), []
    for nth in range(PACE * SECONDS):
        await asyncio.sleep(max(0.0, began + nth / PACE - time.perf_counter()))
        person, room = town.people[nth % PEOPLE], town.rooms[nth % ROOMS]
        saying.append(asyncio.ensure_future(person.say(room, LINE.format(nth=nth), f"load {nth}")))
    await asyncio.gather(*saying)
    await town.home.ask("settled", *town.rooms)
    await asyncio.sleep(REST)
    said = await town.home.ask("said")
    expected = {room: await town.home.ask("shown", room, newest[room]) for room in town.rooms}
    for reader in readers:
        reader.close()
    lost, doubled = counted(readers, newest, expected)
    lines = sum(len(numbers) * PEOPLE for numbers in expected.values())
    return Load(arrived(said, readers), replayed(began, readers, said), lines, lost, doubled)


def counted(
    readers: Sequence[Reader], newest: dict[str, int], expected: dict[str, list[int]]
) -> tuple[int, int]:
    """How many numbered things did not come to a page they were for, and how many came again."""
    lost = doubled = 0
    for reader in readers:
        came = [number for number in reader.numbers if number > newest[reader.room]]
        lost += len(set(expected[reader.room]) - set(came))
        doubled += len(reader.numbers) - len(set(reader.numbers))
    return lost, doubled


def arrived(said: dict[str, float], readers: Sequence[Reader]) -> list[float]:
    """Seconds from each line's being there to the last of its readers having it."""
    rooms: dict[str, list[Reader]] = {}
    for reader in readers:
        rooms.setdefault(reader.room, []).append(reader)
    waits = []
    for place, at in said.items():
        room, _, seq = place.rpartition(" ")
        waits.append(max(reader.lines.get(int(seq), float("inf")) for reader in rooms[room]) - at)
    return waits


def replayed(began: float, readers: Sequence[Reader], said: dict[str, float]) -> list[Sent]:
    """What the first reader of each room was sent, in order, for the baseline to send again."""
    sent = []
    for reader in readers:
        mates = {seq: at for seq, at in reader.lines.items() if f"{reader.room} {seq}" in said}
        times = {at: seq for seq, at in mates.items()}
        for at, data in reader.came:
            seq = times.get(at, 0) if b"event: line" in data else 0
            if at >= began:
                sent.append(Sent(at - began, reader.room, seq, data))
    return sorted(sent)


async def bare(path: Path, town: Town, sent: Sequence[Sent]) -> list[float]:
    """The same bytes at the same moments to as many readers, through uvicorn alone."""
    file = path / "sent"
    file.write_bytes(msgspec.msgpack.encode(sent))
    with Process("bench.fan", file) as fan:
        browser = Browser(int(fan.first))
        readers = [
            await browser.reads(room, f"GET /{room} HTTP/1.0\r\n\r\n".encode())
            for room in town.rooms
            for _ in range(PEOPLE)
        ]
        await asyncio.sleep(REST)
        said = await fan.ask("now")
        await asyncio.sleep(REST)
        for reader in readers:
            reader.close()
        return arrived(said, readers)


# ---------------------------------------------------------------- a long past


class Past(NamedTuple):
    """A room with a past: two lines of its mate's, and its newest number."""

    room: str
    early: str
    late: str
    newest: int


async def past(town: Town, title: str, lines: int) -> Past:
    """A room with so many lines, a turn before them and one after."""
    room = await town.home.ask("room", title)
    early = await town.home.ask("turn", room)
    newest = await town.home.ask("past", room, lines)
    return Past(room, early, await town.home.ask("turn", room), newest)


async def spoken(town: Town, room: str) -> Callable[[], Awaitable[float]]:
    """A way to say a line, and the seconds until the last of its readers has it."""
    readers = await town.streams([room])

    async def say() -> float:
        began = time.perf_counter()
        told = await town.people[0].say(room, "zebra, hello to all of you", f"say {began}")
        last = max([await reader.has(msgspec.json.decode(told)["seq"]) for reader in readers])
        await town.home.ask("settled", room)
        return last - began

    return say


async def ways(town: Town, past: Past) -> dict[str, Callable[[], Awaitable[float]]]:
    """What people do in a room, by name; each takes so many seconds."""
    here, who = f"/rooms/{past.room}", town.people[1]

    def page(path: str) -> Callable[[], Awaitable[float]]:
        async def get() -> float:
            began = time.perf_counter()
            await who.get(path)
            return time.perf_counter() - began

        return get

    return {
        "open the room's page": page(here),
        "a line to its readers": await spoken(town, past.room),
        "load older lines": page(f"{here}/before?seq={past.newest // 2 + 60}"),
        "why? of an early line": page(f"{here}/why/{past.early}"),
        "why? of a late line": page(f"{here}/why/{past.late}"),
        "the list of rooms": page("/"),
        "search, reading it all": page(f"{here}/search?words=nowhere"),
    }


async def flat(town: Town) -> tuple[list[Figure], list[Past]]:
    """What people do in a room with a long past, beside the same in a new one."""
    young = await past(town, "new", NEW)
    new = await ways(town, young)
    alone = [await new["the list of rooms"]() for _ in range(TRIES)]
    aged = await past(town, "old", PAST)
    old, found = await ways(town, aged), []
    for name, way in old.items():
        tries = TRIES if "search" not in name else 3
        await way(), await new[name]()
        pairs = [(await way(), await new[name]()) for _ in range(tries)]
        long, short = (middle(times) * 1000 for times in zip(*pairs, strict=True))
        against = f"the same with {NEW} lines"
        if name == "the list of rooms":
            short, against = middle(alone) * 1000, "the same without that room"
        found.append(Figure(f"{PAST:,} lines: {name}", long, "ms", against, short))
    return found, [aged, young]


async def again(path: Path, session: str, warm: str, rooms: Sequence[Past]) -> Figure:
    """The first page of the old room, and of the new one, in a home that is opened anew."""
    taken = []
    with Process("bench.served", path) as home:
        who = Browser(port_of(home.first), session)
        await who.get(f"/rooms/{warm}")
        for past in rooms:
            began = time.perf_counter()
            await who.get(f"/rooms/{past.room}")
            taken.append((time.perf_counter() - began) * 1000)
        who.close()
    what = f"{PAST:,} lines: page after a restart"
    return Figure(what, taken[0], "ms", f"the same with {NEW} lines", taken[1])


# ---------------------------------------------------------------- all of it


async def measured(path: Path) -> list[Figure]:
    """Everything, in one home."""
    with Process("bench.served", path) as home:
        open = await town(home)
        found = await pages(open)
        talk = await load(open)
        found += spread(talk, await bare(path, open, talk.sent))
        more, rooms = await flat(open)
        found += more
        for person in open.people:
            person.close()
    found.append(await again(path, open.people[1].session, open.rooms[0], rooms))
    return found


def spread(talk: Load, base: Sequence[float]) -> list[Figure]:
    """A line's way to its readers, and what became of all that was sent."""
    what, found = f"a mate's line to its {PEOPLE} readers", []
    for name, percent in (("p50", 50), ("p99", 99)):
        value, least = share(talk.waits, percent) * 1000, share(base, percent) * 1000
        found.append(Figure(f"{what}, {name}", value, "ms", BARE, least))
    everything = f"sent over {ROOMS * PEOPLE} streams"
    found.append(Figure("lines lost", talk.lost, "lines", everything, talk.lines))
    found.append(Figure("lines doubled", talk.doubled, "lines", everything, talk.lines))
    return found


def figures() -> Iterator[Figure]:
    """Memory, then a while of talk in all rooms, then a room with a long past."""
    with folder() as here:
        yield from asyncio.run(measured(here))
