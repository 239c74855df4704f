"""Attempts begin with a turn of work and end where the work did; what is due of them follows."""

import pytest

from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.work.attempt_trace import AttemptTrace
from loopforge.core.work.work_vocabulary import (
    AttemptScored,
    HaltKind,
    ResultApproved,
    ResultRejected,
    TaskEscalated,
    TaskFinished,
    TaskRated,
    TaskReflected,
    TaskStopped,
    WorkEvent,
)

DONE = TaskFinished(turn="t", result=Words("Done."))


def score(attempt: int = 1, *, reflects: bool = True) -> AttemptScored:
    """An attempt was scored."""
    return AttemptScored(
        attempt=attempt,
        mate="maya",
        completion=1,
        quality=1,
        efficiency=1,
        together=1,
        reflects=reflects,
    )


def after(*bodies: WorkEvent, used: tuple[str, ...] = ()) -> AttemptTrace:
    """Where it stands after a turn of work and these."""
    trace = AttemptTrace()
    trace.begin(used)
    for body in bodies:
        trace.take(body, 1)
    return trace


def test_what_is_over_is_scored_and_then_looked_back_on() -> None:
    """One after the other, and nothing is left then."""
    trace = after(DONE)
    assert (trace.unscored, trace.unreflected) == (True, False)
    trace.take(score(), 1)
    assert (trace.unscored, trace.unreflected) == (False, True)
    trace.take(TaskReflected(turn="r", text=public_words(""), attempt=1), 1, "r1", 9)
    assert not trace.unreflected
    assert [one.id for one in trace.reflections] == ["r1"]


def test_the_next_turn_of_work_is_another_attempt() -> None:
    """It is given its own insights, and is not over; those of the first turn count."""
    trace = after(DONE, score(reflects=False), used=("a",))
    assert (trace.nth, trace.used) == (1, ("a",))
    trace.begin(("b",))
    trace.begin(("c",))
    assert (trace.nth, trace.since, trace.used, trace.over) == (2, 1, ("b",), False)


@pytest.mark.parametrize(
    ("kind", "over"),
    [("turns", True), ("time", True), ("lost", True), ("person", False), ("money", False)],
)
def test_not_all_that_stands_still_is_over(kind: HaltKind, over: bool) -> None:
    """A limit of turns or time ends an attempt; a person, or money, halts it, and it is scored."""
    trace = after(TaskStopped(kind=kind, why=public_words("so")))
    assert (trace.over, trace.unscored) == (over, True)


def test_another_model_is_another_attempt() -> None:
    """What the first one did is scored, and looked back on before the next one begins."""
    body = TaskEscalated(turn="t", reason="errors", why=public_words(""), before="a", after="b")
    assert after(body).over


def test_what_people_decide_has_it_scored_anew() -> None:
    """A no, or a thumb down, has it looked back on anew; a yes has not."""
    for body, again in (
        (ResultApproved(by="ana"), False),
        (ResultRejected(by="ana"), True),
        (TaskRated(person="ana", up=True, confidence=1), False),
        (TaskRated(person="ana", up=False, confidence=1), True),
    ):
        trace = after(DONE, score(), TaskReflected(turn="r", text=public_words("")), body)
        assert trace.unscored
        trace.take(score(), 1)
        assert trace.unreflected is again


def test_nothing_is_learned_of_no_turn() -> None:
    """A task that was halted before it began has no attempt."""
    trace = AttemptTrace()
    trace.take(TaskStopped(kind="lost", why=public_words("so")), 0)
    assert not trace.unsettled
