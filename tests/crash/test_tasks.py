"""A task whose host is killed with -9 again and again: it goes on where it was, and nothing is done twice."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from loopforge.app import open_aside
from loopforge.core.effect_states import EffectUnknown
from loopforge.settings import load_settings
from loopforge.tools.sandbox.workspace_files import WorkspaceFiles
from loopforge.work.task_state import PREFIX
from loopforge.work.workspace.task_workspace import folder_name
from tests.crash.drill import Rolls
from tests.crash.host import nursery
from tests.crash.laborer import LOG, MARKS, TASK, main

ENVIRON = {"LOOPFORGE_TIMEZONE": "UTC"}
STRIDE = 7
"""Events after which a host is killed, at most."""
PATIENCE = 120.0


@pytest.fixture
def place() -> Iterator[Path]:
    """A home that programs can come to which do not run as root."""
    made = Path(tempfile.mkdtemp(prefix="killed-"))
    made.chmod(0o755)
    (made / "data").mkdir()
    yield made
    WorkspaceFiles(made).remove()


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
            id = await app.work.desk.open(TASK, "ana")
        done += await _killed(place, PREFIX + id, kills - done, dice)
        async with open_aside(settings) as app:
            state = await app.work.desk.store.state(PREFIX + id)
            events = await app.ledger.read(PREFIX + id)
            assert (await app.ledger.verify()).sound
        assert state.stage == "finished"
        assert str(state.finished and state.finished.result) == "All marks stand."
        marks = (place / "workspaces" / folder_name(PREFIX + id) / LOG).read_text().split()
        assert marks == [str(nth) for nth in range(1, MARKS + 1)]
        unknown += sum(isinstance(event.body, EffectUnknown) for event in events)
    print(f"task: {done} kills, {unknown} of unknown outcome, seed {seed}")


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
