"""`shell`: a command in the sandbox, in a workspace that stays between uses.

    files by handle -> in/ -> the command -> exit code, output, and what files it made or changed

Whose workspace it is, and when it goes, tells tools/sandbox/call_workspace.py. Asks first; what
programs may do is tools/sandbox/'s to say.
"""

import asyncio
from dataclasses import dataclass

from loopforge.errors import InputError
from loopforge.runtime.plugins.setting_declarations import SettingsPart, setting
from loopforge.runtime.ports import (
    Tool,
    ToolCall,
    ToolFile,
    ToolHome,
    ToolResult,
    arguments_schema,
    tool_work,
)
from loopforge.tools.sandbox.bubblewrap import Sandbox
from loopforge.tools.sandbox.call_workspace import workspace_in, workspace_name
from loopforge.tools.sandbox.confined_process import ProcessEnded, run_confined
from loopforge.tools.sandbox.sandbox_limits import (
    MIB,
    SandboxLimits,
    exceeded_limit_text,
    narrow_limits,
)
from loopforge.tools.sandbox.workspace_files import (
    WorkspaceEntry,
    WorkspaceFiles,
    deduplicate_names,
)

MOST_GIVEN, LARGEST_GIVEN = 8, 5_000_000
"""Files that come back from one use, and bytes of one."""
LISTED = 200
"""Files of a workspace that are looked at."""
LONGEST = 4000
"""Characters of a command; what is longer nobody who is asked would read."""
LIMIT = 900.0
"""Seconds that a use may be set to take."""

SHELL = Tool(
    name="shell",
    summary="Runs a bash command (python3 is there) in a workspace of its own without network.",
    schema=arguments_schema(
        ["command"],
        command={"type": "string", "minLength": 1, "maxLength": LONGEST},
        files={
            "type": "array",
            "items": {"type": "string"},
            "maxItems": MOST_GIVEN,
            "description": "handles or names of files, put into in/ first",
        },
    ),
    asks=True,
    limit=LIMIT + 30,
)


@dataclass(frozen=True, kw_only=True)
class ShellSettings:
    """What can be set of the tool `shell`."""

    seconds: int = setting(60, "Seconds that a command may take.", least=1, most=LIMIT, live=True)
    memory: int = setting(
        512, "MiB that all programs of a command may use.", least=16, most=65_536, live=True
    )
    disk: int = setting(256, "MiB that a workspace may hold.", least=1, most=65_536, live=True)


PART = SettingsPart("Commands in the sandbox", ShellSettings)


@tool_work(SHELL)
async def shell(home: ToolHome, call: ToolCall) -> ToolResult:
    """What a command gives, and the files that it made."""
    chosen = home.settings.of("shell", ShellSettings)
    most = SandboxLimits(
        seconds=float(chosen.seconds), memory=chosen.memory * MIB, disk=chosen.disk * MIB
    )
    at = home.settings.home
    wanted = [str(each) for each in call.arguments.get("files") or ()]
    given = [await home.files.data(call, each) for each in wanted]
    place = await asyncio.to_thread(workspace_in, at, workspace_name(call))
    files = WorkspaceFiles(place)
    put = await asyncio.to_thread(_put, files, given)
    before = await asyncio.to_thread(files.listing, LISTED)
    command = ("bash", "-c", str(call.arguments["command"]))
    limits, writable = narrow_limits(most, call.sandbox), call.sandbox.writable
    sandbox = Sandbox(place, limits=limits, writable=writable)
    ended = await run_confined(sandbox, command)
    made, told = await asyncio.to_thread(_made, files, before)
    return ToolResult(
        text="\n".join([*put, *command_result_lines(ended, limits), *told]), files=made
    )


def _put(files: WorkspaceFiles, given: list[ToolFile]) -> list[str]:
    paths = [f"in/{name}" for name in deduplicate_names([_named(file.name) for file in given])]
    for path, file in zip(paths, given, strict=True):
        files.write(path, file.data)
    return [f"[{path} is there]" for path in paths]


def _named(name: str) -> str:
    """A name that a file can have in a folder."""
    plain = name.replace("/", "_").replace("\0", "_")
    return plain if plain not in ("", ".", "..") else "file"


def command_result_lines(ended: ProcessEnded, limits: SandboxLimits) -> list[str]:
    """What is said of how a command ended, and what it wrote."""
    output = ended.output.decode("utf-8", "replace").rstrip()
    how = f"[exit code {ended.code}, {ended.seconds:.1f} s]"
    if ended.met:
        how = f"[it was ended: more than {exceeded_limit_text(limits, ended.met)}]"
    return [how, *([output] if output else [])]


def _made(
    files: WorkspaceFiles, before: list[WorkspaceEntry]
) -> tuple[tuple[ToolFile, ...], list[str]]:
    """What files the command made or changed, and what is to be said of them."""
    known = set(before)
    changed = [
        each
        for each in files.listing(LISTED)
        if each not in known and each.kind == "file" and each.size
    ]
    made, told = list[ToolFile](), list[str]()
    for each in changed:
        if len(made) < MOST_GIVEN and each.size <= LARGEST_GIVEN:
            try:
                made.append(ToolFile(name=each.shown, data=files.read(each.path, LARGEST_GIVEN)))
            except InputError as error:
                told.append(f"[{error}]")
        else:
            told.append(f"[{each.shown}, {each.size:,} bytes, is in the workspace alone]")
    return tuple(made), told
