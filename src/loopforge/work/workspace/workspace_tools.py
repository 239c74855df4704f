"""Tools of a task's workspace: list, read, search, write, edit, run.

The workspace is that of the stream in which a tool is used: where no task is, there is none, and
the tool says so. Nothing here reaches out of it; commands, searches and patches run in the sandbox.
What they give is a stranger's text, and marked so, as that of every tool that is not `trusted`.
"""

import asyncio
import re
import shlex
from contextlib import suppress
from functools import cache

from msgspec.structs import replace

from loopforge.core.text.document_kinds import DOCUMENTS
from loopforge.core.text.spoken_lists import pluralize
from loopforge.core.work.command_results import with_changes
from loopforge.errors import InputError
from loopforge.runtime.ports import (
    Tool,
    ToolCall,
    ToolFile,
    ToolHome,
    ToolResult,
    arguments_schema,
    tool_work,
)
from loopforge.tools.sandbox.workspace_files import WorkspaceEntry
from loopforge.tools.shell import command_result_lines
from loopforge.work.workspace.task_workspace import GIT, TaskWorkspace
from loopforge.work.workspace.text_edits import (
    LARGEST,
    ends_as_windows,
    replace_words,
    set_patch_right,
    text_lines,
)
from loopforge.work.workspace.workspace_settings import LONGEST_RUN, workspaces_of

LISTED, LOOKED_AT = 150, 20_000
"""Paths that are told, and paths that are looked at."""
PART = 3_400
"""Signs of a file that are told at once."""
HEAD, TAIL = 900, 2_400
"""Signs of the beginning and the end of an output that are told; the whole is kept as a file."""
FOUND = 60
"""Places that a search tells."""
DOCUMENT = {kind.ending: media for media, kind in DOCUMENTS.items()}
"""The media types of documents, by how their names end."""
CLONE = "repo"
CLONED = re.compile(rf"(?<![\w./-]){CLONE}(?![\w.-])")
"""How a command names the clone, as the other tools do."""
BEGAN = f"(It began in {CLONE}/, the clone: what the other tools call {CLONE}/a.py is a.py there.)"
ENDS = r" Its lines end in \r\n, as they did before."
BESIDE = f" It lies beside the clone: only what is in {CLONE}/ is offered to be merged."
MADE_BY_TOOLS = frozenset(
    {GIT, "__pycache__", "node_modules", ".venv", "venv", ".tox", ".nox", ".npm", ".cache"}
    | {".local", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"}
)
"""Folders in which programs keep what is nobody's work."""
PATH = {"type": "string", "minLength": 1, "description": "from the workspace on, like repo/a.py"}


WORK_LIST = Tool(
    name="work_list",
    summary="Lists files of this task's workspace: in/ holds what people gave, repo/ the clone.",
    schema=arguments_schema(
        [], path={"type": "string", "description": "a folder; all, if none is named"}
    ),
    idempotent=True,
    reads=True,
)
WORK_READ = Tool(
    name="work_read",
    summary="Reads a text file of this task's workspace, or what a PDF or office document says, "
    "from a line on.",
    schema=arguments_schema(["path"], path=PATH, line={"type": "integer", "minimum": 1}),
    idempotent=True,
    reads=True,
    patience=15.0,
    limit=60.0,
)
WORK_SEARCH = Tool(
    name="work_search",
    summary="Finds lines in files of this task's workspace, by a pattern (grep -E).",
    schema=arguments_schema(
        ["pattern"],
        pattern={"type": "string", "minLength": 1, "maxLength": 500},
        path={"type": "string", "description": "a file or folder; all, if none is named"},
        words={"type": "boolean", "description": "take the pattern as plain words"},
    ),
    idempotent=True,
    reads=True,
    patience=20.0,
    limit=60.0,
)
WORK_WRITE = Tool(
    name="work_write",
    summary="Writes a whole file in this task's workspace; what stood there is replaced.",
    schema=arguments_schema(["path", "text"], path=PATH, text={"type": "string"}),
    idempotent=True,
)
WORK_EDIT = Tool(
    name="work_edit",
    summary="Edits a file in this task's workspace: `old` stands there once, exactly so, and "
    "becomes `new`. Or applies a unified `patch` in the folder `path`.",
    schema=arguments_schema(
        [],
        path={**PATH, "description": "the file; of a patch the folder that it begins from"},
        old={"type": "string"},
        new={"type": "string"},
        everywhere={"type": "boolean", "description": "replace all places, not just one"},
        patch={"type": "string"},
    ),
    patience=20.0,
    limit=60.0,
)
WORK_RUN = Tool(
    name="work_run",
    summary="Runs a bash command in this task's workspace, confined, without network; what it "
    "leaves running ends with it.",
    schema=arguments_schema(
        ["command"],
        command={"type": "string", "minLength": 1, "maxLength": 20_000},
        folder={"type": "string", "description": "where it begins; the clone, if there is one"},
        seconds={"type": "integer", "minimum": 1, "maximum": int(LONGEST_RUN)},
    ),
    patience=30.0,
    limit=LONGEST_RUN + 30,
)


async def place_of(home: ToolHome, call: ToolCall) -> TaskWorkspace:
    """The workspace in which a tool is used. Raises Unknown where there is none."""
    known = workspaces_of(home.settings, home.clock).known
    return (await asyncio.to_thread(known, call.stream)).confined(call.sandbox)


@tool_work(WORK_LIST)
async def work_list(home: ToolHome, call: ToolCall) -> str:
    """Which files there are."""
    place = await place_of(home, call)
    found = await asyncio.to_thread(place.files.listing, LOOKED_AT)
    under = await _meant_path(place, call.arguments.get("path"))
    rows = [
        _row_of(each)
        for each in found
        if each.kind != "folder"
        and GIT not in each.path.split("/")
        and (not under or each.path == under or each.path.startswith(f"{under}/"))
    ]
    more = len(rows) - LISTED
    told = rows[:LISTED] + [f"and {more:,} more; name a folder"] * (more > 0)
    return "\n".join(told) or f"There are no files in {under or 'the workspace'}."


def _row_of(entry: WorkspaceEntry) -> str:
    return (
        f"{entry.shown} ({entry.size:,} bytes)"
        if entry.kind == "file"
        else f"{entry.shown} (a {entry.kind})"
    )


@tool_work(WORK_READ)
async def work_read(home: ToolHome, call: ToolCall) -> str:
    """What stands in a file."""
    place = await place_of(home, call)
    path = await _meant_path(place, call.arguments["path"])
    if media := DOCUMENT.get(path.rpartition(".")[2].lower()):
        text = await home.files.extract(replace(await place.file(path), media=media))
    else:
        text = await asyncio.to_thread(_text_of, place, path)
    return lines_from(path, text, int(call.arguments.get("line") or 1))


def lines_from(path: str, text: str, first: int) -> str:
    """Lines of a text from this one on, as many as are told at once, and where they stand."""
    lines = text_lines(text)
    if not lines:
        return f"{path} is empty."
    if first > len(lines):
        raise InputError(f"{path} has only {len(lines):,} lines")
    last, size = first - 1, 0
    while last < len(lines) and (size + len(lines[last]) <= PART or last == first - 1):
        size += len(lines[last])
        last += 1
    shown = "".join(lines[first - 1 : last])
    cut = " (a long line, cut)" if len(shown) > PART else ""
    onward = f"; it goes on from line {last + 1}" if last < len(lines) else ", its end"
    head = f"{path}, lines {first:,} to {last:,} of {len(lines):,}{onward}{cut}:"
    return f"{head}\n{shown[:PART]}"


def _text_of(place: TaskWorkspace, path: str) -> str:
    entry = place.files.entry(path)
    if entry.kind != "file":
        raise InputError(f"{path} is a {entry.kind}")
    if entry.size > LARGEST:
        raise InputError(f"{path} has {entry.size:,} bytes; look into it by work_run")
    data = place.files.read(path, LARGEST)
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InputError(f"{path} is no text in UTF-8") from None


@tool_work(WORK_SEARCH)
async def work_search(home: ToolHome, call: ToolCall) -> str:
    """Where something stands."""
    place = await place_of(home, call)
    given = call.arguments
    under = await _meant_path(place, given.get("path")) or "."
    how = "F" if given.get("words") else "E"
    line = (
        f"grep -rnI{how} --exclude-dir=.git -m {FOUND} -e {shlex.quote(given['pattern'])} "
        f"-- {shlex.quote(under)} 2>&1 | cut -c 1-300 | head -n {FOUND + 1}"
    )
    ended = await place.run(line, seconds=50)
    if ended.met:
        raise InputError(f"it took too much {ended.met}; look in one folder of it")
    rows = ended.output.decode("utf-8", "replace").splitlines()
    more = ["[there are more; search in one folder]"] * (len(rows) > FOUND)
    found = [row.removeprefix("./") for row in rows[:FOUND]]
    return "\n".join([*found, *more]) or "That stands in no file there."


@tool_work(WORK_WRITE)
async def work_write(home: ToolHome, call: ToolCall) -> str:
    """A file written whole."""
    place, text = await place_of(home, call), str(call.arguments["text"])
    path = await _meant_path(place, call.arguments["path"])
    ends = await asyncio.to_thread(_put_file, place, path, text)
    lines = pluralize(len(text_lines(text)), "line")
    clone = await asyncio.to_thread(clone_in, place)
    beside = BESIDE if clone and not f"{path}/".startswith(f"{clone}/") else ""
    return f"{path} is written: {lines}.{ends}{beside}"


def _put_file(place: TaskWorkspace, path: str, text: str) -> str:
    """Write it; what could be run still can. What is told of line ends, which stay, too."""
    runs, before = False, b""
    with suppress(InputError):
        runs = place.files.entry(path).executable
        before = place.files.read(path, LARGEST)
    keeps = ends_as_windows(before.decode("latin-1")) and "\r" not in text
    text = text.replace("\n", "\r\n") if keeps else text
    place.files.write(path, text.encode(), LARGEST, executable=runs)
    return ENDS if keeps else ""


@tool_work(WORK_EDIT)
async def work_edit(home: ToolHome, call: ToolCall) -> str:
    """An exact edit, or a patch."""
    place, given = await place_of(home, call), call.arguments
    path = await _meant_path(place, given.get("path"))
    if patch := str(given.get("patch") or ""):
        return await _apply_patch(place, path, patch)
    if not path or "old" not in given or "new" not in given:
        raise InputError("give path, old and new; or a patch")
    return await asyncio.to_thread(_edit_file, place, path, given)


def _edit_file(place: TaskWorkspace, path: str, given: dict[str, object]) -> str:
    text, every = _text_of(place, path), bool(given.get("everywhere"))
    _put_file(
        place, path, replace_words(text, str(given["old"]), str(given["new"]), everywhere=every)
    )
    places = text.count(str(given["old"])) if every else 1
    return f"{path} is edited in {places:,} place{'s' * (places != 1)}."


async def _apply_patch(place: TaskWorkspace, folder: str, patch: str) -> str:
    """Let git apply it, in the sandbox: it follows no link, and takes all of it or nothing."""
    where = folder or await asyncio.to_thread(clone_in, place) or "."
    line = (
        f"cd -- {shlex.quote(where)} && "
        "git -c core.hooksPath=/dev/null apply --whitespace=nowarn --verbose -"
    )

    @cache
    def text_of(path: str) -> str:
        inner, data = _inner_path(f"{where}/{path}"), b""
        with suppress(InputError):
            data = place.files.read(inner, LARGEST)
        return data.decode(errors="replace")

    patch = patch if patch.endswith("\n") else f"{patch}\n"
    data = await asyncio.to_thread(set_patch_right, patch, text_of)
    ended = await place.run(line, data.encode(), seconds=50)
    said = ended.output.decode("utf-8", "replace").strip()
    if ended.code != 0:
        raise InputError(f"the patch does not fit, and nothing was changed: {said[-1500:]}")
    return f"The patch is applied.\n{said[-1500:]}"


def clone_in(place: TaskWorkspace) -> str:
    """The folder of the clone; "" where there is none."""
    try:
        return CLONE if place.files.entry(CLONE).kind == "folder" else ""
    except InputError:
        return ""


@tool_work(WORK_RUN)
async def work_run(home: ToolHome, call: ToolCall) -> ToolResult:
    """A command."""
    place, given = await place_of(home, call), call.arguments
    where = await _meant_path(place, given.get("folder")) or await asyncio.to_thread(
        clone_in, place
    )
    line = f"cd -- {shlex.quote(where or '.')} || exit 1\n{given['command']}"
    before = await asyncio.to_thread(_entries_in, place)
    ended = await place.run(line, seconds=given.get("seconds"))
    after = await asyncio.to_thread(_entries_in, place)
    how, *output = command_result_lines(ended, place.limits)
    changed = _changed_files(before, after)
    into = any(path.startswith(f"{CLONE}/{CLONE}/") for path in changed)
    failed = ended.code != 0 and CLONED.search(str(given["command"])) is not None
    hint = [BEGAN] if where == CLONE and (into or failed) else []
    return truncate_output("\n".join([with_changes(how, changed), *hint, *output]))


def _entries_in(place: TaskWorkspace) -> list[WorkspaceEntry]:
    """What lies in a workspace."""
    return place.files.listing(LOOKED_AT, MADE_BY_TOOLS)


def _changed_files(before: list[WorkspaceEntry], after: list[WorkspaceEntry]) -> list[str]:
    """The files that are new, gone or otherwise; none where too many lie there to be seen all."""
    if LOOKED_AT in (len(before), len(after)):
        return []
    other = {*before} ^ {*after}
    return sorted({each.shown for each in other if each.kind in ("file", "link")})


def truncate_output(text: str) -> ToolResult:
    """A long output by its beginning and its end, and the whole as a file."""
    if len(text) <= HEAD + TAIL:
        return ToolResult(text=text)
    left = len(text) - HEAD - TAIL
    told = f"{text[:HEAD]}\n[... {left:,} characters are in output.txt alone ...]\n{text[-TAIL:]}"
    return ToolResult(text=told, files=(ToolFile(name="output.txt", data=text.encode()),))


async def _meant_path(place: TaskWorkspace, given: object) -> str:
    """The path that is meant: from the workspace on or, where only there is such a one, the clone.

    Commands begin in the clone, and what they print names files as from there on.
    """
    return await asyncio.to_thread(_path_in_clone, place, _inner_path(str(given or "")))


def _path_in_clone(place: TaskWorkspace, path: str) -> str:
    clone = clone_in(place) if path and not _is_there(place, path) else ""
    within = f"{clone}/{path}"
    return within if clone and _is_there(place, within) else path


def _is_there(place: TaskWorkspace, path: str) -> bool:
    try:
        place.files.entry(path)
    except InputError:
        return False
    return True


def _inner_path(path: str) -> str:
    """A path as from the workspace on, of which a mind may take what it sees as /workspace."""
    plain = f"{path}/".removeprefix("/workspace/")
    while plain.startswith("./"):
        plain = plain.removeprefix("./")
    return plain.rstrip("/") if plain.strip("/") else plain[:-1]
