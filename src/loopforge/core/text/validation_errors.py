"""What does not fit into a table that people write, in the words of msgspec; and what would.

msgspec names the key and what it holds. Where that is a word of a closed list, or a key that is not
known, it does not say which there are, so this does. Knows no file.
"""

import re
from typing import get_args, get_type_hints

from msgspec import Struct
from msgspec.structs import fields


def unfit(error: Exception, *tables: type[Struct]) -> str:
    """What does not fit into these tables; for an unknown word or key, with those that are known.

    The first of the tables is the one that was read.
    """
    said = str(error)
    if "unknown field" in said and (known := _keys(said.partition("`$")[2], tables[0])):
        return f"{said}; known are {', '.join(known)}"
    at = said.rpartition(".")[2].rstrip("`]0123456789[")
    hints = [get_type_hints(table).get(at) for table in tables]
    words = next((found for hint in hints if (found := _words(hint))), [])
    return f"{said}; it is one of {', '.join(words)}" if "enum" in said and words else said


def _words(hint: object) -> list[str]:
    """The words of a Literal, or of those within."""
    inner = [arg for arg in get_args(hint) if arg not in (..., type(None))]
    return [word for arg in inner for word in (_words(arg) or [str(arg)])]


def _keys(path: str, table: type[Struct]) -> list[str]:
    """The keys of the table that lies at this path within another; nothing where none does."""
    found: type[Struct] | None = table
    for name in re.findall(r"\.(\w+)", path):
        types = {each.encode_name: each.type for each in fields(found)} if found else {}
        found = _table(types.get(name))
    return [each.encode_name for each in fields(found)] if found else []


def _table(hint: object) -> type[Struct] | None:
    """The table that a hint names, or one within."""
    if isinstance(hint, type) and issubclass(hint, Struct):
        return hint
    return next((found for arg in get_args(hint) if (found := _table(arg))), None)
