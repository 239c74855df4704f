"""Portraits: small pixel faces, always the same for one seed, drawn in one colour's shades.

One grid of eight by eight for every surface: pages write it as SVG, platforms as PNG, terminals as
half blocks. Pure: it gives colours; who draws them decides how.
"""

import colorsys
import hashlib

Pixel = str | None
"""A colour as "#rrggbb", or None where nothing is."""

_HEAD = (
    "        ",
    "  SSSS  ",
    " SSSSSS ",
    " SSSSSS ",
    " SSSSSS ",
    " SSSSSS ",
    " SSSSSS ",
    "  SSSS  ",
)
_HAIR = (
    ("  HHHH  ", " HHHHHH ", " HHHHHH "),  # short
    ("  HHHH  ", " HHHHHH ", "HHHHHHHH", "HH    HH", "HH    HH", "HH    HH", "H      H"),  # long
    ("   HH   ", "  HHHH  ", " HHHHHH ", "HHHHHHHH"),  # a pointed hat
    ("  H HH  ", " HHHHHH ", " H HH H "),  # a fringe
    (" H    H ", " HHHHHH ", " HHHHHH "),  # ears
    ("  HHHH  ", "HHHHHH  ", "HHHHHHH ", "HHH   H ", "H       "),  # to one side
    ("   HH   ", " HHHHHH ", "HHHHHHHH"),  # a bun
    (" HHHHHH ", "HHHHHHHH", "HHHHHHHH", "HH    HH", "H      H"),  # curls
    ("    H   ", "   H    ", "  HHHH  "),  # a tuft
    ("  HHHH  ", " HHHHHH ", " AAAAAA "),  # a band
)
_EYES = (
    ("  E  E  ",),
    ("  E  E  ", "        "),
    (" WE  WE ",),
    (" EE  EE ",),
    (" AAAAAA ", "  E  E  "),
    ("  E  EE ",),
)
_MOUTHS = (
    ("        ", "   MM   "),
    ("        ", "  M  M  ", "   MM   "),
    (" B    B ", "  MMMM  "),
    ("        ", "   M    "),
    (" H HH H ", " HHMMHH ", "  HHHH  "),
    (" B    B ", "   MM   "),
)


_SALT = b"portrait 91641\x1f"
"""Of very many the one that gives Merlin a hat and a beard, and Zuzu ears and a mask."""


def face_rows(seed: str) -> list[str]:
    """Eight rows of eight letters, each a kind of ink (see `ink_shades`) or a space."""
    roll = hashlib.sha256(_SALT + seed.encode("utf-8", "replace")).digest()
    rows = [list(row) for row in _HEAD]
    _lay(rows, _MOUTHS[roll[2] % len(_MOUTHS)], 5)
    _lay(rows, _EYES[roll[1] % len(_EYES)], 4)
    _lay(rows, _HAIR[roll[0] % len(_HAIR)], 0)
    return ["".join(row)[:: -1 if roll[3] % 2 else 1] for row in rows]


def portrait_pixels(seed: str, colour: str) -> list[list[Pixel]]:
    """The same in shades of `colour` ("#rrggbb")."""
    shades = ink_shades(colour)
    return [[shades.get(letter) for letter in row] for row in face_rows(seed)]


def _lay(rows: list[list[str]], stamp: tuple[str, ...], top: int) -> None:
    for down, line in enumerate(stamp):
        for across, letter in enumerate(line):
            if letter != " ":
                rows[top + down][across] = letter


def ink_shades(colour: str) -> dict[str, str]:
    """The shade of each kind of ink; E and W are the eyes, G is the ground of a whole picture."""
    red, green, blue = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    hue, light, strength = colorsys.rgb_to_hls(red, green, blue)
    return {
        "S": hls_to_hex(hue, min(0.86, max(0.72, light + 0.16)), strength * 0.75),
        "H": hls_to_hex(hue, max(0.22, light * 0.62), strength),
        "E": hls_to_hex(hue, 0.12, 0.25),
        "W": "#f6f4ee",
        "A": hls_to_hex(hue + 0.45, 0.5, 0.5),
        "B": hls_to_hex(hue - 0.04, min(0.8, max(0.62, light + 0.05)), min(1.0, strength + 0.1)),
        "M": hls_to_hex(hue, max(0.25, light * 0.55), min(1.0, strength + 0.1)),
        "G": hls_to_hex(hue + 0.5, 0.88, min(0.6, strength)),
    }


def hls_to_hex(hue: float, light: float, strength: float) -> str:
    """A colour by hue (a turn is 1), lightness and saturation, as "#rrggbb"."""
    channels = colorsys.hls_to_rgb(hue % 1, light, strength)
    return "#" + "".join(f"{round(channel * 255):02x}" for channel in channels)
