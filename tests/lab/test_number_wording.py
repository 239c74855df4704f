"""Small words of a story: an article where a place is called by a common noun, and nowhere else."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from loopforge.lab.story.number_wording import articled
from loopforge.lab.story.run_story import AllowedNames, Story
from loopforge.lab.story.story_checker import bare, check
from tests.lab.test_story_checker import ground, told

PLACES = ("lens room", "press hall", "passage", "north passage", "Harbour", "bay 3", "the yard")
NAMES = AllowedNames(("Halide",), (*PLACES, "ann's shed"), ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Halide stood at lens room.", "Halide stood at the lens room."),
        (
            "Press hall is still. Lens room is not.",
            "The press hall is still. The lens room is not.",
        ),
        (
            "At the first bell press hall caught fire.",
            "At the first bell the press hall caught fire.",
        ),
        ("Third bell, north passage. It was dark.", "Third bell, the north passage. It was dark."),
        (
            "heat at press hall and fault at lens room",
            "heat at the press hall and fault at the lens room",
        ),
        (
            "“Nobody at press hall,” said one at press hall.",
            "“Nobody at press hall,” said one at the press hall.",
        ),
        (
            "It was at the press hall, at our press hall.",
            "It was at the press hall, at our press hall.",
        ),
        ("At the old press hall, in lens rooms.", "At the old press hall, in lens rooms."),
        ("At Harbour, at bay 3, at the yard.", "At Harbour, at bay 3, at the yard."),
        ("set place.press hall.heat = 900", "set place.press hall.heat = 900"),
    ],
)
def test_common_nouns_have_an_article(text: str, said: str) -> None:
    """A small-lettered place after a preposition or a stop gets one; other names and quotes stay."""
    assert articled(text, PLACES) == said
    assert articled(said, PLACES) == said
    assert bare(said, NAMES) == bare(text, NAMES)


def test_the_checker_takes_the_article_for_nothing() -> None:
    """With or without articles a sentence stands; an article in a quote, or another noun, is a lie."""
    story = told()
    assert check(story, ground()) == []
    text = next(s.text for s in story.sentences if " at the press hall" in s.text)
    for other, wrong in (
        (text.replace(" the press hall", " press hall"), False),
        (text.replace(" the press hall", " the lens room"), True),
        (text.replace(" the press hall", " the the press hall"), True),
        (text.replace(" the press hall", " that press hall"), True),
    ):
        assert bool(check(said(text, other), ground())) == wrong, other


def test_a_quote_with_an_article_too_many_is_caught() -> None:
    """What is quoted stands as it stood, to the letter."""
    places = "|".join(told().names.places)
    quoted = re.compile(rf"(“[^”]* )((?:{places})[^”]*”)")
    text = next(s.text for s in told().sentences if quoted.search(s.text))
    assert check(said(text, quoted.sub(r"\1the \2", text)), ground())


def said(text: str, other: str) -> Story:
    """The story with one sentence in other words."""
    story = told()
    days = tuple(
        replace(
            day,
            scenes=tuple(
                tuple(replace(s, text=other) if s.text == text else s for s in scene)
                for scene in day.scenes
            ),
        )
        for day in story.days
    )
    return replace(story, days=days)
