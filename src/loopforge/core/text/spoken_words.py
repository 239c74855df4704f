"""The words of an answer that is still coming: of its whole text, or of one field of its form.

What is not for people (a thought, a brace, another field) is never among them. Pure; each sign is
looked at once, however the text comes in pieces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopforge.core.text.lenient_json import gate_of
from loopforge.core.text.partial_json import Partial
from loopforge.core.text.thought_stripping import Thoughts


class SpokenWords:
    """Feed it every piece. With a `schema`, the words are those of its `field`."""

    def __init__(self, schema: Mapping[str, Any] | None, field: str) -> None:
        formed = schema is not None and field
        self._form = Partial(field, gate_of(schema or {}, field)) if formed else None
        self._thoughts = Thoughts()
        self._text: list[str] = []
        self._length = 0

    def feed(self, piece: str) -> None:
        """More of it has come."""
        if self._form is not None:
            self._form.feed(piece)
        elif plain := self._thoughts.feed(piece):
            self._text.append(plain)
            self._length += len(plain)

    @property
    def length(self) -> int:
        """Characters of the words so far, shown or not."""
        return self._length if self._form is None else self._form.length

    @property
    def words(self) -> str:
        """The words as far as they may be shown."""
        return "".join(self._text) if self._form is None else self._form.words
