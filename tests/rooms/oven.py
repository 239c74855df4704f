"""An oven, installed beside Loopforge as a stranger's tool would be."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from loopforge.runtime.ports import Tool, ToolCall, ToolHome, ToolWork

PLUGINS = str(Path(__file__).parent / "plugins")
"""Always the same folder: what is found there is kept."""
TOOL = Tool(
    name="oven",
    summary="Bakes.",
    schema={"type": "object", "properties": {"degrees": {"type": "integer"}}},
    harmless=True,
    idempotent=True,
    limit=600,
)


class Oven:
    """It `takes` a minute. `baked`: how it was set each time; `done`: how often it came to the end."""

    def __init__(self) -> None:
        self.tool, self.baked, self.done = TOOL, list[object](), 0
        self.takes = 60.0

    def make(self, home: ToolHome) -> ToolWork:
        """A home has it."""
        self.baked, self.done = [], 0

        async def bake(call: ToolCall) -> str:
            self.baked.append(call.arguments.get("degrees"))
            await home.clock.sleep(self.takes)
            self.done += 1
            return "golden brown"

        return bake


oven = Oven()


@contextmanager
def installed(**properties: Any) -> Iterator[Oven]:
    """It is installed, with these properties, until the block ends."""
    sys.path.insert(0, PLUGINS)
    oven.tool = replace(TOOL, **properties)
    try:
        yield oven
    finally:
        sys.path.remove(PLUGINS)
