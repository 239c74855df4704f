"""The veil: what is looked for in other texts, and what is put in its place."""

import json

from hypothesis import given
from hypothesis import strategies as st

from loopforge.chat.why.redaction import BEFORE, HiddenPhrases, RecordRedaction
from loopforge.core.text.erasable_text import Words

SECRET = "The spare key lies under the blue flowerpot."


def veiled(
    *hidden: str, open: tuple[str, ...] = (), names: tuple[str, ...] = ()
) -> RecordRedaction:
    """A veil that withholds these texts."""
    return RecordRedaction(
        hidden={f"ref{nth}": BEFORE for nth in range(len(hidden))},
        needles=HiddenPhrases(hidden, open, names),
        copies=frozenset(json.dumps(text, ensure_ascii=False) for text in hidden),
    )


def test_a_whole_text_is_found_in_any_spelling() -> None:
    """Case, white space and what stands around it do not hide a repetition."""
    found = veiled("Good night, all!").text("She said: GOOD   night,\nall — and left.")
    assert found == f"She said: {BEFORE} — and left."


def test_four_words_in_a_row_are_a_repetition() -> None:
    """Part of a withheld line is withheld too; what is around it stays."""
    found = veiled(SECRET).text("I think of the spare key lies under something.")
    assert found == f"I think of {BEFORE} something."


def test_a_word_with_a_digit_is_a_repetition() -> None:
    """Codes and numbers of four characters or more are found alone."""
    assert veiled("it is hunter2 then").text("Use HUNTER2!") == f"Use {BEFORE}!"


def test_short_words_are_no_secret() -> None:
    """A text of less than twelve characters is looked for nowhere."""
    assert veiled("yes, sure").text("yes, sure, why not") == "yes, sure, why not"


def test_everyday_words_in_a_row_are_no_repetition() -> None:
    """Four words that everybody uses do not count, unless they are the whole of a text."""
    veil = veiled("what do you think about the purple door")
    assert veil.text("What do you think?") == "What do you think?"


def test_what_was_said_openly_too_is_no_secret() -> None:
    """A line that the reader saw themselves opens the same words everywhere."""
    veil = veiled(SECRET, open=(f"As I said: {SECRET}",))
    assert veil.text(SECRET) == SECRET


def test_json_stays_json() -> None:
    """In JSON every string is searched, nested JSON too, and the result can be read."""
    plan = json.dumps({"say": "ok", "arguments": json.dumps({"q": SECRET}), SECRET: [4711]})
    found = veiled(SECRET, "the code is 4711").text(plan)
    assert "flowerpot" not in found
    assert "4711" not in found
    assert json.loads(found)["say"] == "ok"


def test_escapes_hide_nothing() -> None:
    """Nearly JSON, with its escapes, is read with them undone."""
    broken = '{"say": "caf\\u00e9 au lait at ten every morning'
    assert "lait" not in veiled("Café au lait at ten every morning").text(broken)


def test_a_quoted_copy_is_found_whatever_its_length() -> None:
    """Prompts hold a line that needs escaping as a JSON string of its own."""
    assert veiled('no "way"').text('"no \\"way\\""') == BEFORE


def test_names_of_strangers_go() -> None:
    """The name of somebody the reader never met is withheld wherever it stands."""
    veil = veiled("x", names=("Wilhelmina Krol",))
    assert veil.text("Wilhelmina Krol asked me") == f"{BEFORE} asked me"


def test_forgotten_is_forgotten() -> None:
    """A text that is gone shows as such, and one that is withheld shows its marker."""
    veil = veiled(SECRET)
    assert veil.words(Words(None, "other")) == "[forgotten]"
    assert veil.words(Words(None, "ref0")) == BEFORE
    assert veil.notice.startswith("Part of this record is withheld from you: what was said before")


def test_nothing_withheld_says_nothing() -> None:
    """A veil that hid nothing has no notice."""
    veil = veiled(SECRET)
    assert veil.text("Hello.") == "Hello."
    assert veil.notice == ""


words = st.text(alphabet='abcde fgh 123 .,"\\{}[]:é\n', max_size=60)


@given(words, words, words)
def test_no_long_secret_survives(before: str, secret: str, after: str) -> None:
    """Whatever stands around it, a whole text of twelve characters with words in it is gone."""
    veil = veiled(secret)
    plain = " ".join(secret.split())
    if len(plain) < 12 or not any(map(str.isalnum, plain)):
        return
    for text in (f"{before} {secret} {after}", json.dumps({"narrative": f"{before} {secret}"})):
        core = plain.strip(' .,"\\{}[]:')
        assert core not in " ".join(veil.text(text).split())


@given(words)
def test_without_secrets_texts_are_as_they_are(text: str) -> None:
    """A veil that hides nothing changes nothing."""
    assert RecordRedaction().text(text) == text
