"""Two tools of a host, installed beside Loopforge: a button to press, and a look at who pressed it.

Pressing changes something: it is written into a file that outlives the host, as often as it is
done. Looking changes nothing.
"""

import sys
from pathlib import Path

from loopforge.runtime.ports import Tool, ToolCall, ToolHome, ToolWork
from tests.crash.board import posts, write
from tests.crash.fate import Fate

USED = ("press", "look")
"""In this order a mate uses them."""
PRESSES = Path("data", "presses.jsonl")
"""The file, in the home."""
fates: list[Fate] = []


class Press:
    """The button."""

    tool = Tool(name="press", summary="Presses.")

    def make(self, home: ToolHome) -> ToolWork:
        """A home's."""

        async def press(call: ToolCall) -> str:
            fates[-1].at("tool.before")
            path = home.settings.home / PRESSES
            write(path, {"effect": call.id, "marks": call.arguments["marks"]})
            fates[-1].at("tool.after")
            return "pressed"

        return press


class Look:
    """The look at it."""

    tool = Tool(name="look", summary="Looks.", idempotent=True, harmless=True)

    def make(self, home: ToolHome) -> ToolWork:
        """A home's."""

        async def look(_: ToolCall) -> str:
            fates[-1].at("look.begin")
            return f"pressed {len(posts(home.settings.home / PRESSES))} times"

        return look


press, look = Press(), Look()


def install(home: Path, fate: Fate) -> None:
    """This process has them from now on, and their fate."""
    fates.append(fate)
    about = home / "data" / "plugins" / "button-1.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: button\nVersion: 1\n")
    rows = "".join(f"{name} = {__name__}:{name}\n" for name in USED)
    (about / "entry_points.txt").write_text(f"[loopforge.tools]\n{rows}")
    sys.path.insert(0, str(about.parent))
