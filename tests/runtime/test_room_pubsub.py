"""Signals: what is published is heard, what is halted stops."""

import pytest

from loopforge.runtime.local.room_pubsub import LocalSignals
from loopforge.runtime.ports import Draft, Listening, Rested, Signal, Signals, Thinking


@pytest.fixture
def signals() -> Signals:
    """Those of one process."""
    return LocalSignals()


def draft(text: str, turn: str = "t") -> Draft:
    """What maya is saying so far."""
    return Draft(turn=turn, mate="maya", text=text)


BEGAN, OVER = Thinking(turn="t", mate="maya"), Rested(turn="t", mate="maya")


async def heard(listening: Listening) -> list[object]:
    """What was heard until the turn was over."""
    found: list[object] = []
    while (what := await anext(listening)) != OVER:
        found.append(what)
    return found


async def test_everybody_who_listens_to_a_stream_hears_it_in_order(signals: Signals) -> None:
    """From when they began to listen; of no other stream."""
    first = signals.listen("a")
    signals.publish("a", BEGAN)
    second, other = signals.listen("a"), signals.listen("b")
    shown: list[Signal] = [draft("Hel"), draft("Hello", "u"), OVER]
    for what in shown:
        signals.publish("a", what)
    signals.publish("b", OVER)
    assert await heard(first) == [BEGAN, *shown[:-1]]
    assert await heard(second) == shown[:-1]
    assert await heard(other) == []


async def test_a_slow_listener_finds_the_newest_draft(signals: Signals) -> None:
    """Older drafts of the same turn are passed over, and nothing else."""
    listening = signals.listen("a")
    for what in (BEGAN, draft("H"), draft("He"), draft("Hel"), draft("x", "u"), draft("He"), OVER):
        signals.publish("a", what)
    assert await heard(listening) == [BEGAN, draft("Hel"), draft("x", "u"), draft("He")]


async def test_who_closes_hears_no_more(signals: Signals) -> None:
    """The iterator ends after what was heard before; others go on listening."""
    one, other = signals.listen("a"), signals.listen("a")
    signals.publish("a", BEGAN)
    one.close()
    one.close()
    signals.publish("a", OVER)
    assert [what async for what in one] == [BEGAN]
    assert await heard(other) == [BEGAN]


def test_what_is_under_way_is_halted_by_stream_or_by_name(signals: Signals) -> None:
    """Everything on a stream, or what goes by a name; not what is over, nor other streams."""
    halted: list[tuple[str, str]] = []
    over = [
        signals.on_halt(stream, lambda why, turn=turn: halted.append((turn, why)), turn, mate)  # type: ignore[misc]
        for stream, turn, mate in (("a", "t1", "maya"), ("a", "t2", "otto"), ("b", "t3", "maya"))
    ]
    signals.halt("a", "stop")
    signals.halt("a", "he left", "otto")
    signals.halt("a", "it is gone", "t1")
    signals.halt("a", "nobody goes by this", "t3")
    assert halted == [("t1", "stop"), ("t2", "stop"), ("t2", "he left"), ("t1", "it is gone")]
    for each in over:
        each()
    signals.halt("a", "too late")
    signals.halt("b", "too late")
    assert len(halted) == 4
