"""Many tabs of one browser: each of them opens, and none misses what was said."""

from pathlib import Path

from playwright.async_api import Page, expect

from tests.browser.people import Crowd, Person, owner_of
from tests.web.conftest import town

TABS = 10
SHOWN = """(() => {
  let hidden = false;
  Object.defineProperty(document, 'hidden', { get: () => hidden });
  let focused = true;
  document.hasFocus = () => focused;
  window.turn = (away) => { hidden = away; focused = !away; document.dispatchEvent(new Event('visibilitychange')); };
  window.pass = () => { focused = false; };
})()"""
"""Pages that a test drives are all in sight; these are as the test says."""
SOON = 20_000
"""Milliseconds in which a page opens where a connection is left for it."""


async def turned(page: Page, *, away: bool) -> None:
    """The tab is looked at no more, or again."""
    await page.evaluate("(away) => window.turn(away)", away)


async def tabs_of(olu: Person, path: str, count: int, *, beside: bool = False) -> list[Page]:
    """So many tabs of one page, of which the last is looked at; or windows, side by side."""
    await olu.context.add_init_script(SHOWN)
    tabs = [olu.page]
    for nth in range(count):
        if nth:
            if beside:
                await tabs[-1].evaluate("window.pass()")
            else:
                await turned(tabs[-1], away=True)
            tabs.append(await olu.context.new_page())
        await tabs[-1].goto(olu.address + path, timeout=SOON)
        await expect(tabs[-1].locator("#scene-body[data-shown]")).to_be_attached(timeout=SOON)
    return tabs


async def test_ten_tabs_of_a_room(tmp_path: Path, crowd: Crowd) -> None:
    """All of them open, and say what was said meanwhile when they are looked at, each line once.

    A browser holds six connections to a home, and each page that follows a room takes one.
    """
    async with town(tmp_path) as site, crowd:
        olu = await owner_of(site, crowd)
        room = await olu.makes_room("Oven")
        tabs = await tabs_of(olu, f"/rooms/{room}", TABS)
        olu.page = tabs[-1]
        for nth in range(3):
            await olu.says(f"loaf {nth}")
            await olu.sees(f"loaf {nth}")
        await turned(tabs[-1], away=True)
        for page in tabs[:3]:
            olu.page = page
            await turned(page, away=False)
            for nth in range(3):
                await olu.sees(f"loaf {nth}")
            await olu.says(f"from {tabs.index(page)}")
            await olu.sees(f"from {tabs.index(page)}")
            await turned(page, away=True)


async def test_a_tab_out_of_sight_goes_on(tmp_path: Path, crowd: Crowd) -> None:
    """Those that were looked at last hear on, so that they can tell; one that closes makes room."""
    async with town(tmp_path) as home, crowd:
        olu = await owner_of(home, crowd)
        room = await olu.makes_room("Oven", "maya")
        tabs = await tabs_of(olu, f"/rooms/{room}", 5)
        olu.page = tabs[-1]
        await olu.says("@maya is the first loaf ready?")
        await olu.hears("Maya")
        for page in tabs[1:4]:
            await expect(page).to_have_title("(1) Oven · Loopforge")
        await expect(tabs[0]).to_have_title("Oven · Loopforge")
        await tabs[1].goto("about:blank")
        await expect(tabs[0]).to_have_title("(1) Oven · Loopforge")


async def test_eight_windows_side_by_side(tmp_path: Path, crowd: Crowd) -> None:
    """Each opens and follows its room, whichever of them are closed meanwhile."""
    async with town(tmp_path) as site, crowd:
        olu = await owner_of(site, crowd)
        room = await olu.makes_room("Oven")
        windows = await tabs_of(olu, f"/rooms/{room}", 8, beside=True)
        for said in ("loaf", "roll"):
            olu.page = windows[-1]
            await olu.says(said)
            for olu.page in windows:
                await olu.sees(said)
            await windows.pop(0).close()
