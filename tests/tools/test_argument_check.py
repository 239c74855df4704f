"""Schemas of strangers: what they ask of arguments is checked, and nothing they say takes long."""

from typing import Any

import pytest

from loopforge.errors import InputError
from loopforge.tools.argument_check import worst_schema_error

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
    found = worst_schema_error(schema, value)
    assert (found.message if found is not None else "") == wrong


@pytest.mark.parametrize(
    "schema",
    [
        of(pattern="^(a|aa)+$"),
        {"$defs": {**DOUBLING, "a60": {}}, "$ref": "#/$defs/a0"},
        {"$ref": "#"},
        {"$ref": "#/nowhere"},
        {"type": 7},
        {"$defs": {"a": {"allOf": [{}] * 400}}, "allOf": [{"$ref": "#/$defs/a"}] * 400},
        of(items={"anyOf": [{"type": "integer"}] * 400}),
        {"allOf": [{}] * 1_000},
    ],
)
def test_a_schema_made_to_be_slow_is_a_broken_one(schema: dict[str, Any]) -> None:
    """Patterns that try each split, references that double or lead nowhere, very many parts."""
    it = ["x"] * 400 if "items" in str(schema) else "a" * 200 + "!"
    with pytest.raises(InputError, match="its own schema is broken"):
        worst_schema_error(schema, {"it": it})


def test_so_many_patterns_are_looked_for_and_no_more() -> None:
    """Four hundred, each of which takes nearly as long as one may, would take seconds."""
    hundreds = of(allOf=[{"pattern": f"^(?!{n}x)"} for n in range(30)] + [{"pattern": "never"}])
    assert worst_schema_error(hundreds, {"it": "a"}) is None
    assert worst_schema_error(of(allOf=[{"pattern": "never"}]), {"it": "a"}) is not None


def test_whether_all_are_different_is_seen_at_once() -> None:
    """Of 20,000 objects not each is compared with each."""
    rows: list[dict[str, int]] = [{"n": n} for n in range(20_000)]
    assert worst_schema_error(of(uniqueItems=True), {"it": rows}) is None
    assert worst_schema_error(of(uniqueItems=True), {"it": [*rows[:3], {"n": 1}]}).message.endswith(
        "has non-unique elements"
    )


def test_names_by_pattern_are_the_servers_to_check() -> None:
    """No time is lost on them."""
    schema = {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}
    assert worst_schema_error(schema, {"a" * 200 + "!": 1}) is None
