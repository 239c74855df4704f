"""How pages are made: narrow, wide, light, dark, light in weight, and usable by keys and readers."""

import json
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pytest
from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from litestar.response import Template
from playwright.async_api import Browser, expect

from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.models.scripted_model import in_character
from loopforge.runtime.ports import Question
from loopforge.web.account import account_pages
from loopforge.web.room import growth_pages, mate_pages, question_page, room_pages, why_page
from loopforge.web.web_app import ADMIN, handlers_of
from tests.browser.people import Crowd, Person, guest_of, owner_of
from tests.models.hub import BODY
from tests.rooms.conftest import write_mates
from tests.rooms.oven import installed
from tests.rooms.test_talking import speaker
from tests.web.conftest import PASSWORD, Town, town
from tests.web.test_undelivered_page import Wall, ended

RULES = {"resultTypes": ["violations"]}
FINDINGS = """async (options) => (await axe.run(options)).violations
  .filter((each) => ["serious", "critical"].includes(each.impact) || each.id === "landmark-unique")
  .flatMap((each) => each.nodes.slice(0, 4).map((node) =>
    `${each.id} (${each.impact}): ${node.target} ${node.html.slice(0, 160)}`))"""
Window = tuple[int, Literal["light", "dark"]]
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WINDOWS: tuple[Window, ...] = tuple((wide, how) for wide in (1280, 400, 320) for how in SCHEMES)
"""Widths and schemes that every page is looked at in, by axe too."""
ENDS: tuple[Window, ...] = (WINDOWS[0], WINDOWS[-1])
"""A desk in the light and the narrowest phone in the dark, where there is less patience."""
TWICE = 180
"""What a phone of 360 pixels has where all is twice as large."""
OPENED = """document.querySelectorAll('main details').forEach(
  (each, nth) => { each.open = each.open || nth < 12; })"""
HEAVY = 200_000
"""Bytes of a room's page with everything it loads, uncompressed."""
PARTS = {
    "/house",
    "/rooms",
    "/rooms/{room:str}/before",
    "/rooms/{room:str}/beside",
    "/admin/models/files",
} | {
    "/house/{rest:path}",
    "/admin/ledger/verified",
    "/rooms/{room:str}/calls/{event:str}",
    "/rooms/{room:str}/lines/{line:str}",
    "/device/{token:str}",
}
"""Addresses that are parts of pages, or lead to one that stands here."""
BAKER = """---
name: Otto
tools: [oven]
---
You are Otto.
"""


THOUGHTS = count(1)
"""So that what is said anew is said otherwise."""


def baker(question: Question) -> dict[str, Any] | str:
    """Otto wants the oven, once."""
    asked = any("[result of oven" in text for _, text in question.messages)
    if speaker(question) == "otto" and not asked:
        return {"say": "", "tool": "oven", "arguments": '{"degrees": 180}'}
    return f"{in_character(question)} That was thought {next(THOUGHTS)}."


async def handled(ana: Person) -> str:
    """Maya's line is said anew, reacted to and pinned; something is remembered; the line's why."""
    line = await ana.hears("Maya")
    why = await line.locator("a.why").get_attribute("href")
    await line.get_by_role("button", name="Try again").click()
    await expect(line).to_contain_text("2 of 2")
    for menu, what in (("React", "❤️"), ("More", "Pin")):
        await line.hover()
        await line.locator("summary").filter(has_text="☺" if menu == "React" else menu).click()
        await line.get_by_role("button", name=what, exact=True).click()
    await expect(line).to_contain_text("pinned")
    await ana.says("/remind tomorrow at nine: feed the dough")
    await expect(ana.page.locator("#told")).to_contain_text("Reminder 1")
    await ana.says("@maya remember that I bake rye")
    await expect(ana.page.locator("#lines")).to_contain_text("will remember that")
    return str(why)


async def tour(ana: Person, site: Town) -> list[str]:
    """Every kind of page of a site in which something happened, by its path."""
    (site.path / "data/models").mkdir()
    (site.path / "data/models/a-model-of-ones-own-with-a-name-that-is-long.gguf").write_bytes(BODY)
    room = await ana.makes_room(
        "A title that is rather long, as titles of rooms can be: " + "W" * 23, "maya", "otto"
    )
    await ana.says("@otto bake me a cake")
    asked = ana.page.get_by_role("button", name="Yes, do it")
    await expect(asked).to_be_visible()
    await ana.says(
        "@maya **look**: https://example.org/" + "long" * 30 + " and `" + "code" * 30 + "`"
    )
    why = await handled(ana)
    await ana.says("| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] $x^2$")
    await ana.says(
        "```py\n@dataclass\nclass A:  # b\n    n: int = len('c') + 1\n```\n```diff\n- a\n+ b\n```"
    )
    (site.path / "mates" / "broken.md").write_text("---\nname: Broken\ntier: eleven\n---\nHm.\n")
    await ana.opens("/mates/maya/edit")
    text = await ana.page.locator("#text").input_value()
    await ana.page.locator("#text").fill(text + "\nYou like slugs.\n")
    await ana.clicks("Save")
    await ana.opens("/mates/maya/history")
    version = await ana.page.locator("a.hash").first.get_attribute("href")
    invite = await ana.invites(room)
    site.app.deliveries.attach(Wall())
    await site.app.rooms.join_place(ChannelSpot("wall:1", "the north wall", "group"), [], room)
    await ana.says("Rye it is")
    await ended(site, room, 1)
    ben = await site.stranger("ben")
    await ben.post(invite.removeprefix(site.address), {"name": "ben", "password": PASSWORD})
    who = next(one for one in await site.app.accounts.signing.accounts() if one.name == "ben")
    await site.app.live.change("backup_to", str(site.path / "elsewhere"), f"person:{who.person}")
    at = f"/rooms/{room}"
    house = (
        "",
        "first",
        "people",
        "invites",
        "rooms",
        "models",
        "tools",
        "usage",
        "budgets",
        "owed",
        "ledger",
        "settings",
    )
    return [
        "/",
        at,
        f"{at}/settings",
        f"{at}/delete",
        f"{at}/owed",
        f"{at}/pins",
        f"{at}/search?words=maya",
        f"{at}/search?words=nothing-like-it",
        str(why),
        f"{at}/questions/1",
        f"{at}/reminders",
        "/reminders",
        "/work",
        "/you",
        "/you/memory",
        "/mates/maya/memory",
        "/mates",
        "/mates/new",
        "/mates/new?name=Otto",
        "/mates/maya",
        "/mates/broken",
        "/mates/maya/edit",
        "/mates/broken/edit",
        "/mates/maya/history",
        "/mates/maya/growth",
        str(version),
        *(f"/admin/{name}".rstrip("/") for name in house),
        *(f"/admin/people/{who.person}/{what}" for what in ("close", "forget")),
        "/nowhere",
    ]


def untoured(paths: Iterable[str]) -> list[str]:
    """The pages that this home can show and that no path leads to; the lab has a test of its own."""
    modules = (
        *(account_pages, room_pages, why_page, question_page),
        *(mate_pages, growth_pages, *ADMIN),
    )
    known = {
        path
        for module in modules
        for each in handlers_of(module)
        if "GET" in each.http_methods and get_type_hints(each.fn)["return"] is Template
        for path in each.paths
    }
    went = [path.partition("?")[0] for path in paths]
    return [
        path
        for path in sorted(known - PARTS)
        if not any(re.fullmatch(re.sub(r"{[^}]+}", "[^/]+", path), one) for one in went)
    ]


async def found(person: Person, options: dict[str, Any]) -> list[str]:
    """What axe finds serious or critical on the page as it is now."""
    if not await person.page.evaluate("'axe' in window"):
        await person.page.evaluate(AXE_SCRIPT)
    findings: list[str] = await person.page.evaluate(FINDINGS, options)
    return findings


async def looked_at(
    person: Person, path: str, windows: Sequence[Window] = ENDS
) -> AsyncIterator[str]:
    """All that is wrong with a page: on a desk, a tablet and a phone, in the light and the dark.

    And what reaches out sideways on a phone whose pages are twice as large.
    """
    await person.opens(path)
    await person.page.evaluate(OPENED)
    for width, scheme in windows:
        await person.page.emulate_media(color_scheme=scheme)
        await person.page.set_viewport_size({"width": width, "height": 700})
        wrong = [*await person.sideways(), *await found(person, RULES)]
        for each in wrong:
            yield f"{path} {scheme}, {width}: {each}"
    await person.page.set_viewport_size({"width": TWICE, "height": 360})
    for each in await person.sideways():
        yield f"{path}, {TWICE}: {each}"


async def test_every_page_fits_every_window_and_every_reader(
    tmp_path: Path, browser: Browser, pytestconfig: pytest.Config
) -> None:
    """No page reaches out sideways or has a serious finding of axe, narrow or wide, light or dark.

    On a phone in the dark; with patience in every window.
    """
    windows = WINDOWS if pytestconfig.getoption("--patient") else WINDOWS[-1:]
    write_mates(tmp_path, otto=BAKER)
    with installed(asks=True):
        async with town(tmp_path, baker) as site, Crowd(browser) as crowd:
            ana = await owner_of(site, crowd)
            ana.expects("status of 404")
            paths = await tour(ana, site)
            wrong = [
                each
                for path in paths
                for each in [one async for one in looked_at(ana, path, windows)]
            ]
            eve = await crowd.person("eve", site.address)
            eve.expects("status of 404")
            links, book = site.app.accounts.links, site.app.accounts.decisions.book
            _, invite = await links.invite(book.owner())
            ben = next(
                one.person
                for one in await site.app.accounts.signing.accounts()
                if one.name == "ben"
            )
            doors = ["/sign-in", f"/join/{invite}", f"/enter/{await links.offer()}", "/enter/spent"]
            doors.append(f"/renew/{await links.renewal(ben, book.owner())}")
            wrong += [
                each
                for path in doors
                for each in [one async for one in looked_at(eve, path, windows)]
            ]
    assert not wrong, "\n".join(wrong)
    assert untoured([*paths, *doors]) == []


@pytest.mark.patient
async def test_what_opens_in_a_room_is_for_every_reader(site: Town, ana: Person) -> None:
    """A line that is edited, menus, panels and dialogs: axe finds nothing serious in any window."""
    await ana.makes_room("Openings", "maya")
    await ana.says("@maya who are you?")
    line, page = await ana.hears("Maya"), ana.page
    mine = page.locator("#lines > .mine").last
    wrong: list[str] = []

    async def look(what: str) -> None:
        seen = [*await ana.sideways(), *await found(ana, RULES)]
        wrong.extend(f"{what} {scheme}, {width}: {each}" for each in seen)

    for width, scheme in WINDOWS:
        await page.emulate_media(color_scheme=scheme)
        await page.set_viewport_size({"width": width, "height": 700})
        await mine.hover()
        await mine.locator("summary").filter(has_text="More").click()
        await look("a menu")
        await mine.get_by_role("button", name="Edit").click()
        await expect(page.get_by_label("Your line")).to_be_focused()
        await look("a line that is edited")
        await page.get_by_role("button", name="Cancel").click()
        await ana.says("/help")
        await expect(page.locator("#told")).to_contain_text("/stop")
        await look("what a command told")
        await page.keyboard.press("Control+K")
        await look("going elsewhere")
        await page.keyboard.press("Escape")
        await line.locator("a.why").click()
        await expect(page.locator("#sheet .why-story")).to_be_visible()
        await look("why")
        await page.keyboard.press("Escape")
    assert not wrong, "\n".join(wrong)


async def test_a_phone_has_all_of_a_room(site: Town, crowd: Crowd) -> None:
    """On 320 pixels one writes, sees who is here on a whole sheet, and reads why on another.

    On a phone of 360 pixels whose pages are twice as large, the way around wraps.
    """
    ana = await owner_of(site, crowd, viewport={"width": 320, "height": 568}, has_touch=True)
    await ana.makes_room("Pocket room", "maya")
    page = ana.page
    for place in ("#text", ".send"):
        await expect(page.locator(place)).to_be_in_viewport(ratio=0.9)
    await page.locator("#text").fill("@maya a long line, that wraps. " * 6)
    await expect(page.locator("#text")).to_be_in_viewport(ratio=0.9)
    await page.get_by_role("button", name="Send").click()
    line = await ana.hears("Maya")
    await expect(line).to_be_in_viewport()
    await page.get_by_role("link", name="Who is here, and the room’s settings").click()
    scene = page.get_by_role("complementary", name="Who is here")
    await expect(scene).to_be_in_viewport()
    box = await scene.bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (0, 320)
    assert not await ana.sideways()
    assert await found(ana, RULES) == []
    await page.keyboard.press("Escape")
    await expect(page.locator("#text")).to_be_in_viewport()
    await line.locator("a.why").click()
    await expect(page.locator("#sheet .why-story")).to_be_visible()
    box = await page.locator("#sheet").bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (0, 320)
    assert not await ana.sideways()
    assert await found(ana, RULES) == []
    await page.set_viewport_size({"width": 180, "height": 360})
    await ana.opens("/")
    assert not await ana.sideways()


async def test_dark_by_the_machine_and_by_the_switch(site: Town, crowd: Crowd) -> None:
    """A page follows the machine until its switch is used; that is remembered on every page.

    Where the machine sets all colours, the way around shows by an outline where one is.
    """
    ana = await owner_of(site, crowd, color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = await ana.page.evaluate(ground)
    await ana.page.emulate_media(color_scheme="light")
    light = await ana.page.evaluate(ground)
    assert sum(json.loads(f"[{dark[4:-1]}]")) < 200 < 600 < sum(json.loads(f"[{light[4:-1]}]"))
    switch = ana.page.get_by_role("button", name="Switch between light and dark")
    await switch.click()
    assert await ana.page.evaluate(ground) == dark
    await ana.page.reload()
    assert await ana.page.evaluate(ground) == dark
    await ana.opens("/mates")
    assert await ana.page.evaluate(ground) == dark
    await switch.click()
    await ana.page.emulate_media(color_scheme="dark")
    await ana.page.reload()
    assert await ana.page.evaluate(ground) == light
    await ana.page.emulate_media(forced_colors="active")
    await expect(ana.page.locator("nav [aria-current]")).to_have_css("outline-style", "solid")


async def test_all_of_it_without_a_mouse(ana: Person, crowd: Crowd) -> None:
    """By keys alone one signs in, opens a room, says a line, opens why, closes it, and stops."""
    room = await ana.makes_room("Keys only", "maya")
    ben = await guest_of(room, ana, crowd)
    await ben.opens("/you")
    await ben.clicks("Sign out here")
    keys = ben.page.keyboard
    focused = "document.activeElement.matches({})"

    async def tab_to(selector: str) -> None:
        for _ in range(60):
            await keys.press("Tab")
            if await ben.page.evaluate(focused.format(json.dumps(selector))):
                outline = "getComputedStyle(document.activeElement).outlineStyle"
                shadow = "getComputedStyle(document.activeElement).boxShadow"
                assert await ben.page.evaluate(f"{outline} !== 'none' || {shadow} !== 'none'"), (
                    f"one cannot see that {selector} has the focus"
                )
                return
        raise AssertionError(f"{selector} is not reached by Tab")

    await expect(ben.page.locator("h1")).to_have_text("Sign in")
    await tab_to(".skip")
    await keys.press("Enter")
    await tab_to("input[name=name]")
    await keys.type("ben")
    await tab_to("input[name=password]")
    await keys.type(PASSWORD)
    await keys.press("Enter")
    await expect(ben.page.locator("h1")).to_have_text("Your rooms")
    await tab_to(f"a[href='/rooms/{room}']")
    await keys.press("Enter")
    await ben.is_in()
    await expect(ben.page.locator("#text")).to_be_focused()
    await keys.type("@may")
    await keys.press("Tab")
    await keys.type("hello by keys")
    await keys.press("Enter")
    await ben.hears("Maya")
    for _ in range(40):
        await keys.press("Shift+Tab")
        if await ben.page.evaluate(focused.format("'a.why'")):
            break
    await keys.press("Enter")
    await expect(ben.page.locator("#sheet .why-story")).to_be_visible()
    await tab_to("#sheet summary")
    await keys.press("Space")
    await expect(ben.page.locator("#sheet details[open]")).to_have_count(1)
    await ben.page.clock.set_fixed_time("2026-11-21T09:00:00Z")  # presses in a row, however slow
    await keys.press("Escape")
    await expect(ben.page.locator("#sheet")).to_be_hidden()
    assert await ben.page.evaluate(focused.format("'a.why'"))
    said: list[str] = []
    ben.page.on("request", lambda request: said.append(request.url))
    for _ in range(4):  # somebody who leaves a panel presses it once or twice too often
        await keys.press("Escape")
    assert not [url for url in said if url.endswith("/stop")]
    await keys.press("Tab")
    await keys.press("Escape")
    await keys.press("Escape")
    await expect(ben.page.locator("#scene-body .halted")).to_be_visible()


async def test_a_long_line_stays_in_its_place(site: Town, crowd: Crowd) -> None:
    """It scrolls in itself, no higher than the window, by keys too; nothing reaches out."""
    ana = await owner_of(site, crowd, viewport={"width": 320, "height": 568})
    room = await ana.makes_room("A long story", "maya")
    person = next(iter((await site.app.front.rooms.scene(room)).people))[0]
    text = "A word. " * 900 + "\n```\n" + "code\n```"
    await site.app.front.rooms.hear(
        room, Heard(person=person, text=Words(text), surface="terminal")
    )
    words = ana.page.locator(".words.long")
    await expect(words).to_be_visible()
    box = await words.bounding_box()
    assert box is not None
    assert box["height"] <= 568
    await words.focus()
    await ana.page.keyboard.press("End")
    await expect(words.locator("pre")).to_be_in_viewport()
    assert not await ana.sideways()
    assert await found(ana, RULES) == []
