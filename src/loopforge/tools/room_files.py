"""Files of the room, as tools: which there are, and what stands in them, part by part.

What a tool gave that is too long for a prompt is such a file too, so a mind reads on in it here.
"""

from __future__ import annotations

import re

from loopforge.errors import InputError
from loopforge.runtime.effect_worker import HEAD, handled
from loopforge.runtime.ports import Tool, ToolCall, ToolHome, ToolWork

PART = HEAD - 500
"""Characters of one part."""
NEAR = 400
"""Characters before the end of a part in which a line may end."""
AROUND = 250
"""Characters before and after a place that was found."""
MOST = 6
"""Places that are told."""
LISTED = 30
"""Files that are listed."""

LIST_FILES = Tool(
    name="list_files",
    summary="Lists the files of this room: those people gave, and what your tools gave you.",
    schema={"type": "object", "properties": {}, "additionalProperties": False},
    idempotent=True,
    harmless=True,
)
READ_RESULT = Tool(
    name="read_result",
    summary="Reads on in a file or a long result.",
    schema={
        "type": "object",
        "properties": {
            "file": {"type": "string", "description": "handle or name"},
            "from": {"type": "integer", "minimum": 0},
            "find": {"type": "string", "description": "words to look for"},
        },
        "required": ["file"],
        "additionalProperties": False,
    },
    idempotent=True,
    harmless=True,
    always=True,
)


class ListFiles:
    """Which files there are, as a plugin."""

    tool = LIST_FILES

    def make(self, home: ToolHome) -> ToolWork:
        """Over the rooms of a home."""

        async def tell(call: ToolCall) -> str:
            files = await home.files.known(call)
            rows = [f"- {handled(file)}" for file in files[:LISTED]]
            more = len(files) - len(rows)
            rows += [f"- and {more} older ones"] if more else []
            return "\n".join(rows) or "There are no files in this room."

        return tell


class ReadResult:
    """What stands in a file, as a plugin."""

    tool = READ_RESULT

    def make(self, home: ToolHome) -> ToolWork:
        """Over the rooms of a home."""

        async def tell(call: ToolCall) -> str:
            file, text = await home.files.text(call, str(call.arguments["file"]))
            if wanted := str(call.arguments.get("find") or "").strip():
                return found(str(file.name), text, wanted)
            return part(str(file.name), text, int(call.arguments.get("from") or 0))

        return tell


def part(name: str, text: str, start: int) -> str:
    """A part of a text from this character on, with where it stands. Raises InputError."""
    if start >= len(text):
        raise InputError(f"{name} has only {len(text):,} characters")
    end = min(len(text), start + PART)
    if end < len(text):  # at a line's end, where one is near: no word or address is torn
        end = text.rfind("\n", end - NEAR, end) + 1 or end
    onward = f"; it goes on from {end}" if end < len(text) else ", its end"
    return f"{name}, characters {start:,} to {end:,} of {len(text):,}{onward}:\n{text[start:end]}"


def found(name: str, text: str, wanted: str) -> str:
    """The places in a text where these words stand, each with what is around it."""
    places = [hit.start() for hit in re.finditer(re.escape(wanted), text, re.IGNORECASE)]
    if not places:
        return f"{wanted!r} does not stand in {name}."
    rows, last = list[str](), -1
    for at in places:
        if len(rows) == MOST or at < last:
            continue
        last = at + len(wanted) + AROUND
        shown = " ".join(text[max(0, at - AROUND) : last].split())
        rows.append(f"At {at:,}: {shown}")
    return f"{wanted!r} stands {len(places):,} times in {name}.\n" + "\n".join(rows)


list_files, read_result = ListFiles(), ReadResult()
