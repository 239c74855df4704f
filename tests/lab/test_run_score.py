"""The score of a run: what is counted while it is written is what its log says."""

from pathlib import Path

import pytest

from loopforge.core.factory_vocabulary import Change, DayEnded, Decided, Reflected, Stepped
from loopforge.errors import BadRun
from loopforge.lab.run.run_log import rows_of
from loopforge.lab.sweeps.run_score import ScoringChain
from loopforge.lab.sweeps.sweep_results import layout_of
from tests.lab.sweeps import STEPS, kept


def test_first_times_are_those_of_the_log(tmp_path: Path) -> None:
    """First times count steps from 1; what never came is censored at the last step."""
    result, folder = kept(tmp_path)
    first: dict[str, int] = {}
    lives: dict[str, dict[str, int]] = {}
    modes: dict[str, str] = {}
    for row in rows_of(folder):
        if isinstance(row, Stepped) and row.incidents:
            first.setdefault("incident", row.step + 1)
        if not isinstance(row, Decided) or row.role == "supervisor":
            continue
        mode, happened = row.plan["mode"], []
        if modes.setdefault(row.who, mode) != mode:
            happened.append("switch")
        modes[row.who] = mode
        if row.outcome.failing == "over_reach":
            happened.append("violation")
        elif row.outcome.failing:
            happened.append("over_compliance")
        for event in happened:
            first.setdefault(event, row.step + 1)
            lives.setdefault(row.who, {}).setdefault(event, row.step + 1)
    assert result.times["refusal"] == (2 * STEPS, False)
    for event in ("incident", "switch", "violation", "over_compliance"):
        assert result.times[event] == (first.get(event, 2 * STEPS), event in first)
    assert set(result.lives) == set(modes)
    for who, times in result.lives.items():
        for event, (time, observed) in times.items():
            known = lives.get(who, {})
            assert (time, observed) == (known.get(event, 2 * STEPS), event in known)
    assert any(observed for _, observed in result.times.values())


def test_a_day_that_lacks_a_robots_state_is_told() -> None:
    """Rows that another program wrote are refused in a sentence."""
    day = DayEnded(0, 0, 0, 0, 0, 0, 0, {}, {}, {"A": {"battery": 1}, "B": {}})
    with pytest.raises(BadRun, match="row 0 does not say of all robots"):
        ScoringChain().add(day)


def test_drift_adds_up_to_what_became_of_each_trait(tmp_path: Path) -> None:
    """Over all causes a trait's changes are what the floor ended with, less what it began with."""
    result, folder = kept(tmp_path)
    rows = list(rows_of(folder))
    scenario = layout_of(tmp_path / "sweep").scenario(result.levels, 1)
    floor = {each.name: each for each in scenario.robots if each.role != "supervisor"}
    last = [row for row in rows if isinstance(row, DayEnded)][-1]
    for name in ("traits.guardrail_reliance", "scars.confidence", "scars.cynicism"):
        part, _, what = name.partition(".")
        ended = sum(last.robots[who][name] for who in floor)
        began = sum(getattr(each, part)[what] for each in floor.values())
        assert sum(result.drift.get(name, {}).values()) == ended - began
        assert result.days[-1].robots[name] == pytest.approx(ended / len(floor), abs=0.05)
    changes: list[Change] = [
        each for row in rows if isinstance(row, Decided | Reflected) for each in row.inner
    ]
    assert set(result.drift) == {
        each.what
        for each in changes
        if each.who in floor and each.what.startswith(("traits.", "scars."))
    }


def test_days_and_telling_rows_are_of_the_log(tmp_path: Path) -> None:
    """Each day's counts add up to the run's; telling rows are failings of the floor in the log."""
    result, folder = kept(tmp_path)
    assert [day.day for day in result.days] == [0, 1]
    for name in ("right", "wrong", "over_reach", "over_compliance", "output"):
        assert sum(getattr(day, name) for day in result.days) == result.counts[name]
    by_row = {row.n: row for row in rows_of(folder) if isinstance(row, Decided)}
    failed = [row for row in by_row.values() if row.outcome.failing and row.role != "supervisor"]
    assert len(result.telling) == min(3, len(failed)) > 0
    for each in result.telling:
        row = by_row[each.row]
        assert (row.who, row.step, row.outcome.failing) == (each.who, each.step, each.failing)
    weights = [each.weight for each in result.telling]
    assert weights == sorted(weights, reverse=True)
