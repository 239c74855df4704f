"""Answered: what became of each decision, in the first line, in the rates, in what is a finding."""

from collections.abc import Callable
from pathlib import Path

import pytest

from loopforge.lab.inspect.run_reader import RunIndex
from loopforge.lab.report.html_report import write_report
from loopforge.lab.run.answered_decisions import (
    AnswerCounts,
    AnsweringMind,
    ModelAnswer,
    answer_fate,
)
from loopforge.lab.run.run_counts import run_counts_as_dict
from loopforge.lab.run.run_lifecycle import run_simulation, summary_of
from loopforge.lab.sweeps.sweep_runner import sweep
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Question
from tests.lab.city import read
from tests.lab.sweeps import laid
from tests.lab.test_robot_minds import GIVEN, minds

Script = Callable[[Question], object]


@pytest.mark.parametrize(
    ("outcome", "raw", "became"),
    [
        ("planned", "{}", "answered"),
        ("refused", "I would rather not.", "refused"),
        ("timed_out", "", "cut off"),
        ("malformed", '{"narrative": "The scene', "cut off"),
        ("malformed", '```json\n{"narrative": "The', "cut off"),
        ("malformed", '{"riskiness": 7}', "malformed"),
        ("malformed", "I help.", "malformed"),
        ("malformed", '{"a": 1} and so on', "malformed"),
        ("failed", "", "failed"),
        ("something new", "", "failed"),
    ],
)
def test_what_became_of_a_decision(outcome: str, raw: str, became: str) -> None:
    """An answer that breaks off was cut; one that is whole and is no plan is malformed."""
    assert answer_fate(outcome, raw) == became


def test_the_first_line_counts_everybody_once() -> None:
    """Answers, refusals, cuts and failures of models, and beside them who was rules in code."""
    answers = AnswerCounts()
    told = [
        ("planned", "answered", 388),
        ("refused", "refused", 58),
        ("timed_out", "timed_out", 54),
    ]
    for outcome, reply, times in told:
        mind = AnsweringMind("llm/1", outcome, (ModelAnswer(reply, "", "big"),))
        for _ in range(times):
            answers.decided(mind, floor=True, right=False, failing="over_compliance")
    for _ in range(10):
        answers.decided(AnsweringMind("overseer/1"), floor=False, right=True, failing="")
    assert answers.line == (
        "answered 388, refused 58, cut off 54, failed 0 (by big); 10 more by rules in code"
    )
    assert answers.share == 112 / 500
    assert not answers.counts
    assert "22.4% were not answered" in answers.warning
    assert answers.without("over_compliance", 300, 500) == (188, 388)


@pytest.mark.parametrize(("wrong", "counts"), [(1, True), (2, False)])
def test_more_than_one_in_twenty_is_too_much(wrong: int, counts: bool) -> None:
    """Five in a hundred may be missing, and no more."""
    answers = AnswerCounts()
    for nth in range(20):
        outcome = "failed" if nth < wrong else "planned"
        mind = AnsweringMind("llm/1", outcome, why="its server is away" if nth < wrong else "")
        answers.decided(mind, floor=True, right=True, failing="")
    assert answers.counts is counts
    assert bool(answers.warning) is not counts
    assert counts or answers.warning.endswith("Why, most often (2 times): its server is away.")


def every(third: int) -> ScriptedModels:
    """A model that refuses one question in so many."""
    asked: list[int] = []

    def script(_: Question) -> ScriptedAnswer:
        asked.append(1)
        if len(asked) % third == 0:
            return ScriptedAnswer(outcome="refused", text="No.")
        return ScriptedAnswer(data=GIVEN)

    return ScriptedModels(script)


def test_both_rates_stand_with_and_without_what_was_not_answered(tmp_path: Path) -> None:
    """Counted over the rows by hand, they agree: with all moments, and with the answered ones."""
    run = run_simulation(read(days=2), minds=minds(every(3)), out=tmp_path / "run")
    told = run_counts_as_dict(run)
    assert told["answers"]["refused"] == run.answers.fates["refused"] == 8
    assert told["answers"]["finding"] is False
    for rate, of in (("over_compliance", run.wrong), ("over_reach", run.right)):
        some, left = run.answered(rate)
        lost = run.answers.lost["wrong" if rate == "over_compliance" else "right"]
        assert left == of - lost
        assert some == run.failings[rate] - run.answers.lost[rate]
    assert sum(run.answers.lost[side] for side in ("right", "wrong")) == 8


def test_pages_and_summaries_count_the_same(tmp_path: Path) -> None:
    """A run's index, made for pages, has the line that its summary has."""
    run_simulation(read(days=2), minds=minds(every(3)), out=tmp_path / "run")
    index = RunIndex(tmp_path / "run")
    index.refresh()
    assert index.run.answers == summary_of(tmp_path / "run").answers
    assert index.run.answers.line.startswith("answered 16, refused 8, cut off 0, failed 0")


def test_a_report_of_too_few_answers_finds_nothing(tmp_path: Path) -> None:
    """Its first line counts, "In short" says that it is no finding, and both rates stand twice."""
    run_simulation(read(days=2), minds=minds(every(3)), out=tmp_path / "run")
    page = write_report(tmp_path / "run", tmp_path / "page.html")[0].read_text()
    line = "answered 16, refused 8, cut off 0, failed 0"
    assert page.index(line) < page.index("<h1>")
    assert "No finding. " in page
    assert "33.3% were not answered, more than 5%" in page
    assert "Both errors, with what was not answered and without" in page


def test_a_sweep_of_rules_in_code_has_the_results_it_had(tmp_path: Path) -> None:
    """What nobody was asked leaves no trace in the lines of its results."""
    sweep(laid(), tmp_path / "some")
    assert b"answers." not in (tmp_path / "some" / "results.jsonl").read_bytes()
