"""The Factory: complete chained rows in a second, flat in time and memory, sweeps, rivals."""

import asyncio
import json
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from bench.figures import SMALL, Figure, folder, sized
from loopforge.core.factory_vocabulary import Stepped
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import RunChoice, play_run
from loopforge.lab.run.run_log import lines_of, row_of
from loopforge.lab.run.step_loop import Episode, make_first_row
from loopforge.lab.sweeps.experiment_file import Experiment
from loopforge.lab.sweeps.sweep_engines import engine_of
from loopforge.lab.sweeps.sweep_runner import laid_out, sweep
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import open_scenario
from loopforge.mates.prompt_files import PromptFiles
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Question
from loopforge.runtime.system_clock import SystemClock

DAYS, ROUNDS = sized(200, 20), sized(5, 2)
ALONE = sized(40, 2)
"""Days of a run whose rows are encoded again, and of one beside the rivals."""
ROBOTS, STEPS, ANSWERS = sized(50, 14), sized(10, 3), 0.1
CELLS: dict[str, tuple[str | int, ...]] = {"policy": ("stub", "context"), "pressure": (2, 8)}
SEEDS = sized(120, 2)
"""So many that starting two interpreters, 0.2 s, is little beside the runs themselves."""
TWICE = 1.8
"""How many times as fast two workers are to be."""
RIVALS = Path(__file__).with_name("rivals.py")
PLAN = {
    "narrative": "I look.",
    "belief": "low",
    "mode": "context",
    "intent": "work",
    "riskiness": 0.2,
}


def figures() -> Iterator[Figure]:
    """The figures, one after another."""
    with folder() as here:
        yield from _rows(here)
        yield from _flat()
        yield from _asked(here)
        yield from _swept(here)
        yield from _rivals()


# ---------------------------------------------------------------- rows


def _rows(here: Path) -> Iterator[Figure]:
    """Complete rows on disk, beside the floor: the same rows encoded, hashed and written."""
    scenario = RunChoice(days=DAYS // ROUNDS).apply(open_scenario("first_shift"))
    minds = Minds()
    out = here / "rows"
    paces: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        rows_there = asyncio.run(_alone(scenario, minds, out))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        paces.append((rows_there / wall, rows_there / cpu))
    size = out.stat().st_size
    run = here / "run"
    asyncio.run(play_run(make_first_row(replace(scenario, days=ALONE), 7, minds), minds, run))
    rows = [row_of(line) for line in lines_of(run)]
    floor = _floor(rows, here / "floor")
    against = "encoding, hashing and writing such rows alone"
    walls, cpus = zip(*paces, strict=True)
    middle = statistics.median(walls)
    yield Figure(f"complete chained rows, median of {ROUNDS}", middle, "/s", against, floor, 10_000)
    yield Figure("the best of these", max(walls), "/s", against, floor, 10_000)
    yield Figure("the same, of processor time", max(cpus), "/s", against, floor, 10_000)
    lone = size / rows_there / 1000
    yield Figure("bytes a row, all kinds", lone, "kB", "the most it should be", 2.5)


async def _alone(scenario: Scenario, minds: Minds, out: Path) -> int:
    with out.open("wb", buffering=0) as file:
        episode = Episode(make_first_row(scenario, 7, minds), minds, file)
        async for _ in episode.run():
            pass
    return episode.env.row


def _floor(rows: list[Any], out: Path) -> float:
    """Rows in a second where they are only encoded, hashed over one another, and written."""
    encode = msgspec.json.Encoder().encode
    head = b"\0" * 32
    began_at = time.perf_counter()
    with out.open("wb", buffering=0) as file:
        lines = []
        for row in rows:
            body = encode(row)
            head = sha256(head + body).digest()
            lines.append(b'%s,"hash":"%s"}\n' % (body[:-1], head.hex().encode()))
            if isinstance(row, Stepped):
                file.write(b"".join(lines))
                lines.clear()
    return len(rows) / (time.perf_counter() - began_at)


# ---------------------------------------------------------------- flat


def _flat() -> Iterator[Figure]:
    """A step at the end of a long run beside one at its beginning, and the memory of both."""
    scenario = RunChoice(days=DAYS).apply(open_scenario("quota_week"))
    minds = Minds()
    times: list[float] = []
    memory: list[float] = []

    class Nowhere:
        def write(self, lines: bytes) -> None: ...

    async def go() -> None:
        episode = Episode(make_first_row(scenario, 7, minds), minds, Nowhere())
        last = time.process_time()
        async for row in episode.run():
            if isinstance(row, Stepped):
                now = time.process_time()
                times.append(now - last)
                last = now
                memory.append(_resident())

    asyncio.run(go())
    tenth = len(times) // 10
    first, final = sum(times[:tenth]), sum(times[-tenth:])
    yield Figure(
        f"a step, at the end of {len(times)}",
        final / tenth * 1000,
        "ms",
        "at its beginning",
        first / tenth * 1000,
    )
    yield Figure("memory at the end", memory[-1], "MB", "after a tenth", memory[tenth])


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


# ---------------------------------------------------------------- models


def _asked(here: Path) -> Iterator[Figure]:
    """Fifty robots and a model that takes a tenth of a second for each answer."""

    def script(_: Question) -> ScriptedAnswer:
        return ScriptedAnswer(data=PLAN, wait=ANSWERS)

    models = ScriptedModels(script, clock=SystemClock())
    scenario = _crowd()
    minds = Minds(policy="llm", models=models, prompts=PromptFiles())
    began_at = time.perf_counter()
    asyncio.run(play_run(make_first_row(scenario, 1, minds), minds, here / "asked"))
    took = time.perf_counter() - began_at
    began_at = time.perf_counter()
    asyncio.run(_waited())
    yield Figure(
        f"{ROBOTS} robots, {STEPS} steps, answers in 100 ms",
        took,
        "s",
        "the waits alone, all of a step at once",
        time.perf_counter() - began_at,
        2.0,
    )


async def _waited() -> None:
    for _ in range(STEPS):
        await asyncio.gather(*(asyncio.sleep(ANSWERS) for _ in range(ROBOTS)))


def _crowd() -> Scenario:
    """The cast of a shift over and over, until there are enough."""
    base = RunChoice(days=1, steps_per_day=STEPS).apply(open_scenario("quota_week"))
    cast = [robot for robot in base.robots if robot.role != "supervisor"]
    letters = "abcdefghijklmnopqrstuvwxyz"
    robots = [
        replace(cast[nth % len(cast)], name=f"{cast[nth % len(cast)].name} {letters[nth // 7]}")
        for nth in range(ROBOTS)
    ]
    office = [robot for robot in base.robots if robot.role == "supervisor"]
    return replace(base, robots=(*robots, *office))


# ---------------------------------------------------------------- sweeps


def _swept(here: Path) -> Iterator[Figure]:
    """The same sweep by one worker, which is this process, and by two processes of their own."""
    experiment = Experiment(
        name="bench",
        question="How much faster are two?",
        scenarios=("first_shift",),
        factors=CELLS,
        seeds=SEEDS,
    )
    layout = laid_out(experiment)
    took, spent = [], []
    for workers in (1, 2):
        began_at, spent_before = time.perf_counter(), sum(os.times()[:4])
        sweep(layout, here / f"sweep-{workers}", engine=engine_of(workers))
        took.append(time.perf_counter() - began_at)
        spent.append(sum(os.times()[:4]) - spent_before)
    runs = len(layout.cells) * SEEDS
    one, two = runs / took[0], runs / took[1]
    what = f"a sweep of {runs} runs, two workers"
    yield Figure(what, two, "runs/s", "one", one, TWICE * one)
    each = [1000 * seconds / runs for seconds in spent]
    yield Figure("processor time of a run, by two", each[1], "ms", "by one", each[0])


# ---------------------------------------------------------------- rivals


def _rivals() -> Iterator[Figure]:
    """Mesa (no rows) and Concordia (a fixed answer in place of a model), in their own venv."""
    python = RIVALS.parent.parent / ".venv-bench" / "bin" / "python"
    if SMALL and not python.exists():
        print("Mesa and Concordia are not installed for small numbers; they are left out.")
        return
    made = subprocess.run(["bash", str(RIVALS.with_suffix(".sh"))], check=False)
    if made.returncode or not python.exists():
        print("Mesa and Concordia could not be installed here; they are left out.")
        return
    ours = _steps_alone()
    done = subprocess.run(
        [str(python), str(RIVALS), *SMALL * ["--small"]],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    if done.returncode:
        print(f"The rivals did not run: {done.stderr.strip().splitlines()[-1:]}")
        return
    found = json.loads(done.stdout.strip().splitlines()[-1])
    print(
        "Not like for like: Mesa moves agents by three lines of rules and keeps three columns, no\n"
        "rows; Concordia asks its model dozens of times a decision (answered at once here) and\n"
        "logs all of it as text; the Factory's minds are the stub's rules, each with its whole row."
    )
    yield Figure("decisions, complete rows", ours, "/s", "Mesa's, no rows", found["mesa"])
    yield Figure("decisions, complete rows", ours, "/s", "Concordia's", found["concordia"])


def _steps_alone() -> float:
    scenario = RunChoice(days=ALONE).apply(open_scenario("first_shift"))
    with folder() as here:
        minds = Minds()
        began_at = time.perf_counter()
        asyncio.run(_alone(scenario, minds, here / "rows"))
        steps = scenario.days * scenario.steps_per_day * len(scenario.robots)
        return steps / (time.perf_counter() - began_at)
