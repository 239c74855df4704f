"""The ledger on SQLite: appending, reading, verifying."""

import asyncio
import hashlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import bare
from bench.figures import Figure, folder, sized
from loopforge.core.events import Event, Fact
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice

LONE = sized(3_000, 100)
TENS = sized(1_000, 50)
APPENDERS, EACH = sized(200, 20), sized(40, 5)
BARE = "bare sqlite3, the same rows and commits"
TEXT = "The bread did not rise, although the water was warm and the yeast was fresh ({nth})."


class Lines:
    """Lines somebody says, as facts."""

    def __init__(self) -> None:
        self._stamp, self._count = Stamp(SystemClock(), SystemDice()), 0

    def next(self, count: int = 1) -> list[Fact]:
        """That many new ones."""
        facts = []
        for _ in range(count):
            self._count += 1
            heard = Heard(
                person="ana",
                text=Words(TEXT.format(nth=self._count)),
                surface="terminal",
                source=f"ana:{self._count}",
            )
            facts.append(self._stamp.fact(heard, actor="person:ana"))
        return facts


async def lone(ledger: SqlLedger, appends: int, size: int) -> float:
    """Seconds for one appender that waits for each append before the next."""
    facts = Lines()
    batches = [facts.next(size) for _ in range(appends)]
    began = time.perf_counter()
    for batch in batches:
        await ledger.append("room:lone", batch)
    return time.perf_counter() - began


async def crowd(ledger: SqlLedger) -> float:
    """Seconds for many appenders at once, each with a stream of its own."""
    facts = Lines()

    async def append(nth: int, batches: list[list[Fact]]) -> None:
        for batch in batches:
            await ledger.append(f"room:crowd-{nth}", batch)

    work = [[facts.next() for _ in range(EACH)] for _ in range(APPENDERS)]
    began = time.perf_counter()
    await asyncio.gather(*(append(nth, batches) for nth, batches in enumerate(work)))
    return time.perf_counter() - began


async def measured(path: Path, way: str) -> tuple[float, list[list[str]]]:
    """Seconds one way of appending takes, and the ids of each append in order."""
    ledger = await open_ledger(f"sqlite:///{path}", SystemClock(), SystemDice())
    appends: list[list[str]] = []

    def appended(_stream: str, events: Sequence[Event]) -> None:
        appends.append([event.id for event in events])

    ledger.subscribe(appended)
    if way == "crowd":
        taken = await crowd(ledger)
    else:
        taken = await lone(ledger, LONE if way == "lone" else TENS, 1 if way == "lone" else 10)
    await ledger.close()
    return taken, appends


def appending(what: str, way: str) -> Figure:
    """Events appended each second, beside the bare database."""
    with folder() as here:
        taken, appends = asyncio.run(measured(here / "ledger.db", way))
        book = bare.Book(here / "ledger.db")
        plain = sum(bare.written(here / "bare.db", [[book.rows(ids)] for ids in appends]))
    count = sum(map(len, appends))
    return Figure(what, count / taken, "events/s", BARE, count / plain)


async def filled(path: Path) -> None:
    """A ledger with lines of many rooms in it."""
    ledger = await open_ledger(f"sqlite:///{path}", SystemClock(), SystemDice())
    facts = Lines()
    for nth in range(20):
        for _ in range(10):
            await ledger.append(f"room:{nth}", facts.next(100))
    await ledger.close()


async def timed(path: Path, work: str) -> tuple[float, int]:
    """Seconds to read or verify everything, and how many events that was."""
    ledger = await open_ledger(f"sqlite:///{path}", SystemClock(), SystemDice())
    began = time.perf_counter()
    if work == "read":
        count = sum([len(await ledger.read(stream)) for stream in await ledger.heads()])
    else:
        found = await ledger.verify()
        assert found.sound, found.findings
        count = found.events
    taken = time.perf_counter() - began
    await ledger.close()
    return taken, count


def plainly(path: Path, *, hashing: bool) -> float:
    """Seconds for sqlite3 to fetch all rows, and to hash every body and text if asked."""
    connection = sqlite3.connect(path)
    began = time.perf_counter()
    rows = connection.execute("SELECT * FROM events ORDER BY stream, seq").fetchall()
    texts = connection.execute("SELECT * FROM texts").fetchall()
    if hashing:
        for row in rows:
            hashlib.sha256("\x1f".join(map(str, row)).encode()).hexdigest()
        for row in texts:
            hashlib.sha256(row[1] + row[2].encode()).hexdigest()
    taken = time.perf_counter() - began
    connection.close()
    return taken


def figures() -> Iterator[Figure]:
    """Appending alone and in a crowd, reading, verifying."""
    yield appending("one appender, one event each", "lone")
    yield appending("one appender, ten events each", "tens")
    yield appending(f"{APPENDERS} appenders at once, one event each", "crowd")
    with folder() as here:
        path = here / "ledger.db"
        asyncio.run(filled(path))
        taken, count = asyncio.run(timed(path, "read"))
        plain = count / plainly(path, hashing=False)
        yield Figure("reading", count / taken, "events/s", "bare sqlite3, fetching the rows", plain)
        taken, count = asyncio.run(timed(path, "verify"))
        plain = count / plainly(path, hashing=True)
        against = "bare sqlite3, fetching and hashing the rows"
        yield Figure("verifying", count / taken, "events/s", against, plain)
