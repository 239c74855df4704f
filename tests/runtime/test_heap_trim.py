"""What a process freed goes back to the system, and nobody is hindered where it cannot."""

from __future__ import annotations

import asyncio
import ctypes
from pathlib import Path

import pytest

from loopforge.runtime.background_tasks import Tasks
from loopforge.runtime.installation.heap_trim import resident, trim_when_grown
from tests.held_clock import HeldClock

MB = 1_000_000
HAS_IT = Path("/proc/self/statm").exists() and hasattr(ctypes.CDLL(None), "malloc_trim")


@pytest.mark.skipif(not HAS_IT, reason="only glibc on Linux keeps it, and gives it back")
async def test_what_was_freed_goes_back() -> None:
    """A heap that is empty but for its end is as large as it was, until it is looked at."""
    much = [bytes(100_000) for _ in range(1000)]
    end = bytes(100_000)  # what lies last keeps all before it from going by itself
    full = resident() or 0
    del much
    assert full - (resident() or 0) < 50 * MB
    async with Tasks() as tasks:
        tasks.spawn(trim_when_grown(HeldClock()), "giving memory back")
        while full - (resident() or 0) < 80 * MB:
            await asyncio.sleep(0.01)
    assert len(end) == 100_000


async def test_with_another_library_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that cannot give back, or a system that does not tell sizes, ends the looking."""

    def other(_name: None) -> object:
        return object()

    monkeypatch.setattr(ctypes, "CDLL", other)
    await trim_when_grown(HeldClock())
