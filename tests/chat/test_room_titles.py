"""Titles: when one is due, and what is left of what a model calls a title."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.chat.room.room_state import fold
from loopforge.chat.turns.room_titles import APART, LONGEST, RETRY, clean, due, fallback
from loopforge.core.events import Erased
from loopforge.core.room_vocabulary import ConversationBegan, LineDeleted, Titled
from tests.strategies import PEOPLE, Chronicle, histories

TEA = [
    "the kettle is old and the tea tastes of rust",
    "a new kettle would make better tea",
    "green tea wants cooler water from the kettle",
    "my kettle boils water too fast for green tea",
]
BOATS = [
    "my boat lost its mast in the storm",
    "a storm in the harbour breaks every mast",
    "which harbour has room for a boat",
    "the boat needs sails and a mast before any harbour",
]
WEATHER = ["grey", "blue", "red", "pink", "lilac", "brown", "teal", "ivory"]


def talk(story: Chronicle, *lines: str) -> None:
    """People and mates say these lines in turn."""
    for number, line in enumerate(lines):
        if number % 2:
            story.say(line, mate="maya")
        else:
            story.hear(line)


def titled(*lines: str, by: str = "room") -> Chronicle:
    """A room that was given a title after these lines."""
    story = Chronicle()
    talk(story, *lines)
    story.add(Titled(title=story.words("Tea and kettles"), by=by))
    return story


def why(story: Chronicle) -> str:
    """Why the room is due a title."""
    return due(fold(story.events))


def test_a_first_title_comes_after_a_few_lines() -> None:
    """Four lines, two of them by people; not sooner."""
    story = Chronicle()
    for number, line in enumerate(TEA):
        assert why(story) == "", number
        talk(story, line) if number % 2 == 0 else story.say(line, mate="maya")
    assert why(story) == "first"


def test_what_was_deleted_is_given_no_title() -> None:
    """A room of which every line was taken back before it had one."""
    story = Chronicle()
    talk(story, *TEA)
    assert why(story) == "first"
    for line in tuple(story.lines):
        story.add(LineDeleted(line=line, by=PEOPLE[0]))
    assert why(story) == ""


def test_mates_alone_need_no_title() -> None:
    """Many lines of mates and one of a person are no conversation to name."""
    story = Chronicle()
    story.hear("go on")
    for line in TEA * 3:
        story.say(line, mate="maya")
    assert why(story) == ""


def test_a_try_without_a_title_is_not_repeated_at_once() -> None:
    """After a try that gave none, so many lines must pass before the next."""
    story = Chronicle()
    talk(story, *TEA)
    story.called = {"maya": [story.lines[-1]]}
    story.perceive("maya", summons="title")
    story.end("failed")
    for line in TEA[:RETRY]:
        assert why(story) == ""
        story.hear(line)
    assert why(story) == "first"


@pytest.mark.parametrize(
    ("since", "moved"),
    [
        ((*BOATS, *BOATS, *BOATS), "moved"),  # both halves are about something else, and one thing
        ((*TEA, *TEA, *TEA, *TEA), ""),  # the subject stays, however long the talk
        ((*TEA, *TEA, *TEA, *BOATS), ""),  # a few lines are an aside
        ((*BOATS, *WEATHER), ""),  # what shares nothing with itself has not settled
    ],
    ids=["moved", "stays", "aside", "unsettled"],
)
def test_a_new_title_comes_when_the_subject_has_moved(since: tuple[str, ...], moved: str) -> None:
    """Both halves of the last lines are about something else, and about one thing; else it stays."""
    story = titled(*TEA)
    talk(story, *since)
    assert why(story) == moved


def test_not_too_often() -> None:
    """Between two titles lie at least so many lines."""
    story = titled(*TEA)
    talk(story, *(BOATS * 3)[: APART - 1])
    assert why(story) == ""
    story.hear(BOATS[3])
    assert why(story) == "moved"


def test_never_when_a_person_gave_it() -> None:
    """What a person fixed stays, whatever is talked about."""
    story = titled(*TEA, by=PEOPLE[0])
    talk(story, *BOATS * 4)
    assert why(story) == ""


def test_a_new_conversation_is_named_when_its_subject_is_another() -> None:
    """The title outlives the conversation; the next one is held against it."""
    story = titled(*TEA)
    story.weigh()
    story.add(ConversationBegan(why="idle"))
    talk(story, *BOATS, *BOATS, *BOATS)
    assert why(story) == "moved"


def test_forgotten_lines_move_nothing() -> None:
    """With every text of the first subject forgotten there is nothing to compare."""
    story = titled(*TEA)
    texts = [event.body.text.ref for event in story.events if hasattr(event.body, "text")]
    story.add(Erased(refs=tuple(texts), by=PEOPLE[0]))
    talk(story, *BOATS * 4)
    assert why(story) == ""


@given(histories())
def test_a_title_of_a_person_is_never_due_again(story: Chronicle) -> None:
    """In no history; and asking changes nothing."""
    state = fold(story.events)
    asked = due(state)
    assert due(state) == asked
    if state.titled_by in PEOPLE:
        assert asked == ""


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ("Tea and kettles", "Tea and kettles"),
        ('"Tea and kettles."', "Tea and kettles"),
        ("Title: Tea and kettles", "Tea and kettles"),
        ("**Title:** Tea and kettles\n\nThis title fits because", "Tea and kettles"),
        ("# Tea and kettles", "Tea and kettles"),
        ("“Tea & kettles”", "Tea & kettles"),
        ("Conversation title - Tea", "Tea"),
        ('{"title": "Tea and kettles"}', "Tea and kettles"),
        ('{"title": "Tea and ket', "Tea and ket"),
        ("\n\n- Tea\n- Kettles", "Tea"),
        ("`Tea`", "Tea"),
        ("Subtitles in films", "Subtitles in films"),
        ("Is tea green?", "Is tea green?"),
        ("お茶とやかん。", "お茶とやかん"),
        ("Tea\x00\tand\u200bkettles", "Tea and kettles"),
        ("Here is a title:\nTea and kettles", "Tea and kettles"),
    ],
)
def test_a_title_is_cleaned(raw: str, title: str) -> None:
    """Quotes, labels, markup, full stops and further lines go."""
    assert clean(raw) == title


@pytest.mark.parametrize(
    "raw",
    ["", " \n ", '""', "...", "Title:", "None", "Untitled", "I'm sorry, I can't do that.", "N/A"],
)
def test_what_is_no_title_leaves_nothing(raw: str) -> None:
    """Nothing usable is "", so that keywords can take its place."""
    assert clean(raw) == ""


def test_a_long_title_is_cut_between_words() -> None:
    """At most so many characters, whole words where there are any."""
    cut = clean("kettles and tea " * 10)
    assert len(cut) <= LONGEST
    assert cut.split()[-1] in {"kettles", "and", "tea"}
    assert len(clean("x" * 100)) == LONGEST


@given(st.text(max_size=200))
def test_a_clean_title_is_clean(raw: str) -> None:
    """One line, not too long, and cleaning it again changes nothing."""
    title = clean(raw)
    assert len(title) <= LONGEST
    assert len(title.splitlines()) <= 1
    assert title == title.strip()
    assert not title.endswith(".")
    assert clean(title) == title


def test_keywords_make_a_title() -> None:
    """The words that come up most, in the order in which they came up."""
    assert fallback(TEA) == "Kettle, tea, green"
    assert fallback(["ok", "yes", "hm?"]) == "Small talk"
    assert fallback([]) == "Small talk"


def test_who_is_there_is_no_title() -> None:
    """Nor is what is said to them: a talk of nothing but greetings is small talk."""
    texts = ["hello Maya", "I'm glad that you're back", "it's me, maya, and I've a kettle, don't I"]
    assert fallback(texts, ["Maya", "Ana"]) == "Glad, back, kettle"
    assert fallback(texts[:1], ["Maya"]) == "Small talk"


@given(st.lists(st.text(max_size=40), max_size=6))
def test_there_is_always_a_title(texts: list[str]) -> None:
    """From whatever texts, a clean title that is not empty."""
    title = fallback(texts)
    assert title
    assert clean(title) == title
