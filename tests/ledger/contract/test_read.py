"""What every ledger promises of reading."""

from datetime import timedelta

import pytest

from loopforge.core.room_vocabulary import Stopped
from loopforge.errors import Unknown
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger.storage import event_reading
from loopforge.runtime.system_clock import Stamp, SystemDice
from tests.ledger.saying import NOON, ROOM, Scribbler, opened, text_of
from tests.sim_clock import SimClock


async def _filled(ledger: SqlLedger, count: int = 9) -> None:
    scribbler = Scribbler()
    for nth in range(1, count + 1):
        fact = scribbler.heard(str(nth)) if nth % 3 else scribbler.noted(str(nth))
        await ledger.append(ROOM, [fact])


CASES = [
    ({}, "123456789"),
    ({"after": 4}, "56789"),
    ({"before": 4}, "123"),
    ({"after": 2, "before": 6}, "345"),
    ({"limit": 3}, "123"),
    ({"limit": 0}, ""),
    ({"limit": 3, "newest": True}, "789"),
    ({"newest": True}, "123456789"),
    ({"kinds": ["room.noted"]}, "369"),
    ({"kinds": ["room.noted", "room.heard"], "limit": 4, "newest": True}, "6789"),
    ({"kinds": ["room.noted"], "before": 9, "limit": 1, "newest": True}, "6"),
    ({"kinds": ["room.said"]}, ""),
    ({"after": 9}, ""),
]


@pytest.mark.parametrize(("wanted", "found"), CASES)
async def test_reading_picks_and_orders(
    ledger: SqlLedger, wanted: dict[str, object], found: str
) -> None:
    """`after`, `before`, `kinds`, `limit` and `newest` pick; the order is always that of `seq`."""
    await _filled(ledger)
    events = await ledger.read(ROOM, **wanted)  # type: ignore[arg-type]
    assert "".join(text_of(event) or "" for event in events) == found


@pytest.mark.parametrize("newest", [False, True])
async def test_long_reads_are_whole(ledger: SqlLedger, newest: bool) -> None:
    """A read of more than one page, with or without a limit, misses and repeats nothing."""
    scribbler, most = Scribbler(), event_reading.PAGE + 300
    await ledger.append(ROOM, [scribbler.heard(str(nth)) for nth in range(most + 100)])
    events = await ledger.read(ROOM, limit=most, newest=newest)
    first = 101 if newest else 1
    assert [event.seq for event in events] == list(range(first, first + most))
    assert [text_of(event) for event in events] == [str(e.seq - 1) for e in events]
    assert len(await ledger.read(ROOM)) == most + 100


async def test_unknown_things(ledger: SqlLedger) -> None:
    """An unknown stream is empty, an unknown event raises Unknown; odd names are just unknown."""
    for name in ("room:nowhere", "nul \x00", "half \ud800"):
        assert await ledger.read(name) == []
        assert await ledger.heads(name) == {}
        with pytest.raises(Unknown):
            await ledger.event(name)


async def test_tail(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """The tail is the newest events of one stream, or of all, oldest first."""
    await ledger.append("room:b", [scribbler.heard("1")])
    await ledger.append("room:a", [scribbler.heard("2"), scribbler.heard("3")])
    await ledger.append("room:b", [scribbler.heard("4")])
    assert [text_of(e) for e in await ledger.tail(3)] == ["2", "3", "4"]
    assert [text_of(e) for e in await ledger.tail(5, "room:b")] == ["1", "4"]


async def test_followers_hear_of_commits_in_order(ledger: SqlLedger) -> None:
    """Callbacks are told of each append after its commit, before its caller goes on."""
    scribbler, told = Scribbler(), list[str]()
    stop = ledger.subscribe(lambda stream, events: told.append(f"{stream} {events[-1].seq}"))
    await ledger.append(ROOM, [scribbler.heard("1"), scribbler.heard("2")])
    assert told == [f"{ROOM} 2"]
    await ledger.append("room:b", [scribbler.heard("3")])
    stop()
    await ledger.append("room:b", [scribbler.heard("4")])
    assert told == [f"{ROOM} 2", "room:b 1"]


async def test_a_follower_that_fails_harms_nobody(
    ledger: SqlLedger, caplog: pytest.LogCaptureFixture
) -> None:
    """A callback that raises is logged; the append and the other callbacks go on."""
    told = list[str]()

    def fail(stream: str, events: object) -> None:
        raise RuntimeError("oh")

    ledger.subscribe(fail)
    ledger.subscribe(lambda stream, events: told.append(stream))
    await ledger.append(ROOM, [Scribbler().heard("1")])
    assert told == [ROOM]
    assert "a follower of the ledger failed" in caplog.text


async def test_the_newest_stay_the_newest_after_a_clock_was_ahead(ledger_url: str) -> None:
    """Opened again once the clock is right, a ledger gives ids after those of the wrong time."""
    ahead = Stamp(SimClock(NOON + timedelta(days=365)), SystemDice())
    async with opened(ledger_url) as ledger:
        await ledger.append(ROOM, [ahead.fact(Stopped(person="p1"), actor="person:p1")])
    async with opened(ledger_url) as ledger:
        fact = ledger.stamp.fact(Stopped(person="p1"), actor="person:p1")
        await ledger.append("room:other", [fact])
        assert [event.stream for event in await ledger.tail(1)] == ["room:other"]
