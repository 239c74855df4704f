"""A home that is killed while it tells: the cursor survives, nothing is lost, order is kept."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.sinks.conftest import STREAMS
from tests.sinks.receiver import receiving

pytestmark = [pytest.mark.crash, pytest.mark.patient]
TURNS = 120


async def test_kills_lose_nothing(tmp_path: Path) -> None:
    """Killed after so many posts, three times, then let go on: all is there, in order."""
    async with receiving("s") as receiver:
        line = [sys.executable, "-m", "tests.sinks.sending", f"sqlite:///{tmp_path}/x.db"]
        for kills in range(1, 4):
            child = await asyncio.create_subprocess_exec(*line, receiver.address, str(TURNS))
            wanted = kills * 70
            await receiver.until(lambda got, wanted=wanted: len(got) >= wanted)  # type: ignore[misc]
            child.kill()
            await child.wait()
        child = await asyncio.create_subprocess_exec(*line, receiver.address, str(TURNS))
        assert await child.wait() == 0
        doubled = 0
        for stream in STREAMS:
            places = receiver.places(stream)
            first = list(dict.fromkeys(places))
            assert first == list(range(1, len(first) + 1))
            assert len(first) >= TURNS
            doubled += len(places) - len(first)
        assert doubled <= 3
        assert receiver.unsigned == 0
