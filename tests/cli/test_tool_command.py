"""loopforge tool, as a person types it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopforge.tools.programs.written_tools import WrittenTools, WrittenVersion
from tests.cli.conftest import Run, written

NOUN = "tool"


@pytest.fixture(autouse=True)
def _opened(home: Path) -> None:
    """The home has been started once."""
    written(home, lambda ledger: ledger.read("room:commons"))


def test_what_there_is_is_listed(run: Run) -> None:
    """Each with whether it reads or changes, whether it asks, and what it is for."""
    code, out, _ = run("list")
    assert code == 0
    assert "clock\treads\tTells the date and time" in out
    assert "shell\tchanges, asks first\tRuns a bash command" in out
    _, out, _ = run("list", "--json")
    clock = next(row for row in json.loads(out) if row["name"] == "clock")
    assert clock["for"] == "everybody"


def test_one_is_tried_by_hand(run: Run) -> None:
    """It says what a mate would be told; what is wrong is said with what it wants."""
    assert run("try", "calculator", '{"expression": "17 * 23"}')[1].strip().endswith("391")
    for arguments, said in (
        ('{"expresion": "1"}', "needed: expression"),
        ("17", "is no JSON object"),
        ("{", "is no JSON"),
        ("[" * 20_000, "is no JSON"),
    ):
        code, _, err = run("try", "calculator", arguments)
        assert (code, said in err) == (2, True), err
    assert "There is no tool 'oven' here" in run("try", "oven")[2]
    assert "No file 'x' is here" in run("try", "read_result", '{"file": "x"}')[2]


@pytest.mark.xdist_group("sandbox")
def test_what_is_amiss_is_said(run: Run) -> None:
    """What lacks a setting is named with where to look."""
    code, out, _ = run("check")
    assert code == 0, out
    assert "clock: well" in out
    assert "search_web: it has not what it needs: see its settings" in out
    assert "shell: well" in out


def test_a_tool_that_a_mates_file_misspells_is_told(run: Run, tmp_path: Path) -> None:
    """Nothing would come of it; what a pattern finds is well."""
    (tmp_path / "mates").mkdir(exist_ok=True)
    head = '---\nname: Otto\ntools: [clok, "work_*", shell]\n---\nYou are Otto.\n'
    (tmp_path / "mates" / "otto.md").write_text(head)
    code, out, _ = run("check")
    assert code == 1
    assert [line for line in out.splitlines() if line.startswith("@")] == [
        "@otto: its file names 'clok', which no tool here is called"
    ]


def test_a_function_that_is_installed_is_a_tool_like_any(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no more about it than its types and its docstring."""
    about = tmp_path / "dice-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: dice\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[loopforge.tools]\nthrow = bare_dice:throw\n")
    code = 'async def throw(dice: int) -> str:\n    """Throws dice."""\n    return "6" * dice\n'
    (tmp_path / "bare_dice.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "throw: well" in run("check")[1]
    assert "throw\tchanges\tThrows dice." in run("list")[1]
    assert run("try", "throw", '{"dice": 2}')[1].strip().endswith("66")


def test_an_mcp_server_that_cannot_be_started_is_told(run: Run, home: Path) -> None:
    """By check, with why; nothing is to be taken of it, nor of one that is not there."""
    (home / "tools").mkdir(exist_ok=True)
    (home / "tools" / "odd.toml").write_text('command = ["/usr/bin/false"]')
    code, out, _ = run("check")
    assert code == 1
    assert "odd: the server odd did not start: " in out
    assert run("accept", "odd")[1].strip() == "Nothing had changed."
    assert "There is no MCP server 'even' here. There are: odd." in run("accept", "even")[2]


def test_a_tool_that_a_mate_wrote_is_taken_back(run: Run, home: Path) -> None:
    """It is listed with its version and its author, tried by hand, and is there no more."""
    version = WrittenVersion(
        number=0,
        mate="maya",
        summary="Says it twice.",
        code="text * 2",
        since=datetime(2026, 11, 21, tzinfo=UTC),
        effect="1",
        arguments={"text": {"type": "string"}},
    )
    WrittenTools(home).keep("say_twice", version)
    assert "say_twice\treads\tSays it twice. (written by maya, version 1)" in run("list")[1]
    assert run("try", "say_twice", '{"text": "ha"}')[1] == "Its last value: haha\n"
    assert run("revoke", "say_twice")[1] == "say_twice, version 1, is taken back.\n"
    assert "say_twice" not in run("list")[1]
    code, _, err = run("revoke", "say_twice")
    assert (code, "There are: none" in err) == (2, True)
