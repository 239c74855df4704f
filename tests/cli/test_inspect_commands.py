"""loopforge lab story, audit, sweep, report and export: what the command line makes of their parts."""

import asyncio
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loopforge.core.factory_vocabulary import Decided
from loopforge.lab.run.run_log import LOG, rows_of
from tests.cli.conftest import SCENARIO, SERVED, SMALL, Lab
from tests.cli.test_lab_command import ANSWER, reaches
from tests.models.server import Behaviour, serving

EXPERIMENT = """\
name = "tiny"
question = "Does spin matter to one robot?"
scenarios = ["small"]
seeds = 3
[factors]
policy = ["{policy}"]
perception = ["accurate", "spin"]
"""
INTERRUPTED = """\
import asyncio.runners, functools, signal, sys, types
from loopforge.cli import main

begun = []


def listen(sign, handler):
    before = signal.signal(sign, handler)
    begun.append(isinstance(handler, functools.partial))
    if begun.count(True) == 3 and begun[-1]:
        signal.raise_signal(signal.SIGINT)
    return before


asyncio.runners.signal = types.SimpleNamespace(**{**vars(signal), "signal": listen})
sys.exit(main())
"""
EXPECTED = """\
[[hypothesis]]
name = "spin matters"
says = "Spin makes more incidents."
measure = "incidents"
factor = "perception"
from = "accurate"
to = "spin"
direction = "greater"
"""


def decisions(folder: Path) -> int:
    """How many decisions a run holds."""
    return sum(isinstance(row, Decided) for row in rows_of(folder))


def test_a_story_is_told_and_checked(lab: Lab) -> None:
    """A run is told as Markdown, a day alone or with its rows' ids; every claim is recomputed.

    `lab verify` takes --json as the others do.
    """
    lab("run", *SMALL)
    code, out, _ = lab("story", "first_shift-stub-7")
    assert code == 0
    assert out.startswith("# ")
    assert "[r" in out
    code, one, _ = lab("story", "first_shift-stub-7", "--day", "2", "--no-ids")
    assert code == 0
    assert "[r" not in one
    assert len(one) < len(out)
    told = json.loads(lab("story", "first_shift-stub-7", "--json")[1])
    assert len(told["days"]) == 2
    second = json.loads(lab("story", "first_shift-stub-7", "--day", "2", "--json")[1])
    assert [day["day"] for day in second["days"]] == [1]
    assert (second["arcs"], second["recap"]) == ([], [])
    code, out, _ = lab("story", "first_shift-stub-7", "--check")
    assert (code, "sentences hold" in out) == (0, True)
    assert "is so, by the state of the city" in out
    assert json.loads(lab("verify", "first_shift-stub-7", "--json")[1])["passed"] is True
    found = json.loads(lab("story", "first_shift-stub-7", "--check", "--json")[1])
    assert (found["passed"], found["problems"], found["untrue"]) == (True, [], [])
    assert out.startswith(f"All {found['sentences']} sentences hold.")
    assert lab("story", "first_shift-stub-7", "--day", "9")[0] == 2


def test_a_run_is_audited(lab: Lab, tmp_path: Path) -> None:
    """Each decision is asked again without its card; --most asks of fewer."""
    lab("run", *SMALL)
    report = json.loads(lab("audit", "first_shift-stub-7", "--json")[1])
    assert report["audited"] == decisions(tmp_path / "runs" / "first_shift-stub-7")
    report = json.loads(lab("audit", "first_shift-stub-7", "--most", "5", "--json")[1])
    assert report["audited"] <= 5
    code, out, _ = lab("audit", "first_shift-stub-7")
    assert (code, "rule-driven" in out) == (0, True)


def test_a_sweep_is_run_and_goes_on(lab: Lab, tmp_path: Path) -> None:
    """All runs of an experiment, by two workers and by one the same; a second time nothing is left."""
    (tmp_path / "small.toml").write_text(SCENARIO)
    (tmp_path / "tiny.toml").write_text(EXPERIMENT.format(policy="stub"))
    code, out, _ = lab("sweep", "tiny.toml", "--workers", "2")
    assert code == 0
    assert "tiny: 6 of 6 runs, in sweeps/tiny." in out
    assert "Next: loopforge lab report tiny -o tiny.html" in out
    results = (tmp_path / "sweeps" / "tiny" / "results.jsonl").read_bytes()
    told = json.loads(lab("sweep", "tiny.toml", "--json")[1])
    assert (told["runs"], told["done"], told["missing"]) == (6, 6, 0)
    assert lab("sweep", "tiny.toml", "--out", "alone")[0] == 0
    assert (tmp_path / "alone" / "results.jsonl").read_bytes() == results
    for wants_one in (("story", "tiny"), ("verify", "tiny"), ("why", "tiny", "0", "Ada")):
        code, _, err = lab(*wants_one)
        assert (code, "tiny is a sweep" in err) == (2, True)
    code, _, err = lab("sweep", "nothing")
    assert (code, "There is no experiment 'nothing'" in err) == (2, True)


@pytest.mark.crash
def test_an_interrupted_sweep_says_how_it_goes_on(lab: Lab, tmp_path: Path) -> None:
    """Ctrl+C ends it with code 130 and a word on what is kept."""
    (tmp_path / "small.toml").write_text(SCENARIO)
    many = EXPERIMENT.format(policy="stub").replace("seeds = 3", "seeds = 3000")
    (tmp_path / "many.toml").write_text(many)
    command = [sys.executable, "-m", "loopforge", "lab", "sweep", "many.toml"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as child:
        assert reaches(tmp_path / "sweeps" / "tiny" / "results.jsonl", 1, child)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate()
    assert child.returncode == 130
    assert err == b"Stopped. What was run is kept; the same command goes on from there.\n"
    kept = (tmp_path / "sweeps" / "tiny" / "results.jsonl").read_bytes()
    assert 0 < kept.count(b"\n") < 6000


@pytest.mark.crash
def test_a_sweep_is_interrupted_as_a_run_of_it_begins(lab: Lab, tmp_path: Path) -> None:
    """Ctrl+C that comes while the loop of its third run begins to listen for it ends it no otherwise."""
    (tmp_path / "small.toml").write_text(SCENARIO)
    (tmp_path / "tiny.toml").write_text(EXPERIMENT.format(policy="stub"))
    command = [sys.executable, "-c", INTERRUPTED, "lab", "sweep", "tiny.toml"]
    ended = subprocess.run(command, cwd=tmp_path, stderr=subprocess.PIPE, check=False)
    assert ended.stderr == b"Stopped. What was run is kept; the same command goes on from there.\n"
    assert ended.returncode == 130
    assert (tmp_path / "sweeps" / "tiny" / "results.jsonl").read_bytes().count(b"\n") == 2


def test_a_report_names_what_gives_its_sweep_again(lab: Lab, tmp_path: Path) -> None:
    """Whatever the experiment's file was called, and without it; cells that came out alike are told."""
    (tmp_path / "small.toml").write_text(SCENARIO)
    voiceless = 'ablate = ["none", "voice"]\nsupervisor = ["punitive", "supportive"]\n'
    mine = tmp_path / "mine.toml"
    mine.write_text(EXPERIMENT.format(policy="stub").partition("perception")[0] + voiceless)
    assert lab("sweep", "mine.toml", "--out", "swept")[0] == 0
    mine.unlink()
    assert lab("report", "swept", "--out", "page.html")[0] == 0
    page = (tmp_path / "page.html").read_text()
    assert "With every seed alike came out " in page
    listings = re.findall(r"<pre[^>]*><code>(.*?)</code>", page, re.DOTALL)
    commands = [line.split()[2:] for line in "\n".join(listings).splitlines() if line]
    assert len(commands) == 3
    for command in commands:
        assert lab(*command)[0] == 0, command
    again, results = tmp_path / "swept-again" / "results.jsonl", tmp_path / "swept"
    assert again.read_bytes() == (results / "results.jsonl").read_bytes()


def test_a_sweep_asks_the_home_s_models(lab: Lab, scripted: Path) -> None:
    """Workers open the home's models by themselves; scored again, tapes answer."""
    (scripted / "scenarios" / "small.toml").write_text(SCENARIO)
    (scripted / "tiny.toml").write_text(EXPERIMENT.format(policy="llm"))
    code, out, err = lab("sweep", "tiny.toml", "--workers", "2")
    assert code == 0, err
    folder = scripted / "data" / "sweeps" / "tiny"
    assert f"6 of 6 runs, in {folder}" in out
    assert out.endswith("Next: loopforge lab report tiny\n")
    results = (folder / "results.jsonl").read_bytes()
    assert lab("sweep", "tiny.toml", "--rescore")[0] == 0
    assert (folder / "results.jsonl").read_bytes() == results


async def test_a_sweep_that_nobody_answered_finds_nothing(lab: Lab, scripted: Path) -> None:
    """It ends with 3, its first line counts the failures, its report answers no hypothesis."""
    (scripted / "scenarios" / "small.toml").write_text(SCENARIO)
    (scripted / "tiny.toml").write_text(EXPERIMENT.format(policy="llm") + EXPECTED)
    async with serving() as server:
        (scripted / "loopforge.toml").write_text(SERVED.format(url=server.url))
        server.does(Behaviour(status=400, body="{}"))
        code, out, err = await asyncio.to_thread(lab, "sweep", "tiny.toml", "--out", "dead")
        assert {asked.body["model"] for asked in server.asked} == {"named"}
    assert code == 3
    assert out.startswith("answered 0, refused 0, cut off 0, failed 18")
    assert "100.0% were not answered" in err
    code, out, _ = await asyncio.to_thread(lab, "report", "dead", "-o", "dead.html")
    assert (code, out.startswith("answered 0, ")) == (0, True)
    page = (scripted / "dead.html").read_text()
    assert "No finding, for want of answers." in page
    assert "Not decided. " not in page


async def test_a_sweep_goes_on_with_the_model_that_began_it(lab: Lab, scripted: Path) -> None:
    """Where the tier has another first by now, that is an error: an arm would be of two models."""
    (scripted / "scenarios" / "small.toml").write_text(SCENARIO)
    (scripted / "tiny.toml").write_text(EXPERIMENT.format(policy="llm"))
    async with serving() as server:
        home = SERVED.format(url=server.url)
        (scripted / "loopforge.toml").write_text(home)
        server.does(Behaviour(status=400, body="{}"))
        await asyncio.to_thread(lab, "sweep", "tiny.toml", "--out", "mine")
        results = (scripted / "mine" / "results.jsonl").read_bytes()
        (scripted / "mine" / "results.jsonl").write_bytes(results.splitlines(keepends=True)[0])
        turned = home.replace('["named", "other"]', '["other", "named"]')
        (scripted / "loopforge.toml").write_text(turned)
        server.asked.clear()
        code, out, err = await asyncio.to_thread(lab, "sweep", "tiny.toml", "--out", "mine")
        assert (code, out, server.asked) == (2, "", [])
        assert "other models ({'llm': 'named'}, now {'llm': 'other'})" in err


async def test_an_audit_that_nobody_answered_finds_nothing(lab: Lab, scripted: Path) -> None:
    """The run was answered; asked again, its model does not, and it ends with 3. Another is not asked."""
    (scripted / "scenarios" / "small.toml").write_text(SCENARIO)
    run = ("run", "small", "--policy", "llm", "--out", "mine")
    async with serving() as server:
        home = SERVED.format(url=server.url)
        (scripted / "loopforge.toml").write_text(home)
        server.does(Behaviour(pieces=(ANSWER,)))
        assert (await asyncio.to_thread(lab, *run))[0] == 0
        server.does(Behaviour(status=400, body="{}"))
        turned = home.replace('["named", "other"]', '["other", "named"]')
        (scripted / "loopforge.toml").write_text(turned)
        code, out, err = await asyncio.to_thread(lab, "audit", "mine")
        assert {asked.body["model"] for asked in server.asked} == {"named"}
        gone = home.replace("[models.named]", "[models.newer]").replace(
            '"named", "other"', '"other"'
        )
        (scripted / "loopforge.toml").write_text(gone)
        told = await asyncio.to_thread(lab, "audit", "mine")
        assert (told[0], "There is no model 'named'" in told[2]) == (2, True)
    assert code == 3
    assert out.startswith("answered 0, refused 0, cut off 0, failed ")
    assert "were not answered" in err


def test_a_sweep_of_rules_takes_no_wish_for_a_model(lab: Lab, scripted: Path) -> None:
    """Exit code 2, and nothing is begun."""
    (scripted / "scenarios" / "small.toml").write_text(SCENARIO)
    (scripted / "tiny.toml").write_text(EXPERIMENT.format(policy="stub"))
    code, _, err = lab("sweep", "tiny.toml", "--model", "scripted", "--out", "none")
    assert (code, "ask no model: leave out --model" in err) == (2, True)
    assert not (scripted / "none").exists()


@pytest.mark.parametrize("line", [1, 8])
def test_a_run_that_lacks_a_row_is_said_to_be_damaged(lab: Lab, line: int) -> None:
    """Whoever looks at it is told the line, with exit code 2, and nothing is told of the rest."""
    lab("run", *SMALL, "--out", "whole")
    lines = (Path("whole") / LOG).read_bytes().splitlines(keepends=True)
    Path("holed").mkdir()
    (Path("holed") / LOG).write_bytes(b"".join(lines[:line] + lines[line + 1 :]))
    for command in (
        ("story", "holed"),
        ("report", "holed"),
        ("export", "holed"),
        ("audit", "holed"),
        ("diff", "whole", "holed"),
        ("diff", "holed", "whole"),
        ("why", "holed", "0", "Sprocket"),
        ("why", "holed", "last", "Sprocket"),
    ):
        code, _, err = lab(*command)
        assert (code, f"line {line + 1}: row {line + 1} does not follow" in err) == (2, True), err


def test_a_run_without_a_step_has_no_last_one(lab: Lab) -> None:
    """Of a run that was stopped before its first step was over, that is said."""
    lab("run", *SMALL, "--out", "whole")
    Path("head").mkdir()
    with (Path("whole") / LOG).open("rb") as log:
        (Path("head") / LOG).write_bytes(log.readline())
    code, _, err = lab("why", "head", "last", "Sprocket")
    assert (code, "No step of this run is over yet." in err) == (2, True)


def test_a_wish_for_a_model_is_refused_wherever_nobody_is_asked(lab: Lab, scripted: Path) -> None:
    """Exit code 2 from an audit, a run that goes on, and a sweep that is scored from its tapes."""
    (scripted / "scenarios" / "small.toml").write_text(SCENARIO)
    (scripted / "tiny.toml").write_text(EXPERIMENT.format(policy="stub"))
    assert lab("run", "small", "--out", "mine")[0] == 0
    assert lab("sweep", "tiny.toml", "--out", "swept")[0] == 0
    for wish in (("--model", "scripted"), ("--fallback",)):
        for command in (("audit", "mine"), ("run", "--resume", "--out", "mine")):
            code, out, err = lab(*command, *wish)
            assert (code, out, f"leave out {wish[0]}" in err) == (2, "", True)
        code, _, err = lab("sweep", "tiny.toml", "--out", "swept", "--rescore", *wish)
        assert (code, f"asks nobody anything: leave out {wish[0]}" in err) == (2, True)


def test_a_sweep_of_a_model_that_is_not_there_is_not_begun(lab: Lab, scripted: Path) -> None:
    """Exit code 2, with the models there are; no folder is made."""
    (scripted / "scenarios" / "small.toml").write_text(SCENARIO)
    (scripted / "tiny.toml").write_text(EXPERIMENT.format(policy="llm"))
    code, _, err = lab("sweep", "tiny.toml", "--model", "gone", "--out", "none")
    assert (code, "Models that can be asked: embedded, scripted" in err) == (2, True)
    assert not (scripted / "none").exists()


def test_a_report_is_written(lab: Lab, tmp_path: Path) -> None:
    """A run's report is one HTML file, where -o says, or in its folder."""
    lab("run", *SMALL)
    assert lab("report", "first_shift-stub-7", "-o", "mine.html")[0] == 0
    code, out, _ = lab("report", "first_shift-stub-7")
    page = tmp_path / "runs" / "first_shift-stub-7" / "report.html"
    assert (code, "report.html" in out) == (0, True)
    assert page.read_bytes() == (tmp_path / "mine.html").read_bytes()
    assert page.read_text("utf-8").lstrip().lower().startswith("<!doctype html>")


def test_a_run_is_exported(lab: Lab, tmp_path: Path) -> None:
    """Each form is written where -o says, with as many rows as there were decisions."""
    lab("run", *SMALL)
    rows = decisions(tmp_path / "runs" / "first_shift-stub-7")
    for format in ("jsonl", "parquet"):
        code, out, _ = lab("export", "first_shift-stub-7", "--format", format, "-o", format)
        assert (code, f"Wrote {rows} rows to {format}." in out) == (0, True)
        assert (tmp_path / format).stat().st_size > 1000
    assert lab("export", "first_shift-stub-7", "--format", "paper")[0] == 2
