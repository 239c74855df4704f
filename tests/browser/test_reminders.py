"""Reminders in a room's page: the panel beside it is told at once, and one that rang has buttons."""

import pytest
from playwright.async_api import expect

from tests.browser.people import Crowd, guest_of, owner_of
from tests.web.conftest import Town


@pytest.mark.patient
async def test_one_that_rang_is_put_off_in_the_room(site: Town, crowd: Crowd) -> None:
    """Whose it is presses under its line; the panel of everybody shows it; others have no buttons."""
    async with crowd:
        ana = await owner_of(site, crowd, "ana")
        room = await ana.makes_room("Kitchen", "maya")
        ben = await guest_of(room, ana, crowd)
        command = site.app.front.commands.act
        (state, *_) = [await site.app.front.rooms.state(room)]
        person = next(id for id, one in state.people.items() if str(one.name) == "ana")
        await command(room, person, "remind", "in one second: <b>tea</b>")
        for each in (ana, ben):
            await expect(each.page.locator("[data-asks^=rung] .asked")).to_contain_text("⏰")
            await expect(each.page.locator(".bells")).to_have_count(0)
        buttons = ana.page.locator("[data-asks^=rung] form button")
        await expect(buttons).to_have_text(["In 10 minutes", "In an hour", "Tomorrow", "Cancel"])
        await expect(ben.page.locator("[data-asks^=rung] form")).to_have_count(0)
        await buttons.nth(1).click()
        await expect(ana.page.locator("[data-asks^=rung]")).to_contain_text("in 1 hour")
        for each in (ana, ben):
            await expect(each.page.locator("#scene .bells b")).to_have_text("<b>tea</b>")
        await ana.page.locator("[data-asks^=rung] form button").nth(3).click()
        await expect(ana.page.locator("[data-asks^=rung]")).to_contain_text("It rings no more.")
        await expect(ana.page.locator("[data-asks^=rung] form")).to_have_count(0)
        await expect(ben.page.locator(".bells")).to_have_count(0)
