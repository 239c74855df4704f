"""The walk through the first half hour, as docs/first_half_hour.py takes its pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.first_half_hour import walk
from playwright.async_api import Browser

from tests.browser.people import Crowd, Person

pytestmark = pytest.mark.browser


async def test_the_first_half_hour(browser: Browser, tmp_path: Path) -> None:
    """From the link to the first guest; each picture of the page is of a moment of the walk."""
    seen: list[str] = []

    async def look(_: Person, name: str) -> None:
        seen.append(name)

    await walk(Crowd(browser), tmp_path, look)
    page = (Path(__file__).parents[2] / "docs/first-half-hour.md").read_text("utf-8")
    assert [name for name in seen if f"images/{name}.png" not in page] == []
