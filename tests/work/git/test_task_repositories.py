"""A task on a repository, from the clone to the merge."""

from __future__ import annotations

import pytest

from tests.work.git.conftest import TASK, Bench, git

pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(120)]
EDIT = "sed -i 's/return 1/return 2/' a.py && echo new > fresh.txt"


async def test_what_was_shown_is_merged_once(bench: Bench) -> None:
    """A commit of the task's files, with summary, files and tests, and main is that very commit."""
    await bench.begin()
    assert (await bench.does("git branch --show-current")).startswith("task/fix-the-parser-")
    await bench.does(EDIT)
    shown = await bench.propose("Return two\n\nIt was one too few.")
    assert git(bench.project, "rev-parse", shown.branch) == shown.tip == shown.commit
    assert [(file.path, file.change) for file in shown.files] == [
        ("a.py", "changed"),
        ("fresh.txt", "added"),
    ]
    assert "-    return 1\n+    return 2\n" in shown.diff
    assert git(bench.project, "rev-parse", "main") == shown.before
    merged = await bench.git.approve(TASK, shown.commit)
    assert (merged.again, merged.checkout) == (False, str(bench.project))
    assert git(bench.project, "rev-parse", "main") == shown.commit
    assert git(bench.project, "status", "--porcelain") == ""
    assert bench.file("a.py") == "def f():\n    return 2\n"
    message = git(bench.project, "log", "-1", "--format=%an%n%B")
    assert message.startswith("Loopforge\nReturn two\n\nIt was one too few.\n\nFiles\n- changed")
    assert "- added fresh.txt" in message
    assert "- pytest -q: 3 passed" in message
    assert (await bench.git.approve(TASK, shown.commit)).again
    assert git(bench.project, "rev-parse", "main") == shown.commit
    assert git(bench.project, "branch", "--list", "task/*") == ""


async def test_open_edits_of_a_person_survive(bench: Bench) -> None:
    """Edited, staged, untracked and deleted: whatever the task did not touch stays as it is."""
    await bench.begin()
    await bench.does(EDIT)
    shown = await bench.propose()
    (bench.project / "b.py").write_text("x = 2  # mine\n")
    (bench.project / "staged.py").write_text("mine\n")
    git(bench.project, "add", "staged.py")
    (bench.project / "notes.txt").write_text("mine\n")
    (bench.project / "docs/guide.md").unlink()
    await bench.git.approve(TASK, shown.commit)
    assert bench.file("a.py") == "def f():\n    return 2\n"
    assert set(git(bench.project, "status", "--porcelain").splitlines()) == {
        " D docs/guide.md",
        " M b.py",
        "?? notes.txt",
        "A  staged.py",
    }
    assert bench.file("b.py") == "x = 2  # mine\n"
