"""A child process ends with its block, however often whoever waits for it is cancelled."""

import asyncio
import gc
import os
import shutil
import signal
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.installation import limited_process
from loopforge.runtime.installation.limited_process import child_process, run_limited
from loopforge.work.git.host_git import HostGit

PIPE = asyncio.subprocess.PIPE


def _children() -> set[str]:
    found = set[str]()
    for thread in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that ended meanwhile
            found.update((thread / "children").read_text().split())
    return found


async def _cancelled_twice(work: Coroutine[Any, Any, object], after: int) -> None:
    """Cancel it when its child runs, and again so many looks later."""
    before = _children()
    async with BackgroundTasks() as tasks:
        running = tasks.spawn(work, "what is stopped")
        while _children() == before:
            await asyncio.sleep(0)
        for _ in range(2):
            running.cancel()
            for _ in range(after):
                await asyncio.sleep(0)
        await asyncio.wait({running})
    assert running.cancelled()
    assert _children() == before, after


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are read from /proc")
async def test_who_is_cancelled_twice_leaves_no_child(tmp_path: Path) -> None:
    """Git of this machine and a limited program are reaped by then, while they start and later."""
    program = tmp_path / "slow.py"
    program.write_text("import time\ntime.sleep(600)\n")
    git = HostGit(tmp_path)
    await git.run("init", "-q")
    for after in range(12):
        await _cancelled_twice(run_limited(program, (), b"", 600), after)
        await _cancelled_twice(git.run("-c", "alias.slow=!sleep 600", "slow"), after)
        await _cancelled_twice(git.holds([b"x"], "-c", "alias.slow=!sleep 600", "slow"), after)
    gc.collect()  # a process that nobody waited for would be told of here


async def test_what_nobody_read_does_not_keep_it() -> None:
    """It ends, though more of what it wrote is left than asyncio reads ahead."""
    yes = shutil.which("yes")
    assert yes is not None
    async with asyncio.timeout(60), child_process(yes, stdout=PIPE) as process:
        assert process.stdout is not None
        assert await process.stdout.readexactly(2) == b"y\n"
    assert process.returncode is not None


async def test_who_holds_its_pipe_in_a_session_of_its_own_keeps_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it left running is not waited for once it has ended itself."""
    monkeypatch.setattr(limited_process, "GRACE", 0.1)
    shell = ("sh", "-c", "setsid sleep 50 & echo $!")
    async with asyncio.timeout(40), child_process(*shell, stdout=PIPE) as process:
        assert process.stdout is not None
        left = int(await process.stdout.readline())
    os.kill(left, signal.SIGKILL)
