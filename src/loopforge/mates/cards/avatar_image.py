"""Pictures: a mate's portrait as the bytes of an image, for platforms that show one.

The same pixel face that a terminal draws (pixel_portrait.py), on a ground in its colour, with
enough margin for platforms that cut pictures round. Always the same for one handle and colour. Does
not read files.
"""

from __future__ import annotations

import hashlib
import io
from typing import Literal

from loopforge.core.mates.pixel_portrait import inks, portrait

SIDE = 256
"""Pixels of a side, of which each pixel of the face takes a whole number."""


def picture(handle: str, colour: str, format: Literal["png", "jpeg"] = "png") -> bytes:
    """The portrait of this mate, 256 by 256; `colour` is "#rrggbb"."""
    from PIL import Image

    face = portrait(handle, colour)
    dot = SIDE // 12
    left, top = (SIDE - dot * len(face[0])) // 2, (SIDE - dot * len(face)) // 2
    drawn = Image.new("RGB", (SIDE, SIDE), inks(colour)["G"])
    for down, row in enumerate(face):
        for across, pixel in enumerate(row):
            if pixel is not None:
                x, y = left + across * dot, top + down * dot
                drawn.paste(pixel, (x, y, x + dot, y + dot))
    held = io.BytesIO()
    drawn.save(held, format, quality=95)
    return held.getvalue()


def fingerprint(handle: str, colour: str) -> str:
    """Six hexadecimal digits that are others as soon as the picture is another one."""
    seen = f"{SIDE} {inks(colour)['G']} {portrait(handle, colour)}"
    return hashlib.sha256(seen.encode()).hexdigest()[:6]
