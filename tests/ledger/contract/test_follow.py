"""What every ledger promises to several processes that share it."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Titled
from loopforge.core.text.erasable_text import public_words
from loopforge.errors import Conflict, HostTaken
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger.storage import host_claim
from tests.ledger.saying import ROOM, Scribbler, opened, text_of
from tests.postgres import Cluster

LET_GO = "SELECT pg_terminate_backend(pid, 9000) FROM pg_locks WHERE locktype = 'advisory'"


def said_in(event: Event) -> str:
    """What was said, or the event's kind."""
    return text_of(event) or "" if event.kind == "room.heard" else event.kind


class Hearer(list[str]):
    """What a subscriber was told: the last letter of each stream, and what was said there."""

    def __init__(self, ledger: SqlLedger, **which: Any) -> None:
        super().__init__()
        ledger.subscribe(self._hear, **which)

    def _hear(self, stream: str, events: Sequence[Event]) -> None:
        self.extend(f"{stream[-1]}{said_in(event)}" for event in events)


async def test_own_appends_and_those_of_others_are_told_alike(ledger_url: str) -> None:
    """Each event is told once: one's own before the append returns, others' when one looks."""
    scribbler = Scribbler()
    async with opened(ledger_url) as mine, opened(ledger_url) as other:
        told, theirs = Hearer(mine), Hearer(other)
        await mine.append("room:a", [scribbler.heard("1")])
        assert told == ["a1"]
        await other.append("room:a", [scribbler.heard("2"), scribbler.heard("3")])
        await other.append("room:b", [scribbler.heard("4")])
        assert told == ["a1"]
        for _ in range(2):
            await mine.follow()
            assert told == ["a1", "a2", "a3", "b4"]
        await mine.append("room:b", [scribbler.heard("5")])
        await other.follow()
        assert theirs == ["a1", "a2", "a3", "b4", "b5"]


async def test_what_others_appended_just_before_is_told_before(ledger_url: str) -> None:
    """An append on top of one that was not seen yet returns when both were told, in order."""
    scribbler = Scribbler()
    async with opened(ledger_url) as mine, opened(ledger_url) as other:
        told = Hearer(mine)
        await other.append("room:a", [scribbler.heard("1")])
        await mine.append("room:a", [scribbler.heard("2")])
        assert told == ["a1", "a2"]
        await other.append("room:a", [scribbler.heard("3")])
        assert await mine.told("room:a") == 2
        assert await mine.told("room:a", 2) == 3
        assert told == ["a1", "a2", "a3"]


async def test_what_was_there_at_the_start_is_no_news(ledger_url: str) -> None:
    """Only what comes after opening is told, and only to whom it concerns."""
    scribbler = Scribbler()
    async with opened(ledger_url) as other:
        await other.append("room:a", [scribbler.heard("1")])
        async with opened(ledger_url) as mine:
            told, titles = Hearer(mine), Hearer(mine, streams="room:", kinds=["room.titled"])
            elsewhere = Hearer(mine, streams="task:")
            await mine.follow()
            title = scribbler.fact(Titled(title=public_words("Tea"), by="room"))
            await other.append("room:a", [scribbler.heard("2"), title])
            await mine.follow()
            assert told == ["a2", "aroom.titled"]
            assert (titles, elsewhere) == (["aroom.titled"], [])


async def test_two_who_write_at_once_are_told_in_one_order(ledger_url: str) -> None:
    """However appends of two processes fall between each other, both are told the same."""
    scribbler = Scribbler()

    async def talk(ledger: SqlLedger, who: str) -> None:
        for nth in range(25):
            await ledger.append("room:a", [scribbler.heard(f"{who}{nth}")])

    async with opened(ledger_url) as one, opened(ledger_url) as two:
        told = Hearer(one), Hearer(two)
        await asyncio.gather(talk(one, "x"), talk(two, "y"))
        await asyncio.gather(one.follow(), two.follow())
        assert told[0] == told[1] == [f"a{text_of(e)}" for e in await one.read("room:a")]
        assert len(told[0]) == 50


async def test_two_processes_share_streams(ledger_url: str, scribbler: Scribbler) -> None:
    """Appends of two ledgers to old and new streams at once are gapless; both chains are one."""

    async def talk(ledger: SqlLedger, who: str) -> None:
        for nth in range(30):
            await ledger.append(f"room:{nth % 10}", [scribbler.heard(f"{who} {nth}")])

    async with opened(ledger_url) as one, opened(ledger_url) as two:
        await asyncio.gather(*(talk(ledger, who) for ledger, who in ((one, "a"), (two, "b"))))
        found = await one.verify()
        assert (found.sound, found.events) == (True, 60)
        said = [text_of(event) for event in await two.read("room:0")]
        for who in "ab":
            assert [t for t in said if t and t[0] == who] == [f"{who} {n}" for n in (0, 10, 20)]


@pytest.mark.postgres
async def test_one_host_at_a_time(postgres_url: str) -> None:
    """On PostgreSQL a name is held by one process until it lets go or its connection ends."""
    async with opened(postgres_url) as one, opened(postgres_url) as two:
        mine = await one.claim("host")
        assert await mine.held()
        with pytest.raises(HostTaken, match="runs this ledger already"):
            await two.claim("host")
        other = await two.claim("another")
        await other.release()
        await mine.release()
        again = await two.claim("host")
        await again.release()


@pytest.mark.postgres
async def test_a_host_that_lost_its_claim_writes_nothing_more(postgres_url: str) -> None:
    """It was frozen until the server let its connections go; another took over, and even ended."""
    scribbler = Scribbler()
    async with opened(postgres_url) as one, opened(postgres_url) as two:
        mine = await one.claim("host")
        await one.append(ROOM, [scribbler.heard("before")])
        assert await one.overtaken() is None
        with psycopg.connect(postgres_url) as server:
            server.execute(LET_GO)
        theirs = await two.claim("host")
        with pytest.raises(HostTaken, match="has taken over this ledger"):
            await one.append(ROOM, [scribbler.heard("awake")])
        await two.append(ROOM, [scribbler.heard("after")])
        assert "has taken over this ledger" in str(await one.overtaken())
        assert await two.overtaken() is None
        await theirs.release()
        with pytest.raises(HostTaken, match="has taken over this ledger"):
            await one.append(ROOM, [scribbler.heard("awake still")])
        assert [text_of(event) for event in await two.read(ROOM)] == ["before", "after"]
        await mine.release()


@pytest.mark.postgres
async def test_a_host_that_is_silent_for_its_lease_is_succeeded(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though its connection stands: it is frozen, or died behind a proxy that does not tell."""
    monkeypatch.setattr(host_claim, "LEASE", 0.2)
    async with opened(postgres_url) as one, opened(postgres_url) as two:
        mine, theirs = await one.claim("host"), None
        while theirs is None:
            with suppress(HostTaken):
                theirs = await two.claim("host")
        with pytest.raises(HostTaken, match="has taken over this ledger"):
            await one.append(ROOM, [Scribbler().heard("awake")])
        await theirs.release()
        await mine.release()


@pytest.mark.postgres
async def test_a_host_whose_connection_broke_stays_the_host(postgres_url: str) -> None:
    """As when the server is restarted: once it has looked, another is refused as before."""
    async with opened(postgres_url) as one, opened(postgres_url) as two:
        mine = await one.claim("host")
        for _ in range(2):
            with psycopg.connect(postgres_url) as server:
                server.execute(LET_GO)
            assert not await mine.held()
            assert await one.overtaken() is None
            assert await mine.held()
            with pytest.raises(HostTaken, match="runs this ledger already"):
                await two.claim("host")
        await one.append(ROOM, [Scribbler().heard("on we go")])
        await mine.release()
        theirs = await two.claim("host")
        await theirs.release()


@pytest.mark.postgres
async def test_a_host_stays_the_host_where_the_server_crashed(
    postgres: Cluster, postgres_url: str
) -> None:
    """A PostgreSQL that crashed and recovered is not taken for another host."""
    async with opened(postgres_url) as one:
        mine = await one.claim("host")
        postgres.crash()
        assert await one.overtaken() is None
        await one.append(ROOM, [Scribbler().heard("1")])
        async with opened(postgres_url) as two:
            with pytest.raises(HostTaken):
                await two.claim("host")
        await mine.release()


async def test_sqlite_leaves_it_to_the_home(tmp_path: object) -> None:
    """On SQLite claiming always works: the home has a lock of its own."""
    async with opened(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        one, two = await ledger.claim("host"), await ledger.claim("host")
        assert await one.held()
        await one.release()
        await two.release()


async def test_a_cancelled_caller_harms_nobody(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """A caller that is cancelled may or may not have written; the others' appends are whole."""
    tasks = [
        asyncio.ensure_future(ledger.append(ROOM, [scribbler.heard(str(nth))]))  # noqa: TID251
        for nth in range(40)
    ]
    await asyncio.sleep(0)
    for task in tasks[::3]:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    said = [text_of(event) for event in await ledger.read(ROOM)]
    for nth, outcome in enumerate(outcomes):
        assert isinstance(outcome, tuple | asyncio.CancelledError)
        if isinstance(outcome, tuple):
            assert said.count(str(nth)) == 1
    assert (await ledger.verify()).sound
    with pytest.raises(Conflict):
        await ledger.append(ROOM, [scribbler.heard("x")], expect=len(said) + 1)
