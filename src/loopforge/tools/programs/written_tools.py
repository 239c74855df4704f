"""Tools that mates wrote and the owner approved, each with its versions, in `tools/written/`.

    write_tool: name, what for, arguments, code -> shown, with what changed -> a yes of the owner
    NAME.json: version 1, 2, 3 ... as they were approved, and whether the tool was taken back

What runs is the version that was approved: one whose file says otherwise than its digest is not
offered. A program that waits for people goes on in the version it began in. Each
use is a program (python_tool.py): its calls are judged one by one.
"""

from __future__ import annotations

import ast
import hashlib
import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from loopforge.core.egress.hidden_signs import as_visible_row
from loopforge.core.limits.line_matching import unified_diff_rows
from loopforge.errors import InputError, Unknown
from loopforge.runtime.installation.home_files import bytes_of, exclusive_access, replace_whole
from loopforge.runtime.ports import (
    Clock,
    Tool,
    ToolCall,
    ToolHome,
    ToolResult,
    ToolWork,
    arguments_schema,
)
from loopforge.runtime.ttl_cache import TtlCache
from loopforge.tools.programs.python_tool import LIMIT, run_tool_program
from loopforge.tools.programs.tool_functions import python_name

log = logging.getLogger(__name__)
FOLDER = "tools/written"
LARGEST = 64 << 20
"""Bytes of a tool with all its versions."""


class WrittenVersion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A version as it was approved: by which mate, what for, its arguments by name, and its code.

    `since` is when, by the use `effect`. `optional` names the arguments that may be left out.
    """

    number: int
    mate: str
    summary: str
    code: str
    since: datetime
    effect: str
    arguments: dict[str, Any] = {}
    optional: tuple[str, ...] = ()
    everybody: bool = False
    digest: str = ""

    @property
    def sealed(self) -> WrittenVersion:
        """With the digest of all it says."""
        plain = msgspec.structs.replace(self, digest="")
        written = msgspec.json.encode(plain, order="sorted")
        return msgspec.structs.replace(self, digest=hashlib.sha256(written).hexdigest())


class WrittenTool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool by its name, with its versions, the oldest first."""

    name: str
    versions: tuple[WrittenVersion, ...]
    taken_back: bool = False

    @property
    def last(self) -> WrittenVersion:
        """The one that is offered, unless the tool was taken back."""
        return self.versions[-1]

    @property
    def tool(self) -> Tool:
        """As a mate is told of it."""
        last = self.last
        return Tool(
            name=self.name,
            summary=f"{last.summary} (written by {last.mate}, version {last.number})",
            schema=arguments_schema(
                [name for name in last.arguments if name not in last.optional], **last.arguments
            ),
            idempotent=True,
            harmless=True,
            composes=True,
            always=True,
            mates=() if last.everybody else (last.mate,),
            patience=30.0,
            limit=LIMIT,
        )


class WrittenTools:
    """Those of one home. Another program may write there: what is said here is read anew."""

    def __init__(self, home: Path, clock: Clock | None = None) -> None:
        self._folder = home / FOLDER
        self._all = TtlCache(self._look, clock)
        self._read: dict[Path, tuple[tuple[int, int], WrittenTool | str]] = {}

    def known(self) -> Sequence[WrittenTool]:
        """All that are as they were approved, by name; those too that were taken back."""
        return [one for one in self._all.get() if isinstance(one, WrittenTool)]

    @property
    def flaws(self) -> Sequence[str]:
        """What is wrong with the others."""
        return [one for one in self._all.get() if isinstance(one, str)]

    def find(self, name: str) -> WrittenTool | None:
        """A tool by its name as its file says at this very moment, if there is one."""
        self._all.get(anew=True)
        return next((one for one in self.known() if one.name == name), None)

    def at(self, name: str, moment: datetime) -> WrittenVersion:
        """The version that was offered then. Raises InputError where there is none any more."""
        found = self.find(name)
        if found is None or found.taken_back:
            raise InputError(f"{name} was taken back by the owner of this home")
        before = [one for one in found.versions if one.since <= moment]
        return before[-1] if before else found.last

    def keep(self, name: str, version: WrittenVersion) -> WrittenVersion:
        """Offer this version from now on; its number is found here. Once for each `effect`.

        Raises InputError where its file was changed: the versions of before stand there.
        """
        with self._alone(name) as path:
            found = self.find(name)
            if found is None and path.exists():
                raise InputError(
                    f"{path} is not as it was approved, so no version is added to it; move it away"
                )
            versions = found.versions if found is not None else ()
            if known := next((one for one in versions if one.effect == version.effect), None):
                return known
            version = msgspec.structs.replace(version, number=len(versions) + 1).sealed
            self._write(path, WrittenTool(name=name, versions=(*versions, version)))
        return version

    def take_back(self, name: str) -> WrittenVersion:
        """Offer it no more; the version that it was. Raises Unknown."""
        if (found := self.find(name)) is not None:
            with self._alone(name) as path:
                found = self.find(name)
                if found is not None and not found.taken_back:
                    self._write(path, msgspec.structs.replace(found, taken_back=True))
                    return found.last
        names = ", ".join(one.name for one in self.known() if not one.taken_back) or "none"
        raise Unknown(f"No mate wrote a tool {name[:60]!r} here. There are: {names}.")

    # ------------------------------------------------------------ files

    def _look(self) -> list[WrittenTool | str]:
        paths = sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []
        return [self._one(path) for path in paths]

    def _one(self, path: Path) -> WrittenTool | str:
        try:
            about = path.stat()
            mark = (about.st_mtime_ns, about.st_size)
            if path not in self._read or self._read[path][0] != mark:
                self._read[path] = (mark, _read(path))
        except OSError as error:
            return f"{path.name}: {error.strerror}"
        return self._read[path][1]

    @contextmanager
    def _alone(self, name: str) -> Iterator[Path]:
        """The file of a tool, which no other program writes meanwhile."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{name}.json"
        with exclusive_access(path):
            yield path

    def _write(self, path: Path, tool: WrittenTool) -> None:
        replace_whole(path, msgspec.json.format(msgspec.json.encode(tool)))
        self._read.clear()
        self._all.get(anew=True)


def _read(path: Path) -> WrittenTool | str:
    """A tool, or what is wrong with its file."""
    try:
        tool = msgspec.json.decode(bytes_of(path, LARGEST), type=WrittenTool)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return f"{path.name}: {error}"
    for one in tool.versions:
        if one != one.sealed:
            return f"{path.name}: version {one.number} is not what was approved; it is not offered."
    if not tool.versions or path.stem != tool.name:
        return f"{path.name}: it holds no tool of that name."
    return tool


# ---------------------------------------------------------------- a mate proposes one

LONGEST = 4_000
"""Characters of code; what is longer nobody who is asked would read."""
KINDS = ("string", "integer", "number", "boolean", "array", "object")
LINE = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

WRITE_TOOL = Tool(
    name="write_tool",
    summary="Proposes a tool of your own, as a program like those of `python`; the owner decides.",
    schema=arguments_schema(
        ["name", "summary", "arguments", "code"],
        name={"type": "string", "pattern": "^[a-z][a-z0-9_]{2,39}$"},
        summary={
            "type": "string",
            "minLength": 8,
            "maxLength": 200,
            "description": "what it is for, in a sentence",
        },
        arguments={
            "type": "object",
            "maxProperties": 12,
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "type": {"enum": list(KINDS)},
                    "description": {"type": "string", "maxLength": 200},
                },
                "required": ["type"],
                "additionalProperties": False,
            },
            "description": "each with its type; in the code they are names with values",
        },
        optional={
            "type": "array",
            "items": {"type": "string"},
            "description": "arguments that may be left out, and are None then",
        },
        code={"type": "string", "minLength": 1, "maxLength": LONGEST},
        everybody={"type": "boolean", "description": "for all mates, not only you"},
    ),
    idempotent=True,
    asks=True,
    owner=True,
)


class WriteTool:
    """The work of WRITE_TOOL in a home; `known` are all tools there are."""

    def __init__(
        self, home: ToolHome, written: WrittenTools, known: Callable[[], Collection[Tool]]
    ) -> None:
        self._home, self._written, self._known = home, written, known

    async def __call__(self, call: ToolCall) -> str:
        """Keep what was approved, as the tool's next version."""
        if wrong := self.objection(call.arguments):
            raise InputError(wrong)
        given = call.arguments
        version = self._written.keep(
            str(given["name"]),
            WrittenVersion(
                number=0,
                mate=call.mate,
                summary=str(given["summary"]),
                code=str(given["code"]),
                since=self._home.clock.now(),
                effect=call.id,
                arguments=given["arguments"],
                optional=tuple(given.get("optional") or ()),
                everybody=bool(given.get("everybody")),
            ),
        )
        whom = "every mate that has tools" if version.everybody else call.mate
        return (
            f"The owner approved {given['name']}, version {version.number}, for {whom}. It can be "
            "used from the next turn on; the owner may take it back."
        )

    def objection(self, arguments: Mapping[str, Any]) -> str:
        """What is wrong with a proposal, so that nobody is asked; "" for nothing."""
        name, fields = str(arguments["name"]), arguments["arguments"]
        taken = {tool.name for tool in self._known()}
        if name in taken and self._written.find(name) is None:
            return f"write_tool was not used: there is a tool {name} already."
        if odd := [field for field in fields if python_name(field) != field or len(field) > 40]:
            return f"write_tool was not used: {odd[0]!r} is no name that Python takes."
        if odd := [field for field in arguments.get("optional") or () if field not in fields]:
            return f"write_tool was not used: {odd[0]!r} is none of its arguments."
        try:
            compile(
                str(arguments["code"]),
                name,
                "exec",
                flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
            )
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            return f"write_tool was not used: its code does not read: {error}."
        return ""

    def shown(self, arguments: Mapping[str, Any]) -> str:
        """What the owner sees of a proposal: all of it, and what changes."""
        name, code = str(arguments["name"]), str(arguments["code"])
        found = self._written.find(name)
        number = len(found.versions) + 1 if found is not None else 1
        whom = "every mate that has tools" if arguments.get("everybody") else "this mate alone"
        rows = [
            f"{name}, version {number}, for {whom}",
            f"summary: {as_visible_row(str(arguments['summary']))}",
            "arguments:" if arguments["arguments"] else "arguments: none",
            *_fields(arguments["arguments"], arguments.get("optional") or ()),
        ]
        rows += ["code:", *(f"  {as_visible_row(line)}" for line in LINE.split(code))]
        if found is not None:
            rows += _changes(found.last, code)
        return "\n".join(rows)


def _fields(fields: Mapping[str, Any], optional: Collection[str]) -> Iterator[str]:
    """Each argument in a row."""
    for name, field in fields.items():
        left_out = ", may be left out" if name in optional else ""
        about = f": {as_visible_row(field['description'])}" if field.get("description") else ""
        yield f"  {as_visible_row(name)} ({field['type']}{left_out}){about}"


def _changes(before: WrittenVersion, code: str) -> list[str]:
    """How the code differs from the version before."""
    was = f"changes to the code of version {before.number}, by {before.mate}:"
    diff = list(unified_diff_rows(LINE.split(before.code), LINE.split(code), around=2))[2:]
    return [was, *(f"  {as_visible_row(line)}" for line in diff or ["(none)"])]


def written_work(home: ToolHome, written: WrittenTools, name: str) -> ToolWork:
    """The work of a tool that a mate wrote."""

    async def run(call: ToolCall) -> ToolResult:
        began = call.door.at if call.door is not None else home.clock.now()
        version = written.at(name, began)
        given = dict.fromkeys(version.arguments) | call.arguments
        return await run_tool_program(home, call, version.code, given)

    return run
