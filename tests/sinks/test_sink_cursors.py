"""The cursors of sinks, on SQLite and on a real PostgreSQL: how far each came, whoever asks."""

from collections.abc import AsyncIterator, Sequence
from itertools import cycle

import pytest

from loopforge.core.events import Event
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.ledger.storage.sink_cursors import SinkCursors
from loopforge.sinks import sink_runner
from tests.sinks.conftest import STAMP, STREAMS, begin, go_on, outlet_running
from tests.sinks.receiver import receiving
from tests.sinks.test_webhook import webhook


@pytest.fixture
async def ledger(ledger_url: str) -> AsyncIterator[SqlLedger]:
    """A ledger on each database."""
    ledger = await open_ledger(ledger_url, STAMP.clock, STAMP.dice)
    yield ledger
    await ledger.close()


async def test_a_sink_goes_on_from_where_it_came(ledger: SqlLedger, ledger_url: str) -> None:
    """With history from the first event, else from now; each sink by itself, in any process."""
    await begin(ledger, "task:a")
    await go_on(ledger, "task:a", 1)
    cursors = SinkCursors(ledger)
    assert await cursors.begin("new", history=False) == {"task:a": 2}
    assert await cursors.begin("all", history=True) == {}
    await begin(ledger, "task:b")
    await cursors.advance("all", "task:a", 1)
    await cursors.advance("all", "task:a", 2)
    await cursors.advance("all", "task:ä🌊", 2**40)
    other = await open_ledger(ledger_url, STAMP.clock, STAMP.dice)
    try:
        again = SinkCursors(other)
        assert await again.begin("new", history=True) == {"task:a": 2}
        assert await again.begin("all", history=False) == {"task:a": 2, "task:ä🌊": 2**40}
    finally:
        await other.close()


class Leaving:
    """An outlet that wants to end the program at first, and that cannot close."""

    most = 1

    def __init__(self) -> None:
        self.asked = 0

    async def send(self, events: Sequence[Event]) -> None:
        """The second time it takes them."""
        self.asked += 1
        if self.asked == 1:
            raise SystemExit("no library")

    async def close(self) -> None:
        """It cannot."""
        raise ValueError("no")


async def test_a_sink_ends_nothing_but_itself(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that wants to end the program is tried again like others; the home ends all the same."""
    monkeypatch.setattr(sink_runner, "PAUSES", (0.01,))
    outlet = Leaving()
    async with outlet_running(ledger, outlet):
        await begin(ledger, "task:a")
        while outlet.asked < 2:
            await STAMP.clock.sleep(0.01)


async def test_what_is_taken_between_failures_keeps_pauses_short(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address that refuses every other post, as by a limit, is not left alone ever longer."""
    monkeypatch.setattr(sink_runner, "PAUSES", (0.01, 3600.0))
    async with receiving() as receiver:
        faults = cycle([None, 429])
        receiver.fault = lambda _: next(faults)
        await begin(ledger, "task:a")
        await go_on(ledger, "task:a", *range(1, 6))
        async with outlet_running(ledger, webhook(receiver)):
            await receiver.until(lambda _: len(set(receiver.places("task:a"))) == 6)


async def test_all_comes_in_order_over_a_new_start(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A webhook that fails at first, and a sink that is opened anew: each event, in its order."""
    monkeypatch.setattr(sink_runner, "PAUSES", (0.01,))
    async with receiving() as receiver:
        faults = iter([500, 429])
        receiver.fault = lambda _: next(faults, None)
        async with outlet_running(ledger, webhook(receiver)):
            for stream in STREAMS:
                await begin(ledger, stream)
        async with outlet_running(ledger, webhook(receiver)) as sinks:
            for stream in STREAMS:
                await go_on(ledger, stream, 1, 2)
            await receiver.until(lambda _: all(len(set(receiver.places(s))) == 3 for s in STREAMS))
            while (await sinks.standings())[0].behind:
                await STAMP.clock.sleep(0.01)
        assert await SinkCursors(ledger).begin("it", history=True) == await ledger.heads()
    for stream in STREAMS:
        places = receiver.places(stream)
        assert places == sorted(places)
        assert set(places) == {1, 2, 3}
