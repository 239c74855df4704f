"""Small words of a story: an article where a place is called by a common noun, and nowhere else."""

import re

import pytest
from msgspec.structs import replace

from loopforge.lab.story.story_checker import check_story
from loopforge.lab.story.story_text import Story
from loopforge.lab.world import protocols
from loopforge.lab.world.noun_articles import add_place_articles
from loopforge.lab.world.scenario_file import shipped_scenarios
from tests.lab.shelf import decided, run
from tests.lab.test_story_checker import ground, told

PLACES = ("lens room", "press hall", "passage", "north passage", "Harbour", "bay 3", "the yard")


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
    assert add_place_articles(text, PLACES) == said
    assert add_place_articles(said, PLACES) == said


def test_what_minds_are_shown_has_articles() -> None:
    """Signs and cues of shipped rules read as sentences wherever a place is a common noun."""
    seen = 0
    for name in shipped_scenarios():
        acts = decided(run(name, days=1, perception="spin"))
        places = tuple({row.at for row in acts})
        for said in (str(said) for row in acts for said in row.shown.local_events):
            assert add_place_articles(said, places) == said
            seen += any(f"the {place}" in said.lower() for place in places)
    assert seen
    assert protocols.fill_sentence("{The place} hums; so does {the place}.", "Line nine") == (
        "Line nine hums; so does Line nine."
    )


def test_an_article_is_a_word_like_any_other() -> None:
    """One too few, one too many, another noun, and one within a quote: each is a lie."""
    assert check_story(told(), ground()) == []
    text = next(s.text for s in told().sentences if " at the press hall" in s.text)
    for other in (" press hall", " the lens room", " the the press hall", " that press hall"):
        assert check_story(said(text, text.replace(" the press hall", other)), ground()), other
    places = "|".join(place for place in PLACES if place in str(told().sentences))
    quoted = re.compile(rf"(“[^”]* )((?:{places})[^”]*”)")
    text = next(s.text for s in told().sentences if quoted.search(s.text))
    assert check_story(said(text, quoted.sub(r"\1the \2", text)), ground())


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
