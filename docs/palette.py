"""Make a PNG small: 256 colours at most, packed tightly. Knows PNGs as browsers write them.

A picture of a page has few colours that matter and thousands between them, at the edges of
letters; those are drawn towards the nearest of the ones that are used most.
"""

import struct
import zlib
from collections import Counter
from collections.abc import Iterator

HEAD = b"\x89PNG\r\n\x1a\n"
COLOURS = 256
Pixel = tuple[int, ...]


def small(png: bytes, grain: int = 1) -> bytes:
    """The same picture, smaller. Wants 8 bits in each of three or four channels, not interlaced.

    With a `grain` channels are first rounded to its multiples: a soft ground, which browsers strew
    with noise, becomes a few plain bands.
    """
    parts = list(_parts(png))
    width, height, depth, kind, _, _, laced = struct.unpack(">IIBBBBB", parts[0][1])
    assert (depth, laced) == (8, 0), "a PNG as browsers write it"
    channels = {2: 3, 6: 4}[kind]
    raw = zlib.decompress(b"".join(data for name, data in parts if name == b"IDAT"))
    rows = list(_rows(raw, width * channels, channels))
    rounded = bytes(min(255, (value + grain // 2) // grain * grain) for value in range(256))
    rows = [row.translate(rounded) for row in rows]
    pixels = [row[at : at + 3] for row in rows for at in range(0, len(row), channels)]
    counts = Counter(pixels)
    chosen = [tuple(one) for one, _ in counts.most_common(COLOURS)]
    near = {one: _nearest(tuple(one), chosen) for one in counts}
    lines = bytearray()
    for at in range(0, width * height, width):
        lines += b"\0" + bytes(near[one] for one in pixels[at : at + width])
    return HEAD + b"".join(
        _part(name, data)
        for name, data in (
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            (b"PLTE", bytes(value for one in chosen for value in one)),
            (b"IDAT", zlib.compress(bytes(lines), 9)),
            (b"IEND", b""),
        )
    )


def _nearest(one: Pixel, chosen: list[Pixel]) -> int:
    red, green, blue = one
    return min(
        range(len(chosen)),
        key=lambda n: (
            3 * (chosen[n][0] - red) ** 2
            + 6 * (chosen[n][1] - green) ** 2
            + (chosen[n][2] - blue) ** 2
        ),
    )


def _parts(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(HEAD)
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at : at + 8])
        yield name, png[at + 8 : at + 8 + size]
        at += size + 12


def _part(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _rows(raw: bytes, size: int, step: int) -> Iterator[bytes]:
    """Each row, with the filter of PNG taken off it."""
    above = bytearray(size)
    for at in range(0, len(raw), size + 1):
        kind, row = raw[at], bytearray(raw[at + 1 : at + 1 + size])
        if kind == 2:
            row = bytearray((one + up) & 255 for one, up in zip(row, above, strict=True))
        elif kind:
            for n in range(size):
                left = row[n - step] if n >= step else 0
                corner = above[n - step] if n >= step else 0
                row[n] = (row[n] + _guess(kind, left, above[n], corner)) & 255
        yield bytes(row)
        above = row


def _guess(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 1:
        return left
    if kind == 3:
        return (left + up) // 2
    near = left + up - corner
    return min((left, up, corner), key=lambda one: abs(near - one))
