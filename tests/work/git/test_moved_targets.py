"""The branch that results go to, where it is not any more what it was when the task began."""

from pathlib import Path

import pytest

from loopforge.errors import Changed, RepositoryError
from tests.work.git.conftest import TASK, Bench, git

EDIT = "sed -i 's/return 1/return 2/' a.py"
ONTO = 'branch = "{}"'


def written(home: Path, branch: str) -> None:
    """The owner writes into its file which branch it is now."""
    file = home / "repositories" / "project.toml"
    file.write_text(file.read_text().replace(ONTO.format("main"), ONTO.format(branch)))


async def test_what_the_target_has_already_is_not_offered(bench: Bench) -> None:
    """Two tasks did the same: the second would be a merge in which no file changes."""
    await bench.proposed(EDIT)
    bench.commit({"a.py": "def f():\n    return 2\n"})
    with pytest.raises(RepositoryError, match="main has all of it already"):
        await bench.propose()
    await bench.does("echo more > more.txt")
    assert [one.path for one in (await bench.propose()).files] == ["more.txt"]


async def test_a_renamed_target_is_gone_on_with_as_it_is_said(bench: Bench) -> None:
    """The owner writes its new name into its file, as they are told; the work is proposed there."""
    shown = await bench.proposed(EDIT)
    git(bench.project, "branch", "-m", "main", "trunk")
    with pytest.raises(RepositoryError, match="write which one it is now into its file"):
        await bench.git.approve(TASK, shown.commit)
    written(bench.home, "trunk")
    with pytest.raises(
        Changed, match=r"was shown for main, and goes to trunk by now. Say `refresh`"
    ):
        await bench.git.approve(TASK, shown.commit)
    again = await bench.propose()
    assert again.target == "trunk"
    await bench.git.approve(TASK, again.commit)
    assert git(bench.project, "rev-parse", "trunk") == again.commit


async def test_a_merge_is_taken_back_from_a_target_that_was_renamed_since(bench: Bench) -> None:
    """By its new name, which the owner wrote into its file."""
    await bench.git.approve(TASK, (await bench.proposed(EDIT)).commit)
    git(bench.project, "branch", "-m", "main", "trunk")
    written(bench.home, "trunk")
    await bench.git.take_back(TASK)
    assert git(bench.project, "show", "trunk:a.py").endswith("return 1")


async def test_a_task_is_given_its_target_by_its_new_name(bench: Bench) -> None:
    """What is new on it comes into the clone, and the work is merged with that."""
    await bench.begin()
    await bench.does(EDIT)
    git(bench.project, "branch", "-m", "main", "trunk")
    written(bench.home, "trunk")
    bench.commit({"b.py": "x = 7\n"})
    assert await bench.git.refresh(TASK) == git(bench.project, "rev-parse", "trunk")
    await bench.git.commit(TASK, "mine")
    await bench.does("git merge -q origin/trunk")
    await bench.git.approve(TASK, (await bench.propose()).commit)
    assert (bench.file("a.py"), bench.file("b.py")) == ("def f():\n    return 2\n", "x = 7\n")


@pytest.mark.parametrize(
    "how", [("reset", "--hard", "-q", "main~2"), ("commit", "--amend", "-qm", "x")]
)
async def test_a_merge_that_was_rewritten_since_is_not_said_to_be_taken_back(
    bench: Bench, how: tuple[str, ...]
) -> None:
    """Nothing is brought back that was thrown away, nor is it said to be undone what still stands."""
    bench.commit({"b.py": "x = 7\n"})
    merged = await bench.git.approve(TASK, (await bench.proposed(EDIT)).commit)
    git(bench.project, *how)
    head = git(bench.project, "rev-parse", "main")
    with pytest.raises(RepositoryError, match=f"no longer has {merged.commit[:12]}"):
        await bench.git.take_back(TASK)
    assert git(bench.project, "rev-parse", "main") == head
    assert git(bench.project, "status", "--porcelain") == ""


@pytest.mark.parametrize("way", ["--merge", "--apply"])
async def test_nothing_is_merged_into_a_branch_that_is_being_rebased(
    bench: Bench, way: str
) -> None:
    """Git would set the branch to what was rebased: the merge was lost, though it was said to be."""
    git(bench.project, "switch", "-qc", "other")
    bench.commit({"b.py": "x = 5\n"})
    git(bench.project, "switch", "-q", "main")
    bench.commit({"b.py": "x = 6\n"})
    shown = await bench.proposed(EDIT)
    git(bench.project, "rebase", way, "other", ok=False)
    assert "Unmerged" in git(bench.project, "status")
    with pytest.raises(RepositoryError, match="is in the middle of a rebase"):
        await bench.git.approve(TASK, shown.commit)
    git(bench.project, "rebase", "--abort")
    await bench.git.approve(TASK, shown.commit)
    assert git(bench.project, "rev-parse", "main") == shown.commit


async def test_a_task_s_branch_that_is_being_rebased_stays(bench: Bench) -> None:
    """Whoever works on what a task did finds it there when that is done."""
    shown = await bench.proposed("echo x = 5 > b.py")
    bench.commit({"b.py": "x = 6\n"})
    git(bench.project, "switch", "-q", shown.branch)
    git(bench.project, "rebase", "main", ok=False)
    assert "checked out" in await bench.git.reject(TASK)
    git(bench.project, "rebase", "--skip")
    assert git(bench.project, "branch", "--show-current") == shown.branch


async def test_what_was_shown_is_merged_though_git_swept_it_away(bench: Bench) -> None:
    """The person deleted the task's branch by hand, and had git clean up; Loopforge has it still."""
    shown = await bench.proposed(EDIT)
    git(bench.project, "branch", "-q", "-D", shown.branch)
    git(bench.project, "reflog", "expire", "--expire=now", "--all")
    git(bench.project, "gc", "-q", "--prune=now")
    await bench.git.approve(TASK, shown.commit)
    assert bench.file("a.py") == "def f():\n    return 2\n"
