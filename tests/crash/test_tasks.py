"""A task whose host is killed with -9, or frozen, again and again.

It goes on where it was, and nothing is done twice.
"""

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from loopforge.app import open_aside
from loopforge.core.effect_states import EffectUnknown
from loopforge.errors import HostTaken
from loopforge.host_lock import lock_home
from loopforge.settings import load_settings
from loopforge.work.task_state import PREFIX
from loopforge.work.workspace.task_workspace import folder_name
from tests.crash.drill import Rolls
from tests.crash.host import nursery
from tests.crash.laborer import LOG, MARKS, TASK, main

ENVIRON = {"LOOPFORGE_TIMEZONE": "UTC"}
STRIDE = 7
"""Events after which a host is killed, at most."""
MOST = 8
"""Kills of one task: each may cost it two turns more, and it has twenty."""
PATIENCE = 120.0


@pytest.fixture
def place(place: Path) -> Path:
    """A home there."""
    (place / "data").mkdir()
    return place


@asynccontextmanager
async def living(home: Path) -> AsyncIterator[ForkServerProcess]:
    """A host at work, dead when the block ends."""
    mine, its = nursery.Pipe()
    process = nursery.Process(target=main, args=(str(home), its), daemon=True)
    await asyncio.to_thread(process.start)
    its.close()
    await asyncio.to_thread(mine.recv_bytes)
    try:
        yield process
    finally:
        if process.pid and process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
        await asyncio.to_thread(process.join)
        mine.close()


def reached(home: Path, stream: str, kind: str = "") -> int:
    """The last sequence number of a stream, or that of something of a kind; 0 for nothing."""
    path = home / "data" / "loopforge.db"
    where = "stream = ?" + (" AND kind = ?" if kind else "")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as found:
        given = (stream, kind) if kind else (stream,)
        row = found.execute(f"SELECT max(seq) FROM events WHERE {where}", given).fetchone()
        return int(row[0] or 0)


@pytest.mark.crash
@pytest.mark.timeout(1800)
async def test_a_task_goes_on_wherever_it_is_killed(
    place: Path, seed: int, pytestconfig: pytest.Config
) -> None:
    """Each command ran once, one in flight is looked into first, and the result is the same."""
    kills, dice = int(pytestconfig.getoption("kills")), Rolls(seed)
    settings = load_settings(place, environ=ENVIRON)
    done = unknown = 0
    while done < kills:
        async with open_aside(settings) as app:
            id = await app.work.tasks.open(TASK, "ana")
        done += await _killed(place, PREFIX + id, min(kills - done, MOST), dice)
        unknown += await all_done_once(place, id)
    print(f"task: {done} kills, {unknown} of unknown outcome, seed {seed}")


async def all_done_once(home: Path, id: str) -> int:
    """The task is over as an unbroken run is, its marks stand once each; outcomes nobody knows."""
    async with open_aside(load_settings(home, environ=ENVIRON)) as app:
        state = await app.work.tasks.store.state(PREFIX + id)
        events = await app.ledger.read(PREFIX + id)
        assert (await app.ledger.verify()).sound
    assert state.stage == "finished"
    assert str(state.finished and state.finished.result) == "All marks stand."
    marks = (home / "workspaces" / folder_name(PREFIX + id) / LOG).read_text().split()
    assert marks == [str(nth) for nth in range(1, MARKS + 1)]
    return sum(isinstance(event.body, EffectUnknown) for event in events)


@pytest.mark.crash
@pytest.mark.timeout(600)
async def test_a_frozen_host_goes_on_with_its_task(
    place: Path, seed: int, pytestconfig: pytest.Config
) -> None:
    """While it is frozen nobody takes its home; when it wakes, each command still ran once."""
    patient = int(pytestconfig.getoption("kills")) >= 50
    left, dice = 5 if patient else 1, Rolls(seed)
    while left:
        async with open_aside(load_settings(place, environ=ENVIRON)) as app:
            id = await app.work.tasks.open(TASK, "ana")
        stream = PREFIX + id
        async with asyncio.timeout(PATIENCE), living(place) as host:
            point = reached(place, stream) + 5
            while not reached(place, stream, "task.summarized"):
                if left and reached(place, stream) >= point:
                    point = reached(place, stream) + 1 + dice.below(3 * STRIDE)
                    left -= 1
                    await _frozen(place, host, dice.share() * (3.0 if patient else 0.5))
                await asyncio.sleep(0.002)
        await all_done_once(place, id)


async def _frozen(home: Path, host: ForkServerProcess, seconds: float) -> None:
    """A host stands still for a while, wherever it is, and another would run its home."""
    assert host.pid
    os.kill(host.pid, signal.SIGSTOP)
    try:
        with pytest.raises(HostTaken, match="runs the home"), lock_home(home):
            pass
        await asyncio.sleep(seconds)
    finally:
        os.kill(host.pid, signal.SIGCONT)


async def _killed(home: Path, stream: str, most: int, dice: Rolls) -> int:
    """Kill hosts at random points until the task is over; how many."""
    count = 0
    async with asyncio.timeout(PATIENCE * (most + 1)):
        while True:
            point = reached(home, stream) + 1 + dice.below(STRIDE)
            async with living(home):
                while reached(home, stream) < point or count == most:
                    if reached(home, stream, "task.summarized"):
                        return count
                    await asyncio.sleep(0.002)
                await asyncio.sleep(dice.share() * 0.05)
            count += 1
