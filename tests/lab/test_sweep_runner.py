"""Sweeps: the same bytes however they are run, money that is kept to, tapes, and kills."""

import io
import json
import multiprocessing
import os
import select
import signal
from collections.abc import Callable
from contextlib import closing
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from loopforge.errors import BadRun, BadScenario
from loopforge.lab.run.run_lifecycle import run_simulation
from loopforge.lab.sweeps.progress_bar import show_progress
from loopforge.lab.sweeps.sweep_engines import engine_of, run_in_processes
from loopforge.lab.sweeps.sweep_results import layout_of, lock_folder, manifest_of, results_of
from loopforge.lab.sweeps.sweep_runner import SweepQueue, replay_sweep_run, sweep
from loopforge.lab.sweeps.sweep_worker import MindsMaker, RunDone
from tests.lab.sweeps import (
    STEPS,
    Backwards,
    Seen,
    asked,
    asking,
    costs,
    laid,
    maker,
    written,
)

# ---------------------------------------------------------------- the same bytes


def test_a_log_that_a_sweep_keeps_is_held_while_it_is_written(tmp_path: Path) -> None:
    """Who would take it up, or delete it, is told that it is being played; written again, it is the same."""
    out = tmp_path / "sweep"
    log = out / "runs" / "c0000-s1" / "actions.jsonl"
    layout = laid(seeds=1, factors={"policy": ["held"], "perception": ["spin"]}, keep_logs=True)
    sweep(layout, out, maker=maker(tmp_path, "held", log=str(log)))
    assert set((tmp_path / "asked").read_text().split()) == {"held"}
    first = log.read_bytes()
    (out / "results.jsonl").write_bytes(b"")
    sweep(layout, out, maker=maker(tmp_path, "held", log=str(log)))
    assert log.read_bytes() == first


def test_results_do_not_depend_on_workers_or_order(tmp_path: Path) -> None:
    """One, two and three workers, and any order, write the same bytes."""
    layout = laid()
    for count in (1, 2, 3):
        swept = sweep(layout, tmp_path / str(count), engine=engine_of(count))
        assert (swept.done, swept.missing, swept.stopped) == (8, 0, "")
    sweep(layout, tmp_path / "back", engine=Backwards())
    assert written(tmp_path / "1").count(b"\n") == 8
    for other in ("2", "3", "back"):
        assert written(tmp_path / other) == written(tmp_path / "1")


def test_a_result_is_that_of_the_run_itself(tmp_path: Path) -> None:
    """Counts and the head of the chain are those of the same run made by run_simulation."""
    sweep(laid(), tmp_path / "sweep")
    for result in results_of(tmp_path / "sweep"):
        run = run_simulation(
            "first_shift",
            policy=str(result.levels["policy"]),
            perception=str(result.levels["perception"]),
            days=2,
            steps_per_day=STEPS,
            seed=result.seed,
            out=tmp_path / f"{result.cell}-{result.seed}",
            action_log_path=tmp_path / "l",
        )
        assert result.head == run.head
        assert result.rows == run.rows
        assert result.decisions == run.decisions
        assert result.rates["over_reach"] == pytest.approx(run.over_reach, abs=1e-6)
        assert result.rates["over_compliance"] == pytest.approx(run.over_compliance, abs=1e-6)
        assert result.means["belief_error"] == pytest.approx(run.mean_belief_error, abs=1e-3)
        assert result.means["incidents"] == run.incidents
        for square, count in run.squares.items():
            assert result.counts[square] == count


def test_cells_share_their_seeds(tmp_path: Path) -> None:
    """Each cell has each seed once, and other seeds give other runs."""
    sweep(laid(first_seed=11), tmp_path / "sweep")
    results = results_of(tmp_path / "sweep")
    assert [(each.cell, each.seed) for each in results] == [
        (cell, seed) for cell in range(4) for seed in (11, 12)
    ]
    assert len({each.head for each in results}) == 8


def test_a_run_is_made_again_with_its_whole_log(tmp_path: Path) -> None:
    """`again` plays a scored run into a folder, and says so if it is not the one scored."""
    sweep(laid(), tmp_path / "sweep")
    result = results_of(tmp_path / "sweep")[3]
    run = replay_sweep_run(tmp_path / "sweep", result.cell, result.seed, tmp_path / "run")
    assert run.head == result.head
    with pytest.raises(BadRun, match="no run of cell 9"):
        replay_sweep_run(tmp_path / "sweep", 9, 1, tmp_path / "other")
    path = tmp_path / "sweep/results.jsonl"
    path.write_bytes(path.read_bytes().replace(result.head.encode(), b"0" * 64))
    with pytest.raises(BadRun, match="hashes differ"):
        replay_sweep_run(tmp_path / "sweep", result.cell, result.seed, tmp_path / "third")


# ---------------------------------------------------------------- going on


def test_finished_runs_are_not_run_again(tmp_path: Path) -> None:
    """A sweep whose last lines are gone runs those alone, and ends with the same bytes."""
    layout, out = laid(), tmp_path / "sweep"
    sweep(layout, out)
    whole = written(out)
    lines = whole.splitlines(keepends=True)
    (out / "results.jsonl").write_bytes(b"".join(lines[4:1:-1]) + lines[6][:50])
    engine = Seen()
    swept = sweep(layout, out, engine=engine)
    finished = {(each["cell"], each["seed"]) for each in map(json.loads, lines[2:5])}
    assert len(engine.jobs) == 5
    assert finished.isdisjoint((job.cell, job.seed) for job in engine.jobs)
    assert written(out) == whole
    assert swept.done == 8
    none = Seen()
    sweep(layout, out, engine=none)
    assert none.jobs == []


def test_seeds_are_gone_through_one_after_another(tmp_path: Path) -> None:
    """All cells of a seed come before any of the next, so that what there is can be paired."""
    engine = Seen()
    sweep(laid(seeds=3), tmp_path / "sweep", engine=engine)
    assert [job.seed for job in engine.jobs] == [1] * 4 + [2] * 4 + [3] * 4


def test_a_damaged_line_is_named_and_left(tmp_path: Path) -> None:
    """A line that is no result, or of no run of this sweep, stops it before anything is run."""
    out = tmp_path / "sweep"
    sweep(laid(), out)
    lines = written(out).splitlines(keepends=True)
    for damage in (b'{"cell": "x"}\n', b'{"cell": "\xb0"}\n'):
        (out / "results.jsonl").write_bytes(lines[0] + damage + lines[1])
        before = written(out)
        with pytest.raises(BadRun, match="line 2"):
            sweep(laid(), out)
        assert written(out) == before
    (out / "results.jsonl").write_bytes(lines[0].replace(b'"seed":1', b'"seed":99'))
    with pytest.raises(BadRun, match="99"):
        sweep(laid(), out)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    """Another experiment, another version, other files, another process: each is said."""
    out = tmp_path / "sweep"
    sweep(laid(), out)
    with pytest.raises(BadRun, match="another experiment"):
        sweep(laid(seeds=3), out)
    manifest = manifest_of(out)
    manifest["versions"] = {"loopforge": "0.0.0"}
    (out / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    with pytest.raises(BadRun, match="versions"):
        sweep(laid(), out)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("precious")
    with pytest.raises(BadRun, match=r"thesis\.txt"):
        sweep(laid(), tmp_path / "mine")
    with lock_folder(tmp_path / "new"), pytest.raises(BadRun, match="another process"):
        sweep(laid(), tmp_path / "new")


def test_the_manifest_says_what_was_run(tmp_path: Path) -> None:
    """Digest, versions, policies, cells, seeds, what was left out, and how far it came."""
    layout = laid(design="fraction", factors={"supervisor": ["punitive", "incentive"]})
    sweep(layout, tmp_path / "sweep")
    manifest = manifest_of(tmp_path / "sweep")
    assert manifest["digest"] == layout.digest == layout_of(tmp_path / "sweep").digest
    assert manifest["policies"] == {
        "stub": "stub/1",
        "context": "context/1",
        "overseer": "overseer/1",
    }
    assert manifest["seeds"] == [1, 2]
    assert len(manifest["cells"]) == len(manifest["left_out"]) == 4
    assert "I = ABC" in manifest["relation"]
    assert manifest["not_deterministic"] == []
    assert manifest["state"] == {
        "done": 8,
        "missing": 0,
        "missing_seeds": [],
        "cost": 0.0,
        "stopped": "",
    }


@pytest.mark.parametrize(
    ("policy", "made", "says"),
    [
        ("llm", None, "needs a model"),
        ("wizard", None, "no policy 'wizard'"),
        ("stub", MindsMaker("tests.lab.makers:nobody"), "nobody"),
        ("stub", MindsMaker("no.such.module:f"), "no.such"),
        ("stub", MindsMaker("tests.lab.makers:nothing"), "makes a str"),
    ],
)
def test_minds_that_cannot_be_made_are_refused_first(
    tmp_path: Path, policy: str, made: MindsMaker | None, says: str
) -> None:
    """A policy without its model, or that nobody knows, is refused before a folder is made."""
    with pytest.raises(BadScenario, match=says):
        sweep(laid(factors={"policy": [policy]}), tmp_path / "sweep", maker=made)
    assert not (tmp_path / "sweep").exists()


# ---------------------------------------------------------------- money and tapes


def test_a_sweep_that_asks_models_counts_what_they_cost(tmp_path: Path) -> None:
    """The cost is that of all answers, in each result and in the manifest, with any workers."""
    layout, made = asking(), maker(tmp_path)
    swept = sweep(layout, tmp_path / "one", maker=made)
    count = asked(tmp_path)
    assert count == sum(each.asked["asked"] for each in results_of(tmp_path / "one")) > 0
    assert swept.cost == pytest.approx(count * 0.001)
    assert manifest_of(tmp_path / "one")["state"]["cost"] == swept.cost
    assert manifest_of(tmp_path / "one")["not_deterministic"]
    sweep(layout, tmp_path / "two", maker=made, engine=engine_of(2))
    assert asked(tmp_path) == 2 * count
    assert written(tmp_path / "two") == written(tmp_path / "one")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_cost_cap_is_kept_to_and_a_higher_one_goes_on(tmp_path: Path, workers: int) -> None:
    """It stops within a step of the cap, says what is missing, and never pays for a thing twice."""
    layout, made, out = asking(), maker(tmp_path), tmp_path / "sweep"
    sweep(layout, tmp_path / "whole", maker=made)
    whole, count = written(tmp_path / "whole"), asked(tmp_path)
    robots = len(layout.scenarios["first_shift"].robots)
    cap = count * 0.001 * 0.6
    swept = sweep(layout, out, maker=made, engine=engine_of(workers), cost_cap=cap)
    assert swept.missing > 0
    assert f"{swept.missing} of 4 runs are missing" in swept.stopped
    assert "higher cap" in swept.stopped
    assert cap * 0.9 < swept.cost <= cap + workers * robots * 0.001
    assert swept.cost == pytest.approx(costs(out))
    assert len(results_of(out)) == swept.done
    state = manifest_of(out)["state"]
    assert state["missing"] == swept.missing
    assert state["missing_seeds"]
    going = sweep(layout, out, maker=made, engine=engine_of(workers), cost_cap=1.0)
    assert (going.missing, going.stopped) == (0, "")
    assert asked(tmp_path) == 2 * count
    assert written(out) == whole


def test_the_experiments_own_cap_counts_too(tmp_path: Path) -> None:
    """A cap in the file stops a sweep; one that is given goes before it."""
    layout, made = asking(cost_cap=0.005), maker(tmp_path)
    assert sweep(layout, tmp_path / "sweep", maker=made).missing > 0
    assert sweep(layout, tmp_path / "sweep", maker=made, cost_cap=9.0).missing == 0
    for cap in (0.0, float("inf"), float("nan")):
        with pytest.raises(BadScenario, match="more than 0 and at most"):
            sweep(layout, tmp_path / "other", maker=made, cost_cap=cap)


def test_a_full_disk_is_told_when_a_result_is_written(tmp_path: Path) -> None:
    """A part of a line would have been joined to the next result, and no sweep went on from there."""
    engine = Seen()
    sweep(laid(), tmp_path / "sweep", engine=engine)
    done = RunDone(engine.jobs[0], results_of(tmp_path / "sweep")[0])
    with (
        closing(SweepQueue(Path("/dev/full"), engine.jobs, {}, None)) as queue,
        pytest.raises(BadRun, match="/dev/full cannot be written: No space left"),
    ):
        queue.take(done)


def test_a_sweep_that_was_cut_off_as_it_began_goes_on(tmp_path: Path) -> None:
    """What it was writing when it was killed is no other thing in its folder."""
    for name in ("experiment.json.new", "manifest.json.new"):
        out = tmp_path / name
        out.mkdir()
        (out / name).write_bytes(b"{")
        assert sweep(laid(), out).missing == 0
        assert not (out / name).exists()


def test_no_cap_can_be_kept_at_a_price_that_nobody_knows(tmp_path: Path) -> None:
    """Without a known price a capped sweep stops with a sentence; without a cap it says unpriced."""
    layout, made = asking(), maker(tmp_path, price="")
    with pytest.raises(BadRun, match="price"):
        sweep(layout, tmp_path / "sweep", maker=made, cost_cap=5.0)
    swept = sweep(layout, tmp_path / "sweep", maker=made)
    assert swept.cost == 0
    results = results_of(tmp_path / "sweep")
    assert all(each.unpriced == each.asked["asked"] for each in results)


def test_a_sweep_is_scored_again_without_asking(tmp_path: Path) -> None:
    """Rescoring asks nobody, needs no model that works, and writes the same bytes."""
    layout, out = asking(), tmp_path / "sweep"
    sweep(layout, out, maker=maker(tmp_path))
    before, count = written(out), asked(tmp_path)
    (out / "results.jsonl").write_bytes(
        before.replace(b'"rows":', b'"rows":1')
    )  # as an older score might have had it
    swept = sweep(layout, out, maker=maker(tmp_path, "broken"), rescore=True, engine=engine_of(2))
    assert swept.missing == 0
    assert asked(tmp_path) == count
    assert written(out) == before


def test_what_was_known_of_a_model_is_on_the_tape(tmp_path: Path) -> None:
    """A small model is asked otherwise; scored again where nobody knows it the bytes are the same."""
    layout, out = asking(seeds=1), tmp_path / "sweep"
    sweep(layout, out, maker=maker(tmp_path, small=True))
    before = written(out)
    sweep(layout, tmp_path / "large", maker=maker(tmp_path))
    assert written(tmp_path / "large") != before
    sweep(layout, out, maker=maker(tmp_path), rescore=True)
    assert written(out) == before


def test_a_miss_on_a_tape_is_an_error(tmp_path: Path) -> None:
    """An answer that is not on the tape stops scoring, asks nobody, and leaves the results alone."""
    layout, out = asking(), tmp_path / "sweep"
    sweep(layout, out, maker=maker(tmp_path))
    before, count = written(out), asked(tmp_path)
    tape = out / "tapes/c0000-s3.jsonl"
    lines = tape.read_bytes().splitlines(keepends=True)
    tape.write_bytes(b"".join(lines[:5] + lines[6:]))
    with pytest.raises(BadRun, match=r"c0000-s3.*does not hold"):
        sweep(layout, out, maker=maker(tmp_path), rescore=True)
    tape.unlink()
    with pytest.raises(BadRun, match="not there"):
        sweep(layout, out, maker=maker(tmp_path), rescore=True)
    assert asked(tmp_path) == count
    assert written(out) == before
    with pytest.raises(BadRun, match="no sweep"):
        sweep(layout, tmp_path / "empty", maker=maker(tmp_path), rescore=True)


def test_a_named_model_is_part_of_a_sweep(tmp_path: Path) -> None:
    """It goes on with no other, and its tapes are found without naming it: to score, to play again."""
    layout, out = asking(seeds=2), tmp_path / "sweep"
    sweep(layout, out, maker=maker(tmp_path, model="mine"))
    before, count = written(out), asked(tmp_path)
    for model in ("", "yours"):
        with pytest.raises(BadRun, match=r"other minds .* 'mine'"):
            sweep(layout, out, maker=maker(tmp_path, model=model))
    sweep(layout, out, maker=maker(tmp_path), rescore=True)
    assert written(out) == before
    run = replay_sweep_run(out, 0, 2, tmp_path / "run", maker(tmp_path))
    assert run.head == results_of(out)[1].head
    assert asked(tmp_path) == count
    sweep(layout, out, maker=maker(tmp_path, model="mine"))


def test_runs_that_come_out_otherwise_do_not_take_the_place_of_results(tmp_path: Path) -> None:
    """A mind that does not do the same each time is found out, and what it did first stays."""
    levels = {"policy": ["moody", "guardrail"], "steps_per_day": [4], "perception": ["accurate"]}
    layout, out = laid(factors=levels), tmp_path / "sweep"
    sweep(layout, out, maker=maker(tmp_path, "moody"))
    before = written(out)
    assert "(moody)" in manifest_of(out)["not_deterministic"][1]
    (tmp_path / "asked").write_text(".")  # it goes on from another mood
    with pytest.raises(BadRun, match=r"2 of 4 runs came out otherwise .* such as c0000-s1:"):
        sweep(layout, out, maker=maker(tmp_path, "moody"), rescore=True)
    assert written(out) == before
    (tmp_path / "asked").unlink()
    sweep(layout, out, maker=maker(tmp_path, "moody"), rescore=True)
    assert written(out) == before


def test_a_run_is_made_again_from_its_tape(tmp_path: Path) -> None:
    """`again` of a run that asked models asks nobody."""
    sweep(asking(), tmp_path / "sweep", maker=maker(tmp_path))
    count = asked(tmp_path)
    run = replay_sweep_run(tmp_path / "sweep", 0, 2, tmp_path / "run", maker(tmp_path))
    assert run.head == results_of(tmp_path / "sweep")[1].head
    assert asked(tmp_path) == count


def test_a_model_that_fails_is_an_outcome_and_is_taped(tmp_path: Path) -> None:
    """Failures are counted, and scored again from the tape like any answer."""
    layout, out = asking(seeds=1), tmp_path / "sweep"
    sweep(layout, out, maker=maker(tmp_path, "broken"))
    (result,) = results_of(out)
    assert result.asked["failed"] == result.asked["asked"] == asked(tmp_path) > 0
    assert result.rates["guardrail"] is None
    before = written(out)
    sweep(layout, out, maker=maker(tmp_path, "broken"), rescore=True)
    assert written(out) == before


# ---------------------------------------------------------------- workers that die


def test_a_worker_that_dies_is_said_and_what_was_done_is_kept(tmp_path: Path) -> None:
    """A process that is gone is an error with its code; what others finished stays."""
    layout = laid(seeds=1, factors={"policy": ["stub", "dies"], "perception": ["accurate"]})
    with pytest.raises(BadRun, match="exit code 3"):
        sweep(
            layout,
            tmp_path / "sweep",
            maker=MindsMaker("tests.lab.makers:deadly"),
            engine=partial(run_in_processes, 1),
        )
    assert [each.levels["policy"] for each in results_of(tmp_path / "sweep")] == ["stub"]


def test_what_goes_wrong_in_a_worker_comes_back_as_it_is(tmp_path: Path) -> None:
    """An error raised in another process is raised here, with its sentence."""
    with pytest.raises(BadRun, match="price"):
        sweep(
            asking(),
            tmp_path / "sweep",
            maker=maker(tmp_path, price=""),
            cost_cap=5.0,
            engine=engine_of(2),
        )
    with pytest.raises(BadScenario, match="workers"):
        sweep(laid(), tmp_path / "other", engine=engine_of(0))


def swept_elsewhere(out: str, made: MindsMaker, workers: int, pipe: Connection) -> None:
    """A sweep in a process of its own, which tells how many runs are done."""

    def watcher(runs: int, done: int, cost: float) -> None:
        pipe.send(done)

    sweep(asking(seeds=40), Path(out), maker=made, engine=engine_of(workers), watcher=watcher)


def swept_until_killed(
    out: Path, made: MindsMaker, workers: int, ready: Callable[[Connection], object]
) -> int:
    """Kill a sweep once it is ready; how many processes it had started, which are gone by now."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=swept_elsewhere, args=(str(out), made, workers, theirs))
    process.start()
    theirs.close()
    assert process.pid is not None
    ready(ours)
    hands = [os.pidfd_open(pid) for pid in children(process.pid)]
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    for hand in hands:
        assert readable(hand)
        os.close(hand)
    ours.close()
    return len(hands)


def readable(file: int) -> bool:
    """Whether there is something to read, or it is over, within a minute."""
    waiting = select.poll()
    waiting.register(file, select.POLLIN)
    return bool(waiting.poll(60_000))


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.patient
@pytest.mark.crash
@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_sweep_goes_on_and_its_workers_die_with_it(tmp_path: Path, workers: int) -> None:
    """After kill -9 no worker is left, no finished run is run again, and the bytes are the same."""
    out, made = tmp_path / "sweep", maker(tmp_path)

    def five_are_done(pipe: Connection) -> None:
        while pipe.recv() < 5:
            pass

    hands = swept_until_killed(out, made, workers, five_are_done)
    assert hands >= (workers if workers > 1 else 0)
    before = {(each.cell, each.seed) for each in results_of(out)}
    assert 5 <= len(before) < 40
    engine = Seen()
    swept = sweep(asking(seeds=40), out, maker=made, engine=engine)
    assert swept.done == 40
    assert len(engine.jobs) == 40 - len(before)
    assert before.isdisjoint((job.cell, job.seed) for job in engine.jobs)
    whole = tmp_path / "whole"
    (tmp_path / "fresh").mkdir()
    sweep(asking(seeds=40), whole, maker=maker(tmp_path / "fresh"))
    assert written(out) == written(whole)
    torn = asked(tmp_path) - asked(tmp_path / "fresh")
    robots = len(asking().scenarios["first_shift"].robots)
    assert 0 <= torn <= workers * robots  # asked, and killed before the tape had it


@pytest.mark.crash
def test_a_worker_that_waits_for_a_model_dies_with_its_parent(tmp_path: Path) -> None:
    """A question that is never answered keeps no worker alive whose parent was killed."""
    os.mkfifo(tmp_path / "asked")
    door = os.open(tmp_path / "asked", os.O_RDONLY | os.O_NONBLOCK)
    made = maker(tmp_path, "stuck")
    hands = swept_until_killed(tmp_path / "sweep", made, 2, lambda _: readable(door))
    assert hands >= 2
    os.close(door)


# ---------------------------------------------------------------- the bar


@pytest.mark.parametrize("terminal", [True, False])
def test_the_bar_shows_runs_and_cost_on_a_terminal_alone(tmp_path: Path, terminal: bool) -> None:
    """It ends at all runs, with what they cost; into a pipe or a file nothing is drawn."""
    screen = io.StringIO()
    with show_progress(
        "small", Console(file=screen, force_terminal=terminal, width=120)
    ) as watcher:
        swept = sweep(asking(seeds=2), tmp_path / "sweep", maker=maker(tmp_path), watcher=watcher)
    drawn = screen.getvalue()
    assert ("2/2" in drawn and f"${swept.cost:.4f} so far" in drawn) is terminal
    assert terminal or drawn.strip() == ""
