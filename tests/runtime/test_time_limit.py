"""Time limits: a mind of one's own that never comes back loses its turn, and the run goes on."""

import logging
import signal
import threading
from collections.abc import Callable
from itertools import count, repeat
from types import SimpleNamespace
from typing import cast

import pytest

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import Thinking, ask
from loopforge.errors import BadScenario
from loopforge.lab.run.robot_minds import Minds
from loopforge.models.scripted_model import ScriptedModels
from loopforge.runtime.time_limit import OutOfTime, call_within
from tests.lab.city import floor, laws, play, read

SECONDS, PLENTY = 0.05, 60.0
NOBODY = cast(AgentPerception, None)


def plan() -> AgentActionPlan:
    """A plan that waits."""
    return AgentActionPlan(intent="idle", mode="context", narrative="I wait.")


def endless(_: AgentPerception) -> AgentActionPlan:
    """Computes for ever."""
    while True:
        pass


def asleep(_: AgentPerception) -> AgentActionPlan:
    """Waits for what never comes, and computes nothing."""
    threading.Event().wait()
    return plan()


def stubborn(_: AgentPerception) -> AgentActionPlan:
    """Swallows whatever is raised in it."""
    while True:
        try:
            sum(range(50))
        except BaseException:
            continue


def barren(_: AgentPerception) -> Thinking:
    """A generator that never yields."""
    while SECONDS:
        pass
    yield from ask("never")
    return plan()


def late(_: AgentPerception) -> Thinking:
    """A generator that asks, hears, and then never comes back."""
    yield from ask("once")
    while True:
        pass


def run(mind: Callable[..., object], seconds: float = SECONDS) -> list[bytes]:
    """A step of the small city by this mind."""
    minds = Minds("own", own={"own": mind}, models=ScriptedModels(lambda _: "Yes."))  # type: ignore[dict-item]
    minds.seconds = seconds
    return play(read(steps_per_day=1), minds)


@pytest.mark.parametrize("mind", [endless, asleep, stubborn, barren, late])
def test_a_mind_that_never_comes_back_loses_its_turn(mind: Callable[..., object]) -> None:
    """Each robot stands still, the row says that its time was over, and the run comes to its end."""
    lines = run(mind)
    assert laws(lines) == []
    told = floor(lines)
    assert len(told) == 3
    for row in told:
        assert row.minded.outcome == "timed_out"
        assert row.minded.why == "it did not come back within 0.05 seconds"
        assert (row.verdict, row.outcome.did) == ("contained", "idle")


def test_a_turn_that_was_over_gives_the_same_bytes() -> None:
    """When the alarm rang stands nowhere: twice the same mind, twice the same run."""
    assert run(endless) == run(endless)


def test_a_mind_in_another_thread_has_the_same_limit() -> None:
    """Where no alarm can ring, a watcher ends it."""
    made: list[list[bytes]] = []
    thread = threading.Thread(target=lambda: made.append(run(endless)))
    thread.start()
    thread.join()
    assert [row.minded.outcome for row in floor(made[0])] == ["timed_out"] * 3


def test_an_alarm_of_somebody_else_is_put_back() -> None:
    """Its handler and what was left of its time stand again after a mind's limit."""
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: rung.append(number))
    signal.setitimer(signal.ITIMER_REAL, 1000.0)
    try:
        with pytest.raises(OutOfTime):
            call_within(SECONDS, lambda: endless(NOBODY))
        left, _ = signal.getitimer(signal.ITIMER_REAL)
        assert 0 < left < 1000
        signal.raise_signal(signal.SIGALRM)
        assert rung == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_what_comes_back_after_its_time_is_out_of_time_all_the_same() -> None:
    """An error that was swallowed does not make it good."""

    def swallow() -> None:
        try:
            endless(NOBODY)
        except BaseException:
            return

    with pytest.raises(OutOfTime):
        call_within(SECONDS, swallow)


def test_what_is_out_of_time_leaves_no_lock_of_logging_taken() -> None:
    """An alarm that rings right after the lock was taken waits until it is given back."""
    taken, given = count(), count()
    ringing = zip(taken, map(signal.raise_signal, repeat(signal.SIGALRM)), strict=False)

    class Slow(logging.Handler):
        """Writes nothing, slowly."""

        def emit(self, _: logging.LogRecord) -> None:
            """Computes."""
            sum(sum(range(50)) for _ in range(50))

    handler, record = Slow(), logging.LogRecord("mind", 20, "", 1, "hello", (), None)
    handler.lock = SimpleNamespace(acquire=ringing.__next__, release=given.__next__)  # type: ignore[assignment]

    def logs() -> None:
        while True:
            handler.handle(record)

    with pytest.raises(OutOfTime):
        call_within(SECONDS, logs)
    handler.lock = None
    assert next(taken) == next(given) > 0


@pytest.mark.parametrize(("made", "kind"), [({"intent": "work"}, "dict"), (None, "None")])
def test_what_is_no_plan_is_malformed(made: object, kind: str) -> None:
    """The row says what came back, and that it was no plan; it is not counted as an answer."""
    for row in floor(run(lambda _: made, PLENTY)):
        assert row.minded.outcome == "malformed"
        assert kind in row.minded.why
        assert row.verdict == "contained"


def test_a_mind_that_interrupts_harms_its_turn_alone() -> None:
    """What looks like somebody's Ctrl-C, raised by a mind, is its failure."""

    def interrupts(_: AgentPerception) -> AgentActionPlan:
        raise KeyboardInterrupt

    for row in floor(run(interrupts, PLENTY)):
        assert row.minded.outcome == "failed"
        assert "KeyboardInterrupt" in row.minded.why


def test_an_async_mind_is_told_what_to_be() -> None:
    """The sentence says what it is, and what to write."""

    async def p(_: AgentPerception) -> AgentActionPlan:
        return plan()

    with pytest.raises(BadScenario, match=r"The policy 'p' is async.*write `def`"):
        Minds("p", own={"p": p}).check()  # type: ignore[dict-item]
