"""find_tools: what a mate asks when none of the tools it is shown does what it is to do.

It names the tools that fit, with their arguments, of those that it may use; whoever asked may use
them at once.
"""

import json
from collections.abc import Callable, Sequence

from loopforge.core.perception import FINDER
from loopforge.runtime.ports import Tool, ToolCall, ToolWork, arguments_schema
from loopforge.tools.tool_shortlist import ToolShortlist, definition_size

FIND_TOOLS = Tool(
    name=FINDER,
    summary="Finds more tools than are shown here, by what they are to do.",
    schema=arguments_schema(
        ["purpose"],
        purpose={
            "type": "string",
            "description": "such as: convert money to another currency",
        },
    ),
    idempotent=True,
    harmless=True,
    trusted=True,
    always=True,
)
MOST = 5
ROOM = 3_000
"""Tools that are named, and bytes of their descriptions; of a larger one the name and a line."""


def make_find_tools(shortlist: ToolShortlist, known: Callable[[], Sequence[Tool]]) -> ToolWork:
    """The work of FIND_TOOLS over the tools that are known when it is asked."""

    async def find(call: ToolCall) -> str:
        tools = known()
        may = shortlist.may((call.stream, call.mate), tools)
        named = {tool.name: tool for tool in may if tool.name != FINDER}
        ranked = await shortlist.rank(tools, [str(call.arguments["purpose"])])
        fits = [named[each.name] for each in ranked if each.name in named and each.score > 0][:MOST]
        if not fits:
            return "You have no tool that does that."
        left, rows = ROOM, []
        for tool in fits:
            whole = definition_size(tool) <= left
            left -= definition_size(tool) if whole else 0
            rows.append(f"- {tool.name}: {tool.summary if whole else tool.summary[:200]}")
            if whole and (asked := tool.schema.get("properties")):
                rows.append(f"  Its arguments: {json.dumps(asked, ensure_ascii=False)}")
        return "These tools come nearest:\n" + "\n".join(rows)

    return find
