"""Programs in monty: what they are kept from, what they are told, and that they go the same way."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from loopforge.errors import InputError
from loopforge.runtime.ports import PeopleAsked, Tool, UsedTool
from loopforge.tools.programs.program_run import (
    ProgramLimits,
    ProgramRun,
    ProgramWorld,
    run_program,
)
from loopforge.tools.programs.python_tool import PYTHON, told
from loopforge.tools.programs.tool_functions import ToolFunction, functions_of

AT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
WORLD = ProgramWorld(at=AT, zone="Europe/Berlin", seed=7)
LIMITS = ProgramLimits(seconds=60, memory=32 << 20)
SEARCH = Tool(
    name="web.search",
    summary="Searches.",
    schema={
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "from": {"type": "string", "enum": ["web", "news"]},
            "words": {"type": "string"},
        },
        "required": ["words"],
    },
)


class Door:
    """Gives what it was asked; `asks` are the numbers of calls about which people are asked."""

    at = AT

    def __init__(self, *asks: int, outcome: Any = "returned") -> None:
        self.asks, self.outcome, self.used = asks, outcome, list[tuple[int, dict[str, Any]]]()

    async def offered(self) -> Sequence[Tool]:
        """One tool."""
        return (SEARCH,)

    async def use(self, nth: int, tool: str, arguments: dict[str, Any]) -> UsedTool:
        """It is used."""
        self.used.append((nth, arguments))
        if nth in self.asks:
            raise PeopleAsked(tool)
        return UsedTool(self.outcome, f"{tool} {arguments['words']}")


async def run(
    code: str, door: Door | None = None, limits: ProgramLimits = LIMITS
) -> tuple[Any, str]:
    """The value of a program, and what it printed."""
    program = ProgramRun(code, functions_of([SEARCH] if door else []), limits, WORLD)
    value = await run_program(program, door)
    return value, "".join(program.printed)


def test_a_tool_is_a_function_by_names_that_python_takes() -> None:
    """Those it cannot do without come first; a checker is told of kinds and choices."""
    function = ToolFunction(SEARCH)
    assert function.stub(waits=True) == (
        "async def web_search(words: str, n: int = ..., from_: Literal['web', 'news'] = ...)"
        " -> str: ...\n"
    )
    given = function.arguments(("slugs",), {"from_": "news", "n": 3})
    assert given == {"words": "slugs", "from": "news", "n": 3}
    with pytest.raises(TypeError, match="no set"):
        function.arguments(({1},), {})


async def test_calls_give_texts_and_raise_where_they_fail() -> None:
    """With or without `await`; the program may catch what it is told."""
    assert (await run("web_search('a')", Door()))[0] == "web.search a"
    assert (await run("await web_search(words='a')", Door()))[0] == "web.search a"
    for outcome, raised in (
        ("refused", "PermissionError"),
        ("timed_out", "TimeoutError"),
        ("unknown", "RuntimeError"),
    ):
        code = f"try:\n    web_search('a')\nexcept {raised} as why:\n    print(why)"
        assert (await run(code, Door(outcome=outcome)))[1] == "web.search a\n"


async def test_a_program_goes_the_same_way_again() -> None:
    """Chance, time and the order of calls are the same; a call that waits for people ends it."""
    code = (
        "import asyncio, random, datetime\n"
        "words = [str(random.random()) for _ in range(3)]\n"
        "await asyncio.gather(*[web_search(word) for word in words])\n"
        "now = datetime.datetime.now().isoformat()\n"
        "await web_search(words=now)\nnow"
    )
    first, second, paused = Door(), Door(), Door(2)
    assert await run(code, first) == await run(code, second) == ("2026-11-21T10:00:00", "")
    assert first.used == second.used
    with pytest.raises(PeopleAsked):
        await run(code, paused)
    assert paused.used == first.used[:3]


HOSTILE = {
    "time": ("while True: pass", "TimeoutError"),
    "memory": ("x = []\nwhile True: x.append('a' * 100000)", "MemoryError"),
    "one big": ("'a' * 10**10", "MemoryError"),
    "power": ("10 ** 10 ** 9", "MemoryError"),
    "recursion": ("def f(): return f()\nf()", "RecursionError"),
    "print": ("while True: print('x' * 1000)", "may print"),
    "depth": ("(" * 5000, "nested"),
    "caught": ("while True:\n  try:\n    while True: pass\n  except: pass", "TimeoutError"),
    "sleep": ("import time\nwhile True: time.sleep(1000)", "TimeoutError|suspen|limit"),
    "open": ("open('/etc/passwd').read()", "PermissionError"),
    "write": ("open('x', 'w').write('x')", "PermissionError|not supported"),
    "environment": ("import os\nos.environ['PATH']", "not supported"),
    "processes": ("import subprocess", "ModuleNotFoundError"),
    "sockets": ("import socket", "ModuleNotFoundError"),
    "import": ("__import__('os').system('id')", "Error"),
    "globals": ("().__class__.__base__.__subclasses__()", "Error"),
    "path": ("from pathlib import Path\nPath('/etc/passwd').read_text()", "Error"),
}


ENDLESS = "while True:", "import time\nwhile True:"
"""What begins so goes on to the end of its time, unless it prints."""


@pytest.mark.parametrize(("code", "why"), HOSTILE.values(), ids=HOSTILE)
async def test_what_a_hostile_program_wants_it_does_not_get(code: str, why: str) -> None:
    """It ends by its limits, or is told that there is no such thing."""
    brief = ProgramLimits(seconds=1, memory=LIMITS.memory)
    by_time = code.startswith(ENDLESS) and why != "may print"
    with pytest.raises(InputError, match=why):
        await run(code, limits=brief if by_time else LIMITS)


async def test_a_program_that_is_stopped_leaves_nothing_behind() -> None:
    """Its process goes with it."""
    task = asyncio.ensure_future(run("while True: pass"))  # noqa: TID251
    while not _workers():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    while _workers():
        await asyncio.sleep(0.01)


def _workers() -> list[str]:
    """The processes of monty that this one started and that still are there."""
    own, found = Path("/proc/self/task"), list[str]()
    for thread in own.iterdir():
        with suppress(OSError):  # a thread, or a process, that ended just now
            for child in (thread / "children").read_text().split():
                if b"monty" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found.append(child)
    return found


def test_long_parts_are_files() -> None:
    """What was printed and the last value are told by their heads, and kept whole each by itself."""
    rows = [{"n": n, "word": "x" * 40} for n in range(100)]
    given = told("line\n" * 1000, rows)
    assert [file.name for file in given.files] == ["printed.txt", "value.csv"]
    assert given.files[1].data.startswith(b"n,word\n0,xxx")
    assert len(given.text) < 4_000
    assert told("", None).text == "It printed nothing."
    assert told("", {"a": [1]}).text == 'Its last value: {"a": [1]}'


async def test_a_value_that_is_huge_written_out_is_refused() -> None:
    """It may be small in the program: one text, a thousand times in a list."""
    value, _ = await run("a = 'x' * 1000000\n[a] * 10")
    with pytest.raises(InputError, match="more than 2,000,000 characters"):
        told("", value)


def test_a_mind_is_told_in_few_words() -> None:
    """All that it reads of the tool fits into a page."""
    assert len(PYTHON.summary) < 100
    assert len(str(PYTHON.schema)) < 500
