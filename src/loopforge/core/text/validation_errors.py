"""What does not fit into a table that people write, in plain words; and what would.

msgspec names the key and what it holds, in words for programmers. Here the key comes first, and
where that is a word of a closed list, or a key that is not known, those that are. Knows no file.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import get_args, get_type_hints

from msgspec import Struct
from msgspec.structs import fields

_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text in quotes",
    "bool": "true or false",
    "array": "a list in brackets",
    "object": "a table",
    "null": "nothing",
}
"""What TOML's types are called, by msgspec's names."""
_TYPE = re.compile(r"Expected `([a-z |]+)`(.*)")
_LACKS = re.compile(r"Object missing required field (`\w+`)")
_STRANGE = re.compile(r"Object contains unknown field (`.*`)", re.DOTALL)
_NTH = re.compile(r"(\w+)\[(\d+)\]\.?(.*)")


Called = Mapping[str, tuple[str, object]]
NONE: Called = MappingProxyType({})


def explain_validation_error(error: Exception, *tables: type[Struct], many: Called = NONE) -> str:
    """What does not fit into these tables; for an unknown word or key, with those that are known.

    The first of the tables is the one that was read. `many` says of its lists of tables what one of
    them is called where it is written, and what was written there: with {"cups": ("cup", cups)} the
    first of `cups` is "cup 1", and its name where it has one.
    """
    problem, _, path = str(error).partition(" - at `$")
    path, inner = path.rstrip("`").lstrip("."), path.endswith("[...]`")
    path = path.replace("[...]", "")
    if strange := _STRANGE.fullmatch(problem):
        known = _keys(path, tables[0])
        problem = f"there is no key {strange[1]}"
        problem += f"; known are {', '.join(known)}" if known else ""
    elif "enum" in problem:
        at = path.rpartition(".")[2].rstrip("]0123456789[")
        hints = [get_type_hints(table).get(at) for table in tables]
        words = next((found for hint in hints if (found := _words(hint))), [])
        problem = problem.replace("Invalid enum value ", "it cannot be ")
        problem += f"; it is one of {', '.join(words)}" if words else ""
    elif lacks := _LACKS.fullmatch(problem):
        problem = f"{lacks[1]} is missing"
    elif wanted := _TYPE.fullmatch(problem):
        problem = f"it must be {_called(wanted[1])}{_found(wanted[2])}"
    if not path:
        return problem
    where = _placed(path, many)
    if inner:
        where = f"each value in {where}"
    of_it = problem.startswith("it ")
    return f"{where} {problem.removeprefix('it ')}" if of_it else f"{where}: {problem}"


def _called(types: str) -> str:
    """Types in words: "int | null" is "a whole number or nothing"."""
    return " or ".join(_WORDS.get(name, name) for name in types.split(" | "))


def _found(rest: str) -> str:
    """What was there instead, or the bound that does not hold."""
    got = re.fullmatch(r", got `(\w+)`", rest)
    if got:
        return f", not {_WORDS.get(got[1], got[1])}"
    length = re.fullmatch(r" of length (\d+)(?:, got (\d+))?", rest)
    return f" of {length[1]}, not of {length[2]}" if length and length[2] else rest


def _placed(path: str, many: Called) -> str:
    """Where it stands, in the words of the file: "whistles[1].pitch" is "whistle 2, `pitch`"."""
    nth = _NTH.fullmatch(path)
    if nth is None or nth[1] not in many:
        return f"`{path}`"
    called, written = many[nth[1]]
    here = written[int(nth[2])] if isinstance(written, list) else None
    name = here.get("name") if isinstance(here, dict) else None
    named = f" ({name[:40]})" if isinstance(name, str) else ""
    return f"{called} {int(nth[2]) + 1}{named}" + (f", `{nth[3]}`" if nth[3] else "")


def _words(hint: object) -> list[str]:
    """The words of a Literal, or of those within."""
    inner = [arg for arg in get_args(hint) if arg not in (..., type(None))]
    return [word for arg in inner for word in (_words(arg) or [str(arg)])]


def _keys(path: str, table: type[Struct]) -> list[str]:
    """The keys of the table that lies at this path within another; nothing where none does."""
    found: type[Struct] | None = table
    for name in re.findall(r"(?:^|\.)(\w+)", path):
        types = {each.encode_name: each.type for each in fields(found)} if found else {}
        found = _table(types.get(name))
    return [each.encode_name for each in fields(found)] if found else []


def _table(hint: object) -> type[Struct] | None:
    """The table that a hint names, or one within."""
    if isinstance(hint, type) and issubclass(hint, Struct):
        return hint
    return next((found for arg in get_args(hint) if (found := _table(arg))), None)
