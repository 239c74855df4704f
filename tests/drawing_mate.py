"""A mate that draws when it is told to, and attaches what came of it: its file, mind and tool."""

import re
import zlib
from collections.abc import Callable

from loopforge.app import App
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Tool, ToolCall, ToolFile, ToolResult
from tests.said_now import said_now

MAYA = "---\nname: Maya\nrole: r\ntools: [draw]\n---\nYou are Maya."
HANDLE = re.compile(r"\[file ([0-9a-f]{8}): ")


def png(width: int = 64, height: int = 48, shade: int = 120) -> bytes:
    """A picture of one grey."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        whole = kind + data
        return len(data).to_bytes(4, "big") + whole + zlib.crc32(whole).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 0, 0, 0, 0])
    rows = zlib.compress((b"\0" + bytes([shade]) * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


PICTURE = png()


def handles(told: str) -> list[str]:
    """The handles of the files in what a tool gave."""
    return HANDLE.findall(told)


def attaching(
    pick: Callable[[str], list[str]] = handles, tool: str = "draw"
) -> Callable[[Question], ScriptedAnswer]:
    """A mind that draws once when told to, and attaches what it picks of what it was told."""

    def script(question: Question) -> ScriptedAnswer:
        texts = said_now(question)
        said = " ".join(texts)
        if "draw" not in said:
            return ScriptedAnswer(data={"say": "Yes?"})
        known = question.schema["properties"] if question.schema else {}
        if "[result of " not in said:
            return ScriptedAnswer(data={"say": "", "tool": tool, "arguments": "{}"})
        more = {"attach": pick(said)} if "attach" in known else {}
        return ScriptedAnswer(data={"say": "So many.", **more})

    return script


def with_draw(app: App, *files: ToolFile) -> None:
    """Give a home the tool, which draws these files, or a picture."""

    async def draw(_: ToolCall) -> ToolResult:
        drawn = files or (ToolFile(name="slugs.png", data=PICTURE),)
        return ToolResult(text="Drawn.", files=drawn)

    app.tools.add(Tool(name="draw", summary="Draws.", idempotent=True, harmless=True), draw)
