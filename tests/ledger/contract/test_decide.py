"""What every ledger promises to those who decide on what stands in a stream."""

import asyncio

import pytest

from loopforge.errors import BadLine, LedgerBusy
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.runtime.stream_decision import TRIES
from tests.ledger.saying import ROOM, Scribbler, opened, text_of


class Reader:
    """Says a line unless it stands there already, as one who holds what was read in memory."""

    def __init__(self, ledger: SqlLedger, scribbler: Scribbler) -> None:
        self.ledger, self.scribbler = ledger, scribbler
        self.seen: list[str | None] = []
        self.seq = self.attempts = 0

    async def head(self, past: int) -> int:
        """Read on, if that is no further than `past`."""
        if self.seq <= past:
            for event in await self.ledger.read(ROOM, after=self.seq):
                self.seq = event.seq
                self.seen.append(text_of(event))
        return self.seq

    async def say(self, text: str) -> bool:
        """Whether it was said by this one."""

        async def attempt(seq: int) -> bool:
            self.attempts += 1
            if text in self.seen:
                return False
            await self.ledger.append(ROOM, [self.scribbler.heard(text)], expect=seq)
            return True

        return await self.ledger.decide(ROOM, self.head, attempt)


async def test_one_of_two_writers_wins(ledger_url: str) -> None:
    """Of two that decide on the same at once one writes; the other reads on and decides anew."""
    async with opened(ledger_url) as mine, opened(ledger_url) as other:
        one, two = Reader(mine, Scribbler()), Reader(other, Scribbler())
        for nth in range(30):
            said = await asyncio.gather(one.say(f"line {nth}"), two.say(f"line {nth}"))
            assert sorted(said) == [False, True]
        lines = [text_of(event) for event in await mine.read(ROOM)]
        assert lines == [f"line {nth}" for nth in range(30)]
        assert one.attempts + two.attempts > 60


async def test_the_expected_case_reads_nothing(ledger: SqlLedger) -> None:
    """Whoever stands at the head decides once; a crowd of one process decides one by one."""
    one = Reader(ledger, Scribbler())

    async def attempt(seq: int) -> None:
        one.attempts += 1
        events = await ledger.append(ROOM, [one.scribbler.heard("hm")], expect=seq)
        one.seq = events[-1].seq

    await asyncio.gather(*(ledger.decide(ROOM, one.head, attempt) for _ in range(200)))
    assert one.attempts == one.seq == 200
    assert one.seen == []


async def test_a_decision_stands_its_ground(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """It is written although tasks of the same process append without a pause."""
    one, done = Reader(ledger, scribbler), asyncio.Event()

    async def talk() -> None:
        while not done.is_set():
            await ledger.append(ROOM, [scribbler.heard("more")])

    async with asyncio.TaskGroup() as tasks:
        for _ in range(4):
            tasks.create_task(talk())
        for nth in range(20):
            assert await one.say(f"line {nth}")
        done.set()


async def test_a_bound_on_tries(ledger_url: str, scribbler: Scribbler) -> None:
    """Where somebody else is always first, it says so after a while, and nothing is written."""
    async with opened(ledger_url) as ledger, opened(ledger_url) as other:
        one, made = Reader(ledger, scribbler), 0

        async def attempt(seq: int) -> None:
            nonlocal made
            made += 1
            await other.append(ROOM, [scribbler.heard("first")])
            await ledger.append(ROOM, [scribbler.heard("never")], expect=seq)

        with pytest.raises(LedgerBusy, match=r"nothing was written\. Try again"):
            await ledger.decide(ROOM, one.head, attempt)
        assert made == len(await ledger.read(ROOM)) == TRIES
        assert "never" not in [text_of(event) for event in await ledger.read(ROOM)]


async def test_what_is_refused_is_not_tried_again(ledger: SqlLedger) -> None:
    """Whatever an attempt raises but Conflict is raised at once."""
    one, made = Reader(ledger, Scribbler()), 0

    async def attempt(_: int) -> None:
        nonlocal made
        made += 1
        raise BadLine("No.")

    with pytest.raises(BadLine):
        await ledger.decide(ROOM, one.head, attempt)
    assert made == 1
