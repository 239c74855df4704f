"""A run and a sweep that an earlier program wrote: opened, verified, played again, scored again.

Their rules say what they said then. `before.tar.gz` holds both, as they were written before what is
said of consequences looked at the state of the city.
"""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from loopforge.cli import main
from loopforge.lab.report.html_report import write_report
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_folder import EXPERIMENT
from loopforge.lab.run.run_lifecycle import fork_run, play_run, summary_of
from loopforge.lab.run.run_log import LOG, began_of, rows_of
from loopforge.lab.sweeps.sweep_results import MANIFEST, RESULTS, layout_of
from loopforge.lab.sweeps.sweep_runner import sweep
from loopforge.lab.verification.ground_truth import check_ground_truth
from loopforge.lab.verification.run_verify import verify_run


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """The folder with both."""
    shutil.unpack_archive(Path(__file__).with_name("before.tar.gz"), tmp_path)
    return tmp_path


def test_a_run_of_before_verifies(before: Path) -> None:
    """Its chain, its rows, its first row, and the run played again by today's program: all hold."""
    found = verify_run(before / "run")
    assert found.passed, found.says
    assert (found.replay.same, found.asked.same) == (True, True)


def test_a_run_of_before_is_played_again_to_the_byte(before: Path) -> None:
    """What its rules said of consequences then, they say now."""
    first = began_of(before / "run")
    asyncio.run(play_run(first, Minds(), before / "again"))
    assert (before / "again" / LOG).read_bytes() == (before / "run" / LOG).read_bytes()


def test_a_run_of_before_is_counted_forked_and_reported(before: Path) -> None:
    """Who answered is counted from its rows, and a fork of it runs."""
    assert summary_of(before / "run").answers.coded == 12
    forked = asyncio.run(fork_run(before / "run", before / "fork", 1, {"pressure": "9"}))
    assert forked.rows == summary_of(before / "run").rows
    assert "rules in code" in write_report(before / "run", before / "run.html")[0].read_text()


def test_what_was_said_then_is_found_to_be_more_than_the_state_bears_out(before: Path) -> None:
    """The checker of today finds sentences in it that nobody could look up."""
    assert check_ground_truth(rows_of(before / "run")).untrue


def test_a_sweep_of_before_is_reported_and_scored_again(
    before: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From what it holds itself: the rules that ship have changed since. The bytes are the same."""
    folder = before / "sweep"
    results = (folder / RESULTS).read_bytes()
    manifest = json.loads((folder / MANIFEST).read_text())
    assert layout_of(folder).digest == manifest["digest"]
    assert sweep(layout_of(folder), folder).done == 2
    monkeypatch.chdir(before)
    (before / "tiny.toml").write_text(TINY)
    assert main(["lab", "sweep", "tiny.toml", "--out", "sweep", "--rescore"]) == 0
    assert capsys.readouterr().out.startswith("answered 36, refused 0, cut off 0, failed 0")
    assert (folder / RESULTS).read_bytes() == results
    assert "2 runs done of 2" in write_report(folder, before / "sweep.html")[0].read_text()
    assert (folder / EXPERIMENT).exists()


TINY = """\
name = "tiny"
question = "Does spin matter?"
scenarios = ["first_shift"]
seeds = 1
[factors]
policy = ["stub"]
perception = ["accurate", "spin"]
days = [1]
steps_per_day = [3]
"""
