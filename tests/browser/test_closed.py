"""Doors that stay closed: strangers, people of other rooms, people who left."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.people import Crowd, Person, guest_of, owner_of
from tests.web.conftest import Town

pytestmark = pytest.mark.browser


async def fetched(person: Person, path: str) -> int:
    """What status the page's own script would get."""
    status: int = await person.page.evaluate("path => fetch(path).then((a) => a.status)", path)
    return status


async def test_a_room_is_closed_to_whoever_is_not_in_it(site: Town, crowd: Crowd) -> None:
    """A stranger must sign in; to a guest of another room and a former member nothing is there."""
    ana = await owner_of(site, crowd)
    room = await ana.makes_room("Very private matters", "maya")
    await ana.says("@maya the cellar key is under the fern")
    line = await ana.hears("Maya")
    why = await line.locator("a.why").get_attribute("href")
    other = await ana.makes_room("Weather", "merlin")
    paths = (f"/rooms/{room}", f"/rooms/{room}/stream", str(why), f"/rooms/{room}/search?words=key")

    eve = await crowd.person("eve", site.address)
    eve.expects("status of 401", "status of 404")
    for path in paths:
        await eve.opens(path)
        await expect(eve.page.get_by_role("heading", name="Who is it?")).to_be_visible()
        assert "fern" not in await eve.page.content()
        assert "private matters" not in await eve.page.content()

    ben = await guest_of(other, ana, crowd)
    ben.expects("status of 404")
    carl = await guest_of(room, ana, crowd, "carl")
    carl.expects("status of 404")
    await ana.says("welcome carl")
    await carl.sees("welcome carl")
    assert "fern" not in await carl.page.content(), "said before carl came"
    await carl.opens(f"/rooms/{room}/settings")
    await carl.clicks("Leave this room")
    for out in (ben, carl):
        await expect(out.page.locator("main")).to_be_visible()
        await out.opens("/")
        assert "Very private" not in await out.page.content()
        for path in paths:
            assert await fetched(out, path) == 404
            answer = await out.opens(path)
            assert answer.status == 404
            await expect(out.page.get_by_role("heading", name="Nothing here")).to_be_visible()
            assert "fern" not in await out.page.content()


async def test_an_open_page_closes_when_its_reader_is_no_longer_there(
    site: Town, crowd: Crowd
) -> None:
    """Who leaves, who signs out, and who is in a deleted room, is led out of every open page."""
    ana = await owner_of(site, crowd)
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
    for each, heading in ((ben, "No rooms yet"), (carl, "Who is it?"), (dora, "No rooms yet")):
        await expect(each.page.locator("main h1")).to_have_text(heading)
    assert "soon this is gone" not in " ".join(repr(each) for each in await site.events(room))
