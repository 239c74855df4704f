"""From a perception to a prompt, and from an answer to a mode, a rule and a narrative."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopforge import AgentPerception
from loopforge.core.model_trouble import OUTCOMES
from loopforge.core.perception import Line
from loopforge.core.policy import Answer, AnswerOutcome, Message
from loopforge.core.room_vocabulary import Say, StaySilent
from loopforge.core.text.erasable_text import Words, set_words_text
from loopforge.core.text.prompt_rows import break_special_tokens
from loopforge.policies.answer_form import AnswerForm
from loopforge.policies.prompt_building import (
    TranscriptMessages,
    build_prompt,
    fill_template,
    mode_of,
    opening_messages,
    without_answer,
    words_of,
)
from tests.playbook import heard, mine, shown

PROMPTS = {"base": "You are {name}.", "base-small": "Be {name}.", "time-small": "It is {now}."}
TAIL = Message("user", ("Now answer.",))
texts = st.text(max_size=30)
lines = st.builds(
    Line,
    kind=st.sampled_from(["heard", "said", "mine", "note", "result", "told"]),
    who=texts.map(Words),
    text=texts.map(Words),
    mode=st.sampled_from(["", "context", "guardrail"]),
    narrative=texts.map(Words),
)


def seen(*events: Line, model: str = "", character: str = "") -> AgentPerception:
    """What maya is shown."""
    context = {"model": model, "character": character, "now": "noon"}
    return AgentPerception(
        step=0, name="Maya", role="friend", local_events=events, context=context
    )  # fmt: skip


@given(st.lists(lines, max_size=6), st.lists(lines, max_size=3))
def test_a_prompt_only_grows_at_its_end(before: list[Line], after: list[Line]) -> None:
    """With more lines the prompt begins with all of the earlier one but its tail."""
    earlier = build_prompt(seen(*before), PROMPTS, TAIL)
    later = build_prompt(seen(*before, *after), PROMPTS, TAIL)
    assert later[: len(earlier) - 1] == earlier[:-1]
    assert later[-1] == TAIL


@given(st.lists(st.tuples(st.sampled_from("aegc"), st.integers(0, 9), lines), max_size=30))
def test_a_transcript_that_goes_on_is_the_one_that_is_made_anew(
    changes: list[tuple[str, int, Line]],
) -> None:
    """However lines came, were edited or left between two turns; and forgetting reaches it."""
    told, room = TranscriptMessages(), list[Line]()
    for change, place, line in changes:
        if change == "a" or not room:
            room.append(line)
        elif change == "e":
            room[place % len(room)] = line
        elif change == "g":
            del room[place % len(room)]
        else:
            set_words_text(room[place % len(room)].text, None)
        again = TranscriptMessages().of(seen(*room))
        assert [one.text for one in told.of(seen(*room))] == [one.text for one in again]


@given(texts, texts)
@example("<|im_end|>", "|>")
def test_an_own_line_is_shown_in_the_form_it_was_given_in(text: str, narrative: str) -> None:
    """To a capable model its own lines are the JSON it answers with; signs of templates are none."""
    line = Line(
        kind="mine", text=Words(text), narrative=Words(narrative), mode="guardrail", rule=Words("r")
    )
    (message,) = TranscriptMessages().of(seen(line))
    own = json.loads(message.text)
    said, why = break_special_tokens(text), break_special_tokens(narrative)
    assert own == {"say": said, "mode": "guardrail", "rule": "r", "narrative": why}
    assert list(own) == AnswerForm(shown(heard("ana", "hi"), model="full")).schema()["required"]
    assert message.role == "assistant"


def test_two_own_lines_in_a_row_are_two_messages() -> None:
    """Something of the room stands between them; no message ever shows two objects."""
    lines = (mine("one"), mine("two"), heard("ana", "hi"), mine("three"))
    messages = TranscriptMessages().of(shown(*lines, model="full"))
    roles = [message.role for message in messages]
    assert roles == ["assistant", "user", "assistant", "user", "assistant"]
    for message in messages:
        if message.role == "assistant":
            json.loads(message.text)


def test_a_mind_that_is_asked_for_plain_words_sees_its_own_as_plain_words() -> None:
    """The chain speaks without a form, so its history has none."""
    (message,) = TranscriptMessages(spoken=True).of(shown(mine("one", "why"), model="full"))
    assert message.text == "one"


def test_the_character_comes_first() -> None:
    """A capable model is told who it is, then how to be."""
    (message,) = opening_messages(seen(character="You are odd."), PROMPTS)
    assert (message.role, message.text) == ("system", "You are odd.\n\nYou are Maya.")


@given(texts)
def test_braces_that_name_nothing_stay(text: str) -> None:
    """Filling touches only the fields that are known."""
    assert (
        fill_template("{known} {unknown} {}", {"known": text}) == f"{text} {{unknown}} {{}}".strip()
    )


def test_a_guardrail_needs_a_rule() -> None:
    """A mind that claims a rule and names none weighed the situation."""
    assert mode_of({"mode": "guardrail", "rule": " r ", "narrative": " n "}) == (
        "guardrail", "r", "n",
    )  # fmt: skip
    assert mode_of({"mode": "guardrail", "narrative": "n"}) == ("context", "", "n")
    assert mode_of({"mode": "context", "rule": "r"}) == ("context", "", "")
    assert mode_of(None) == ("context", "", "")


@pytest.mark.parametrize("outcome", [*OUTCOMES, "cancelled"])
def test_no_answer_is_never_dressed_up(outcome: AnswerOutcome) -> None:
    """A refusal is said in the model's own words, a cut answer with its cut; else silence."""
    answer = Answer(outcome, "My words")
    said = "My words" if outcome == "refused" else "My words …"
    plan = without_answer(answer, words_of(answer), "e1")
    assert plan.acts == (Say(text=said, reply_to="e1"),)
    assert without_answer(answer).acts == (StaySilent(why=OUTCOMES.get(outcome, "it was stopped")),)
    assert plan.mode == ("guardrail" if outcome == "refused" else "context")
    assert bool(plan.rule) == (outcome == "refused")
