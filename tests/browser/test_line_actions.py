"""What people do to lines, and getting about: menus under lines, keys, the list of rooms."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.people import Crowd, Person, guest_of
from tests.web.conftest import Town

RICH = (
    "Look:\n\n```python\ndef add(a, b):  # sums\n    return a + b\n```\n\n"
    "- [ ] milk\n- [x] bread\n\nand $E=mc^2$"
)


@pytest.mark.patient  # its home was once not closed to its end
async def test_lines_are_changed_marked_and_taken_back(
    site: Town, ana: Person, crowd: Crowd
) -> None:
    """One's own line is edited by arrow-up, reacted to, quoted and deleted; others see each of it."""
    room = await ana.makes_room("Bread")
    ben = await guest_of(room, ana, crowd)
    await ana.says(RICH)
    for one in (ana, ben):
        line = one.page.locator("#lines > .line").last
        await expect(line.locator(".hk").first).to_have_text("def")
        await expect(line.locator("math")).to_be_visible()
        await expect(line.locator(".task")).to_have_count(2)
        await expect(line.locator(".copy-code")).to_have_count(1)
    await ana.says("Rye it is")
    mine = ana.line("Rye it is")
    await expect(mine).to_be_visible()
    await ana.page.locator("#text").press("ArrowUp")
    field = ana.page.get_by_label("Your line")
    await expect(field).to_have_value("Rye it is")
    await field.fill("Rye it **was**")
    await field.press("Enter")
    await expect(ben.line("Rye it was")).to_be_visible()

    theirs = ben.line("Rye it was")
    await theirs.get_by_text("More").press("Enter")
    await expect(theirs.get_by_role("button", name="Delete")).to_have_count(0)
    await theirs.get_by_role("button", name="Quote").click()
    await expect(ben.page.locator("#text")).to_have_value("> Rye it **was**\n\n")
    await ben.page.locator("#text").fill("")
    await theirs.get_by_label("React").press("Enter")
    await theirs.get_by_role("button", name="🎉").click()
    chip = ana.line("Rye it was").locator(".reaction")
    await expect(chip).to_have_text("🎉")
    await chip.click()
    await expect(theirs.locator(".reaction")).to_have_text("🎉 2")

    await theirs.get_by_text("More").press("Enter")
    await theirs.get_by_role("button", name="Pin").press("Enter")
    await expect(ana.line("Rye it was").locator(".pinned")).to_have_text("pinned")
    await ana.page.get_by_role("link", name="Pinned lines").click()
    await expect(ana.page.locator("#panel .finds")).to_contain_text("Rye it was")
    await ana.page.keyboard.press("Escape")

    gone = ana.line("Rye it was")
    await gone.get_by_text("More").press("Enter")
    await gone.get_by_role("button", name="Delete").click()
    await gone.get_by_role("button", name="Delete for good?").click()
    await expect(ben.line("Deleted by olu.")).to_be_visible()


async def test_getting_about_by_keys(site: Town, ana: Person) -> None:
    """Rooms stand beside a room with what is new; Ctrl+K and Ctrl+F6 go to one, ? tells the keys."""
    other = await ana.makes_room("Cellar plans")
    room = await ana.makes_room("Bread")
    guest = await site.guest("ben", other, by=await site.owner())
    await site.heard(other, guest, *[f"Line {nth}" for nth in range(70)])
    await ana.opens(f"/rooms/{room}")
    await ana.is_in()
    entry = ana.page.locator("#beside li", has_text="Cellar plans")
    await expect(entry.locator(".badge")).to_have_text("70")
    await ana.page.locator("#text").press("?")
    await expect(ana.page.get_by_role("dialog", name="Shortcuts")).to_be_visible()
    await ana.page.keyboard.press("Escape")
    await ana.page.keyboard.press("Control+k")
    await ana.page.keyboard.type("cell")
    await ana.page.keyboard.press("Enter")
    await expect(ana.page).to_have_url(re.compile(f"/rooms/{other}"))
    await ana.is_in()
    await site.heard(room, await site.guest("cleo", room, by=await site.owner()), "Just now")
    await ana.page.keyboard.press("Control+F6")  # whenever the list was asked for last
    await expect(ana.page).to_have_url(re.compile(f"/rooms/{room}"))
    await ana.is_in()
    await ana.turns_phone()
    assert await ana.sideways() == []


async def test_what_a_command_told_is_closed(site: Town, ana: Person) -> None:
    """Escape closes it and stops nobody, as its cross does; the field has the focus again."""
    room = await ana.makes_room("Tea", "maya")
    told, cross = ana.page.locator("#told"), ana.page.get_by_label("Close this answer")
    await expect(cross).to_be_hidden()
    await ana.says("/help")
    await expect(told).to_contain_text("/stop")
    await ana.page.keyboard.press("Escape")
    await expect(told).to_be_hidden()
    await ana.page.keyboard.press("Escape")
    await ana.says("/help")
    await expect(told).to_contain_text("/stop")
    await cross.click()
    await expect(told).to_be_hidden()
    await expect(ana.page.locator("#text")).to_be_focused()
    assert not [event for event in await site.events(room) if event.kind == "room.stopped"]
