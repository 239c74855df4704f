"""The clock, as a tool: what time it is, here or in another time zone."""

from __future__ import annotations

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
)


class ClockTool:
    """`zone` is the home's own time zone, by its IANA name."""

    def __init__(self, clock: Clock, zone: str) -> None:
        self._clock, self._zone = clock, zone

    async def __call__(self, arguments: dict[str, Any]) -> str:
        """One sentence with weekday, date, time and zone."""
        name = str(arguments.get("zone") or self._zone)
        try:
            zone = ZoneInfo(name)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError(
                f"no time zone is called {name!r}; use one like Europe/Paris"
            ) from error
        return said(self._clock, zone)


def said(clock: Clock, zone: ZoneInfo) -> str:
    """The time now as a mind is told it: "Saturday 21 November 2026, 14:05 (Europe/Paris)"."""
    now = clock.now().astimezone(zone)
    return f"{now:%A} {now.day} {now:%B %Y, %H:%M} ({zone.key})"
