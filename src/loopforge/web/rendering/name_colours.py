"""The colours of mates' names in the browser, darker or lighter until they are legible (WCAG 2)."""

import re
from collections.abc import Iterable

_COLOUR = re.compile("#[0-9a-fA-F]{6}")
_HANDLE = re.compile("[a-z0-9_-]{1,40}")
LIGHT, DARK = "#f6f1e7", "#221d18"
"""About what names stand on, in the light look and in the dark one."""
CONTRAST = 4.6
"""What a name has at least; WCAG asks for 4.5."""


def look_css(mates: Iterable[tuple[str, str]]) -> str:
    """A class for each mate, of (handle, "#rrggbb"), that sets its colour, legible as text."""
    sheet = []
    for handle, colour in mates:
        if not _HANDLE.fullmatch(handle) or not _COLOUR.fullmatch(colour):
            continue
        light, dark = legible(colour, LIGHT), legible(colour, DARK)
        sheet.append(
            f".mate-{handle}{{--mate:{light};--mate-raw:{colour}}}\n"
            f"@media(prefers-color-scheme:dark){{"
            f":root:not([data-theme=light]) .mate-{handle}{{--mate:{dark}}}}}\n"
            f":root[data-theme=dark] .mate-{handle}{{--mate:{dark}}}\n"
        )
    return "".join(sheet)


def legible(colour: str, ground: str) -> str:
    """The colour, darker or lighter until its contrast with the ground is enough (WCAG 2)."""
    red, green, blue = _parts(colour)
    toward = 0.0 if _luminance(ground) > 0.5 else 1.0
    for step in range(21):
        mixed = [part + (toward - part) * step / 20 for part in (red, green, blue)]
        found = "#" + "".join(f"{round(part * 255):02x}" for part in mixed)
        if contrast(found, ground) >= CONTRAST:
            return found
    return "#000000" if toward == 0.0 else "#ffffff"


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, 1 to 21 (WCAG 2)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _parts(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def _luminance(colour: str) -> float:
    linear = [
        part / 12.92 if part <= 0.03928 else float(((part + 0.055) / 1.055) ** 2.4)
        for part in _parts(colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
