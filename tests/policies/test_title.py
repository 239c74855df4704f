"""title: a mind that names a conversation."""

import pytest

from loopforge.core.policy import Answer, AnswerOutcome
from loopforge.core.room_vocabulary import Entitle, StaySilent
from loopforge.policies.title import title
from tests.playbook import PROMPTS, Playbook, heard, shown


def test_it_names_what_was_talked_about() -> None:
    """It reads the lines and plans one title."""
    book = Playbook(title(PROMPTS), shown(heard("ana", "slugs ate my beans"))).asks("title")
    assert "ana: slugs ate my beans" in book.prompt
    assert book.answered(title="Slugs and beans").plans().acts == (
        Entitle(title="Slugs and beans"),
    )


@pytest.mark.parametrize("outcome", ["refused", "timed_out", "malformed", "failed"])
def test_a_title_that_is_refused_or_cut_is_never_said(outcome: AnswerOutcome) -> None:
    """Whatever words came in its place, the scribe says no line."""
    answer = Answer(outcome, "I cannot help with that.", {"title": "I cannot help with that."})
    plan = Playbook(title(PROMPTS), shown(heard("ana", "hm"))).told(answer).plans()
    assert [type(act) for act in plan.acts] == [StaySilent]
    assert plan.meta == {"trouble": outcome}


def test_a_small_model_is_given_examples_and_the_lines() -> None:
    """A small model sees a few named conversations and then this one, and no instruction."""
    seen = shown(heard("ana", "slugs ate my beans"), heard("bo", "again?"), model="small")
    prompt = Playbook(title(PROMPTS), seen).asks("title").prompt
    assert prompt.startswith("[system] <title-small>")
    assert prompt.endswith("[user] ana: slugs ate my beans\nbo: again?")


def test_a_name_that_is_an_example_of_its_prompt_is_not_taken() -> None:
    """A small model may say an example again: then the talk's own words name it, in the room."""
    seen = shown(heard("ana", "slugs ate my beans"), model="small")
    said = Playbook(title(PROMPTS), seen).asks("title").answered(title="How to grow tomatoes")
    assert said.plans().acts == (Entitle(title=""),)
    said = Playbook(title(PROMPTS), seen).asks("title").answered(title="Slugs at the beans")
    assert said.plans().acts == (Entitle(title="Slugs at the beans"),)
