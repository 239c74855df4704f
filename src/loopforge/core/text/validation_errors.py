"""What does not fit into a table that people write, in the words of msgspec; and what would.

msgspec names the key and what it holds. Where that is a word of a closed list it does not say which
there are, so this does. Knows no file and no key.
"""

from __future__ import annotations

from typing import get_args, get_type_hints

from msgspec import Struct


def unfit(error: Exception, *tables: type[Struct]) -> str:
    """What does not fit into these tables; for an unknown word, with those that are known."""
    said = str(error)
    at = said.rpartition(".")[2].rstrip("`]0123456789[")
    hints = [get_type_hints(table).get(at) for table in tables]
    words = next((found for hint in hints if (found := _words(hint))), [])
    return f"{said}; it is one of {', '.join(words)}" if "enum" in said and words else said


def _words(hint: object) -> list[str]:
    """The words of a Literal, or of those within."""
    inner = [arg for arg in get_args(hint) if arg not in (..., type(None))]
    return [word for arg in inner for word in (_words(arg) or [str(arg)])]
