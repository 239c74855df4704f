"""An object is read while it is written."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.text.lenient_json import read
from loopforge.core.text.partial_json import Partial
from loopforge.core.text.spoken_words import SpokenWords
from tests.core.test_lenient_json import FORM
from tests.core.test_spoken_words import drafts

keys = st.sampled_from(["say", "mode", "narrative", "files", "x", 'a "b"'])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(st.dictionaries(keys, values), st.text(), st.booleans(), st.data())
def test_valid_json_is_read_as_json(
    more: dict[str, Any], words: str, plain: bool, data: st.DataObject
) -> None:
    """Whatever else an object holds, its words are read to the letter, cut anywhere or whole."""
    given = {**{key: value for key, value in more.items() if key != "say"}, "say": words}
    order = data.draw(st.permutations(list(given)))
    raw = json.dumps({key: given[key] for key in order}, ensure_ascii=plain)
    reading = read(raw, FORM, "say")
    assert reading.data is not None
    assert reading.data["say"] == words
    assert drafts(raw, max(1, len(raw)))[-1:] == [words]
    cut = raw[: data.draw(st.integers(0, len(raw)))]
    came = drafts(cut, max(1, data.draw(st.integers(1, 9))))
    assert words.startswith(came[-1] if came else "")


def test_each_sign_is_looked_at_once() -> None:
    """Reading in pieces takes as many steps as there are pieces: nothing is walked again."""
    raw = '{"say": "' + "word, " * 20_000
    spoken = SpokenWords(FORM, "say")
    held = []
    for at in range(0, len(raw), 6):
        spoken.feed(raw[at : at + 6])
        assert spoken._form is not None
        held.append(len(spoken._form._text))
    assert max(held) < 20
    assert spoken.length == len(raw) - len('{"say": "')


def test_what_is_known_of_an_object_half_way() -> None:
    """It knows the object that holds the field, whether that is whole, and what departs from JSON."""
    reader = Partial("say")
    reader.feed('{"mode": "context", "say": "Hi')
    assert reader.found == {"mode": "context"}
    assert (reader.whole, reader.closed, reader.words) == (False, False, "Hi")
    reader.feed('", }')
    reader.end()
    assert reader.found == {"mode": "context", "say": "Hi"}
    assert (reader.whole, reader.closed, reader.opens) == (True, True, True)
