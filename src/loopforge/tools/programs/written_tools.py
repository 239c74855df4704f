"""Tools that mates wrote and the owner approved, each with its versions, in `tools/written/`.

    NAME.json: version 1, 2, 3 ... as they were approved, and whether the tool was taken back

What runs is the version that was approved: one whose file says otherwise than its digest is not
offered. A program that waits for people goes on in the version it began in.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from loopforge.errors import InputError, Unknown
from loopforge.runtime.installation.home_files import bytes_of
from loopforge.runtime.ports import Clock, Tool, arguments_schema
from loopforge.runtime.ttl_cache import TtlCache
from loopforge.tools.programs.python_tool import LIMIT

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
        """Offer this version from now on; its number is found here. Once for each `effect`."""
        found = self.find(name)
        versions = found.versions if found is not None else ()
        if known := next((one for one in versions if one.effect == version.effect), None):
            return known
        version = msgspec.structs.replace(version, number=len(versions) + 1).sealed
        self._write(WrittenTool(name=name, versions=(*versions, version)))
        return version

    def take_back(self, name: str) -> WrittenVersion:
        """Offer it no more; the version that it was. Raises Unknown."""
        found = self.find(name)
        if found is None or found.taken_back:
            names = ", ".join(one.name for one in self.known() if not one.taken_back) or "none"
            raise Unknown(f"No mate wrote a tool {name[:60]!r} here. There are: {names}.")
        self._write(msgspec.structs.replace(found, taken_back=True))
        return found.last

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

    def _write(self, tool: WrittenTool) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = self._folder / f"{tool.name}.json.new"
        fresh.write_bytes(msgspec.json.format(msgspec.json.encode(tool)))
        fresh.replace(self._folder / f"{tool.name}.json")
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
