"""Two people at one tab, one after the other; and somebody who may not do what they press."""

from playwright.async_api import expect

from loopforge.core.room_vocabulary import RightsSet
from tests.browser.people import Crowd, Person, guest_of
from tests.web.conftest import PASSWORD, Town


async def test_what_somebody_typed_is_not_the_next_ones(
    site: Town, crowd: Crowd, ana: Person
) -> None:
    """Who signs in at another's tab finds an empty field; the other finds their words again."""
    room = await ana.makes_room("Oven")
    ben = await guest_of(room, ana, crowd)
    await ben.page.locator("#text").fill("what ben never said")
    await ben.opens("/you")
    await ben.clicks("Sign out here")
    link = f"{site.address}/enter/{await site.app.accounts.links.offer()}"
    await ben.page.goto(link)
    await ben.clicks("Come in")
    await ben.opens(f"/rooms/{room}")
    await ben.is_in()
    await expect(ben.page.locator("#text")).to_have_value("")
    await ben.opens("/you")
    await ben.clicks("Sign out here")
    await ben.page.get_by_label("Name").fill("ben")
    await ben.page.get_by_label("Password").fill(PASSWORD)
    await ben.clicks("Sign in")
    await ben.opens(f"/rooms/{room}")
    await expect(ben.page.locator("#text")).to_have_value("what ben never said")


async def test_a_stop_that_stops_nothing_says_so(site: Town, crowd: Crowd, ana: Person) -> None:
    """Whoever may not stop mates is told why when they press the button."""
    room = await ana.makes_room("Oven", "maya")
    ben = await guest_of(room, ana, crowd)
    people = (await site.app.front.rooms.scene(room)).people
    who = next(person for person, name in people if name == "ben")
    await site.app.rooms.add(room, "", RightsSet(who=who, rights=("talk",)))
    ben.expects("status of 400")
    await ben.page.locator("#stop").get_by_role("button").click()
    await expect(ben.page.locator("#problem")).to_contain_text("Nothing was stopped. ")
    assert not [each for each in await site.events(room) if each.kind == "room.stopped"]
