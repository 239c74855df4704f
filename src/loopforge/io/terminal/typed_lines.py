"""What comes in by a keyboard, a clipboard or a pipe, made into text a room can take.

`strip_terminal_controls` takes out what is no text and says so; `safe_for_terminal` does the same
for what others wrote, on its way to a screen. `LineSplitter` cuts bytes into lines and never holds
more than one line's limit.

Pure: bytes and strings in, strings out. How long a line may be in a room is the room's to say.
"""

import re
import unicodedata
from collections.abc import Iterator

from msgspec import Struct

from loopforge.core.text.name_labels import truncate_text

LONGEST = 256 * 1024
"""Bytes of one line from a pipe; far above what a room takes, and far below a frame."""

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor moves
    r"|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links, and other strings
    r"|[ -/]*[0-~])?"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_BENDING = re.compile(r"[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
"""Marks that turn the direction of text around; on a screen they can make words lie."""

REMOVED = "control characters were taken out"
REPLACED = "bytes that are no UTF-8 were replaced"


class TypedLine(Struct, frozen=True, kw_only=True):
    """One line that came in; lines count from 1. `notes` say what had to be changed in it.

    `lost`: so many bytes were too much; they are gone, and the next line is whole.
    """

    number: int
    text: str = ""
    notes: tuple[str, ...] = ()
    lost: int = 0


def strip_terminal_controls(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without terminal escapes and control characters (but tab and newline), and notes."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    left = _CONTROLS.sub("", _ESCAPES.sub("", text))
    return left, (REMOVED,) if left != text else ()


def safe_for_terminal(text: str) -> str:
    """Somebody's text, such that printing it changes nothing but what stands there."""
    return _BENDING.sub("", strip_terminal_controls(text)[0]).expandtabs(4)


def one_line(text: str, most: int) -> str:
    """A text on one line, at most so many characters of it."""
    return truncate_text(" ".join(safe_for_terminal(text).split()), most)


def is_blank_text(text: str) -> bool:
    """Whether nobody would see anything of it."""
    return all(unicodedata.category(letter) in ("Cf", "Zs", "Cc", "Zl", "Zp") for letter in text)


class LineSplitter:
    """Bytes in, lines out: `feed` each piece, then `finish`."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._rest = bytearray()
        self._number = 1
        self._lost = 0

    def feed(self, data: bytes) -> Iterator[TypedLine]:
        """Every line that is complete now."""
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._hold(piece)
            yield self._line()
        self._hold(rest)

    def finish(self) -> Iterator[TypedLine]:
        """The last line, if it had no newline."""
        if self._rest or self._lost:
            yield self._line()

    def _hold(self, piece: bytes) -> None:
        if self._lost:
            self._lost += len(piece)
        elif len(self._rest) + len(piece) > self._longest:
            self._lost = len(self._rest) + len(piece)
            self._rest.clear()
        else:
            self._rest += piece

    def _line(self) -> TypedLine:
        number, lost, held = self._number, self._lost, bytes(self._rest).removesuffix(b"\r")
        self._number += 1
        self._lost = 0
        self._rest.clear()
        if lost:
            return TypedLine(number=number, lost=lost)
        text = held.decode("utf-8", "replace")
        text, notes = strip_terminal_controls(text)
        if "\ufffd" in text and "\ufffd".encode() not in held:
            notes = (REPLACED, *notes)
        return TypedLine(number=number, text=text, notes=notes)
