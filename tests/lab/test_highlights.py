"""Highlights: which decisions are picked, and for what."""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from loopforge.core.factory_vocabulary import Decided, Incident, Row, Stepped
from loopforge.lab.report.highlights import HighlightPick, Picks
from tests.lab.shelf import rows, run


@cache
def plain() -> tuple[Decided, Stepped]:
    """An act that went well and a step without an incident, as a run has them, but for who it was."""
    found = rows(run(days=1, steps_per_day=2))
    act = next(row for row in found if isinstance(row, Decided))
    done = replace(act.outcome, failing="", belief_error=0, incident="")
    step = next(row for row in found if isinstance(row, Stepped))
    return replace(act, outcome=done), replace(step, tension=0, incidents=())


def picked(*given: Row) -> list[HighlightPick]:
    """What is picked of these rows."""
    picks = Picks()
    for row in given:
        picks.add(row)
    return picks.best()


def step(
    at: int, who: str, tension: int = 0, incidents: tuple[Incident, ...] = (), **outcome: object
) -> tuple[Row, Row]:
    """A step in which one robot acted."""
    plain_act, plain_step = plain()
    rule = replace(plain_act.truth, rule=f"rule {at}")
    done = replace(plain_act.outcome, **outcome)
    role = "supervisor" if who == "Boss" else "qa"
    act = replace(plain_act, n=2 * at, step=at, who=who, role=role, truth=rule, outcome=done)
    return act, replace(plain_step, n=2 * at + 1, step=at, tension=tension, incidents=incidents)


def test_each_kind_has_its_best_and_the_supervisor_none() -> None:
    """The tightest step, the widest gap, the longest chain; nothing of what a Supervisor did."""
    chain = (Incident("i1", "x", "here", 1, ()), Incident("i2", "y", "here", 1, ("i1",), "C"))
    found = picked(
        *step(0, "A", tension=300, failing="over_reach"),
        *step(1, "B", tension=100, failing="over_compliance", belief_error=700),
        *step(2, "C", tension=50, failing="over_reach", incident="i2", incidents=chain),
        *step(3, "Boss", tension=900, failing="over_reach", belief_error=900),
    )
    assert {(each.kind, each.who): each.weight for each in found} == {
        ("chain", "C"): 2,
        ("gap", "B"): 700,
        ("tension", "A"): 300,
    }
    assert [each.row for each in found] == [0, 2, 4]


def test_what_went_well_is_not_picked() -> None:
    """A wide gap that led nobody astray is no episode, nor is an incident without a chain."""
    lone = (Incident("i1", "x", "here", 1, ()),)
    assert picked(*step(0, "A", belief_error=900)) == []
    assert picked(*step(0, "A", incident="i1", incidents=lone)) == []


def test_no_robot_is_told_twice_under_one_rule() -> None:
    """The same robot under the same rule is one story, and the one that tells more is kept."""
    first = step(0, "A", tension=300, failing="over_reach")
    again = [
        replace(
            each, step=1, n=each.n + 2, **({"tension": 400} if isinstance(each, Stepped) else {})
        )
        for each in first
    ]
    (pick,) = picked(*first, *again)
    assert (pick.step, pick.weight) == (1, 400)


def test_ten_are_enough() -> None:
    """However many there are, ten are told, the best of each kind, in the order of the run."""
    many = [
        row
        for at in range(40)
        for row in step(at, f"R{at}", tension=at, failing="over_reach", belief_error=200 + at)
    ]
    found = picked(*many)
    assert len(found) == 10
    assert [each.row for each in found] == sorted(each.row for each in found)
    assert {each.who for each in found} == {f"R{at}" for at in range(30, 40)}
