"""Where docstrings are missing in code, and whether a change is of nothing but them."""

import pytest

from loopforge.core.work.watch_events import CodePlace
from loopforge.work.docstrings import docstring_process
from loopforge.work.docstrings.docstring_process import (
    LARGEST,
    FilePair,
    missing_docstrings,
    only_docstrings,
)

BEFORE = b'''\
# first of all
import os


def told(x):
    """Say it."""
    return x


def bare(x):
    return x  # as it is


class Parser:
    def read(self): return 1
'''
AFTER = (
    BEFORE.replace(b"def bare(x):\n", b'def bare(x):\n    """Give it back, \xc3\xa9."""\n')
    .replace(b"class Parser:\n", b'class Parser:\n    """Reads."""\n\n')
    .replace(b"self): return 1", b'self):\n        """Read it."""\n        return 1')
)


async def names(*pairs: FilePair, waiting: tuple[CodePlace, ...] = ()) -> list[str]:
    """The places that wait after a change, by name."""
    found = await missing_docstrings(pairs, waiting)
    return sorted(f"{one.path}:{one.name}" for one in found.places)


async def test_what_is_new_or_changed_is_found() -> None:
    """Each function, method and class that is, and not what was there before, nor what has one."""
    assert await names(FilePair("a.py", None, BEFORE)) == [
        "a.py:Parser",
        "a.py:Parser.read",
        "a.py:bare",
    ]
    changed = BEFORE.replace(b"return x  #", b"return x + 1  #")
    assert await names(FilePair("a.py", BEFORE, changed)) == ["a.py:bare"]
    assert await names(FilePair("a.py", BEFORE, BEFORE.replace(b"first", b"last"))) == []
    assert await names(FilePair("a.py", AFTER, BEFORE)) == []  # taken away on purpose


async def test_what_moved_or_is_let_be_is_not_found() -> None:
    """A file by another name, private names, tests, overloads, functions within functions."""
    moved = (FilePair("a.py", BEFORE, None), FilePair("b.py", None, BEFORE))
    assert await names(*moved) == []
    spared = (
        b"def _inner(): pass\n@overload\ndef f(): ...\n@x.setter\ndef x(self): ...\n"
        b'def g():\n    """G."""\n    def h(): pass\nif True:\n    def seen(): pass\n'
    )
    assert await names(FilePair("a.py", None, spared)) == ["a.py:seen"]
    assert await names(FilePair("test_a.py", None, BEFORE)) == []


async def test_what_cannot_be_read_is_said_and_nothing_is_new_by_it() -> None:
    """A file that is broken, or too large, is named; mended, it does not count as new."""
    waits = (CodePlace(path="a.py", name="bare", line=9),)
    broken = FilePair("a.py", BEFORE, b"def (")
    found = await missing_docstrings([broken], waits)
    assert (found.unread, [one.name for one in found.places]) == (("a.py",), ["bare"])
    assert await names(FilePair("a.py", b"def (", BEFORE), waiting=waits) == ["a.py:bare"]
    deep = b"x = " + b"-" * 60_000 + b"1\n"
    big = b"#" * (2 * LARGEST + 1)
    files = [
        FilePair("deep.py", b"", deep),
        FilePair("big.py", b"", big),
        FilePair("e.py", b"", b""),
    ]
    assert set((await missing_docstrings(files)).unread) == {"deep.py", "big.py"}


async def test_a_file_that_ends_its_reader_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is found by halving, and what waited in it waits on; a change of it is not offered."""
    monkeypatch.setattr(docstring_process, "MEMORY", 120 << 20)
    heavy = b"x = [" + b"1, " * 300_000 + b"]\n"
    waits = (CodePlace(path="heavy.py", name="big"), CodePlace(path="a.py", name="bare"))
    pairs = [FilePair("heavy.py", b"", heavy), *(FilePair(f"{n}.py", None, BEFORE) for n in "abc")]
    found = await missing_docstrings(pairs, waits)
    assert found.unread == ("heavy.py",)
    assert sorted(one.path for one in found.places if one.name == "bare") == [
        "a.py",
        "b.py",
        "c.py",
    ]
    assert [one.path for one in found.places if one.name == "big"] == ["heavy.py"]
    assert await only_docstrings([FilePair("heavy.py", heavy, heavy + b"\n")]) != []


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (AFTER, ""),
        (AFTER.replace(b"return x  #", b"return x + 1  #"), "its code is changed"),
        (AFTER.replace(b"first", b"last"), "comments, or how its code is written"),
        (AFTER.replace(b"(x)", b"( x )", 1), "comments, or how its code is written"),
        (AFTER.replace(b"(x)", b"(x,)", 1), "comments, or how its code is written"),
        (AFTER.replace(b"\n", b"\r\n"), "comments, or how its code is written"),
        (BEFORE.replace(b'    """Say it."""\n', b""), "told has no docstring any more"),
        (AFTER + b"import sys\n", "its code is changed"),
        (b"def (", "it cannot be read"),
        (None, "the file is new, or gone"),
    ],
)
async def test_nothing_but_docstrings_is_seen_to_be_so(after: bytes | None, why: str) -> None:
    """By what is left of both without them: the tree, and every sign but blanks."""
    found = await only_docstrings([FilePair("a.py", BEFORE, after)])
    assert [one.startswith(f"a.py: {why}") for one in found] == [True] * bool(why)


async def test_another_kind_of_file_is_refused() -> None:
    """Docstrings are in Python code alone."""
    assert await only_docstrings([FilePair("a.md", b"x", b"y")]) == ["a.md: it is no Python"]
