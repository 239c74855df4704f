"""A stranger's policy and tool, installed beside Loopforge, are used like the built-in ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rooms.conftest import living

MODULE = """
from loopforge import AgentActionPlan, call
from loopforge.core.policy import Mind
from loopforge.core.room_vocabulary import Say
from loopforge.runtime.ports import Tool


def parrot(seen):
    result = yield from call("bell", {})
    text = f"{seen.lines[-1].text} ({result.outcome} {result.value})"
    return AgentActionPlan(intent="talk", mode="context", acts=(Say(text=text),))


MIND = Mind("parrot/1", lambda prompts: parrot)


class Bell:
    tool = Tool(name="bell", summary="Rings.")

    def make(self, clock, zone):
        async def ring(arguments):
            return "ding"

        return ring


bell = Bell()
"""


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[None]:
    """A distribution with one policy and one tool, on the import path."""
    about = tmp_path / "stranger-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1\n")
    (about / "entry_points.txt").write_text(
        "[loopforge.policies]\nparrot = stranger_parrot:MIND\n"
        "[loopforge.tools]\nbell = stranger_parrot:bell\n"
    )
    (tmp_path / "stranger_parrot.py").write_text(MODULE)
    sys.path.insert(0, str(tmp_path))
    yield
    sys.path.remove(str(tmp_path))
    sys.modules.pop("stranger_parrot", None)


async def test_a_strangers_policy_and_tool_are_used(stranger: None, tmp_path: Path) -> None:
    """A room can choose an installed policy; it may call the tools its mate's file grants."""
    async with living(tmp_path / "home") as home:
        mate = home.path / "mates" / "maya.md"
        mate.write_text(mate.read_text().replace("[clock]", "[bell]"))
        await home.enter("ana")
        await home.does("ana", "policy", "parrot")
        await home.says("ana", "@maya hello")
        await home.rest()
        assert (await home.lines())[-1] == "maya: @maya hello (returned ding)"
