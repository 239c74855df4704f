"""A home as tools see it."""

from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path

from loopforge.artifacts.file_lookup import extracted
from loopforge.core.room_vocabulary import File
from loopforge.errors import Unknown
from loopforge.models.scripted_model import ScriptedModels, in_character
from loopforge.runtime.ports import ToolCall, ToolFile, ToolHome
from loopforge.runtime.ports.memory_port import FoundLine, LineSearch
from loopforge.settings import load_settings
from tests.sim_clock import SimClock


class NoFiles:
    """A room without files."""

    async def known(self, call: ToolCall) -> Sequence[File]:
        """None."""
        return ()

    async def file(self, call: ToolCall, which: str) -> File:
        """There is none."""
        raise Unknown(which)

    async def text(self, call: ToolCall, which: str) -> tuple[File, str]:
        """There is none."""
        raise Unknown(which)

    async def data(self, call: ToolCall, which: str) -> ToolFile:
        """There is none."""
        raise Unknown(which)

    async def givers(self, call: ToolCall, which: str) -> Collection[str]:
        """There is none."""
        raise Unknown(which)

    async def extract(self, file: ToolFile) -> str:
        """As in any home."""
        return await extracted(file)


class NoHistory:
    """A room where nothing was said."""

    async def lines(self, call: ToolCall, wanted: LineSearch) -> Sequence[FoundLine]:
        """None."""
        return ()


def tool_home(now: datetime, zone: str = "UTC") -> ToolHome:
    """A home at this moment, in this zone."""
    settings, models = load_settings(Path(), environ={}), ScriptedModels(in_character)
    return ToolHome(SimClock(now), zone, settings, NoFiles(), NoHistory(), models)
