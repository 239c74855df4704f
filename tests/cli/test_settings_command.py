"""loopforge settings: see, set, undo, keys; and a home that runs hears of it."""

import asyncio
import io
import json
import stat
from pathlib import Path

import pytest

from loopforge.app import open_app
from loopforge.cli import main
from loopforge.errors import BadSettings
from loopforge.models.scripted_model import ScriptedModels
from loopforge.models_opening import tiers_of
from loopforge.settings import load_settings
from tests.cli.conftest import Run, written

NOUN = "settings"
KEY = "sk-planted-0123456789"


pytestmark = pytest.mark.usefixtures("begun")


def test_a_setting_is_set_seen_and_undone(run: Run) -> None:
    """Nothing is set; one is; it is taken back."""
    assert run("list") == (0, "Everything stands at its default.\n", "")
    assert run("set", "idle_minutes", "30") == (0, "idle_minutes is 30.0.\n", "")
    assert run("set", "web_port", "9000") == (0, "web_port is 9000 from the next start on.\n", "")
    _, out, _ = run("list", "--json")
    assert json.loads(out)[0] == {
        "name": "idle_minutes",
        "value": "30.0",
        "source": "data/settings.json",
    }
    assert run("undo", "idle_minutes") == (0, "idle_minutes is 240.0.\n", "")
    assert run("undo", "idle_minutes") == (0, "idle_minutes is 30.0.\n", "")
    assert run("set", "idle_minutes", "") == (0, "idle_minutes is 240.0.\n", "")


def test_what_cannot_be_is_refused(run: Run, home: Path) -> None:
    """One sentence that says what may be; nothing is saved."""
    code, out, err = run("set", "idle_minutes", "soon")
    assert (code, out) == (2, "")
    assert (
        "`idle_minutes` (data/settings.json) is 'soon'; it must be a number from 0 to 5,256,000."
        in err
    )
    code, _, err = run("set", "idle_minuets", "5")
    assert (code, "There is no setting `idle_minuets`; did you mean `idle_minutes`?" in err) == (
        2,
        True,
    )
    code, _, err = run("set", "models", "gpt-5")
    assert (code, "`models` (data/settings.json) must be a table: write it" in err) == (2, True)
    assert not (home / "data/settings.json").exists()


def test_a_key_is_kept_closed_and_shown_nowhere(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read from standard input; the file is its owner's; the ledger knows its name alone."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    assert run("key", "OPENAI_API_KEY") == (0, "OPENAI_API_KEY is saved.\n", "")
    saved = home / "data/keys.json"
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert load_settings(home, environ={}).keys == {"OPENAI_API_KEY": KEY}
    assert load_settings(home, environ={"OPENAI_API_KEY": "of here"}).keys == {
        "OPENAI_API_KEY": "of here"
    }
    rows = written(home, lambda ledger: ledger.read("home"))
    assert KEY not in str(rows)
    kept = [path for path in home.rglob("*") if path.is_file() and KEY in path.read_text("latin-1")]
    assert kept == [saved]
    for nothing in ("", " \n"):
        monkeypatch.setattr("sys.stdin", io.StringIO(nothing))
        code, out, err = run("key", "OPENAI_API_KEY")
        assert (code, out, "Nothing was given for OPENAI_API_KEY; --remove" in err) == (2, "", True)
    assert load_settings(home, environ={}).keys == {"OPENAI_API_KEY": KEY}
    assert run("key", "OPENAI_API_KEY", "--remove") == (0, "OPENAI_API_KEY is removed.\n", "")
    assert load_settings(home, environ={}).keys == {}
    code, _, err = run("key", "PATH", "--remove")
    assert (code, "no variable of a model service" in err) == (2, True)


async def test_a_home_that_runs_hears_of_it(home: Path) -> None:
    """What a command saved holds in the host from its next look on."""
    settings = load_settings(home, environ={})
    async with open_app(settings, models=ScriptedModels(), follow=0) as host:
        async with open_app(settings, models=ScriptedModels(), wake=False, follow=0) as aside:
            await aside.live.change("line_limit", "20", "terminal")
        assert host.live.now.line_limit == 8000
        await host.ledger.follow()
        assert host.live.now.line_limit == 20


async def test_a_file_that_is_broken_meanwhile_changes_nothing(home: Path) -> None:
    """Somebody wrote into it by hand: the home goes on as it was, and mends with the file."""
    settings = load_settings(home, environ={})
    async with open_app(settings, models=ScriptedModels(), follow=0) as host:
        async with open_app(settings, models=ScriptedModels(), wake=False, follow=0) as aside:
            await aside.live.change("line_limit", "20", "terminal")
            saved = home / "data/settings.json"
            saved.write_text('{"line_limit": "twenty"}')
            await host.ledger.follow()
            assert host.live.now.line_limit == 8000
            saved.write_text("{}")
            await aside.live.change("line_limit", "30", "terminal")
        await host.ledger.follow()
        assert host.live.now.line_limit == 30


def test_a_file_that_was_damaged_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, with what to do; no trace of the program."""
    (home / "data/settings.json").write_text("{")
    assert main(["--home", str(home), "settings", "list"]) == 2
    assert "Mend it, or move it away" in capsys.readouterr().err


def test_tiers_that_were_saved_for_a_server_that_is_gone_are_undone(run: Run, home: Path) -> None:
    """The variable that named the server is not set any more: the way back works all the same."""
    address = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}

    async def choose() -> None:
        settings = load_settings(home, environ=address)
        async with open_app(settings, models=ScriptedModels(), wake=False, follow=0) as app:
            await app.live.change("tiers", {str(n): ["llama"] for n in range(1, 5)}, "terminal")

    asyncio.run(choose())
    with pytest.raises(BadSettings, match="settings undo tiers"):
        tiers_of(load_settings(home, environ={}))
    assert run("undo", "tiers") == (0, "tiers are as before.\n", "")
    tiers_of(load_settings(home, environ={}))


def test_what_nobody_knows_is_passed_over(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A plugin that is gone left its settings: the home opens, and the doctor names them."""
    (home / "data/settings.json").write_text('{"bell_port": "7000"}')
    assert load_settings(home, environ={}).strays == ("bell_port",)
    main(["--home", str(home), "doctor"])
    assert "bell_port" in capsys.readouterr().out
