"""Tools by name. A tool is a value and a coroutine; failures become sentences.

Does not know who may use what: that is granted in the mate's file and checked at the one door
(runtime/effect_worker.py).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from inspect import isfunction
from typing import Any, cast

from loopforge.runtime.containment import as_json, short
from loopforge.runtime.plugins.installed_plugins import installed
from loopforge.runtime.plugins.setting_rows import PluginSettings
from loopforge.runtime.ports import Tool, ToolCall, ToolHome, ToolMaker, ToolResult, ToolWork
from loopforge.tools.find_tools import FIND_TOOLS, finder
from loopforge.tools.function_tool import FunctionTool
from loopforge.tools.tool_shortlist import Shortlist
from loopforge.tools.web.service_files import described

log = logging.getLogger(__name__)

WANTS = 1_500
"""Characters of a tool's schema that a mind is told which gave it wrong arguments."""


class Toolbox:
    """The tools of this home. Without a shortlist all are offered that may be used.

    `flaws` are what is wrong with files that describe tools.
    """

    def __init__(self, shortlist: Shortlist | None = None) -> None:
        self._shortlist = shortlist
        self._tools: dict[str, tuple[Tool, ToolWork]] = {}
        self._described: set[str] = set()
        self._secrets: set[str] = set()
        self.flaws: tuple[str, ...] = ()

    def add(self, tool: Tool, work: ToolWork) -> None:
        """Make a tool known; a later one of the same name takes its place."""
        self._tools[tool.name] = (tool, work)

    def furnish(self, home: ToolHome) -> None:
        """Make every tool known that is installed, for a home as it stands now."""
        offered: Mapping[str, ToolMaker | Callable[..., Any]] = installed("loopforge.tools")
        for one in offered.values():
            maker = FunctionTool(one) if isfunction(one) else cast(ToolMaker, one)
            self._tools.pop(maker.tool.name, None)
            if (work := maker.make(home)) is not None:
                self.add(maker.tool, work)
        self._describe(home.settings)
        if self._shortlist is not None:
            self.add(FIND_TOOLS, finder(self._shortlist, self.known))

    def _describe(self, settings: PluginSettings) -> None:
        """Make those known that files of the home describe; a broken one is told in the log."""
        for name in self._described:
            self._tools.pop(name, None)
        found = described(settings, taken=self._tools)
        self._described = {tool.name for tool, _ in found.tools}
        self._secrets |= found.secrets
        for tool, work in found.tools:
            self.add(tool, work)
        self.flaws = tuple(found.flaws)
        for flaw in found.flaws:
            log.warning("a tool is not there: %s", flaw)

    def keys(self) -> frozenset[str]:
        """The keys that tools send, which mates never say; also of those there were before."""
        return frozenset(self._secrets)

    def known(self) -> tuple[Tool, ...]:
        """Every tool there is."""
        return tuple(tool for tool, _ in self._tools.values())

    async def choose(
        self, where: tuple[str, str], may: Sequence[Tool], talk: Sequence[str]
    ) -> Sequence[Tool]:
        """See `Tools.choose`."""
        if self._shortlist is None:
            return may
        return await self._shortlist.choose(where, may, self.known(), talk)

    async def close(self) -> None:
        """Make ready for nobody any more."""
        if self._shortlist is not None:
            await self._shortlist.close()

    def misfit(self, tool: str, arguments: dict[str, Any]) -> str:
        """Which of the arguments is not as the tool's schema wants it, and why; "" for none."""
        from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
        from jsonschema.exceptions import SchemaError, best_match  # type: ignore[import-untyped]
        from jsonschema.validators import validator_for  # type: ignore[import-untyped]
        from referencing import Registry
        from referencing.exceptions import Unresolvable

        schema = self._tools[tool][0].schema
        kind = validator_for(schema, default=Draft202012Validator)
        try:
            kind.check_schema(schema)
            found = best_match(kind(schema, registry=Registry()).iter_errors(arguments))
        except (SchemaError, Unresolvable) as error:
            return f"{tool} cannot be used: its own schema is broken ({error.__class__.__name__})."
        if found is None:
            return ""
        where = ".".join(str(step) for step in found.absolute_path)
        which = f"argument {where!r} is not as it wants it" if where else "arguments do not fit"
        wants = as_json(schema.get("properties") or {})[:WANTS]
        needs = ", ".join(map(str, schema.get("required") or ())) or "none"
        return (
            f"{tool} was not used: the {which}: {short(found.message)}. "
            f"Its arguments: {wants}; needed: {needs}."
        )

    async def call(self, tool: str, call: ToolCall) -> tuple[bool, ToolResult]:
        """Run it: whether it worked, and what it gives, or how it failed."""
        if tool not in self._tools:
            known = ", ".join(sorted(self._tools)) or "none"
            return False, ToolResult(text=f"There is no tool called {tool!r}. Known: {known}.")
        try:
            given = await self._tools[tool][1](call)
            return True, given if isinstance(given, ToolResult) else ToolResult(text=str(given))
        except (Exception, SystemExit, GeneratorExit) as error:
            return False, ToolResult(text=f"{tool} failed: {error}")
