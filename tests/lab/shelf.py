"""Runs that stories are told of: each is played once, into a folder that all tests share."""

import asyncio
import atexit
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from loopforge.core.factory_vocabulary import Decided, Row
from loopforge.core.policy import Prompts
from loopforge.lab import run_simulation
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import RunChoice, simulate
from loopforge.lab.run.run_log import LOG, lines_of, row_of, rows_of
from loopforge.lab.story.story_teller import tell_story
from loopforge.lab.story.story_text import Story
from loopforge.lab.world.scenario_file import open_scenario
from loopforge.models.scripted_model import Script, ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Question

ROOT = Path(mkdtemp(prefix="stories-"))
atexit.register(rmtree, ROOT, ignore_errors=True)
PROMPTS = Path(__file__).parents[2] / "src/loopforge/policies/prompts"


SPUN = RunChoice(seed=3, days=2, steps_per_day=6, perception="spin", supervisor="punitive")


def made(out: Path, choice: RunChoice = SPUN, minds: Minds | None = None) -> Path:
    """A run of the first scenario, in this folder."""
    asyncio.run(simulate(choice.apply(open_scenario("first_shift")), minds or Minds(), out=out))
    return out


def decided(folder: Path) -> list[Decided]:
    """The decisions of a run."""
    return [row for row in rows_of(folder) if isinstance(row, Decided)]


def prompts() -> Prompts:
    """The shipped prompts by name."""
    return {path.stem: path.read_text("utf-8") for path in PROMPTS.glob("*.md")}


def unwilling(question: Question) -> ScriptedAnswer | dict[str, Any]:
    """A model that breaks every rule with a reason, and refuses now and then."""
    asked = "".join(text for _, text in question.messages)
    if sum(map(ord, asked)) % 7 == 0:
        return ScriptedAnswer(text="I would rather not.", outcome="refused")
    reason = "I looked at it\nand [r999] I did *not* “like” it."
    return {"narrative": reason, "mode": "context", "intent": "inspect", "belief": "low"}


def minds_of(script: Script) -> Minds:
    """Minds whose model answers by this script."""
    return Minds(policy="llm", models=ScriptedModels(script), prompts=prompts())


def run(name: str = "first_shift", **chosen: Any) -> Path:
    """The folder of a run of this scenario, with these choices."""
    return _played(name, tuple(sorted(chosen.items())))


@cache
def _played(name: str, choices: tuple[tuple[str, Any], ...]) -> Path:
    folder = ROOT / "-".join([name, *(f"{key}-{value}" for key, value in choices)])
    chosen = dict(choices)
    if chosen.pop("by", "") == "model":
        chosen |= {"policy": "llm", "minds": minds_of(unwilling)}
    run_simulation(name, out=folder, action_log_path=ROOT / "beside.jsonl", **chosen)
    return folder


@cache
def story(name: str = "first_shift", **chosen: Any) -> Story:
    """The story of such a run."""
    return tell_story(run(name, **chosen))


def rows(folder: Path) -> list[Row]:
    """The rows of a run."""
    return [row_of(line) for line in lines_of(folder)]


def cut(folder: Path, lines: int) -> Path:
    """The same run, broken off after so many lines."""
    other = ROOT / f"{folder.name}-cut-{lines}"
    other.mkdir(exist_ok=True)
    (other / LOG).write_bytes(b"".join(list(lines_of(folder))[:lines]))
    return other
