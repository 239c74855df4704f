"""loopforge tool, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
