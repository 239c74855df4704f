"""Policies are generators; plain functions are accepted as ones that ask nothing."""

import pytest

from loopforge import AgentActionPlan, AgentPerception
from loopforge.core.policy import (
    All,
    Answer,
    Ask,
    Call,
    Message,
    Result,
    Thinking,
    as_policy,
    ask,
    call,
    together,
)
from loopforge.core.text.erasable_text import Words

SEEN = AgentPerception(step=0, name="maya", role="friend")


def plan(narrative: str) -> AgentActionPlan:
    """Any plan, told apart by its narrative."""
    return AgentActionPlan(intent="talk", mode="context", narrative=narrative)


def test_a_policy_asks_is_told_and_plans() -> None:
    """The three kinds of request come out in order, and each reply goes in where it was asked."""

    def mind(seen: AgentPerception) -> Thinking:
        answer = yield from ask(f"Who is {seen.name}?", max_tokens=9, purpose="wonder")
        result = yield from call("clock", {"zone": "UTC"})
        both = yield from together(Call("a"), Call("b"))
        return plan(f"{answer.text} {result.value} {len(both)}")

    thinking = as_policy(mind)(SEEN)
    question = Ask((Message("user", ("Who is maya?",)),), purpose="wonder", max_tokens=9)
    assert next(thinking) == question
    assert thinking.send(Answer("answered", "A friend.")) == Call("clock", {"zone": "UTC"})
    assert thinking.send(Result("returned", "noon")) == All((Call("a"), Call("b")))
    with pytest.raises(StopIteration) as done:
        thinking.send((Result("failed"), Result("returned")))
    assert done.value.value == plan("A friend. noon 2")


def test_a_function_that_returns_a_generator_is_a_policy() -> None:
    """A closure or a partial over a policy is run like the policy itself."""

    def mind(_seen: AgentPerception) -> Thinking:
        answer = yield from ask("?")
        return plan(answer.text)

    thinking = as_policy(lambda seen: mind(seen))(SEEN)
    assert isinstance(next(thinking), Ask)
    with pytest.raises(StopIteration) as done:
        thinking.send(Answer("answered", "yes"))
    assert done.value.value == plan("yes")


def test_a_message_reads_as_one_text() -> None:
    """Words among a message's parts stay references, and read as their text."""
    message = Message("user", ("ada: ", Words("hello"), "!"))
    assert message.text == "ada: hello!"
    assert isinstance(message.parts[1], Words)
