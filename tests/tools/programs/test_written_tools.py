"""Tools that mates wrote, as their files stand: while two programs write there, and after a change."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from loopforge.errors import InputError
from loopforge.runtime.installation.home_files import exclusive_access
from loopforge.runtime.system_clock import SystemClock
from loopforge.tools.programs.written_tools import FOLDER, WrittenTools, WrittenVersion


def version(effect: str) -> WrittenVersion:
    """A version that was approved by this effect."""
    return WrittenVersion(
        number=0,
        mate="maya",
        summary="Counts the words.",
        arguments={"text": {"type": "string"}},
        code="len(text.split())",
        since=SystemClock().now(),
        effect=effect,
    )


def test_who_writes_waits_for_who_writes(tmp_path: Path) -> None:
    """Neither a version nor that a tool was taken back is lost to another program's writing."""
    tools = WrittenTools(tmp_path)
    tools.keep("count_words", version("one"))
    changes: list[Callable[[], object]] = [
        lambda: tools.keep("count_words", version("two")),
        lambda: tools.take_back("count_words"),
    ]
    for change in changes:
        writing = threading.Thread(target=change)
        with exclusive_access(tmp_path / FOLDER / "count_words.json"):
            writing.start()
            writing.join(0.2)
            assert writing.is_alive()
        writing.join()
    found = tools.find("count_words")
    assert found is not None
    assert ([one.number for one in found.versions], found.taken_back) == ([1, 2], True)


def test_a_file_that_was_changed_is_not_written_over(tmp_path: Path) -> None:
    """What was approved before stands there still, and that somebody changed it."""
    tools = WrittenTools(tmp_path)
    tools.keep("count_words", version("one"))
    path = tmp_path / FOLDER / "count_words.json"
    changed = path.read_bytes().replace(b"len(text", b"str(text")
    path.write_bytes(changed)
    with pytest.raises(InputError, match="is not as it was approved"):
        tools.keep("count_words", version("two"))
    assert path.read_bytes() == changed
