"""Tools by name. A tool is a value and a coroutine; failures become outcomes with a sentence.

Does not know who may use what: that is granted in the mate's file and checked by the guard.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from loopforge.core.policy import ResultOutcome
from loopforge.runtime.ports import Clock, Tool

Work = Callable[[dict[str, Any]], Awaitable[str]]


class Toolbox:
    """The tools of this home. `time_limit` in seconds, for each call."""

    def __init__(self, clock: Clock, time_limit: float = 30.0) -> None:
        self._clock, self._limit = clock, time_limit
        self._tools: dict[str, tuple[Tool, Work]] = {}

    def add(self, tool: Tool, work: Work) -> None:
        """Make a tool known; a later one of the same name takes its place."""
        self._tools[tool.name] = (tool, work)

    def known(self) -> tuple[Tool, ...]:
        """Every tool there is."""
        return tuple(tool for tool, _ in self._tools.values())

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[ResultOutcome, str]:
        """Run it. A failure is an outcome with a sentence, never an exception."""
        import asyncio

        if tool not in self._tools:
            known = ", ".join(sorted(self._tools)) or "none"
            return "refused", f"There is no tool called {tool!r}. Known: {known}."
        try:
            async with asyncio.timeout(self._limit):
                return "returned", await self._tools[tool][1](arguments)
        except TimeoutError:
            return "timed_out", f"{tool} took longer than {self._limit:g} seconds."
        except Exception as error:
            return "failed", f"{tool} failed: {error}"
