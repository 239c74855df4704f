"""What a process freed goes back to the system, and nobody is hindered where it cannot."""

import asyncio
import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from loopforge.host import host_home
from loopforge.runtime.installation.process_resources import give_back_freed
from loopforge.settings import load_settings
from tests.held_clock import HeldClock

ROOT = Path(__file__).parents[2]
HAS_IT = Path("/proc/self/statm").exists() and hasattr(ctypes.CDLL(None), "malloc_trim")
FREED = """
import asyncio
from pathlib import Path
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.installation.process_resources import give_back_freed
from tests.held_clock import HeldClock

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 // 1_000_000

def held():  # a hundred million bytes; what lies last keeps them from going by themselves
    return [b"x" * (100_000 + nth % 2) for nth in range(1000)], b"x" * 100_000

async def goes_back(full):
    while full - resident() < 80:
        await asyncio.sleep(0.01)

async def main():
    clock = HeldClock()
    much, end = held()
    full = resident()
    del much
    assert full - resident() < 20, "it went by itself"
    async with BackgroundTasks() as tasks:
        tasks.spawn(give_back_freed(clock), "giving memory back")
        await goes_back(full)
        more, last = held()
        full = resident()
        clock.let_go(1)
        await asyncio.sleep(0.1)
        assert full - resident() < 20, "what is in use went"
        del more
        clock.let_go(1)
        await goes_back(full)
    print(len(end) + len(last))

asyncio.run(main())
"""
"""In a process of its own: nobody else's memory lies between."""


@pytest.mark.skipif(not HAS_IT, reason="only glibc on Linux keeps it, and gives it back")
def test_what_was_freed_goes_back() -> None:
    """At once, and what is freed later the next time, though the process did not grow since."""
    subprocess.run([sys.executable, "-c", FREED], check=True, cwd=ROOT, timeout=120)


async def test_with_another_library_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that cannot give back ends it."""

    def other(_name: None) -> object:
        return object()

    monkeypatch.setattr(ctypes, "CDLL", other)
    await give_back_freed(HeldClock())


@pytest.mark.skipif(not HAS_IT, reason="only glibc on Linux keeps it, and gives it back")
async def test_a_home_gives_back(tmp_path: Path) -> None:
    """Whoever is the host of one does so until it ends."""
    settings = load_settings(tmp_path, environ={"LOOPFORGE_WEB": "no"})
    async with host_home(settings):
        assert "giving memory back" in {task.get_name() for task in asyncio.all_tasks()}
    assert "giving memory back" not in {task.get_name() for task in asyncio.all_tasks()}


def test_garbage_is_looked_for_seldom() -> None:
    """A process that looks for cycles after few objects does so after many; after more, as set."""
    code = (
        "import gc\n"
        "from loopforge.runtime.installation.process_resources import OBJECTS, collect_seldom\n"
        "for given, wanted in ((700, OBJECTS), (OBJECTS * 2, OBJECTS * 2)):\n"
        "    gc.set_threshold(given, 10, 10)\n"
        "    collect_seldom()\n"
        "    assert gc.get_threshold() == (wanted, 10, 10)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
