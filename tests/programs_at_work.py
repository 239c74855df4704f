"""Whether a mate's program computes just now, so that simulated time stands still meanwhile."""

import asyncio
from typing import Any

from loopforge.tools.programs import program_run

WAITING = ("_settled", "_caught")
"""Where a run waits for tools, which take simulated time."""


def computing() -> bool:
    """Whether a task of this loop waits for monty itself."""
    return any(_computes(task) for task in asyncio.all_tasks())


def _computes(task: asyncio.Task[Any]) -> bool:
    at: Any = task.get_coro()
    while (deeper := getattr(at, "cr_await", None)) is not None and hasattr(deeper, "cr_code"):
        at = deeper
    code = getattr(at, "cr_code", None)
    if code is None or task.done() or code.co_filename != program_run.__file__:
        return False
    return code.co_name not in WAITING
