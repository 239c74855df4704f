"""Work, counted and not timed: how many calls something makes, of Python's functions and of C's.

Counted in a process of its own: in one that has run other tests Python 3.11 may stand still for
good while it counts (seen in its loop over instructions, wherever it was just then).
"""

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, cast


def calls_of(work: Callable[..., object], *uses: tuple[Any, ...]) -> list[int]:
    """How many calls are made while it is done with each of these arguments, in order.

    `work` is a function of a module. It is done with the first ones before, uncounted: what is made
    once is made then. What it raises is an error.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tests.work_count"],
        cwd=Path(__file__).parents[1],
        input=pickle.dumps((work, uses)),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return cast("list[int]", pickle.loads(done.stdout))


def _counted(work: Callable[..., object], use: tuple[Any, ...]) -> int:
    count = 0

    def seen(_frame: FrameType, event: str, _of: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work(*use)
    finally:
        sys.setprofile(None)
    return count


if __name__ == "__main__":
    work, uses = pickle.load(sys.stdin.buffer)
    work(*uses[0])
    sys.stdout.buffer.write(pickle.dumps([_counted(work, use) for use in uses]))
