"""A core memory travels only where it surely holds no person, no quote and no fact of anybody."""

import pytest

from loopforge.core.memory.memory_travel import may_travel

LINES = ("I live in Riga and bake rye bread", "my sister Rosa is ill", "keep calm and carry on")
NAMES = ("Ana", "Will", "maya")


@pytest.mark.parametrize(
    "text",
    ["I enjoy being patient.", "I listen before I judge.", "I want to ask more and guess less."],
)
def test_what_is_about_itself_alone_travels(text: str) -> None:
    """In the mate's own I."""
    assert may_travel(text, NAMES, LINES)


@pytest.mark.parametrize(
    "text",
    [
        "I like Ana.",
        "I like ana.",
        "I learned that somebody is ill.",
        "I bake now.",
        "I keep calm and carry on.",
        "I told her the truth.",
        "I met a man in pain.",
        "I was asked for patience.",
        "I think of Rosa often.",
        "I trust Zoltan.",
        "I remember 1912.",
        'I say "hush" too often.',
        "I admire (secretly) towers.",
        "Patience is good.",
        "Ich bin geduldig.",
        "J'aime le calme.",
        "I müde.",
        "I am " + "very " * 60 + "calm.",
        "I trust four seven one one.",
        "",
    ],
)
def test_whatever_is_not_sure_stays_where_it_was(text: str) -> None:
    """Names, in any case; others without a name; words of the talk; numbers, quotes, languages."""
    assert not may_travel(text, NAMES, LINES)


@pytest.mark.parametrize(
    "line",
    [
        "ich bin schwanger und ziehe im Mai nach Riga um",
        "estoy embarazada y me mudo en mayo",
        "мой брат Игорь болен",
        "弟は病気です",
    ],
)
def test_of_a_talk_in_another_language_nothing_travels(line: str) -> None:
    """What is said again in English shares no word with it, so nobody can tell that it is a fact."""
    assert not may_travel("I care for pregnant people and for igor.", NAMES, [line])
    assert not may_travel("I enjoy being patient.", NAMES, [*LINES, line])
