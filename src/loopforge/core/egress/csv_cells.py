r"""Tables as CSV, of which a spreadsheet reads no cell as a formula.

    {"who": "=1+1", "much": -3}  ->  'who,much\n' "'=1+1,-3\n"

What a stranger or a model wrote may begin with a sign by which Excel, LibreOffice and Google Sheets
know a formula, which can send a table elsewhere. As OWASP advises, an apostrophe is put before
such a text; numbers, and texts that are one, stay as they are. Does not cover a spreadsheet that
is told to part cells by something else than commas.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?%?", re.IGNORECASE | re.ASCII)


class _Line:
    """What csv writes into, which gives it back."""

    def write(self, line: str) -> str:
        """The line; csv puts quotation marks around both signs that it ends lines with itself."""
        return line.removesuffix("\r\n") + "\n"


def csv_lines(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The lines of a table, its columns' names first; what a row has not, or is None, is empty."""
    writer = csv.writer(_Line())
    yield str(writer.writerow([harmless(name) for name in columns]))
    for row in rows:
        yield str(writer.writerow([harmless(row.get(name)) for name in columns]))


def harmless(value: Any) -> Any:
    """A value of a cell; a text that would be a formula with an apostrophe before it."""
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value
