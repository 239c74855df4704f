"""Which examples a small model is shown, by what was just said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.policies.few_shot import MOST, closest_example, nearest_examples

TALK = (
    ("Hello, Maya!", "Hello! What are you working on?"),
    ("How are you?", "Well."),
    ("Who are you?", "I am Maya."),
    ("Tell me a joke.", "Why did the bridge go to the doctor?"),
    ("What is the capital of Italy?", "The capital of Italy is Rome."),
    ("How much is 3 plus 4?", "3 plus 4 is 7."),
    ("Thank you!", "You are welcome."),
    ("My dog died.", "I am sorry."),
    ("I am sick.", "Drink something warm."),
)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Hi Maya!", "Hello, Maya!"),
        ("hey maya, how are you?", "How are you?"),
        ("Do you know a joke?", "Tell me a joke."),
        ("What's the capital of France?", "What is the capital of Italy?"),
        ("What is 2 plus 2?", "How much is 3 plus 4?"),
        ("Thanks!", "Thank you!"),
        ("My grandmother died yesterday.", "My dog died."),
        ("my cat is sick", "I am sick."),
    ],
)
def test_the_nearest_example_is_the_one_about_the_same_thing(said: str, asked: str) -> None:
    """However a line is put, the example that is like it stands last, next to the line."""
    assert nearest_examples(TALK, said, "maya")[-1][0] == asked


@pytest.mark.parametrize(
    "said", ["Why?", "What do you mean?", "He is strange.", "", "…", "日本語で"]
)
def test_what_is_like_no_example_gets_none(said: str) -> None:
    """An example that is about something else misleads: rather none is shown."""
    assert nearest_examples(TALK, said, "maya") == ()


def test_the_same_question_is_known_in_other_words_and_another_is_not() -> None:
    """A question counts as the same only if hardly a telling word is different."""
    asked = closest_example(TALK, "hey, who are you?", "maya")
    assert asked is not None
    assert asked[0] == "Who are you?"
    assert closest_example(TALK, "Who is hungry?", "maya") is None


@given(said=st.text(), name=st.text())
def test_any_text_at_all_gets_at_most_two_examples(said: str, name: str) -> None:
    """No text breaks the choice, and what is chosen are examples of the mate."""
    found = nearest_examples(TALK, said, name)
    assert len(found) <= MOST
    assert set(found) <= set(TALK)
