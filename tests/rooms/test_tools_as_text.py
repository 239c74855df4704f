"""Uses of tools that a server did not read: the tool is used, and no room sees how it was written."""

import json
from pathlib import Path

import pytest

from loopforge.core.effect_states import EffectProposed
from tests.models.server import Behaviour, serving
from tests.rooms.conftest import living, write_mates
from tests.still import while_answering

MATE = """---
name: Maya
role: mate
tools: {tools}
---
You are Maya.
"""
FORM = {"say": "It is late.", "mode": "context", "rule": "", "narrative": "I looked.", "react": ""}
USE = '[TOOL_CALLS]clock[ARGS]{"zone": "UTC"}'
USES = {
    "alone": USE,
    "behind words": f"I look.\n{USE}",
    "in the words of its form": json.dumps({**FORM, "say": USE}),
}
NONE = "* Maya gave no answer (the model's answer made no sense). Say it again to try once more."


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("tools", ["[clock]", "[]"])
async def test_a_use_that_came_as_text(tmp_path: Path, tools: str, use: str) -> None:
    """With the tool it is used; without it what stands before it is said, or that nothing came."""
    write_mates(tmp_path, (), maya=MATE.format(tools=tools))
    written = USES[use]
    async with serving() as server:
        server.does(
            Behaviour(status=404),  # it counts no tokens
            Behaviour(pieces=[written[at : at + 5] for at in range(0, len(written), 5)]),
            Behaviour(pieces=[json.dumps(FORM)]),
        )
        models = {"own": {"base_url": f"{server.url}/v1", "id": "own"}}
        async with living(tmp_path, None, models=models, tiers={"1": ["own"]}) as home:
            while_answering(home.clock, lambda: server.waiting)
            await home.hears("ana", "@maya what time is it?")
            used = [(one.tool, str(one.arguments)) for one in await home.bodies(EffectProposed)]
            last = (await home.lines())[-1]
    if tools == "[clock]":
        assert used == [("clock", '{"zone":"UTC"}')]
        assert last == "maya: It is late."
    else:
        assert used == []
        assert last == ("maya: I look." if use == "behind words" else NONE)
