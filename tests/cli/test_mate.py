"""loopforge mate, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopforge.cli import main
from loopforge.home import make_home


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
