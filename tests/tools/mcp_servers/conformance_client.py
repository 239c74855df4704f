"""The client that the MCP project's conformance suite starts: `conformance_client.py URL`.

Connects as a home does, lists the tools, uses each once, and answers what it is asked with the
defaults of the form.
"""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from loopforge.runtime.system_clock import SystemClock
from loopforge.tools.mcp.server_connection import McpConnection
from loopforge.tools.mcp.server_options import read_server
from loopforge.tools.mcp.server_questions import AskedInput, answers_of
from loopforge.tools.mcp.server_tools import server_streams

SAMPLES: dict[str, Any] = {"number": 2, "integer": 2, "string": "a", "boolean": True}


async def main(url: str, home: Path) -> None:
    """List, use, answer."""
    server = read_server("suite", {"url": url}, {})
    streams = server_streams(home, "suite", server)
    one = McpConnection("suite", streams, SystemClock(), seconds=20, idle=300)
    try:
        for tool in await one.tools():
            fields = tool.input_schema.get("properties", {})
            given = {name: SAMPLES.get(each.get("type"), "a") for name, each in fields.items()}
            came = await one.call(tool.name, given)
            if came.asked:
                asked = AskedInput(
                    server="suite", tool=tool.name, arguments=given, questions=came.asked
                )
                answers = answers_of(asked, defaults(asked), decline=False)
                await one.call(tool.name, given, state=came.state, answers=answers)
    finally:
        await one.close()


def defaults(asked: AskedInput) -> dict[str, Any]:
    """The form as it is filled in already."""
    fields = {
        name: each for one in asked.questions for name, each in one.schema["properties"].items()
    }
    return {name: each["default"] for name, each in fields.items() if "default" in each}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(sys.argv[1], Path(folder)))
