"""Faces: always the same for one seed, different for different ones, and harmless."""

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.web.rendering import avatar_faces
from loopforge.web.rendering.avatar_faces import face_svg, initials, initials_svg
from loopforge.web.server.page_templates import template_environment

ATTRIBUTES = {
    *("class", "viewBox", "aria-hidden", "focusable", "d", "fill", "x", "y"),
    *("text-anchor", "font-size", "font-weight"),
}
ELEMENTS = {"svg", "g", "path", "text"}


def checked(svg: str) -> ET.Element:
    """The drawing, which is well-formed and holds nothing but shapes."""
    drawing = ET.fromstring(svg)
    for each in drawing.iter():
        assert each.tag in ELEMENTS
        assert set(each.attrib) <= ATTRIBUTES
    return drawing


@given(st.text(max_size=40), st.text(max_size=12))
def test_any_seed_has_a_face(seed: str, colour: str) -> None:
    """Whatever the seed and the colour, the face is a drawing of shapes, hidden from readers."""
    drawing = checked(face_svg(seed, colour))
    assert drawing.attrib["aria-hidden"] == "true"


@given(st.text(max_size=40), st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"])))
def test_any_name_has_initials(seed: str, name: str) -> None:
    """A person's face shows at most two letters of the name, escaped."""
    text = checked(initials_svg(seed, name)).find("text")
    assert text is not None
    assert text.text == initials(name)


def test_a_face_stays() -> None:
    """The same seed gives the same face, also after all that was drawn is forgotten."""
    before = face_svg("maya", "#2a9d8f"), initials_svg("p1", "Ada")
    avatar_faces.forget_all()
    assert (face_svg("maya", "#2a9d8f"), initials_svg("p1", "Ada")) == before


def test_a_face_is_in_its_colour() -> None:
    """A mate's colour makes every shade of its face, by whatever name it is called."""
    assert face_svg("merlin", "#008080") == face_svg("merlin", "teal")
    assert face_svg("merlin", "#9b5de5") != face_svg("merlin", "teal")


@pytest.mark.parametrize(
    ("name", "letters"),
    [("Ada Lovelace", "AL"), ("bo", "B"), ("", "?"), ("<b>", "B"), ("A B C", "AC"), ("ß x", "SS")],
)
def test_initials(name: str, letters: str) -> None:
    """Initials are one or two letters, of the first name and the last."""
    assert initials(name) == letters


def test_no_two_robots_show_one_face() -> None:
    """Names that differ by a space or a dash alone are drawn each by itself, and shown so."""
    names = ["A B", "A-B", "A_B", "A_-B", "A__B"]
    parts = template_environment().get_template("lab-parts.html").module
    drawn = re.findall(r'<symbol id="(bot-[^"]*)"', str(parts.faces(names)))  # type: ignore[attr-defined]
    shown = [re.findall(r'href="#(bot-[^"]*)"', str(parts.bot(name))) for name in names]  # type: ignore[attr-defined]
    assert len(set(drawn)) == len(names)
    assert shown == [[each] for each in drawn]
