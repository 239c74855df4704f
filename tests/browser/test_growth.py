"""How a mate grew, used by hand: what it asks, undo, two of one, one of two."""

from playwright.async_api import expect

from loopforge.core.memory.memory_vocabulary import EvidenceLine, MemoryKept
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from tests.browser.people import Crowd, owner_of
from tests.browser.test_shape import looked_at
from tests.web.conftest import Town


async def test_a_mate_asks_changes_is_forked_and_merged(site: Town, crowd: Crowd) -> None:
    """Each step is told in the story; its pages fit every window, and axe finds nothing serious."""
    ana = await owner_of(site, crowd)
    page, growth = ana.page, site.app.growth
    room = await ana.makes_room("Bread", "maya")
    await ana.says("please wait until I have finished")
    await ana.hears("Maya")
    heard = next(e for e in await site.events(room) if isinstance(e.body, Heard))
    await site.app.chronicle.look()
    await growth.traits.propose("maya", "patience", "very high", "Ana asked me to.", [heard.id])
    evidence = (EvidenceLine(heard.stream, heard.seq, heard.id),)
    text = Words("I let people finish before I speak.")
    kept = MemoryKept(layer="core", text=text, made_by="idle", evidence=evidence)
    await site.app.memory.store.keep("maya", [kept], actor="runtime")

    await ana.opens("/mates/maya")
    await page.get_by_role("link", name="How it grew").click()
    await expect(page.locator(".growth-line").first).to_contain_text("please wait until I have")
    assert [one async for one in looked_at(ana, "/mates/maya/growth")] == []
    await ana.clicks("Yes, let it change")
    await expect(page.get_by_role("status")).to_contain_text("It is so from now on.")
    assert site.app.roster.get("maya").traits["patience"] == "very high"

    await page.get_by_label("Name of the new one").fill("Maya the Second")
    await page.get_by_role("button", name="Fork Maya").click()
    await expect(page.locator("h1")).to_contain_text("Maya the Second")
    for mate in ("maya", "maya-the-second"):
        file = site.path / "mates" / f"{mate}.md"
        text_now = file.read_text().replace("very high", "low" if mate == "maya" else "high", 1)
        await site.app.chronicle.write(mate, text_now + f"\nYou are like {mate}, and glad.\n")
    await ana.opens("/mates/maya/growth")
    await page.get_by_label("Which one").select_option("maya-the-second")
    await ana.clicks("Look")
    await expect(page.locator("h1")).to_contain_text("@maya takes in @maya-the-second")
    path = "/mates/maya/growth/merge?other=maya-the-second"
    assert [one async for one in looked_at(ana, path)] == []
    for name in await page.locator("fieldset.conflict").all():
        await name.get_by_role("radio").nth(1).check()
    await page.get_by_role("button", name="Merge").click()
    await expect(page.get_by_role("status")).to_contain_text("Merged.")
    assert site.app.roster.get("maya").traits["patience"] == "high"
    assert "like maya-the-second" in site.app.roster.get("maya").prompt
    assert [one async for one in looked_at(ana, "/mates/maya/growth")] == []
    await page.get_by_role("button", name="back").first.click()
    await expect(page.get_by_role("status")).to_contain_text("Taken back")
    assert site.app.roster.get("maya").traits["patience"] == "low"
