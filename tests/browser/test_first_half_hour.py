"""The walk through the first half hour, as docs/first_half_hour.py takes its pictures."""

from pathlib import Path

import pytest
from docs.first_half_hour import arrive, stage, talk, walk
from playwright.async_api import Browser

from loopforge.runtime.installation.network_addresses import own_addresses
from tests.browser.people import Crowd, Person

PAGE = Path(__file__).parents[2] / "docs/first-half-hour.md"


def missing(seen: list[str]) -> list[str]:
    """The pictures that were taken and that the page does not show."""
    page = PAGE.read_text("utf-8")
    return [name for name in seen if f"images/{name}.png" not in page]


async def test_the_first_minutes(browser: Browser, tmp_path: Path) -> None:
    """A newcomer comes in, takes a better model, talks, asks why, stops, by what stands there."""
    seen: list[str] = []

    async def look(_: Person, name: str) -> None:
        seen.append(name)

    async with stage(Crowd(browser), tmp_path, look) as here, here.opened() as site:
        ana = await arrive(here, site)
        await talk(here, site, ana)
        await ana.say("/model")
        await ana.sees("llama3.2")
        await ana.page.goto("about:blank")
    assert len(seen) == 8
    assert missing(seen) == []


@pytest.mark.patient
async def test_the_whole_half_hour(browser: Browser, tmp_path: Path) -> None:
    """All 25 things, from the link to a phone, each by what the pages show and name alone."""
    if not own_addresses():
        pytest.skip("this machine is on no network, so no phone could come in")
    seen: list[str] = []

    async def look(_: Person, name: str) -> None:
        seen.append(name)

    await walk(Crowd(browser), tmp_path, look)
    assert len(seen) == 25
    assert missing(seen) == []
    assert PAGE.read_text("utf-8").count("(images/half-hour-") == 25
