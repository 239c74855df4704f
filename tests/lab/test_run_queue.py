"""Runs in a process of their own, and the archive they come to lie in."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec
import pytest

from loopforge.core.factory_vocabulary import DayEnded, RunLastRow
from loopforge.errors import BadRun, BadScenario
from loopforge.lab.inspect.run_archive import Archive
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_child import Begin, Branch, ChildTold, TakeUp, main
from loopforge.lab.run.run_lifecycle import Choice, simulate
from loopforge.lab.run.run_log import LOG, lines_of, rows_of
from loopforge.lab.run_queue import LONGEST, Shifts
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import open_scenario
from loopforge.models.scripted_model import ScriptedModels


def shift(days: int = 2, steps: int = 4, seed: int = 5) -> Scenario:
    """A short shift."""
    choice = Choice(seed=seed, days=days, steps_per_day=steps)
    return choice.apply(open_scenario("first_shift"))


def sent(job: Begin | TakeUp | Branch) -> tuple[int, list[ChildTold]]:
    """The exit code of a job, and what was told."""
    told: list[ChildTold] = []
    return main(msgspec.json.encode(job), told.append), told


def test_a_job_plays_what_playing_here_would(tmp_path: Path) -> None:
    """A run, a resumed run and a fork that were sent away have the bytes of those played here."""
    asyncio.run(simulate(shift(), Minds(), out=tmp_path / "here"))
    whole = (tmp_path / "here" / LOG).read_bytes()
    away = tmp_path / "away"
    code, told = sent(Begin(folder=str(away), scenario=shift().to_dict(), policy="stub"))
    assert code == 0
    assert (away / LOG).read_bytes() == whole
    closing = [row.n for row in rows_of(away) if isinstance(row, DayEnded | RunLastRow)]
    assert [each.row for each in told] == closing
    (away / LOG).write_bytes(b"".join(list(lines_of(away))[:30]))
    assert sent(TakeUp(folder=str(away)))[0] == 0
    assert (away / LOG).read_bytes() == whole
    fork = Branch(folder=str(tmp_path / "fork"), source=str(away), at=3, changes={"pressure": "9"})
    assert sent(fork)[0] == 0
    assert next(rows_of(tmp_path / "fork")).forked["set"] == {"pressure": "9"}  # type: ignore[union-attr, index]


def test_what_goes_wrong_is_the_last_line(tmp_path: Path) -> None:
    """A folder that is taken, a fork of nothing and a text that is no job are told as sentences."""
    folder = str(tmp_path / "run")
    job = Begin(folder=folder, scenario=shift().to_dict(), policy="stub")
    assert sent(job)[0] == 0
    for wrong, says in (
        (job, "holds a run already"),
        (Branch(folder=folder + "x", source=folder + "y", at=0, changes={}), "holds no"),
        (Begin(folder=folder + "z", scenario={"name": "x"}, policy="stub"), "no scenario"),
        (Begin(folder=folder + "z", scenario=shift().to_dict(), policy="llm"), "needs a model"),
    ):
        code, told = sent(wrong)
        assert code == 1
        assert says in told[-1].error
    told = []
    assert main(b"[1, 2", told.append) == 2
    assert "no job" in told[-1].error


ORPHAN = """
import subprocess, sys
job = open(sys.argv[1], "rb").read()
child = subprocess.Popen([sys.executable, "-m", "loopforge.lab.run.run_child"], stdin=subprocess.PIPE)
child.stdin.write(job)
child.stdin.close()
print(child.pid, flush=True)
sys.stdin.read()
"""


async def test_a_run_ends_with_who_sent_it(tmp_path: Path) -> None:
    """A process that plays a run ends soon after its parent is gone; what was closed can be read."""
    job = Begin(folder=str(tmp_path / "run"), scenario=shift(400, 200).to_dict(), policy="stub")
    (tmp_path / "job").write_bytes(msgspec.json.encode(job))
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", ORPHAN, str(tmp_path / "job")),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert parent.stdout is not None
    child = Path("/proc") / (await parent.stdout.readline()).decode().strip()
    async with asyncio.timeout(120):
        while not (tmp_path / "run" / LOG).exists():
            await asyncio.sleep(0.02)
    assert running(child)
    parent.kill()
    await parent.wait()
    async with asyncio.timeout(120):
        while running(child):
            await asyncio.sleep(0.02)
    assert not any(isinstance(row, RunLastRow) for row in rows_of(tmp_path / "run"))
    assert not Archive(tmp_path).busy("run")


def running(process: Path) -> bool:
    """Whether this process is there, and more than a name that nobody has taken away."""
    try:
        return process.joinpath("stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_names_are_plain_and_never_given_twice(tmp_path: Path) -> None:
    """Whatever a scenario is called, its runs get names of letters, digits and hyphens, each once."""
    archive = Archive(tmp_path)
    assert archive.free("../../etc/passwd") == "etc-passwd"
    assert archive.free("Ä <b>ö</b> §", frozenset()) == "b-b"
    assert archive.free("…") == "run"
    (tmp_path / "first_shift-stub-5").mkdir()
    taken = frozenset({"first_shift-stub-5-2"})
    assert archive.free("first_shift stub 5", taken) == "first_shift-stub-5-3"


async def test_the_queue_is_bounded(tmp_path: Path) -> None:
    """So many runs may wait; one more is refused by a sentence, and closing lets them all go."""
    shifts = Shifts(Archive(tmp_path), Minds)
    for seed in range(LONGEST):
        shifts.begin(shift(seed=seed), "stub")
    with pytest.raises(BadRun, match="waiting already"):
        shifts.begin(shift(), "stub")
    assert shifts.standing("first_shift-stub-7").state == "waiting"
    await shifts.close()
    assert shifts.standing("first_shift-stub-7").state == ""


async def test_minds_that_ask_are_played_here(tmp_path: Path) -> None:
    """A policy without its model is refused at once; with one its run is played, questions and all."""
    with pytest.raises(BadScenario, match="needs a model"):
        Shifts(Archive(tmp_path), Minds).begin(shift(), "llm")
    models = ScriptedModels(lambda question: {"mode": "context", "intent": "inspect"})
    from loopforge.mates.prompt_files import PromptBook

    shifts = Shifts(Archive(tmp_path), lambda: Minds(models=models, prompts=PromptBook()))
    name = shifts.begin(shift(1, 2), "llm")
    async with asyncio.timeout(60):
        while not (tmp_path / name / LOG).exists() or not shifts.archive.index(name).ended:
            await asyncio.sleep(0.02)
    assert models.asked
    deed = shifts.archive.index(name).moment(1).deeds[0]
    assert shifts.archive.index(name).decision(deed.row).minded.exchange
    await shifts.close()
