"""A process killed while it appends: what it was told is written is there, once, and sound."""

import random  # noqa: TID251
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.ledger.saying import opened

ROUNDS = 6
MOST = 5_000
"""Bytes that a writer may have acknowledged before it is killed: some seventy events."""
WRITER = """
import asyncio, sys
from loopforge.core.delivery_states import Queued
from tests.ledger.saying import Scribbler, opened

async def talk(ledger, who):
    scribbler = Scribbler()
    while True:
        facts = [scribbler.heard("x" * 200), scribbler.fact(Queued(surface="web", of="e"))]
        await ledger.append(f"room:{who % 3}", facts)
        sys.stdout.write("".join(fact.id + "\\n" for fact in facts))
        sys.stdout.flush()

async def main():
    async with opened(sys.argv[1]) as ledger:
        await asyncio.gather(*(talk(ledger, who) for who in range(8)))

asyncio.run(main())
"""


def killed(url: str, out: Path) -> None:
    """Run a writer until it has said so much, then kill it without warning."""
    with out.open("ab") as file:
        process = subprocess.Popen([sys.executable, "-c", WRITER, url], stdout=file)
        enough = out.stat().st_size + 1 + random.randrange(MOST)
        while out.stat().st_size < enough:
            assert process.poll() is None
            time.sleep(0.001)  # the writer wants the processor
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.mark.sample(1)
@pytest.mark.crash
async def test_nothing_that_was_written_is_lost(ledger_url: str, tmp_path: Path) -> None:
    """After kills at random moments every acknowledged event is there once; views agree; it goes on."""
    out = tmp_path / "acknowledged"
    out.touch()
    for _ in range(ROUNDS):
        killed(ledger_url, out)
    told = out.read_text().split("\n")[:-1]
    assert len(told) > ROUNDS
    async with opened(ledger_url) as ledger:
        found = await ledger.verify()
        assert found.sound
        kept = [e for stream in await ledger.heads() for e in await ledger.read(stream)]
        ids = [event.id for event in kept]
        assert len(ids) == len(set(ids)) == found.events
        assert set(told) <= set(ids)
        assert sum(e.kind == "room.heard" for e in kept) * 2 == len(kept)
        assert len(await ledger.outbox()) * 2 == len(kept)
