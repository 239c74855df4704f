"""Whether an answer fits the JSON schema it was asked for. Pure."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from loopforge.core.text.json_repair import JsonRepair


def parse_json_answer(text: str, *, lenient: bool = False) -> Any:
    """The JSON in a text. Raises ValueError.

    `lenient` also takes it out of a code fence, or from the words around it, and as models write it
    (a comma too many, other quotation marks), if it came to its end.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the answer is nested too deeply") from None
    except ValueError:
        if not lenient:
            raise
    fenced = (found.end() for found in re.finditer(r"```(?:json)?\s*\n(?={)", text))
    for start in (text.find("{"), *fenced):
        with suppress(ValueError, RecursionError):
            return json.JSONDecoder().raw_decode(text, start)[0]
    loose = JsonRepair(text, "")
    if loose.outermost is not None and loose.closed:
        return loose.outermost
    raise ValueError("there is no JSON object in the answer")


def schema_violation(schema: Mapping[str, Any], value: Any, *, lengths: bool = True) -> str:
    """What is wrong with a value, in the words of its schema and none of its own; "" when it fits.

    Without `lengths`, a string may be shorter or longer than the schema says (services that cannot
    hold a model to a length are only told of it).
    """
    from jsonschema.exceptions import best_match  # type: ignore[import-untyped]

    found = best_match(_validator(lengths=lengths)(schema).iter_errors(value))
    if found is None:
        return ""
    where = "".join(f"[{step!r}]" for step in found.absolute_path)
    match found.validator:
        case "required":
            lacking = [name for name in found.validator_value if name not in found.instance]
            wrong = f"it lacks {', '.join(lacking)}"
        case "additionalProperties":
            wrong = "it has a key that was not asked for"
        case _:
            wrong = f"{found.validator} is {found.validator_value!r}"
    return f"the answer{where} does not fit: {wrong}"


@cache
def _validator(*, lengths: bool) -> Any:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
    from jsonschema.validators import extend  # type: ignore[import-untyped]

    if lengths:
        return Draft202012Validator
    return extend(Draft202012Validator, {"minLength": None, "maxLength": None})
