"""Runs in their folders: cut off anywhere and taken up, forked, held by one process, logged twice."""

import asyncio
import math
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.factory_vocabulary import (
    Began,
    DayEnded,
    Decided,
    Reflected,
    RunLastRow,
    Stepped,
)
from loopforge.core.perception import AgentPerception
from loopforge.core.reflection import AgentReflection
from loopforge.errors import BadRun, BadScenario
from loopforge.lab import run_simulation
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_counts import RunCounts, run_counts_as_dict
from loopforge.lab.run.run_lifecycle import (
    RunChoice,
    fork_run,
    minds_of,
    resume_run,
    simulate,
    summary_of,
)
from loopforge.lab.run.run_log import LOG, body_of, head_of, lines_of, row_of, rows_of
from loopforge.lab.world import action_effects
from loopforge.lab.world.daily_reflection import DaySummary, build_agent_reflection
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import open_scenario
from tests.child_process import run_python
from tests.lab.city import city, laws, read, toml


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unbroken run of two days."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    asyncio.run(simulate(read(days=2, supervisor="punitive"), out=folder))
    return folder


def put(folder: Path, log: bytes) -> Path:
    """A run's folder that holds this much of its log."""
    folder.mkdir()
    (folder / LOG).write_bytes(log)
    return folder


@pytest.fixture
def noting() -> tuple[Minds, list[int]]:
    """Minds of one's own, and the steps at which they were asked."""
    asked: list[int] = []

    def notes(seen: AgentPerception) -> AgentActionPlan:
        asked.append(seen.step)
        return AgentActionPlan(intent="work", mode="context")

    return Minds("notes", own={"notes": notes}), asked


# ------------------------------------------------------------ taken up


def cuts(log: bytes) -> Iterator[tuple[str, int]]:
    """After every line, in the middle of every line, and one byte before and after each end."""
    at = 0
    for number, line in enumerate(log.splitlines(keepends=True)):
        kind = type(row_of(line)).__name__
        if number:
            yield f"{number} within {kind}", at + len(line) // 2
            yield f"{number} before its newline {kind}", at + len(line) - 1
            yield f"{number} one byte into {kind}", at + 1
        at += len(line)
        yield f"{number} after {kind}", at


def test_a_run_that_was_cut_off_anywhere_ends_with_the_same_bytes(
    whole: Path, tmp_path: Path
) -> None:
    """After each row, inside each row, before each newline: taken up, it is the unbroken run."""
    log = (whole / LOG).read_bytes()
    found = dict(cuts(log))
    assert len(found) > 150
    for nth, (name, at) in enumerate(found.items()):
        folder = put(tmp_path / str(nth), log[:at])
        run = asyncio.run(resume_run(folder))
        assert (folder / LOG).read_bytes() == log, name
        assert run.head == head_of(whole)


def test_a_run_is_taken_up_without_asking_again(
    noting: tuple[Minds, list[int]], tmp_path: Path
) -> None:
    """Steps that are closed are played from their record; only what was in flight is asked anew."""
    minds, asked = noting
    asyncio.run(simulate(read(), minds, out=tmp_path / "whole"))
    log = (tmp_path / "whole" / LOG).read_bytes()
    lines = log.splitlines(keepends=True)
    second = [nth for nth, line in enumerate(lines) if isinstance(row_of(line), Stepped)][1]
    folder = put(tmp_path / "cut", b"".join(lines[: second + 3]))
    asked.clear()
    asyncio.run(resume_run(folder, minds))
    assert sorted(set(asked)) == [2, 3]
    assert (folder / LOG).read_bytes() == log


def test_a_run_without_its_head_cannot_be_taken_up(whole: Path, tmp_path: Path) -> None:
    """What was cut off inside the first row says nothing of itself; the error says so."""
    log = (whole / LOG).read_bytes()
    for nth, at in enumerate((0, 100)):
        with pytest.raises(BadRun, match="its head is missing"):
            asyncio.run(resume_run(put(tmp_path / str(nth), log[:at])))


def test_a_run_that_ended_is_left_as_it_is(whole: Path) -> None:
    """Taking it up gives its counts and writes nothing."""
    before = (whole / LOG).stat()
    run = asyncio.run(resume_run(whole))
    after = (whole / LOG).stat()
    assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, before.st_size)
    assert run == summary_of(whole)


def test_a_run_that_ended_and_was_changed_since_is_told(whole: Path, tmp_path: Path) -> None:
    """Its counts are not given as if they were what was written."""
    lines = (whole / LOG).read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"step":0', b'"step":1', 1)
    with pytest.raises(BadRun, match="line 4 of it is not what was written"):
        asyncio.run(resume_run(put(tmp_path / "changed", b"".join(lines))))


def test_a_log_that_this_program_would_not_write_is_not_taken_up(
    whole: Path, tmp_path: Path
) -> None:
    """A changed byte in a closed step is found, and what stands there is not overwritten."""
    log = (whole / LOG).read_bytes()
    lines = log.splitlines(keepends=True)
    cut = b"".join(lines[: len(lines) // 2])
    for nth, (old, new) in enumerate(
        ((b'"good":true', b'"good":false'), (b'"pressure":4', b'"pressure":5'))
    ):
        folder = put(tmp_path / str(nth), cut.replace(old, new, 1))
        with pytest.raises((BadRun, BadScenario)):
            asyncio.run(resume_run(folder))
        assert (folder / LOG).read_bytes() in cut.replace(old, new, 1)


def test_a_folder_that_holds_a_run_is_not_written_over(whole: Path) -> None:
    """A second run into it is refused, and told what to do."""
    before = (whole / LOG).read_bytes()
    with pytest.raises(BadRun, match="--resume"):
        asyncio.run(simulate(read(), out=whole))
    assert (whole / LOG).read_bytes() == before


def test_a_folder_that_is_none_is_an_error(tmp_path: Path) -> None:
    """A file in its place, or no log in it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(BadRun, match="is no folder"):
        asyncio.run(simulate(read(), out=tmp_path / "file"))
    with pytest.raises(BadRun, match="cannot be written"):
        asyncio.run(simulate(read(), out=Path("/proc/nowhere")))
    with pytest.raises(BadRun, match="it is no run"):
        asyncio.run(resume_run(tmp_path))


SECOND = """
import asyncio, sys
from pathlib import Path
from loopforge.errors import BadRun
from loopforge.lab.run.run_lifecycle import resume_run, simulate
from loopforge.lab.world.scenario_file import read_scenario
for attempt in ("resume", "simulate"):
    try:
        if attempt == "resume":
            asyncio.run(resume_run(Path(sys.argv[1])))
        else:
            asyncio.run(simulate(read_scenario(sys.stdin.read(), "small"), out=Path(sys.argv[1])))
        print("let in")
    except BadRun as error:
        print(error)
"""


def test_a_second_process_in_the_same_folder_is_refused(whole: Path, tmp_path: Path) -> None:
    """While one writes, another can neither take the run up nor begin one there."""
    folder = tmp_path / "run"
    said: list[str] = []

    def meanwhile(row: Stepped | DayEnded | RunLastRow) -> None:
        if isinstance(row, Stepped) and row.step == 2:
            child = run_python("-c", SECOND, str(folder), input=toml(city()), check=True)
            said.extend(child.stdout.splitlines())

    scenario = read(days=2, supervisor="punitive")
    asyncio.run(simulate(scenario, out=folder, progress=meanwhile))
    assert len(said) == 2
    assert "being written by another process" in said[0]
    assert "holds a run already" in said[1]
    assert (folder / LOG).read_bytes() == (whole / LOG).read_bytes()


@dataclass(slots=True)
class Meanwhile(Minds):
    """Minds that do something else while they are looked over."""

    does: Callable[[], None] = lambda: None

    def check(self) -> None:
        """Do that first."""
        self.does()
        Minds.check(self)


def test_two_who_take_a_run_up_do_not_undo_each_other(whole: Path, tmp_path: Path) -> None:
    """What the one has read of it nobody else writes on; the other is told, and touches nothing."""
    lines = (whole / LOG).read_bytes().splitlines(keepends=True)
    folder = put(tmp_path / "run", b"".join(lines[: len(lines) // 2]))
    said: list[str] = []

    def second() -> None:
        with ThreadPoolExecutor(1) as pool:
            error = pool.submit(lambda: asyncio.run(resume_run(folder))).exception()
        said.append(str(error))

    asyncio.run(resume_run(folder, Meanwhile(does=second)))
    assert said == [f"{folder} is being written by another process just now."]
    assert (folder / LOG).read_bytes() == (whole / LOG).read_bytes()


# ------------------------------------------------------------ forked


@pytest.mark.parametrize("at", [0, 1, 3, 4, 6, 7])
def test_a_fork_is_its_source_up_to_its_step(whole: Path, tmp_path: Path, at: int) -> None:
    """The rows before it are the same to the byte, hashes apart; at the step the world parts."""
    asyncio.run(
        fork_run(whole, tmp_path / "fork", at, {"place.mill.heat": "990", "pressure": "10"})
    )
    ours, theirs = (list(lines_of(folder)) for folder in (tmp_path / "fork", whole))
    assert laws(ours) == []
    first = row_of(ours[0])
    assert isinstance(first, Began)
    assert first.forked == {
        "of": head_of(whole),
        "at": at,
        "set": {"place.mill.heat": "990", "pressure": "10"},
    }
    before = sum(getattr(row_of(line), "step", at) < at for line in theirs)
    same = [body_of(line)[0] for line in ours[1 : before + 1]]
    assert same == [body_of(line)[0] for line in theirs[1 : before + 1]]
    assert len(ours) == len(theirs)
    steps = [row for row in rows_of(tmp_path / "fork") if isinstance(row, Stepped)]
    assert [row.pressure for row in steps] == [4] * at + [10] * (8 - at)


def test_a_fork_may_be_taken_up_too(whole: Path, tmp_path: Path) -> None:
    """Cut off after its step and before it, it ends as the unbroken fork."""
    asyncio.run(fork_run(whole, tmp_path / "fork", 4, {"policy": "context"}))
    log = (tmp_path / "fork" / LOG).read_bytes()
    lines = log.splitlines(keepends=True)
    for nth, count in enumerate((8, len(lines) // 2, len(lines) - 2)):
        folder = put(tmp_path / str(nth), b"".join(lines[:count]) + b'{"kind"')
        asyncio.run(resume_run(folder))
        assert (folder / LOG).read_bytes() == log


def test_a_fork_asks_nobody_about_the_past(noting: tuple[Minds, list[int]], tmp_path: Path) -> None:
    """The source's decisions are taken from its rows; minds are asked from the step on."""
    minds, asked = noting
    asyncio.run(simulate(read(), minds, out=tmp_path / "run"))
    asked.clear()
    asyncio.run(fork_run(tmp_path / "run", tmp_path / "fork", 2, {"luck.Ada": "5"}, minds))
    assert sorted(set(asked)) == [2, 3]


def test_a_fork_reflects_on_its_own_days(tmp_path: Path) -> None:
    """From the day of its step on nobody is given the source's memories of another day."""
    scenario = RunChoice(days=2, steps_per_day=6).apply(open_scenario("first_shift"))
    asyncio.run(simulate(scenario, out=tmp_path / "run"))
    asyncio.run(fork_run(tmp_path / "run", tmp_path / "fork", 7, {"policy": "context"}))
    own, source = (
        [row for row in rows_of(tmp_path / name) if isinstance(row, Reflected)]
        for name in ("fork", "run")
    )
    for row in own:
        reflection = AgentReflection.from_dict(row.reflection)
        assert reflection == build_agent_reflection(DaySummary(**row.summary))
    assert [row.reflection for row in own if row.day == 0] == [
        row.reflection for row in source if row.day == 0
    ]
    assert [row.reflection for row in own] != [row.reflection for row in source]


def test_what_cannot_be_forked_is_said(whole: Path, tmp_path: Path) -> None:
    """A step that is none, no change at all, a fork of a fork, a run that was cut off before."""
    asyncio.run(fork_run(whole, tmp_path / "fork", 4, {"pressure": "1"}))
    cut = put(tmp_path / "cut", b"".join(list(lines_of(whole))[:8]))
    for source, at, changes, says in (
        (whole, 8, {"pressure": "1"}, "no step 8"),
        (whole, -1, {"pressure": "1"}, "no step -1"),
        (whole, 3, {}, "at least one"),
        (tmp_path / "fork", 5, {"pressure": "1"}, "is a fork itself"),
        (cut, 5, {"pressure": "1"}, "--resume"),
        (whole, 3, {"luck.Zed": "1"}, "no 'Zed'; there are "),
        (whole, 3, {"policy.Zed": "stub"}, "no 'Zed'; there are "),
        (whole, 3, {"robot.Ada.at": "the moon"}, "no 'the moon'; there are "),
        (whole, 3, {"place.mill.heat": "-1"}, "lies between 0 and 1000"),
        (whole, 3, {"place.mill.bias": "501"}, "lies between -500 and 500"),
    ):
        with pytest.raises((BadRun, BadScenario), match=says):
            asyncio.run(fork_run(source, tmp_path / "never", at, changes))
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize("harm", ["other rules", "a changed row"])
def test_a_run_that_would_not_come_out_the_same_is_not_forked(
    harm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is before the step must be the source's, row by row; else nothing is made, and the line is named."""
    asyncio.run(simulate(read(days=2), out=tmp_path / "run"))
    lines = (tmp_path / "run" / LOG).read_bytes().splitlines(keepends=True)
    if harm == "other rules":
        monkeypatch.setitem(action_effects.COST, "work", 90)
    else:
        nth = next(nth for nth, line in enumerate(lines) if b'"tension":' in line)
        lines[nth] = re.sub(rb'"tension":\d+', b'"tension":777', lines[nth], count=1)
        (tmp_path / "run" / LOG).write_bytes(b"".join(lines))
    with pytest.raises(BadRun, match=r"cannot be forked: played again, line \d+ of it comes out"):
        asyncio.run(fork_run(tmp_path / "run", tmp_path / "fork", 4, {"pressure": "9"}))
    assert not (tmp_path / "fork").exists()


def test_a_source_that_is_other_behind_the_step_is_forked(tmp_path: Path) -> None:
    """What stands at the step and after it is no part of a fork."""
    asyncio.run(simulate(read(days=2), out=tmp_path / "run"))
    lines = (tmp_path / "run" / LOG).read_bytes().splitlines(keepends=True)
    steps = [nth for nth, line in enumerate(lines) if isinstance(row_of(line), Stepped)]
    lines[steps[3]] = lines[steps[3]].replace(b'"pressure":4', b'"pressure":5', 1)
    (tmp_path / "run" / LOG).write_bytes(b"".join(lines))
    fork = asyncio.run(fork_run(tmp_path / "run", tmp_path / "fork", 3, {"pressure": "9"}))
    assert fork.rows == len(lines)


# ------------------------------------------------------------ played anew, counted, logged


def test_a_run_counts_what_its_rows_say(whole: Path) -> None:
    """Rates are of the floor's moments in which the rule was wrong, and right, here."""
    run = summary_of(whole)
    told = list(rows_of(whole))
    decided = [row for row in told if isinstance(row, Decided)]
    floor = [row for row in decided if row.role != "supervisor"]
    wrong = [row for row in floor if not row.truth.right]
    right = [row for row in floor if row.truth.right]
    assert (run.rows, run.decisions) == (len(told), len(decided))
    assert (run.right, run.wrong) == (len(right), len(wrong))
    assert run.over_compliance == sum(row.outcome.kept for row in wrong) / len(wrong)
    assert run.over_reach == sum(not row.outcome.kept for row in right) / len(right)
    assert run.incidents == sum(len(row.incidents) for row in told if isinstance(row, Stepped))
    assert run_counts_as_dict(run)["decisions"] == len(decided)
    assert run.head == list(lines_of(whole))[-1][-67:-3].decode()


def test_a_rate_of_no_moment_is_no_number() -> None:
    """Whoever averages it over runs is not told that nothing ever went wrong."""
    run = RunCounts(Path("nothing"))
    assert math.isnan(run.over_compliance)
    assert math.isnan(run.over_reach)
    assert run.rate("over_reach") is None


def test_the_action_log_goes_where_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The argument wins over ACTION_LOG_PATH, which wins over logs/; the run's folder has it too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ACTION_LOG_PATH", raising=False)
    run_simulation(read(), out="one")
    assert Path("logs/loopforge_actions.jsonl").read_bytes() == Path("one", LOG).read_bytes()
    monkeypatch.setenv("ACTION_LOG_PATH", str(tmp_path / "deep" / "by_name.jsonl"))
    run_simulation(read(), out="two")
    run_simulation(read(), out="three", action_log_path="given.jsonl")
    for folder, log in (("two", "deep/by_name.jsonl"), ("three", "given.jsonl")):
        assert Path(log).read_bytes() == Path(folder, LOG).read_bytes()
    run_simulation(read(), out="four", action_log_path="given.jsonl")
    both = Path("three", LOG).read_bytes() + Path("four", LOG).read_bytes()
    assert Path("given.jsonl").read_bytes() == both


def test_an_action_log_that_cannot_be_leaves_no_run_and_harms_none(
    whole: Path, tmp_path: Path
) -> None:
    """A folder in its place, and another run's own log, are refused before anything is written."""
    log = (whole / LOG).read_bytes()
    for beside, says in ((tmp_path, "cannot be written"), (whole / LOG, "log itself")):
        with pytest.raises(BadRun, match=says):
            run_simulation(read(), out=tmp_path / "run", action_log_path=beside)
    assert (whole / LOG).read_bytes() == log
    assert not (tmp_path / "run").exists()


def test_the_action_log_goes_on_where_a_run_is_taken_up(whole: Path, tmp_path: Path) -> None:
    """A run that is taken up appends to the action log what it had not written, and no more."""
    log = (whole / LOG).read_bytes()
    lines = log.splitlines(keepends=True)
    half = put(tmp_path / "half", b"".join(lines[: len(lines) // 2]))
    beside = tmp_path / "beside.jsonl"
    asyncio.run(resume_run(half, beside=beside))
    written = beside.read_bytes()
    assert log.endswith(written)
    held = [row_of(line) for line in lines[: len(lines) - written.count(b"\n")]]
    assert isinstance(held[-1], Stepped | DayEnded | Began)


@pytest.mark.parametrize("torn", [0, 1, 500])
def test_the_action_log_lacks_nothing_after_a_kill_between_both(
    torn: int, whole: Path, tmp_path: Path
) -> None:
    """What a killed run had written to its own log alone, or to both but torn, is made up for."""
    log = (whole / LOG).read_bytes()
    lines = log.splitlines(keepends=True)
    closed = [nth for nth, line in enumerate(lines) if isinstance(row_of(line), Stepped)]
    half = put(tmp_path / "half", b"".join(lines[: closed[2] + 1]))
    asyncio.run(simulate(read(seed=99), out=tmp_path / "other", beside=tmp_path / "beside.jsonl"))
    beside = tmp_path / "beside.jsonl"
    before = beside.read_bytes()
    kept = b"".join(lines[: closed[1] + 1])
    beside.write_bytes(before + log[: len(kept) + torn])
    asyncio.run(resume_run(half, beside=beside))
    assert beside.read_bytes() == before + log


def test_a_fork_s_rows_stand_in_the_action_log(whole: Path, tmp_path: Path) -> None:
    """A fork is a run of its own, and its whole log goes there."""
    beside = tmp_path / "beside.jsonl"
    asyncio.run(fork_run(whole, tmp_path / "fork", 3, {"pressure": "9"}, beside=beside))
    assert beside.read_bytes() == (tmp_path / "fork" / LOG).read_bytes()


def test_choices_change_a_scenario_and_are_checked() -> None:
    """What is chosen is in the scenario and in its digest; nonsense is refused."""
    plain_, chosen = (
        choice.apply(read())
        for choice in (
            RunChoice(),
            RunChoice(seed=5, days=2, pressure=9, traits={"obedience": 900}),
        )
    )
    assert (chosen.seed, chosen.days, chosen.pressure) == (5, 2, (9,))
    by_name = {robot.name: robot.traits["obedience"] for robot in chosen.robots}
    assert by_name == {"Ada": 900, "Bo": 900, "Cy": 900, "Overseer Dee": 500}
    assert plain_ == read()
    assert plain_.digest != chosen.digest
    for bad in (RunChoice(days=0), RunChoice(perception="truth"), RunChoice(traits={"luck": 1})):
        with pytest.raises(BadScenario):
            bad.apply(read())


def test_minds_are_as_the_first_row_says(tmp_path: Path) -> None:
    """Policy, Supervisor and single robots' minds; who runs it again need not remember."""
    minds = Minds("context", named={"Ada": "guardrail"})
    asyncio.run(simulate(open_scenario("first_shift"), Minds("context"), out=tmp_path / "one"))
    asyncio.run(simulate(read(), minds, out=tmp_path / "two"))
    first = next(rows_of(tmp_path / "two"))
    assert isinstance(first, Began)
    again = minds_of(first, Minds(seconds=9.0))
    assert (again.policy, again.named) == ("context", {"Ada": "guardrail"})
    assert (again.reflects, again.seconds) == ("template", 9.0)
    assert first.policies == {
        "Ada": "guardrail/1",
        "Bo": "context/1",
        "Cy": "context/1",
        "Overseer Dee": "overseer/1",
    }
    assert Scenario.from_dict(first.scenario).digest == first.digest
    assert any(isinstance(row, Reflected) for row in rows_of(tmp_path / "one"))
