"""Documents that tools gave are looked into when words that they hold are forgotten."""

from pathlib import Path

import pytest

from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.runtime.ports import Question, Tool, ToolCall, ToolFile, ToolResult
from tests import documents
from tests.rooms.conftest import living, write_mates

PRESS = Tool(
    name="press",
    summary="Prints what was said.",
    schema={"type": "object", "properties": {}},
    harmless=True,
)
GIVEN = {
    "pdf": documents.saying("We sow rhubarb", "in bed two"),
    "docx": documents.letter(),
    "utf-16": "We sow rhubarb".encode("utf-16"),
}
PICTURE = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def printing(question: Question) -> dict[str, str]:
    """Maya has it printed."""
    if "[result of press" in str(question.messages):
        return {"say": "It is printed."}
    return {"say": "", "tool": "press", "arguments": "{}"}


@pytest.mark.parametrize("kind", [*GIVEN, "picture"])
async def test_a_document_goes_with_the_words_that_it_holds(tmp_path: Path, kind: str) -> None:
    """As plain text does; one in which nothing can be read stays, and is named."""
    data = GIVEN.get(kind, PICTURE)
    write_mates(tmp_path, (), maya="---\nname: Maya\ntools: [press]\n---\nYou are Maya.\n")
    async with living(tmp_path, printing) as home:

        async def press(_: ToolCall) -> ToolResult:
            return ToolResult(text="Printed.", files=(ToolFile(name="print", data=data),))

        home.app.tools.add(PRESS, press)
        await home.hears("ana", "@maya print me this about the rhubarb")
        (hash,) = await home.app.artifacts.hashes()
        events = await home.app.ledger.tail(40)
        line = next(one for one in events if "rhubarb" in str(one.body))
        erasure = await home.app.ledger.erase(ErasureRequest(events=(line.id,), by="owner"))
        await home.app.keeper.sweep()
        left = await home.app.artifacts.hashes()
        if kind == "picture":
            assert (left, erasure.unread) == ([hash], (hash[:8],))
            assert f"1 file stays, for nothing in it could be read: {hash[:8]}." in erasure.unlooked
        else:
            assert (left, erasure.unread, erasure.unlooked) == ([], (), "")
