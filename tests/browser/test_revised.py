"""Edits, deletions and reactions under Chromium: a page that is open follows them."""

from pathlib import Path

from playwright.async_api import expect

from loopforge.core.room_vocabulary import Heard
from tests.browser.people import Crowd, owner_of
from tests.web.conftest import Town


async def test_an_open_page_follows_what_becomes_of_a_line(
    site: Town, crowd: Crowd, tmp_path: Path
) -> None:
    """It says what it says now, bears people's signs with their names, and empties when deleted."""
    olu = await owner_of(site, crowd)
    room = await olu.makes_room("Tea")
    await olu.says("I grow turnips")
    await olu.sees("I grow turnips")
    heard = next(e for e in await site.events(room) if isinstance(e.body, Heard))
    assert isinstance(heard.body, Heard)
    person, front = heard.body.person, site.app.front
    line = olu.page.locator(f'[data-id="{heard.id}"]')

    await front.rooms.edit(room, person, heard.id, "I grow **leeks**")
    await expect(line.locator(".words strong")).to_have_text("leeks")
    await expect(line.locator(".aside")).to_have_text("edited")
    await expect(line).not_to_contain_text("turnips")

    await front.react(room, person, heard.id, "👍")
    sign = line.locator(".reaction")
    await expect(sign).to_have_attribute("aria-label", "👍 from olu")
    await olu.shot(tmp_path / "edited.png")
    await front.react(room, person, heard.id, "👍", back=True)
    await expect(sign).to_have_count(0)

    await front.react(room, person, heard.id, "🌱")
    await olu.page.reload()
    await expect(line.locator(".words strong")).to_have_text("leeks")
    await expect(line.locator(".aside")).to_have_text("edited")
    await expect(sign).to_have_attribute("aria-label", "🌱 from olu")
    await expect(olu.page.locator("#lines > .event[data-line]")).to_have_count(0)

    await front.rooms.delete(room, person, heard.id)
    await expect(line).to_contain_text("Deleted by olu.")
    await expect(line).not_to_contain_text("leeks")
    await site.app.forgetting.finish(f"room:{room}")
    await olu.page.wait_for_load_state()
    await expect(line).to_contain_text("Deleted by olu.")
