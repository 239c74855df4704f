"""Avatars: the pixel portraits of mates, initials on a pebble for people, and given pictures.

Inline SVG, the same for one seed for ever, with presentation attributes and classes only: the
pages' content security policy allows no style attribute. Hidden from screen readers, for a name
always stands beside a face.

Knows nothing of rooms and pages.
"""

import hashlib
import re
from collections.abc import Callable
from functools import lru_cache

from markupsafe import Markup, escape

from loopforge.core.mates.mate_colours import colour_code, default_colour
from loopforge.core.mates.pixel_portrait import face_rows, hls_to_hex, ink_shades

DOT = 5
"""A side of a pixel, of 64."""
_SHAPE = "M32 1q17 0 24 11t7 21-9 20-22 10-22-9T1 33 8 12 32 1z"
_PEBBLE = f'<path d="{_SHAPE}" fill="{{ground}}"/>'


_PICTURE = (
    '<svg class="face{kind}" viewBox="0 0 64 64" aria-hidden="true" focusable="false">'
    '<image href="/pictures/{name}" width="64" height="64" preserveAspectRatio="xMidYMid slice" '
    f"clip-path=\"path('{_SHAPE}')\"/></svg>"
)


class AvatarFaces:
    """How everybody looks: `given` tells what a browser asks for somebody's picture by, or "".

    It is told "mate:" and a handle, or "person:" and an id.
    """

    def __init__(self, given: Callable[[str], str] = lambda _: "") -> None:
        self._given = given

    def mate(self, handle: str, colour: str = "") -> Markup:
        """A mate's picture, or its face in shades of `colour`."""
        if name := self._given(f"mate:{handle}"):
            return Markup(_PICTURE).format(kind="", name=name)  # noqa: S704
        return face_svg(handle, colour)

    def person(self, id: str, name: str) -> Markup:
        """A person's picture, or the initials of their name."""
        if given := self._given(f"person:{id}"):
            return Markup(_PICTURE).format(kind=" person", name=given)  # noqa: S704
        return initials_svg(id, name)


@lru_cache(maxsize=512)
def face_svg(seed: str, colour: str = "") -> Markup:
    """A mate's face, in shades of `colour`. A stranger's colour is made from the seed."""
    rows, shades = face_rows(seed), ink_shades(colour_code(colour) or default_colour(seed))
    ground = _PEBBLE.format(ground=shades.pop("G"))
    paths = {ink: f'<path d="{_dots(rows, ink)}" fill="{fill}"/>' for ink, fill in shades.items()}
    eyes = paths.pop("E") + paths.pop("W")
    return Markup(  # noqa: S704 - made of the tables above and of colours made here
        '<svg class="face" viewBox="0 0 64 64" aria-hidden="true" focusable="false">'
        f'{ground}{"".join(paths.values())}<g class="eyes">{eyes}</g></svg>'
    )


def _dots(rows: list[str], ink: str) -> str:
    """The outline of all pixels of one ink; those side by side are one."""
    edge = (64 - DOT * len(rows)) // 2
    return "".join(
        f"M{edge + DOT * run.start()} {edge + DOT * down}h{DOT * len(run[0])}"
        f"v{DOT}h-{DOT * len(run[0])}z"
        for down, row in enumerate(rows)
        for run in re.finditer(f"{ink}+", row)
    )


def shown(handle: str) -> Markup:
    """The face of a mate that stands in mate-faces.html of the same page; a tenth of the bytes."""
    return Markup(
        '<svg class="face" viewBox="0 0 64 64" aria-hidden="true" focusable="false">'
        '<use href="#face-{}"/></svg>'
    ).format(handle)


@lru_cache(maxsize=512)
def initials_svg(seed: str, name: str) -> Markup:
    """A person's face: the initials of their name on a pebble of their own colour."""
    roll = hashlib.sha256(b"person\x1f" + seed.encode("utf-8", "replace")).digest()
    hue = int.from_bytes(roll[:2], "big") / 65536
    stone, letters = hls_to_hex(hue, 0.33, 0.30), hls_to_hex(hue, 0.95, 0.60)
    ground = _PEBBLE.format(ground=stone)
    return Markup(  # noqa: S704 - the name's letters are escaped
        '<svg class="face person" viewBox="0 0 64 64" aria-hidden="true" focusable="false">'
        f'{ground}<text x="32" y="41" text-anchor="middle" font-size="25" font-weight="700" '
        f'fill="{letters}">{escape(initials(name))}</text></svg>'
    )


def initials(name: str) -> str:
    """One or two letters that stand for a name: "Ada Lovelace" becomes "AL"."""
    words: list[str] = re.findall(r"\w+", name)
    if not words:
        return "?"
    letters = words[0][0] + (words[-1][0] if len(words) > 1 else "")
    return letters.upper()[:2]


def forget_all() -> None:
    """Let go of every face that was drawn: people's initials are made of their names."""
    initials_svg.cache_clear()
    face_svg.cache_clear()
