"""Work, counted and not timed: how many calls something makes, of Python's functions and of C's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def calls_of(work: Callable[[], object]) -> int:
    """How many calls are made while this is done."""
    count = 0

    def counted(_frame: FrameType, event: str, _of: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def growth(made: Callable[[int], Callable[[], object]], size: int) -> float:
    """How many times the work of one size that of four times the size is; 4 where it is linear."""
    made(size)()  # what is made once is made before
    return calls_of(made(4 * size)) / calls_of(made(size))
