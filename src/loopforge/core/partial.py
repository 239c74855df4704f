"""Reading a string out of JSON that is still being written.

A mind that answers under a schema may speak aloud in one field of it; people see that field grow,
not the JSON. Knows only objects whose field is a string at the top level.
"""

from __future__ import annotations

import json
import re

_OPENING = r'"{}"\s*:\s*"'


def so_far(raw: str, field: str) -> str:
    """The part of the field's string that is already there; "" before it begins."""
    found = re.search(_OPENING.format(re.escape(field)), raw)
    if not found:
        return ""
    start = found.end()
    end = start
    while end < len(raw) and raw[end] != '"':
        end += 2 if raw[end] == "\\" else 1
    written = raw[start : min(end, len(raw))]
    for cut in range(7):  # an escape is at most six characters, and may be cut anywhere
        piece = written[: len(written) - cut]
        try:
            text: str = json.loads(f'"{piece}"', strict=False)
        except ValueError:
            continue
        return text[:-1] if "\ud800" <= text[-1:] <= "\udfff" else text
    return ""
