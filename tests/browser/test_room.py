"""One room, used to the full: its past, search, answers, names, files, marks, news and settings."""

import asyncio
import base64
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import FilePayload, Locator, expect

from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.browser.people import Crowd, Person, guest_of, owner_of
from tests.rooms.conftest import living
from tests.sim_clock import SimClock
from tests.web.conftest import Town, town

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
DROP = """([target, kind, name, type, content]) => {
  const carried = new DataTransfer();
  const data = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
  carried.items.add(new File([data], name, {type}));
  const more = kind === 'paste' ? {clipboardData: carried} : {dataTransfer: carried};
  const event = kind === 'paste' ? new ClipboardEvent(kind, {...more, bubbles: true, cancelable: true})
                                 : new DragEvent(kind, {...more, bubbles: true, cancelable: true});
  document.querySelector(target).dispatchEvent(event); }"""

FREE = """(code) => {
  const words = document.createRange();
  words.selectNodeContents(code);
  const button = code.closest('.code').querySelector('.copy-code').getBoundingClientRect();
  return words.getBoundingClientRect().right <= button.left; }"""


@asynccontextmanager
async def old_room(path: Path) -> AsyncIterator[Town]:
    """A home whose commons has 160 lines of three days, the last of them three days ago."""
    async with living(path, clock=SimClock(datetime(2026, 11, 16, 20, 0, tzinfo=UTC))) as home:
        await home.enter("olu")
        for number in range(160):
            if number in (60, 120):
                await home.clock.advance(20 * 3600)
            await home.says("olu", f"line number {number}", source=f"n{number}")
    async with town(path) as site:
        yield site


def leaf(number: int) -> FilePayload:
    """A small file."""
    return {"name": f"{number}.txt", "mimeType": "text/plain", "buffer": b"%d" % number}


async def gives(person: Person, kind: str, name: str, type: str, data: bytes) -> None:
    """Drop or paste a file."""
    target = "#text" if kind == "paste" else "#log"
    content = base64.b64encode(data).decode()
    await person.page.evaluate(DROP, [target, kind, name, type, content])


@pytest.mark.patient
async def test_the_past_comes_as_one_scrolls_up(tmp_path: Path, crowd: Crowd) -> None:
    """Older lines come once each, in order, under their days, without a jump; search leads there."""
    async with old_room(tmp_path) as site, crowd:
        ana = await owner_of(site, crowd)
        page = ana.page
        await ana.sees("line number 159")
        assert await ana.line("line number 10").count() == 0
        while not await page.locator("#beginning").is_visible():
            first = page.locator("#lines > .line").first
            mark = await first.get_attribute("id")
            before = await page.evaluate(
                """id => { const log = document.getElementById('log'); log.scrollTop = 0;
                   return document.getElementById(id).getBoundingClientRect().top; }""",
                mark,
            )
            older = page.locator(f"#lines > .line:first-of-type:not(#{mark})")
            await expect(older.or_(page.locator("#beginning:not([hidden])")).first).to_be_attached()
            after = await page.evaluate(
                "id => document.getElementById(id).getBoundingClientRect().top", mark
            )
            assert abs(after - before) <= 80, "a new mark of a day may push by its own height"
            await expect(page.locator("#lines[aria-busy]")).to_have_count(0)
        told = [each for each in await ana.talk() if each.startswith("olu: ")]
        assert told == [f"olu: line number {number}" for number in range(160)]
        days = await page.locator("#lines > .day").all_inner_texts()
        assert [each.split(",")[0].lower() for each in days[:3]] == [
            "monday",
            "tuesday",
            "wednesday",
        ]

        await page.locator("#find").fill("number 77")
        await page.locator("#find").press("Enter")
        found = page.locator("#panel .finds > li")
        await expect(found).to_have_count(1)
        await expect(found).to_contain_text("line number 77")
        await found.locator("a.jump").click()
        await expect(ana.line("line number 77")).to_be_focused()
        await page.reload()
        await page.locator("#find").fill("number 5")
        await page.locator("#find").press("Enter")
        await expect(found.filter(has=page.locator(".heard"))).to_have_count(34)
        await page.get_by_role("link", name="Own page").click()
        await expect(page.locator(".finds > li").first).to_contain_text("line number 5")
        await page.locator("a.jump").first.click()
        await expect(ana.line("line number 5")).to_be_in_viewport()
        await page.get_by_role("button", name="Back to now").click()
        await ana.sees("line number 159")


async def pressed(line: Locator, name: str) -> None:
    """Press a button of a line by the keyboard: lines that come would move it under the mouse."""
    await line.get_by_role("button", name=name).press("Enter")


async def unread(person: Person) -> int:
    """Whether the front page has a count of unread lines at the room News."""
    await person.opens("/")
    door = person.page.locator(".door", has_text="News")
    await expect(door).to_be_visible()
    return await door.locator(".badge").count()


async def test_answers_names_and_marks(ana: Person, crowd: Crowd) -> None:
    """Replies quote, names are completed by keys alone, keep and spent stand on both pages."""
    room = await ana.makes_room("Tea", "maya", "merlin")
    ben = await guest_of(room, ana, crowd)
    await ben.says("what shall we drink?")
    line = await ana.sees("what shall we drink?")

    await pressed(line, "Reply to ben")
    await expect(ana.page.locator("#replying")).to_contain_text("what shall we drink?")
    await ana.page.keyboard.press("Escape")
    await expect(ana.page.locator("#replying")).to_be_hidden()
    await pressed(line, "Reply to ben")
    await ana.says("tea, of course")
    for each in (ana, ben):
        answer = await each.sees("tea, of course")
        await expect(answer.locator(".quote")).to_contain_text("ben: what shall we drink?")
    await answer.locator(".quote").click()
    await expect(ben.line("what shall we drink?")).to_be_focused()

    typed = ana.page.locator("#text")
    await typed.press_sequentially("hello @m")
    names = ana.page.get_by_role("option")
    await expect(names).to_have_count(2)
    await expect(names.first).to_have_attribute("aria-selected", "true")
    await typed.press("ArrowDown")
    chosen = await names.nth(1).inner_text()
    await typed.press("Enter")
    handle = "merlin" if "Merlin" in chosen else "maya"
    await expect(typed).to_have_value(f"hello @{handle} ")
    await typed.press_sequentially("and @be")
    await expect(names).to_have_count(1)
    await typed.press("Escape")
    await expect(names).to_have_count(0)
    await typed.press_sequentially("n")
    await expect(names).to_have_count(1)
    await typed.press("Tab")
    await expect(typed).to_have_value(f"hello @{handle} and @ben ")
    await typed.press("Enter")
    await ben.hears(handle.capitalize())

    for name, told in (("Keep in mind", "kept in mind"), ("Leave out first", "left out first")):
        await line.get_by_text("More").press("Enter")
        await pressed(line, name)
        for each in (ana, ben):
            await expect(each.line("what shall we drink?").locator(".marked")).to_have_text(told)
    await ben.page.reload()
    await expect(ben.line("what shall we drink?").locator(".marked")).to_have_text("left out first")


@pytest.mark.patient
async def test_files_come_by_choosing_dropping_and_pasting(tmp_path: Path, crowd: Crowd) -> None:
    """All three go with one line and come back as they were; what is too large is not sent."""
    async with town(tmp_path, upload_limit_bytes=50_000) as site, crowd:
        ana = await owner_of(site, crowd)
        room = await ana.makes_room("Papers", "maya")
        ben = await guest_of(room, ana, crowd)
        page = ana.page
        shelf = page.locator("#waiting > li")
        await page.locator("#files").set_input_files(
            {"name": "recipe.txt", "mimeType": "text/plain", "buffer": b"flour, water, patience"}
        )
        await gives(ana, "drop", "dot.png", "image/png", PIXEL)
        await gives(ana, "paste", "note.md", "text/markdown", b"# remember\n")
        await expect(shelf).to_have_count(3)
        await gives(ana, "drop", "huge.bin", "application/octet-stream", b"x" * 60_000)
        await expect(page.locator("#problem")).to_contain_text(
            "huge.bin is larger than 50 kB, the most here"
        )
        await expect(shelf).to_have_count(3)
        await page.locator("#files").set_input_files([leaf(n) for n in range(20)])
        await expect(page.locator("#problem")).to_have_text(
            "At most 10 files go with one line. 13 files were not added."
        )
        for n in range(7):
            await page.get_by_role("button", name=f"Do not send {n}.txt").click()
        await page.get_by_role("button", name="Do not send note.md").click()
        await expect(shelf).to_have_count(2)
        await gives(ana, "paste", "note.md", "text/markdown", b"# remember\n")
        await ana.says("here they are")
        line = await ben.sees("here they are")
        await expect(shelf).to_have_count(0)
        await expect(line.locator("a.file")).to_have_count(3)
        await expect(line.locator("img")).to_be_visible()
        assert (
            await line.locator("img").evaluate(
                "each => each.decode().then(() => each.naturalWidth)"
            )
            == 1
        )
        async with ben.page.expect_download() as waited:
            await line.locator("a.file", has_text="recipe.txt").click()
        kept = await (await waited.value).path()
        assert kept.read_bytes() == b"flour, water, patience"
        assert (await waited.value).suggested_filename == "recipe.txt"


@pytest.mark.patient
async def test_news_is_counted_where_nobody_looks(site: Town, crowd: Crowd, ana: Person) -> None:
    """What is unseen is counted in the list, in the title and on a button, until it is seen."""
    room = await ana.makes_room("News")
    ben = await guest_of(room, ana, crowd)
    await ana.opens("/")
    for number in range(3):
        await ben.says(f"news {number}")
        await ben.sees(f"news {number}")
    await ana.page.reload()
    door = ana.page.locator(".door", has_text="News")
    await expect(door.locator(".badge")).to_have_text("3")
    await door.locator("a").click()
    await ana.sees("news 2")
    await ana.is_in()
    await expect(ana.page).to_have_title("News · Loopforge")
    async with ana.page.expect_response(re.compile("/seen$")):
        await ana.page.locator("#text").click()

    for number in range(40):
        await ana.says(f"filler {number}")
    await ben.sees("filler 39")
    await expect(ana.page.locator("#drafts .sending")).to_have_count(0)
    await ana.page.evaluate("document.getElementById('log').scrollTop = 400")
    await expect(ana.page.locator("#fresh")).to_be_visible()
    await ben.says("are you there?")
    await ana.sees("are you there?")
    await expect(ana.page).to_have_title("(1) News · Loopforge")
    await expect(ana.page.locator("#fresh")).to_contain_text("1 new line")
    await ana.page.locator("#fresh").click()
    await expect(ana.line("are you there?")).to_be_in_viewport()
    await expect(ana.page).to_have_title("News · Loopforge")
    async with asyncio.timeout(60):  # what was seen last is told while the page goes
        while await unread(ana):
            pass


@pytest.mark.patient
async def test_how_a_room_works_is_set_in_the_page(ana: Person, crowd: Crowd) -> None:
    """Title, mates and energy are set by forms; pages of others that are open follow at once."""
    room = await ana.makes_room("Tea", "maya")
    ben = await guest_of(room, ana, crowd)
    page, flash = ana.page, ana.page.locator(".flash.good")
    await ana.opens(f"/rooms/{room}/settings")
    talk, rights = [
        await page.locator("form", has=page.locator(f"[value={act}]")).first.bounding_box()
        for act in ("talk", "rights")
    ]
    assert talk
    assert rights
    assert rights["y"] >= talk["y"] + talk["height"] + 8  # what is set apart is seen apart
    await page.get_by_label("Title").fill("Coffee, after all")
    await page.locator("form", has=page.locator("[value=title]")).get_by_role("button").click()
    await expect(flash).to_be_visible()
    await expect(ben.page.locator("#title")).to_have_text("Coffee, after all")
    await page.get_by_label("Bring in").select_option("zuzu")
    await ana.clicks("Bring in")
    await expect(ben.page.locator("#scene-body [data-handle=zuzu]")).to_be_visible()
    await page.get_by_label("Lines in a row").fill("9")
    await page.locator("form", has=page.locator("#capacity")).get_by_role("button").click()
    await expect(flash).to_be_visible()
    await expect(ben.page.locator("#scene-body .energy i")).to_have_count(9)
    await page.locator("details.mate-zuzu summary").click()
    await ana.clicks("Take Zuzu out of this room")
    await expect(ben.page.locator("#scene-body [data-handle=zuzu]")).to_have_count(0)
    await ben.says("@maya and now?")
    await ben.hears("Maya")
    await ana.clicks("Begin a new one")
    await ben.says("a fresh start")
    await expect(ben.page.locator("#lines")).to_contain_text("A new conversation.")


@pytest.mark.patient
async def test_the_mark_of_what_is_new_stands_where_it_begins(
    site: Town, crowd: Crowd, ana: Person
) -> None:
    """Who comes back sees it in the log, in full, right above the first line they have not read."""
    room = await ana.makes_room("Tea")
    wide = await guest_of(room, ana, crowd)
    narrow = await guest_of(room, ana, crowd, "dora", viewport={"width": 400, "height": 800})
    await ana.says("before")
    for each in (wide, narrow):
        await each.sees("before")
        await expect_read(site, room, each, "before")
        await each.page.goto("about:blank")
    for text in ("after", "long after"):
        await ana.says(text)
        await ana.sees(text)
    for each in (wide, narrow):
        await each.opens(f"/rooms/{room}")
        mark = each.page.get_by_text("New since you were here", exact=True)
        await expect(mark).to_be_visible()
        places = each.page.locator("#log"), mark, each.line("after"), each.line("before")
        boxes = [await place.bounding_box() for place in places]
        log, box, below, above = [found for found in boxes if found is not None]
        assert log["x"] <= box["x"]
        assert box["x"] + box["width"] <= log["x"] + log["width"] + 1
        assert above["y"] + above["height"] <= box["y"]
        assert box["y"] + box["height"] <= below["y"]


async def test_tables_and_code_can_be_read(tmp_path: Path, crowd: Crowd) -> None:
    """Heads of a table in one's own bubble stand out, light and dark, by WCAG's 4.5; code is plain.

    A block of it has one shade from edge to edge, in one's own bubble and in a mate's, and its
    button covers none of it.
    """
    code = "```\nloaf = 1\n```"

    def answers(question: Question) -> ScriptedAnswer:
        data = {"say": code, "narrative": "They asked for code.", "mode": "context"}
        return ScriptedAnswer(text=code, data=data)

    async with town(tmp_path, answers) as site, crowd:
        ana = await owner_of(site, crowd)
        await ana.says(f"@maya like this?\n\n{code}")
        await ana.hears("Maya")
        for of in (".mine", ".said"):
            grounds = ana.page.locator(f"#lines {of} pre code")
            await expect(grounds).to_have_count(1)
            await expect(grounds).to_have_css("background-color", "rgba(0, 0, 0, 0)")
            assert await grounds.evaluate(FREE)
        await ana.says("| bread | butter |\n|---|---|\n| 1 | 2 |")
        head = ana.page.locator(".mine th").first
        await expect(head).to_be_visible()
        for scheme in SCHEMES:
            await ana.page.emulate_media(color_scheme=scheme)
            inks = await head.evaluate(
                "(cell) => [getComputedStyle(cell).color,"
                " getComputedStyle(cell.closest('.slab')).backgroundColor]"
            )
            light, dark = sorted((luminance(ink) for ink in inks), reverse=True)
            assert (light + 0.05) / (dark + 0.05) > 4.5, inks


def luminance(ink: str) -> float:
    """The relative luminance of an "rgb(...)" (WCAG 2)."""
    parts = [float(part) / 255 for part in re.findall(r"[\d.]+", ink)[:3]]
    line = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * line[0] + 0.7152 * line[1] + 0.0722 * line[2]


async def expect_read(site: Town, room: str, who: Person, text: str) -> None:
    """Until the home knows that they read this line."""
    seq = int(await who.line(text).get_attribute("data-seq") or 0)
    account = await site.app.accounts.signing.accounts()
    person = next(each.person for each in account if each.name == who.name)
    while (await site.app.accounts.decisions.vault.reads(person)).get(f"room:{room}", 0) < seq:
        await asyncio.sleep(0.02)
