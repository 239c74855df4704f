"""A tool that a mate wrote, in the browser: read as a card, approved, seen on the owner's page."""

from pathlib import Path

from playwright.async_api import expect

from tests.browser.people import Crowd, owner_of
from tests.browser.test_asking import card
from tests.rooms.conftest import write_mates
from tests.rooms.test_written_tools import MATE, inventor
from tests.web.conftest import town


async def test_the_owner_reads_a_tool_and_takes_it_back(tmp_path: Path, crowd: Crowd) -> None:
    """The card has its code line by line; the page of tools has its versions, and takes it back."""
    write_mates(tmp_path, (), maya=MATE)
    async with town(tmp_path, inventor) as site, crowd:
        ana = await owner_of(site, crowd, "ana")
        await ana.makes_room("Lab", "maya")
        for number, which in ((1, "first"), (2, "second")):
            await ana.says(f"@maya write the {which} one")
            await expect(card(ana, number)).to_contain_text(f"say_often, version {number}")
            await expect(card(ana, number).locator("pre")).to_contain_text("' '.join(words)")
            await expect(
                card(ana, number).get_by_role("button", name="and do not ask")
            ).to_have_count(0)
            await ana.shot(tmp_path / f"card-{number}.png")
            await card(ana, number).get_by_role("button", name="Yes, do it").click()
            await expect(card(ana, number).locator(".settled")).to_have_text("ana said yes.")
            await expect(ana.page.locator("#lines")).to_contain_text(
                f"say_often, version {number},"
            )
        await expect(card(ana, 2).locator("pre")).to_contain_text("-words = [text] * (times or 2)")
        await ana.opens("/admin/tools")
        await ana.page.get_by_text("Version 1, by maya").click()
        await ana.shot(tmp_path / "tools.png")
        await ana.turns_phone()
        assert await ana.sideways() == []
        await ana.shot(tmp_path / "tools-phone.png")
        await ana.clicks("Take back say_often")
        await expect(ana.page.get_by_role("status")).to_have_text(
            "say_often, version 2, is taken back."
        )
