"""Whether an answer fits the JSON schema it was asked for.

Covers what answers of mates need: type, enum, const, properties, required, additionalProperties
false, items, minItems, maxItems, minLength, maxLength, minimum, maximum, anyOf. Other words of JSON
Schema are not checked. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def parse(text: str, *, lenient: bool = False) -> Any:
    """The JSON in a text. Raises ValueError.

    `lenient` also takes it out of a code fence, or from the words around it (models that were only
    asked for JSON like to wrap it).
    """
    try:
        return json.loads(text)
    except ValueError:
        if not lenient:
            raise
    fenced = re.search(r"```(?:json)?\s*\n(.*?)```", text, re.DOTALL)
    inner = fenced[1] if fenced else text
    start = inner.find("{")
    if start < 0:
        raise ValueError("there is no JSON object in the answer")
    return json.JSONDecoder().raw_decode(inner[start:])[0]


def complaint(
    schema: Mapping[str, Any], value: Any, at: str = "the answer", *, lengths: bool = True
) -> str:
    """What is wrong with a value, in words; "" when it fits.

    Without `lengths`, a string may be shorter or longer than the schema says (services that cannot
    hold a model to a length are only told of it).
    """
    if "anyOf" in schema:
        complaints = [complaint(each, value, at, lengths=lengths) for each in schema["anyOf"]]
        return "" if "" in complaints else f"{at} fits none of {len(complaints)} forms"
    if "const" in schema and not _same(value, schema["const"]):
        return f"{at} is not {schema['const']!r}"
    if "enum" in schema and not any(_same(value, each) for each in schema["enum"]):
        return f"{at} is none of {schema['enum']}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        return f"{at} is not of type {' or '.join(kinds)}"
    if isinstance(value, dict):
        return _object(schema, value, at, lengths=lengths)
    if isinstance(value, list):
        return _array(schema, value, at, lengths=lengths)
    if isinstance(value, str):
        return _length(schema, value, at) if lengths else ""
    return _bounds(schema, value, at)


def _same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and bool(value == other)


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _KINDS.get(kind, ()))


def _object(schema: Mapping[str, Any], value: Mapping[str, Any], at: str, *, lengths: bool) -> str:
    fields = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return f"{at} has no {name!r}"
    if schema.get("additionalProperties") is False:
        for name in value:
            if name not in fields:
                return f"{at} has {name!r}, which was not asked for"
    for name, part in fields.items():
        if name in value:
            wrong = complaint(part, value[name], f"{at}.{name}", lengths=lengths)
            if wrong:
                return wrong
    return ""


def _array(schema: Mapping[str, Any], value: list[Any], at: str, *, lengths: bool) -> str:
    if len(value) < schema.get("minItems", 0):
        return f"{at} has fewer than {schema['minItems']} items"
    if len(value) > schema.get("maxItems", len(value)):
        return f"{at} has more than {schema['maxItems']} items"
    for place, item in enumerate(value):
        wrong = complaint(schema.get("items", {}), item, f"{at}[{place}]", lengths=lengths)
        if wrong:
            return wrong
    return ""


def _length(schema: Mapping[str, Any], value: str, at: str) -> str:
    if len(value) < schema.get("minLength", 0):
        return f"{at} is shorter than {schema['minLength']} characters"
    if len(value) > schema.get("maxLength", len(value)):
        return f"{at} is longer than {schema['maxLength']} characters"
    return ""


def _bounds(schema: Mapping[str, Any], value: Any, at: str) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            return f"{at} is less than {schema['minimum']}"
        if value > schema.get("maximum", value):
            return f"{at} is more than {schema['maximum']}"
    return ""
