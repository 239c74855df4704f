"""What bytes are, by looking at them: never by a name, never by what somebody says they are.

A table of the first bytes of common kinds, and two questions: is it text, and how large is the
picture? Everything else is
`application/octet-stream`. A drawing in SVG or a page in HTML is text here, so that no browser is
ever told to run it.
"""

import codecs
import re
from struct import error as struct_error
from struct import unpack_from

from loopforge.core.text.document_kinds import DOCX, PDF, PPTX, XLSX

TEXT = "text/plain"
BYTES = "application/octet-stream"

SIGNS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"OggS"), "audio/ogg"),
    (re.compile(rb"ID3|\xff[\xf2\xf3\xfa\xfb]"), "audio/mpeg"),
    (re.compile(rb"RIFF.{4}WAVE", re.DOTALL), "audio/wav"),
    (re.compile(rb"fLaC"), "audio/flac"),
    (re.compile(rb"#!AMR"), "audio/amr"),
    (re.compile(rb"\xff[\xf0\xf1\xf8\xf9]"), "audio/aac"),
    (re.compile(rb"FORM.{4}AIF[FC]", re.DOTALL), "audio/aiff"),
    (re.compile(rb".{4}ftypavi[fs]", re.DOTALL), "image/avif"),
    (re.compile(rb".{4}ftyp(?:mi|ms)f1|.{4}ftyphe[iv][cmsx]", re.DOTALL), "image/heic"),
    (re.compile(rb".{4}ftyp", re.DOTALL), "audio/mp4"),
    (re.compile(rb"\x1a\x45\xdf\xa3"), "audio/webm"),
    (re.compile(rb"(?:\xef\xbb\xbf)?\s{0,99}%PDF-\d"), PDF),
    (re.compile(rb"PK\x03\x04"), BYTES),
)
"""How a file of each kind begins."""
MOVING = {"audio/mp4": re.compile(rb"vide"), "audio/webm": re.compile(rb"V_(?:VP|AV1|MPEG)")}
"""What a file that may be sound alone holds where it is a film."""
PACKED = ((b"word/document.xml", DOCX), (b"ppt/presentation.xml", PPTX), (b"xl/workbook.xml", XLSX))
"""A name of a part that a packed document of each kind has."""

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What a browser shows by itself, in a line or alone; everything else is only handed over."""
SOUNDS = frozenset(f"audio/{kind}" for kind in ("ogg", "mpeg", "wav", "flac", "mp4", "webm"))
"""What a browser plays by itself; a model that hears may be given other kinds, too."""
SPOKEN_FILM = "audio/mp4"
"""What the film of a video note is taken for, so that it is listened to; its name says .mp4."""

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
            if media in MOVING and MOVING[media].search(data):
                return media.replace("audio", "video")
            packed = (kind for name, kind in PACKED if name in data)
            return next(packed, media) if media == BYTES else media
    return BYTES if _decoded(data) is None else TEXT


def sides_of(data: bytes) -> tuple[int, int]:
    """Width and height of a picture in pixels, as its head says; (0, 0) where that says nothing."""
    try:
        match media_of(data[:_HEAD]):
            case "image/png":
                return _png(data)
            case "image/gif":
                return unpack_from("<HH", data, 6)
            case "image/jpeg":
                return _jpeg(data)
            case "image/webp":
                return _webp(data)
    except struct_error:  # it ends within its head
        pass
    return (0, 0)


_HEAD = 16
"""Bytes that tell a picture's kind."""
_SEGMENTS = 10_000
"""Segments, and bytes of filling, that may stand before a frame: someone else's rooms wait."""
_NO_SIZES = frozenset({0xC4, 0xC8, 0xCC})
"""Markers of JPEG among those of frames that begin no frame."""


def _png(data: bytes) -> tuple[int, int]:
    width, height = unpack_from(">II", data, 16)
    return (width, height) if data[12:16] == b"IHDR" else (0, 0)


def _jpeg(data: bytes) -> tuple[int, int]:
    """From the first frame's head; what stands before it is passed over, segment by segment."""
    at = 2
    for _ in range(_SEGMENTS):
        sign, marker, length = unpack_from(">BBH", data, at)
        if sign != 0xFF:
            return (0, 0)
        if marker == 0xFF:  # filling
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_SIZES:
            height, width = unpack_from(">HH", data, at + 5)
            return (width, height)
        else:
            at += 2 + length
    return (0, 0)


def _webp(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8X":
            low, high, other, top = unpack_from("<HBHB", data, 24)
            return (low + (high << 16) + 1, other + (top << 16) + 1)
        case b"VP8L":
            (bits,) = unpack_from("<I", data, 21)
            return ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8 ":
            width, height = unpack_from("<HH", data, 26)
            return (width & 0x3FFF, height & 0x3FFF)
    return (0, 0)


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
