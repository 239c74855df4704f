"""A walk through the first half hour, with pictures: `.venv/bin/python docs/first_half_hour.py`.

A home as it is made, a newcomer at a browser, a model server on this machine that answers from a
few words written here, and somebody who is brought in. docs/first-half-hour.md shows the pictures,
and the tests walk the same way. Needs Chromium.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import async_playwright, expect

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from docs.palette import small  # noqa: E402

from loopforge.home import make_home  # noqa: E402
from loopforge.models_opening import open_models  # noqa: E402
from loopforge.runtime.system_clock import SystemClock, SystemDice  # noqa: E402
from loopforge.settings import load_settings  # noqa: E402
from tests.browser.conftest import ARGUMENTS, CHROMIUM  # noqa: E402
from tests.browser.people import Crowd, Person  # noqa: E402
from tests.models.own import own  # noqa: E402
from tests.web.conftest import town  # noqa: E402

IMAGES = ROOT / "docs" / "images"
SAID = (
    "I am Maya. Bridges, bread, plans: I find out what gave way first, and I like whoever says so."
    " What broke near you lately?"
)
WHY = "Ana wants to know who I am, so I say what I do, and ask for a case."


def answer(asked: dict[str, Any]) -> str:
    """What the server says: to a mere question a hello, and in a room what Maya would say."""
    if "response_format" not in asked:
        return "Hello! How can I help you today?"
    own = "You are Maya" in str(asked["messages"][0])
    form = {"mode": "context", "rule": "", "narrative": WHY if own else "It was Maya's to say."}
    said = {"speak": own, "say": SAID if own else "", "note": "", "again": False}
    return json.dumps({**form, **said})


Shoot = Callable[[Person, str], Awaitable[None]]
"""Keep what somebody sees under this name."""


async def walk(crowd: Crowd, home: Path, shoot: Shoot) -> None:
    """From the link that the terminal shows to the first guest."""
    make_home(home)
    environ = {"LOOPFORGE_EMBEDDED_MODEL": "true"}
    models = open_models(load_settings(home, environ=environ), SystemClock(), SystemDice())
    try:
        running = town(home, models=models, environ=environ, person="ana")
        async with own("ollama", says=answer) as server, running as site, crowd:
            ana = await crowd.person("Ana", site.address)
            await ana.page.goto(f"{site.address}/enter/{await site.app.accounts.links.offer()}")
            await ana.page.get_by_label("What shall mates call you?").fill("Ana")
            await shoot(ana, "first-1-come-in")
            await ana.clicks("Come in")
            await expect(ana.page.locator("#lines")).to_contain_text("Zuzu! Raccoon.")
            await shoot(ana, "first-2-greeted")
            await ana.page.get_by_role("link", name="Choose a better model").click()
            await shoot(ana, "first-3-steps")
            await better(ana, f"{server.url}/v1", shoot)
            await talk(ana, shoot)
            await bring(ana, await crowd.person("Ben", site.address), shoot)
    finally:
        await models.close()


async def better(ana: Person, address: str, shoot: Shoot) -> None:
    """A server of one's own is tried and saved, and the time zone is set."""
    await ana.page.get_by_label("Its address").fill(address)
    await ana.page.get_by_label("Its address").press("Enter")
    await expect(ana.page.get_by_role("status").first).to_contain_text("It opens llama3.2")
    await shoot(ana, "first-4-better")
    await ana.page.get_by_label("Time zone").select_option("Europe/Paris")
    await ana.page.get_by_role("button", name="Save", exact=True).click()
    await ana.page.get_by_role("link", name="Go and talk").click()


async def talk(ana: Person, shoot: Shoot) -> None:
    """A line that stands there is clicked, and answered; and why it was."""
    await ana.page.get_by_role("button", name="@maya Who are you?").click()
    await expect(ana.page.locator("#lines")).to_contain_text("What broke near you lately?")
    await ana.rests()
    await shoot(ana, "first-5-answered")
    await ana.page.locator("#lines a.why").last.click()
    await expect(ana.page.locator("#sheet .why-story")).to_be_visible()
    await shoot(ana, "first-6-why")
    await ana.page.keyboard.press("Escape")


async def bring(ana: Person, ben: Person, shoot: Shoot) -> None:
    """A link is made, and somebody comes in by it."""
    await ana.opens("/admin/invites")
    await ana.page.get_by_label("Into a room of yours").select_option("commons")
    await ana.clicks("Make the link")
    await shoot(ana, "first-7-link")
    link = await ana.page.get_by_label("The link", exact=True).input_value()
    await ben.joins(link)
    await shoot(ben, "first-8-guest")


async def keep(person: Person, name: str) -> None:
    """A picture of what somebody sees, small enough for a page."""
    await person.page.mouse.move(2, 2)
    await person.page.evaluate("document.fonts.ready")
    shot = await person.page.screenshot(animations="disabled", caret="hide")
    (IMAGES / f"{name}.png").write_bytes(small(shot, 1))
    print(name)


async def main() -> None:
    """Walk, and keep the pictures."""
    assert CHROMIUM, "no Chromium here: apt-get install chromium"
    with TemporaryDirectory() as home:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            await walk(Crowd(browser), Path(home), keep)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
