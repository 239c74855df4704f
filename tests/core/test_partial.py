"""A field of JSON that is still being written."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.partial import so_far


@given(st.text(), st.data())
def test_what_is_read_is_a_beginning_of_what_is_meant(text: str, data: st.DataObject) -> None:
    """Cut anywhere, the field reads as a prefix of its text; whole, as all of it."""
    raw = json.dumps({"mode": "context", "say": text, "end": 1})
    cut = data.draw(st.integers(0, len(raw)))
    assert text.startswith(so_far(raw[:cut], "say"))
    assert so_far(raw, "say") == text


def test_nothing_is_read_before_the_field_begins() -> None:
    """Other fields and an unopened string give nothing."""
    assert so_far('{"mode": "context", "say"', "say") == ""
    assert so_far('{"say": ', "say") == ""
