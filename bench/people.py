"""People in a room, from outside: turns, growth, a crowd, first word, through the web room."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.figures import Figure, folder, middle, share, sized
from bench.homes import Append
from bench.readers import Browser, Reader
from bench.turns import LEDGER, ground
from bench.web import Process, port_of

TURNS, ENDS = sized(200, 12), sized(20, 3)
"""Turns of the long talk, and how many of its beginning are held against as many of its end."""
WARM = sized(10, 2)
TALKERS = sized(10, 2)
"""People of the long talk, who take turns: nobody may say more than a line a second for long."""
CROWD = sized(20, 4)
LINE = "@maya my bread number {nth} did not rise, and I do not know why"
GROWTH, PREFIX = 1.5, 93.0
"""At most so many times the first turns, at least such a share of each prompt: what is aimed at."""


class Turn(NamedTuple):
    """Seconds from the press of a key to the line, the first word and the answer on the page."""

    line: float
    word: float
    answer: float


async def turn(home: Process, who: Browser, page: Reader, text: str) -> Turn:
    """A line and its answer, as the person sees them on an open page."""
    page.words.clear()
    began = time.perf_counter()
    told = await who.say(page.room, text, f"people {began}")
    seq = int(msgspec.json.decode(told)["seq"])
    line = await page.has(seq)
    answer = await page.next(seq)
    words = [at for at in page.words if at <= answer]
    await home.ask("settled", page.room)
    return Turn(line - began, min([*words, answer]) - began, answer - began)


async def talk(home: Process, people: Sequence[Browser], room: str) -> list[Turn]:
    """People and one mate, so many turns in one room, each seen on the page of who spoke."""
    pages = [await person.read(room, 0) for person in people]
    for page in pages:
        await page.open.wait()
    taken = []
    for nth in range(WARM + TURNS):
        if nth == WARM:
            await home.ask("taken")
        which = nth % len(people)
        taken.append(await turn(home, people[which], pages[which], LINE.format(nth=nth)))
    for page in pages:
        page.close()
    return taken[WARM:]


class Crush(NamedTuple):
    """A crowd that speaks at once: seconds of each line to each page, and until all is quiet."""

    waits: list[float]
    quiet: float
    shown: int
    lost: int
    doubled: int


async def crowd(home: Process, people: Sequence[Browser], room: str) -> Crush:
    """Everybody has the room open, and everybody says a line at the same moment."""
    pages = [await person.read(room, 0) for person in people]
    for page in pages:
        await page.open.wait()
    newest = max(await home.ask("shown", room, 0))
    began = time.perf_counter()
    told = await asyncio.gather(
        *(
            person.say(room, LINE.format(nth=f"c{nth}"), f"crowd {nth}")
            for nth, person in enumerate(people)
        )
    )
    lines = [int(msgspec.json.decode(each)["seq"]) for each in told]
    waits = [await page.has(seq) - began for seq in lines for page in pages]
    await home.ask("settled", room)
    quiet = time.perf_counter() - began
    expected = set(await home.ask("shown", room, newest))
    for page in pages:
        for seq in expected:
            await page.has(seq)
    came = [[seq for seq in page.numbers if seq > newest] for page in pages]
    lost = sum(len(expected - set(each)) for each in came)
    doubled = sum(len(each) - len(set(each)) for each in came)
    for page in pages:
        page.close()
    return Crush(waits, quiet, len(expected) * len(pages), lost, doubled)


class Seen(NamedTuple):
    """All that was measured. `prefix` is a share of prompts in percent."""

    turns: list[Turn]
    crush: Crush
    prefix: float
    appends: list[list[Append]]


async def measured(path: Path) -> Seen:
    """All of it, in one home that asks one provider."""
    with (
        Process("bench.loopback_provider", path) as provider,
        Process("bench.served", path, provider.first) as home,
    ):
        port, tokens = port_of(home.first), await home.ask("people", CROWD)
        people = [Browser(port, token) for token in tokens]
        room = await home.ask("room", "a long talk", TALKERS)
        await provider.ask("share")
        turns = await talk(home, people[:TALKERS], room)
        shared, whole = await provider.ask("share")
        taken = await home.ask("taken")
        crush = await crowd(home, people, await home.ask("room", "a crowd"))
        for person in people:
            person.close()
    appends = [[Append(stream, tuple(ids)) for stream, ids in each] for each in taken]
    return Seen(turns, crush, 100 * shared / whole, appends)


def told(seen: Seen, ledger: Sequence[float]) -> Iterator[Figure]:
    """What was measured, beside the ledger alone with the facts of the same turns."""
    base = [each * 1000 for each in ledger]

    def beside(what: str, waits: Sequence[float]) -> Iterator[Figure]:
        for percent in (50, 95):
            value, least = share(waits, percent) * 1000, share(base, percent)
            yield Figure(f"{what}, p{percent}", value, "ms", f"{LEDGER}, p{percent}", least)

    answers = [each.answer for each in seen.turns]
    yield from beside("one's line on the page", [each.line for each in seen.turns])
    yield from beside("the first word", [each.word for each in seen.turns])
    yield from beside("a turn", answers)
    first, last = middle(answers[:ENDS]) * 1000, middle(answers[-ENDS:]) * 1000
    what, against = f"the last {ENDS} of {TURNS} turns", f"the first {ENDS}"
    yield Figure(what, last, "ms", against, first, GROWTH * first)
    yield Figure("prompts begin as the one before", seen.prefix, "%", "all of each", 100.0, PREFIX)
    crush = seen.crush
    yield from beside(f"{CROWD} lines at once, to all", crush.waits)
    yield Figure("until they are answered", crush.quiet, "s", "one turn", middle(answers))
    sent = f"shown on {CROWD} pages"
    yield Figure("lines lost", crush.lost, "lines", sent, crush.shown)
    yield Figure("lines doubled", crush.doubled, "lines", sent, crush.shown)


def figures() -> Iterator[Figure]:
    """A long talk with one mate, then a crowd."""
    with folder() as here:
        seen = asyncio.run(measured(here))
        yield from told(seen, ground(here, seen.appends)[1])
