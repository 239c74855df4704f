"""loopforge mate, as a person types it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from loopforge.cli import main
from loopforge.home import make_home
from loopforge.ledger.sql_ledger import open_ledger
from loopforge.mates.mate_roster import Roster
from loopforge.mates.version_history import Chronicle
from loopforge.people.identity.person_registry import Registry
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice


def run(home: Path, *arguments: str) -> int:
    """One command line in this home."""
    return main(["--home", str(home), "mate", *arguments])


def test_new_list_show_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mate is made, stands in the list, is shown, and is well."""
    make_home(tmp_path)
    assert run(tmp_path, "new", "Otto", "--role", "baker", "--tier", "2") == 0
    assert "otto.md is made" in capsys.readouterr().out
    assert run(tmp_path, "list") == 0
    out = capsys.readouterr().out
    assert "otto\tOtto\tbaker\ttier 2\truns\totto.md\t" in out
    assert "\x1b" not in out
    assert run(tmp_path, "show", "otto") == 0
    assert "You are Otto, baker." in capsys.readouterr().out
    assert run(tmp_path, "check") == 0
    assert capsys.readouterr().out == "All is well.\n"


def test_check_finds_everything_and_exits_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every problem is a line with file and line; --json gives the same to programs."""
    make_home(tmp_path)
    (tmp_path / "mates" / "bob.md").write_text("---\nname: Bob\ntier: 9\npolicy: x\n---\nhm\n")
    assert run(tmp_path, "check", "bob") == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert "bob.md, line 3: `tier`" in lines[0]
    assert run(tmp_path, "check", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert [(bad["file"], bad["line"]) for bad in found] == [("bob.md", 3), ("bob.md", 4)]


def test_json_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """list and show give JSON too."""
    make_home(tmp_path)
    assert run(tmp_path, "list", "--json") == 0
    assert [row["handle"] for row in json.loads(capsys.readouterr().out)] == [
        "maya",
        "merlin",
        "zuzu",
    ]
    assert run(tmp_path, "show", "zuzu", "--json") == 0
    assert json.loads(capsys.readouterr().out)["face"] == "🦝"


@pytest.mark.parametrize(
    "arguments",
    [("show", "nobody"), ("check", "nobody"), ("new", "maya"), ("new", ""), ("new", "a:b")],
)
def test_what_cannot_be_done_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    """An unknown mate, a name that is taken or will not do: one line on standard error, exit 2."""
    make_home(tmp_path)
    assert run(tmp_path, *arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("loopforge: ")
    assert said.err.count("\n") == 1


async def write(home: Path, text: str) -> None:
    """Let somebody write Zuzu's file in the browser."""
    clock, dice = SystemClock(), SystemDice()
    ledger = await open_ledger(f"sqlite:///{home}/data/loopforge.db", clock, dice)
    stamp = Stamp(clock, dice)
    person = await Registry(ledger, stamp).meet("terminal", "Robin")
    chronicle = Chronicle(ledger, Roster(home / "mates"), stamp)
    await chronicle.look()
    await chronicle.write("zuzu", text, person.id)
    await ledger.close()


def test_history_and_old_versions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Versions are listed newest first with who wrote them, and each can be shown whole."""
    make_home(tmp_path)
    file = tmp_path / "mates" / "zuzu.md"
    before = file.read_text("utf-8")
    asyncio.run(write(tmp_path, before + "And more.\n"))
    assert run(tmp_path, "history", "zuzu") == 0
    newest, oldest = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert (newest[2], oldest[2]) == ("Robin", "on disk")
    assert run(tmp_path, "show", "zuzu", "--version", oldest[1][:8]) == 0
    assert capsys.readouterr().out == before
    file.unlink()
    assert run(tmp_path, "history", "zuzu", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["hash"] for row in rows] == [newest[1], oldest[1]]
    assert run(tmp_path, "history", "zuzu") == 0
    assert "another one now" in capsys.readouterr().out
    assert run(tmp_path, "history", "nobody") == 2
    assert run(tmp_path, "show", "zuzu", "--version", "0000") == 2


def test_no_ledger_is_made_to_read_versions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing ever ran, there is no version, and no database is made to say so."""
    make_home(tmp_path)
    assert run(tmp_path, "history", "zuzu") == 2
    assert "no ledger" in capsys.readouterr().err
    assert list((tmp_path / "data").glob("*.db")) == []
