"""Why? in the browser: the panel beside the room, and the record's own page."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from playwright.async_api import expect

from tests.browser.people import Crowd, Person, owner_of
from tests.web.conftest import Town


async def test_why_opens_beside_the_line_and_gives_the_reader_back(ana: Person) -> None:
    """The story comes first, sections fold, records lead to records, Escape returns the focus."""
    await ana.makes_room("Bread", "maya")
    await ana.says("@maya why did my bread not rise?")
    line = await ana.hears("Maya")
    page, sheet = ana.page, ana.page.locator("#sheet")
    why = line.locator("a.why")
    await why.focus()
    await page.keyboard.press("Enter")
    await expect(sheet.locator(".why-story p").first).to_contain_text("Maya")
    assert await page.evaluate("document.getElementById('sheet').contains(document.activeElement)")
    assert page.url.endswith(await page.locator("main").get_attribute("data-room") or "-")
    story = await sheet.locator(".why-story").inner_text()
    assert "{" not in story
    assert "olu" in story

    sections = sheet.locator("article > details")
    assert await sections.count() >= 6
    for section in await sections.all():
        assert await section.get_attribute("open") is None
        await section.locator("> summary").click()
        await expect(section).to_have_attribute("open", "")
        assert (await section.inner_text()).strip()
    await expect(sheet).to_contain_text("The exact prompts")
    await expect(sheet).to_contain_text("why did my bread not rise?")
    assert not await ana.sideways()
    await sections.first.locator("> summary").click()
    await expect(sections.first).not_to_have_attribute("open", "")

    await sections.first.locator("> summary").click()
    await sections.first.get_by_role("link", name="what became of it?").click()
    await expect(sheet.locator("#sheet-title")).to_have_text("What became of this line?")
    await page.keyboard.press("Escape")
    await expect(sheet).to_be_hidden()
    focused = await page.evaluate("document.activeElement.className + document.activeElement.id")
    assert focused in ("why", "text"), focused

    await why.click()
    await expect(sheet.locator(".why-story")).to_be_visible()
    await ana.clicks("Close")
    await expect(sheet).to_be_hidden()
    await expect(why).to_be_focused()


async def test_times_are_told_by_the_clock_of_the_reader(site: Town, crowd: Crowd) -> None:
    """Where a line came by the stream, in its record, and on its day; on hover the whole of it.

    The home lives in UTC, and says so to a browser without scripts.
    """
    async with crowd:
        zone = ZoneInfo("Pacific/Kiritimati")  # UTC+14
        olu = await owner_of(site, crowd, timezone_id=zone.key)
        page = olu.page
        await olu.makes_room("Bread", "maya")
        await olu.says("@maya why did my bread not rise?")
        line = await olu.hears("Maya")
        times = page.locator("#lines > .line time")
        for time in await times.all():
            at = datetime.fromisoformat(await time.get_attribute("datetime") or "").astimezone(zone)
            await expect(time).to_have_text(f"{at:%H:%M}")
            await expect(time).to_have_attribute(
                "title", re.compile(f"{at:%A},? {at:%-d %B %Y}.*GMT\\+14")
            )
            await expect(page.locator("#lines > .day")).to_contain_text(f"{at:%-d %B %Y}")
        called = await times.first.inner_text()
        await line.locator("a.why").click()
        await expect(page.locator(".why-story")).to_contain_text(f"line at {called} called Maya")
        assert "told by the clock of UTC." in await page.locator("noscript").last.inner_html()
