"""No test rests on a span of time: whoever sleeps does so between two looks at what it waits for."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.source import parsed

TESTS = Path(__file__).parent
NAMED = {
    "crash/test_frozen.py": "a host is frozen for a while",
    "crash/test_tasks.py": "a host is frozen for a while",
    "crash/drill.py": "the moment of a kill is drawn by lot",
    "crash/terminal.py": "a clock",
    "delivery/drill.py": "the moment of a kill is drawn by lot; what would come twice has to come",
    "discord/faults.py": "an answer that is slow",
    "discord/lodging.py": "looks so many times, and then says what was there instead",
    "hurried_clock.py": "a clock",
    "io/commons.py": "somebody who speaks word by word",
    "sinks/test_queue_intake.py": "a clock",
    "tools/sandbox/test_confined_process.py": "a stop comes at any of the first moments",
}
"""Files that may sleep outside of a loop, and for what."""
REAL = ("asyncio", "anyio", "time", "SystemClock()", "super()", "app.stamp.clock")
"""Whose `sleep` takes time on the wall; a simulated clock's takes none."""


def idle(tree: ast.AST, looping: bool = False) -> Iterator[int]:
    """The lines that sleep outside of a `while`; sleep(0) only lets others go on."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.While():
                yield from idle(node, looping=True)
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                yield from idle(node)
                continue
            case ast.Call(func=ast.Attribute(attr="sleep", value=whose), args=[length]):
                nothing = isinstance(length, ast.Constant) and length.value == 0
                if not (looping or nothing) and ast.unparse(whose).endswith(REAL):
                    yield node.lineno
        yield from idle(node, looping)


def test_nobody_sleeps_for_a_while() -> None:
    """A test waits for what happens, by looking again and again; only what is named waits for time."""
    found = [
        f"{name}:{line}"
        for path in sorted(TESTS.glob("**/*.py"))
        if (name := path.relative_to(TESTS).as_posix()) not in NAMED
        if "sleep" in (text := path.read_text("utf-8"))  # who does not name it cannot
        for line in idle(parsed(text))
    ]
    assert found == []


def test_what_is_named_sleeps() -> None:
    """No file keeps a leave that it does not need."""
    assert [n for n in NAMED if not [*idle(parsed((TESTS / n).read_text("utf-8")))]] == []


def test_a_sleep_is_found() -> None:
    """The check itself: a sleep counts, one between two looks does not, nor a simulated one."""
    sleeps = "await asyncio.sleep(0.1)", "for _ in x:\n time.sleep(1)", "SystemClock().sleep(n)"
    assert [[*idle(parsed(each))] for each in sleeps] == [[1], [2], [1]]
    fine = "await asyncio.sleep(0)", "while x:\n time.sleep(1)", "await stage.clock.sleep(9)"
    assert [[*idle(parsed(each))] for each in fine] == [[], [], []]
    assert [*idle(parsed("while x:\n def f():\n  time.sleep(1)"))] == [3]
