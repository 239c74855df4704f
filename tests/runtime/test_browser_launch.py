"""The browser is opened where somebody sees it, by a file that is theirs alone."""

import os
import stat
from pathlib import Path

import pytest

from loopforge.runtime.installation.browser_launch import has_screen, open_page

LINK = "http://127.0.0.1:8321/enter/a-token&more"


@pytest.mark.parametrize(
    ("platform", "environ", "seen"),
    [
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("linux", {}, False),
        ("linux", {"DISPLAY": ":10", "SSH_CONNECTION": "10.0.0.1 22"}, False),
        ("linux", {"DISPLAY": ":0", "CI": "true"}, False),
        ("darwin", {}, True),
        ("darwin", {"SSH_CONNECTION": "10.0.0.1 22"}, False),
    ],
)
def test_where_a_browser_would_be_seen(platform: str, environ: dict[str, str], seen: bool) -> None:
    """On a desktop, and not from afar."""
    assert has_screen(environ, platform) is seen


def test_the_address_goes_by_a_file_of_ones_own(tmp_path: Path) -> None:
    """A browser is given the file, which leads on; no address stands on a command line."""
    told = tmp_path / "told"
    os.mkfifo(told)
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > {told}\n')
    browser.chmod(0o700)
    page = tmp_path / "data/open.html"
    environ = {"PATH": "/usr/bin:/bin", "DISPLAY": ":0", "BROWSER": str(browser)}
    assert open_page(LINK, page, environ)
    assert told.read_text().strip() == page.as_uri()
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert 'content="0;url=http://127.0.0.1:8321/enter/a-token&amp;more"' in page.read_text()


def test_nothing_is_written_where_nobody_sees_it(tmp_path: Path) -> None:
    """No screen, no file."""
    assert not open_page(LINK, tmp_path / "open.html", {})
    assert not (tmp_path / "open.html").exists()
