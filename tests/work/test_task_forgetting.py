"""What is left of a task whose words were forgotten: nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopforge.ledger.erasure.text_erasure import Wish
from loopforge.work.task_state import PREFIX
from loopforge.work.workspace.task_workspace import folder_name
from tests.work.conftest import in_order, uses, working

pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(120)]


def tasks_with_files(home: Path) -> list[str]:
    """The folders of tasks of which a checkpoint is kept."""
    return [path.name for path in (home / "data" / "checkpoints").iterdir()]


async def test_files_and_checkpoints_of_a_forgotten_task_go(place: Path) -> None:
    """Those of others stay, and a process that died before does it at its next start."""
    script = in_order(uses("work_write", path="a.txt", text="private\n"))
    async with working(place, script) as home:
        kept = await home.give("Write something.")
        gone = await home.give("Write something private.")
        home.file(gone, "b.txt").write_text("private\n")
        left = place / "data" / "checkpoints" / folder_name(PREFIX + gone)
        assert left.is_dir()
        await home.app.ledger.erase(Wish(stream=PREFIX + gone))
    async with working(place, script) as home:
        await home.app.work.forgetting.sweep()
        assert not home.file(gone, "").exists()
        assert not left.exists()
        assert home.file(kept, "").is_dir()
        assert await home.app.work.forgetting.sweep() == []
    assert set(tasks_with_files(place)) == {folder_name(PREFIX + kept)}
