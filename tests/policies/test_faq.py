"""Questions about the house, which a small model is not left to guess at."""

import re
from pathlib import Path

import pytest

from loopforge.policies.faq import OF_TIME, entries
from loopforge.policies.few_shot import closest_example

ROOT = Path(__file__).parents[2]
FAQ = (ROOT / "src/loopforge/policies/prompts/faq.md").read_text("utf-8")
ANSWERS = sorted({answer for _, answer in entries(FAQ)})


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer[-60:])
def test_what_is_quoted_stands_in_the_page_that_is_named(answer: str) -> None:
    """Each quotation is in the page that the answer names first, word for word."""
    pages = re.search(r"\(([^()]+\.md)\)$", answer)
    assert pages, "an answer ends with the page it is from"
    first, *others = pages[1].split(", ")
    text = " ".join((ROOT / first).read_text("utf-8").split())
    for quoted in re.findall(r'"([^"]+)"', answer):
        assert " ".join(quoted.split()) in text
    assert all((ROOT / page).exists() for page in others)


@pytest.mark.parametrize(
    ("said", "page"),
    [
        ("Who is here?", "docs/tour.md"),
        ("who's here", "docs/tour.md"),
        ("what is this?", "README.md"),
        ("Maya, where am I?", "README.md"),
        ("how can i get a better model please", "docs/adding-models.md"),
        ("What can I type here?", "docs/tour.md"),
        ("what commands are there", "docs/tour.md"),
        ("which model is this", "docs/tour.md"),
        ("How do I stop this?", "docs/tour.md"),
    ],
)
def test_a_question_about_the_house_is_known(said: str, page: str) -> None:
    """Who is here, what is this, how do I get a better model, what can I type: in many words."""
    found = closest_example(entries(FAQ), said, "maya")
    assert found is not None
    assert page in found[1]


@pytest.mark.parametrize(
    "said",
    [
        "Hello!",
        "Who are you?",
        "What can you do?",
        "Can you help me?",
        "How are you?",
        "What is love?",
        "What is the capital of France?",
        "I want a better job",
        "How do I use a hammer?",
        "Is anybody home?",
        "What are you?",
        "Tell me about this song.",
        "What is your favorite food?",
    ],
)
def test_what_only_sounds_like_it_is_left_to_the_mate(said: str) -> None:
    """Small talk is never answered with a page."""
    assert closest_example(entries(FAQ), said, "maya") is None


@pytest.mark.parametrize(
    "said",
    [
        "What time is it?",
        "Maya, what time is it now, please?",
        "what's the date",
        "whats the time",
        "Is it late?",
        "How late is it?",
        "Do you know what day it is?",
        "What day is it today?",
        "Which day of the week is it?",
        "can you tell me the time?",
        "What time is it? I am hungry and want to eat soon.",
    ],
)
def test_it_knows_when_it_is_asked_for_the_time(said: str) -> None:
    """Questions for day and time, however they are put."""
    assert OF_TIME.search(said)


@pytest.mark.parametrize(
    "said",
    [
        "I lost my job today.",
        "How many days are in a week?",
        "What time is it in Tokyo?",
        "what time is it now in Buenos Aires",
        "what month comes after june",
        "What time is it best to plant tomatoes in spring?",
        "Do you have the time of your life here with us?",
    ],
)
def test_what_only_speaks_of_times_is_left_to_the_mate(said: str) -> None:
    """Not each line with a day in it asks for the clock."""
    assert not OF_TIME.search(said)
