"""Drawing: a chart by matplotlib as SVG that stands in a page and takes its colours from it.

Colours have roles, and a page says by class what a role looks like, in the light and in the dark:
`f-reach` fills in the colour of over-reach, `s-reach` draws in it. Nothing of a drawing is global:
it has no styles, ids of its own, no dates and no addresses; text stays text. The same figures give
the same bytes.

Knows no chart: those are in bar_charts.py. Texts may be anyone's; they are drawn to the letter.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from threading import RLock
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROLES = ("ink", "quiet", "line", "paper", "hid", "reach", "g1", "g2", "g3", "g4", "g5", "g6")
"""Colours by what they are for: `hid` is over-compliance, `reach` over-reach, g1 to g6 groups."""
TONE = {role: f"#1f0e{nth:02x}" for nth, role in enumerate(ROLES)}
"""What matplotlib is told of a role: a colour that nothing else has."""
ROLE_OF = {tone: role for role, tone in TONE.items()}
SMALL, TEXT = 9.5, 10.5
"""Letters, in units of a drawing that is 340 wide."""
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "loopforge",
    "text.parse_math": False,
    "text.usetex": False,
    "font.family": "DejaVu Sans",
    "font.size": TEXT,
    "axes.unicode_minus": True,
    "axes.edgecolor": TONE["line"],
    "axes.labelcolor": TONE["quiet"],
    "axes.labelsize": SMALL,
    "axes.facecolor": "none",
    "axes.axisbelow": True,
    "axes.linewidth": 1,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "grid.color": TONE["line"],
    "grid.linewidth": 0.7,
    "text.color": TONE["ink"],
    "xtick.color": TONE["line"],
    "xtick.labelcolor": TONE["quiet"],
    "xtick.labelsize": SMALL,
    "xtick.major.size": 3,
    "ytick.color": TONE["line"],
    "ytick.labelcolor": TONE["quiet"],
    "ytick.labelsize": SMALL,
    "ytick.major.size": 0,
    "lines.linewidth": 2,
    "lines.solid_capstyle": "round",
    "patch.linewidth": 0,
}
DROPPED = ("font-family", "stroke-miterlimit")
NUMBER = re.compile(r"-?\d+\.\d{3,}")
_turn = RLock()


@contextmanager
def settings() -> Iterator[None]:
    """Matplotlib as it is set here; its settings are global, so one thread draws at a time."""
    from matplotlib import rc_context

    with _turn, warnings.catch_warnings(), rc_context(SETTINGS):
        # A sign that matplotlib's font lacks is drawn by the reader's.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        yield


class Canvas:
    """One drawing, so many units wide and high. To be used within `settings`."""

    def __init__(self, width: float, height: float) -> None:
        from matplotlib.figure import Figure

        self.width, self.height = width, height
        self._figure = Figure(figsize=(width / 72, height / 72), dpi=72)

    def axes(self, left: float, top: float, right: float, bottom: float) -> Axes:
        """Axes with these margins."""
        width, height = self.width - left - right, self.height - top - bottom
        box = (left / self.width, bottom / self.height, width / self.width, height / self.height)
        return self._figure.add_axes(box)

    def svg(self, key: str, title: str, says: str, kind: str = "chart") -> str:
        """The drawing as an element. `key` makes its ids its own; `says` is read instead of it."""
        held = io.BytesIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        self._figure.savefig(held, format="svg", metadata=nothing, transparent=True)
        root = ET.fromstring(held.getvalue())  # noqa: S314 (it was written a line above)
        used = {name for node in root.iter() for name in _references(node)}
        inner = "".join(_element(node, key, used) for node in root)
        title, says = escape(printable(title)), escape(printable(says))
        return (
            f'<svg class="{kind}" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-labelledby="{key}-t {key}-d"><title id="{key}-t">{title}</title>'
            f'<desc id="{key}-d">{says}</desc>{inner}</svg>'
        )


def printable(text: str) -> str:
    """Text in one line, without what cannot be printed: what a drawing, or a page, can hold."""
    line = " ".join(str(text).split())
    if line.isprintable():
        return line
    return "".join(
        sign if sign.isprintable() or sign in "\u200c\u200d" else "\ufffd" for sign in line
    )


def short(text: str, most: int) -> str:
    """Text as a label: no longer than this."""
    line = printable(text)
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


# ---------------------------------------------------------------- SVG made plain


def _references(node: ET.Element) -> Iterator[str]:
    for name, value in node.attrib.items():
        if name.endswith("href"):
            yield value.removeprefix("#")
        elif value.startswith("url(#"):
            yield value[5:-1]


def _element(node: ET.Element, key: str, used: set[str]) -> str:
    """An element and all in it, as HTML takes it; "" for what draws nothing."""
    tag = node.tag.rpartition("}")[2]
    if tag in ("metadata", "style"):
        return ""
    inner = "".join(_element(child, key, used) for child in node)
    found = _attributes(node, key, used)
    if tag == "text":
        return f"<text{found}>{escape(node.text or '', quote=False)}</text>"
    if tag == "g" and not found:
        return inner
    unseen = tag == "path" and 'fill="none"' in found and "s-" not in found and " id=" not in found
    if unseen or (tag in ("g", "defs") and not inner):
        return ""
    return f"<{tag}{found}>{inner}</{tag}>" if inner else f"<{tag}{found}/>"


def _attributes(node: ET.Element, key: str, used: set[str]) -> str:
    """A space and the attributes: styles as attributes and classes, ids the drawing's own."""
    found: dict[str, str] = {}
    for name, value in node.attrib.items():
        name = name.rpartition("}")[2]
        if name == "id":
            if value in used:
                found["id"] = f"{key}-{value}"
        elif name == "href":
            found["href"] = f"#{key}-{value.removeprefix('#')}"
        elif name == "style":
            found |= _styles(value)
        elif value.startswith("url(#"):
            found[name] = f"url(#{key}-{value[5:]}"
        elif not value.startswith("rotate(-0 "):
            found[name] = NUMBER.sub(_rounded, " ".join(value.split()))
    return "".join(f' {name}="{escape(value)}"' for name, value in found.items())


def _styles(style: str) -> dict[str, str]:
    found: dict[str, str] = {}
    classes = []
    for each in style.split("; "):
        name, _, value = each.partition(": ")
        if (role := ROLE_OF.get(value)) is not None:
            classes.append(f"{name[0]}-{role}")
        elif name not in DROPPED:
            found[name] = NUMBER.sub(_rounded, value)
    if classes:
        found["class"] = " ".join(classes)
    return found


def _rounded(found: re.Match[str]) -> str:
    text = f"{float(found[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
