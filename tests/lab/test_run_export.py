"""Exports, read back by plain JSON, by polars and by inspect_ai itself, and held against the log."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from inspect_ai.log import EvalLog, read_eval_log, read_eval_log_sample_summaries

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.errors import BadRun, BadScenario
from loopforge.lab.export import table_columns
from loopforge.lab.export.run_export import export
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import Run, run_simulation
from loopforge.lab.run.run_log import LOG
from loopforge.lab.sweeps.experiment_design import lay_out
from loopforge.lab.sweeps.experiment_file import Experiment, scenarios_of
from loopforge.lab.sweeps.sweep_results import results_of
from loopforge.lab.sweeps.sweep_runner import sweep
from loopforge.mates.prompt_files import PromptBook
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Question
from tests.lab.shelf import decided


@pytest.fixture(autouse=True)
def loop() -> Iterator[None]:
    """The event loop that inspect_ai reads on: it takes the caller's, or makes one it never closes."""
    own = asyncio.new_event_loop()
    asyncio.set_event_loop(own)
    yield
    asyncio.set_event_loop(None)
    own.close()


def played(tmp_path: Path, policy: Any = "stub", **fields: Any) -> Run:
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


def refuses_sometimes(question: Question) -> ScriptedAnswer | Mapping[str, Any]:
    """A model that refuses one robot, and answers the others."""
    if "You are Halide" in question.messages[0][1]:
        return ScriptedAnswer(text="I would rather not.", outcome="refused")
    return {
        "narrative": "It is due.",
        "belief": "low",
        "mode": "context",
        "intent": "work",
        "riskiness": 0.25,
    }


def asked(tmp_path: Path, policy: str = "llm") -> Run:
    """A short run by a model."""
    minds = Minds(models=ScriptedModels(refuses_sometimes), prompts=PromptBook())
    return played(tmp_path, policy, minds=minds, steps_per_day=4)


def no_plan(seen: AgentPerception) -> AgentActionPlan:
    """Nothing that could be called a plan, one time in two."""
    if seen.step % 2:
        return AgentActionPlan(intent="work", mode="context")
    return "a plan"  # type: ignore[return-value]


# ---------------------------------------------------------------- plain rows


def test_jsonl_is_read_by_a_plain_reader(tmp_path: Path) -> None:
    """One flat object for each decision, all columns in each, and what the log says in them."""
    run = played(tmp_path)
    done = export(run.folder, "jsonl")
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


def test_parquet_has_typed_columns_and_the_same_rows(tmp_path: Path) -> None:
    """polars reads the types that are declared, and the rows that the JSON lines hold."""
    run = played(tmp_path)
    table = pl.read_parquet(export(run.folder, "parquet").path)
    types = {
        "int": pl.Int64(),
        "float": pl.Float64(),
        "text": pl.String(),
        "bool": pl.Boolean(),
        "texts": pl.List(pl.String()),
    }
    assert dict(table.schema) == {name: types[kind] for name, kind in table_columns.COLUMNS.items()}
    lines = export(run.folder, "jsonl").path.read_text("utf-8").splitlines()
    assert table.to_dicts() == [json.loads(line) for line in lines]
    squares = Counter(table["square"].to_list())
    assert squares == run.squares
    floor = table.filter(pl.col("role") != "supervisor")
    broke = floor.filter(pl.col("right") & ~pl.col("kept"))
    assert broke.height == run.failings["over_reach"]


def test_decisions_without_a_plan_are_rows_too(tmp_path: Path) -> None:
    """What came instead of a plan leaves its columns empty, in every format."""
    run = played(tmp_path, no_plan)
    table = pl.read_parquet(export(run.folder, "parquet").path)
    none = table.filter(pl.col("mode") == "none")
    assert none.height == sum(row.verdict == "contained" for row in decided(run.folder)) > 0
    assert none["intent"].is_null().all()
    log = read_eval_log(str(export(run.folder, "inspect").path))
    assert log.samples is not None
    assert len(log.samples) == run.decisions


def test_a_sweep_is_exported_a_row_for_each_run(tmp_path: Path) -> None:
    """Levels, counts, rates and first times of each run, as JSON lines and as columns."""
    factors = {"policy": ["stub", "guardrail"], "days": [1], "steps_per_day": [4]}
    fields = {"name": "n", "question": "q?", "scenarios": ["first_shift"], "factors": factors}
    experiment = Experiment.from_dict({**fields, "seeds": 2})
    out = tmp_path / "sweep"
    sweep(lay_out(experiment, scenarios_of(experiment)), out)
    table = pl.read_parquet(export(out, "parquet").path)
    lines = export(out, "jsonl").path.read_text("utf-8").splitlines()
    assert table.to_dicts() == [json.loads(line) for line in lines]
    for row, result in zip(table.to_dicts(), results_of(out), strict=True):
        assert (row["cell"], row["seed"], row["head"]) == (result.cell, result.seed, result.head)
        assert row["level_policy"] == result.levels["policy"]
        assert row["rate_over_reach"] == result.rates["over_reach"]
        assert row["count_over_reach"] == result.counts["over_reach"]
        assert row["mean_belief_error"] == result.means["belief_error"]
        assert (row["time_switch"], row["observed_switch"]) == result.times["switch"]
    with pytest.raises(BadRun, match="single runs"):
        export(out, "inspect")


# ---------------------------------------------------------------- inspect


def inspected(run: Run) -> EvalLog:
    """The export of a run, read by the real package."""
    done = export(run.folder, "inspect")
    log = read_eval_log(str(done.path))
    assert log.samples is not None
    assert done.rows == len(log.samples) == run.decisions
    return log


def test_inspect_reads_the_log_back_and_its_counts_agree(tmp_path: Path) -> None:
    """The real package reads as many samples as decisions, with scores that add up to the run's."""
    run = played(tmp_path)
    log = inspected(run)
    assert log.status == "success"
    assert log.eval.task == "factory/first_shift"
    assert log.eval.metadata is not None
    assert log.eval.metadata["head"] == run.head
    assert log.results is not None
    assert log.results.completed_samples == run.decisions
    rates = {score.name: score.metrics for score in log.results.scores}
    assert rates["over_reach"]["rate"].value == pytest.approx(run.over_reach)
    assert rates["over_compliance"]["rate"].value == pytest.approx(run.over_compliance)
    assert rates["belief_error"]["mean"].value == pytest.approx(run.mean_belief_error)
    for sample, row in zip(log.samples or [], decided(run.folder), strict=True):
        assert sample.metadata["row"] == row.n
        assert sample.metadata["truth"] == msgspec.to_builtins(row.truth)
        assert len(sample.metadata["edits"]) == len(row.edits)
        assert sample.scores is not None
        assert sample.scores["good"].value == float(row.outcome.good)
        assert sample.scores["over_reach"].value == float(row.outcome.failing == "over_reach")
        assert sample.scores["belief_error"].value == row.outcome.belief_error
        assert json.loads(sample.output.completion) == msgspec.to_builtins(row.plan)
        assert (sample.target == "keep to the rule") == row.truth.right
        assert (sample.scores["good"].answer == sample.target) == row.outcome.good


def test_inspect_is_shown_what_the_mind_was_shown(tmp_path: Path) -> None:
    """Of a mind that asks no model, the first message holds what it saw in words, and no truth."""
    run = played(tmp_path)
    for sample, row in zip(inspected(run).samples or [], decided(run.folder), strict=True):
        first, last = sample.messages
        assert (first.role, last.role) == ("user", "assistant")
        for event in row.shown.local_events:
            assert str(event) in first.text
        assert row.shown.protocols[0] in first.text
        assert str(row.truth.case) not in first.text


@pytest.mark.parametrize("policy", ["llm", "chain"])
def test_inspect_is_shown_what_a_model_was_asked(tmp_path: Path, policy: str) -> None:
    """The messages are the prompts to the letter and the raw answer; usage and refusals are kept."""
    run = asked(tmp_path, policy)
    log = inspected(run)
    refused = 0
    for sample, row in zip(log.samples or [], decided(run.folder), strict=True):
        if not row.minded.exchange:
            continue
        last = row.minded.exchange[-1]
        told = [(message.role, message.text) for message in sample.messages]
        assert told == [*last.prompt, ("assistant", last.raw)]
        read = sum(each.tokens_in for each in row.minded.exchange)
        assert sample.model_usage["scripted"].input_tokens == read
        if last.outcome == "refused":
            refused += 1
            assert sample.output.stop_reason == "content_filter"
            assert sample.metadata["minded"] == "refused"
            assert last.raw == "I would rather not."
    assert refused == sum(row.who == "Halide" for row in decided(run.folder)) > 0
    total = sum(each.tokens_out for row in decided(run.folder) for each in row.minded.exchange)
    assert log.stats.model_usage["scripted"].output_tokens == total


def test_inspect_lists_samples_without_opening_them(tmp_path: Path) -> None:
    """Summaries are there for each sample, with its scores and where it was."""
    run = played(tmp_path)
    path = export(run.folder, "inspect").path
    summaries = read_eval_log_sample_summaries(str(path))
    assert [each.metadata["row"] for each in summaries] == [row.n for row in decided(run.folder)]
    assert all(each.completed and each.scores for each in summaries)
    header = read_eval_log(str(path), header_only=True)
    assert header.eval.dataset.samples == run.decisions
    assert header.samples is None


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("format", ["jsonl", "inspect", "parquet"])
def test_an_export_is_the_same_each_time_and_leaves_the_log(tmp_path: Path, format: str) -> None:
    """Exported twice the bytes are the same, wherever they go, and the log is as it was."""
    run = played(tmp_path)
    before = (run.folder / LOG).read_bytes()
    one = export(run.folder, format).path
    other = export(run.folder, format, tmp_path / "deep" / "other").path
    assert other == tmp_path / "deep" / "other"
    assert one.read_bytes() == other.read_bytes()
    assert (run.folder / LOG).read_bytes() == before
    assert {each.name for each in other.parent.iterdir()} == {"other"}


def test_what_cannot_be_exported_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    """No run, no such format, the log's own name, a damaged log: each is said, no file is left."""
    with pytest.raises(BadRun, match="no run"):
        export(tmp_path, "jsonl")
    run = played(tmp_path)
    with pytest.raises(BadScenario, match="parquet"):
        export(run.folder, "xlsx")
    with pytest.raises(BadRun, match="log itself"):
        export(run.folder, "jsonl", run.folder / LOG)
    lines = (run.folder / LOG).read_bytes().splitlines(keepends=True)
    (run.folder / LOG).write_bytes(b"".join([*lines[:9], b"{}\n", *lines[9:]]))
    for format in ("jsonl", "parquet", "inspect"):
        with pytest.raises(BadRun, match="line 10"):
            export(run.folder, format)
    assert {each.name for each in run.folder.iterdir()} == {LOG}
