"""The clock, as a tool: what time it is, here or in another time zone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from zoneinfo import ZoneInfo

from loopforge.runtime.ports import Clock, Tool

CLOCK = Tool(
    name="clock",
    summary="Tells the date and time, here or in another time zone.",
    schema={
        "type": "object",
        "properties": {"zone": {"type": "string", "description": "such as Europe/Madrid"}},
    },
    idempotent=True,
    harmless=True,
)


class ClockTool:
    """The clock as a plugin."""

    tool = CLOCK

    def make(self, clock: Clock, zone: str) -> Callable[[dict[str, Any]], Awaitable[str]]:
        """The clock of a home in this time zone (an IANA name)."""

        async def tell(arguments: dict[str, Any]) -> str:
            name = str(arguments.get("zone") or zone)
            try:
                return said(clock, ZoneInfo(name))
            except (KeyError, ValueError, OSError) as error:
                raise ValueError(
                    f"no time zone is called {name!r}; use one like Europe/Paris"
                ) from error

        return tell


def said(clock: Clock, zone: ZoneInfo) -> str:
    """The time now as a mind is told it: "Saturday 21 November 2026, 14:05 (Europe/Paris)"."""
    now = clock.now().astimezone(zone)
    return f"{now:%A} {now.day} {now:%B %Y, %H:%M} ({zone.key})"


clock_tool = ClockTool()
