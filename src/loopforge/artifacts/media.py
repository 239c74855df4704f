"""What bytes are, by looking at them: never by a name, never by what somebody says they are.

A table of the first bytes of common kinds, and one question: is it text? Everything else is
`application/octet-stream`. A drawing in SVG or a page in HTML is text here, so that no browser is
ever told to run it.
"""

from __future__ import annotations

import codecs
import re

TEXT = "text/plain"
BYTES = "application/octet-stream"

SIGNS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"%PDF-\d"), "application/pdf"),
)
"""How a file of each kind begins."""

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What a browser shows by itself, in a line or alone; everything else is only handed over."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Marks of an encoding at the beginning of a text, and the encoding."""


def media_of(data: bytes) -> str:
    """The type of these bytes, such as "image/png"."""
    for sign, media in SIGNS:
        if sign.match(data):
            return media
    return BYTES if _decoded(data) is None else TEXT


def read_text(data: bytes, limit: int) -> str | None:
    """The text these bytes are, if they are one of at most `limit` bytes in UTF-8; else None.

    UTF-8, with its mark or without, and UTF-16 with its mark. What holds a NUL is no text.
    """
    if any(sign.match(data) for sign, _ in SIGNS):
        return None
    text = _decoded(data)
    if text is None or len(text.encode()) > limit:
        return None
    return text


def _decoded(data: bytes) -> str | None:
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
