"""Whether an answer fits its schema, and how JSON is found in an answer."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopforge.models.providers.schema_check import parse_json_answer, schema_violation

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


@pytest.mark.parametrize("more", [{}, {"score": 10.0}, {"rule": None}, {"kind": 2.5}])
def test_what_fits(more: dict[str, Any]) -> None:
    """An answer within every bound of its schema draws no complaint."""
    assert schema_violation(SCHEMA, GOOD | more) == ""


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"mode": "both"}, "['mode'] does not fit: enum is ['context', 'guardrail']"),
        ({"say": "hello!"}, "['say'] does not fit: maxLength is 5"),
        ({"score": True}, "['score'] does not fit: type is 'integer'"),
        ({"steps": ["a", 2]}, "['steps'][1] does not fit: type is 'string'"),
        ({"kind": "b"}, "['kind'] does not fit: anyOf is"),
        ({"Maya's secret": 1}, "the answer does not fit: it has a key that was not asked for"),
    ],
)
def test_what_does_not_fit_is_named(wrong: dict[str, Any], named: str) -> None:
    """A complaint names the field and the bound, and quotes nothing of the answer."""
    assert named in schema_violation(SCHEMA, GOOD | wrong)
    assert bool(schema_violation(SCHEMA, GOOD | wrong, lengths=False)) == ("say" not in wrong)
    assert "secret" not in schema_violation(SCHEMA, GOOD | wrong)


def test_a_missing_field_is_named() -> None:
    """A required field that is missing is named, and a list is no object."""
    assert "does not fit: it lacks say" in schema_violation(SCHEMA, {"mode": "context"})
    assert "type is 'object'" in schema_violation(SCHEMA, [GOOD])


@example({"```": None})
@given(st.dictionaries(st.text(), st.one_of(st.integers(), st.text(), st.booleans(), st.none())))
def test_json_is_found_in_wrappings(value: dict[str, Any]) -> None:
    """Leniently, JSON is found in a code fence, after words and before words."""
    text = json.dumps(value)
    for wrapped in (text, f"```json\n{text}\n```", f"Here you are:\n```\n{text}\n```\nBye"):
        assert parse_json_answer(wrapped, lenient=True) == value
    assert parse_json_answer(f"Sure! {text} There.", lenient=True) == value


def test_json_is_read_as_models_write_it() -> None:
    """Leniently: a comma too many, single quotation marks; what has no end is none."""
    for written in ('{"a": [1, 2,],}', "{'a': [1, 2]}", '```\n{"a": [1, 2],}\n```'):
        assert parse_json_answer(written, lenient=True) == {"a": [1, 2]}
    with pytest.raises(ValueError, match="no JSON object"):
        parse_json_answer('{"a": [1, 2', lenient=True)


def test_strictly_nothing_is_guessed() -> None:
    """Strictly, words around the JSON are an error, and without JSON it is one leniently too."""
    with pytest.raises(ValueError):
        parse_json_answer('Sure! {"a": 1}')
    with pytest.raises(ValueError, match="no JSON object"):
        parse_json_answer("I would rather not.", lenient=True)


@pytest.mark.parametrize("lenient", [True, False])
@pytest.mark.parametrize("deep", ["[" * 5000, '{"say":' * 5000])
def test_what_is_nested_without_end_is_no_answer(deep: str, *, lenient: bool) -> None:
    """It is wrong as any other text is that is no JSON; nothing breaks on it."""
    with pytest.raises(ValueError):
        parse_json_answer(deep, lenient=lenient)
