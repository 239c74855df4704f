"""Which later texts hold what was forgotten: pure, so tried with Hypothesis."""

import json
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from loopforge.ledger.erasure.quote_matching import (
    CHATTER,
    ForgottenText,
    QuoteMatcher,
    StreamText,
    fold_for_search,
    folded_words,
    is_distinctive,
)

SECRET = "My sister Ottilie keeps her savings in the blue teapot"


def derived(forgotten: list[ForgottenText], given: list[StreamText]) -> set[str]:
    """The refs of the texts, given in order, that quote what is to be forgotten."""
    sieve = QuoteMatcher(forgotten)
    return {text.ref for text in given if sieve.holds(text)}


def quoting(forgotten: str, *texts: str, since: int = 1, name: bool = False) -> list[int]:
    """Which of the texts (0, 1, ...) quote the forgotten one, which is text `since`."""
    given = [StreamText(str(nth), nth, text) for nth, text in enumerate(texts)]
    return sorted(int(ref) for ref in derived([ForgottenText(forgotten, since, name)], given))


@pytest.mark.parametrize(
    "text",
    [
        f"You said: {SECRET}!",
        "sister ottilie, again",
        "WHO IS OTTILIE?",
        "It is in the  blue\nteapot.",
        "keeps her savings in what?",
        "ｏｔｔｉｌｉｅ",
        json.dumps({"say": SECRET}),
        json.dumps({"say": "the sa\u0076ings"}),
        '{"say": "the t\\u0065apot", "cut off',
        json.dumps({"plan": json.dumps({"say": [json.dumps("Ottilie\nsaid")]})}),
        json.dumps({"teapot": 1}),
    ],
)
def test_quotes_are_found(text: str) -> None:
    """A quote is found whole, in part, in another case or width, and behind JSON's escapes."""
    assert quoting(SECRET, "hello", SECRET, text) == [1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "Hello there, how are you?",
        "my, her, in the",
        "in the blue",
        json.dumps({"intent": "talk", "mode": "context", "narrative": "I keep still."}),
        "",
    ],
)
def test_what_is_no_quote_stays(text: str) -> None:
    """Everyday words, three words in a row, and the plan's own fields are no quotes."""
    assert quoting(SECRET, "hello", SECRET, text) == [1]


def test_a_word_that_was_there_before_is_not_distinctive() -> None:
    """What the stream knew already tells nothing; the same word in a run still does."""
    assert quoting(SECRET, "A teapot!", SECRET, "Tea from the teapot?") == [1]
    assert quoting(SECRET, "A teapot!", SECRET, "in the blue teapot") == [1, 2]


def test_what_came_before_stays() -> None:
    """A text of before the forgotten one is never a quote of it."""
    assert quoting(SECRET, SECRET, SECRET, "hello") == [1]


def test_numbers_are_distinctive() -> None:
    """A word with a digit in it is distinctive whatever its length, but for a lone digit."""
    assert quoting("It is 42 and b7.", "", "It is 42 and b7.", "42?", "B7!", "5 and 7") == [1, 2, 3]


def test_a_short_text_is_a_quote_as_a_whole() -> None:
    """A text of fewer than four words is looked for whole; chatter is not looked for at all."""
    assert quoting("red cow", "", "red cow", "a red cow", "red", "cow red") == [1, 2]
    assert quoting("Yes, ok!", "", "Yes, ok!", "yes ok, let us go") == []


def test_every_word_of_a_name_is_distinctive() -> None:
    """A name is looked for word by word, however short, unless it is an everyday word."""
    texts = ("hi", "Ana Lu", "ana is here", "Lu!", "Analysis", "anaconda")
    assert quoting("Ana Lu", *texts, name=True) == [1, 2, 3]
    assert quoting("Will", "", "Will", "we will see", name=True) == []


def test_signs_that_are_words_are_compared_one_by_one() -> None:
    """Where words have no spaces between them, four signs in a row make a quote."""
    assert quoting("私の妹の名前は花子です", "", "", "妹の名前", "妹と花") == [2]


texts = st.text(st.characters(codec="utf-8"), max_size=40)
sentences = st.lists(st.from_regex(r"[a-z]{2,8}", fullmatch=True), min_size=1, max_size=9).map(
    " ".join
)


@given(sentences, texts, texts)
def test_whoever_quotes_whole_is_found(secret: str, before: str, after: str) -> None:
    """A later text that holds the whole forgotten one is found, plain, shouted or in JSON."""
    assume(not CHATTER.issuperset(folded_words(secret)))
    quote = f"{before} {secret} {after}"
    forms = (
        secret,
        quote,
        quote.upper(),
        json.dumps({"a": [quote]}),
        json.dumps(json.dumps(quote)),
    )
    assert quoting(secret, "", *forms) == [1, 2, 3, 4, 5]


@given(st.lists(sentences, min_size=2, max_size=12), st.integers(0, 11))
def test_whoever_shares_no_word_is_let_be(stream: list[str], place: int) -> None:
    """A text without a single word of the forgotten one stays, wherever it stands."""
    secret = stream[place % len(stream)]
    found = quoting(secret, *stream, since=place % len(stream))
    for nth in found:
        assert set(folded_words(stream[nth])) & set(folded_words(secret))
        assert nth >= place % len(stream)


@given(st.lists(sentences, min_size=3, max_size=12), st.data())
def test_forgetting_more_forgets_no_less(stream: list[str], data: st.DataObject) -> None:
    """What quotes one of the forgotten texts is found also when others are forgotten with it."""
    places = data.draw(
        st.lists(st.integers(0, len(stream) - 1), min_size=2, max_size=4, unique=True)
    )
    given = [StreamText(str(nth), nth, text) for nth, text in enumerate(stream)]
    every = [ForgottenText(stream[place], place) for place in places]
    assert derived(every[:1], given) <= derived(every, given)


@given(texts)
def test_composition_is_no_difference(text: str) -> None:
    """Letters with marks are the same written as one sign or as several."""
    assert fold_for_search(unicodedata.normalize("NFD", text)) == fold_for_search(
        unicodedata.normalize("NFC", text)
    )


def test_the_stop_words_are_needed() -> None:
    """Each list really keeps something from being distinctive."""
    assert not is_distinctive("because")
    assert not is_distinctive("riskiness")
    assert not is_distinctive("teap")
    assert is_distinctive("teapot")
