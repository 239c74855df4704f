"""loopforge usage, as a person types it."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from loopforge.core.events import Fact
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Answered, Usage
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice
from tests.cli.conftest import Run, written

NOUN = "usage"


@pytest.fixture
def used(home: Path) -> None:
    """Two answers of today, one of forty days ago."""
    clock = SystemClock()
    stamp = Stamp(clock, SystemDice())

    def answered(mate: str, model: str, cost: str, ago: int = 0) -> Fact:
        use = Usage(read=1500, cached=750, written=20, cost=cost)
        body = Answered(
            turn="t", nth=1, outcome="answered", text=Words("yes"), model=model, usage=use
        )
        at = clock.now() - timedelta(days=ago)
        return Fact(id=stamp.id(), at=at, actor=f"mate:{mate}", body=body)

    old = answered("maya", "big", "7", ago=40)
    new = answered("maya", "big", "1.25"), answered("zuzu", "own", "")
    written(home, lambda ledger: ledger.append("room:attic", [old, *new]))


@pytest.mark.usefixtures("used")
def test_sums_stand_in_columns(run: Run) -> None:
    """One line for each mate, what cost most first, and one for all of them."""
    code, out, _ = run()
    assert code == 0
    assert [line.split(maxsplit=6) for line in out.splitlines()[1:]] == [
        ["maya", "1", "0", "1,500", "50%", "20", "$1.25"],
        ["zuzu", "1", "0", "1,500", "50%", "20", "no price known"],
        ["all", "2", "0", "3,000", "50%", "40", "$1.25, 1 unpriced"],
    ]
    assert len({line.index("$") for line in out.splitlines() if "$" in line}) == 1


@pytest.mark.usefixtures("used")
@pytest.mark.parametrize(
    ("by", "places"), [("mate", {"maya", "zuzu"}), ("model", {"big", "own"}), ("room", {"attic"})]
)
def test_one_chooses_by_what(run: Run, by: str, places: set[str]) -> None:
    """--by mate, model or room; JSON has the cost to the last digit."""
    rows = json.loads(run("--by", by, "--json")[1])
    assert {row[by] for row in rows} == places
    assert rows[0]["cost"] == "1.25"


@pytest.mark.usefixtures("used")
def test_one_chooses_how_far_back(run: Run) -> None:
    """--days bounds it, 0 does not; days come newest first."""
    assert len(json.loads(run("--by", "day", "--json")[1])) == 1
    days = [row["day"] for row in json.loads(run("--by", "day", "--days", "0", "--json")[1])]
    assert len(days) == 2
    assert days == sorted(days, reverse=True)
    assert len(json.loads(run("--by", "day", "--days", "41", "--json")[1])) == 2


def test_nothing_used_is_said_so(run: Run, home: Path) -> None:
    """An empty ledger has no table."""
    written(home, lambda ledger: ledger.heads())
    assert run()[1] == "No model was asked in the last 30 days.\n"
    assert run("--days", "0")[1] == "No model was asked.\n"
