"""Remember and forget are read from the words alone, in six languages, and seldom by mistake."""

import pytest

from loopforge.chat.speaking.memory_requests import memory_wish


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("@maya please remember that I am vegetarian.", "I am vegetarian"),
        ("Remember: the key is under the pot", "the key is under the pot"),
        ("maya, don't forget that Bo sings", "Bo sings"),
        ("Keep in mind that trains are late", "trains are late"),
        ("Merk dir, dass ich in Riga wohne!", "ich in Riga wohne"),
        ("Bitte merk dir: kein Fisch", "kein Fisch"),
        ("vergiss nicht, dass wir um 9 essen", "wir um 9 essen"),
        ("Souviens-toi que je suis végétarienne", "je suis végétarienne"),
        ("recuerda que vivo en Lima", "vivo en Lima"),
        ("Ricordati che non mangio pesce", "non mangio pesce"),
        ("lembra-te que gosto de chá", "gosto de chá"),
    ],
)
def test_what_is_to_be_kept(line: str, text: str) -> None:
    """With or without a name and a word of courtesy before it."""
    wish = memory_wish(line)
    assert wish is not None
    assert (wish.want, wish.text) == ("keep", text)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("forget that I am vegetarian", "I am vegetarian"),
        ("@maya forget about the key", "the key"),
        ("Vergiss, dass ich in Riga wohne", "ich in Riga wohne"),
        ("olvida que vivo en Lima", "vivo en Lima"),
        ("oublie que je chante", "je chante"),
    ],
)
def test_what_is_to_be_forgotten(line: str, text: str) -> None:
    """Likewise."""
    wish = memory_wish(line)
    assert wish is not None
    assert (wish.want, wish.text) == ("forget", text)


@pytest.mark.parametrize(
    ("line", "subject"),
    [
        ("@maya always answer me in German", "language"),
        ("Antworte mir immer auf Deutsch", "language"),
        ("from now on call me Captain", "name"),
        ("Remember that: always write short", ""),
        ("réponds toujours en anglais", "language"),
    ],
)
def test_a_standing_wish_is_kept_as_it_was_said(line: str, subject: str) -> None:
    """A later one of the same subject takes its place."""
    wish = memory_wish(line)
    assert wish is not None
    assert wish.standing
    assert wish.subject == subject


@pytest.mark.parametrize(
    "line",
    [
        "Do you remember that we met?",
        "Remember that time we sang?",
        "I remember that it rained",
        "I always forget that",
        "Remind me to call Bo",
        "Always late, this train",
        "He said: remember that I am ill",
        "remember that",
        "Forget it",
        "Never mind",
        "remember that " + "word " * 200,
        "",
    ],
)
def test_what_asks_for_nothing(line: str) -> None:
    """Questions, tales, sighs, quotes."""
    assert memory_wish(line) is None
