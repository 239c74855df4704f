"""Git, as tools of a task: looking, committing and bringing up to date in its clone; pushing.

All but pushing is within the sandbox. A push is made from the person's own repository, of a commit
that was proposed, to a remote that they configured, and the owner is asked each time.
"""

import shlex

from loopforge.errors import InputError
from loopforge.runtime.ports import (
    Tool,
    ToolCall,
    ToolHome,
    ToolResult,
    arguments_schema,
    tool_work,
)
from loopforge.tools.shell import command_result_lines
from loopforge.work.git.task_repositories import repositories_of
from loopforge.work.workspace.workspace_tools import CLONE, place_of, truncate_output

LOOKS = {
    "status": "status --short --branch",
    "diff": "diff --no-color HEAD",
    "log": "log --no-color --stat -n 10",
    "diff_target": "diff --no-color --stat {target}...HEAD",
}
"""What can be looked at, by git's own commands."""
REFRESHED = (
    "{target} is at {head} now. `git merge {target}` in the clone brings it into your branch; "
    "resolve what both changed, then commit."
)

WORK_GIT = Tool(
    name="work_git",
    summary="Looks at or commits this task's clone; `refresh` brings the target as it is now.",
    schema=arguments_schema(
        ["do"],
        do={"type": "string", "enum": [*LOOKS, "commit", "refresh"]},
        message={"type": "string", "maxLength": 4_000, "description": "of a commit"},
    ),
    idempotent=True,
    patience=30.0,
    limit=300.0,
)
WORK_PUSH = Tool(
    name="work_push",
    summary="Pushes what this task proposed, or the target after a merge, to a remote.",
    schema=arguments_schema(
        ["what", "remote"],
        what={"type": "string", "enum": ["branch", "target"]},
        remote={"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"},
    ),
    idempotent=True,
    asks=True,
    owner=True,
    patience=30.0,
    limit=180.0,
)


@tool_work(WORK_GIT)
async def work_git(home: ToolHome, call: ToolCall) -> ToolResult:
    """The clone."""
    place, do = await place_of(home, call), str(call.arguments["do"])
    git = repositories_of(home.settings, home.clock)
    target = f"origin/{git.branch(call.stream).target}"
    if do == "refresh":
        head = await git.refresh(call.stream)
        return ToolResult(text=REFRESHED.format(target=target, head=head[:12]))
    if do == "commit":
        if not (message := str(call.arguments.get("message") or "").strip()):
            raise InputError("a commit needs a message")
        await git.commit(call.stream, message)
        do = "status"
    what = LOOKS[do].format(target=shlex.quote(target))
    ended = await place.run(f"cd {CLONE} && git --no-pager {what}", seconds=60)
    return truncate_output("\n".join(command_result_lines(ended, place.limits)))


@tool_work(WORK_PUSH)
async def work_push(home: ToolHome, call: ToolCall) -> str:
    """A push."""
    git = repositories_of(home.settings, home.clock)
    given = call.arguments
    return await git.push(call.stream, given["remote"], given["what"], home.settings.environ)
