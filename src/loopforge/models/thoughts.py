"""Leaving out what a model thinks in its text: `<think>...</think>` before the answer.

Many servers of open models send thoughts inside the text. Only such a block at the very beginning
is a thought; the same words later are words. Pure; pieces may be cut anywhere.
"""

from __future__ import annotations

OPENING, CLOSING = "<think>", "</think>"


class Thoughts:
    """A filter for one answer: `feed` each piece, then take the `rest`."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "before"

    def feed(self, piece: str) -> str:
        """What may be heard now."""
        if self._state == "after":
            return piece
        if self._state == "trimming":
            return self._trimmed(piece)
        self._held += piece
        if self._state == "before":
            begun = self._held.lstrip()
            if begun.startswith(OPENING):
                self._state, self._held = "thinking", begun[len(OPENING) :]
            elif OPENING.startswith(begun):
                return ""  # it may still become a thought
            else:
                self._state, held, self._held = "after", self._held, ""
                return held
        _, closed, answer = self._held.partition(CLOSING)
        if not closed:
            self._held = self._held[-len(CLOSING) :]
            return ""
        self._state, self._held = "trimming", ""
        return self._trimmed(answer)

    def _trimmed(self, answer: str) -> str:
        answer = answer.lstrip()
        if answer:
            self._state = "after"
        return answer

    def rest(self) -> str:
        """What was held back and is no thought after all, once the answer has ended."""
        return self._held if self._state == "before" else ""
