"""Runs in a process of their own, and the archive they come to lie in."""

import asyncio
import shutil
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from loopforge.core.factory_vocabulary import DayEnded, RunLastRow
from loopforge.errors import BadRun, LedgerBusy
from loopforge.lab.inspect.run_archive import RunArchive
from loopforge.lab.inspect.run_diff import diff_runs
from loopforge.lab.run.child_process import ChildProcess
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_child import BeginRun, ForkRun, ResumeRun, play_job_in_child
from loopforge.lab.run.run_deletion import delete_run
from loopforge.lab.run.run_folder import RunLabel, entitle, label_of, write_label
from loopforge.lab.run.run_lifecycle import RunChoice, fork_run, resume_run, simulate
from loopforge.lab.run.run_log import LOG, head_of, lines_of, rows_of
from loopforge.lab.run_queue import LONGEST, RunQueue
from loopforge.lab.verification.run_verify import verify_run
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import open_scenario
from loopforge.runtime.system_clock import SystemClock
from tests.lab.sweeps import kept


def shift(days: int = 2, steps: int = 4, seed: int = 5) -> Scenario:
    """A short shift."""
    choice = RunChoice(seed=seed, days=days, steps_per_day=steps)
    return choice.apply(open_scenario("first_shift"))


def sent(job: BeginRun | ResumeRun | ForkRun) -> list[int]:
    """What was told of a job that is played in a process of its own."""
    child = ChildProcess(play_job_in_child, job, name="run")
    told: list[int] = []
    try:
        while True:
            told.append(child.heard())
    except EOFError:
        assert child.code() == 0
    finally:
        child.close(at_once=True)
    return told


def test_a_job_plays_what_playing_here_would(tmp_path: Path) -> None:
    """A run, a resumed run and a fork that were sent away have the bytes of those played here."""
    asyncio.run(simulate(shift(), Minds(), out=tmp_path / "here"))
    whole = (tmp_path / "here" / LOG).read_bytes()
    away = tmp_path / "away"
    told = sent(BeginRun(away, shift()))
    assert (away / LOG).read_bytes() == whole
    assert told == [row.n for row in rows_of(away) if isinstance(row, DayEnded | RunLastRow)]
    (away / LOG).write_bytes(b"".join(list(lines_of(away))[:30]))
    sent(ResumeRun(away))
    assert (away / LOG).read_bytes() == whole
    sent(ForkRun(tmp_path / "fork", away, 3, {"pressure": "9"}))
    assert next(rows_of(tmp_path / "fork")).forked["set"] == {"pressure": "9"}  # type: ignore[union-attr, index]


ORPHAN = """
import sys
from pathlib import Path
from loopforge.lab.run.child_process import ChildProcess
from loopforge.lab.run.run_child import BeginRun, play_job_in_child
from loopforge.lab.run.run_lifecycle import RunChoice
from loopforge.lab.world.scenario_file import open_scenario
if __name__ == "__main__":
    long = RunChoice(days=400, steps_per_day=200).apply(open_scenario("first_shift"))
    child = ChildProcess(play_job_in_child, BeginRun(Path(sys.argv[1]), long), name="run")
    print(child._process.pid, flush=True)
    sys.stdin.read()
"""


async def test_a_run_ends_with_who_sent_it(tmp_path: Path) -> None:
    """A process that plays a run ends soon after its parent is gone; what was closed can be read."""
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", ORPHAN, str(tmp_path / "run")),
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
    assert not RunArchive(tmp_path).busy("run")


DRAWN = """
import asyncio, sys
from pathlib import Path
from textual.app import App
from loopforge.lab.inspect.run_archive import RunArchive
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import RunChoice
from loopforge.lab.run_queue import RunQueue
from loopforge.lab.world.scenario_file import open_scenario
class Screen(App):
    async def on_mount(self):
        shifts = RunQueue(RunArchive(Path(sys.argv[1])), Minds)
        shift = RunChoice(days=1, steps_per_day=2).apply(open_scenario("first_shift"))
        name = shifts.begin(shift, "stub")
        while shifts.standing(name).state in ("waiting", "running"):
            await asyncio.sleep(0.02)
        await shifts.close()
        self.exit(shifts.standing(name).told or name)
if __name__ == "__main__":
    sys.__stdout__.write(Screen().run(headless=True))
"""


async def test_a_run_begins_beside_a_terminal(tmp_path: Path) -> None:
    """Where the home is open in a terminal, which draws over both streams, runs are played, too."""
    home = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", DRAWN, str(tmp_path)), stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(120):
        told, _ = await home.communicate()
    assert told.decode() == "first_shift-stub-7"
    assert RunArchive(tmp_path).index(told.decode()).ended


def running(process: Path) -> bool:
    """Whether this process is there, and more than a name that nobody has taken away."""
    try:
        return process.joinpath("stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_names_are_plain_and_never_given_twice(tmp_path: Path) -> None:
    """Whatever a scenario is called, its runs get names of letters, digits and hyphens, each once."""
    archive = RunArchive(tmp_path)
    assert archive.free("../../etc/passwd") == "etc-passwd"
    assert archive.free("Ä <b>ö</b> §", frozenset()) == "b-b"
    assert archive.free("…") == "run"
    (tmp_path / "first_shift-stub-5").mkdir()
    taken = frozenset({"first_shift-stub-5-2"})
    assert archive.free("first_shift stub 5", taken) == "first_shift-stub-5-3"


async def test_the_queue_is_bounded(tmp_path: Path) -> None:
    """So many runs may wait; one more is refused by a sentence, and closing lets them all go."""
    shifts = RunQueue(RunArchive(tmp_path), Minds)
    for seed in range(LONGEST):
        shifts.begin(shift(seed=seed), "stub")
    with pytest.raises(BadRun, match="waiting already"):
        shifts.begin(shift(), "stub")
    assert shifts.standing("first_shift-stub-7").state == "waiting"
    await shifts.close()
    assert shifts.standing("first_shift-stub-7").state == ""


async def test_what_waits_in_the_queue_is_not_deleted(tmp_path: Path) -> None:
    """A run that waits to go on is held against other processes until it plays; so is a fork's source, here."""
    for name in ("cut", "whole"):
        await simulate(shift(), Minds(), out=tmp_path / name)
    log = tmp_path / "cut" / LOG
    log.write_bytes(b"".join(list(lines_of(tmp_path / "cut"))[:30]))
    shifts = RunQueue(RunArchive(tmp_path), Minds)
    now = SystemClock().now()
    shifts.take_up("cut")
    shifts.branch("whole", 3, {"pressure": "9"})
    with pytest.raises(BadRun, match="is being played, or will be"):
        await delete_run(tmp_path / "cut", now)
    with pytest.raises(BadRun, match="whole-at-3 waits to be forked from whole"):
        await shifts.delete("whole", now, "person:ana")
    async with asyncio.timeout(60):
        while shifts.standing("whole-at-3").state:
            await asyncio.sleep(0.02)
    assert shifts.archive.index("cut").ended
    await shifts.delete("whole", now, "person:ana")
    log.write_bytes(b"".join(list(lines_of(tmp_path / "cut"))[:30]))
    shifts.take_up("cut")
    shifts.stop("cut")
    await delete_run(tmp_path / "cut", now)
    await shifts.close()


async def test_a_run_that_a_sweep_keeps_is_not_taken_up(tmp_path: Path) -> None:
    """Its cap and its tape are the sweep's: asked for on its own it is refused, and left as it is."""
    await asyncio.to_thread(kept, tmp_path)
    log = tmp_path / "sweep" / "runs" / "c0000-s1" / LOG
    cut = b"".join(list(lines_of(log.parent))[:30])
    log.write_bytes(cut)
    shifts = RunQueue(RunArchive(tmp_path), Minds)
    with pytest.raises(BadRun, match="is one of the runs of a sweep"):
        shifts.take_up("sweep~c0000-s1")
    with pytest.raises(BadRun, match="is one of the runs of a sweep"):
        await resume_run(log.parent)
    assert log.read_bytes() == cut
    assert "--resume" not in (await asyncio.to_thread(verify_run, log.parent)).says
    await shifts.close()


async def test_a_deletion_that_the_ledger_refuses_leaves_a_run_as_it_was(tmp_path: Path) -> None:
    """Its label says nothing of a deletion, and forks of it still find it."""
    await simulate(shift(), Minds(), out=tmp_path / "run")
    await fork_run(tmp_path / "run", tmp_path / "fork", 3, {"pressure": "9"})
    entitle(tmp_path / "run", "the first")
    before = label_of(tmp_path / "run")

    async def refuse(head: str) -> None:
        raise LedgerBusy(f"Nothing is noted of {head[:12]} just now.")

    with pytest.raises(LedgerBusy):
        await delete_run(tmp_path / "run", SystemClock().now(), refuse)
    assert label_of(tmp_path / "run") == before
    head = head_of(tmp_path / "run")
    assert RunArchive(tmp_path).origin(head, "fork") == ("run", "")


async def test_a_label_alone_deletes_nothing(tmp_path: Path) -> None:
    """A run whose deletion was cut off after its label is there still, for its forks too."""
    await simulate(shift(), Minds(), out=tmp_path / "run")
    await fork_run(tmp_path / "run", tmp_path / "fork", 3, {"pressure": "9"})
    head = head_of(tmp_path / "run")
    write_label(tmp_path / "run", RunLabel(deleted=SystemClock().now(), head=head))
    assert RunArchive(tmp_path).origin(head, "fork") == ("run", "")


async def test_a_fork_knows_its_source_when_that_has_gone_on(tmp_path: Path) -> None:
    """It keeps the name of the run that it was made of: its head is another by then."""
    await simulate(shift(), Minds(), out=tmp_path / "run")
    log = tmp_path / "run" / LOG
    log.write_bytes(b"".join(list(lines_of(tmp_path / "run"))[:30]))
    head = head_of(tmp_path / "run")
    await fork_run(tmp_path / "run", tmp_path / "fork", 3, {"pressure": "9"})
    await resume_run(tmp_path / "run")
    archive = RunArchive(tmp_path)
    assert archive.origin(head, "fork") == ("run", "")
    (told,) = diff_runs(tmp_path / "run", tmp_path / "fork").because
    assert told == "the second is a fork of the first: at step 3, pressure=9 was set"
    await delete_run(tmp_path / "run", SystemClock().now())
    assert archive.origin(head, "fork")[1].startswith("run was deleted on ")
    await simulate(shift(seed=6), Minds(), out=tmp_path / "elsewhere" / "run")
    shutil.rmtree(tmp_path / "run")
    (tmp_path / "elsewhere" / "run").rename(tmp_path / "run")
    assert archive.origin(head, "fork") == ("", "")


def complain(pipe: Connection, ours: bool) -> None:
    """Wait until nobody listens any more, and then have something to say."""
    with suppress(EOFError):
        pipe.recv()
    raise BadRun("Too late.") if ours else ValueError("Too late.")


@pytest.mark.parametrize("ours", [True, False])
def test_a_process_that_nobody_listens_to_is_quiet(
    capfd: pytest.CaptureFixture[str], ours: bool
) -> None:
    """Where its parent has let it go for something else, what goes wrong there is told to nobody."""
    child = ChildProcess(complain, ours, name="late")
    child.close(at_once=False)
    assert capfd.readouterr().err == ""
