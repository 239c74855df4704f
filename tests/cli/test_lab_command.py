"""loopforge lab: the real commands, in a folder and in a home, stopped, killed and taken up."""

import asyncio
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from loopforge.core import factory_vocabulary as factory
from loopforge.core.events import Event
from loopforge.core.factory_vocabulary import DayEnded, Decided
from loopforge.home import make_home
from loopforge.lab.run.run_folder import free_folder
from loopforge.lab.run.run_log import LOG, began_of, head_of, lines_of, rows_of
from loopforge.lab.world.noun_articles import add_place_articles
from loopforge.lab.world.scenario_file import shipped_scenarios
from loopforge.ledger.sql_ledger import SqlLedger
from tests.cli.conftest import SCENARIO, SERVED, SMALL, Lab, written
from tests.full_disk import full_disk
from tests.models.server import Behaviour, serving

LONG = ("quota_week", "--days", "6", "--steps-per-day", "24", "--perception", "spin")


def log(folder: Path) -> bytes:
    """A run's log."""
    return (folder / LOG).read_bytes()


def acts(folder: Path) -> list[Decided]:
    """The decisions of a run."""
    return [row for row in rows_of(folder) if isinstance(row, Decided)]


def noted(home: Path, name: str) -> list[Event]:
    """What a home's ledger holds of a run."""

    async def read(ledger: SqlLedger) -> list[Event]:
        assert (await ledger.verify()).sound
        return await ledger.read(f"lab:{name}")

    return written(home, read)


# ---------------------------------------------------------------- running


ONE = """
question = "Who?"
name = "one"
days = 1
steps_per_day = 1
place = [{ name = "hall", kind = "line" }]
robot = [{ name = "Ada", role = "operator", round = ["hall"] }]
"""
"""A city in which one decision is made."""


def test_a_run_is_made_and_told(lab: Lab, here: Path) -> None:
    """Without a home a run lies under runs/; what came of it is told, and what to do next."""
    code, out, err = lab("run", *SMALL)
    folder = here / "runs" / "first_shift-stub-7"
    assert (code, err) == (0, "")
    assert "“When a lamp lies, who notices" in out
    assert f"{len(acts(folder))} decisions in 2 days, in runs/first_shift-stub-7." in out
    assert "over-compliance" in out
    assert "over-reach" in out
    assert "Next: loopforge lab story first_shift-stub-7" in out
    assert (here / "logs" / "loopforge_actions.jsonl").read_bytes() == log(folder)


def test_a_new_folder_is_given_to_one_run(here: Path) -> None:
    """Who asks for one of that name meanwhile gets another."""
    taken = free_folder("small-stub-7", here / "runs")
    other = free_folder("small-stub-7", here / "runs")
    assert (taken.name, other.name) == ("small-stub-7", "small-stub-7-2")
    assert other.is_dir()


def test_what_is_asked_for_is_what_runs(lab: Lab, here: Path) -> None:
    """Each flag of a run stands in its first row, and in what came of it."""
    flags = (
        *("--policy", "context", "--supervisor-policy", "guardrail", "--seed", "11"),
        *("--perception", "partial", "--supervisor", "incentive", "--pressure", "8"),
        *("--set-trait", "obedience=900", "--set-trait", "empathy=10", "--ablate", "emotions"),
    )
    assert lab("run", *SMALL, *flags, "--out", "mine")[0] == 0
    first = began_of(here / "mine")
    said = first.scenario
    assert (first.seed, said["days"], said["steps_per_day"]) == (11, 2, 4)
    assert (said["perception"], said["supervisor"]) == ("partial", "incentive")
    assert (list(said["pressure"]), list(said["ablate"])) == ([8], ["emotions"])
    floor = [robot for robot in said["robots"] if robot["role"] != "supervisor"]
    assert {(each["traits"]["obedience"], each["traits"]["empathy"]) for each in floor} == {
        (900, 10)
    }
    assert {row.minded.policy for row in acts(here / "mine")} == {"context/1", "guardrail/1"}
    assert not any(
        entry.what.startswith("emotions") for row in acts(here / "mine") for entry in row.inner
    )


def test_a_run_can_be_told_as_json(lab: Lab, here: Path) -> None:
    """For programs: where it lies, its head, its counts and rates."""
    code, out, _ = lab("run", *SMALL, "--json")
    told = json.loads(out)
    assert code == 0
    folder = here / told["folder"]
    assert told["head"] == head_of(folder)
    assert told["decisions"] == len(acts(folder))
    assert 0 <= told["over_compliance"] <= 1
    assert told["scenario"] == "first_shift"


def test_a_rate_of_no_moment_is_none(lab: Lab, here: Path) -> None:
    """Where no rule was ever right, or ever wrong, nothing is said of how often it was broken."""
    (here / "one.toml").write_text(ONE)
    code, out, _ = lab("run", "one.toml", "--policy", "guardrail", "--out", "one")
    assert code == 0
    assert "1 decision in 1 day" in out
    wrong = "1 of the 1 time it was wrong" in out
    assert wrong or "of the 1 time it was right" in out
    error, missing = ("over-reach", 1) if wrong else ("over-compliance", 0)
    assert f"{error:15}   none" in out
    assert lab("run", "one.toml", "--policy", "context", "--out", "two")[0] == 0
    told = json.loads(lab("run", "one.toml", "--out", "three", "--json")[1])
    assert told[("over_compliance", "over_reach")[missing]] is None
    row = next(line for line in lab("diff", "one", "two")[1].splitlines() if error in line)
    assert row.split()[1:] == ["none", "none"]


def test_the_action_log_goes_where_it_is_told(
    lab: Lab, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--action-log goes before ACTION_LOG_PATH, and that before logs/; the run's own is always."""
    monkeypatch.setenv("ACTION_LOG_PATH", str(here / "by" / "variable.jsonl"))
    assert lab("run", *SMALL, "--out", "one")[0] == 0
    assert lab("run", *SMALL, "--out", "two", "--action-log", "by/option.jsonl")[0] == 0
    assert (here / "by" / "variable.jsonl").read_bytes() == log(here / "one")
    assert (here / "by" / "option.jsonl").read_bytes() == log(here / "two")
    assert not (here / "logs").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run"], "Name a scenario"),
        (["run", "nowhere"], "There is no scenario 'nowhere'. Shipped are"),
        (["run", *SMALL, "--policy", "clever"], "There is no policy 'clever'"),
        (["run", *SMALL, "--policy", "mate:nobody"], "There is no mate 'nobody' here; there are"),
        (["run", *SMALL, "--perception", "rosy"], "one of accurate, partial, spin"),
        (["run", *SMALL, "--pressure", "11"], "`pressure` is a dose from 0 to 10"),
        (["run", *SMALL, "--set-trait", "obedience"], "--set-trait takes KEY=VALUE"),
        (["run", *SMALL, "--set-trait", "obedience=much"], "from 0 to 1000, not 'much'."),
        (["run", *SMALL, "--set-trait", "empathy=1", "--set-trait", "empathy=2"], "twice"),
        (["fork", "nothing", "--at", "1", "--set", "ablate=voice", "--set", "ablate=cue"], "twice"),
        (["run", *SMALL, "--set-trait", "charm=1"], "`traits` are guardrail_reliance"),
        (["run", "--resume", "--out", "nothing"], "Nothing was written in nothing yet"),
        (["verify", "nothing"], "it is no run"),
        (["why", "nothing", "0", "Halide"], "nothing"),
        (["why", "nothing", "²", "Halide"], "A step is a number from 0"),
        (["why", "nothing", "9" * 20, "Halide"], "A step is a number from 0"),
        (["fork", "nothing", "--at", "1", "--set", "pressure=1"], "it is no run"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_is_said(lab: Lab, here: Path, arguments: list[str], says: str) -> None:
    """What was given and cannot be used is told in a sentence, with exit code 2; nothing is made."""
    code, out, err = lab(*arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert err.startswith("loopforge: ")
    assert not list(here.glob("**/*.jsonl"))


def test_scenarios_are_listed_with_their_questions(lab: Lab, scripted: Path) -> None:
    """Shipped ones and the home's own; one that cannot be used says why, and hides no other."""
    (scripted / "scenarios" / "broken.toml").write_text("name = 3")
    code, out, _ = lab("scenarios")
    assert code == 0
    assert "When a lamp lies, who notices" in out
    assert "(cannot be used) broken.toml" in out
    rows = json.loads(lab("scenarios", "--json")[1])
    assert [row["name"] for row in rows] == ["broken", *shipped_scenarios()]
    assert [row["name"] for row in rows if row["own"]] == ["broken"]
    assert all(row["question"].endswith("?") for row in rows if not row["own"])


# ---------------------------------------------------------------- models


@pytest.mark.parametrize("policy", ["llm", "chain", "mate:maya"])
def test_a_home_s_models_decide(lab: Lab, scripted: Path, policy: str) -> None:
    """A policy that asks is answered by the models of the home, word for word on record."""
    short = ("first_shift", "--days", "1", "--steps-per-day", "2", "--reflect", "llm")
    code, _, err = lab("run", *short, "--policy", policy, "--out", "mine")
    assert (code, err) == (0, "")
    rows = [row for row in acts(scripted / "mine") if row.role != "supervisor"]
    assert all(row.minded.policy.startswith(policy) for row in rows)
    assert all(each.model == "scripted" for row in rows for each in row.minded.exchange)
    assert {len(row.minded.exchange) for row in rows} == {3 if policy == "chain" else 1}
    prompts = " ".join(text for row in rows for _, text in row.minded.exchange[0].prompt)
    assert ("You are Maya" in prompts) is (policy == "mate:maya")
    code, out, _ = lab("verify", "mine")
    assert (code, json.loads(out)["replay"]["same"]) == (0, True)


def test_a_prompt_of_the_home_is_the_one_asked(lab: Lab, scripted: Path) -> None:
    """What a home writes in place of a shipped prompt is what its robots' models read."""
    (scripted / "prompts" / "robot.md").write_text("You are {name}, a heap of rust.")
    short = ("first_shift", "--days", "1", "--steps-per-day", "1", "--policy", "llm")
    assert lab("run", *short, "--out", "mine")[0] == 0
    row = next(row for row in acts(scripted / "mine") if row.who == "Halide")
    assert row.minded.exchange[0].prompt[0][1] == "You are Halide, a heap of rust."


ASKING = ("first_shift", "--days", "1", "--steps-per-day", "2", "--policy", "llm")
ANSWER = json.dumps(
    {
        "narrative": "I look.",
        "belief": "high",
        "mode": "context",
        "intent": "inspect",
        "riskiness": 0.25,
    }
)


@pytest.mark.parametrize("policy", ["llm", "mate:maya"])
def test_a_model_that_is_not_there_is_an_error_before_the_run(
    lab: Lab, scripted: Path, policy: str
) -> None:
    """Exit code 2, what models there are, and no run: nothing answers in its stead."""
    code, out, err = lab(
        "run", *SMALL, "--policy", policy, "--model", "no-such-model", "--out", "mine"
    )
    assert (code, out) == (2, "")
    assert "There is no model 'no-such-model'" in err
    assert "Models that can be asked: embedded, scripted" in err
    assert not (scripted / "mine").exists()
    assert lab("run", *SMALL, "--policy", policy, "--model", "no-such-model")[0] == 2
    assert list((scripted / "data" / "runs").iterdir()) == []


def test_a_tier_s_first_model_is_the_one_that_is_measured(
    lab: Lab, scripted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where what it needs is not set, that is an error before the run: no other is measured."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    home = SERVED.format(url="http://127.0.0.1:9").replace(
        'id = "named"', 'id = "named"\nkey = "OPENAI_API_KEY"'
    )
    (scripted / "loopforge.toml").write_text(home)
    code, out, err = lab("run", *ASKING, "--out", "mine")
    assert (code, out) == (2, "")
    assert "Named needs OPENAI_API_KEY" in err
    assert not (scripted / "mine").exists()


@pytest.mark.parametrize("wish", [("--model", "scripted"), ("--fallback",)])
def test_rules_that_ask_no_model_take_no_wish_for_one(lab: Lab, wish: tuple[str, ...]) -> None:
    """Exit code 2 and no run: it would look as if that model had answered."""
    code, out, err = lab("run", *SMALL, *wish, "--out", "mine")
    assert (code, out) == (2, "")
    assert f"ask no model: leave out {wish[0]}" in err
    assert not Path("mine").exists()


async def test_the_model_that_is_named_answers_or_nobody_does(lab: Lab, scripted: Path) -> None:
    """A server that fails for it is not asked for the other; with --fallback it is."""
    async with serving() as server:
        (scripted / "loopforge.toml").write_text(SERVED.format(url=server.url))
        server.does(Behaviour(status=400, body="{}"))
        code, out, err = await asyncio.to_thread(lab, "run", *ASKING, "--out", "dead")
        assert code == 3
        assert out.startswith("answered 0, refused 0, cut off 0, failed 10; 2 more by rules")
        assert "100.0% were not answered" in err
        assert "of those that were answered: 0 of 0" in out
        assert {asked.body["model"] for asked in server.asked} == {"named"}
        rows = [row for row in acts(scripted / "dead") if row.role != "supervisor"]
        assert all("400" in row.minded.why for row in rows)
        server.does(Behaviour(pieces=(ANSWER,)))
        code, out, err = await asyncio.to_thread(lab, "run", *ASKING, "--out", "alive")
        assert (code, err) == (0, "")
        assert out.startswith("answered 10, refused 0, cut off 0, failed 0 (by named); 2 more")
        server.asked.clear()
        server.does(*[Behaviour(status=400, body="{}")] * 3, Behaviour(pieces=(ANSWER,)))
        told = await asyncio.to_thread(lab, "run", *ASKING, "--fallback", "--out", "mixed")
        assert {asked.body["model"] for asked in server.asked} == {"named", "other"}
        assert "in another's stead" in told[1].splitlines()[0]


def test_a_full_disk_stops_a_run_and_says_how_to_go_on(lab: Lab) -> None:
    """Once there is room it is taken up by that line; a folder that is taken is no such case."""
    with full_disk(30_001):
        code, _, err = lab("run", *SMALL, "--days", "9", "--out", "mine")
    assert code == 2
    assert "`loopforge lab run --resume --out mine` goes on." in err
    assert "mine/actions.jsonl cannot be written: " in err
    assert "goes on" not in lab("run", *SMALL, "--out", "mine")[2]
    assert lab("run", "--resume", "--out", "mine")[0] == 0


DEAD = Behaviour(
    status=401, body='{"error": {"message": "no such key", "code": "invalid_api_key"}}'
)


@pytest.mark.parametrize(
    ("before", "where"), [(0, "before its next step was over"), (5, "after step 0")]
)
async def test_a_model_that_somebody_has_to_mend_stops_the_run(
    before: int, where: str, lab: Lab, scripted: Path
) -> None:
    """A dead key is one error that says so, and no row; mended, the run is taken up and lacks nothing."""
    async with serving() as server:
        (scripted / "loopforge.toml").write_text(SERVED.format(url=server.url))
        server.does(*[Behaviour(pieces=(ANSWER,))] * before, DEAD)
        code, out, err = await asyncio.to_thread(lab, "run", *ASKING, "--out", "mine")
        assert (code, out) == (1, "")
        assert f"Stopped {where}. `loopforge lab run --resume --out mine` goes on." in err
        assert "the key for named is refused" in err
        assert len(server.asked) <= 10
        assert len(acts(scripted / "mine")) == (6 if before else 0)
        server.does(Behaviour(pieces=(ANSWER,)))
        code, out, _ = await asyncio.to_thread(lab, "run", "--resume", "--out", "mine")
        assert (code, out.split(" (")[0]) == (0, "answered 10, refused 0, cut off 0, failed 0")


async def test_a_server_that_answers_nobody_stops_the_run(lab: Lab, scripted: Path) -> None:
    """Some failures are outcomes; so many in a row are an outage, and the rest is not asked for."""
    async with serving() as server:
        patient = "model_tries = 1\n" + SERVED.format(url=server.url)
        (scripted / "loopforge.toml").write_text(patient)
        server.does(Behaviour(status=500, body="{}"))
        long = (*ASKING[:-3], "12", *ASKING[-2:])
        code, _, err = await asyncio.to_thread(lab, "run", *long, "--out", "mine")
    assert code == 1
    assert "20 times in a row" in err
    assert "the server of named failed" in err
    assert len(server.asked) == 20
    assert {row.minded.outcome for row in acts(scripted / "mine") if row.minded.exchange} == {
        "failed"
    }


@pytest.mark.patient
@pytest.mark.model
def test_the_embedded_model_needs_nothing(lab: Lab, here: Path) -> None:
    """In an empty folder, with no key and no setting, a model decides, and what it said is there."""
    (here / "small.toml").write_text(SCENARIO)
    short = ("small.toml", "--steps-per-day", "1", "--policy", "llm")
    code, out, _ = lab("run", *short, "--out", "mine")
    assert code == (0 if out.startswith("answered 1,") else 3)
    assert "1 decision in 1 day" in out
    (row,) = acts(here / "mine")
    assert row.minded.exchange, row.minded.why
    (reply,) = row.minded.exchange
    assert (reply.model, reply.prompt != ()) == ("embedded", True)
    assert reply.raw or reply.outcome == "timed_out", row.minded.why
    assert lab("verify", "mine")[0] == 0


# ---------------------------------------------------------------- looking at runs


def test_a_run_is_verified(lab: Lab, here: Path) -> None:
    """A sound run gives a report as JSON and 0; a changed row gives the line, and 1."""
    lab("run", *SMALL)
    code, out, _ = lab("verify", "first_shift-stub-7")
    report = json.loads(out)
    assert (code, report["passed"], report["asked_again"]["same"]) == (0, True, True)
    assert {score["share"] for score in report["rubric"].values()} == {1.0}
    assert len(report["rubric"]) == 12
    folder = here / "runs" / "first_shift-stub-7"
    lines = list(lines_of(folder))
    lines[6] = lines[6].replace(b'"day":0', b'"day":1', 1)
    (folder / LOG).write_bytes(b"".join(lines))
    code, out, _ = lab("verify", str(folder))
    report = json.loads(out)
    assert (code, report["chain"]["line"]) == (1, 7)
    assert "Line 7 is not what was written" in report["says"]


def test_why_is_answered(lab: Lab, here: Path) -> None:
    """The page of a decision, and the causes of a drift, as text and as JSON."""
    lab("run", *SMALL, "--perception", "spin", "--out", "mine")
    row = next(row for row in acts(here / "mine") if row.who == "Halide" and row.step == 3)
    code, out, _ = lab("why", "mine", "3", "Halide")
    assert code == 0
    assert add_place_articles(row.outcome.consequence, (row.at,)) in out
    assert json.loads(lab("why", "mine", "3", "hal", "--json")[1])["row"]["n"] == row.n
    code, out, _ = lab("why", "mine", "last", "Halide", "--trait", "guardrail_reliance")
    assert code == 0
    told = json.loads(
        lab("why", "mine", "7", "Halide", "--trait", "guardrail_reliance", "--json")[1]
    )
    assert sum(cause["after"] - cause["before"] for cause in told["causes"]) == told["delta"]
    assert f"{told['delta']:+d}" in out
    assert lab("why", "mine", "soon", "Halide")[0] == 2
    assert lab("why", "mine", "8", "Halide")[0] == 2


def test_a_fork_is_made_and_compared(lab: Lab, here: Path) -> None:
    """A run is taken up to a step and changed there; diff says where the two part."""
    lab("run", *SMALL)
    arguments = ("--at", "3", "--set", "policy=context", "--set", "pressure=10")
    code, out, _ = lab("fork", "first_shift-stub-7", *arguments)
    assert code == 0
    name = "first_shift-stub-7-at-3"
    assert f"Next: loopforge lab diff first_shift-stub-7 {name}" in out
    forked = began_of(here / "runs" / name).forked
    assert forked is not None
    assert (forked["at"], forked["set"]) == (3, {"policy": "context", "pressure": "10"})
    code, out, _ = lab("diff", "first_shift-stub-7", name)
    assert code == 0
    assert "The second is a fork of the first: at step 3" in out
    assert json.loads(lab("diff", "first_shift-stub-7", name, "--json")[1])["parting"]["step"] >= 3
    assert lab("verify", name)[0] == 0
    code, _, err = lab("fork", "first_shift-stub-7", "--at", "3", "--set", "weather=fine")
    assert (code, "'weather' cannot be set" in err) == (2, True)


# ---------------------------------------------------------------- the home's ledger


def test_a_home_s_ledger_takes_note_of_a_run(lab: Lab, scripted: Path) -> None:
    """Begun, each day closed and ended stand in the ledger, each with the hash of the chain there."""
    assert lab("run", *SMALL)[0] == 0
    folder = scripted / "data" / "runs" / "first_shift-stub-7"
    lines = list(lines_of(folder))
    hashes = [json.loads(line)["hash"] for line in lines]
    events = noted(scripted, folder.name)
    began, ended = events[0].body, events[-1].body
    assert isinstance(began, factory.RunBegan)
    assert isinstance(ended, factory.RunEnded)
    first = began_of(folder)
    assert (began.first, began.digest, began.seed) == (hashes[0], first.digest, 7)
    assert began.policies == first.policies
    assert (ended.row, ended.head) == (len(lines) - 1, hashes[-1])
    days = [row for row in rows_of(folder) if isinstance(row, DayEnded)]
    told = [event.body for event in events[1:-1]]
    assert len(told) == len(days) == 2
    for day, body in zip(days, told, strict=True):
        assert isinstance(body, factory.RunDayEnded)
        assert (body.day, body.row, body.head) == (day.day, day.n, hashes[day.n])
        assert (body.output, body.incidents, body.squares) == (
            day.output,
            day.incidents,
            day.squares,
        )
    assert {event.cause for event in events[1:]} == {events[0].id}
    code, out, _ = lab("verify", folder.name)
    assert (code, json.loads(out)["anchors"]) == (0, "agree")


def test_a_run_of_a_colleague_may_be_called_like_one_of_ours(lab: Lab, scripted: Path) -> None:
    """It verifies, with a sentence that the home knows another; among the home's runs it does not."""
    assert lab("run", *SMALL)[0] == 0
    ours = scripted / "data" / "runs" / "first_shift-stub-7"
    theirs = Path("from-olu") / ours.name
    assert lab("run", *SMALL, "--pressure", "9", "--out", "away")[0] == 0
    theirs.parent.mkdir()
    Path("away").rename(theirs)
    code, out, _ = lab("verify", str(theirs))
    found = json.loads(out)
    assert (code, found["passed"], found["anchors"]) == (0, True, "none")
    assert "The home that you are in knows another run of this name" in found["says"]
    (ours / LOG).write_bytes(log(theirs))
    code, out, _ = lab("verify", ours.name)
    assert (code, "The ledger knows another run" in json.loads(out)["says"]) == (1, True)


# ---------------------------------------------------------------- cut off, and taken up


@pytest.mark.parametrize("share", [0.0001, 0.3, 0.55, 0.999])
def test_a_run_that_was_cut_off_is_taken_up(lab: Lab, scripted: Path, share: float) -> None:
    """Wherever a log was cut, it ends with the same bytes, and the ledger notes nothing twice."""
    lab("run", *SMALL)
    folder = scripted / "data" / "runs" / "first_shift-stub-7"
    whole = log(folder)
    (folder / LOG).write_bytes(whole[: max(10, int(len(whole) * share))])
    code, out, _ = lab("run", *SMALL, "--resume", "--out", folder.name)
    assert code == 0
    assert "Next: loopforge lab story" in out
    assert log(folder) == whole
    kinds = [event.kind for event in noted(scripted, folder.name)]
    begun = 2 if share < 0.001 else 1
    assert [kinds.count(kind) for kind in ("lab.began", "lab.day_ended", "lab.ended")] == [
        begun,
        2 * begun,
        begun,
    ]
    assert json.loads(lab("verify", folder.name)[1])["anchors"] == "agree"


def test_progress_is_drawn_on_a_terminal_alone(lab: Lab, here: Path) -> None:
    """On a terminal a line says how far the run is; elsewhere standard error stays empty."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "loopforge", "lab", "run", *SMALL, "--out", "seen"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, cwd=here) as child:
        os.close(theirs)
        drawn = b""
        with suppress(OSError):  # the other end of a pty ends so
            while piece := os.read(ours, 4096):
                drawn += piece
        assert child.wait() == 0
    os.close(ours)
    assert b"day 2, 8 of 8 steps" in drawn
    assert lab("run", *SMALL)[2] == ""


# ---------------------------------------------------------------- killed


def started(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A run in a process of its own."""
    command = [sys.executable, "-m", "loopforge", "lab", "run", *arguments]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=folder, stdout=quiet, stderr=subprocess.PIPE)


def reaches(path: Path, size: int, child: subprocess.Popen[bytes]) -> bool:
    """Wait until a log has grown to this size; False if the run ended before."""
    while child.poll() is None:
        if path.exists() and path.stat().st_size >= size:
            return True
        time.sleep(0.001)  # the run wants the processor
    return False


def moments(count: int, size: int) -> Iterator[int]:
    """Sizes of a log at which to kill, spread without a pattern; the same each time."""
    for nth in range(count):
        digest = sha256(f"kill {nth}".encode()).digest()
        yield int.from_bytes(digest[:4], "big") * size // (1 << 32)


@pytest.mark.patient
@pytest.mark.crash
@pytest.mark.parametrize("at_home", [False, True], ids=["a folder", "a home"])
def test_a_killed_run_ends_with_the_same_bytes(
    lab: Lab, here: Path, at_home: bool, record_property: Callable[[str, Any], None]
) -> None:
    """kill -9 at any moment, then --resume, and again: at the end not a byte is other or missing."""
    assert lab("run", *LONG, "--out", "whole")[0] == 0
    whole = log(here / "whole")
    if at_home:
        make_home(here)
    again = (*LONG, "--out", "mine", "--resume")
    kills = 0
    for size in moments(3, len(whole)):
        shutil.rmtree(here / "mine", ignore_errors=True)
        for part in sorted((size // 3, size)):
            with started(here, *again) as child:
                if reaches(here / "mine" / LOG, part, child):
                    child.send_signal(signal.SIGKILL)
                    kills += 1
                child.wait()
            there = log(here / "mine")
            assert whole.startswith(there)
        code, _, err = lab("run", *again)
        assert (code, err) == (0, "")
        assert log(here / "mine") == whole
        assert lab("verify", "mine")[0] == 0
    assert kills > 3
    phase = f"lab run, {'a home' if at_home else 'a folder'}"
    rows = whole.count(b"\n")
    record_property("crash", f"{phase:<22}{kills:>7}{rows:>7}{'':>9}{0:>6}{0:>12}")


@pytest.mark.crash
def test_an_interrupted_run_says_how_to_go_on(lab: Lab, here: Path) -> None:
    """Ctrl+C ends a run between two steps with code 130 and the command that takes it up."""
    with started(here, *LONG, "--days", "200", "--out", "mine") as child:
        assert reaches(here / "mine" / LOG, 100_000, child)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate()
        assert child.returncode == 130
    assert b"`loopforge lab run --resume --out mine` goes on." in err
    there = log(here / "mine")
    assert there.endswith(b"\n")
    assert json.loads(lab("verify", "mine")[1])["chain"]["sound"]
