"""Whether an answer fits its schema, and how JSON is found in an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.models.providers.schema_check import complaint, parse

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "mode": {"enum": ["context", "guardrail"]},
        "say": {"type": "string", "minLength": 1, "maxLength": 5},
        "score": {"type": "integer", "minimum": 0, "maximum": 10},
        "steps": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
        "rule": {"type": ["string", "null"]},
        "kind": {"anyOf": [{"const": "a"}, {"type": "number"}]},
    },
    "required": ["mode", "say"],
    "additionalProperties": False,
}
GOOD: dict[str, Any] = {"mode": "context", "say": "hello"}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"score": 0},
        {"score": 10.0},
        {"steps": ["a", "b"]},
        {"rule": None},
        {"rule": "x"},
        {"kind": "a"},
        {"kind": 2.5},
    ],
)
def test_what_fits(more: dict[str, Any]) -> None:
    """An answer within every bound of its schema draws no complaint."""
    assert complaint(SCHEMA, GOOD | more) == ""


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"mode": "both"}, "mode"),
        ({"say": ""}, "shorter"),
        ({"say": "hello!"}, "longer"),
        ({"say": 3}, "type string"),
        ({"score": -1}, "less"),
        ({"score": 11}, "more than 10"),
        ({"score": True}, "type integer"),
        ({"score": 1.5}, "type integer"),
        ({"steps": []}, "fewer"),
        ({"steps": ["a", "b", "c"]}, "more than 2 items"),
        ({"steps": ["a", 2]}, "steps[1]"),
        ({"rule": 1}, "string or null"),
        ({"kind": "b"}, "none of 2 forms"),
        ({"extra": 1}, "not asked for"),
    ],
)
def test_what_does_not_fit_is_named(wrong: dict[str, Any], named: str) -> None:
    """Each broken bound draws a complaint that names the field or the bound."""
    assert named in complaint(SCHEMA, GOOD | wrong)


def test_a_missing_field_is_named() -> None:
    """A required field that is missing is named, and a list is no object."""
    assert complaint(SCHEMA, {"mode": "context"}) == "the answer has no 'say'"
    assert "type object" in complaint(SCHEMA, [GOOD])


@given(st.dictionaries(st.text(), st.one_of(st.integers(), st.text(), st.booleans(), st.none())))
def test_json_is_found_in_wrappings(value: dict[str, Any]) -> None:
    """Leniently, JSON is found in a code fence, after words and before words."""
    text = json.dumps(value)
    for wrapped in (text, f"```json\n{text}\n```", f"Here you are:\n```\n{text}\n```\nBye"):
        assert parse(wrapped, lenient=True) == value
    assert parse(f"Sure! {text} There.", lenient=True) == value


def test_strictly_nothing_is_guessed() -> None:
    """Strictly, words around the JSON are an error, and without JSON it is one leniently too."""
    with pytest.raises(ValueError):
        parse('Sure! {"a": 1}')
    with pytest.raises(ValueError, match="no JSON object"):
        parse("I would rather not.", lenient=True)
