"""The tools of an MCP server as they were last listed, kept in `data/mcp/NAME.json`.

So they can be suggested before the server is started. What a server says of a tool is held to: a
tool that is described otherwise than when it was first listed is not offered until the owner took
it anew (`loopforge tool accept`), for somebody may have said yes to what it was.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from loopforge.core.egress.egress_filter import strip_control_characters
from loopforge.core.text.name_labels import truncate_text
from loopforge.runtime.installation.home_files import replace_whole
from loopforge.runtime.ports import Tool
from loopforge.tools.mcp.server_options import McpServer

FOLDER = "data/mcp"
LONGEST_NAME = 64
"""Characters that services take of a tool's name, its server's and all."""
LONGEST_TOLD = 200
"""Characters of the name that its server has for it."""
MOST_PAGES = 50
"""Pages of the list of its tools."""
MOST_TOOLS = 500
"""Tools of one server that are taken."""
MOST_HELD = 2 * MOST_TOOLS
"""Tools of one server that are held to, however often it lists others, before new ones wait."""
SUMMARY = 600
LARGEST_SCHEMA = 20_000
"""Characters of what a tool says of itself, and of its schema as JSON."""
_ODD = re.compile(r"[^a-z0-9_]+")


class ListedMcpTool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool as a server lists it. `reads`, `idempotent`: what it hints of itself, if anything."""

    name: str
    about: str = ""
    schema: dict[str, Any] = {}
    reads: bool = False
    idempotent: bool = False

    @property
    def digest(self) -> str:
        """The same as long as it says the same of itself."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()[:16]


class ToolListing(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a server listed. `of` is the digest of how it is started or reached.

    `tools` are held to, and so are those that are `gone`, should it list them again; `other` are
    those that it last described otherwise, and what is new behind MOST_HELD.
    """

    of: str = ""
    tools: tuple[ListedMcpTool, ...] = ()
    other: tuple[ListedMcpTool, ...] = ()
    gone: tuple[ListedMcpTool, ...] = ()

    def heard(self, listed: Iterable[ListedMcpTool], server: str = "") -> ToolListing:
        """After the server was asked again: new tools are added, those that are gone go.

        One that mates would call as they call one that is held to (`send`, `Send`) is not new.
        """
        held = {tool.name: tool for tool in (*self.gone, *self.tools)}
        now = {tool.name: tool for tool in listed}
        called = {tool_name(server, name) for name in held}
        new = {name: now[name] for name in now if tool_name(server, name) not in called}
        taken = held if len(held) >= MOST_HELD else {**new, **held}
        return ToolListing(
            of=self.of,
            tools=tuple(taken[name] for name in now if name in taken),
            other=tuple(tool for name, tool in now.items() if taken.get(name) != tool),
            gone=tuple(tool for name, tool in held.items() if name not in now),
        )

    def accepted(self) -> ToolListing:
        """With every tool as it was last described."""
        now = {tool.name: tool for tool in (*self.tools, *self.other)}
        gone = self.gone if len(self.gone) + len(now) < MOST_HELD else ()
        return ToolListing(of=self.of, tools=(*now.values(),), gone=gone)


def listing_of(home: Path, name: str, server: McpServer) -> ToolListing:
    """What is kept of a server; nothing where it is started otherwise than it was then."""
    try:
        kept = msgspec.json.decode((home / FOLDER / f"{name}.json").read_bytes(), type=ToolListing)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        kept = ToolListing()
    of = _identity(server)
    return kept if kept.of == of else ToolListing(of=of)


def written_at(home: Path, name: str) -> tuple[int, int] | None:
    """When it was kept last, and as which file; None for never."""
    try:
        found = (home / FOLDER / f"{name}.json").stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def keep_listing(home: Path, name: str, listing: ToolListing) -> None:
    """Keep it."""
    folder = home / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    replace_whole(folder / f"{name}.json", msgspec.json.encode(listing))


def read_listed(tools: Sequence[Any]) -> tuple[list[ListedMcpTool], list[str]]:
    """Tools as the SDK gives them, and what is wrong with those that are left out."""
    found, flaws = dict[str, ListedMcpTool](), list[str]()
    if len(tools) > MOST_TOOLS:
        flaws.append(f"it has more than {MOST_TOOLS} tools; the first {MOST_TOOLS} are taken")
    for tool in tools[:MOST_TOOLS]:
        if not tool.name.isprintable() or len(tool.name) > LONGEST_TOLD:
            flaws.append(f"{tool.name[:80]!r} is left out: nobody can read its name")
            continue
        hints = tool.annotations
        schema = tool.input_schema if isinstance(tool.input_schema, dict) else {}
        if len(msgspec.json.encode(schema)) > LARGEST_SCHEMA:
            flaws.append(f"{tool.name[:80]!r} is left out: its schema is too large")
            continue
        reads = bool(hints and hints.read_only_hint)
        found[tool.name] = ListedMcpTool(
            name=tool.name,
            about=summary_of(tool.description or tool.title or ""),
            schema=schema,
            reads=reads,
            idempotent=reads or bool(hints and hints.idempotent_hint),
        )
    return [*found.values()], flaws


def summary_of(text: str) -> str:
    """What a tool says of itself, in one line of bounded length."""
    return truncate_text(" ".join(strip_control_characters(text[: SUMMARY * 4]).split()), SUMMARY)


def as_offered_tool(name: str, server: McpServer, tool: ListedMcpTool) -> Tool:
    """A server's tool as mates are given it."""
    reads = tool.reads or tool.name in server.reads
    return Tool(
        name=tool_name(name, tool.name),
        summary=tool.about or f"{tool.name}, of the server {name}.",
        schema=tool.schema or {"type": "object", "properties": {}},
        idempotent=reads or tool.idempotent,
        reads=reads,
        asks=server.asks == "always" or (server.asks in ("changes", "once") and not reads),
        once=server.asks == "once" and not reads,
        address=server.addresses.get(tool.name, ""),
        mates=server.mates,
        price=server.costs.get(tool.name, 0.0),
        keys=tuple(sorted((*server.environment, *server.headers))),
        patience=20.0,
        limit=server.ready + server.seconds + 10,
    )


def misnamed_tool_flaws(server: McpServer, tools: Sequence[ListedMcpTool]) -> list[str]:
    """What its file names that it has not, so that nothing comes of it."""
    there = {tool.name: tool.schema.get("properties") or {} for tool in tools}
    known = strip_control_characters(", ".join(there))[:SUMMARY]
    rows = {
        "only": server.only,
        "reads": server.reads,
        "addresses": server.addresses,
        "costs": server.costs,
    }
    return [
        f"`{row}` names {named!r}, which is none of its tools: {known}"
        for row, names in rows.items()
        for named in names
        if named not in there
    ] + [
        f"`addresses` names {argument!r}, which is no argument of {tool}"
        for tool, argument in server.addresses.items()
        if argument not in there.get(tool, (argument,))
    ]


def changed_tool_flaws(name: str, listing: ToolListing) -> list[str]:
    """What is said of its tools that wait to be taken anew."""
    return [
        f"{tool.name} is described otherwise than when it was taken, and is not offered; look "
        f"at it (`loopforge tool check`), then `loopforge tool accept {name}`"
        for tool in listing.other
    ]


def tool_name(server: str, tool: str) -> str:
    """The name by which mates call a server's tool."""
    plain = _ODD.sub("_", tool.lower()).strip("_") or "tool"
    plain = plain.removeprefix(f"{server}_")
    if len(server) + 1 + len(plain) > LONGEST_NAME:
        mark = hashlib.sha256(tool.encode()).hexdigest()[:6]
        plain = f"{plain[: LONGEST_NAME - len(server) - 8]}_{mark}"
    return f"{server}_{plain}"


def _identity(server: McpServer) -> str:
    """The same as long as it is started or reached in the same way."""
    what = (server.command, server.folders, server.url)
    return hashlib.sha256(msgspec.json.encode(what)).hexdigest()[:16]
