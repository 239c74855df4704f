r"""A page of the web as the text that people see, with its links; a part of `document_readers.py`.

    lines_of(b"https://example.org/a\n<p>Hello <a href=b>there</a>")
    -> ["Hello [there](https://example.org/b)"]

What people do not see is taken out first: what is marked as hidden, not drawn, drawn outside the
page, drawn in no size or in the colour of its ground, by the page's own styles or an element's;
comments, scripts and templates. What is the main thing on the page comes first, then what stands
around it. A link stands where it is met first. It knows nothing of Loopforge.

Does not cover: styles in files of their own, what scripts change, words in pictures, what lies
under something else.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urldefrag, urljoin

import cssselect2
import tinycss2
from inscriptis.html_engine import Inscriptis
from inscriptis.model.config import ParserConfig
from lxml import html as lxml_html
from tinycss2.color3 import parse_color

GONE = frozenset(
    """
    script style template noscript head svg canvas iframe frame object embed audio video
    datalist map param source track meta link base annotation annotation-xml
    """.split()  # noqa: SIM905 - a table of words
)
"""Elements of which nothing is read as words."""
NEVER = ("html", "body")
"""Elements that pages hide only until their scripts have run."""
FAR = 500.0
"""Pixels beyond an edge, from which on something is outside."""
TINY = 2.0
"""Pixels of height, up to which letters are not read."""
WIDE = 1280.0
"""Pixels of the window for which styles are looked at."""
NEAR = 0.07
"""Of 1: how far a colour may be from its ground, in each of its parts, and not be seen."""
LONGEST = 500
"""Characters of an address that is shown."""
ENCODED = str.maketrans({" ": "%20", "(": "%28", ")": "%29"})
"""What would end an address where it stands in a text, and how it is written then."""
SMALL_MAIN = 200
"""Characters that the main thing must have, to come first."""
LOOKED_AT = frozenset(
    """
    display visibility opacity font-size color background background-color background-image
    background-clip -webkit-background-clip clip clip-path text-indent position left top right
    bottom margin-left margin-top transform width height max-width max-height overflow
    content-visibility font
    """.split()  # noqa: SIM905 - a table of words
)
UNITS = {"px": 1.0, "pt": 1.33, "em": 16.0, "rem": 16.0, "%": 0.16, "vw": 12.8, "vh": 8.0, "": 1.0}
Declared = dict[str, str]
Colour = tuple[float, float, float] | None
"""Red, green and blue, of 1; None where it is not known."""
UNSEEN: Colour = (0.0, 0.0, 0.0)
"""Of letters that let everything through, and of what they are taken to stand on."""


class ElementStyle(NamedTuple):
    """How the letters of an element look: their colour, what they stand on, their pixels."""

    letters: Colour = (0.0, 0.0, 0.0)
    behind: Colour = (1.0, 1.0, 1.0)
    size: float = 16.0


def lines_of(data: bytes) -> list[str]:
    """The lines of a page; its address is the first line of the data."""
    address, _, page = data.partition(b"\n")
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    if not page.strip():
        return []
    root = lxml_html.document_fromstring(page, parser=parser)
    base = urljoin(address.decode(), (root.xpath("string(//base/@href)") or "").strip())
    title = " ".join((root.xpath("string(//head/title)") or "").split())[:LONGEST]
    _strip_hidden(root)
    _link_text(root, base)
    return [f"# {title}" if title else "", *_page_text(root)]


# ---------------------------------------------------------------- what is not seen


def _strip_hidden(root: Any) -> None:
    """Take out what people do not see."""
    styles, hidden = _page_styles(root), []
    elsewhere = root.xpath('//link[contains(@rel, "stylesheet")]')  # may paint what is behind
    looks: dict[Any, ElementStyle] = {
        None: ElementStyle(behind=None) if elsewhere else ElementStyle()
    }
    for wrapped in cssselect2.ElementWrapper.from_html_root(root).iter_subtree():
        element = wrapped.etree_element
        parent = element.getparent()
        if parent not in looks:
            continue  # within what is hidden
        declared = _declared_for(wrapped, styles)
        unseen = element.tag in GONE or _is_marked_hidden(element) or hides(declared)
        if unseen and element.tag not in NEVER:
            hidden.append(element)
            continue
        look = looks[element] = _letter_style(element, declared, looks[parent])
        if not _is_visible(look):
            element.text = None
            for child in element:
                child.tail = None
    for element in hidden:
        element.drop_tree()


def _is_marked_hidden(element: Any) -> bool:
    """Whether an element says of itself that it is not shown."""
    if element.tag == "dialog":
        return "open" not in element.attrib
    if element.tag == "input" or element.get("hidden") is not None:
        return True
    return str(element.get("aria-hidden", "")).strip().lower() == "true"


def _page_styles(root: Any) -> Any:
    """The page's own styles, as far as they hide or colour."""
    matcher = cssselect2.Matcher()
    text = "\n".join(each.text or "" for each in root.iter("style"))
    for prelude, content in _rules_for_screen(tinycss2.parse_stylesheet(text, True, True)):
        found = _read_declarations(content)
        if not found:
            continue
        try:
            for selector in cssselect2.compile_selector_list(prelude):
                if selector.pseudo_element is None and not selector.never_matches:
                    matcher.add_selector(selector, found)
        except cssselect2.SelectorError:
            continue
    return matcher


def _rules_for_screen(rules: list[Any]) -> Iterator[tuple[list[Any], list[Any]]]:
    """The rules that hold for a window of a usual size, those in blocks of others too."""
    for rule in rules:
        if rule.type == "qualified-rule":
            yield rule.prelude, rule.content
        elif rule.type == "at-rule" and rule.content is not None:
            said = tinycss2.serialize(rule.prelude).lower()
            if rule.lower_at_keyword != "media" or _may_hold_for_screen(said):
                yield from _rules_for_screen(tinycss2.parse_rule_list(rule.content, True, True))


def _may_hold_for_screen(media: str) -> bool:
    """Whether what a style is meant for may be a screen of a usual size."""
    if "print" in media or "prefers-" in media or "speech" in media:
        return False
    for side, number in re.findall(r"(min|max)-width\s*:\s*([\d.]+)", media):
        if (float(number) > WIDE) == (side == "min"):
            return False
    return True


def _read_declarations(content: Any) -> Declared:
    """What is declared, of what is looked at; what is "!important" counts like the rest."""
    found = {}
    for each in tinycss2.parse_blocks_contents(content, True, True):
        if each.type == "declaration" and each.lower_name in LOOKED_AT:
            found[each.lower_name] = " ".join(tinycss2.serialize(each.value).lower().split())
    return found


def _declared_for(wrapped: Any, styles: Any) -> Declared:
    """What holds for an element: what its styles say, by weight, then its own."""
    found: Declared = {}
    for _, _, _, declared in styles.match(wrapped):
        found.update(declared)
    if (own := wrapped.etree_element.get("style")) is not None:
        found.update(_own_declarations(own))
    return found


@lru_cache(maxsize=1000)
def _own_declarations(style: str) -> Declared:
    """What an element declares of itself; many say the same."""
    return _read_declarations(style)


def hides(declared: Declared) -> bool:
    """Whether what is declared of an element keeps it from being seen."""
    if not declared:
        return False
    said = declared.get
    if said("display") == "none" or said("visibility") in ("hidden", "collapse"):
        return True
    if said("content-visibility") == "hidden" or _pixels(said("opacity"), 1.0) < 0.05:
        return True
    if _pixels(said("text-indent"), 0.0) <= -FAR or _is_moved_away(said("transform", "")):
        return True
    if said("position") in ("absolute", "fixed") and (
        _is_clipped_away(declared) or _is_outside(declared)
    ):
        return True
    if min(_pixels(said("margin-left"), 0.0), _pixels(said("margin-top"), 0.0)) <= -FAR:
        return True
    sides = (said("width"), said("height"), said("max-width"), said("max-height"))
    no_room = any(_pixels(side, FAR) <= 1.0 for side in sides)
    return no_room and said("overflow", "").split(" ")[0] in ("hidden", "clip")


def _is_clipped_away(declared: Declared) -> bool:
    """Whether nothing of it is left after it was cut out."""
    clip, path = declared.get("clip", ""), declared.get("clip-path", "")
    corners = re.findall(r"-?[\d.]+", clip)
    nothing = clip.startswith("rect") and len(corners) == 4 and len(set(corners)) <= 2
    return nothing or re.match(r"inset\((5\d|[6-9]\d|100)%|circle\(0", path) is not None


def _is_outside(declared: Declared) -> bool:
    """Whether it stands beyond an edge of the page."""
    edges = ("left", "top", "right", "bottom")
    return any(_pixels(declared.get(edge), 0.0) <= -FAR for edge in edges)


def _is_moved_away(transform: str) -> bool:
    """Whether it was moved out of the page, or made as small as nothing."""
    if re.search(r"scale[xy]?\(\s*0(\.0+)?\s*[,)]", transform):
        return True
    numbers = re.findall(r"translate[^(]*\(([^)]*)\)", transform)
    return any(_pixels(each.strip(), 0.0) <= -FAR for one in numbers for each in one.split(","))


def _pixels(text: str | None, otherwise: float) -> float:
    """A length in pixels, about; a number without a unit as it is."""
    found = re.match(r"([+-]?\d*\.?\d+)\s*([a-z%]*)", text or "")
    return float(found[1]) * UNITS.get(found[2], 1.0) if found else otherwise


# ---------------------------------------------------------------- letters


def _letter_style(element: Any, declared: Declared, above: ElementStyle) -> ElementStyle:
    """How its letters look, by what is declared of it and by those it stands in."""
    if not declared and not ("color" in element.attrib or "bgcolor" in element.attrib):
        return above
    painted = declared.get("background-color", "") or element.get("bgcolor", "")
    pictured = f"{declared.get('background', '')} {declared.get('background-image', '')}"
    behind = above.behind
    for word in f"{pictured} {painted}".split():
        behind = _colour_of(word) or behind
    if "url(" in pictured or "gradient(" in pictured:
        behind = None
    letters, said = above.letters, declared.get("color") or element.get("color") or ""
    if "text" in (declared.get("background-clip"), declared.get("-webkit-background-clip")):
        letters = None
    elif _is_clear(said):
        letters = behind = UNSEEN
    elif said:
        letters = _colour_of(said) or letters
    return ElementStyle(letters, behind, _letter_height(declared, above.size))


def _letter_height(declared: Declared, above: float) -> float:
    """The pixels of its letters."""
    said = declared.get("font-size") or declared.get("font", "")
    found = re.search(r"(?:^|\s)(\d*\.?\d+)(px|pt|em|rem|%)?(?=$|[\s/])", said)
    if found is None:
        return above
    scale = {"em": above, "%": above / 100}.get(found[2] or "", UNITS[found[2] or ""])
    is_weight = "font-size" not in declared and not found[2] and float(found[1]) > 0
    return above if is_weight else float(found[1]) * scale


@lru_cache(maxsize=1000)
def _colour_of(text: str) -> Colour:
    found = parse_color(text)
    if found is None or isinstance(found, str) or found.alpha < 0.5:
        return None
    return found.red, found.green, found.blue


@lru_cache(maxsize=1000)
def _is_clear(text: str) -> bool:
    """Whether a colour lets through everything."""
    found = parse_color(text)
    return found is not None and not isinstance(found, str) and found.alpha < 0.05


def _is_visible(look: ElementStyle) -> bool:
    """Whether letters are of some size, and differ from what they stand on."""
    if look.size <= TINY:
        return False
    if look.letters is None or look.behind is None:
        return True
    return any(abs(a - b) > NEAR for a, b in zip(look.letters, look.behind, strict=True))


# ---------------------------------------------------------------- what is told


def _link_text(root: Any, base: str) -> None:
    """Each link as [words](address), where its address is met first."""
    met: set[str] = set()
    for element in root.iter("a"):
        href = str(element.get("href") or "").strip()
        words = " ".join(element.text_content().split())
        try:
            address = urldefrag(urljoin(base, href))[0].translate(ENCODED)
        except ValueError:
            continue
        known = address in met or len(address) > LONGEST
        if href[:1] in ("", "#") or not address.startswith(("http://", "https://")):
            continue
        if known or not words or re.search(r"[\s<>]", address):
            continue
        met.add(address)
        element.text = f"[{element.text or ''}"
        if len(element):
            element[-1].tail = f"{element[-1].tail or ''}]({address})"
        else:
            element.text += f"]({address})"


def _page_text(root: Any) -> Iterator[str]:
    """The text of a page: what is the main thing on it, then what stands around that."""
    config = ParserConfig()
    mains = root.xpath('//main | //*[@role="main"]') or root.xpath("//article")
    if len(mains) == 1 and len(mains[0].text_content()) >= SMALL_MAIN:
        main = mains[0]
        yield from _tidy_lines(Inscriptis(main, config).get_text())
        main.drop_tree()
        rest = list(_tidy_lines(Inscriptis(root, config).get_text()))
        if rest:
            yield "\n[around it, on the same page]"
            yield from rest
    else:
        yield from _tidy_lines(Inscriptis(root, config).get_text())


def _tidy_lines(text: str) -> Iterator[str]:
    """Lines without what pads them, and never two empty ones."""
    empty = True
    for line in text.splitlines():
        line = re.sub(r"(?<=\S)[ \t\u00a0]{3,}", "  ", line).rstrip()
        if line or not empty:
            yield line
        empty = not line
