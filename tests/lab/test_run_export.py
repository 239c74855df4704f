"""Exports, read back by plain JSON and by polars, and held against the log."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.errors import BadRun, BadScenario
from loopforge.lab.export import table_columns
from loopforge.lab.export.run_export import export_folder
from loopforge.lab.run.run_counts import RunCounts
from loopforge.lab.run.run_lifecycle import run_simulation
from loopforge.lab.run.run_log import LOG
from loopforge.lab.sweeps.experiment_design import lay_out
from loopforge.lab.sweeps.experiment_file import Experiment, scenarios_of
from loopforge.lab.sweeps.sweep_results import results_of
from loopforge.lab.sweeps.sweep_runner import sweep
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from tests.lab.shelf import decided
from tests.lab.test_robot_minds import minds


def played(tmp_path: Path, policy: Any = "stub", **fields: Any) -> RunCounts:
    """A short run under spin, so that there are edits."""
    return run_simulation(
        "first_shift",
        policy=policy,
        days=1,
        perception="spin",
        out=tmp_path / "run",
        action_log_path=tmp_path / "l",
        **fields,
    )


def no_plan(seen: AgentPerception) -> AgentActionPlan:
    """Nothing that could be called a plan, one time in two."""
    if seen.step % 2:
        return AgentActionPlan(intent="work", mode="context")
    return "a plan"  # type: ignore[return-value]


# ---------------------------------------------------------------- plain rows


def test_jsonl_is_read_by_a_plain_reader(tmp_path: Path) -> None:
    """One flat object for each decision, all columns in each, and what the log says in them."""
    run = played(tmp_path)
    done = export_folder(run.folder, "jsonl")
    rows = [json.loads(line) for line in done.path.read_text("utf-8").splitlines()]
    assert done.rows == len(rows) == run.decisions
    for row, told in zip(decided(run.folder), rows, strict=True):
        assert list(told) == list(table_columns.COLUMNS)
        assert not any(isinstance(value, dict) for value in told.values())
        assert (told["row"], told["who"], told["step"]) == (row.n, row.who, row.step)
        assert (told["case"], told["right"]) == (row.truth.case, row.truth.right)
        assert told["shown_sign"] == row.shown.context["sign"]
        assert told["shown_cue"] == row.shown.context.get("cue")
        assert told["edits"] == len(row.edits)
        assert told["intent"] == row.plan["intent"]
        assert (told["kept"], told["failing"]) == (row.outcome.kept, row.outcome.failing)
        assert told["dice_fate"] == row.dice["fate"]
        assert told["trait_rigidity"] == row.shown.traits["rigidity"]
    assert any(told["edits"] for told in rows)
    for kind in table_columns.EDITS:
        found = sum(edit.kind == kind for row in decided(run.folder) for edit in row.edits)
        assert sum(told[kind] for told in rows) == found


def test_every_column_is_documented() -> None:
    """docs/factory-runs.md names each by name, those of feelings and traits by what they begin with."""
    page = (Path(__file__).parents[2] / "docs" / "factory-runs.md").read_text("utf-8")
    table = page.partition("| columns | type |")[2].partition("A sweep gives")[0]
    for name in table_columns.COLUMNS:
        part = name.partition("_")[0]
        assert f"`{name}`" in table or f"`{part}_NAME`" in table, name


def test_parquet_has_typed_columns_and_the_same_rows(tmp_path: Path) -> None:
    """polars reads the types that are declared, and the rows that the JSON lines hold."""
    run = played(tmp_path)
    table = pl.read_parquet(export_folder(run.folder, "parquet").path)
    types = {
        "int": pl.Int64(),
        "float": pl.Float64(),
        "text": pl.String(),
        "bool": pl.Boolean(),
        "texts": pl.List(pl.String()),
    }
    assert dict(table.schema) == {name: types[kind] for name, kind in table_columns.COLUMNS.items()}
    lines = export_folder(run.folder, "jsonl").path.read_text("utf-8").splitlines()
    assert table.to_dicts() == [json.loads(line) for line in lines]
    squares = Counter(table["square"].to_list())
    assert squares == run.squares
    floor = table.filter(pl.col("role") != "supervisor")
    broke = floor.filter(pl.col("right") & ~pl.col("kept"))
    assert broke.height == run.failings["over_reach"]


def test_csv_has_the_same_rows(tmp_path: Path) -> None:
    """A plain reader finds all columns, and in each what the JSON lines hold, of runs and of sweeps."""
    run = played(tmp_path, no_plan)
    swept = tmp_path / "swept"
    factors = {"policy": ["stub", "guardrail"], "days": [1], "steps_per_day": [2]}
    fields = {"name": "n", "question": "q?", "scenarios": ["first_shift"], "factors": factors}
    experiment = Experiment.from_dict({**fields, "seeds": 2})
    sweep(lay_out(experiment, scenarios_of(experiment)), swept)
    for folder in (run.folder, swept):
        with export_folder(folder, "csv").path.open(encoding="utf-8", newline="") as file:
            found = list(csv.DictReader(file))
        lines = export_folder(folder, "jsonl").path.read_bytes().splitlines()
        wanted = [json.loads(line) for line in lines]
        assert len(found) == len(wanted) > 0
        for row, other in zip(found, wanted, strict=True):
            assert row.keys() == other.keys()
            for name, value in other.items():
                if isinstance(value, str) or value is None:
                    assert row[name] == (value or "")
                else:
                    assert json.loads(row[name]) == value


def test_decisions_without_a_plan_are_rows_too(tmp_path: Path) -> None:
    """What came instead of a plan leaves its columns empty, in every format."""
    run = played(tmp_path, no_plan)
    table = pl.read_parquet(export_folder(run.folder, "parquet").path)
    none = table.filter(pl.col("mode") == "none")
    assert none.height == sum(row.verdict == "contained" for row in decided(run.folder)) > 0
    assert none["intent"].is_null().all()


def test_what_no_model_answered_is_no_plan_of_it(tmp_path: Path) -> None:
    """The robot that stands still in its stead has no intent, no words and no risk of its own."""
    refuses = ScriptedModels(lambda _: ScriptedAnswer(outcome="refused", text="No."))
    run = played(tmp_path, "llm", minds=minds(refuses))
    rows = [
        json.loads(line)
        for line in export_folder(run.folder, "jsonl").path.read_text().splitlines()
    ]
    told = [row for row in rows if row["minded"] == "refused"]
    assert told
    for name in ("intent", "plan_rule", "narrative", "move_to", "riskiness"):
        assert {row[name] for row in told} == {None}


def test_a_sweep_is_exported_a_row_for_each_run(tmp_path: Path) -> None:
    """Levels, counts, rates and first times of each run, as JSON lines and as columns."""
    factors = {"policy": ["stub", "guardrail"], "days": [1], "steps_per_day": [4]}
    fields = {"name": "n", "question": "q?", "scenarios": ["first_shift"], "factors": factors}
    experiment = Experiment.from_dict({**fields, "seeds": 2})
    out = tmp_path / "sweep"
    sweep(lay_out(experiment, scenarios_of(experiment)), out)
    table = pl.read_parquet(export_folder(out, "parquet").path)
    lines = export_folder(out, "jsonl").path.read_text("utf-8").splitlines()
    assert table.to_dicts() == [json.loads(line) for line in lines]
    for row, result in zip(table.to_dicts(), results_of(out), strict=True):
        assert (row["cell"], row["seed"], row["head"]) == (result.cell, result.seed, result.head)
        assert row["level_policy"] == result.levels["policy"]
        assert row["rate_over_reach"] == result.rates["over_reach"]
        assert row["count_over_reach"] == result.counts["over_reach"]
        assert row["mean_belief_error"] == result.means["belief_error"]
        assert (row["time_switch"], row["observed_switch"]) == result.times["switch"]


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
def test_an_export_is_the_same_each_time_and_leaves_the_log(tmp_path: Path, format: str) -> None:
    """Exported twice the bytes are the same, wherever they go, and the log is as it was."""
    run = played(tmp_path)
    before = (run.folder / LOG).read_bytes()
    one = export_folder(run.folder, format).path
    other = export_folder(run.folder, format, tmp_path / "deep" / "other").path
    assert other == tmp_path / "deep" / "other"
    assert one.read_bytes() == other.read_bytes()
    assert (run.folder / LOG).read_bytes() == before
    assert {each.name for each in other.parent.iterdir()} == {"other"}


def test_what_cannot_be_exported_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    """No run, no such format, the log's own name, a damaged log: each is said, no file is left."""
    with pytest.raises(BadRun, match="no run"):
        export_folder(tmp_path, "jsonl")
    blank = tmp_path / "blank"
    blank.mkdir()
    (blank / LOG).touch()
    with pytest.raises(BadRun, match="its head is missing"):
        export_folder(blank, "jsonl")
    assert [path.name for path in blank.iterdir()] == [LOG]
    run = played(tmp_path)
    with pytest.raises(BadScenario, match="parquet"):
        export_folder(run.folder, "xlsx")
    with pytest.raises(BadRun, match="log itself"):
        export_folder(run.folder, "jsonl", run.folder / LOG)
    lines = (run.folder / LOG).read_bytes().splitlines(keepends=True)
    (run.folder / LOG).write_bytes(b"".join([*lines[:9], b"{}\n", *lines[9:]]))
    for format in ("jsonl", "csv", "parquet"):
        with pytest.raises(BadRun, match="line 10"):
            export_folder(run.folder, format)
    assert {each.name for each in run.folder.iterdir()} == {LOG}
