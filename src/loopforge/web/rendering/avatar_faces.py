"""Faces: small odd creatures for mates, initials on a pebble for people, and the colours of both.

Inline SVG, the same for one seed for ever, with presentation attributes and classes only: the
pages' content security policy allows no style attribute. Hidden from screen readers, for a name
always stands beside a face.

Knows nothing of rooms and pages.
"""

from __future__ import annotations

import colorsys
import hashlib
import re
from functools import lru_cache

from markupsafe import Markup, escape

from loopforge.core.text.css_colours import code, given_to

_SALT = b"creature 810967\x1f"
"""Of very many the one that gives Merlin his hat and beard, Zuzu her mask, Maya her spectacles."""

_BACKS = (  # what stands out behind the head: ears, horns, a hat
    # small round ears
    (
        '<circle cx="16" cy="21" r="8" fill="{dark}"/><circle cx="48" cy="21" r="8" fill="{dark}"/>'
        '<circle cx="16" cy="21" r="4" fill="{light}"/>'
        '<circle cx="48" cy="21" r="4" fill="{light}"/>'
    ),
    # pointed ears
    (
        '<path d="M11 32 13 9q1-2 3 0l13 13z" fill="{dark}"/>'
        '<path d="M53 32 51 9q-1-2-3 0L35 22z" fill="{dark}"/>'
        '<path d="M15 25l1-9 7 7z" fill="{light}"/><path d="M49 25l-1-9-7 7z" fill="{light}"/>'
    ),
    # a hat that has seen weather
    (
        '<path d="M8 27q24-9 48 0l-3 4q-21-7-42 0z" fill="{dark}"/>'
        '<path d="M17 25 29 3q2-3 5-1l6 5-3 2 11 16q-16-5-31 0z" fill="{dark}"/>'
        '<path d="M18 22q14-4 28 0l2 4q-16-5-31 0z" fill="{accent}"/>'
    ),
    # feelers
    (
        '<path d="M25 20Q22 8 15 8M39 20Q42 8 49 8" fill="none" stroke="{dark}" stroke-width="3"'
        ' stroke-linecap="round"/><circle cx="14" cy="8" r="4" fill="{accent}"/>'
        '<circle cx="50" cy="8" r="4" fill="{accent}"/>'
    ),
    # horns
    (
        '<path d="M18 25Q8 20 9 7q5 8 15 10z" fill="{horn}"/>'
        '<path d="M46 25q10-5 9-18-5 8-15 10z" fill="{horn}"/>'
    ),
    # long ears, one of them tired
    (
        '<ellipse cx="23" cy="14" rx="6" ry="13" fill="{dark}"/>'
        '<ellipse cx="23" cy="15" rx="3" ry="9" fill="{light}"/>'
        '<path d="M37 20Q36 4 46 4q9 1 12 14-8 1-11-6-1 6-4 9z" fill="{dark}"/>'
    ),
    # a tuft
    '<path d="M22 21Q18 10 26 12q0-9 8-8 1 4-1 6 8-2 9 3-3 1-4 3 4 1 3 6z" fill="{dark}"/>',
    # one screw too many
    (
        '<path d="M29 8h6v12h-6z" fill="{dark}"/><path d="M24 5h16v5H24z" rx="2" fill="{accent}"/>'
        '<path d="M6 30h8v10H6zM50 30h8v10h-8z" fill="{dark}"/>'
    ),
    # feathers
    (
        '<path d="M13 30Q5 22 8 10q6 2 9 8 0-9 6-13 4 6 3 12z'
        'M51 30q8-8 5-20-6 2-9 8 0-9-6-13-4 6-3 12z"'
        ' fill="{dark}"/>'
    ),
    # leaves
    (
        '<path d="M32 20V10" stroke="{dark}" stroke-width="3"/>'
        '<path d="M32 12Q33 3 45 4q-1 10-13 8z" fill="{accent}"/>'
        '<path d="M32 13q-2-7-12-6 2 8 12 6z" fill="{accent}"/>'
    ),
)
_HEADS = (
    '<circle cx="32" cy="37" r="21" fill="{head}"/>',
    '<rect x="11" y="17" width="42" height="40" rx="14" fill="{head}"/>',
    '<path d="M32 16q11 0 15 11 2 6 7 11 3 19-22 19T10 38q5-5 7-11 4-11 15-11z" fill="{head}"/>',
    '<path d="M32 15q20 0 20 22 0 10-7 16-6 6-13 6t-13-6q-7-6-7-16 0-22 20-22z" fill="{head}"/>',
    '<path d="M12 58V36q0-20 20-20t20 20v22l-5-4-5 4-5-4-5 4-5-4-5 4-5-4z" fill="{head}"/>',
    '<ellipse cx="32" cy="38" rx="24" ry="18" fill="{head}"/>',
    (
        '<path d="M20 18h24l10 14v14L44 57H20L10 46V32z" stroke="{head}" stroke-width="4"'
        ' stroke-linejoin="round" fill="{head}"/>'
    ),
    (
        '<path d="M8 33q3 1 6-3 3-14 18-14t18 14q3 4 6 3 0 5-4 7-1 17-20 17T12 40q-4-2-4-7z"'
        ' fill="{head}"/>'
    ),
)
_MARKS = (  # what the face is painted with; eyes stand at 23 and 41, 34
    "",
    # a bandit's mask
    (
        '<path d="M12 34q4-8 12-7 6 1 8 4 2-3 8-4 8-1 12 7-4 9-11 8-6 0-9-5-3 5-9 5-7 1-11-8z"'
        ' fill="{deep}"/>'
    ),
    # cheeks
    '<circle cx="17" cy="43" r="4" fill="{blush}"/><circle cx="47" cy="43" r="4" fill="{blush}"/>',
    # a pale muzzle
    '<ellipse cx="32" cy="46" rx="12" ry="9" fill="{light}"/>',
    # pale rings round the eyes
    (
        '<circle cx="22" cy="34" r="9.5" fill="{light}"/>'
        '<circle cx="42" cy="34" r="9.5" fill="{light}"/>'
    ),
    # a blaze
    '<path d="M29 17h6q1 9-3 15-4-6-3-15z" fill="{light}"/>',
    # freckles
    (
        '<g fill="{deep}"><circle cx="15" cy="42" r="1.4"/><circle cx="19" cy="45" r="1.4"/>'
        '<circle cx="20" cy="40" r="1.4"/><circle cx="49" cy="42" r="1.4"/>'
        '<circle cx="45" cy="45" r="1.4"/><circle cx="44" cy="40" r="1.4"/></g>'
    ),
    # a patch over one eye's fur
    '<ellipse cx="42" cy="34" rx="10" ry="9" fill="{dark}"/>',
    # stripes
    (
        '<path d="M32 17v7M25 18l1 6M39 18l-1 6" stroke="{dark}" stroke-width="3"'
        ' stroke-linecap="round"/>'
    ),
)
_EYES = (
    # wide awake
    (
        '<circle cx="23" cy="34" r="6" fill="{white}"/>'
        '<circle cx="41" cy="34" r="6" fill="{white}"/>'
        '<circle cx="24" cy="35" r="3" fill="{ink}"/><circle cx="40" cy="35" r="3" fill="{ink}"/>'
    ),
    # beads
    (
        '<circle cx="23" cy="34" r="4" fill="{ink}"/><circle cx="41" cy="34" r="4" fill="{ink}"/>'
        '<circle cx="24.5" cy="32.5" r="1.4" fill="{white}"/>'
        '<circle cx="42.5" cy="32.5" r="1.4" fill="{white}"/>'
    ),
    # one is larger
    (
        '<circle cx="22" cy="34" r="7" fill="{white}"/>'
        '<circle cx="42" cy="34" r="4.5" fill="{white}"/>'
        '<circle cx="23" cy="34" r="3.2" fill="{ink}"/>'
        '<circle cx="42" cy="34" r="2.4" fill="{ink}"/>'
    ),
    # spectacles
    (
        '<g fill="{white}" stroke="{ink}" stroke-width="2.4"><circle cx="22" cy="34" r="7"/>'
        '<circle cx="42" cy="34" r="7"/></g><path d="M29 33q3-2 6 0" fill="none" stroke="{ink}"'
        ' stroke-width="2.4"/><circle cx="23" cy="35" r="2.6" fill="{ink}"/>'
        '<circle cx="41" cy="35" r="2.6" fill="{ink}"/>'
    ),
    # sleepy
    (
        '<circle cx="23" cy="34" r="6" fill="{white}"/>'
        '<circle cx="41" cy="34" r="6" fill="{white}"/>'
        '<circle cx="23" cy="36" r="2.8" fill="{ink}"/>'
        '<circle cx="41" cy="36" r="2.8" fill="{ink}"/>'
        '<path d="M16.5 34a6.5 6.5 0 0 1 13 0zM34.5 34a6.5 6.5 0 0 1 13 0z"'
        ' fill="{dark}"/>'
    ),
    # a cat's
    (
        '<ellipse cx="23" cy="34" rx="6" ry="5" fill="{glow}"/>'
        '<ellipse cx="41" cy="34" rx="6" ry="5" fill="{glow}"/>'
        '<ellipse cx="23" cy="34" rx="1.8" ry="4.6" fill="{ink}"/>'
        '<ellipse cx="41" cy="34" rx="1.8" ry="4.6" fill="{ink}"/>'
    ),
    # only one
    (
        '<circle cx="32" cy="33" r="9" fill="{white}"/>'
        '<circle cx="33" cy="34" r="4.6" fill="{ink}"/>'
        '<circle cx="35" cy="32" r="1.5" fill="{white}"/>'
    ),
    # three
    (
        '<g fill="{white}"><circle cx="20" cy="36" r="4.6"/><circle cx="44" cy="36" r="4.6"/>'
        '<circle cx="32" cy="30" r="5.4"/></g><g fill="{ink}"><circle cx="20.5" cy="36.5" r="2.2"/>'
        '<circle cx="43.5" cy="36.5" r="2.2"/><circle cx="32" cy="30.5" r="2.6"/></g>'
    ),
    # pleased
    (
        '<path d="M18 36q5-7 10 0M36 36q5-7 10 0" fill="none" stroke="{ink}" stroke-width="3"'
        ' stroke-linecap="round"/>'
    ),
)
_ODD = _EYES[6:8]
"""Eyes that no painted pair of rings would fit."""
_MOUTHS = (
    # a smile
    (
        '<path d="M26 46q6 6 12 0" fill="none" stroke="{ink}" stroke-width="2.6"'
        ' stroke-linecap="round"/>'
    ),
    # one fang
    (
        '<path d="M25 46q7 4 14 0" fill="none" stroke="{ink}" stroke-width="2.6"'
        ' stroke-linecap="round"/><path d="M34 47.5l4.5-.7-1.5 5z" fill="{white}"/>'
    ),
    # a beak
    (
        '<path d="M26 42q6-5 12 0l-6 10z" fill="{beak}"/><path d="M27 44h10" stroke="{deep}"'
        ' stroke-width="1.2"/>'
    ),
    # a snout and whiskers
    (
        '<path d="M28 42h8l-4 4.5z" fill="{ink}"/><path d="M32 46v2q-3 4-6 1M32 48q3 4 6 1"'
        ' fill="none" stroke="{ink}" stroke-width="2" stroke-linecap="round"/>'
        '<path d="M19 46l-10-1M19 49l-9 3M45 46l10-1M45 49l9 3" stroke="{deep}" stroke-width="1.5"'
        ' stroke-linecap="round"/>'
    ),
    # a small o
    '<ellipse cx="32" cy="48" rx="3.5" ry="4" fill="{ink}"/>',
    # a grin
    (
        '<path d="M22 44h20q-1 10-10 10t-10-10z" fill="{ink}"/>'
        '<path d="M24 44h16v3H24z" fill="{white}"/>'
    ),
    # a zigzag
    (
        '<path d="M22 47l4 3 4-3 4 3 4-3 4 3" fill="none" stroke="{ink}" stroke-width="2.4"'
        ' stroke-linejoin="round" stroke-linecap="round"/>'
    ),
    # tongue out
    (
        '<path d="M24 45q8 5 16 0" fill="none" stroke="{ink}" stroke-width="2.6"'
        ' stroke-linecap="round"/><path d="M32 47.5h6v4a3 3 0 0 1-6 0z" fill="{blush}"/>'
    ),
    # two teeth
    (
        '<path d="M25 45q7 3 14 0" fill="none" stroke="{ink}" stroke-width="2.6"'
        ' stroke-linecap="round"/><path d="M28.5 46.5h3.2v4.5h-3.2zM32.3 46.5h3.2v4.5h-3.2z"'
        ' fill="{white}"/>'
    ),
    # a moustache and what hangs from it
    (
        '<path d="M17 44q8-4 15 0 7-4 15 0-2 6-7 5-1 10-8 11-7-1-8-11-5 1-7-5z" fill="{bone}"/>'
        '<path d="M29 48q3 2 6 0" fill="none" stroke="{ink}" stroke-width="2"'
        ' stroke-linecap="round"/>'
    ),
)
_GROUNDS = (
    '<path d="M32 1q17 0 24 11t7 21-9 20-22 10-22-9T1 33 8 12 32 1z" fill="{ground}"/>',
    (
        '<path d="M30 1q20-1 27 12 7 12 5 23-2 14-13 21-11 8-24 5Q9 60 3 47-2 35 4 20 11 2 30 1z"'
        ' fill="{ground}"/>'
    ),
    (
        '<path d="M33 1q15 1 24 11t6 23q-4 14-13 21-10 8-22 6T8 51Q0 42 1 30T10 9Q19 0 33 1z"'
        ' fill="{ground}"/>'
    ),
)


@lru_cache(maxsize=512)
def face_svg(seed: str, colour: str = "") -> Markup:
    """A mate's face, in shades of `colour`. A stranger's colour is made from the seed."""
    roll = hashlib.sha256(_SALT + seed.encode("utf-8", "replace")).digest()
    layers = (_GROUNDS, _BACKS, _HEADS, _MARKS, _EYES, _MOUTHS)
    chosen = [layer[roll[n] % len(layer)] for n, layer in enumerate(layers)]
    ground, back, head, marks, eyes, mouth = chosen
    if eyes in _ODD:
        marks = ""
    drawn = f'{ground}{back}{head}{marks}<g class="eyes">{eyes}</g>{mouth}'
    body = drawn.format_map(_inks(code(colour) or given_to(seed)))
    turned = ' transform="matrix(-1 0 0 1 64 0)"' if roll[6] % 2 else ""
    return Markup(  # noqa: S704 - made of the tables above and of colours made here
        '<svg class="face" viewBox="0 0 64 64" aria-hidden="true" focusable="false">'
        f"<g{turned}>{body}</g></svg>"
    )


def shown(handle: str) -> Markup:
    """The face of a mate that stands in faces.html of the same page; a tenth of the bytes."""
    return Markup(
        '<svg class="face" viewBox="0 0 64 64" aria-hidden="true" focusable="false">'
        '<use href="#face-{}"/></svg>'
    ).format(handle)


@lru_cache(maxsize=512)
def initials_svg(seed: str, name: str) -> Markup:
    """A person's face: the initials of their name on a pebble of their own colour."""
    roll = hashlib.sha256(b"person\x1f" + seed.encode("utf-8", "replace")).digest()
    hue = int.from_bytes(roll[:2], "big") / 65536
    stone, letters = _hex(hue, 0.33, 0.30), _hex(hue, 0.95, 0.60)
    ground = _GROUNDS[roll[2] % len(_GROUNDS)].format(ground=stone)
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


# ---------------------------------------------------------------- colours


def _inks(colour: str) -> dict[str, str]:
    hue, light, strength = _hls(colour)
    head = min(0.68, max(0.46, light))
    return {
        "head": _hex(hue, head, strength),
        "dark": _hex(hue, head * 0.66, strength * 0.95),
        "deep": _hex(hue, head * 0.42, strength * 0.7),
        "light": _hex(hue, min(0.90, head + 0.27), min(1.0, strength * 0.9)),
        "ground": _hex(hue + 0.04, 0.87, min(0.55, strength)),
        "accent": _hex(hue + 0.45, 0.55, min(0.75, strength + 0.2)),
        "blush": "#f58ca0",
        "glow": "#ffe27a",
        "beak": "#f2b33d",
        "bone": "#fdf6e3",
        "horn": "#8d7b62",
        "white": "#fffdf6",
        "ink": _hex(hue, 0.12, min(0.35, strength)),
    }


def _hls(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    return colorsys.rgb_to_hls(red, green, blue)


def _hex(hue: float, light: float, strength: float) -> str:
    channels = colorsys.hls_to_rgb(hue % 1, light, strength)
    return "#" + "".join(f"{round(channel * 255):02x}" for channel in channels)
