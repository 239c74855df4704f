"""What commands are tried in: an empty folder, a home, and one whose models are scripted."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from loopforge.app import App, open_app
from loopforge.cli import main
from loopforge.home import make_home
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger_opening import open_ledger_of
from loopforge.models.scripted_model import ScriptedModels
from loopforge.settings import load_settings

T = TypeVar("T")

Run = Callable[..., tuple[int, str, str]]
Lab = Run
SMALL = ("first_shift", "--days", "2", "--steps-per-day", "4")
SERVED = """\
[models.named]
base_url = "{url}/v1"
id = "named"
[models.other]
base_url = "{url}/v1"
id = "other"
[tiers]
1 = ["named", "other"]
2 = ["other"]
3 = ["other"]
4 = ["other"]
"""
"""Settings of a home whose models are a server's."""
SCENARIO = """\
name = "small"
question = "What does one robot do?"
days = 1
steps_per_day = 3
[[place]]
name = "press hall"
kind = "line"
[[robot]]
name = "Sprocket"
role = "maintenance"
round = ["press hall"]
"""


def typing(capsys: pytest.CaptureFixture[str], *before: str) -> Run:
    """Run `loopforge` with these words and more: exit code, standard output, standard error."""

    def typed(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([*before, *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return typed


def hosted(home: Path, work: Callable[[App], Awaitable[T]]) -> T:
    """What comes of something that is done with the parts of a home, whose mates sleep."""

    async def host() -> T:
        settings = load_settings(home, environ={})
        async with open_app(settings, models=ScriptedModels(), wake=False) as app:
            return await work(app)

    return asyncio.run(host())


def does_what_the_page_says(run: Run, page: Path, steps: int, before: str) -> None:
    """Each command of the page's session, begun by these words, tells what stands below it."""
    session = page.read_text("utf-8").partition("```console\n")[2].partition("```")[0]
    told = [step.partition("\n") for step in session.split(f"$ {before} ")[1:]]
    assert len(told) == steps
    for command, _, shown in told:
        code, out, error = run(*shlex.split(command))
        assert (code, out) == (0, shown), error


def written(home: Path, work: Callable[[SqlLedger], Awaitable[T]]) -> T:
    """What comes of something that is done with a home's ledger alone."""

    async def open() -> T:
        async with open_ledger_of(load_settings(home, environ={})) as ledger:
            return await work(ledger)

    return asyncio.run(open())


@pytest.fixture
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A home as it is made, and as `fill` of the test's module fills it."""
    make_home(tmp_path)
    if fill := getattr(request.module, "fill", None):
        hosted(tmp_path, fill)
    return tmp_path


@pytest.fixture
def begun(home: Path) -> None:
    """The home was run before."""

    async def nothing(_: App) -> None: ...

    hosted(home, nothing)


@pytest.fixture
def run(request: pytest.FixtureRequest, home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `loopforge NOUN ...` in the home; the noun is NOUN of the test's module."""
    return typing(capsys, "--home", str(home), request.module.NOUN)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one, with nothing set."""
    monkeypatch.chdir(tmp_path)
    for name in ("ACTION_LOG_PATH", "LOOPFORGE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def lab(here: Path, capsys: pytest.CaptureFixture[str]) -> Lab:
    """Run `loopforge lab ...` there."""
    return typing(capsys, "lab")


@pytest.fixture
def scripted(here: Path) -> Path:
    """A home in the current folder, whose models are scripted."""
    make_home(here)
    tiers = "\n".join(f'{tier} = ["scripted"]' for tier in range(1, 5))
    (here / "loopforge.toml").write_text(f"[tiers]\n{tiers}\n")
    return here
