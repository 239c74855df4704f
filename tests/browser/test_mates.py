"""The pages of mates and of the owner, used by hand."""

import asyncio

import pytest
from playwright.async_api import Route, expect

from tests.browser.people import Crowd, owner_of
from tests.web.conftest import Town

HOUSE = ("people", "invites", "rooms", "models", "usage", "budgets", "ledger", "settings")


async def test_a_mate_is_made_broken_mended_and_tried(site: Town, crowd: Crowd) -> None:
    """The live check names the line that is wrong and leads there; mended, the new mate answers."""
    ana = await owner_of(site, crowd)
    page = ana.page
    await ana.opens("/mates")
    await page.get_by_role("link", name="New mate").click()
    await page.get_by_label("Name").fill("Otto")
    await page.get_by_label("What it does").fill("baker of stubborn breads")
    await ana.clicks("Start with a sketch")
    text, check = page.locator("#text"), page.locator("#check")
    await expect(check).to_contain_text("This is a mate.")
    sketch = await text.input_value()
    assert "Otto" in sketch
    await text.fill(sketch.replace("\ntier: 1\n", "\ntier: eleven\n"))
    await expect(check).to_contain_text("in the way")
    await expect(page.locator("#verdict")).to_contain_text("in the way")
    number = sketch.split("\n").index("tier: 1") + 1
    await expect(page.locator(".editor-lines > .is-bad")).to_have_text("tier: eleven")
    link = check.locator("[data-line]").first
    await expect(link).to_contain_text(str(number))
    await link.click()
    await expect(text).to_be_focused()
    marked = await text.evaluate("each => each.value.slice(each.selectionStart, each.selectionEnd)")
    assert marked == "tier: eleven"
    await text.fill(sketch)
    await expect(check).to_contain_text("This is a mate.")
    await page.keyboard.press("Control+s")
    await expect(page.get_by_role("status")).to_be_visible()
    await expect(page.locator("h1")).to_contain_text("Otto")

    await page.get_by_role("link", name="Edit").click()
    await text.fill(sketch + "\nYou sigh before each answer.\n")
    await expect(check).to_contain_text("This is a mate.")
    await ana.clicks("Save")
    await expect(page.locator("h1")).to_contain_text("Otto")
    await page.get_by_role("link", name="History").click()
    await expect(page.locator(".history > li").first).to_contain_text("by olu")
    await page.locator(".history a.hash").first.click()
    await expect(page.locator("main")).to_contain_text("You sigh before each answer.")
    await ana.opens("/mates/otto")
    await ana.clicks("Try it out")
    await ana.is_in()
    await expect(page.locator("#scene-body [data-handle]")).to_have_count(1)
    colour = "each => getComputedStyle(each).getPropertyValue('--mate-raw')"
    assert await page.locator("#scene-body [data-handle=otto]").evaluate(colour)
    await ana.says("how warm must it be?")
    said = await ana.hears("Otto")
    await expect(said.locator(".words")).to_contain_text("how warm must it be")


@pytest.mark.patient
async def test_what_is_written_before_the_page_is_ready_is_checked(
    site: Town, crowd: Crowd
) -> None:
    """On a slow line somebody writes before the page's scripts have come: that is checked too."""
    ana = await owner_of(site, crowd)
    page, written = ana.page, asyncio.Event()

    async def late(route: Route) -> None:
        await written.wait()
        await route.continue_()

    await page.route("**/htmx.min.js*", late)
    await page.goto(f"{site.address}/mates/maya/edit", wait_until="commit")
    text, check = page.locator("#text"), page.locator("#check")
    await expect(check).to_contain_text("This is a mate.")
    await text.fill("no mate at all")
    written.set()
    await expect(check).to_contain_text("in the way")
