"""A disk that is full, for real: a small file system in memory under the home's data."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import Heard, Said
from loopforge.errors import LedgerFull
from loopforge.io.socket.socket_client import UnsentLine, Update
from loopforge.runtime.ports import Thinking
from tests.crash import board
from tests.crash.child import Options
from tests.crash.drill import furnish
from tests.crash.host import PATIENCE, hosting
from tests.crash.tally import count, read
from tests.crash.terminal import Terminal, said, sitting

pytestmark = pytest.mark.crash

SIZE = 6 << 20
LONG = "y" * 7_900


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A file system of SIZE bytes in this folder."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small file system here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


class Filler:
    """A file that takes all the room there is."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "filler"

    def fill(self) -> None:
        """Leave nothing."""
        with self._path.open("ab", buffering=0) as file:
            for size in (1 << 16, 1 << 12):
                try:
                    while True:
                        file.write(b"f" * size)
                except OSError:
                    continue

    def free(self) -> None:
        """Give it all back."""
        self._path.unlink()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home whose data lie on a small disk."""
    home = tmp_path / "home"
    furnish(home)
    with ExitStack() as stack:
        stack.enter_context(small_disk(home / "data"))
        yield home


def thinking(update: Update) -> bool:
    """A mate began a turn."""
    return isinstance(update, Thinking)


def refused(update: Update) -> bool:
    """A line was not taken."""
    return isinstance(update, UnsentLine)


async def sound(home: Path, terminal: Terminal, without: set[str]) -> None:
    """Every line but these was heard once and answered once."""
    lines = [line for line in terminal.lines if line.source not in without]
    posts = board.posts(home / "data" / "board.jsonl")
    record = await read(home, lines, {"ana": terminal.shown}, posts)
    tally = count(record)
    assert [trouble for trouble in tally.troubles if "undelivered" not in trouble] == []


async def test_a_line_on_a_full_disk_is_refused_and_can_be_said_again(home: Path) -> None:
    """The person is told what to do, nothing else happens, and afterwards the line is taken."""
    filler = Filler(home / "data")
    async with sitting(home, "ana") as ana, hosting(Options(home=str(home))) as host:
        assert await host.ready()
        ana.say("@maya [k1] hello", "[k1]", "maya")
        await ana.link.settled()
        await use_up(ana, filler)
        error = ana.unsaid[0].error
        assert isinstance(error, LedgerFull)
        assert "Make room and try again" in str(error)
        with pytest.raises(LedgerFull):
            await ana.link.act("title", LONG[:80])
        filler.free()
        ana.say("@merlin [k2] hello", "[k2]", "merlin")
        await ana.link.settled()
        await ana.link.shown()
    assert len(ana.unsaid) == 1
    await sound(home, ana, {ana.unsaid[0].source})


@pytest.mark.parametrize("moment", ["ask.begin", "ask.first"], ids=["asking", "streaming"])
async def test_a_turn_that_cannot_be_written_is_taken_up_again(home: Path, moment: str) -> None:
    """The disk fills while a mate answers: once there is room, its answer is there, once."""
    filler = Filler(home / "data")
    async with sitting(home, "ana") as ana, hosting(Options(home=str(home))) as host:
        assert await host.ready()
        await ana.link.settled()
        await use_up(ana, filler)
        filler.free()
        assert await host.arm(moment, halts=True)
        ana.say("@maya [k1] hello", "[k1]", "maya")
        async with asyncio.timeout(PATIENCE):
            assert await host.halted()
            filler.fill()
            host.resume()
            assert await host.waits()  # it fails, and says so once, however often it is tried
        assert not ana.answered("[k1]")
        filler.free()
        answer = ana.sees(said)
        async with asyncio.timeout(PATIENCE):
            if not ana.answered("[k1]"):
                await answer
        await ana.link.settled()
        await ana.link.shown()
    await sound(home, ana, {unsaid.source for unsaid in ana.unsaid})


async def use_up(terminal: Terminal, filler: Filler) -> None:
    """Fill the disk, and the room that the ledger's own files have left."""
    filler.fill()
    async with asyncio.timeout(PATIENCE):
        while not terminal.unsaid:
            terminal.say(f"hello {LONG}")
            await terminal.link.taken()
            await terminal.link.shown()


async def test_killed_on_a_full_disk(home: Path) -> None:
    """A host killed on a full disk comes up when there is room, and has lost nothing."""
    filler = Filler(home / "data")
    async with sitting(home, "ana") as ana:
        async with hosting(Options(home=str(home), wait=600)) as host:
            assert await host.ready()
            seen = ana.sees(thinking)
            ana.say("@maya [k1] hello", "[k1]", "maya")
            async with asyncio.timeout(PATIENCE):
                await seen
            await use_up(ana, filler)
            await host.kill()
        filler.free()
        async with hosting(Options(home=str(home))) as host:
            assert await host.ready()
            await ana.link.settled()
            await ana.link.shown()
            assert ana.answered("[k1]")
    record = await read(home, ana.lines)
    assert len([e for e in record.events if isinstance(e.body, Heard)]) == len(ana.lines) - 1
    assert len([e for e in record.events if isinstance(e.body, Said)]) == 1
    await sound(home, ana, {unsaid.source for unsaid in ana.unsaid})
