"""Texts in PNG files: read from their tEXt chunks, and put into one.

A PNG is a signature and chunks: four bytes of length, four of type, the data, and a CRC over type
and data. Only tEXt is read; what is packed (zTXt, iTXt) is left alone, so nothing can unfold.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping

from loopforge.errors import InputError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_CHUNKS = 20_000
_DAMAGED = "This picture is damaged: it ends early, or its parts do not agree with their checksums."


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The type of each chunk, and where its data begins and ends."""
    at = len(SIGNATURE)
    for _ in range(MOST_CHUNKS):
        if at + 12 > len(data):
            break
        (size,) = struct.unpack_from(">I", data, at)
        kind, begin = data[at + 4 : at + 8], at + 8
        if begin + size + 4 > len(data):
            break
        yield kind, begin, begin + size
        if kind == b"IEND":
            return
        at = begin + size + 4
    raise InputError(_DAMAGED)


def texts(data: bytes) -> dict[str, bytes]:
    """What the tEXt chunks of a PNG hold, by keyword; the first where two have one.

    Raises InputError for a picture that is damaged.
    """
    found: dict[str, bytes] = {}
    for kind, begin, end in _chunks(data):
        if kind != b"tEXt":
            continue
        keyword, _, text = data[begin:end].partition(b"\0")
        if zlib.crc32(kind + data[begin:end]) != struct.unpack_from(">I", data, end)[0]:
            raise InputError(_DAMAGED)
        found.setdefault(keyword.decode("latin-1"), text)
    return found


def with_texts(data: bytes, added: Mapping[str, bytes]) -> bytes:
    """A PNG with further texts, by keyword, before its end."""
    end = next(begin - 8 for kind, begin, _ in _chunks(data) if kind == b"IEND")
    new = b"".join(_chunk(keyword.encode("latin-1") + b"\0" + t) for keyword, t in added.items())
    return data[:end] + new + data[end:]


def _chunk(body: bytes) -> bytes:
    kind = b"tEXt"
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
