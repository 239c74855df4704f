"""Whether values fit a JSON schema that a stranger may have written, an MCP server for one.

    misfit({"properties": {"n": {"type": "integer"}}}, {"n": "two"})  ->  a ValidationError

Whatever the schema says, the check is short: a pattern gets little time, references are followed
so far and no farther. What is called by patterns (`patternProperties`), or has one that cannot be
read, is left to whoever wrote it. Does not know tools; nothing is fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from loopforge.errors import InputError

SECONDS = 0.2
"""For one pattern on one text; an honest one takes a millionth of it."""
REFERENCES = 5_000
"""That are followed in one check."""
_BY_PATTERN = ("patternProperties", "additionalProperties", "unevaluatedProperties")


def misfit(schema: Mapping[str, Any], value: object) -> Any:
    """The gravest thing that is wrong with a value, as a ValidationError of jsonschema; or None.

    Raises InputError where the schema itself is broken.
    """
    from jsonschema.exceptions import SchemaError, best_match  # type: ignore[import-untyped]
    from referencing.exceptions import Unresolvable

    try:
        checker, left = _checker(json.dumps(schema))
        left[0] = REFERENCES
        return best_match(checker.iter_errors(value))
    except (SchemaError, Unresolvable, RecursionError, TimeoutError) as error:
        raise InputError(f"its own schema is broken ({error.__class__.__name__})") from error


@lru_cache(maxsize=512)
def _checker(schema: str) -> tuple[Any, list[int]]:
    """What checks values by a schema written as JSON, and how many references it may follow."""
    from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]
    from jsonschema.validators import extend, validator_for  # type: ignore[import-untyped]
    from referencing import Registry

    read, left = json.loads(schema), [REFERENCES]
    kind = validator_for(read, default=Draft202012Validator)
    kind.check_schema(read, format_checker=FormatChecker(formats=()))  # patterns of any dialect
    follow = {
        name: kind.VALIDATORS[name] for name in ("$ref", "$dynamicRef") if name in kind.VALIDATORS
    }

    def counted(name: str) -> Any:
        def followed(validator: Any, to: str, instance: object, schema: Any) -> Iterator[Any]:
            left[0] -= 1
            if left[0] < 0:
                raise RecursionError
            yield from follow[name](validator, to, instance, schema) or ()

        return followed

    bounded = extend(kind, {"pattern": _pattern, **{name: counted(name) for name in follow}})
    return bounded(_unpatterned(read), registry=Registry()), left


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
