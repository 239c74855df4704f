"""Colours by the names of CSS, so that every surface can show what a mate's file names.

A terminal, a web page and a chat know different sets of names; all of them know "#2a9d8f". Covers
CSS Color 4's named colours (https://www.w3.org/TR/css-color-4/#named-colors) and #rgb, #rrggbb.
"""

import hashlib
import re
from functools import cache

PALETTE = ("#2a9d8f", "#9b5de5", "#f4813f", "#3a86c8", "#d1495b", "#7a9e3a", "#c77dba", "#b08d3c")
"""Colours that can be told apart and read on a dark ground and on a light one."""


@cache
def css_colour_codes() -> dict[str, str]:
    """The code of each name of CSS."""
    from PIL import ImageColor  # takes 50 ms, which only a mate costs that names its colour

    return {
        name: "#{:02x}{:02x}{:02x}".format(*ImageColor.getrgb(name))
        for name in [*ImageColor.colormap]
    }


def colour_code(colour: str) -> str | None:
    """The colour as "#rrggbb", or None if it is no colour."""
    colour = colour.strip().lower()
    if re.fullmatch("#[0-9a-f]{6}", colour):
        return colour
    if re.fullmatch("#[0-9a-f]{3}", colour):
        return "#" + "".join(digit * 2 for digit in colour[1:])
    return css_colour_codes().get(re.sub("[ _-]", "", colour))


def default_colour(handle: str) -> str:
    """The colour of a mate that names none: always the same for the same handle."""
    return PALETTE[hashlib.sha256(handle.encode()).digest()[0] % len(PALETTE)]
