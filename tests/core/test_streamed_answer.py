"""The words of an answer while it comes: what is shown is what is said."""

from itertools import product
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from loopforge.core.text.erasable_text import replace_lone_surrogates
from loopforge.core.text.malformed_answer import read_lenient_answer
from loopforge.core.text.streamed_answer import SpokenWords
from tests.core.test_malformed_answer import CUT, FORM, PASSING, SAID
from tests.every_row import every_row


def drafts(text: str, size: int, schema: dict[str, Any] = FORM) -> list[str]:
    """What is shown while it comes in pieces of this size."""
    spoken = SpokenWords(schema, "say")
    found = []
    for at in range(0, len(text), size):
        spoken.feed(text[at : at + size])
        found.append(spoken.words)
    return found


@every_row(product([*SAID, *CUT], [1, 3, 7, 1000]))
def test_what_is_shown_while_it_comes_is_what_is_said(form: str, size: int) -> None:
    """Every draft is the beginning of the next one and of the words; none shows anything else."""
    text, _ = SAID.get(form) or CUT[form]
    words = str((read_lenient_answer(text, FORM, "say", cut=form in CUT).data or {}).get("say", ""))
    seen = drafts(text, size) or [""]
    for earlier, later in zip(seen, [*seen[1:], words], strict=True):
        assert later.startswith(earlier.rstrip())


def test_words_stream_at_once() -> None:
    """The form opens with the words: they are shown with the first signs that come."""
    assert next(iter(FORM["properties"])) == "say"
    assert drafts('{"say": "Hi, a', 1)[-1] == "Hi, a"
    assert drafts('```json\n[{"say": "Hi, a', 1)[-1] == "Hi, a"
    assert drafts('{"answer": {"say": "Hi, a', 1)[-1] == "Hi, a"


def test_half_a_sign_is_not_shown_before_its_other_half() -> None:
    """Servers that cut a text by UTF-16 send an emoji in two pieces: it is shown when both came."""
    spoken, seen = SpokenWords(FORM, "say"), []
    for piece in ('{"say": "Tea ', "\ud83e", "\uded6", ' now"'):
        spoken.feed(piece)
        seen.append(replace_lone_surrogates(spoken.words))
    assert seen == ["Tea ", "Tea ", "Tea 🫖", "Tea 🫖 now"]
    assert replace_lone_surrogates({"say": ["a \ud83e", "\uded6\ud83e"]}) == {"say": ["a ?", "??"]}


def test_of_whom_nobody_addressed_nothing_is_shown_before_its_yes() -> None:
    """Where it may stay silent, yes or no comes first; words that it takes back are never seen."""
    assert list(PASSING["properties"])[:2] == ["speak", "say"]
    assert drafts('{"speak": true, "say": "Well, a', 1, PASSING)[-1] == "Well, a"
    assert drafts('{"speak": false, "say": "Well, a', 1, PASSING)[-1] == ""
    assert drafts('{"say": "Well, a', 1, PASSING)[-1] == ""
    assert drafts('{"say": "Well, a", "speak": true', 1, PASSING)[-1] == ""


scraps = st.sampled_from(
    [
        *('{"say": "', '"', "{", "}", "[", "]", ",", ":", "\\", "'", "“", "```json\n", "```", "\n"),
        *("<think>", "</think>", "say", '"say"', "say: ", '"mode": "context"', '"narrative": "I'),
        *('{"speak": true, ', "hello", " there", "\\u00", "\\ud83d", '"}', '", "', "<|end|>", "🌱"),
    ]
)


@given(st.lists(scraps, max_size=24).map("".join), st.integers(1, 9), st.booleans())
@example('{"say": "a" b', 1, False)
@example('{"say": "a"\n"', 1, True)
def test_whatever_comes_what_was_shown_stands(text: str, size: int, cut: bool) -> None:
    """Of any rubbish, drafts are beginnings of each other and of what is said in the end."""
    for schema in (FORM, PASSING):
        data = read_lenient_answer(text, schema, "say", cut=cut).data or {}
        words = str(data.get("say", "")) if data.get("speak", True) else ""
        seen = drafts(text, size, schema) or [""]
        for earlier, later in zip(seen, [*seen[1:], words], strict=True):
            assert later.startswith(earlier.rstrip())


def test_each_sign_is_looked_at_once() -> None:
    """Of what came only what is not read yet is kept: nothing is walked again."""
    raw = '{"say": "' + "word, " * 20_000
    for text in (raw, f'{{"mode": "context", {raw[1:]}'):
        spoken, held = SpokenWords(FORM, "say"), []
        for at in range(0, len(text), 6):
            spoken.feed(text[at : at + 6])
            held.append(len(spoken._held))
        assert max(held) < 210
    assert len(drafts(raw, 6000)[-1]) == len(raw) - len('{"say": "')


def test_plain_words_are_shown_without_thoughts() -> None:
    """Where no form was asked for, all but a thought at the beginning is words."""
    spoken = SpokenWords(None, "")
    for piece in ("<thi", "nk>Hm.</think>", " Hi,", " ana."):
        spoken.feed(piece)
    assert spoken.words == "Hi, ana."
    assert spoken.length == len("Hi, ana.")
