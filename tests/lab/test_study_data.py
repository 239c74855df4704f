"""A report's numbers: each is recomputed here from the results' lines, or from a run's rows."""

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.factory_vocabulary import Decided
from loopforge.lab.inspect.trait_drift import trace_drift
from loopforge.lab.run.run_lifecycle import fork_run
from loopforge.lab.run.run_log import rows_of
from loopforge.lab.sweeps.sweep_runner import sweep
from tests.lab.leaves import Report, hypothesis, numbers, reported
from tests.lab.sweeps import laid

pytestmark = pytest.mark.xdist_group("reports")

RATES = {"over_compliance": "wrong", "over_reach": "right"}


# ---------------------------------------------------------------- numbers


def counted(lines: list[dict[str, Any]], rate: str) -> tuple[int, int]:
    """(how often, of how many), by hand."""
    of = RATES[rate]
    counts = [line["counts"] for line in lines]
    return sum(each.get(rate, 0) for each in counts), sum(each.get(of, 0) for each in counts)


def test_rates_and_their_intervals_come_from_the_results(wide: Report) -> None:
    """Counts, shares and Wilson's limits of each policy are those of the lines of results."""
    from scipy.stats import binomtest

    table = wide.leaf.table("Both errors by policy")
    assert [row[0] for row in table.rows] == ["stub", "guardrail"]
    for row in table.rows:
        mine = [line for line in wide.results if line["levels"]["policy"] == row[0]]
        assert row[1] == str(len(mine))
        for rate, at in (("over_compliance", 2), ("over_reach", 6)):
            k, n = counted(mine, rate)
            limits = binomtest(k, n).proportion_ci(method="wilson")
            assert row[at + 3] == f"{k} of {n}"
            assert numbers(row[at]) == [pytest.approx(100 * k / n, abs=0.051)]
            wanted = [100 * limits.low, 100 * limits.high]
            assert numbers(row[at + 1]) == pytest.approx(wanted, abs=0.051)
            low, high = numbers(row[at + 2])
            assert low <= round(100 * k / n, 1) <= high


def test_every_cell_stands_in_a_table(wide: Report) -> None:
    """The cells of the design are there, each with its own counts."""
    table = wide.leaf.table("Every cell")
    cells = {line["cell"] for line in wide.results}
    assert len(table.rows) == len(cells) == len(wide.results) / 3
    for row, cell in zip(table.rows, sorted(cells), strict=True):
        mine = [line for line in wide.results if line["cell"] == cell]
        kept, reached = (counted(mine, rate) for rate in RATES)
        assert row[5].startswith(f"{kept[0]} of {kept[1]}" if kept[1] else "0 of 0")
        assert row[9] == (f"{reached[0]} of {reached[1]}" if reached[1] else "0 of 0")


def test_the_answer_is_the_first_hypothesis_with_its_interval(wide: Report) -> None:
    """The sentence in large letters holds both rates and their difference, by the results."""
    answer = re.search(r'<p class="answer">(.*?)</p>', wide.page)
    assert answer is not None
    a, b = (
        counted(
            [each for each in wide.results if each["levels"]["policy"] == name], "over_compliance"
        )
        for name in ("stub", "guardrail")
    )
    told = numbers(re.sub("<.*?>", "", answer[1]).split(" is ")[1])
    with_b, with_a, apart, low, high = told
    assert with_b == pytest.approx(100 * b[0] / b[1], abs=0.051)
    assert with_a == pytest.approx(100 * a[0] / a[1], abs=0.051)
    assert apart == pytest.approx(100 * (b[0] / b[1] - a[0] / a[1]), abs=0.051)
    assert low <= apart <= high
    assert "Holm" in wide.leaf.sections["answer"]


def test_incidents_are_and_tension_is(tmp_path: Path) -> None:
    """The sentence of an answer has its verb in the number of its measure; so have few seeds."""
    asked = [
        hypothesis("more", "incidents", "perception", "accurate", "spin"),
        hypothesis("tenser", "tension", "perception", "accurate", "spin"),
    ]
    sweep(laid(seeds=2, hypotheses=asked), tmp_path / "two")
    page = reported(tmp_path / "two").page
    assert "Incidents in a run are " in page
    assert "Tension is " in page
    sweep(laid(seeds=1), tmp_path / "one")
    assert "1 seed stands behind each cell" in reported(tmp_path / "one").page


def test_one_seed_is_not_said_to_be_none(tmp_path: Path) -> None:
    """Both arms are done: what is wanting for a difference of means is a second seed."""
    asked = [
        hypothesis("more", "incidents", "policy", "stub", "context"),
        hypothesis("reach", "over_reach", "policy", "stub", "context"),
    ]
    sweep(laid(seeds=1, hypotheses=asked), tmp_path / "one")
    found = reported(tmp_path / "one")
    assert "One seed has finished both arms of it" in found.page
    assert "No seed has finished" not in found.page
    table = found.leaf.table("Declared before the sweep")
    assert table.rows[0][4] == "one seed alone"
    assert "1 seed cannot decide 1 hypothesis at once" in found.page
    charts = re.findall(r"<desc[^>]*>(.*?)</desc>", found.leaf.sections["differences"], re.DOTALL)
    assert not any("one seed alone" in told for told in charts)


def test_an_answer_is_given_only_where_it_is_sure(wide: Report) -> None:
    """Three seeds cannot decide three hypotheses: no answer says yes, and the page says why."""
    table = wide.leaf.table("Declared before the sweep")
    answers = [
        row[-1] for each in wide.leaf.tables for row in each.rows if each.head[-1] == "answer"
    ]
    assert answers
    assert set(answers) <= {"undecided", "differs"}
    assert [row[0] for row in table.rows] == ["rules cost", "spin misleads", "pressure pushes"]
    assert "Too few seeds." in wide.leaf.sections["differences"]


def test_with_seeds_enough_it_is_answered(tmp_path: Path) -> None:
    """Eight seeds decide one large difference; the declared direction says yes or no to it."""
    levels = {"policy": ["stub", "guardrail"], "perception": ["accurate"]}
    asked = [
        hypothesis(f"from {a}", "over_compliance", "policy", a, b)
        for a, b in (("stub", "guardrail"), ("guardrail", "stub"))
    ]
    sweep(laid(seeds=8, factors=levels, hypotheses=asked), tmp_path / "sweep")
    page = reported(tmp_path / "sweep").page
    assert '<p class="answer"><strong>Yes. ' in page
    assert "<li><strong>No, the other way round. " in page


def test_causes_add_up_to_what_became_of_them(wide: Report, run: Report) -> None:
    """The causes of guardrail reliance sum up exactly to its change, in a sweep and in a run."""
    for found in (wide, run):
        table = found.leaf.table("What moved guardrail reliance")
        sums: dict[str, int] = {}
        wholes = 0
        for name, amount, _ in table.rows:
            who, _, cause = name.partition(": ")
            if not cause.startswith("in all"):
                sums[who] = sums.get(who, 0) + int(numbers(amount)[0])
                continue
            before, after = (int(each) for each in re.findall(r"\d+", cause))
            wholes += 1
            assert sums[who] == after - before == int(numbers(amount)[0])
        assert wholes == len(found.leaf.table("Error of what was shown").rows)
        assert "do not add up" not in found.page


def test_causes_that_do_not_add_up_are_told(tmp_path: Path, bare: Report) -> None:
    """A line of results whose causes are not what its days say is not passed over."""
    folder = tmp_path / "bent"
    shutil.copytree(bare.folder, folder)
    lines = bare.results
    for cause in lines[0]["drift"]["traits.guardrail_reliance"]:
        lines[0]["drift"]["traits.guardrail_reliance"][cause] += 100
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "results.jsonl").write_text(text)
    assert "These do not add up" in reported(folder).page


def test_a_runs_errors_are_those_of_its_rows(run: Report) -> None:
    """Both rates of a run, in short and by robot, are counted from its log."""
    from scipy.stats import binomtest

    acts = [row for row in rows_of(run.folder) if isinstance(row, Decided)]
    floor = [row for row in acts if row.role != "supervisor"]
    wrong = [row for row in floor if not row.truth.right]
    kept = [row for row in wrong if row.outcome.failing == "over_compliance"]
    answer = run.leaf.sections["answer"]
    assert f"over-compliance {100 * len(kept) / len(wrong):.1f}%" in answer
    table = run.leaf.table("Both errors by robot")
    assert {row[0] for row in table.rows} == {row.who for row in floor}
    for row in table.rows:
        own = [each for each in floor if each.who == row[0]]
        right = [each for each in own if each.truth.right]
        broke = [each for each in right if each.outcome.failing == "over_reach"]
        assert row[4] == f"{len(broke)} of {len(right)}"
        limits = binomtest(len(broke), len(right)).proportion_ci(method="wilson")
        low, high = numbers(row[3])[1:]
        assert (low, high) == pytest.approx((100 * limits.low, 100 * limits.high), abs=0.051)


def test_the_edits_of_a_run_are_all_of_its_edits(run: Report) -> None:
    """What is named by kind is what the mean of an act counts: the Supervisor's are among them."""
    told = re.search("between truth and perception:([^.<]*)", run.leaf.sections["beliefs"])
    assert told is not None
    acts = [row for row in rows_of(run.folder) if isinstance(row, Decided)]
    edits = sum(len(row.edits) for row in acts)
    assert edits > sum(len(row.edits) for row in acts if row.role != "supervisor")
    assert sum(map(int, re.findall(r"\d+", told[1]))) == edits


def test_every_p_value_has_an_interval_or_an_amount_by_it(wide: Report) -> None:
    """No row of a table has a p-value and nothing that says how large the thing is."""
    seen = 0
    for table in wide.leaf.tables:
        for row in table.rows:
            cells = dict(zip(table.head, row, strict=True))
            if any(name.endswith(("p (Holm)", "trend, p")) for name in cells):
                seen += 1
                assert any(re.search(r"\(.* to .*\)", cell) for cell in row[1:]), row
    assert seen > 10


def test_waits_are_the_lives_of_the_results(wide: Report) -> None:
    """How many lifetimes there are, and how many had the event, is what results say."""
    table = wide.leaf.table("Times to a first event")
    for row in table.rows:
        mine = [line for line in wide.results if line["levels"]["policy"] == row[1]]
        if row[0] == "a robot’s first over-reach":
            lives = [own["violation"] for line in mine for own in line["lives"].values()]
            assert (row[2], row[3]) == (str(len(lives)), str(sum(seen for _, seen in lives)))
        if row[0] == "the first incident of a run":
            times = [line["times"]["incident"] for line in mine]
            assert (row[2], row[3]) == (str(len(mine)), str(sum(seen for _, seen in times)))


def test_a_dose_is_compared_over_the_seeds_that_have_all_of_them(tmp_path: Path) -> None:
    """Where a seed lacks a dose, the curve does without it, and the page says what is missing."""
    folder = tmp_path / "cut"
    levels = {"policy": ["stub"], "perception": ["spin"], "pressure": [0, 3, 6, 10]}
    sweep(laid(seeds=3, factors=levels), folder)
    lines = (folder / "results.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if '"cell":3,"seed":3' not in line]
    (folder / "results.jsonl").write_text("".join(kept))
    found = reported(folder)
    row = found.leaf.table("What pressure does").rows[0]
    assert "1 run of this sweep" in found.leaf.sections["design"]
    assert "Between 2 and 3 seeds stand behind a cell" in found.leaf.sections["limits"]
    both = [json.loads(line) for line in kept if '"seed":3' not in line]
    k, n = counted([each for each in both if each["levels"]["pressure"] == 0], "over_compliance")
    assert numbers(row[2])[0] == pytest.approx(100 * k / n, abs=0.051)


def test_a_difference_is_of_seeds_that_have_both_arms_whole(tmp_path: Path) -> None:
    """Where a sweep stopped within a seed, arms that pool its cells do without that seed."""
    folder = tmp_path / "cut"
    levels = {"policy": ["guardrail", "stub"], "perception": ["accurate", "spin"]}
    asked = [hypothesis("spin", "over_compliance", "perception", "accurate", "spin")]
    asked.append(hypothesis("spin tires", "belief_error", "perception", "accurate", "spin"))
    sweep(laid(seeds=3, factors=levels, hypotheses=asked), folder)
    lines = (folder / "results.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if '"cell":3,"seed":3' not in line]
    (folder / "results.jsonl").write_text("".join(kept))
    rates, means = reported(folder).leaf.table("Declared before the sweep").rows
    results = [each for each in map(json.loads, kept) if each["seed"] != 3]
    for cell, level in ((2, "accurate"), (3, "spin")):
        mine = [each for each in results if each["levels"]["perception"] == level]
        k, n = counted(mine, "over_compliance")
        assert numbers(rates[cell])[0] == pytest.approx(100 * k / n, abs=0.051)
        errors = [each["means"]["belief_error"] for each in mine]
        assert numbers(means[cell])[0] == pytest.approx(sum(errors) / len(errors), abs=0.051)


def test_a_fork_is_a_cause_of_its_own(tmp_path: Path, run: Report) -> None:
    """What a fork set by hand is among the causes, which still add up."""
    folder = tmp_path / "forked"
    change = {"robot.Sprocket.traits.guardrail_reliance": "900"}
    asyncio.run(fork_run(run.folder, folder, 5, change))
    found = reported(folder)
    row = found.leaf.table("What moved guardrail reliance").row("this run: set by the fork")
    hand = next(
        each
        for each in trace_drift(folder, "Sprocket", "guardrail_reliance").causes
        if each.rule == "set by the fork"
    )
    assert numbers(next(cell for name, cell in row.items() if name == "sum")) == [hand.delta]
    test_causes_add_up_to_what_became_of_them(found, found)
    assert "forked" in found.leaf.sections["design"]
