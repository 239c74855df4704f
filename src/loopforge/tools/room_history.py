"""What was said in the room, as a tool: by words, by whom, from when to when, with addresses.

Only what all may see who are present, and for whom it is looked up; that is decided where the
lines are (`RoomHistory`).
"""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from loopforge.core.text.name_labels import truncate_text
from loopforge.errors import InputError
from loopforge.runtime.ports import Tool, ToolCall, ToolHome, arguments_schema, tool_work
from loopforge.runtime.ports.memory_port import LineSearch
from loopforge.tools.clock import parse_local_time

MOST = 30
"""Lines that are told at most."""
LONGEST = 500
"""Characters of one line."""
ROOM_HISTORY = Tool(
    name="room_history",
    summary="Finds what was said in this room, long ago too: by words, by whom, from when to when.",
    schema=arguments_schema(
        [],
        words={"type": "string", "description": "all of them stand in the line"},
        who={"type": "string", "description": "name of a person or mate"},
        since={"type": "string", "description": "2026-03-05 or 2026-03-05T14:00"},
        until={"type": "string", "description": "a date: to its end"},
        limit={"type": "integer", "minimum": 1, "maximum": MOST},
    ),
    idempotent=True,
    harmless=True,
)


@tool_work(ROOM_HISTORY)
async def room_history(home: ToolHome, call: ToolCall) -> str:
    """What was said."""
    zone = ZoneInfo(home.zone)
    wanted = wanted_lines(call, zone)
    found = await home.history.lines(call, wanted)
    rows = [
        f"- {line.at.astimezone(zone):%Y-%m-%d %H:%M} {line.who}: "
        f"{truncate_text(' '.join(line.text.split()), LONGEST)} ({line.address})"
        for line in found
    ]
    if not rows:
        return "No such line was found that everybody here may see."
    more = ", the newest; there may be older ones" * (len(rows) == wanted.limit)
    return f"{len(rows)} lines{more}:\n" + "\n".join(rows)


def wanted_lines(call: ToolCall, zone: ZoneInfo) -> LineSearch:
    """What is looked for, as the arguments say. Raises InputError."""
    given = call.arguments
    words, who = str(given.get("words") or ""), str(given.get("who") or "").strip().lstrip("@")
    since, until = (_time(given.get(name), zone) for name in ("since", "until"))
    if not (words.strip() or who or since or until):
        raise InputError("say what to look for: words, who, since or until")
    if until and len(str(given["until"]).strip()) <= len("2026-03-05"):
        until += timedelta(days=1)
    if since and until and since >= until:
        raise InputError("since has to be before until")
    limit = int(given.get("limit") or 10)
    return LineSearch(words=words, who=who, since=since, until=until, limit=limit)


def _time(text: object, zone: ZoneInfo) -> datetime | None:
    return parse_local_time(str(text), zone) if text else None
