"""Schemas of strangers: what they ask of arguments is checked, and nothing they say takes long."""

from __future__ import annotations

from typing import Any

import pytest

from loopforge.errors import InputError
from loopforge.tools.argument_check import misfit

DOUBLING = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(60)}


def of(**field: Any) -> dict[str, Any]:
    """A schema of one field."""
    return {"type": "object", "properties": {"it": field}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "value", "wrong"),
    [
        (of(type="integer"), {"it": 2}, ""),
        (of(type="integer"), {"it": "two"}, "'two' is not of type 'integer'"),
        (of(), {"that": 1}, "Additional properties are not allowed ('that' was unexpected)"),
        (of(pattern="^[a-z]+$"), {"it": "maya"}, ""),
        (of(pattern="^[a-z]+$"), {"it": "Maya"}, "'Maya' does not match '^[a-z]+$'"),
        (of(pattern=r"^\p{Lu}\p{L}*$"), {"it": "Zoë"}, ""),
        (of(pattern=r"^\p{Lu}\p{L}*$"), {"it": "zoë"}, r"'zoë' does not match '^\\p{Lu}\\p{L}*$'"),
        (of(pattern="["), {"it": "in another dialect"}, ""),
        (of(pattern="^a"), {"it": 7}, ""),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "string"}}}, "it", ""),
        (
            {"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False},
            {"x-it": "it"},
            "",
        ),
    ],
)
def test_what_a_schema_asks_for(schema: dict[str, Any], value: Any, wrong: str) -> None:
    """Types, names and patterns count, also those of JavaScript; which cannot be read is let be."""
    found = misfit(schema, value)
    assert (found.message if found is not None else "") == wrong


@pytest.mark.parametrize(
    "schema",
    [
        of(pattern="^(a|aa)+$"),
        {"$defs": {**DOUBLING, "a60": {}}, "$ref": "#/$defs/a0"},
        {"$ref": "#"},
        {"$ref": "#/nowhere"},
        {"type": 7},
    ],
)
def test_a_schema_made_to_be_slow_is_a_broken_one(schema: dict[str, Any]) -> None:
    """Patterns that try each split, references that double or go round, or lead nowhere."""
    with pytest.raises(InputError, match="its own schema is broken"):
        misfit(schema, {"it": "a" * 200 + "!"})


def test_names_by_pattern_are_the_servers_to_check() -> None:
    """No time is lost on them."""
    schema = {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}
    assert misfit(schema, {"a" * 200 + "!": 1}) is None
