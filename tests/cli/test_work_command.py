"""loopforge work, as a person types it; the model answers by script, commands are real."""

import asyncio
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loopforge import host
from loopforge.cli.work.task_watching import TaskWatcher, join_or_run_home, next_step_hint
from loopforge.core.text.erasable_text import Words
from loopforge.core.work.work_vocabulary import ResultOffered, TaskStopped
from loopforge.errors import LedgerFull, LedgerRewound, Overtaken
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.settings import load_settings
from loopforge.work.task_state import TaskState
from tests.cli.conftest import Run, typing

NOUN = "work"
DOCS = Path(__file__).parents[2] / "docs" / "work.md"
TASK = "41fa58d6"
TOML = """\
embedded_model = false
web = false

[models.s]
provider = "scripted"

[tiers]
1 = ["s"]
2 = ["s"]
3 = ["s"]
4 = ["s"]
"""


@pytest.fixture
def home(place: Path) -> Path:
    """A home with scripted models."""
    (place / "loopforge.toml").write_text(TOML)
    return place


def test_a_task_whose_watcher_is_cut_off_is_told_how_to_go_on(run: Run, home: Path) -> None:
    """Behind `| head` the command says where its task is left, and that hint takes it up."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "loopforge", "--home", str(home), "work", "run"]
    out = subprocess.run(
        [*command, "run echo hello"], stdout=writing, stderr=subprocess.PIPE, text=True
    )
    os.close(writing)
    told = re.fullmatch(
        r"Nobody reads any more. Task (\w{8}): Nobody runs this home: "
        r"`loopforge (work resume \1)` goes on with it here.\n",
        out.stderr,
    )
    assert told, out.stderr
    assert out.returncode == 141
    _, listed, _ = run("list")
    assert listed.splitlines()[0].startswith(f"{told[1]}  left amid")
    assert "`loopforge work resume TASK`" in listed
    for row in (
        *json.loads(run("list", "--json")[1]),
        json.loads(run("show", told[1], "--json")[1]),
    ):
        assert (row["left_amid"], row["allowing"]) == (True, [])
    code, shown, _ = run(*told[2].split()[1:])
    assert code == 0
    assert "Done after 1 turn" in shown
    assert "left amid" not in run("list")[1]
    assert not json.loads(run("list", "--json")[1])[0]["left_amid"]


def test_a_task_is_given_watched_and_taken(run: Run) -> None:
    """From its line to a yes: every step is told, and all of it is on record."""
    code, out, _ = run("run", "run echo hello")
    assert code == 0
    for told in ("Starting work.", "by shell", "[exit code 0", "hello", "Done after 1 turn"):
        assert told in out
    (row,) = json.loads(run("list", "--json")[1])
    assert (row["stage"], row["flow"]) == ("finished", "shell")
    short = row["id"][-8:]
    assert f"{short}  finished" in run("list")[1]
    assert "Taken as command" in run("show", short)[1]
    assert run("approve", short)[1] == "Approved.\n"
    assert run("approve", short)[1] == "It is approved already; nothing was done again.\n"
    assert "Brier score" in run("calibration")[1]
    kinds = [json.loads(line)["kind"] for line in run("export", short)[1].splitlines()]
    assert kinds[0] == "task.opened"
    assert kinds[-1] == "task.approved"
    assert run("forget", short, "--yes")[1] == "Forgotten, with all its files.\n"
    assert "run echo hello" not in run("list")[1]
    assert "was forgotten" in run("resume", short)[2]


def test_a_turn_of_a_task_is_asked_why_by_its_number(
    run: Run, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`show` names the command; and what commands printed keeps where its rows begin."""
    _, out, _ = run("run", "run echo '  hello'")
    assert "\n      hello\n" in out
    (row,) = json.loads(run("list", "--json")[1])
    turn = f"{row['id'][-8:]}#1"
    assert f"`loopforge why {turn}` tells how turn 1 came about.\n" in run("show", row["id"])[1]
    typed = typing(capsys, "--home", str(home))
    code, out, _ = typed("why", turn)
    assert (code, "work_run" in out) == (0, True)
    assert "It was at work on a task (done)." in out
    assert "everything that was said and done in this task" in out
    assert "looked at the task" in out
    assert "the room" not in out
    assert "There is no event" in typed("why", turn.replace("#1", "#7"))[2]


def test_where_its_files_lie_is_told(run: Run) -> None:
    """Who has no page open finds what a task made, when it ends and whenever it is shown."""
    _, out, _ = run("run", "run echo hello > 'a b.txt'")
    (folder,) = re.findall(r"^Its files lie in (.+)$", out, re.MULTILINE)
    assert (Path(folder) / "a b.txt").read_text() == "hello\n"
    (row,) = json.loads(run("list", "--json")[1])
    assert f"Its files lie in {folder}\n" in run("show", row["id"])[1]
    assert "Its files" not in run("run", "run echo hello")[1]


def test_a_task_that_asks_is_answered(run: Run) -> None:
    """A model that does not get on asks in the end; a line goes on, and another corrects it."""
    code, out, _ = run("run", "Write a Python script hello.py that prints 42")
    assert code == 0
    assert "It asks: I do not get on with this" in out
    (row,) = json.loads(run("list", "--json")[1])
    assert row["stage"] == "waiting"
    assert row["question"].startswith("I do not get on")
    code, out, _ = run("say", row["id"], "no, just answer")
    assert code == 0
    assert "It is taken otherwise from now on: simple." in out
    assert "Result:" in out


def test_the_page_on_tasks_does_what_it_says(run: Run) -> None:
    """Each command of docs/work.md, one after the other, tells what stands below it."""
    session = DOCS.read_text("utf-8").partition("```console\n")[2].partition("```")[0]
    steps = [step.partition("\n") for step in session.split("$ loopforge work ")[1:]]
    assert len(steps) == 6
    short = ""
    for command, _, told in steps:
        code, out, error = run(*shlex.split(command.replace(TASK, short)))
        short = short or json.loads(run("list", "--json")[1])[0]["id"][-8:]
        shown = re.sub(r"\d+\.\d s\]", "0.1 s]", out.replace(short, TASK))
        assert (code, shown) == (0, told), error


def test_a_repository_is_watched_as_the_page_says(run: Run, home: Path) -> None:
    """The command of docs/work.md begins it; nothing new asks nobody; then it is watched no more."""
    project = home / "parser"
    project.mkdir()
    (project / "app.py").write_text("def f(): pass\n")
    for words in (("init", "-qb", "main"), ("add", "."), ("commit", "-qm", "begin")):
        who = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org")
        subprocess.run(["git", "-C", str(project), *who, *words], check=True)
    assert run("run", "run echo hello")[0] == 0
    page = DOCS.read_text("utf-8").partition("## Watching a repository\n\n    loopforge work ")[2]
    typed = page.partition("\n")[0].replace("../parser", str(project))
    assert "every day, 09:00; first" in run(*shlex.split(typed))[1]
    assert "no room called" in run("watch", "start", str(project), "--room", "commons")[2]
    assert run("watch", "look", "parser")[1] == "No docstring is missing in what is new.\n"
    (row,) = json.loads(run("watch", "list", "--json")[1])
    assert (row["repo"], row["mate"], row["budget"]) == ("parser", "maya", 0.5)
    assert "$0.5 a task; by maya" in run("watch", "list")[1]
    assert run("watch", "stop", "parser")[1] == "parser is watched no longer.\n"
    assert "is not watched" in run("watch", "look", "parser")[2]


@pytest.mark.parametrize("budget", ["inf", "1e400"])
def test_a_budget_without_end_is_refused_and_nothing_is_kept(run: Run, budget: str) -> None:
    """No event could be read that holds one; the home goes on with other tasks."""
    wrong = "A budget is a number of US dollars"
    code, _, err = run("run", "run echo hello", "--detach", "--budget", budget)
    assert (code, wrong in err) == (2, True)
    assert run("list")[1] == "There are no tasks yet.\n"
    assert run("run", "run echo hello")[0] == 0
    short = json.loads(run("list", "--json")[1])[0]["id"][-8:]
    code, _, err = run("resume", short, "--budget", budget)
    assert (code, wrong in err) == (2, True)
    assert len(json.loads(run("list", "--json")[1])) == 1


def test_what_was_at_work_goes_on_and_that_is_said(run: Run) -> None:
    """Work that was cut off goes on beside what the next command is about, in so many words."""
    code, out, err = run("run", "run echo before", "--detach")
    assert (code, err) == (0, "Nobody runs this home; `loopforge up` works on it.\n")
    short = out.strip()[-8:]
    assert f"`loopforge work resume {short}` goes on with it here." in run("show", short)[1]
    _, _, err = run("run", "run echo now")
    assert err.splitlines()[0] == f"Beside it goes on what was at work: {short} (run echo before)."
    assert run("resume", short)[0] == 0
    assert f"{short}  finished" in run("list")[1]


def test_what_can_be_done_is_what_would_be_done(run: Run, home: Path) -> None:
    """A result without a commit is not offered for approval, nor a task without money for going on."""
    made = home / "made"
    made.mkdir()
    for words in ("init -q -b main .", "commit -q --allow-empty -m begun"):
        who = ("-c", "user.name=Ana", "-c", "user.email=ana@home")
        subprocess.run(("git", *who, *words.split()), cwd=made, check=True)
    (made / "new.py").touch()
    _, out, err = run("run", "run echo nothing", "--repo", str(made))
    assert err == "Not committed, so that the task does not see it: new.py.\n"
    assert "There is nothing to merge" in out
    assert "work approve" not in out
    assert " has it go on, " in out.splitlines()[-1]
    offer = ResultOffered(
        commit="c0ffee", branch=Words("b"), base="", message=Words("m"), diff=Words("d")
    )
    offers = TaskState(stream="task:1234567890", stage="finished", offered=offer)
    assert next_step_hint(offers).startswith(
        "`loopforge work show 34567890 --diff` shows the change; "
    )
    poor = TaskState(
        stream="task:1234567890",
        stage="stopped",
        halted=TaskStopped(kind="money", why=Words("it cost $1")),
    )
    assert "`loopforge work resume 34567890 --budget 1`" in next_step_hint(poor)


def test_what_cannot_be_is_told(run: Run) -> None:
    """No such task, nothing said, nothing that waits: a sentence each, and exit code 2."""
    assert run("run", "run echo hello")[0] == 0
    for words, told in (
        (("show", "zzzz"), "there is no such task"),
        (("forget", "0", "--yes"), "there is no such task"),
        (("run", "  "), "There is nothing in it"),
        (("run", "x", "--mate", "zed"), "There is no mate 'zed'"),
        (("run", "x", "--thread", "room:lounge"), "say by --mate who is to do it"),
    ):
        code, _, error = run(*words)
        assert (code, told in error) == (2, True)


def test_each_event_is_a_line_of_json(run: Run) -> None:
    """With --json a program can follow a task."""
    code, out, _ = run("run", "run echo hello", "--json")
    assert code == 0
    kinds = [json.loads(line)["kind"] for line in out.splitlines()]
    assert kinds[:3] == ["task.opened", "task.classified", "task.leased"]
    assert kinds[-1] == "task.scored"


async def test_a_home_that_another_took_over_ends_the_command_in_a_sentence(home: Path) -> None:
    """What was raised amid the work is what comes out of it: exit code 3, and no traceback."""
    with pytest.raises(Overtaken, match="on another machine"):
        async with join_or_run_home(load_settings(home, environ={})):
            raise Overtaken("It runs on another machine now.")


async def test_a_command_whose_ledger_is_gone_ends(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that runs the home looks, as any host does, whether the ledger is still its own."""
    monkeypatch.setattr(host, "OVERTAKEN_PAUSE", 0.01)
    settings = load_settings(home, environ={})

    async def lose_the_ledger() -> None:
        async with asyncio.timeout(60), join_or_run_home(settings):
            (settings.data / "loopforge.db").rename(home / "aside.db")
            await asyncio.Event().wait()

    with pytest.raises(LedgerRewound):
        await lose_the_ledger()


@pytest.mark.parametrize("stop", ["is refused", "takes for ever"])
async def test_ctrl_c_ends_a_watcher_also_where_its_stop_is_not_written(
    home: Path, monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    """What keeps the task from being stopped is raised; who presses again waits for nothing."""

    async def not_written(*_: object) -> str:
        if stop == "is refused":
            raise LedgerFull("The disk is full.")
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()
        return ""

    async with (
        join_or_run_home(load_settings(home, environ={})) as (app, here),
        BackgroundTasks() as tasks,
        asyncio.timeout(60),
    ):
        task = await app.work.tasks.open("run sleep 100", "terminal:me", owner=True)
        monkeypatch.setattr(app.work.tasks, "stop", not_written)
        watching = tasks.spawn(TaskWatcher(app, here, as_json=False).watch(task, "me"), "watching")
        while (await app.work.tasks.store.named(task)).stage != "working":
            await asyncio.sleep(0.01)
        signal.raise_signal(signal.SIGINT)
        if stop == "is refused":
            with pytest.raises(LedgerFull):
                await watching
        else:
            assert await watching == 130
