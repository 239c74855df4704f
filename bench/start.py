"""How long starting takes: a bare interpreter, the package, the command line, the settings."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 15
WAYS = {
    "a bare interpreter": "pass",
    "import loopforge": "import loopforge",
    "loopforge --help": "from loopforge.cli import main; main(['--help'])",
    "settings, all at default": (
        "from pathlib import Path; from loopforge.settings import load_settings\n"
        "load_settings(Path({home!r}), environ={{}})"
    ),
    "settings, one set": (
        "from pathlib import Path; from loopforge.settings import load_settings\n"
        "load_settings(Path({home!r}), environ={{'LOOPFORGE_MAX_STEPS': '3'}})"
    ),
}


def once(code: str) -> float:
    """Milliseconds for a fresh interpreter to run the code."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1000


def main() -> None:
    """Print the median of each way, and what it costs over a bare interpreter."""
    with tempfile.TemporaryDirectory() as home:
        taken: dict[str, list[float]] = {name: [] for name in WAYS}
        for _ in range(RUNS):  # in turns, so that a busy moment does not hit one way alone
            for name, code in WAYS.items():
                taken[name].append(once(code.format(home=home)))
    bare = statistics.median(taken["a bare interpreter"])
    for name, runs in taken.items():
        middle = statistics.median(runs)
        print(f"{name:<26}{middle:7.0f} ms   {middle - bare:+6.0f} ms   {middle / bare:5.1f} x")
