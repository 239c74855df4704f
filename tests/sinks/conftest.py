"""What tests of sinks share: a ledger on disk, tasks in it, and sinks that run as a home wants them."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopforge.core.events import Body
from loopforge.core.text.erasable_text import Words
from loopforge.core.work.work_vocabulary import TaskOpened, TaskProgressed
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.ledger.storage.sink_cursors import SinkCursors
from loopforge.runtime.ports import Clock
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice
from loopforge.sinks import sink_runner
from loopforge.sinks.sink_plugin import EventOutlet, InstalledSink, OutletChoice, SinkPlugin
from loopforge.sinks.sink_runner import Sinks
from tests.moto_server import BucketServer, bucket_server
from tests.sinks.aws_faults import FaultyAws, faulty_aws

STAMP = Stamp(SystemClock(), SystemDice())
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
STREAMS = ("task:a", "task:b", "task:c")


@pytest.fixture(scope="module")
def server() -> Iterator[BucketServer]:
    """Moto's server."""
    with bucket_server() as server:
        yield server


@pytest.fixture
async def aws(server: BucketServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FaultyAws]:
    """What clients find as AWS: the server, behind what does wrong."""
    monkeypatch.setattr(sink_runner, "PAUSES", (0.01,))
    async with faulty_aws(server.address) as faulty:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_ENDPOINT_URL", faulty.address)
        yield faulty


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[SqlLedger]:
    """A ledger on disk."""
    ledger = await open_ledger(f"sqlite:///{tmp_path}/x.db", STAMP.clock, STAMP.dice)
    yield ledger
    await ledger.close()


async def happen(ledger: SqlLedger, stream: str, *bodies: Body) -> list[str]:
    """These happen; the ids of the events."""
    facts = [STAMP.fact(body, actor="runtime") for body in bodies]
    return [event.id for event in await ledger.append(stream, facts)]


async def begin(ledger: SqlLedger, stream: str, text: str = "Mend the clock.") -> str:
    """A task begins; the event's id."""
    return (await happen(ledger, stream, TaskOpened(text=Words(text), person="p", mate="maya")))[0]


async def go_on(ledger: SqlLedger, stream: str, *turns: int) -> None:
    """So many turns of a task are over."""
    bodies = [TaskProgressed(turn=f"t{n}", nth=n, most=50, confidence=70) for n in turns]
    await happen(ledger, stream, *bodies)


class Watched:
    """An outlet that is seen at work, for simulated clocks to wait for."""

    def __init__(self, outlet: EventOutlet) -> None:
        self._outlet, self.flying, self.most = outlet, 0, outlet.most

    async def send(self, events: Sequence[object]) -> None:
        """As it does, counted."""
        self.flying += 1
        try:
            await self._outlet.send(events)  # type: ignore[arg-type]
        finally:
            self.flying -= 1

    async def close(self) -> None:
        """As it does."""
        await self._outlet.close()


@asynccontextmanager
async def outlet_running(
    ledger: SqlLedger,
    outlet: EventOutlet,
    choice: OutletChoice | None = None,
    clock: Clock = STAMP.clock,
    *,
    forgets: bool = False,
) -> AsyncIterator[Sinks]:
    """The outlet taking what happens, from the beginning on, until the block ends."""
    choice = choice or OutletChoice(history=True)
    plugin = SinkPlugin(title="it", settings=OutletChoice, make=lambda *_: outlet, forgets=forgets)
    one = InstalledSink("it", outlet, choice, plugin)
    sinks = Sinks(ledger, clock, [one], SinkCursors(ledger))
    await sinks.open()
    try:
        yield sinks
    finally:
        await sinks.close()
