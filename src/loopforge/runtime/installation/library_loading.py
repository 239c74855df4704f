"""Libraries that are loaded while a home runs: off the loop, so that nobody waits, and in turn.

Two threads that load at once may each hold a module that the other needs; Python then gives up on
one of them.
"""

import asyncio
import threading
from collections.abc import Callable
from importlib import import_module
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_turn = threading.Lock()


async def load_in_thread(work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Do what loads libraries, in a thread, after all others that do."""

    def alone() -> T:
        with _turn:
            return work(*given, **named)

    return await asyncio.to_thread(alone)


async def import_modules(*modules: str) -> None:
    """Load these modules."""
    for module in modules:
        await load_in_thread(import_module, module)
