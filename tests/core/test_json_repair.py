"""An object is read as models write it, and JSON as JSON."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.text.json_repair import JsonRepair
from loopforge.core.text.malformed_answer import read_lenient_answer
from loopforge.core.text.tool_markup import before_calls
from tests.core.test_malformed_answer import FORM
from tests.core.test_streamed_answer import drafts

keys = st.sampled_from(["mode", "narrative", "files", "x", 'a "b"'])
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
    for order in (["say", *more], data.draw(st.permutations(["say", *more]))):
        raw = json.dumps({key: more.get(key, words) for key in order}, ensure_ascii=plain)
        reading = read_lenient_answer(raw, FORM, "say")
        assert reading.data is not None
        assert reading.data["say"] == words
        opens = order[0] == "say" and not words.startswith("{")  # else it may be a form once more
        shown = before_calls(words) if opens else ""
        assert drafts(raw, max(1, len(raw)))[-1] in (shown, shown.lstrip())  # blanks are no words
        cut = raw[: data.draw(st.integers(0, len(raw)))]
        came = drafts(cut, max(1, data.draw(st.integers(1, 9))))
        assert words.startswith(came[-1] if came else "")


def test_of_an_object_that_breaks_off_its_field_is_known_not_to_be_whole() -> None:
    """It knows the object that holds the field, and whether either came to its end."""
    reader = JsonRepair('{"mode": "context", "say": "Hi', "say")
    assert reader.found == {"mode": "context", "say": "Hi"}
    assert (reader.whole, reader.closed, reader.opens) == (False, False, True)
    reader = JsonRepair('{"mode": "context", "say": "Hi", }', "say")
    assert reader.found == {"mode": "context", "say": "Hi"}
    assert (reader.whole, reader.closed, reader.opens) == (True, True, True)
