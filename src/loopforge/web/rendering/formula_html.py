r"""Formulas: TeX between dollars, `\( \)` or `\[ \]`, as MathML, which browsers draw by themselves.

One that cannot be read is shown as it was written. What the converter makes is taken as a tree and
written out here: its own writing lets signs of HTML in a formula's words through.
"""

from html import unescape
from xml.etree.ElementTree import Element, tostring

from markupsafe import Markup, escape

LONGEST = 1_000
"""Characters of one formula; drawing one takes about a millisecond for thirty."""
TAGS = frozenset(
    {"math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "mstyle", "mpadded", "mphantom"}
    | {"msup", "msub", "msubsup", "mfrac", "msqrt", "mroot", "mover", "munder", "munderover"}
    | {"mtable", "mtr", "mtd", "menclose", "merror"}
)
ATTRIBUTES = {
    "math": {"display"},
    "mi": {"mathvariant"},
    "mo": {"stretchy", "fence", "form", "minsize", "maxsize", "movablelimits"},
    "mover": {"accent"},
    "mfrac": {"linethickness"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mspace": {"width", "linebreak"},
    "mtd": {"columnalign"},
    "mtable": {"columnalign"},
    "menclose": {"notation"},
}


def formula_as_mathml(tex: str, *, block: bool = False) -> Markup:
    """A formula as MathML; as code where it cannot be read as one."""
    from latex2mathml.converter import convert_to_element

    tex = tex.strip()
    try:
        if not tex or len(tex) > LONGEST:
            return _written(tex)
        made = convert_to_element(tex, display="block" if block else "inline")
    except Exception:  # a text of a person's or a model's: whatever the converter makes of it
        return _written(tex)
    return Markup(_html(made))  # noqa: S704 - written out below, and cleaned after that


def _html(root: Element) -> str:
    root.attrib.pop("xmlns", None)
    for each in root.iter():
        each.text = unescape(each.text) if each.text else None
    return tostring(root, encoding="unicode", short_empty_elements=False)


def _written(tex: str) -> Markup:
    return Markup("<code>{}</code>").format(escape(tex))
