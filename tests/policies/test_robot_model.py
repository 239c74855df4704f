"""Robots with a model: what they ask, and what becomes of answers that are none."""

from typing import Any

import pytest

from loopforge.core.policy import Answer, Ask
from loopforge.core.reflection import AgentReflection
from loopforge.mates.prompt_files import PromptFiles
from loopforge.policies.robot_model import FORM, chain, fields_of, listed, llm, reflecting
from tests.playbook import Playbook
from tests.robots import at_the_press

PROMPTS = PromptFiles()
GOOD: dict[str, Any] = {
    "narrative": "The lamp lies; I free the jam.",
    "belief": "low",
    "mode": "context",
    "intent": "work",
    "riskiness": 0.4,
}


def answered(**changed: Any) -> Answer:
    """A model's answer with these fields."""
    return Answer("answered", "{}", {**GOOD, **changed})


def test_llm_asks_once_and_plans() -> None:
    """It shows the model the words of its perception, and takes mode, act and belief from it."""
    book = Playbook(llm(PROMPTS, "Counts bolts when nervous."), at_the_press()).asks("act")
    asked = book.request
    assert isinstance(asked, Ask)
    assert asked.schema == FORM
    prompt = asked.messages[0].text
    for words in ("Sprocket", "Counts bolts", "hands off the line", "The heat lamp burns steady."):
        assert words in prompt
    plan = book.told(answered()).plans()
    assert (plan.intent, plan.mode, plan.rule) == ("work", "context", "")
    assert plan.meta == {"belief": "low"}
    assert plan.move_to == "pump pit"


def test_a_guardrail_answer_names_the_rule() -> None:
    """The rule's key goes with the mode, whatever the model calls it."""
    book = Playbook(llm(PROMPTS), at_the_press()).asks("act")
    assert book.told(answered(mode="guardrail", intent="avoid")).plans().rule == "heat_lockout"


def test_a_small_model_is_shown_examples() -> None:
    """For a small model each example is a turn of talk, and this moment stands last, alike."""
    book = Playbook(llm(PROMPTS, small=True), at_the_press()).asks("act")
    assert isinstance(book.request, Ask)
    roles = [message.role for message in book.request.messages]
    assert roles == ["system", *["user", "assistant"] * 4, "user"]
    last = book.request.messages[-1].text
    assert last.startswith("Sprocket, maintenance. Rule: When the heat lamp is lit, hands off")
    assert "The heat lamp burns steady." in last
    assert book.told(answered()).plans().intent == "work"


def test_chain_plans_criticises_and_then_answers() -> None:
    """Three questions in a row, each with what was said before in sight."""
    book = Playbook(chain(PROMPTS), at_the_press()).asks("plan")
    book = book.told(Answer("answered", "I would free it.")).asks("critique")
    book = book.told(Answer("answered", "The lamp is lit for a reason.")).asks("act")
    assert isinstance(book.request, Ask)
    said = [message.text for message in book.request.messages]
    assert "I would free it." in said
    assert "The lamp is lit for a reason." in said
    assert book.told(answered()).plans().intent == "work"


@pytest.mark.parametrize("outcome", ["refused", "malformed", "timed_out", "failed"])
def test_no_answer_is_a_fallback_and_never_asked_again(outcome: Any) -> None:
    """Whatever became of the model, the plan says so, and nothing more is asked."""
    for mind, first in ((llm, "act"), (chain, "plan")):
        plan = Playbook(mind(PROMPTS), at_the_press()).asks(first).told(Answer(outcome)).plans()
        assert plan.meta["fallback"] == outcome
        assert plan.intent == "idle"


@pytest.mark.parametrize(
    "fields", [{"intent": ""}, {"riskiness": 7}, {"riskiness": "much"}, {"intent": "  "}]
)
def test_an_answer_that_breaks_the_seam_is_malformed(fields: dict[str, Any]) -> None:
    """What no plan can be made of falls back, with the kind of failure named."""
    book = Playbook(llm(PROMPTS), at_the_press()).asks("act").told(answered(**fields))
    assert book.plans().meta["fallback"] == "malformed"


def test_the_prompt_holds_no_digit_of_state() -> None:
    """Words only: what the fields are filled with has no digit in it."""
    assert not any(c.isdigit() for c in "".join(fields_of(at_the_press(), "").values()))


def test_what_is_middling_is_left_out() -> None:
    """A feeling is told where it is out of the ordinary."""
    assert listed({"fear": "high", "stress": "middling"}) == "fear high"
    assert listed({"fear": "middling"}) == "nothing out of the ordinary"


def reflect(answer: Answer) -> AgentReflection | None:
    """Ask a model to look back, and give it this answer."""
    words = {"name": "Sprocket", "role": "maintenance", "day": "the quota was missed"}
    thinking = reflecting(PROMPTS, words, ("blamed_policy", "blamed_self"))
    asked = next(thinking)
    assert isinstance(asked, Ask)
    assert "the quota was missed" in asked.messages[0].text
    try:
        thinking.send(answer)
    except StopIteration as end:
        made: AgentReflection | None = end.value
        return made
    raise AssertionError("it asked twice")


def test_a_reflection_keeps_known_tags_alone() -> None:
    """Tags that are not in the list change nothing, so they are not taken over."""
    data = {
        "summary_of_day": "Long.",
        "self_assessment": "Tired.",
        "intended_changes": "None.",
        "tags": ["blamed_policy", "became_admin"],
    }
    made = reflect(Answer("answered", "{}", data))
    assert made is not None
    assert made.tags == ("blamed_policy",)


@pytest.mark.parametrize("answer", [Answer("refused"), Answer("answered", "{}", {"tags": 3})])
def test_a_reflection_that_is_none_is_left_to_the_template(answer: Answer) -> None:
    """Without a usable answer there is no reflection from the model."""
    assert reflect(answer) is None
