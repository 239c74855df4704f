"""The noting mind plans acts of Remember, each with the lines that it says it rests on."""

from typing import Any

import pytest

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Answer, Ask
from loopforge.core.room_vocabulary import Remember, StaySilent
from loopforge.core.text.erasable_text import Words
from loopforge.mates.prompt_files import PromptFiles
from loopforge.policies.notes import notes
from loopforge.policies.prompt_building import ONCE_MORE
from tests.playbook import Playbook

PROMPTS = PromptFiles()


def seen(summons: str = "final", model: str = "full") -> AgentPerception:
    """A talk of two lines."""
    lines = [
        Line(kind="heard", who=Words("ana"), text=Words(text), id=f"l{n}", number=n, at="09:00")
        for n, text in ((12, "I live in Riga"), (14, "good bye"))
    ]
    context = {"summons": summons, "model": model}
    return AgentPerception(
        step=0, name="Maya", role="mate", local_events=tuple(lines), context=context
    )


def planned(perception: AgentPerception, data: Any) -> tuple[Ask, AgentActionPlan]:
    """What it asked, and what it plans on this answer."""
    mind = notes(PROMPTS)(perception)
    request = next(mind)
    assert isinstance(request, Ask)
    try:
        mind.send(Answer("answered", "", data) if data is not None else Answer("failed"))
    except StopIteration as end:
        plan = end.value
        assert isinstance(plan, AgentActionPlan)
        return request, plan
    raise AssertionError("it asked twice")


def test_it_keeps_what_the_answer_says() -> None:
    """Facts with their person and subject, notes and core memories in their layers."""
    data = {
        "notes": [{"text": "They parted early", "lines": [14]}],
        "facts": [
            {"about": "ana", "subject": "home", "text": "Ana lives in Riga", "lines": [12, -1]}
        ],
        "core": [{"text": "I like short talks.", "lines": []}],
    }
    asked, plan = planned(seen(), data)
    assert plan.acts == (
        Remember(text="They parted early", layer="final", lines=(14,)),
        Remember(
            text="Ana lives in Riga", layer="fact", about=("ana",), subject="home", lines=(12,)
        ),
        Remember(text="I like short talks.", layer="core"),
    )
    assert "#12 09:00 ana: I live in Riga" in asked.messages[1].text
    _, plan = planned(seen("note"), data)
    assert [act.layer for act in plan.acts if isinstance(act, Remember)] == ["note", "fact"]


def test_nothing_is_nothing_and_rubbish_is_passed_over() -> None:
    """No entry, entries of no form, no answer."""
    for data in ({}, {"notes": "x", "facts": [1, {"text": 3, "lines": "a"}, {"text": " "}]}):
        _, plan = planned(seen(), data)
        texts = [act.text for act in plan.acts if isinstance(act, Remember)]
        assert texts in ([], ["3"])
    _, plan = planned(seen(), None)
    assert isinstance(plan.acts[0], StaySilent)


@pytest.mark.parametrize("model", ["full", "small"])
def test_what_is_no_form_is_asked_for_once_more(model: str) -> None:
    """What it had noticed is not lost by one bad answer; two are what came of it."""
    good = {"notes": [{"text": "They parted early", "lines": [14]}], "keep": [1]}
    for then in (Answer("answered", "", good), Answer("malformed", "{")):
        book = Playbook(notes(PROMPTS), seen(model=model)).asks("notes")
        first = book.prompt
        book.told(Answer("malformed", "Sure! {")).asks("notes")
        assert book.prompt == f"{first}\n[user] {ONCE_MORE}"
        (act,) = book.told(then).plans().acts
        assert isinstance(act, Remember if then.data else StaySilent)
    book = Playbook(notes(PROMPTS), seen(model=model)).told(Answer("refused", "No."))
    assert book.plans().meta == {"trouble": "refused"}


def test_a_small_model_only_chooses_lines() -> None:
    """Their own words are kept, on themselves; a number that is none keeps nothing."""
    asked, plan = planned(seen(model="small"), {"keep": [1, 7]})
    assert plan.acts == (
        Remember(text="I live in Riga", layer="fact", about=("ana",), lines=(12,)),
    )
    assert "1. ana: I live in Riga" in asked.messages[-1].text
