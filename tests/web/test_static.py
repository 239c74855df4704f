"""What browsers are given besides pages: little, nothing from elsewhere, nothing the policy forbids."""

import re
from importlib.resources import files
from pathlib import Path

from tests.every_row import every_row

WEB = Path(str(files("loopforge.web")))
STATIC, TEMPLATES = WEB / "static", WEB / "templates"
ROOM = (
    *("style.css", "theme.js", "room.js", "composer.js", "line-actions.js", "room-keys.js"),
    *("held-streams.js", "notifications.js", "favicon.svg"),
)
LIGHT = 96_000
"""Bytes; with the HTML of sixty lines (about 80 kB) a room's page is below 200 kB."""
OURS = sorted({*STATIC.glob("*.js"), *STATIC.glob("*.css")} - {STATIC / "htmx.min.js"})


def test_a_room_is_light() -> None:
    """The files of a room's page are small; its script is below 27 kB."""
    assert sum((STATIC / name).stat().st_size for name in ROOM) < LIGHT
    assert (STATIC / "room.js").stat().st_size < 27_000


@every_row(OURS)
def test_nothing_comes_from_elsewhere(path: Path) -> None:
    """No stylesheet or script of ours names another host, evaluates text, or imports from afar."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"""https?://(?!www\.w3\.org/2000/svg)|["'(]//""", text)
    assert not re.search(r"\beval\(|new Function|document\.write|@import", text)


@every_row(sorted(TEMPLATES.glob("*.html")))
def test_templates_keep_to_the_policy(path: Path) -> None:
    """No template has an inline script, a style, an event attribute, or a file from elsewhere."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", text)
    assert not re.search(r"""\b(?:src|href)=["'](?:https?:)?//""", text)
    assert "hx-on" not in text


@every_row(sorted(TEMPLATES.glob("*.html")))
def test_forms_that_post_carry_their_token(path: Path) -> None:
    """Every form that posts has the hidden field that shows it comes from this site."""
    text = path.read_text(encoding="utf-8")
    for form in re.findall(r"<form\b.*?</form>", text, re.DOTALL | re.IGNORECASE):
        if re.search(r"method=[\"']post", form, re.IGNORECASE):
            assert "csrf_input" in form, form[:200]


def test_one_main_landmark() -> None:
    """The main landmark stands in base.html and nowhere else."""
    with_main = [path.name for path in TEMPLATES.glob("*.html") if "<main " in path.read_text()]
    assert with_main == ["base.html"]


def test_what_others_wrote_is_named() -> None:
    """Every file that is not ours stands in LICENSES.txt."""
    assert "htmx.min.js" in (STATIC / "LICENSES.txt").read_text(encoding="utf-8")
