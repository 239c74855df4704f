"""Tools by name. A tool is a value and a coroutine; failures become sentences.

Does not know who may use what: that is granted in the mate's file and checked at the one door
(runtime/effects/effect_worker.py).
"""

import logging
import math
import re
from asyncio import CancelledError
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from inspect import isfunction
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from loopforge.core.egress.hidden_signs import spelled_out
from loopforge.core.text.erasable_text import replace_lone_surrogates
from loopforge.errors import BadSettings, InputError
from loopforge.runtime.mind_containment import as_json, bounded_text
from loopforge.runtime.plugins.installed_plugins import load_plugins, make_plugin
from loopforge.runtime.ports import Tool, ToolCall, ToolHome, ToolMaker, ToolResult, ToolWork
from loopforge.runtime.ttl_cache import TtlCache
from loopforge.tools import argument_check
from loopforge.tools.find_tools import FIND_TOOLS, make_find_tools
from loopforge.tools.function_tool import FunctionTool
from loopforge.tools.mcp.server_tools import McpServers
from loopforge.tools.programs.written_tools import WRITE_TOOL, WriteTool, WrittenTools, written_work
from loopforge.tools.tool_files import FileMarks, file_marks, load_described_tools
from loopforge.tools.tool_shortlist import ToolShortlist

log = logging.getLogger(__name__)

GROUP = "loopforge.tools"
TWICE = (
    "Two tools that are installed are called {name!r}. Give one another name, or uninstall its "
    "package."
)
NAMED = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Names of tools that services of models take."""
WANTS = 1_500
"""Characters of a tool's schema that a mind is told which gave it wrong arguments."""


def tool_makers() -> Iterator[ToolMaker]:
    """Every tool that is installed, functions as well. Raises BadSettings for what is none."""
    names = set[str]()
    for entry, one in load_plugins(GROUP).items():
        maker = FunctionTool(one) if isfunction(one) else one
        if not hasattr(maker, "tool"):
            raise BadSettings(
                f"The plugin {entry!r} of loopforge.tools is no tool: neither a function of "
                "tool_function nor an object with `tool` and `make`. Mend or uninstall that "
                "package."
            )
        if not NAMED.fullmatch(maker.tool.name):
            raise BadSettings(
                f"The plugin {entry!r} of loopforge.tools calls its tool {maker.tool.name[:80]!r}; "
                "models take letters of a to z, digits, _ and -, 64 at most. Mend that package."
            )
        if maker.tool.name in names:
            raise BadSettings(TWICE.format(name=maker.tool.name))
        names.add(maker.tool.name)
        yield maker


class ToolRegistry:
    """The tools of this home. Without a shortlist all are offered that may be used.

    `servers` are its MCP servers, `written` the tools that mates wrote. `flaws` are what is wrong
    with files that describe tools.
    """

    def __init__(self, shortlist: ToolShortlist | None = None) -> None:
        self._shortlist = shortlist
        self._tools: dict[str, tuple[Tool, ToolWork]] = {}
        self._installed, self._described = set[str](), set[str]()
        self._secrets: set[str] = set()
        self._servers = McpServers()
        self.written = WrittenTools(Path())
        self._home: ToolHome | None = None
        self._marks: TtlCache[FileMarks] = TtlCache(dict, None)
        self._read: FileMarks = {}
        self._flaws: tuple[str, ...] = ()

    def add(self, tool: Tool, work: ToolWork, *, instead: bool = False) -> None:
        """Make a tool known, perhaps `instead` of an installed one. Else raises BadSettings."""
        if tool.name in self._installed and not instead:
            raise BadSettings(TWICE.format(name=tool.name))
        self._tools[tool.name] = (tool, work)

    def furnish(self, home: ToolHome) -> None:
        """Make every tool known that is installed, for a home as it stands now."""
        for maker in tool_makers():
            name = maker.tool.name
            if name in self._tools and name not in self._installed | self._described:
                raise BadSettings(TWICE.format(name=name))
            self._tools.pop(name, None)
            self._installed.discard(name)
            if (work := make_plugin(GROUP, name, partial(maker.make, home))) is not None:
                self._tools[name] = (maker.tool, work)
                self._installed.add(name)
        self._marks = TtlCache(partial(file_marks, home.settings.home), home.clock)
        self._describe(home)
        self._home, self.written = home, WrittenTools(home.settings.home, home.clock)
        self.add(WRITE_TOOL, WriteTool(home, self.written, self.known))
        if self._shortlist is not None:
            self.add(FIND_TOOLS, make_find_tools(self._shortlist, self.known))

    def _describe(self, home: ToolHome) -> None:
        """Make those known that files of the home describe; a broken one is told in the log."""
        self._read = self._marks.get()  # before they are read: what changes meanwhile is read anew
        for name in self._described:
            self._tools.pop(name, None)
        found = load_described_tools(home.settings, taken=self._tools)
        self._servers.furnish(home, found.servers, self._tools)
        self._described = {tool.name for tool, _ in found.tools}
        self._secrets |= found.secrets
        for tool, work in found.tools:
            self.add(tool, work)
        self._flaws = tuple(found.flaws)
        for flaw in found.flaws:
            log.warning("a tool is not there: %s", flaw)

    def _reread(self) -> None:
        """Take in files that describe tools and were written, changed or deleted meanwhile."""
        if self._home is not None and self._marks.get() != self._read:
            self._describe(self._home)

    @property
    def servers(self) -> McpServers:
        """The MCP servers of the home."""
        self._reread()
        return self._servers

    @property
    def flaws(self) -> tuple[str, ...]:
        """What is wrong with the files that describe tools."""
        self._reread()
        return self._flaws

    def keys(self) -> frozenset[str]:
        """The keys that tools send, which mates never say; also of those there were before."""
        self._reread()
        return frozenset(self._secrets)

    def known(self) -> tuple[Tool, ...]:
        """Every tool there is."""
        return tuple(tool for tool, _ in self._all().values())

    def _all(self) -> Mapping[str, tuple[Tool, ToolWork]]:
        self._reread()
        served = {tool.name: (tool, work) for tool, work in self._servers.tools()}
        return self._by_mates() | served | self._tools

    def _by_mates(self) -> dict[str, tuple[Tool, ToolWork]]:
        """Those that mates wrote, as the owner approved them."""
        if self._home is None:
            return {}
        return {
            one.name: (one.tool, written_work(self._home, self.written, one.name))
            for one in self.written.known()
            if not one.taken_back
        }

    def shown(self, tool: str, arguments: dict[str, Any]) -> str:
        """What people see of a use before it runs: exactly its arguments, and nothing hidden."""
        found = self._all().get(tool)
        shows = getattr(found[1], "shown", None) if found is not None else None
        return spelled_out(str(shows(arguments)) if shows is not None else as_json(arguments))

    async def choose(
        self, where: tuple[str, str], may: Sequence[Tool], talk: Sequence[str], window: int = 0
    ) -> Sequence[Tool]:
        """See `Tools.choose`."""
        if self._shortlist is None:
            return may
        return await self._shortlist.choose(where, may, self.known(), talk, window)

    async def close(self) -> None:
        """Make ready for nobody any more."""
        await self._servers.close()
        if self._shortlist is not None:
            await self._shortlist.close()

    def misfit(self, tool: str, arguments: dict[str, Any]) -> str:
        """Which of the arguments is not as the tool's schema wants it, and why; "" for none."""
        schema = self._all()[tool][0].schema
        try:
            found = argument_check.worst_schema_error(schema, arguments)
        except InputError as error:
            return f"{tool} cannot be used: {error}."
        if found is None:
            objects = getattr(self._all()[tool][1], "objection", None)
            return str(objects(arguments)) if objects is not None else ""
        where = ".".join(str(step) for step in found.absolute_path)
        which = f"argument {where!r} is not as it wants it" if where else "arguments do not fit"
        wants = as_json(schema.get("properties") or {})[:WANTS]
        needs = ", ".join(map(str, schema.get("required") or ())) or "none"
        return (
            f"{tool} was not used: the {which}: {bounded_text(found.message)}. "
            f"Its arguments: {wants}; needed: {needs}."
        )

    async def call(self, tool: str, call: ToolCall) -> tuple[bool, ToolResult]:
        """Run it: whether it worked, and what it gives, or how it failed."""
        known = self._all()
        if tool not in known:
            names = ", ".join(sorted(known)) or "none"
            return False, ToolResult(text=f"There is no tool called {tool!r}. Known: {names}.")
        try:
            arguments = argument_check.whole_integers(known[tool][0].schema, call.arguments)
            given = await known[tool][1](replace(call, arguments=arguments))
            return True, _sound(
                given if isinstance(given, ToolResult) else ToolResult(text=str(given))
            )
        except CancelledError:
            raise
        except BaseException as error:  # a KeyboardInterrupt of its own would end the host
            why = replace_lone_surrogates(str(error)) or type(error).__name__
            return False, ToolResult(text=f"{tool} failed: {why}")


def _sound(given: ToolResult) -> ToolResult:
    """The same as it can be written down: no half signs, and a cost that is an amount of money."""
    files = (replace(file, name=replace_lone_surrogates(file.name)) for file in given.files)
    return replace(
        given,
        text=replace_lone_surrogates(given.text),
        files=tuple(files),
        cost=given.cost if 0 <= given.cost < math.inf else 0.0,
    )
