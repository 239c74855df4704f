"""A plot from a table, as a tool: lines, bars, points or a histogram, given as a picture.

The table is a file of the room by its handle, or written into the call; it is read and drawn by a
program that is held to limits (`plot_child.py`).
"""

import json
import logging
from pathlib import Path
from typing import Any

import msgspec

from loopforge.errors import InputError
from loopforge.runtime.installation.limited_process import run_limited
from loopforge.runtime.ports import (
    Tool,
    ToolCall,
    ToolFile,
    ToolHome,
    ToolResult,
    arguments_schema,
    tool_work,
)

log = logging.getLogger(__name__)

PROGRAM = Path(__file__).with_name("plot_child.py")
SECONDS, WALL, MEMORY = 10, 30.0, 1024 * 1024 * 1024
"""Of a processor, in all, and bytes of memory that drawing may take."""
LONGEST = 5_000_000
"""Characters of a table."""

PLOT = Tool(
    name="plot",
    summary=(
        "Draws a plot from a table (CSV, a sheet of Excel, Markdown): line, bar, scatter or "
        "histogram. It gives a picture; attach it."
    ),
    schema=arguments_schema(
        ["kind"],
        kind={"enum": ["line", "bar", "scatter", "histogram"]},
        file={"type": "string", "description": "handle or name of a table"},
        table={"type": "string", "description": "instead of a file: the table, as CSV"},
        x={"type": "string", "description": "column along the axis; left out: the first"},
        y={
            "type": "array",
            "items": {"type": "string"},
            "description": "columns upwards; left out: all numbers. Bars count without any",
        },
        title={"type": "string"},
        bins={"type": "integer", "minimum": 1, "maximum": 100},
        log={"type": "boolean", "description": "upwards by powers of ten"},
        sheet={"type": "integer", "minimum": 1, "description": "which one, from 1"},
    ),
    idempotent=True,
    harmless=True,
    patience=20.0,
    limit=60.0,
)


@tool_work(PLOT)
async def plot(home: ToolHome, call: ToolCall) -> ToolResult:
    """A plot of a table, as a picture."""
    wanted = call.arguments
    file, table = str(wanted.get("file") or ""), str(wanted.get("table") or "")
    if bool(file) == bool(table):
        raise InputError("give either a file, by its handle, or a table, as CSV")
    stem = "plot"
    if file:
        found, table = await home.files.text(call, file)
        stem = str(found.name).rpartition(".")[0] or str(found.name)
    if len(table) > LONGEST:
        raise InputError(f"the table is too long: at most {LONGEST:,} characters")
    said, picture = await plotted(table, wanted)
    name = f"{stem}-{wanted['kind']}.png"
    return ToolResult(text=said, files=(ToolFile(name=name, data=picture),))


async def plotted(table: str, wanted: dict[str, Any]) -> tuple[str, bytes]:
    """What is said of a plot, and its PNG. Raises InputError."""
    given = json.dumps({"table": table, "wanted": wanted}).encode("utf-8", "replace")
    ended = await run_limited(PROGRAM, (str(SECONDS), str(MEMORY)), given, WALL)
    if ended.code is None or ended.code < 0:
        raise InputError("to draw this takes too much time or memory; take fewer rows")
    head, _, picture = ended.output.partition(b"\n")
    if ended.code or not head:
        log.error("a plot failed: %s", ended.complaint.decode("utf-8", "replace")[-2000:])
        raise InputError("this could not be drawn")
    told = msgspec.json.decode(head, type=dict[str, str])
    if "refused" in told:
        raise InputError(told["refused"])
    return told["said"], picture
