"""A task on a repository, from the clone to the merge."""

import asyncio
import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loopforge.errors import BadSettings, Changed, InputError, RepositoryError, Unknown
from loopforge.work.git import task_repositories
from loopforge.work.git.merge_proposals import MergeResult
from loopforge.work.git.person_repository import PersonRepository
from tests.work.git.conftest import FILES, TASK, Bench, git, write

EDIT = "sed -i 's/return 1/return 2/' a.py && echo new > fresh.txt"


def advanced_apart(bench: Bench, commit: str, before: str) -> int:
    """How another process ends that brings the person's folder along."""
    program = (
        "import asyncio, pathlib\n"
        "from loopforge.work.git.person_repository import PersonRepository\n"
        f"project = PersonRepository(pathlib.Path({str(bench.project)!r}))\n"
        f"asyncio.run(project.advance('main', {commit!r}, {before!r}))\n"
    )
    return subprocess.run([sys.executable, "-c", program], check=False).returncode


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


async def test_what_tools_leave_behind_is_no_result(bench: Bench) -> None:
    """Bytecode, packages, virtual environments of any name, whose links lead out, are not offered.

    Without a .gitignore too; what the branch has in a folder of such a name is.
    """
    bench.commit({"venv/lib.py": "y = 1\n"})
    links = 'for d in .venv \'my env\'; do mkdir "$d"; ln -s /usr/bin/python3 "$d/python"; done'
    left = "touch 'my env/pyvenv.cfg'; mkdir -p web/node_modules; touch web/node_modules/x.js"
    made = f"python3 -c 'import a' && ls __pycache__ && {links} && {left} && touch venv/new.py"
    shown = await bench.proposed(f"{EDIT} && {made}")
    assert [file.path for file in shown.files] == ["a.py", "fresh.txt", "venv/new.py"]


async def test_line_ends_are_shown_where_they_differ_alone(bench: Bench) -> None:
    """The diff of a file that ends its lines as on Windows shows none; whoever changes them all is told of."""
    bench.commit({"a.py": "def f():\r\n    return 1\r\n", "c.py": "x = 1\r\ny = 2\r\n"})
    shown = await bench.proposed("sed -i 's/return 1/return 2/' a.py && sed -i 's/\\r//' c.py")
    assert shown.notes == ("c.py has other line ends than before, so that every line differs.",)
    assert "+    return 2\n" in shown.diff
    assert "\\r" not in shown.diff
    await bench.does("git checkout -q origin/main c.py")
    assert (await bench.propose()).diff.endswith("\n-    return 1\n+    return 2")


async def test_files_in_a_submodule_are_refused_not_dropped(bench: Bench) -> None:
    """Git passes them over without a word: the mate is told, and without them it is proposed."""
    head = git(bench.project, "rev-parse", "HEAD")
    git(bench.project, "update-index", "--add", "--cacheinfo", f"160000,{head},my lib")
    git(bench.project, "commit", "-qm", "a submodule")
    await bench.begin()
    await bench.does(f"{EDIT} && echo 1 > 'my lib/lost.py'")
    with pytest.raises(RepositoryError, match="my lib is a submodule, another repository"):
        await bench.propose()
    await bench.does("rm 'my lib/lost.py'")
    assert [file.path for file in (await bench.propose()).files] == ["a.py", "fresh.txt"]


async def test_open_edits_of_a_person_survive(bench: Bench) -> None:
    """Edited, staged, untracked and deleted: whatever the task did not touch stays as it is."""
    shown = await bench.proposed(EDIT)
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


async def test_work_of_a_person_in_the_way_is_kept_and_nothing_is_merged(bench: Bench) -> None:
    """What they edited, what they staged, and what git ignores and would write over."""
    bench.commit({".gitignore": "*.env\n"})
    shown = await bench.proposed(f"{EDIT}; echo theirs > secret.env; git add -f secret.env")
    for name, text in (("a.py", "mine\n"), ("fresh.txt", "mine\n"), ("secret.env", "mine\n")):
        before = bench.file(name) if (bench.project / name).exists() else None
        write(bench.project, {name: text})
        with pytest.raises(RepositoryError, match=f"work of your own in {name}"):
            await bench.git.approve(TASK, shown.commit)
        assert bench.file(name) == text
        assert git(bench.project, "rev-parse", "main") == shown.before
        if before is None:
            (bench.project / name).unlink()
        else:
            write(bench.project, {name: before})
    await bench.git.approve(TASK, shown.commit)
    assert bench.file("secret.env") == "theirs\n"


@pytest.mark.parametrize("flag", ["assume-unchanged", "skip-worktree"])
async def test_work_that_git_was_told_to_overlook_is_kept(bench: Bench, flag: str) -> None:
    """Which file it is, and how git is told to look at it again, is said; nothing is merged."""
    shown = await bench.proposed(EDIT)
    git(bench.project, "update-index", f"--{flag}", "a.py")
    write(bench.project, {"a.py": "mine\n"})
    with pytest.raises(RepositoryError, match=f"your work in a.py.* --no-{flag} .*Nothing was"):
        await bench.git.approve(TASK, shown.commit)
    assert bench.file("a.py") == "mine\n"
    assert git(bench.project, "rev-parse", "main") == shown.before
    git(bench.project, "update-index", f"--no-{flag}", "a.py")
    git(bench.project, "stash")
    await bench.git.approve(TASK, shown.commit)
    assert bench.file("a.py") == "def f():\n    return 2\n"


async def test_a_conflict_is_found_before_anybody_is_asked_and_there_is_a_way_on(
    bench: Bench,
) -> None:
    """Nothing to approve; the clone is given what is new, brings it together, proposes again."""
    await bench.begin()
    await bench.does(EDIT)
    bench.commit({"a.py": "def f():\n    return 99\n"})
    head = git(bench.project, "rev-parse", "main")
    stuck = await bench.propose()
    assert (stuck.commit, stuck.conflicts) == ("", ("a.py",))
    assert "main and the task both changed a.py" in stuck.way_on
    assert "+    return 2" in stuck.diff
    with pytest.raises(RepositoryError, match="both changed"):
        await bench.git.approve(TASK, stuck.tip)
    assert git(bench.project, "rev-parse", "main") == head
    assert await bench.git.refresh(TASK) == head
    await bench.does(
        "git merge -q origin/main || printf 'def f():\\n    return 101\\n' > a.py; git commit -qam both"
    )
    shown = await bench.propose("Return more")
    assert shown.conflicts == ()
    await bench.git.approve(TASK, shown.commit)
    assert bench.file("a.py") == "def f():\n    return 101\n"
    assert git(bench.project, "rev-list", "--count", "main") == "3"


async def test_a_branch_that_moved_on_is_merged_with_as_it_is_shown(bench: Bench) -> None:
    """Both sides' changes, in one merge that was made before it was shown."""
    await bench.begin()
    await bench.does(EDIT)
    bench.commit({"b.py": "x = 7\n"})
    shown = await bench.propose()
    assert shown.commit != shown.tip
    assert [file.path for file in shown.files] == ["a.py", "fresh.txt"]
    await bench.git.approve(TASK, shown.commit)
    assert (bench.file("a.py"), bench.file("b.py")) == ("def f():\n    return 2\n", "x = 7\n")
    assert git(bench.project, "rev-parse", "main^1", "main^2").split() == [shown.before, shown.tip]


async def test_what_moved_on_after_it_was_shown_is_shown_again(bench: Bench) -> None:
    """The person commits between the question and the answer: nothing is merged by that answer."""
    shown = await bench.proposed(EDIT)
    bench.commit({"b.py": "x = 7\n"})
    with pytest.raises(Changed, match="proposed again"):
        await bench.git.approve(TASK, shown.commit)
    assert bench.file("a.py") == "def f():\n    return 1\n"
    again = await bench.propose()
    await bench.git.approve(TASK, again.commit)
    assert bench.file("a.py") == "def f():\n    return 2\n"


async def test_a_rejected_branch_is_gone_and_the_work_goes_on(bench: Bench) -> None:
    """It cannot be approved any more; what the task does then is proposed anew."""
    shown = await bench.proposed(EDIT)
    assert not await bench.git.reject(TASK)
    assert bench.git.proposal(TASK).state == "rejected"
    assert git(bench.project, "branch", "--format=%(refname:short)") == "main"
    with pytest.raises(Changed, match="rejected already"):
        await bench.git.approve(TASK, shown.commit)
    await bench.does("echo more >> fresh.txt")
    await bench.git.approve(TASK, (await bench.propose()).commit)
    assert bench.file("fresh.txt") == "new\nmore\n"


async def test_a_branch_that_somebody_is_on_stays_and_is_not_said_to_be_gone(bench: Bench) -> None:
    """Whoever looks at the work in their own folder keeps it there; deleted by hand it is gone."""
    await bench.begin()
    await bench.does(EDIT)
    branch = (await bench.propose()).branch
    git(bench.project, "switch", "-q", branch)
    assert "checked out" in await bench.git.reject(TASK)
    git(bench.project, "switch", "-q", "main")
    git(bench.project, "branch", "-q", "-D", branch)
    assert not await bench.git.reject(TASK)


@pytest.mark.parametrize(
    ("gone", "why"),
    [
        ("project", "There is no folder"),
        ("project/.git", "is no git repository"),
        ("home/repositories/project.toml", "No repository 'project' is registered"),
    ],
)
async def test_a_no_needs_no_repository(bench: Bench, gone: str, why: str) -> None:
    """One that is gone is what a yes says is missing; a no stands, and says that a branch may stay."""
    shown = await bench.proposed(EDIT)
    (bench.place / gone).rename(bench.place / "elsewhere")
    with pytest.raises((RepositoryError, Unknown), match=why):
        await bench.git.approve(TASK, shown.commit)
    assert why in await bench.git.reject(TASK)
    assert bench.git.proposal(TASK).state == "rejected"


async def test_a_folder_that_was_deleted_by_hand_holds_no_branch(bench: Bench) -> None:
    """Whoever looked at the work in a worktree and threw that away: it is proposed anew, merged."""
    await bench.begin()
    await bench.does(EDIT)
    branch = (await bench.propose()).branch
    for place, what in (("look", branch), ("old", "main")):
        git(bench.project, "switch", "-q", "--detach")
        git(bench.project, "worktree", "add", "-q", f"../{place}", what)
        shutil.rmtree(bench.place / place)
    await bench.does("echo more >> fresh.txt")
    shown = await bench.propose()
    await bench.git.approve(TASK, shown.commit)
    assert git(bench.project, "rev-parse", "main") == shown.commit
    assert not git(bench.project, "branch", "--list", branch)


async def test_a_merge_that_another_program_made_in_that_moment_can_be_taken_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where that one died before it had written so."""
    shown = await bench.proposed(EDIT)
    advance = PersonRepository.advance

    async def twice(self: PersonRepository, branch: str, commit: str, before: str) -> Path | None:
        await advance(self, branch, commit, before)
        return await advance(self, branch, commit, before)

    monkeypatch.setattr(PersonRepository, "advance", twice)
    assert (await bench.git.approve(TASK, shown.commit)).again
    monkeypatch.undo()
    await bench.git.take_back(TASK)
    assert bench.file("a.py") == FILES["a.py"]


async def test_a_merge_is_taken_back_by_a_commit(bench: Bench) -> None:
    """What came after it stays, and so do open edits; where later work builds on it, it is said."""
    shown = await bench.proposed(EDIT)
    await bench.git.approve(TASK, shown.commit)
    bench.commit({"c.py": "later\n"})
    (bench.project / "b.py").write_text("x = 2  # mine\n")
    back = await bench.git.take_back(TASK)
    assert git(bench.project, "rev-parse", "main") == back.commit
    assert bench.file("a.py") == "def f():\n    return 1\n"
    assert not (bench.project / "fresh.txt").exists()
    assert git(bench.project, "status", "--porcelain") == " M b.py"
    assert bench.file("c.py") == "later\n"
    assert git(bench.project, "log", "-1", "--format=%s").startswith("Take back: ")
    with pytest.raises(Changed, match="not merged"):
        await bench.git.take_back(TASK)


async def test_a_merge_that_later_work_builds_on_is_not_taken_back(bench: Bench) -> None:
    """Nothing is touched, and it is said by which files, and what does it by hand."""
    await bench.begin()
    await bench.does(EDIT)
    await bench.git.approve(TASK, (await bench.propose()).commit)
    bench.commit({"a.py": "def f():\n    return 22\n"})
    head = git(bench.project, "rev-parse", "main")
    with pytest.raises(RepositoryError, match=r"same places in a\.py"):
        await bench.git.take_back(TASK)
    assert git(bench.project, "rev-parse", "main") == head


async def test_two_who_approve_at_once_merge_once(bench: Bench) -> None:
    """Whoever comes second is told that it was done; there is never a second merge."""
    shown = await bench.proposed(EDIT)
    ended = await asyncio.gather(
        *(bench.git.approve(TASK, shown.commit) for _ in range(4)), return_exceptions=True
    )
    assert sorted(each.again for each in ended if isinstance(each, MergeResult)) == [
        False,
        *[True] * 3,
    ]
    assert (await bench.git.approve(TASK, shown.commit)).again
    assert git(bench.project, "rev-parse", "main") == shown.commit
    assert git(bench.project, "status", "--porcelain") == ""


async def test_an_approval_that_died_half_way_is_finished_by_the_next(bench: Bench) -> None:
    """The files had come along already, the branch had not."""
    shown = await bench.proposed(EDIT)
    git(bench.project, "read-tree", "-m", "-u", shown.before, shown.commit)
    merged = await bench.git.approve(TASK, shown.commit)
    assert not merged.again
    assert git(bench.project, "rev-parse", "main") == shown.commit
    assert git(bench.project, "status", "--porcelain") == ""


async def test_an_approval_that_was_killed_amid_writing_is_finished_by_the_next(
    bench: Bench,
) -> None:
    """The lock that git left is the person's to delete; the files it wrote are no work of theirs."""
    bench.commit({".gitattributes": "*.z filter=dies\n", "gone.py": "x\n"})
    shown = await bench.proposed(f"{EDIT} && rm gone.py && echo 1 > last.z")
    (bench.project / "b.py").write_text("x = 2  # mine\n")
    kill = "kill -9 $(awk '{print $4}' /proc/$PPID/stat) $PPID"
    git(bench.project, "config", "filter.dies.smudge", kill)
    assert advanced_apart(bench, shown.commit, shown.before) == -9
    git(bench.project, "config", "filter.dies.smudge", "cat")
    with pytest.raises(RepositoryError, match=r"left its index\.lock; delete it then"):
        await bench.git.approve(TASK, shown.commit)
    (bench.project / ".git/index.lock").unlink()
    assert " M a.py" in git(bench.project, "status", "--porcelain")
    assert not (await bench.git.approve(TASK, shown.commit)).again
    assert git(bench.project, "status", "--porcelain") == " M b.py"
    assert (bench.project / "last.z").read_text() == "1\n"
    assert not (bench.project / ".git/loopforge-advance").exists()


async def test_an_approval_that_fails_half_way_leaves_the_folder_as_it_was(bench: Bench) -> None:
    """What git wrote before it failed is not taken for work of the person, and a yes later does it."""
    filters = {".gitattributes": "*.z filter=missing\n", "gone.py": "x\n"}
    bench.commit(filters)
    shown = await bench.proposed(
        f"{EDIT} && rm gone.py && ln -s a.py link && mkdir sub && echo 1 > sub/last.z"
    )
    (bench.project / "b.py").write_text("x = 2  # mine\n")
    git(bench.project, "config", "filter.missing.required", "true")
    git(bench.project, "config", "filter.missing.smudge", "false")
    with pytest.raises(RepositoryError, match=r"filter missing failed.* Nothing was changed\.$"):
        await bench.git.approve(TASK, shown.commit)
    assert git(bench.project, "status", "--porcelain") == " M b.py"
    assert git(bench.project, "rev-parse", "main") == shown.before
    git(bench.project, "config", "filter.missing.smudge", "cat")
    git(bench.project, "config", "filter.missing.clean", "cat")
    await bench.git.approve(TASK, shown.commit)
    assert git(bench.project, "status", "--porcelain") == " M b.py"
    assert (bench.project / "sub/last.z").read_text() == "1\n"


async def test_a_merge_that_could_not_be_noted_is_not_rejected(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk what is in the target is not said to be refused, and a yes ends it."""
    await bench.begin()
    await bench.does(EDIT)
    shown = await bench.propose()

    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk:
        disk.setattr(task_repositories, "replace_whole", full)
        with pytest.raises(RepositoryError, match="cannot be noted: No space left"):
            await bench.git.approve(TASK, shown.commit)
    with pytest.raises(Changed, match="merged already"):
        await bench.git.reject(TASK)
    assert (await bench.git.approve(TASK, shown.commit)).again
    assert bench.git.proposal(TASK).state == "merged"


async def test_a_folder_in_the_middle_of_something_is_left_alone(bench: Bench) -> None:
    """A merge of the person's that is not done, or another git that has the index."""
    shown = await bench.proposed(EDIT)
    (bench.project / ".git/index.lock").touch()
    with pytest.raises(RepositoryError, match=r"in the middle of a command of git.*index\.lock"):
        await bench.git.approve(TASK, shown.commit)
    (bench.project / ".git/index.lock").unlink()
    git(bench.project, "switch", "-qc", "other")
    bench.commit({"b.py": "x = 5\n"})
    git(bench.project, "switch", "-q", "main")
    bench.commit({"b.py": "x = 6\n"})
    shown = await bench.propose()
    git(bench.project, "merge", "-q", "other", ok=False)
    with pytest.raises(RepositoryError, match="in the middle of a merge"):
        await bench.git.approve(TASK, shown.commit)
    assert git(bench.project, "rev-parse", "main") == shown.before


async def test_a_target_that_nobody_has_checked_out_is_moved_alone(bench: Bench) -> None:
    """On another branch the person's folder stays as it is; in one more folder it comes along."""
    await bench.begin()
    await bench.does(EDIT)
    git(bench.project, "switch", "-qc", "mine")
    shown = await bench.propose()
    assert (await bench.git.approve(TASK, shown.commit)).checkout == ""
    assert bench.file("a.py") == "def f():\n    return 1\n"
    assert git(bench.project, "status", "--porcelain") == ""
    second = bench.place / "second"
    git(bench.project, "worktree", "add", "-q", str(second), "main")
    assert (await bench.git.take_back(TASK)).checkout == str(second)
    assert (second / "a.py").read_text() == "def f():\n    return 1\n"


async def test_a_branch_that_a_person_moved_is_not_overwritten(bench: Bench) -> None:
    """Their commit on the task's branch stays."""
    shown = await bench.proposed(EDIT)
    git(bench.project, "branch", "-f", shown.branch, "main")
    await bench.does("echo more >> fresh.txt")
    with pytest.raises(Changed, match="Somebody else moved"):
        await bench.propose()
    assert git(bench.project, "rev-parse", shown.branch) == shown.before


async def test_a_branch_in_the_way_is_named(bench: Bench) -> None:
    """git holds no branch beside one that is named as its folder; renamed, the work is offered."""
    await bench.begin()
    await bench.does(EDIT)
    git(bench.project, "branch", "task")
    with pytest.raises(Changed, match="`git branch -m task another`"):
        await bench.propose()
    git(bench.project, "branch", "-m", "task", "another")
    assert (await bench.propose()).branch.startswith("task/")


async def test_a_task_that_is_forgotten_leaves_no_branch_and_no_shelf(bench: Bench) -> None:
    """What was merged stays; another task's branch does."""
    await bench.begin()
    await bench.does(EDIT)
    await bench.propose()
    await bench.task.checkpoint()
    await bench.git.forget(TASK)
    await bench.git.forget(TASK)
    assert not bench.workspaces.of(TASK).files.listing()
    assert list(await bench.archive.tasks()) == []
    assert git(bench.project, "branch", "--format=%(refname:short)") == "main"
    assert list((bench.home / "data" / "work").iterdir()) == []
    with pytest.raises(Unknown):
        bench.git.branch(TASK)


async def test_a_clone_that_broke_off_is_made_again_and_a_whole_one_is_not(bench: Bench) -> None:
    """What the task did in it stays, whoever begins again."""
    await bench.begin()
    await bench.does(EDIT)
    await bench.begin()
    assert "return 2" in await bench.does("cat a.py")


async def test_only_the_branch_is_given_to_a_task(bench: Bench) -> None:
    """No other branch, no stash, no configuration, nothing that is not committed."""
    git(bench.project, "config", "remote.origin.url", "https://me:hunter2secret@example.org/x")
    (bench.project / ".env").write_text("KEY=hunter2secret\n")
    (bench.project / "b.py").write_text("hunter2secret\n")
    git(bench.project, "stash", "-q")
    git(bench.project, "switch", "-qc", "private")
    bench.commit({"p.txt": "hunter2secret\n"})
    git(bench.project, "switch", "-q", "main")
    await bench.begin()
    found = await bench.task.run(
        "grep -rl hunter2 . ; cd repo; git cat-file --batch-all-objects --batch | grep -c hunter2"
    )
    assert found.output == b"0\n"


async def test_what_no_task_can_work_on_is_not_registered(bench: Bench) -> None:
    """It is said why, for each."""
    register, project = bench.git.registered.register, bench.project
    with pytest.raises(InputError, match="no folder"):
        await register(bench.place / "gone")
    with pytest.raises(InputError, match="not the top folder"):
        await register(project / "docs")
    with pytest.raises(InputError, match="no branch 'gone'"):
        await register(project, branch="gone")
    for odd in ("-x", "../x", "a b"):
        with pytest.raises((InputError, RepositoryError)):
            await register(project, branch=odd)
        with pytest.raises(InputError, match="no name"):
            await register(project, name=odd)
    git(project, "switch", "-q", "--detach")
    with pytest.raises(InputError, match="no branch checked out"):
        await register(project)
    git(project, "switch", "-q", "main")
    git(bench.place, "clone", "-q", "--depth=1", project.as_uri(), "shallow")
    with pytest.raises(InputError, match="unshallow"):
        await register(bench.place / "shallow")
    made = await register(project, "mine")
    assert await register(project, "mine") == made
    assert bench.git.registered.find(str(project)) == bench.git.registered.find("mine") == made
    git(project, "branch", "other")
    with pytest.raises(InputError, match="or rename this folder"):
        await register(project, "mine", "other")
    bench.git.registered.remove("mine")
    assert bench.git.registered.known() == ()


async def test_a_folder_with_any_name_is_registered(bench: Bench) -> None:
    """As far as a file can hold it; one whose file is broken says so, and the others are found."""
    registered, project = bench.git.registered, bench.project
    baked = bench.place / "🍞 and 👩‍🚀"
    git(bench.place, "clone", "-q", project.as_uri(), str(baked))
    made = await registered.register(baked, "bread")
    assert registered.find("bread") == made
    assert made.path == str(baked)
    git(bench.place, "clone", "-q", project.as_uri(), "odd\x7f")
    with pytest.raises(InputError, match="has signs that no file of settings holds"):
        await registered.register(bench.place / "odd\x7f", "odd")
    broken = bench.git.registered._folder / "broken.toml"
    broken.write_text("path = 1")
    assert registered.find("bread") == made
    with pytest.raises(BadSettings, match=r"broken\.toml cannot be read.*mend it, or delete it"):
        registered.find("broken")


async def test_a_push_goes_to_a_remote_of_the_person_alone(bench: Bench) -> None:
    """Of what was proposed, by name; no hook runs, and nothing is forced."""
    git(bench.place, "init", "-q", "--bare", "-b", "main", "server.git")
    git(bench.project, "remote", "add", "origin", str(bench.place / "server.git"))
    (bench.project / ".git/hooks/pre-push").write_text("#!/bin/sh\nexit 1\n")
    (bench.project / ".git/hooks/pre-push").chmod(0o755)
    shown = await bench.proposed(EDIT)
    for odd in ("elsewhere", "--upload-pack=x", str(bench.place / "server.git"), ""):
        with pytest.raises(RepositoryError, match="no remote"):
            await bench.git.push(TASK, odd, "branch", {})
    with pytest.raises(InputError):
        await bench.git.push(TASK, "origin", "target", {})
    await bench.git.push(TASK, "origin", "branch", {})
    server = bench.place / "server.git"
    assert git(server, "for-each-ref", "--format=%(objectname) %(refname)") == (
        f"{shown.tip} refs/heads/{shown.branch}"
    )
    await bench.git.approve(TASK, shown.commit)
    assert "branch main" in await bench.git.push(TASK, "origin", "target", {})
    assert git(server, "rev-parse", "main") == shown.commit


async def test_a_history_that_holds_a_key_of_the_home_is_given_to_nobody(bench: Bench) -> None:
    """Though it was taken out again since; nothing is left of the try."""
    bench.commit({"key.txt": "zinc-harbour-4711\n"})
    git(bench.project, "rm", "-q", "key.txt")
    git(bench.project, "commit", "-qm", "gone")
    bench.secrets.add("zinc-harbour-4711")
    with pytest.raises(RepositoryError, match="key or password of this home in its history"):
        await bench.begin()
    assert list((bench.home / "data" / "work").iterdir()) == []
    assert not (bench.task.place / "repo").exists()
    bench.secrets.clear()
    await bench.begin()
    assert "start" in await bench.does("git log --format=%s")


async def test_a_proposal_whose_record_was_lost_in_a_crash_is_made_again(bench: Bench) -> None:
    """Its branch was there already, and is known for Loopforge's own."""
    await bench.begin()
    record = next((bench.home / "data" / "work").glob("*/repository.json"))
    before = record.read_bytes()
    await bench.does(EDIT)
    lost = await bench.propose()
    record.write_bytes(before)
    shown = await bench.propose("Fix it, once more")
    assert shown.tip != lost.tip
    assert git(bench.project, "rev-parse", shown.branch) == shown.tip
    await bench.another().approve(TASK, shown.commit)
    assert git(bench.project, "rev-parse", "main") == shown.commit


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another")
async def test_a_repository_of_another_user_is_left_alone(bench: Bench) -> None:
    """Git would go by a configuration that somebody else wrote."""
    for path in (bench.project, *bench.project.rglob("*")):
        os.chown(path, 65_533, 65_533, follow_symlinks=False)
    with pytest.raises(RepositoryError, match="belongs to another user"):
        await bench.git.registered.register(bench.project)
