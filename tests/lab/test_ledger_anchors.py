"""A run and what the ledger of its home took note of, while it is played and when it is taken up."""

import asyncio
from pathlib import Path

import pytest

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.errors import BadRun
from loopforge.home import make_home
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import resume_run, simulate
from loopforge.lab.run.run_log import LOG, lines_of
from loopforge.lab.verification.ledger_anchors import LedgerWitness
from loopforge.ledger_opening import open_ledger_of
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice
from loopforge.settings import load_settings
from tests.lab.city import read


def saying(words: str) -> Minds:
    """A mind of one's own that always says this."""

    def says(seen: AgentPerception) -> AgentActionPlan:
        return AgentActionPlan(intent="work", mode="context", narrative=words)

    return Minds("says", own={"says": says})


def test_a_run_that_goes_on_otherwise_than_noted_is_told(tmp_path: Path) -> None:
    """A day that the ledger knows must close as it did; else the run stops, and nothing is noted."""
    make_home(tmp_path)
    folder = tmp_path / "data" / "runs" / "mine"

    async def play() -> int:
        stamp = Stamp(SystemClock(), SystemDice())
        async with open_ledger_of(load_settings(tmp_path, environ={})) as ledger:
            witness = LedgerWitness(ledger, stamp, folder)
            await simulate(read(days=2), saying("One thing."), out=folder, progress=witness)
            witness.close()
            noted = len(await ledger.read("lab:mine"))
            (folder / LOG).write_bytes(b"".join(list(lines_of(folder))[:8]))
            again = LedgerWitness(ledger, stamp, folder, resumed=True)
            with pytest.raises(BadRun, match=r"took note of another run mine: its row \d+ closed"):
                await resume_run(folder, saying("Another."), progress=again)
            again.close()
            return len(await ledger.read("lab:mine")) - noted

    assert asyncio.run(play()) == 0
