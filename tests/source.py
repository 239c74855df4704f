"""Sources as syntax trees."""

from __future__ import annotations

import ast
import gc


def parsed(text: str) -> ast.Module:
    """The tree of a source.

    CPython 3.11 loses count of the recursion, and raises SystemError, where the garbage collector
    comes in between and what it ends parses something, too; so it waits.
    """
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        gc.enable()
