"""The life of a task is a table: where it leads, where it never does, and how long it goes on."""

from typing import get_args

import pytest

from loopforge.core.text.erasable_text import Words
from loopforge.core.work.task_lifecycle import (
    AT_WORK,
    TASK_TABLE,
    TaskStage,
    next_stage,
    turn_limit,
)
from loopforge.core.work.work_vocabulary import Complexity, TaskClassified, WorkEvent

KINDS = {str(body.__struct_config__.tag) for body in get_args(WorkEvent)}


def test_the_table_is_whole() -> None:
    """Every stage stands in it, by kinds of events that there are, and leads to stages."""
    assert set(TASK_TABLE) == set(get_args(TaskStage))
    assert {kind for row in TASK_TABLE.values() for kind in row} <= KINDS
    assert {stage for row in TASK_TABLE.values() for stage in row.values()} <= set(TASK_TABLE)


def test_whatever_is_at_work_can_be_stopped_and_goes_on_again() -> None:
    """From every stage of work a stop leads to standing still, and resuming leads out of it."""
    for stage in AT_WORK:
        assert next_stage(stage, "task.stopped") == "stopped"
    for stage in ("stopped", "waiting", "finished"):
        assert next_stage(stage, "task.resumed") == "ready"


def test_what_is_not_there_changes_nothing() -> None:
    """A refused task is never approved, and a line during work keeps it at work."""
    assert next_stage("rejected", "task.approved") == "rejected"
    assert next_stage("working", "task.steered") == "working"
    assert next_stage("finished", "task.steered") == "ready"


@pytest.mark.parametrize(("complexity", "turns"), [("SIMPLE", 10), ("MEDIUM", 20), ("COMPLEX", 35)])
def test_what_is_harder_may_take_more_turns(complexity: Complexity, turns: int) -> None:
    """Ten, twenty or thirty-five."""
    taken = TaskClassified(
        task_type="question",
        role="coder",
        complexity=complexity,
        flow="simple",
        by="rules",
        reason=Words("It is one."),
    )
    assert turn_limit(taken) == turns


def test_a_task_that_was_not_classified_yet_has_those_of_the_middle() -> None:
    """Twenty."""
    assert turn_limit(None) == 20
