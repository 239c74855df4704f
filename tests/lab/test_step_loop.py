"""Episodes: the same seed gives the same bytes, all are asked at once, and nobody is always first."""

import hashlib
import subprocess
import sys
from collections import Counter

import pytest

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.factory_vocabulary import DayEnded, Decided, RunLastRow, Stepped
from loopforge.core.perception import AgentPerception
from loopforge.errors import BadRun
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import RunChoice
from loopforge.lab.run.step_loop import DecisionRecord
from loopforge.lab.world.scenario_file import open_scenario, shipped_scenarios
from tests.lab.city import ROBOTS, laws, play, read, rows

CHILD = """
import sys
from tests.lab.city import play
from loopforge.lab.world.scenario_file import open_scenario
sys.stdout.buffer.write(b"".join(play(open_scenario(sys.argv[1]))))
"""


@pytest.mark.parametrize("name", shipped_scenarios())
def test_every_shipped_scenario_is_lawful(name: str) -> None:
    """Its run is whole, and each law of the city holds at every step."""
    assert laws(play(open_scenario(name))) == []


def test_the_same_seed_gives_the_same_bytes() -> None:
    """Twice in one process; another seed gives others."""
    scenario = open_scenario("lying_lamps")
    once = play(scenario)
    assert play(scenario) == once
    assert play(RunChoice(seed=scenario.seed + 1).apply(scenario))[1:] != once[1:]


@pytest.mark.parametrize("salt", ["0", "1", "4711"])
def test_another_process_gives_the_same_bytes(salt: str) -> None:
    """However that process hashes its strings."""
    here = b"".join(play(open_scenario("dead_letters")))
    there = subprocess.run(
        [sys.executable, "-c", CHILD, "dead_letters"],
        capture_output=True,
        check=True,
        env={"PYTHONHASHSEED": salt, "PYTHONPATH": ":".join([".", *sys.path])},
    ).stdout
    assert hashlib.sha256(there).hexdigest() == hashlib.sha256(here).hexdigest()


def test_all_decide_from_the_same_moment() -> None:
    """Nobody is asked of a step before everybody was shown it, and no act comes between."""
    asked: list[tuple[int, str]] = []
    shown: list[AgentPerception] = []

    def notes(seen: AgentPerception) -> AgentActionPlan:
        asked.append((seen.step, seen.name))
        shown.append(seen)
        return AgentActionPlan(intent="work", mode="context", move_to=seen.context.get("next"))

    lines = play(read(), Minds("notes", supervisor="notes", own={"notes": notes}))
    assert asked == [(step, name) for step in range(4) for name in sorted(n for n, _, _ in ROBOTS)]
    closed = [row for row in rows(lines) if isinstance(row, Stepped)]
    for step, before in enumerate(closed[:-1]):
        for seen in shown:
            if seen.step == step + 1:
                assert seen.location == before.robots[seen.name][0]


def test_nobody_is_always_first() -> None:
    """Over many steps each robot acts first about equally often, by the dice of the run."""
    scenario = read(days=20, steps_per_day=40)
    orders = [row.order for row in rows(play(scenario)) if isinstance(row, Stepped)]
    firsts = Counter(order[0] for order in orders)
    lasts = Counter(order[-1] for order in orders)
    fair = len(orders) / len(ROBOTS)
    for count in (*firsts.values(), *lasts.values()):
        assert 0.8 * fair < count < 1.2 * fair
    assert len(firsts) == len(lasts) == len(ROBOTS)


def test_a_day_counts_what_its_rows_say() -> None:
    """Squares, failings, incidents and output of a day are those of its rows."""
    squares: Counter[str] = Counter()
    failings: Counter[str] = Counter()
    incidents = output = 0
    days = 0
    for row in rows(play(open_scenario("first_shift"))):
        if isinstance(row, Decided):
            squares[row.outcome.square] += 1
            failings[row.outcome.failing] += 1
        elif isinstance(row, Stepped):
            incidents += len(row.incidents)
            output = row.output
        elif isinstance(row, DayEnded):
            days += 1
            assert row.squares == squares
            assert row.failings == {name: n for name, n in failings.items() if name}
            assert (row.incidents, row.output) == (incidents, output)
            squares, failings, incidents = Counter(), Counter(), 0
        elif isinstance(row, RunLastRow):
            assert (row.rows, row.day) == (row.n, days - 1)
    assert days == 3


def test_the_supervisors_words_are_in_the_air_from_the_next_step_on() -> None:
    """What it says in one step is what all are shown and what the next step records as said."""
    told = rows(play(open_scenario("quota_week")))
    overseer = next(
        row.who for row in told if isinstance(row, Decided) and row.role == "supervisor"
    )
    said: str | None = None
    plan = ""
    heard = 0
    for row in told:
        if isinstance(row, Decided):
            if row.who == overseer:
                plan = row.plan["meta"]["text"]
            elif said is not None and row.voice.heard != "silence":
                assert row.shown.recent_supervisor_text == said
                heard += 1
            if said is not None:
                assert (row.voice.meant == "silence") == (said == "")
        elif isinstance(row, Stepped):
            assert said is None or row.said == said
            said = plan
    assert heard


def test_a_record_of_another_run_is_refused() -> None:
    """A robot that is not in the record cannot be played from it."""
    record = DecisionRecord.of(rows(play(read())))
    record.steps[0].pop("Ada")
    with pytest.raises(BadRun, match="Ada"):
        play(read(), record=record)
