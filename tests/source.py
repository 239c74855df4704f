"""Sources as syntax trees."""

import ast
import gc


def parsed(text: str) -> ast.Module:
    """The tree of a source.

    CPython 3.11 raised SystemError here once ("recursion depth mismatch"). That the garbage collector
    came in between is a guess, not proven; it waits until the tree stands.
    """
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        gc.enable()
