"""The words of an answer that is still coming: of its whole text, or of one field of its form.

What is not for people (a thought, a brace, another field) is never among them, and what is shown
stays: it is the beginning of what is read in the end (malformed_answer.py). So of a form the words
are shown as they come where the form opens with them, behind a yes where it asks whether to speak,
and up to where they may end. Pure; each sign is looked at once, however the text comes in pieces.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from loopforge.core.text.json_repair import ESCAPED, WRAPPERS
from loopforge.core.text.malformed_answer import gate_of
from loopforge.core.text.thought_stripping import ThoughtFilter
from loopforge.core.text.tool_markup import before_calls

LONGEST_OPENING = 200
"""Signs within which the words of a form begin, or are not shown before they are all there."""
_RUN = re.compile(rf'(?:[^"\\]|{ESCAPED})*')
_ENDS = re.compile(r'"|\\[^u"\\/bfnrt]|\\u.{10}', re.DOTALL)


def _opening(gate: str, field: str) -> re.Pattern[str]:
    """How a form begins that opens with its words: in a fence, a list or another object, too."""
    before = rf'"{re.escape(gate)}"\s*:\s*true\s*,\s*' if gate else ""
    return re.compile(
        rf'\s*(?:```\w*\s*)?(?:\[\s*|\{{\s*"(?:{"|".join(WRAPPERS)})"\s*:\s*)*'
        rf'\{{\s*{before}"{re.escape(field)}"\s*:\s*"'
    )


class SpokenWords:
    """Feed it every piece. With a `schema`, the words are those of its `field`.

    `length` is how many characters the words have so far.
    """

    def __init__(self, schema: Mapping[str, Any] | None, field: str) -> None:
        self._opening = _opening(gate_of(schema, field), field) if schema and field else None
        self._formed = self._opening is not None
        self._thoughts, self._inner = ThoughtFilter(), ThoughtFilter()
        self._held = ""
        self._text: list[str] = []
        self._over = False
        self.length = 0

    def feed(self, piece: str) -> None:
        """More of it has come."""
        if self._over:
            return
        self._held += self._thoughts.feed(piece)
        if self._opening is not None:
            opening = self._opening.match(self._held)
            self._over = opening is None and len(self._held) > LONGEST_OPENING
            if opening is None:
                return
            self._opening, self._held = None, self._held[opening.end() :]
        words, self._held = self._read(self._held) if self._formed else (self._held, "")
        words = self._inner.feed(words) if self._formed else words
        if self._formed and not self._text and words.startswith("{"):
            self._over = True  # it may be a form once more, of which not all is said
        elif words:
            self._text.append(words)
            self.length += len(words)

    def _read(self, text: str) -> tuple[str, str]:
        """The words in a piece of JSON's string, and what of it takes more to be read."""
        run = _RUN.match(text)
        assert run is not None
        rest = text[run.end() :]
        self._over = bool(_ENDS.match(rest))
        return json.loads(f'"{run[0]}"', strict=False), rest

    @property
    def words(self) -> str:
        """The words as far as they may be shown: without half a sign, of which more is to come.

        From where a line may begin with a use of a tool they are shown when they are all there.
        """
        words = before_calls("".join(self._text))
        return words[:-1] if "\ud800" <= words[-1:] <= "\udbff" else words
