"""Whether values fit a JSON schema that a stranger may have written, an MCP server for one.

    misfit({"properties": {"n": {"type": "integer"}}}, {"n": "two"})  ->  a ValidationError

Whatever the schema says, the check is short: patterns get little time, and so many steps are taken
and no more. What is called by patterns (`patternProperties`), or has one that cannot be read, is
left to whoever wrote it. Does not know tools; nothing is fetched.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from loopforge.errors import InputError

SECONDS = 0.02
"""For one pattern on one text; an honest one takes a ten thousandth of it."""
PATTERNS = 20
"""That are looked for in one check; further ones are left to whoever wrote them."""
STEPS = 30_000
"""Of one check, each up to 14 microseconds: a keyword on a value, and each part of that keyword."""
MOST_PARTS = 1_000
"""Objects and lists of a schema; whether it is one takes 0.2 ms for each."""
MOST_VALUES = 1_000
"""Values beyond which it is they that are too many, not what the schema asks of each."""
_BY_PATTERN = ("patternProperties", "additionalProperties", "unevaluatedProperties")


def worst_schema_error(schema: Mapping[str, Any], value: object) -> Any:
    """The gravest thing that is wrong with a value, as a ValidationError of jsonschema; or None.

    Raises InputError where the schema itself is broken, or the value too large for it.
    """
    from jsonschema.exceptions import SchemaError, best_match  # type: ignore[import-untyped]
    from referencing.exceptions import Unresolvable

    try:
        checker, left = _checker(json.dumps(schema))
        left[:] = STEPS, PATTERNS
        return best_match(checker.iter_errors(value))
    except (SchemaError, Unresolvable, RecursionError, TimeoutError) as error:
        if isinstance(error, RecursionError) and json.dumps(value).count(",") > MOST_VALUES:
            raise InputError("its arguments are too large to be checked; give fewer") from error
        raise InputError(f"its own schema is broken ({error.__class__.__name__})") from error


def whole_integers(schema: object, value: Any) -> Any:
    """The same, with 3 for 3.0 where a schema plainly wants an integer: to it they are one."""
    match schema, value:
        case {"type": "integer"}, float() if value.is_integer():
            return int(value)
        case {"properties": dict(parts)}, dict():
            return {key: whole_integers(parts.get(key), each) for key, each in value.items()}
        case {"items": dict(part)}, list():
            return [whole_integers(part, each) for each in value]
        case _:
            return value


@lru_cache(maxsize=512)
def _checker(schema: str) -> tuple[Any, list[int]]:
    """What checks values by a schema written as JSON; how many steps and patterns it has left."""
    from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]
    from jsonschema.validators import extend, validator_for  # type: ignore[import-untyped]
    from referencing import Registry

    read, left = json.loads(schema), [STEPS, PATTERNS]
    if schema.count("{") + schema.count("[") > MOST_PARTS:
        raise RecursionError
    kind = validator_for(read, default=Draft202012Validator)
    kind.check_schema(read, format_checker=FormatChecker(formats=()))  # patterns of any dialect
    keywords = {**kind.VALIDATORS, "pattern": _pattern, "uniqueItems": _unique}
    bounded = extend(kind, {name: _counted(each, left) for name, each in keywords.items()})
    return bounded(_unpatterned(read), registry=Registry()), left


def _counted(keyword: Any, left: list[int]) -> Any:
    def looked_at(validator: Any, given: Any, instance: object, schema: Any) -> Iterator[Any]:
        left[0] -= 1 + (len(given) if isinstance(given, list | dict) else 0)
        left[1] -= keyword is _pattern
        if left[0] < 0:
            raise RecursionError
        if left[1] >= 0 or keyword is not _pattern:
            yield from keyword(validator, given, instance, schema) or ()

    return looked_at


def _unique(validator: Any, wanted: object, instance: Any, _schema: Any) -> Iterator[Any]:
    """The keyword `uniqueItems`, without comparing each with each."""
    from jsonschema.exceptions import ValidationError

    if not wanted or not validator.is_type(instance, "array"):
        return
    if len({json.dumps(each, sort_keys=True) for each in instance}) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _pattern(validator: Any, pattern: str, instance: object, _schema: Any) -> Iterator[Any]:
    """The keyword `pattern`. Raises TimeoutError."""
    import regex  # has a limit of time, and reads what JavaScript's patterns may hold
    from jsonschema.exceptions import ValidationError

    if not validator.is_type(instance, "string"):
        return
    try:
        found = regex.search(pattern, str(instance), timeout=SECONDS)
    except regex.error:
        return
    if found is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _unpatterned(part: Any) -> Any:
    """A schema without what is called by patterns, and without what counts by what is not."""
    if isinstance(part, list):
        return [_unpatterned(each) for each in part]
    if not isinstance(part, dict):
        return part
    left_out = _BY_PATTERN if "patternProperties" in part else ()
    return {key: _unpatterned(value) for key, value in part.items() if key not in left_out}
