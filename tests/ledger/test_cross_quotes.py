"""Echoes: what of another stream repeats a line that is to be forgotten, and what does not."""

import pytest

from loopforge.ledger.erasure.cross_quotes import CrossQuotes

LINE = "My sister Ottilie keeps eleven bees in Lisbon"


def heard(*lines: str) -> CrossQuotes:
    """What was said, line by line, by events 10, 11 and so on."""
    chorus = CrossQuotes()
    for nth, line in enumerate(lines, 10):
        chorus.take(line, str(nth))
    return chorus


@pytest.mark.parametrize(
    "text",
    [
        LINE,
        "They say: my sister OTTILIE keeps eleven bees.",
        'She wrote "sister Ottilie keeps eleven bees in" and no more',
        '{"plan": {"say": "My sister Ottilie keeps eleven bees in Lisbon"}}',
    ],
)
def test_six_words_in_a_row_are_an_echo(text: str) -> None:
    """A text that repeats six words of a line is one, whatever the case, also within JSON."""
    assert heard(LINE).repeats(text, "50", "room:b")


@pytest.mark.parametrize(
    "text",
    [
        "Ottilie keeps bees",
        "My sister Ottilie keeps ten bees",
        "Lisbon",
        "",
        "In Lisbon bees eleven keeps Ottilie",
    ],
)
def test_fewer_words_are_none(text: str) -> None:
    """A shared name, place or phrase makes no echo: two rooms may speak of the same things."""
    assert not heard(LINE).repeats(text, "50", "room:b")


def test_a_short_line_is_echoed_as_a_whole() -> None:
    """A line of three words or more is found whole; a shorter one is not looked for."""
    chorus = heard("my code 4711", "rhubarb pie")
    assert chorus.repeats("she said my code 4711 aloud", "50", "room:b")
    assert not chorus.repeats("the code 4711", "50", "room:b")
    assert not chorus.repeats("rhubarb pie", "50", "room:b")


def test_everyday_phrases_are_nobodys() -> None:
    """Words that everybody uses make no echo, however many of them stand in a row."""
    chorus = heard("how are you doing this morning my friend", "what do you think of that")
    assert not chorus.repeats("how are you doing this morning my friend", "50", "room:b")
    assert not chorus.repeats("so what do you think of that", "50", "room:b")


def test_what_was_there_before_is_no_echo() -> None:
    """Words that stood in a stream before they were said here are its own, also later on."""
    chorus = heard(LINE)
    assert not chorus.repeats(LINE, "05", "room:b")
    assert not chorus.repeats(LINE, "50", "room:b")
    assert chorus.repeats(LINE, "50", "room:c")
