"""Avatars: a mate's portrait as the bytes of an image, for platforms that show one.

The picture that somebody gave it; where nobody did, the same pixel face that a terminal draws
(pixel_portrait.py), on a ground in its colour, with enough margin for platforms that cut pictures
round, always the same for one handle and colour.
"""

import asyncio
import hashlib
import io
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from loopforge.core.mates.pixel_portrait import ink_shades, portrait_pixels
from loopforge.errors import LoopforgeError
from loopforge.runtime.ports import Pictures

PictureForm = Literal["png", "jpeg"]

SIDE = 256
"""Pixels of a side, of which each pixel of the face takes a whole number."""


class Portraits:
    """What mates look like: `given` says the hash of the picture one was given, "" for none.

    `kept` has the bytes; without it all have the faces that are drawn for them.
    """

    def __init__(
        self, given: Callable[[str], str] = lambda _: "", kept: Pictures | None = None
    ) -> None:
        self._given, self._kept = given, kept

    async def picture(self, handle: str, colour: str, format: PictureForm = "png") -> bytes:
        """The portrait of this mate, square; the drawn face where a given one is out of reach."""
        if self._kept is not None and (hash := self._given(handle)):
            with suppress(LoopforgeError):
                data = await self._kept.get(hash)
                return await asyncio.to_thread(_as, data, format)
        return await asyncio.to_thread(draw_avatar, handle, colour, format)

    def fingerprint(self, handle: str, colour: str) -> str:
        """Six hexadecimal digits that are others as soon as the picture is another one."""
        return self._given(handle)[:6] or fingerprint(handle, colour)


def _as(data: bytes, format: PictureForm) -> bytes:
    """A kept picture in another form; it was made here, so it is decoded without a fence."""
    from PIL import Image

    held = io.BytesIO()
    with Image.open(io.BytesIO(data), formats=("WEBP",)) as opened:
        clear = opened.convert("RGBA")
    ground = Image.new("RGBA", clear.size, "white")
    ground.alpha_composite(clear)
    (clear if format == "png" else ground.convert("RGB")).save(held, format, quality=95)
    return held.getvalue()


def draw_avatar(handle: str, colour: str, format: PictureForm = "png") -> bytes:
    """The portrait of this mate, 256 by 256; `colour` is "#rrggbb"."""
    from PIL import Image

    face = portrait_pixels(handle, colour)
    dot = SIDE // 12
    left, top = (SIDE - dot * len(face[0])) // 2, (SIDE - dot * len(face)) // 2
    drawn = Image.new("RGB", (SIDE, SIDE), ink_shades(colour)["G"])
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
    seen = f"{SIDE} {ink_shades(colour)['G']} {portrait_pixels(handle, colour)}"
    return hashlib.sha256(seen.encode()).hexdigest()[:6]
