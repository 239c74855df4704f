"""Reports: every section there or explained, every number from the results, nothing from outside."""

import dataclasses
import itertools
import json
import re
import shlex
import shutil
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.factory_vocabulary import Decided
from loopforge.core.perception import AgentPerception
from loopforge.core.statistics.rate_statistics import Interval, cluster_rate
from loopforge.errors import BadRun
from loopforge.lab.report.factor_effects import levels_passed_over
from loopforge.lab.report.html_report import write_report
from loopforge.lab.report.number_format import format_estimate, format_rate
from loopforge.lab.report.study_data import counts_by_seed
from loopforge.lab.run.run_log import LOG, lines_of, rows_of
from loopforge.lab.sweeps.sweep_results import results_of
from loopforge.lab.sweeps.sweep_runner import sweep
from loopforge.lab.world.noun_articles import add_place_articles
from loopforge.lab.world.scenario_file import open_scenario
from loopforge.runtime.ports import Route
from tests.lab import makers
from tests.lab.leaves import Report, played, reported
from tests.lab.sweeps import asked, asking, laid, maker

pytestmark = pytest.mark.xdist_group("reports")

SECTIONS = [
    "question",
    "answer",
    "design",
    "rates",
    "differences",
    "waits",
    "doses",
    "trade",
    "careers",
    "beliefs",
    "ablations",
    "episodes",
    "limits",
    "manifest",
]


@pytest.fixture(params=["run", "wide", "bare"])
def any_report(request: pytest.FixtureRequest) -> Report:
    """Each of the three."""
    found: Report = request.getfixturevalue(request.param)
    return found


def parts(found: Report) -> dict[str, str]:
    """The HTML of each section."""
    return dict(zip(SECTIONS, found.page.split('<section id="')[1:], strict=True))


def missing(found: Report) -> dict[str, list[str]]:
    """By section, the lines that say what is not there."""
    line = re.compile('<p class="missing">(.*?)</p>', re.DOTALL)
    return {key: line.findall(part) for key, part in parts(found).items()}


# ---------------------------------------------------------------- what is there


def test_every_section_is_there_in_its_order(any_report: Report) -> None:
    """A run, a sweep, a sweep of nothing much: all have the same sections, each with words."""
    assert list(any_report.leaf.sections) == SECTIONS
    assert all(len(text.split()) > 3 for text in any_report.leaf.sections.values())


def test_a_sweep_that_has_everything_explains_nothing_away(wide: Report) -> None:
    """Where all factors were swept no section says that it has no data, and each has a chart."""
    assert not any(missing(wide).values())
    charts = [key for key in PREFIX if any(each.startswith(PREFIX[key]) for each in wide.leaf.ids)]
    assert charts == list(PREFIX)


PREFIX = {
    "rates": "rates-0-",
    "differences": "diff-declared-",
    "waits": "waits-incident-",
    "doses": "dose-over-reach-pressure-",
    "trade": "trade-",
    "careers": "career-traits-guardrail-reliance-",
    "beliefs": "beliefs-",
    "ablations": "diff-ablate-",
}


def test_what_has_no_data_says_in_a_line_what_would_give_it(run: Report, bare: Report) -> None:
    """Each section without data names the command or the lines of an experiment that it wants."""
    lacking = {"differences", "waits", "doses", "ablations", "beliefs"}
    for found, wanted in ((run, lacking | {"design", "trade"}), (bare, lacking | {"answer"})):
        told = missing(found)
        assert {key for key, lines in told.items() if lines} == wanted
        for line in (line for lines in told.values() for line in lines):
            assert re.search(r"[Ss]weep|\[factors\]|\[\[hypothesis\]\]", line), line


def test_three_doses_and_few_seeds_say_what_they_cannot(tmp_path: Path) -> None:
    """No point is said to tip nowhere where no curve was drawn, and why not is said once.

    Where no p-value could pass, the table that was looked at afterwards says so, too.
    """
    swept = tmp_path / "swept"
    levels = {"policy": ["context", "stub"], "pressure": [0, 5, 10]}
    sweep(laid(factors={**levels, "perception": ["accurate"]}, seeds=3), swept)
    told = reported(swept)
    assert told.page.count("A curve wants 4 doses; add some.") == 1
    tips = next(each for each in told.leaf.tables if "trend and tipping point" in each.caption)
    assert {row[-1] for row in tips.rows} <= {"not known", "no trend"}
    assert "3 seeds cannot decide 4 differences at once" in told.page
    rates = next(each for each in told.leaf.tables if each.caption.startswith("Both errors by"))
    assert "over seeds 95%" in rates.head


def test_a_dose_is_told_of_all_runs_where_a_fraction_mixes_it_up_in_groups(tmp_path: Path) -> None:
    """Half of these cells have one perception at a dose of a policy: that is no dose of the policy."""
    levels = {"policy": ["stub", "guardrail"], "pressure": [0, 3, 6, 9]}
    levels["perception"] = ["accurate", "partial"]
    sweep(laid(factors=levels, design="fraction"), tmp_path / "halved")
    tips = reported(tmp_path / "halved").leaf.table("What pressure does")
    assert [row[0] for row in tips.rows] == ["all runs"] * 2
    sweep(laid(factors=levels), tmp_path / "whole")
    tips = reported(tmp_path / "whole").leaf.table("What pressure does")
    assert [row[0] for row in tips.rows] == ["stub", "guardrail"] * 2


def test_runs_of_one_seed_do_not_make_waits_surer(tmp_path: Path) -> None:
    """Two cells that came out alike have twice the lifetimes, and the limits of one."""
    found = {}
    for name, parts in (("one", ["none"]), ("two", ["none", "voice"])):
        levels = {"policy": ["guardrail", "stub"], "ablate": parts, "perception": ["accurate"]}
        sweep(laid(factors=levels, seeds=4), tmp_path / name)
        table = reported(tmp_path / name).leaf.table("Times to a first event")
        of = [row for row in table.rows if row[1] == "guardrail"]
        found[name] = [row[4:] for row in of], [int(row[2]) for row in of]
    assert found["one"][0] == found["two"][0]
    assert [2 * count for count in found["one"][1]] == found["two"][1]


def test_a_sweep_without_hypotheses_is_headed_by_intervals_over_seeds(bare: Report) -> None:
    """Its first two rates stand with the intervals that resample runs, and it says so."""
    said = bare.leaf.sections["answer"]
    results = results_of(bare.folder)
    for rate in ("over_compliance", "over_reach"):
        assert format_rate(cluster_rate(counts_by_seed(results, rate)).rate) in said
    assert "bootstrap over 2 seeds" in said


def test_what_one_seed_says_is_called_no_interval_over_seeds(tmp_path: Path) -> None:
    """One seed is one trial: the page says that it tells next to nothing."""
    sweep(laid(seeds=1), tmp_path / "one")
    said = reported(tmp_path / "one").leaf.sections["answer"]
    assert "bootstrap over" not in said
    assert "next to nothing" in said


def test_levels_that_are_held_against_nothing_are_named() -> None:
    """Eight levels stand in the table beside the first; what is more is told below it."""
    many = tuple(f"mind-{nth}" for nth in range(11))
    varied: dict[str, tuple[str | int, ...]] = {"policy": many, "ablate": many[:9]}
    varied["days"] = tuple(range(1, 21))
    assert levels_passed_over(varied) == {"policy": "mind-9, mind-10"}


def test_numbers_that_stand_together_have_as_many_digits() -> None:
    """An estimate and its limits, in whole numbers only where all three are whole."""
    assert format_estimate(Interval(233.2, 231.0, 235.3, 8)) == "233.2 (231.0 to 235.3)"
    assert format_estimate(Interval(9.5, 8.25, 12.0, 8)) == "9.5 (8.2 to 12.0)"
    assert format_estimate(Interval(512.0, 512.0, 512.0, 8)) == "512 (512 to 512)"
    assert format_estimate(Interval(0.5, 0.25, 1.0, 8)) == "0.50 (0.25 to 1.00)"


def test_charts_have_tables_beside_them(any_report: Report) -> None:
    """Each section with a chart has a table too, with a caption and named columns and rows."""
    for key, part in parts(any_report).items():
        assert "<figure>" not in part or "<table>" in part, key
    for table in any_report.leaf.tables:
        assert table.caption
        assert all(table.head)
        assert all(len(row) == len(table.head) for row in table.rows)
    scopes = [given.get("scope") for given in any_report.leaf.named("th")]
    assert set(scopes) == {"row", "col"}


# ---------------------------------------------------------------- the same, and again


@pytest.mark.patient
def test_the_same_folder_gives_the_same_bytes(tmp_path: Path, wide: Report, run: Report) -> None:
    """Twice, elsewhere and in another process, a report has the same bytes."""
    made = []
    for found in (wide, run):
        folder = tmp_path / "elsewhere" / found.folder.name
        shutil.copytree(found.folder, folder)
        made += [str(folder), str(tmp_path / f"there-{found.folder.name}.html")]
    script = "import sys; from pathlib import Path; "
    script += "from loopforge.lab.report.html_report import write_report; "
    script += "a, b, c, d = map(Path, sys.argv[1:]); write_report(a, b); write_report(c, d)"
    subprocess.run([sys.executable, "-c", script, *made], check=True, cwd=tmp_path)
    for found, out in zip((wide, run), made[1::2], strict=True):
        assert Path(out).read_text("utf-8") == found.page
        assert str(tmp_path) not in found.page


def test_the_command_gives_the_same_again(tmp_path: Path, run: Report) -> None:
    """What the manifest says to type gives the same log."""
    listings = re.findall(r"<pre[^>]*><code>(.*?)</code>", run.page, re.DOTALL)
    command = next(line for line in "\n".join(listings).splitlines() if "-again" in line)
    words = [sys.executable, "-m", *shlex.split(command)]
    subprocess.run(words, check=True, cwd=tmp_path, capture_output=True)
    again = tmp_path / f"{run.folder.name}-again" / LOG
    assert again.read_bytes() == (run.folder / LOG).read_bytes()


def test_the_manifest_names_what_it_was(wide: Report, run: Report) -> None:
    """Hashes, versions, seeds and cost stand in the manifest."""
    told = json.loads((wide.folder / "manifest.json").read_text())
    text = wide.leaf.sections["manifest"]
    scenario = open_scenario("first_shift")
    for wanted in (told["digest"], scenario.digest, "stub/1", "1 to 3 (3)", "no model was asked"):
        assert wanted in text
    last = list(lines_of(run.folder))[-1]
    assert json.loads(last)["hash"] in run.leaf.sections["manifest"]
    assert "Loopforge" in run.page


def test_a_run_that_asked_a_model_says_what_it_cost(tmp_path: Path) -> None:
    """Answers are counted and priced, and are named as what is not deterministic."""
    minds = makers.priced(str(tmp_path / "asked"))
    folder = played(tmp_path / "asking", policy="llm", minds=minds, days=1, steps_per_day=4)
    text = reported(folder).leaf.sections["manifest"]
    answers = asked(tmp_path)
    assert answers == 20
    assert f"${answers * 0.001:.4f} for {answers} answers of models" in text
    assert "loopforge lab run first_shift --policy llm" in text
    pinned = dataclasses.replace(minds, route=Route(model="scripted"))
    other = played(tmp_path / "pinned", policy="llm", minds=pinned, days=1, steps_per_day=4)
    assert " --model scripted --out" in reported(other).leaf.sections["manifest"]
    assert "asked anew it would not be" in text
    assert "Models change without a word" in reported(folder).leaf.sections["limits"]


def test_a_shipped_scenario_is_run_again_by_its_name(run: Report, tmp_path: Path) -> None:
    """The command is there where it says all, and not where the scenario is another."""
    assert "loopforge lab run first_shift --policy stub --seed 3" in run.page
    scenario = replace(open_scenario("first_shift"), question="Another?")
    other = reported(played(tmp_path / "other", scenario, days=1))
    assert "loopforge lab run" not in other.page


# ---------------------------------------------------------------- the page


def test_a_report_asks_nobody_for_anything(any_report: Report) -> None:
    """No script, no style from elsewhere, no picture, no font, no address of any other place."""
    assert any_report.leaf.outside == []
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", any_report.page)


def test_its_own_policy_lets_nothing_in(any_report: Report) -> None:
    """A policy in the page forbids all but its one style, which has that hash."""
    style = re.findall(r"<style>(.*?)</style>", any_report.page, re.DOTALL)
    assert len(style) == 1
    seal = b64encode(sha256(style[0].encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{seal}'"
    assert any(given.get("content") == policy for given in any_report.leaf.named("meta"))


def test_a_report_is_sound_html(any_report: Report) -> None:
    """Elements close, ids are unique, all that is pointed at is there, headings go down by one."""
    leaf = any_report.leaf
    assert any_report.page.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert len(set(leaf.ids)) == len(leaf.ids)
    assert leaf.pointed <= set(leaf.ids)
    levels = [int(tag[1]) for tag, _ in leaf.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    assert {given["href"][1:] for given in leaf.named("a")} >= set(SECTIONS)


def test_charts_can_be_read_without_seeing(any_report: Report) -> None:
    """Each chart is a picture with a title and a description, and takes its colours from classes."""
    charts = list(any_report.leaf.named("svg"))
    assert len(charts) >= 10
    for given in charts:
        assert given["role"] == "img"
        assert len(given["aria-labelledby"].split()) == 2
    drawn = [
        v
        for tag, given in any_report.leaf.tags
        for n, v in given.items()
        if n in ("fill", "stroke")
    ]
    assert set(drawn) <= {"none"}


# ---------------------------------------------------------------- episodes


def clear(row: Decided) -> tuple[bool, int]:
    """What it is picked by: whether it came to an incident, and how clear the case was."""
    return bool(row.outcome.incident), abs(row.truth.case - 500)


def test_a_run_has_its_episodes_with_the_way_to_their_rows(run: Report) -> None:
    """Each of the ten has a place in the page, the command for its row, and a link to its step."""
    acts = {(row.step, row.who): row for row in rows_of(run.folder) if isinstance(row, Decided)}
    table = run.leaf.table("The episodes")
    assert len(table.rows) == 10
    commands = re.findall(r"loopforge lab why run (\d+) (\S+)", run.page)
    assert len(commands) == 10
    told = [acts[int(step), who] for step, who in commands]
    assert len({(row.who, row.truth.rule) for row in told}) == 10
    assert [row.n for row in told] == sorted(row.n for row in told)
    worst = max(
        (r for r in acts.values() if r.outcome.failing and r.role != "supervisor"), key=clear
    )
    assert clear(worst) in map(clear, told)
    for nth, row in enumerate(told, 1):
        assert row.outcome.failing
        part = run.page.split(f'id="episode-{nth}"')[1].split("</section>")[0]
        assert add_place_articles(row.outcome.consequence, (row.at,)) in part
        assert f"off by {row.outcome.belief_error} of 1000" in part
        assert f'href="../../run?step={row.step}"' in part
        assert f"row {row.n};" in part
        for edit in row.edits:
            assert f"{edit.what}: {edit.true} → {edit.shown or 'nothing'} {edit.kind} by" in part
        for said in re.findall(r"<dd>(.+?)</dd>", part):
            assert not re.search(r"""\S<q|[.!?]”\.|\)\. *<q""", said), said


def drifts(seen: AgentPerception) -> AgentActionPlan:
    """Goes by the rule from the second day on, where it answers."""
    if seen.step % 3 == 1:
        raise ValueError("nothing comes to mind")
    if seen.step < 8:
        return AgentActionPlan(intent=seen.context["otherwise"], mode="context")
    rule = seen.context["rule"]
    return AgentActionPlan(intent=seen.context["keeps"], mode="guardrail", rule=rule)


def test_who_changes_over_the_days_shows_in_a_table(tmp_path: Path) -> None:
    """By day: how much of what was planned went by the rule, and both errors; a drift is seen there."""
    found = reported(played(tmp_path / "run", policy=drifts, days=3, supervisor="punitive"))
    acts = [row for row in rows_of(tmp_path / "run") if isinstance(row, Decided)]
    floor = [row for row in acts if row.role != "supervisor"]
    told = found.leaf.table("Both errors by day").rows
    assert [row[0] for row in told] == ["1", "2", "3"]
    for day, row in enumerate(told):
        mine = [act for act in floor if act.day == day]
        planned = [act for act in mine if act.outcome.mode != "none"]
        assert len(planned) < len(mine)
        by_rule = sum(act.outcome.mode == "guardrail" for act in planned)
        kept = sum(act.outcome.failing == "over_compliance" for act in mine)
        assert row[1].startswith(f"{by_rule / len(planned):.1%} (")
        assert row[3] == f"{kept} of {sum(not act.truth.right for act in mine)}"
    found = reported(played(tmp_path / "short", policy="stub", days=2))
    assert "<dd>3, 4 of 10, by day" in found.page


def test_a_sweeps_episodes_are_rows_of_its_runs(wide: Report) -> None:
    """Without logs the runs are played once more; each episode is what such a run's row says."""
    told = parts(wide)["episodes"].split('<section class="part"')[1:]
    assert len(told) == 10
    assert all("What it was shown" in each for each in told)
    assert all("its log was not kept" in " ".join(each.split()) for each in told)
    assert not (wide.folder / "runs").exists()


def test_kept_logs_are_read_and_led_to(tmp_path: Path) -> None:
    """Where a sweep kept its logs, the way leads to them."""
    folder = tmp_path / "kept"
    sweep(laid(keep_logs=True), folder)
    page = reported(folder).page
    found = re.findall(r"loopforge lab why (kept/runs/\S+) \d+ \S+", page)
    assert found
    assert all((tmp_path / each / LOG).exists() for each in found)
    assert 'href="../../kept~c000' in page


def test_a_model_is_not_asked_for_a_report(tmp_path: Path) -> None:
    """Without its minds a run that asked a model is told by its line; with them, by its tape."""
    folder = tmp_path / "sweep"
    made = maker(tmp_path)
    sweep(asking(seeds=4), folder, maker=made)
    before = asked(tmp_path)
    by_line = reported(folder).leaf.sections
    assert "only the line of results is told" in by_line["episodes"]
    assert "answers of models" in by_line["manifest"]
    by_tape = reported(folder, maker=made).leaf.sections["episodes"]
    assert "So be it." in by_tape
    assert "only the line" not in by_tape
    assert asked(tmp_path) == before > 0


# ---------------------------------------------------------------- what is not whole


def test_a_run_that_was_cut_off_is_told_up_to_its_last_night(tmp_path: Path, run: Report) -> None:
    """Rows after the last night are not counted, and the page says so."""
    folder = tmp_path / "cut"
    folder.mkdir()
    lines = list(lines_of(run.folder))
    nights = [nth for nth, line in enumerate(lines) if b'"kind":"day"' in line[:20]]
    (folder / LOG).write_bytes(b"".join(lines[: nights[0] + 5]))
    found = reported(folder)
    assert "cut off" in found.leaf.sections["design"]
    acts = sum(
        int(n)
        for row in found.leaf.table("Both errors by robot").rows
        for cell in (row[2], row[4])
        for n in cell.split(" of ")[1:]
    )
    floor = [
        row for row in rows_of(folder) if isinstance(row, Decided) and row.role != "supervisor"
    ]
    assert acts == sum(row.day == 0 for row in floor)


def test_what_is_no_run_is_refused_in_words(tmp_path: Path, run: Report, bare: Report) -> None:
    """An empty folder, a run without a night, a sweep without a result, two sweeps in one."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadRun, match="no run and no sweep"):
        write_report(tmp_path / "empty", tmp_path / "x.html")
    short = tmp_path / "short"
    short.mkdir()
    (short / LOG).write_bytes(b"".join(list(lines_of(run.folder))[:20]))
    with pytest.raises(BadRun, match="--resume"):
        write_report(short, tmp_path / "x.html")
    for name, change, wrong in (
        ("none", {"results.jsonl": b""}, "no run that is done"),
        ("mixed", {"manifest.json": b'{"digest": "other"}'}, "another experiment"),
    ):
        folder = tmp_path / name
        shutil.copytree(bare.folder, folder)
        for file, data in change.items():
            (folder / file).write_bytes(data)
        with pytest.raises(BadRun, match=wrong):
            write_report(folder, tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path, run: Report) -> None:
    """A report that cannot be written is an error in words, and so is one in place of a log."""
    with pytest.raises(BadRun, match="cannot be written"):
        write_report(run.folder, tmp_path)
    for name in ("actions.jsonl", "results.jsonl", "experiment.json", "manifest.json"):
        with pytest.raises(BadRun, match="log itself"):
            write_report(run.folder, tmp_path / name)
    assert not list(tmp_path.iterdir())
