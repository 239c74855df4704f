"""Edits, deletions and reactions under Chromium: a page that is open follows them."""

from pathlib import Path

from playwright.async_api import expect

from loopforge.core.room_vocabulary import Heard
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from tests.browser.people import Crowd, Person, owner_of
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


async def test_what_is_forgotten_leaves_an_open_page_and_takes_nothing_along(
    site: Town, ana: Person
) -> None:
    """What somebody edits, answers and is about to send stays, and so do reactions on other lines."""
    room = await ana.makes_room("Rye", "maya")
    page, owner = ana.page, site.app.accounts.decisions.book.owner()
    await ana.says("Rye it is")
    await ana.hears("Maya")
    await ana.says("@maya who are you?")
    line = (await ana.hears("Maya", 2)).last
    rye, who = [e.id for e in await site.events(room) if isinstance(e.body, Heard)]
    await site.app.front.react(room, owner, rye, "🌱")
    await expect(page.locator(f"[data-id='{rye}'] .reaction")).to_have_text("🌱")
    await page.set_input_files(
        "#files", {"name": "1.txt", "mimeType": "text/plain", "buffer": b"1"}
    )
    await line.get_by_role("button", name="Reply").press("Enter")
    await page.locator(f"[data-id='{who}']").get_by_text("More").press("Enter")
    await page.locator(f"[data-id='{who}']").get_by_role("button", name="Edit").press("Enter")
    await page.get_by_label("Your line").fill("half a")
    said = str(await line.get_attribute("data-id"))
    await site.app.ledger.erase(ErasureRequest(events=(said,)))
    await expect(line.locator(".words")).to_have_text("These words were forgotten.")
    await expect(page.locator("#replying .gist")).to_have_text("Maya: These words were forgotten.")
    await expect(page.get_by_label("Your line")).to_have_value("half a")
    await expect(page.locator("#waiting")).to_contain_text("1.txt")
    await expect(page.locator(f"[data-id='{rye}'] .reaction")).to_have_text("🌱")
