"""Libraries are loaded one after another."""

import asyncio
import sys
import threading
from pathlib import Path

import pytest

from loopforge.runtime.installation.library_loading import import_modules, load_in_thread


async def test_one_after_another() -> None:
    """Of many that load at the same time only one is at it."""
    alone, met = threading.Lock(), list[bool]()

    def work() -> None:
        met.append(alone.acquire(blocking=False))
        if met[-1]:
            threading.Event().wait(0.01)  # long enough for another to come in
            alone.release()

    await asyncio.gather(*(load_in_thread(work) for _ in range(20)))
    assert met == [True] * 20


async def test_modules_that_need_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that import each other are both there, though they were asked for at the same time."""
    (tmp_path / "one_of_two.py").write_text("import other_of_two\nONE = 1\n")
    (tmp_path / "other_of_two.py").write_text("import one_of_two\nOTHER = 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    await asyncio.gather(import_modules("one_of_two"), import_modules("other_of_two"))
    assert sys.modules.pop("one_of_two").ONE + sys.modules.pop("other_of_two").OTHER == 3
