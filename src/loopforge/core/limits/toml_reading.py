"""TOML that a stranger may have written, as tables: in bounded work, of numbers that can be told.

    toml_of('branch = "main"')  ->  {"branch": "main"}

Knows no table. How large a text may be, whoever reads the file knows (home_files.py).
"""

import tomllib
from typing import Any

MOST_DOTS, MOST_IN_LINE = 20_000, 1_000
"""Dots, in all and in a line: reading a dotted key takes the square of its parts."""
WIDEST = 64
"""Bits of a whole number, as TOML has them; one of thousands cannot even be shown."""


def toml_of(text: str) -> dict[str, Any]:
    """The tables of a text. Raises ValueError, which says what is wrong with it."""
    if text.count(".") > MOST_DOTS or any(
        line.count(".") > MOST_IN_LINE for line in text.split("\n")
    ):
        raise ValueError(f"it has more than {MOST_DOTS:,} dots, or {MOST_IN_LINE:,} in a line")
    try:
        found = tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise ValueError("it has tables or lists within each other, too deep to be read") from None
    held: list[Any] = [found]
    while held:
        match held.pop():
            case dict() as table:
                held += table.values()
            case list() as rows:
                held += rows
            case int() as number if number.bit_length() >= WIDEST:
                raise ValueError("a whole number in it is larger than any that is read")
    return found
