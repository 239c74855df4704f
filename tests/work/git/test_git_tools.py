"""Git as tools of a task, called as the registry calls them."""

import dataclasses
from datetime import UTC, datetime

import pytest

from loopforge.errors import InputError, RepositoryError, Unknown
from loopforge.runtime.ports import ToolCall, ToolResult
from loopforge.settings import load_settings
from loopforge.work.git.git_tools import work_git, work_push
from tests.tools.conftest import tool_home
from tests.work.git.conftest import TASK, Bench, git


async def use(bench: Bench, kind: object, stream: str = TASK, **given: object) -> str:
    """What a tool gives in this home."""
    plain = tool_home(datetime(2026, 5, 4, tzinfo=UTC))
    home = dataclasses.replace(plain, settings=load_settings(bench.home, environ={}))
    found = await kind.make(home)(ToolCall(arguments=given, stream=stream))  # type: ignore[attr-defined]
    return found.text if isinstance(found, ToolResult) else str(found)


async def test_a_mate_looks_commits_and_brings_its_clone_up_to_date(bench: Bench) -> None:
    """All of it in the clone; the person's repository stays as it is."""
    await bench.begin()
    await bench.does("echo 'y = 1' >> b.py")
    assert " M b.py" in await use(bench, work_git, do="status")
    assert "+y = 1" in await use(bench, work_git, do="diff")
    with pytest.raises(InputError, match="needs a message"):
        await use(bench, work_git, do="commit")
    done = await use(bench, work_git, do="commit", message="Add y'; touch WON")
    assert "## task/fix-the-parser-" in done
    assert "Add y'; touch WON" in await use(bench, work_git, do="log")
    bench.commit({"c.py": "later\n"})
    told = await use(bench, work_git, do="refresh")
    assert f"origin/main is at {git(bench.project, 'rev-parse', 'main')[:12]} now." in told
    assert await bench.does("git merge -q origin/main -m both; cat c.py; ls") == (
        "later\na.py\nb.py\nc.py\ndocs\n"
    )
    assert git(bench.project, "branch", "--format=%(refname:short)") == "main"


async def test_a_push_is_asked_of_the_owner_and_goes_where_they_configured(bench: Bench) -> None:
    """Nothing was proposed: nothing can be pushed; then what was, and only that."""
    assert (work_push.tool.asks, work_push.tool.owner, work_push.tool.trusted) == (
        True,
        True,
        False,
    )
    git(bench.place, "init", "-q", "--bare", "server.git")
    git(bench.project, "remote", "add", "origin", str(bench.place / "server.git"))
    await bench.begin()
    with pytest.raises(Unknown, match="proposed nothing"):
        await use(bench, work_push, what="branch", remote="origin")
    await bench.does("echo 'y = 1' >> b.py")
    shown = await bench.propose()
    with pytest.raises(RepositoryError, match="no remote 'upstream'; it has: origin"):
        await use(bench, work_push, what="branch", remote="upstream")
    assert await use(bench, work_push, what="branch", remote="origin") == (
        f"{shown.tip[:12]} is pushed to origin, branch {shown.branch}."
    )
    assert git(bench.place / "server.git", "rev-parse", shown.branch) == shown.tip


async def test_without_a_task_or_a_repository_there_is_nothing_to_do(bench: Bench) -> None:
    """It is said which of both is missing."""
    with pytest.raises(Unknown, match="no task"):
        await use(bench, work_git, stream="elsewhere", do="status")
    bench.workspaces.of("bare")
    with pytest.raises(Unknown, match="no repository"):
        await use(bench, work_git, stream="bare", do="status")
