"""Two runs side by side: where they part, and that every number and sentence is of the rows."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.factory_vocabulary import DayEnded, Decided, Row, Stepped
from loopforge.core.perception import AgentPerception
from loopforge.lab.inspect.run_diff import diff_runs
from loopforge.lab.report.study_data import study_of
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import RunChoice, fork_run, summary_of
from loopforge.lab.run.run_log import LOG, lines_of, rows_of
from loopforge.lab.world.noun_articles import add_place_articles
from tests.lab.shelf import made

BASE = RunChoice(seed=3, days=2, steps_per_day=12, perception="spin", supervisor="punitive")
AT = 4


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run, and a fork of it in which everybody weighs things from a step on."""
    folder = tmp_path_factory.mktemp("pair")
    first = made(folder / "base", BASE)
    changes = {"policy": "context", "robot.Sprocket.scars.cynicism": "900"}
    asyncio.run(fork_run(first, folder / "other", AT, changes))
    return first, folder / "other"


def acts(folder: Path) -> dict[tuple[int, str], Decided]:
    """The decisions of a run by step and robot."""
    return {(row.step, row.who): row for row in rows_of(folder) if isinstance(row, Decided)}


def test_they_part_where_the_rows_do(pair: tuple[Path, Path]) -> None:
    """The first row that says something else is found, with the step, whose it is, and in what."""
    first, second = pair
    rows: list[tuple[Row, Row]] = list(zip(rows_of(first), rows_of(second), strict=True))[1:]
    one, other = next((one, other) for one, other in rows if one != other)
    found = diff_runs(first, second)
    assert isinstance(one, Decided)
    assert found.parting is not None
    assert (found.parting.row, found.parting.step, found.parting.who) == (one.n, one.step, one.who)
    assert one.step >= AT
    fields = one.__struct_fields__
    assert found.parting.parts == tuple(f for f in fields if getattr(one, f) != getattr(other, f))
    assert f"Until step {one.step}, on day 1, they say the same" in found.text


def test_why_they_part_is_said(pair: tuple[Path, Path]) -> None:
    """A fork is known as one of the other run, with what was set; both ways round."""
    first, second = pair
    told = f"at step {AT}, policy=context and robot.Sprocket.scars.cynicism=900 were set"
    assert diff_runs(first, second).because == (f"the second is a fork of the first: {told}",)
    assert diff_runs(second, first).because == (f"the first is a fork of the second: {told}",)


def test_who_stands_elsewhere_is_told_where(tmp_path: Path) -> None:
    """Where a robot that decides otherwise stands elsewhere in the other run, both places are told."""
    first = made(tmp_path / "base", BASE)
    change = {"robot.Sprocket.at": "tar street"}
    asyncio.run(fork_run(first, tmp_path / "moved", AT, change))
    found = diff_runs(first, tmp_path / "moved")
    (told,) = [each for each in found.otherwise if each.who == "Sprocket"]
    mine, theirs = (acts(folder)[told.step, "Sprocket"] for folder in (first, tmp_path / "moved"))
    assert mine.at != theirs.at
    assert f"Sprocket stood at the {mine.at} before" in found.text
    assert f"in the one, and at the {theirs.at} before" in found.text


def test_each_robot_s_first_otherwise_is_told(pair: tuple[Path, Path]) -> None:
    """Who decided otherwise, when first and how often, is what the rows say of both."""
    first, second = pair
    mine, theirs = acts(first), acts(second)
    other = [key for key in mine if mine[key].outcome.did != theirs[key].outcome.did]
    found = diff_runs(first, second)
    assert other
    assert sum(found.changed.values()) == len(other)
    assert found.beside == len(mine)
    for each in found.otherwise:
        assert each.step == min(step for step, who in other if who == each.who)
        one, two = mine[each.step, each.who], theirs[each.step, each.who]
        assert (each.first.row, each.first.did, each.first.consequence) == (
            one.n,
            one.outcome.did,
            add_place_articles(one.outcome.consequence, (one.at,)),
        )
        assert (each.second.square, each.second.right) == (two.outcome.square, two.truth.right)
    told = found.otherwise[0]
    assert f"In step {told.step} {told.who} stood at the {told.first.at}" in found.text
    assert told.first.consequence in found.text
    assert told.second.consequence in found.text


def test_numbers_are_those_of_the_runs(pair: tuple[Path, Path]) -> None:
    """Rates, incidents, output and errors of both are what each run's own summary counts."""
    found = diff_runs(*pair)
    runs = [summary_of(folder) for folder in pair]
    assert found.numbers["over_compliance"] == tuple(round(r.over_compliance, 6) for r in runs)
    assert found.numbers["over_reach"] == tuple(round(r.over_reach, 6) for r in runs)
    assert found.numbers["incidents"] == tuple(r.incidents for r in runs)
    assert found.numbers["belief_error"] == tuple(round(r.mean_belief_error, 1) for r in runs)
    days = [[row for row in rows_of(f) if isinstance(row, DayEnded)] for f in pair]
    assert found.numbers["output"] == tuple(sum(day.output for day in of) for of in days)
    for name, table in found.robots.items():
        mine = [row for (_, who), row in acts(pair[0]).items() if who == name]
        kept = sum(row.outcome.failing == "over_compliance" for row in mine)
        wrong = sum(not row.truth.right for row in mine)
        assert table["over_compliance"][0] == (round(kept / wrong, 6) if wrong else 0)


def test_numbers_stand_below_each_other_whatever_runs_are_called(pair: tuple[Path, Path]) -> None:
    """A name of signs that are two cells wide moves no column."""
    found = diff_runs(*pair)
    wide, narrow = (
        replace(found, first=name).text.split("\n\n")[-1].splitlines()
        for name in ("夜班夜班夜班夜班", "night shift at 4")
    )
    assert wide[1:] == narrow[1:]


def test_a_comparison_and_a_score_agree_on_the_share_of_the_rule(pair: tuple[Path, Path]) -> None:
    """Of what the floor planned, so many acts went by the rule; the Supervisor's are left out."""
    found = diff_runs(*pair)
    rates = [study_of(folder).results[0].rates for folder in pair]
    for rate in ("over_compliance", "over_reach", "guardrail"):
        assert found.numbers[rate] == tuple(each[rate] for each in rates)


def falters(seen: AgentPerception) -> AgentActionPlan:
    """Has no plan in every second step."""
    if seen.step % 2:
        raise ValueError("nothing comes to mind")
    return AgentActionPlan(intent="work", mode="context")


def test_what_nobody_answered_is_told_beside_the_rates(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    """A run half of which stood still is compared with the figures of what was answered, too."""
    half = made(tmp_path / "half", BASE, Minds(policy="half", own={"half": falters}))
    found = diff_runs(pair[0], half)
    floor = [row for row in acts(half).values() if row.role != "supervisor"]
    answered = [row for row in floor if not row.truth.right and row.minded.outcome == "planned"]
    kept = sum(row.outcome.failing == "over_compliance" for row in answered)
    assert found.numbers["over_compliance, answered"][1] == round(kept / len(answered), 6)
    assert "Of half: answered 60, refused 0, cut off 0, failed 60;" in found.text
    assert "50.0% were not answered" in found.text
    assert "over-reach, answered" in found.text
    assert not any("answered" in name for name in diff_runs(*pair).numbers)


def test_a_longer_run_is_said_to_be_longer(pair: tuple[Path, Path], tmp_path: Path) -> None:
    """Of runs that part and are of other lengths, the counts are of all that each has."""
    (tmp_path / LOG).write_bytes(b"".join(list(lines_of(pair[1]))[:100]))
    found = diff_runs(pair[0], tmp_path)
    assert found.parting is not None
    one, other = found.numbers["decisions"]
    assert one is not None
    assert other is not None
    assert other < one
    assert f"{tmp_path.name} is the shorter one ({one} decisions in the first, {other} in" in (
        found.text
    )


def test_the_last_evening_holds_every_value_that_differs(pair: tuple[Path, Path]) -> None:
    """Everybody's traits, feelings and bonds that are not the same in the end, as they are."""
    found = diff_runs(*pair)
    one, other = ([row for row in rows_of(f) if isinstance(row, DayEnded)][-1] for f in pair)
    assert found.day == one.day == 1
    for who, table in one.robots.items():
        there = other.robots[who]
        differs = {
            what: (value, there[what])
            for what, value in table.items()
            if what in there and value != there[what]
        }
        assert found.inner.get(who, {}) == differs
    assert any(what.startswith("traits.") for table in found.inner.values() for what in table)


def test_incidents_of_one_alone_have_their_causes(pair: tuple[Path, Path]) -> None:
    """What went wrong in one run and not in the other is named, each with what led to it."""
    found = diff_runs(*pair)

    def happened(folder: Path) -> set[tuple[int, str, str, str]]:
        return {
            (row.step, each.kind, each.at, each.who)
            for row in rows_of(folder)
            if isinstance(row, Stepped)
            for each in row.incidents
        }

    for run, mine, theirs in (("first", pair[0], pair[1]), ("second", pair[1], pair[0])):
        alone = {
            (each.step, each.incident.kind, each.incident.at, each.incident.who)
            for each in found.alone
            if each.run == run
        }
        assert alone == happened(mine) - happened(theirs)
    assert found.alone
    for each in found.alone:
        causes = [link.id for link in each.chain if not link.depth]
        assert causes == list(each.incident.causes)
    gravest = max(found.alone, key=lambda each: each.incident.severity)
    assert (
        f"{gravest.incident.kind} at the {gravest.incident.at} in step {gravest.step}" in found.text
    )


def test_the_same_run_does_not_part(pair: tuple[Path, Path], tmp_path: Path) -> None:
    """A run made again says the same row for row, and so does the story."""
    found = diff_runs(pair[0], made(tmp_path / "again", BASE))
    assert (found.parting, found.shorter, found.because) == (None, "", ())
    assert not found.changed
    assert not found.alone
    assert "Row for row they say the same, to the end." in found.text
    assert found.to_dict()["same"] is True


def test_a_run_that_was_cut_off_is_compared_as_far_as_it_goes(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    """Where one of them ends early, that is said, and is no difference in what both say."""
    (tmp_path / LOG).write_bytes(b"".join(list(lines_of(pair[0]))[:40]))
    found = diff_runs(pair[0], tmp_path)
    assert (found.parting, found.shorter) == (None, "second")
    assert "up to where the shorter one ends" in found.text
    assert found.to_dict()["same"] is False


def test_runs_of_other_beginnings_say_so(pair: tuple[Path, Path], tmp_path: Path) -> None:
    """Another seed, another policy and another shaping of perceptions are named as reasons."""
    choice = RunChoice(seed=4, days=2, steps_per_day=12, supervisor="punitive")
    other = made(tmp_path / "other", choice, Minds(policy="context"))
    because = diff_runs(pair[0], other).because
    assert "the seed is 3 in the first, 4 in the second" in because
    assert (
        "the scenario has other perception (spin in the first, accurate in the second)" in because
    )
    crew = "Sprocket, Halide, Tumble, Mordant and Vesper"
    assert f"{crew} are decided for by stub/1 in the first, context/1 in the second" in because


def test_one_decision_and_one_incident_are_told_in_the_singular(pair: tuple[Path, Path]) -> None:
    """One that came out otherwise was somebody's; one incident is no incidents."""
    found = diff_runs(*pair)
    one = {**found.numbers, "incidents": (1, 2000)}
    alone = replace(found, changed={"Halide": 1, "Vesper": 0}, numbers=one)
    assert f"Of {found.beside} decisions 1 came out otherwise, Halide's." in alone.text
    assert f"{found.first} came to 1 incident, {found.second} to 2,000." in alone.text
    hers = replace(found, changed={"Halide": 4, "Vesper": 0})
    assert "4 came out otherwise, all of them Halide's." in hers.text
