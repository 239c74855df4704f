"""Pages that show themselves anew by themselves: nobody loses their place, a click or a word."""

import asyncio
import re
import threading
from pathlib import Path

from playwright.async_api import Locator, expect

from loopforge.models.scripted_model import ScriptedModels
from tests.browser.people import Crowd, Person, guest_of, owner_of
from tests.browser.test_lab import CLOCK, slow
from tests.held_clock import HeldClock
from tests.models.hub import hub
from tests.web.conftest import Town, town
from tests.web.labs import played
from tests.web.test_model_files import FILES, SMALLEST

FORM = {"scenario": "first_shift", "policy": "llm", "days": "1", "steps": "3", "seed": "1"}


async def presses(person: Person, what: Locator) -> None:
    """Put the pointer on something and press it, without letting go."""
    await what.scroll_into_view_if_needed()
    box = await what.bounding_box()
    assert box is not None
    await person.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await person.page.mouse.down()


async def test_the_list_beside_a_room_holds_who_is_in_it(
    site: Town, crowd: Crowd, ana: Person
) -> None:
    """News elsewhere are counted there; a key that stands on a room stays, and a press is no loss."""
    news = await ana.makes_room("News")
    ben = await guest_of(news, ana, crowd)
    await ana.makes_room("Tea")
    page, list = ana.page, ana.page.locator("#beside")
    row = list.get_by_role("link", name="News")
    await row.focus()
    await ben.says("one")
    await ben.sees("one")
    await page.evaluate("dispatchEvent(new Event('focus'))")
    await expect(row.locator(".badge")).to_have_text("1")
    await expect(row).to_be_focused()
    await presses(ana, row)
    await ben.says("two")
    await ben.sees("two")
    async with page.expect_response(re.compile("/beside$")):
        await page.evaluate("dispatchEvent(new Event('focus'))")
    await page.evaluate(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    await page.mouse.up()
    await expect(page.locator("#title")).to_have_text("News")


async def test_a_run_that_ends_takes_nothing_from_who_is_in_the_list(
    tmp_path: Path, crowd: Crowd
) -> None:
    """It stands there as finished; what somebody types or presses meanwhile is theirs."""
    pace = HeldClock()
    async with town(tmp_path, models=ScriptedModels(slow, clock=pace)) as site, crowd:
        ana = await owner_of(site, crowd)
        await played(site)
        await (await site.owner()).post("/lab", FORM)
        await ana.opens("/lab")
        page, going = ana.page, ana.page.locator(".run.is-running")
        await expect(going).to_be_visible()
        await page.get_by_label("Tick spun, to delete it").check()
        seed = page.get_by_label("Seed")
        await seed.fill("42")
        await seed.evaluate("(field) => field.setSelectionRange(1, 1)")
        pace.let_go()
        await expect(page.locator(".run.is-finished")).to_have_count(2)
        await expect(going).to_have_count(0)
        await expect(seed).to_be_focused()
        await page.keyboard.type("7")
        await expect(seed).to_have_value("472")
        await expect(page.get_by_label("Tick spun, to delete it")).to_be_checked()


async def test_a_run_that_ends_holds_up_nobody_who_plays_it_beside_another(
    tmp_path: Path, crowd: Crowd
) -> None:
    """The numbers below are told anew; who plays both goes on, and what is unfolded and typed stays."""
    pace = HeldClock()
    async with town(tmp_path, models=ScriptedModels(slow, clock=pace)) as site, crowd:
        ana = await owner_of(site, crowd)
        await played(site, days=1, steps_per_day=3)
        await (await site.owner()).post("/lab", FORM)
        pace.let_go(8)
        await ana.opens("/lab/first_shift-llm-1")
        await expect(ana.page.locator(CLOCK)).to_have_text(re.compile("step 0$"))
        await ana.opens("/lab/spun/against/first_shift-llm-1")
        page = ana.page
        rows = page.get_by_role("row", name=re.compile("decisions"))
        before = await rows.first.text_content() or ""
        jump = page.get_by_label("to step")
        await jump.fill("1")
        pace.let_go()
        await expect(rows.first).not_to_have_text(before)
        await expect(jump).to_be_focused()
        await expect(jump).to_have_value("1")


async def test_a_press_on_what_shows_itself_anew_counts(tmp_path: Path, crowd: Crowd) -> None:
    """A file is being fetched, and its row comes anew every two seconds: *Cancel* cancels."""
    with hub(hold=threading.Event()) as place:
        environ = {"LOOPFORGE_EMBEDDED_FILES_FROM": place.url}
        async with town(tmp_path, environ=environ) as site, crowd:
            ana = await owner_of(site, crowd)
            await (await site.owner()).post(f"{FILES}/fetch", SMALLEST)
            await asyncio.to_thread(place.begun.wait, 60)
            await ana.opens("/admin/models")
            await presses(ana, ana.page.get_by_role("button", name="Cancel"))
            for _ in range(2):
                async with ana.page.expect_response(re.compile("/admin/models/files$")):
                    pass
            await ana.page.mouse.up()
            assert place.hold is not None
            place.hold.set()
            await expect(ana.page.locator(".flash")).to_contain_text("is not fetched any more")
