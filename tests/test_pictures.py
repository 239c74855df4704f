"""The pictures of the README: there, small, and described; and the packing that makes them small."""

import re
import struct
import zlib
from pathlib import Path

from docs.palette import HEAD, small

ROOT = Path(__file__).parent.parent
PICTURE = re.compile(r"!\[([^\]]*)\]\((docs/images/[^)]+)\)")


def test_the_readme_shows_small_pictures_in_words_too() -> None:
    """Each picture of the README exists, weighs less than 150 kB, and is described in a sentence."""
    shown = PICTURE.findall((ROOT / "README.md").read_text("utf-8"))
    assert len(shown) >= 2
    for words, path in shown:
        assert len(words) >= 40, words
        assert (ROOT / path).read_bytes().startswith(HEAD)
        assert (ROOT / path).stat().st_size < 150_000, path


def part(name: bytes, data: bytes) -> bytes:
    """A part of a PNG."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def test_a_picture_of_few_colours_loses_nothing() -> None:
    """Whatever filter each row was written with, each pixel keeps its colour."""
    rows = [bytes((n * 40 + at) % 256 for at in range(12)) for n in range(5)]
    raw = b"".join(bytes([kind]) + filtered(kind, rows, kind) for kind in range(5))
    head = struct.pack(">IIBBBBB", 4, 5, 8, 2, 0, 0, 0)
    png = HEAD + part(b"IHDR", head) + part(b"IDAT", zlib.compress(raw)) + part(b"IEND", b"")
    packed = small(png)
    palette = between(packed, b"PLTE")
    drawn = zlib.decompress(between(packed, b"IDAT"))
    for n, row in enumerate(rows):
        numbers = drawn[n * 5 + 1 : n * 5 + 5]
        assert b"".join(palette[at * 3 : at * 3 + 3] for at in numbers) == row


def test_a_soft_ground_becomes_plain_bands() -> None:
    """With a grain each channel is rounded to its multiples, and never by more than half of it."""
    row = bytes(range(60, 72))
    head = struct.pack(">IIBBBBB", 4, 1, 8, 2, 0, 0, 0)
    png = HEAD + part(b"IHDR", head) + part(b"IDAT", zlib.compress(b"\0" + row))
    packed = small(png, 4)
    palette = between(packed, b"PLTE")
    numbers = zlib.decompress(between(packed, b"IDAT"))[1:]
    drawn = b"".join(palette[at * 3 : at * 3 + 3] for at in numbers)
    assert all(value % 4 == 0 for value in drawn)
    assert max(abs(one - other) for one, other in zip(drawn, row, strict=True)) <= 2


def filtered(kind: int, rows: list[bytes], n: int) -> bytes:
    """A row as PNG writes it with this filter."""
    row, above = rows[n], rows[n - 1] if n else bytes(12)
    made = bytearray()
    for at, value in enumerate(row):
        left, corner = (row[at - 3], above[at - 3]) if at >= 3 else (0, 0)
        up = above[at]
        near = left + up - corner
        paeth = min((left, up, corner), key=lambda one: abs(near - one))
        made.append((value - (0, left, up, (left + up) // 2, paeth)[kind]) & 255)
    return bytes(made)


def between(png: bytes, name: bytes) -> bytes:
    """The data of a part."""
    at = png.index(name)
    size: int = struct.unpack(">I", png[at - 4 : at])[0]
    return png[at + 4 : at + 4 + size]
