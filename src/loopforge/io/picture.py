"""Pictures: a mate's portrait as the bytes of an image, for platforms that show one.

The same pixel face that a terminal draws (portrait.py), on a ground in its colour, with enough
margin for platforms that cut pictures round. Always the same for one handle and colour. Does not
read files.
"""

from __future__ import annotations

import colorsys
import io
from typing import TYPE_CHECKING, Literal

from loopforge.io.portrait import portrait

if TYPE_CHECKING:
    from PIL import Image

SIDE = 256
"""Pixels of a side, of which each pixel of the face takes a whole number."""
GROUND = 0.88
"""How light the ground is, from 0 to 1."""


def picture(handle: str, colour: str, format: Literal["png", "jpeg"] = "png") -> bytes:
    """The portrait of this mate, 256 by 256; `colour` is "#rrggbb"."""
    drawn = io.BytesIO()
    _drawn(handle, colour).save(drawn, format, **({"quality": 95} if format == "jpeg" else {}))
    return drawn.getvalue()


def _drawn(handle: str, colour: str) -> Image.Image:
    from PIL import Image

    face = portrait(handle, colour)
    dot = SIDE // 12
    left, top = (SIDE - dot * len(face[0])) // 2, (SIDE - dot * len(face)) // 2
    image = Image.new("RGB", (SIDE, SIDE), _ground(colour))
    for down, row in enumerate(face):
        for across, pixel in enumerate(row):
            if pixel is not None:
                at = (left + across * dot, top + down * dot)
                image.paste(pixel, (*at, at[0] + dot, at[1] + dot))
    return image


def _ground(colour: str) -> str:
    """A light shade of the colour across the circle from the mate's own."""
    red, green, blue = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    hue, _, strength = colorsys.rgb_to_hls(red, green, blue)
    channels = colorsys.hls_to_rgb((hue + 0.5) % 1, GROUND, min(0.6, strength))
    return "#" + "".join(f"{round(channel * 255):02x}" for channel in channels)
