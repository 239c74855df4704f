"""egress: what a mind says is made fit to be said aloud, whole and while it streams."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopforge.core.egress.egress_filter import (
    CUT,
    QUOTES,
    TOO_LONG,
    EgressFilter,
    strip_control_characters,
)
from loopforge.core.egress.key_shapes import MARK, SHAPES
from tests.core.test_key_shapes import KEYS

SECRET = "correct horse battery"
PLAIN = st.text(alphabet="abcdefgh MNOiy.,!?\n-:_'éß中😀", max_size=60)
NASTY = st.text(
    alphabet=st.sampled_from(
        'ab:"“” .!\n\t\r\x1b[31m]0;\x07\x00\u200b\u200d\u202e\ufeff\ufe0f\u3164😀é\ud800Maya*_('
    )
)
LEAKY = st.lists(
    st.one_of(PLAIN, NASTY, st.sampled_from([*KEYS.values(), SECRET])), max_size=5
).map(" ".join)


def cut(text: str, places: list[int]) -> list[str]:
    """The growing text after each piece, when it is cut at these places."""
    return [text[:place] for place in sorted({p % (len(text) + 1) for p in places})]


def assert_no_secret(text: str) -> None:
    """Neither the known secret nor anything that has the shape of a key."""
    assert SECRET not in text
    for shape in SHAPES:
        assert not shape.pattern.search(text), shape.name


@given(LEAKY, st.lists(st.integers(0, 400), max_size=12), st.sampled_from([0, 20, 200]))
@example("look: " + KEYS["API key"] + " there", list(range(60)), 0)
@example(KEYS["private key"] + " and on", list(range(90)), 0)
@example("my pass is correct horse battery, yes", list(range(40)), 0)
def test_no_draft_and_no_final_text_holds_a_secret(
    text: str, places: list[int], length: int
) -> None:
    """However the text is cut into pieces, what is shown never holds a secret, nor does the end."""
    egress = EgressFilter(secrets=[SECRET], name="Maya", length=length)
    for so_far in cut(text, places):
        assert_no_secret(egress.feed(so_far))
    assert_no_secret(egress.finish(text)[0])


@given(LEAKY, st.lists(st.integers(0, 400), max_size=12))
@example("Maya: hello there. Good day to you", list(range(40)))
@example("#12 14:05 Maya: hello there. Good day to you", list(range(50)))
@example('"hello there. Good day to you."', list(range(40)))
@example("é -----BEGIN PRIVATE KEY-----\nabc", list(range(40)))
@example("x correct horse batteryé", list(range(40)))
@example("\u201d\u200d ", [3])
def test_each_draft_begins_the_next_and_the_final_text(text: str, places: list[int]) -> None:
    """Drafts only grow, and the final text begins with the last of them (quotes aside)."""
    if any(quote in text for quote in QUOTES):
        text = text.translate({ord(quote): "-" for pair in QUOTES.items() for quote in pair})
    egress = EgressFilter(secrets=[SECRET], name="Maya")
    drafts = [egress.feed(so_far) for so_far in cut(text, places)]
    shown = [*drafts, egress.finish(text)[0]]
    for one, next_ in pairwise(shown):
        assert next_.startswith(one)


@given(LEAKY, st.sampled_from([0, 1, 5, 12, 80, 100]))
@example('Maya: Maya: "Maya: hi"', 0)
@example("“Maya: “hi””", 0)
@example("#12 14:05 Maya: #3 09:00 Maya: hi", 0)
@example("a. b. c d e f g h i j k l m", 12)
def test_finishing_twice_changes_nothing_more(text: str, length: int) -> None:
    """finish(finish(x)) is finish(x)."""
    egress = EgressFilter(secrets=[SECRET, "acted]"], name="Maya", length=length)
    once = egress.finish(text)[0]
    assert egress.finish(once) == (once, ())


@given(st.text(max_size=300), st.integers(1, 80))
def test_the_length_is_kept(text: str, length: int) -> None:
    """What is said is never longer than it may be, streamed or whole."""
    egress = EgressFilter(length=length)
    assert len(egress.finish(text)[0]) <= length
    assert len(egress.feed(text)) <= length


@given(st.text())
def test_no_control_sign_comes_through(text: str) -> None:
    """Control signs, escape sequences, turned directions and lone surrogates are gone."""
    cleaned = strip_control_characters(text)
    cleaned.encode("utf-8")
    assert not any(ord(sign) < 32 and sign not in "\n\t" for sign in cleaned)
    assert not set(cleaned) & set("\x1b\x7f\x9b\u202e\u2066\u200b\ufeff\r")
    assert strip_control_characters(cleaned) == cleaned


def test_a_secret_is_not_hidden_by_invisible_signs() -> None:
    """Signs without width inside a secret do not carry it through, nor inside a key of its form."""
    for sign in "\u200b\u034f\u115f\u1160\u3164\uffa0\ufe0f\U000e0101":
        hidden, key = sign.join(SECRET), sign.join(KEYS["API key"])
        assert EgressFilter(secrets=[SECRET]).finish(f"It is {hidden}.")[0] == f"It is {MARK}."
        assert EgressFilter().finish(f"It is {key} .")[0] == f"It is {MARK} ."
    assert EgressFilter(secrets=["zinc-harbour-4711"]).leak(
        ["\u3164".join("zinc-harbour-4711")], ()
    )


def test_a_half_streamed_secret_is_held_back() -> None:
    """While a known secret may still be growing, none of it is shown."""
    egress = EgressFilter(secrets=[SECRET])
    assert egress.feed("It is correct horse bat") == "It is"
    assert egress.feed("It is correct ho, no") == "It is correct ho,"
    assert egress.feed("It is correct horse battery ok") == f"It is {MARK}"


def test_a_short_secret_is_ignored() -> None:
    """A known value of fewer than six characters would tear holes into plain words."""
    assert EgressFilter(secrets=["test", ""]).finish("This is a test.") == ("This is a test.", ())


@pytest.mark.parametrize(
    "raw",
    ["Maya: Hi ana.", "maya: Hi ana.", "#12 14:05 Maya: Hi ana.", "**Maya:** Hi ana.", "[Maya]: Hi ana.", '"Hi ana."',
     "“Hi ana.”", 'Maya: "Hi ana."', '"Maya: Hi ana."', "  Hi ana.  "],
)  # fmt: skip
def test_labels_and_quotation_marks_around_it_all_go(raw: str) -> None:
    """A small model writes its own name before its words, or quotes itself; people see the words."""
    egress = EgressFilter(name="Maya")
    assert egress.finish(raw)[0] == "Hi ana."
    for so_far in cut(raw, list(range(40))):
        assert "Hi ana.".startswith(egress.feed(so_far))


@pytest.mark.parametrize(
    "said",
    [
        '"Hi" is what she said.',
        '"One." "Two."',
        "Mayan ruins: old.",
        "ana: she is here",
        "Maya is me",
    ],
)
def test_other_names_and_inner_quotation_marks_stay(said: str) -> None:
    """Only the mate's own label goes, and only one pair of marks around everything."""
    assert EgressFilter(name="Maya").finish(said)[0] == said


def test_a_label_is_never_shown_while_it_streams() -> None:
    """No draft shows the label's beginning, letter by letter."""
    egress = EgressFilter(name="Old Tom")
    drafts = [egress.feed("Old Tom: good day"[:n]) for n in range(18)]
    assert set(drafts) == {"", "good"}


def test_it_is_cut_at_the_end_of_a_sentence_if_there_is_one() -> None:
    """A text that is too long ends with a sentence, else a word, and a sign that it was cut."""
    words = "One is here. Two is here. Three."
    assert EgressFilter(length=26).finish(words) == ("One is here. …", (TOO_LONG,))
    assert EgressFilter(length=28).finish(words) == ("One is here. Two is here. …", (TOO_LONG,))
    assert EgressFilter(length=12).finish("one two three four")[0] == "one two…"
    assert EgressFilter(length=5).finish("abcdefghij")[0] == "abcd…"
    long = EgressFilter(length=100)
    assert long.finish("A word. " * 40)[0] == "A word. " * 7 + CUT
    assert long.feed("A word. " * 40).endswith(CUT)
    assert long.finish("A word. " * 12) == (("A word. " * 12).strip(), ())


def test_escape_sequences_go_whole() -> None:
    """Colours, titles and what is broken off at the end leave no debris."""
    assert strip_control_characters("a\x1b[31mred\x1b[0m b\x1b]0;title\x07 c\x1b[3") == "ared b c"
    assert EgressFilter().feed("one two \x1b[3") == "one two"


def test_emoji_and_other_scripts_keep_their_joiners() -> None:
    """A family emoji, a flag and Persian words come through as they are."""
    for text in ("👨‍👩‍👧 hi", "🇵🇪 🏳️‍🌈", "1️⃣ ❤️ ok", "葛󠄀城", "می‌خواهم", "e\u0301té"):
        assert strip_control_characters(text) == text


def test_words_without_spaces_flow_while_they_stream() -> None:
    """Scripts without spaces are not held back until their end."""
    assert EgressFilter().feed("今日はいい天気") == "今日はいい天気"


@pytest.mark.timeout(20)
def test_headers_of_keys_again_and_again_cost_little() -> None:
    """A draft of nothing but their beginnings, and a word, is read in a moment, at each look."""
    assert EgressFilter().feed("-----BEGIN " * 40_000 + "!").endswith("-----BEGIN")


def test_a_long_run_of_one_sign_costs_little() -> None:
    """A model that streams garbage is filtered too: a hundred thousand signs in one piece."""
    for sign in (
        "a",
        "M-",
        "eyJ-",
        "a.",
        "-----BEGIN ",
        "\x1b]",
        "\x1b[",
        "\u200d",
        "sk-",
        "\u0301",
    ):
        assert (
            EgressFilter(secrets=[SECRET], name="Maya", length=100).finish(sign * 20_000)[0]
            is not None
        )


@given(LEAKY)
@example(KEYS["private key"])
@example("-----BEGIN RSA PRIVATE KEY-----\u200b" + SECRET)
def test_no_file_holds_a_secret(text: str) -> None:
    """What is true of lines is true of files: no secret, no control signs, and once is enough."""
    egress = EgressFilter(secrets=[SECRET], name="Maya", length=20)
    done, _ = egress.finish_file(text)
    assert_no_secret(done)
    assert strip_control_characters(done) == done
    assert egress.finish_file(done)[0] == done


@pytest.mark.parametrize("text", ['"Maya: a quote"\n', "  two spaces\n\n\n", "x" * 500])
def test_a_file_keeps_its_own_form(text: str) -> None:
    """Labels, quotation marks, spaces and length of a file stay as they are."""
    egress = EgressFilter(secrets=[SECRET], name="Maya", length=20)
    assert egress.finish_file(text) == (text, ())
