"""Whose workspace a use of a tool has: that of one mate in one room, for the people it answers.

What is made there for Ana is shown to nobody else. They are scratch: whenever anything is forgotten
in the home, all of them go, for a copy of it may lie there. Workspaces of tasks, which bear other
names, lie beside them and stay. Does not know what runs in them.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import ToolCall
from loopforge.tools.sandbox.bubblewrap import make_workspace
from loopforge.tools.sandbox.workspace_files import WorkspaceFiles

FOLDER = "workspaces"
"""Where they lie in a home."""
_SCRATCH = re.compile(r"[0-9a-f]{24}|mcp-.+")
"""What is named as a use's own is, or as an MCP server's."""


def workspace_name(call: ToolCall) -> str:
    """The same for all uses by this mate in this room for these people."""
    whose = json.dumps([call.stream, call.mate, sorted(call.people)])
    return hashlib.sha256(whose.encode()).hexdigest()[:24]


def workspace_in(home: Path, name: str) -> Path:
    """The workspace of this name in a home; made if it is not there."""
    places = home / FOLDER
    places.mkdir(mode=0o711, exist_ok=True)
    return make_workspace(places / name)


def forget_workspaces(home: Path) -> None:
    """Let go of all scratch of a home. Raises InputError for what cannot be removed."""
    places = home / FOLDER
    for place in sorted(places.iterdir()) if places.is_dir() else ():
        if _SCRATCH.fullmatch(place.name):
            WorkspaceFiles(place).remove()


def forget_workspaces_later(
    home: Path, tasks: BackgroundTasks, end: Callable[[], Awaitable[None]]
) -> None:
    """The same, without anybody waiting for it; `end` ends what would go on in them."""

    async def go() -> None:
        await end()
        await asyncio.to_thread(forget_workspaces, home)

    tasks.spawn(go(), "workspaces are let go")
