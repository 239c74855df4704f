"""Doors that stay closed: strangers, people of other rooms, people who left."""

import pytest
from playwright.async_api import expect

from tests.browser.people import Crowd, Person, guest_of
from tests.web.conftest import Town


@pytest.mark.patient
async def test_an_open_page_closes_when_its_reader_is_no_longer_there(
    site: Town, crowd: Crowd, ana: Person
) -> None:
    """Who leaves, who signs out, and who is in a deleted room, is led out of every open page."""
    room = await ana.makes_room("Tea", "maya")
    ben = await guest_of(room, ana, crowd)
    carl = await guest_of(room, ana, crowd, "carl")
    dora = await guest_of(room, ana, crowd, "dora")
    for each, status in ((ben, 404), (carl, 401), (dora, 404)):
        each.expects(f"status of {status}")
    await ana.says("@maya soon this is gone")
    await dora.hears("Maya")
    tab = await ben.context.new_page()
    await tab.goto(f"{site.address}/rooms/{room}/settings")
    await tab.get_by_role("button", name="Leave this room").click()
    await expect(ben.page.locator("#sign")).to_contain_text("Going back to your rooms")
    tab = await carl.context.new_page()
    await tab.goto(f"{site.address}/you")
    await tab.get_by_role("button", name="Sign out here").click()
    await expect(carl.page.locator("#text")).to_be_disabled()
    await ana.opens(f"/rooms/{room}/settings")
    await ana.page.get_by_role("link", name="Delete this room").click()
    await expect(ana.page.locator("h1")).to_contain_text("Delete “Tea”?")
    await ana.page.get_by_label("I am sure").check()
    await ana.clicks("Delete the room")
    await expect(ana.page.locator("h1")).to_have_text("Your rooms")
    assert "Tea" not in await ana.page.locator("main .doors").inner_text()
    for each, heading in ((ben, "No rooms yet"), (carl, "Sign in"), (dora, "No rooms yet")):
        await expect(each.page.locator("main h1")).to_have_text(heading)
    assert "soon this is gone" not in " ".join(repr(each) for each in await site.events(room))
