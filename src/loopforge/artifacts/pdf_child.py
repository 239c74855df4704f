"""Taking the words out of a PDF: a program that `pdf_extract.py` starts and holds to limits.

    python -I pdf_child.py MOST PAGES SECONDS MEMORY WALL < a.pdf > told.json

MOST bytes of text at most, PAGES at most, SECONDS of a processor, MEMORY bytes of address space,
WALL seconds altogether. It confines itself before it looks at the first byte, and when half of its
time is used it tells what it has until there. It knows nothing of Loopforge, so that it starts
quickly and nothing of a home is in its memory. Does not cover: pictures of words, what was filled
into forms, notes, attachments within a PDF.
"""

from __future__ import annotations

import io
import json
import logging
import resource
import signal
import sys
from typing import TYPE_CHECKING, NamedTuple, NoReturn

if TYPE_CHECKING:
    from pypdf import PdfReader

_AROUND = 80
"""Bytes that the mark at the end may take."""
_STATES = {"": "without text", "heavy": "too much to be read", "damaged": "damaged"}


class ExtractedText(NamedTuple):
    """What it finds: as Reading in `pdf_extract.py`."""

    pages: int
    text: str
    unread: str


class LimitReached(BaseException):
    """Half of its time is used: tell what was found until here."""


def confine(what: int, limit: int, soft: int | None = None) -> None:
    """Set a limit for this process, or a lower one that it has already."""
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(what, (limit if soft is None else min(soft, limit), limit))


def hurry(_number: int, _frame: object) -> NoReturn:
    """The first signal of a clock: of the processor's, the next one kills; else who waits does."""
    unhurried()
    raise LimitReached


def unhurried() -> None:
    """From now on it may use the other half."""
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)


def look(data: bytes, most: int, pages: int) -> ExtractedText:
    """Read a PDF: at most so many bytes of text, of so many pages."""
    from pypdf import PdfReader
    from pypdf.errors import LimitReachedError

    heavy = (MemoryError, RecursionError, LimitReachedError)
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return ExtractedText(0, "", "protected")
        count = len(reader.pages)
    except heavy:
        return ExtractedText(0, "", "heavy")
    except NotImplementedError:  # a protection that pypdf does not know
        return ExtractedText(0, "", "protected")
    except Exception:  # whatever somebody made of the bytes
        return ExtractedText(0, "", "damaged")
    return _read(reader, count, most, pages, heavy)


def _read(
    reader: PdfReader, count: int, most: int, pages: int, heavy: tuple[type[Exception], ...]
) -> ExtractedText:
    """The text of its pages, one after the other, as far as limits go."""
    parts: list[str] = []
    left, last, found, trouble = most - _AROUND, 0, False, ""
    if left < 0:
        return ExtractedText(count, "", "")
    try:
        while last < min(count, pages) and left >= 0:
            state, text = _page(reader, last, heavy)
            last += 1
            trouble, found = trouble or state, found or bool(text)
            said = "" if text else f": {_STATES[state]}"
            raw = f"[page {last} of {count}{said}]\n{text}".encode("utf-8", "replace")
            parts.append(raw[:left].decode("utf-8", "ignore"))
            left -= len(raw)
    except LimitReached:
        trouble = "heavy"
    if not found:
        return ExtractedText(count, "", trouble or ("scanned" if count else "damaged"))
    if left < 0 or last < count:
        parts.append(f"\n[cut here, at page {last} of {count}]")
    return ExtractedText(count, "".join(parts), "")


def _page(reader: PdfReader, nth: int, heavy: tuple[type[Exception], ...]) -> tuple[str, str]:
    """What is wrong with a page, and its text with a line's end, if there are words in it."""
    try:
        text = reader.pages[nth].extract_text().strip()
    except heavy:
        return "heavy", ""
    except Exception:
        return "damaged", ""
    return "", f"{text}\n" if any(map(str.isalnum, text)) else ""


def main() -> None:
    """Read what comes in, say what it holds."""
    most, pages, seconds, memory = map(int, sys.argv[1:5])
    signal.signal(signal.SIGXCPU, hurry)
    signal.signal(signal.SIGALRM, hurry)
    confine(resource.RLIMIT_CORE, 0)
    confine(resource.RLIMIT_CPU, seconds, (seconds + 1) // 2)
    confine(resource.RLIMIT_AS, memory)
    logging.disable()
    try:
        signal.setitimer(signal.ITIMER_REAL, float(sys.argv[5]) / 2)
        import pypdf  # noqa: F401  # before files are out of bounds: the first time it is compiled

        confine(resource.RLIMIT_FSIZE, 0)
        told = look(sys.stdin.buffer.read(), most, pages)
        unhurried()
    except (MemoryError, LimitReached):
        told = ExtractedText(0, "", "heavy")
    sys.stdout.buffer.write(json.dumps(told._asdict()).encode())


if __name__ == "__main__":
    main()
