"""The page on tools names what comes along, and says of it what is so."""

import re
from pathlib import Path

from tests.rooms.conftest import living

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text("utf-8")
ELSEWHERE = re.compile(r"answer_server|work_\w+")
"""What is offered where an MCP server waits for people alone, and the tools of tasks."""


async def test_every_tool_that_comes_along_is_named_and_no_other(tmp_path: Path) -> None:
    """In its table; and who may have it used is as the sentence above it says."""
    table = PAGE.partition("| tool | what people ask it |")[2].partition("\n\n")[0]
    named = {
        name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    places = {"LOOPFORGE_LOOKUP_SEARCH": "http://127.0.0.1:9/search"}
    async with living(tmp_path, environ=places) as home:
        every = {tool.name: tool for tool in home.app.tools.known()}
    known = {name: tool for name, tool in every.items() if not ELSEWHERE.fullmatch(name)}
    assert named == known.keys()
    bound = {name for name, tool in known.items() if not (tool.harmless and tool.idempotent)}
    assert bound == {"shell", "write_tool"}
    assert "All but `shell` and `write_tool` only tell" in PAGE
