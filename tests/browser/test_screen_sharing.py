"""A screen shared with a room, still by still: what leaves the browser, and what comes of it.

A Chromium without a display has no screen to capture: what it would give is drawn on a canvas.
"""

import io
import json
import re
from pathlib import Path
from typing import Literal

import pytest
from PIL import Image
from playwright.async_api import Page, Route, expect

from loopforge.core.effect_states import EffectReturned
from loopforge.core.room_vocabulary import File, Heard
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Question
from tests.browser.people import Crowd, Person, guest_of, owner_of
from tests.browser.test_shape import RULES, found
from tests.rooms.conftest import write_mates
from tests.said_now import said_now
from tests.web.conftest import Town, town

MAYA = "---\nname: Maya\nrole: r\ntools: [look_at]\n---\nYou are Maya."
TEAL = (0, 128, 128)
SCREEN = """(() => {
  const canvas = document.createElement('canvas'), brush = () => canvas.getContext('2d');
  Object.assign(canvas, {width: 1920, height: 1080});
  window.paint = (colour) => { brush().fillStyle = colour; brush().fillRect(0, 0, 1920, 1080); };
  window.asked = 0;
  window.display = async () => {
    window.paint('teal');
    const stream = canvas.captureStream(30);
    window.shared = stream.getVideoTracks()[0];
    setInterval(() => window.shared.readyState === 'live' && brush().drawImage(canvas, 0, 0), 40);
    return stream;
  };
  MediaDevices.prototype.getDisplayMedia = (wish) => {
    window.asked += 1;
    if (JSON.stringify(wish) !== '{"video":true}') throw new TypeError(JSON.stringify(wish));
    return window.display();
  };
})()"""
DENIED = "void (window.display = async () => { throw new DOMException('no', 'NotAllowedError'); })"
BROKEN = "void (window.display = async () => { throw new DOMException('no', 'NotReadableError'); })"
EMPTY = "void (window.display = async () => document.createElement('canvas').captureStream(0))"
ENDED = "window.shared.stop(); window.shared.dispatchEvent(new Event('ended'))"
WHITE = """() => {
  const canvas = Object.assign(document.createElement('canvas'), {width: 1, height: 1});
  const brush = canvas.getContext('2d');
  brush.drawImage(document.querySelector('.sharing video'), 0, 0, 1, 1);
  return brush.getImageData(0, 0, 1, 1).data[0] > 200;
}"""
NOT_OFFERED = "delete MediaDevices.prototype.getDisplayMedia"
SENT = "() => !Object.keys(sessionStorage).some((key) => key.endsWith(':outbox'))"
"""Nothing waits any more to be known as sent: a page of the past would lead to where it was said."""
NOTHING_ELSE = "Nothing of it leaves your browser but the stills that your lines carry."
SCHEMES: tuple[tuple[int, Literal["light", "dark"]], ...] = (
    (1280, "light"),
    (1280, "dark"),
    (320, "dark"),
    (320, "light"),
)


async def with_a_screen(person: Person) -> Page:
    """This person's browser has a teal screen of 1920 by 1080 pixels."""
    await person.context.add_init_script(SCREEN)
    await person.page.reload()
    await person.is_in()
    return person.page


async def shares(person: Person) -> None:
    """Share it, and wait until there is a picture."""
    await person.clicks("Share screen")
    await expect(person.page.locator(".sharing p")).to_contain_text(NOTHING_ELSE)
    await expect(person.page.locator(".sharing video")).to_have_js_property("readyState", 4)


async def stills(site: Town, room: str) -> list[tuple[str, list[File]]]:
    """The lines of people, each with the files that it came with."""
    bodies = [event.body for event in await site.events(room)]
    return [(str(one.text), list(one.files)) for one in bodies if isinstance(one, Heard)]


def looking(question: Question) -> ScriptedAnswer | str:
    """A mate that looks at what is named, by a model that sees."""
    texts = said_now(question)
    if "You look at a picture" in texts[0]:
        return f"Teal all over [{question.pictures[0].hash[:8]}]"
    last = [nth for nth, text in enumerate(texts) if "@maya look" in text]
    if not last:
        return ScriptedAnswer(data={"say": f"I see {len(question.pictures)} pictures."})
    if told := "".join(text for text in texts[last[-1] :] if "[result of " in text):
        return ScriptedAnswer(data={"say": told[-200:]})
    wanted = texts[last[-1]].split("@maya look ")[1].split("\n")[0]
    return ScriptedAnswer(data={"say": "", "tool": "look_at", "arguments": wanted})


async def test_lines_carry_what_is_on_the_screen(tmp_path: Path, crowd: Crowd) -> None:
    """A still comes with each line, for people, for a mate that sees, for a tool; others without."""
    write_mates(tmp_path, (), maya=MAYA)
    models = ScriptedModels(looking, vision=True)
    async with town(tmp_path, models=models) as site, crowd:
        ana = await owner_of(site, crowd)
        room = await ana.makes_room("Help me with this", "maya")
        ben = await guest_of(room, ana, crowd)
        page = await with_a_screen(ana)
        await ana.says("@maya hello")
        await ana.hears("Maya")
        await shares(ana)
        await ana.says("@maya what is this?")
        await ana.hears("Maya", 2)
        line = await ben.sees("@maya what is this?")
        wide = "each => each.decode().then(() => [each.naturalWidth, each.naturalHeight])"
        assert await line.locator("img").evaluate(wide) == [1600, 900]
        (_, none), (_, (file,)) = await stills(site, room)
        assert none == []
        assert re.fullmatch(r"screen-\d{6}\.webp", str(file.name))
        data = await site.app.artifacts.get(str(file.hash))
        with Image.open(io.BytesIO(data)) as still:
            assert (still.format, still.size) == ("WEBP", (1600, 900))
            seen = still.convert("RGB").getpixel((800, 450))
            assert isinstance(seen, tuple)
            assert max(abs(one - two) for one, two in zip(seen, TEAL, strict=True)) < 12
        shown = [one for one in models.asked if any("what is this?" in t for _, t in one.messages)]
        assert [one.hash for one in shown[0].pictures] == [str(file.hash)]

        await page.get_by_label("A still with every line I write").uncheck()
        await ana.says(f"@maya look {json.dumps({'file': str(file.hash)[:8]})}")
        await ana.hears("Maya", 3)
        ends = [e.body for e in await site.events(room) if isinstance(e.body, EffectReturned)]
        assert f"Teal all over [{str(file.hash)[:8]}]" in str(ends[-1].value)
        await ana.clicks("Send a still")
        await ben.sees("My screen")
        await page.evaluate("paint('white')")
        await page.wait_for_function(WHITE)  # what is shared follows the screen a little later
        await page.locator("#text").fill("and this is white")
        await ana.clicks("Send a still")
        await ben.sees("and this is white")
        await expect(page.locator("#text")).to_have_value("")
        *_, (asked, none), (plain, (teal,)), (_, (white,)) = await stills(site, room)
        assert asked.startswith("@maya look")
        assert (none, plain) == ([], "My screen")
        assert len({str(file.hash), str(white.hash)}) == 2
        assert teal.media == white.media == "image/webp"
        assert await page.evaluate("asked") == 1


@pytest.mark.patient
async def test_sharing_ends_wherever_it_is_ended(ana: Person, site: Town) -> None:
    """By its button, the room's, the browser's own, and by leaving; lines are bare again."""
    room = await ana.makes_room("Ends")
    page = await with_a_screen(ana)
    told, live = page.locator(".sharing p"), "window.shared.readyState"
    for name in ("Stop sharing", "Stop sharing your screen"):
        await shares(ana)
        await ana.clicks(name, exact=True)
        await expect(told).to_have_text("Your screen is not shared any more.")
        await expect(page.locator(".sharing video")).to_be_hidden()
        assert await page.evaluate(live) == "ended"
    await shares(ana)
    await page.evaluate(ENDED)
    await expect(told).to_contain_text("ended in your browser")
    await expect(page.get_by_role("button", name="Share screen")).to_be_visible()
    await ana.says("and now nothing")
    await ana.sees("and now nothing")
    await expect(told).to_be_hidden()
    assert await stills(site, room) == [("and now nothing", [])]
    await shares(ana)
    await page.locator("#text").fill("half a line")
    await page.reload()
    await expect(page.locator("#problem")).to_contain_text("the page was left")
    await expect(page.locator("#text")).to_have_value("half a line")
    await expect(page.locator(".sharing")).to_have_count(0)
    await page.reload()
    await ana.is_in()
    await expect(page.locator("#problem")).to_be_hidden()


@pytest.mark.patient
async def test_who_is_out_of_the_room_shares_no_more(ana: Person, site: Town, crowd: Crowd) -> None:
    """Where a room is deleted under somebody who shares a screen, that ends at once."""
    room = await ana.makes_room("Gone")
    ben = await guest_of(room, ana, crowd)
    page = await with_a_screen(ben)
    await shares(ben)
    owner = next(
        one.person for one in await site.app.accounts.signing.accounts() if one.name == "olu"
    )
    await page.route(site.address + "/", lambda route: route.fulfill(status=204))  # he looks on
    await site.app.front.closing.close_room(room, owner, keep_quotes=False)
    await expect(page.locator(".sharing p")).to_have_text("Your screen is not shared any more.")
    assert await page.evaluate("window.shared.readyState") == "ended"


@pytest.mark.patient
async def test_what_goes_wrong_is_told_and_no_word_is_lost(ana: Person, site: Town) -> None:
    """Denied, broken, pressed twice, without a picture: each has its sentence; words stay or go."""
    room = await ana.makes_room("Troubles")
    page = await with_a_screen(ana)
    problem, text = page.locator("#problem"), page.locator("#text")
    await text.fill("my words")
    for trouble, told in ((DENIED, "nothing was chosen"), (BROKEN, "gives no picture of that")):
        await page.evaluate(trouble)
        await ana.clicks("Share screen")
        await expect(problem).to_contain_text(told)
        await expect(page.locator(".sharing")).to_be_hidden()
    await page.evaluate("void (window.display = () => new Promise(() => {}))")
    before = await page.evaluate("asked")
    await ana.clicks("Share screen")
    await ana.clicks("Share screen")
    await expect(page.locator(".sharing")).to_contain_text("Choose in your browser")
    assert await page.evaluate("asked") == before + 1
    await expect(text).to_have_value("my words")

    await page.reload()
    await page.evaluate(EMPTY)
    await ana.clicks("Share screen")
    await expect(page.locator(".sharing p")).to_contain_text(NOTHING_ELSE)
    await ana.clicks("Send a still")
    await expect(problem).to_contain_text("no picture of your screen yet. Nothing was sent")
    await expect(text).to_have_value("my words")
    await text.press("Enter")
    await ana.sees("my words")
    await expect(problem).to_contain_text("Your line goes without a still")
    assert await stills(site, room) == [("my words", [])]


@pytest.mark.patient
async def test_a_still_that_fits_nowhere_stays_away(tmp_path: Path, crowd: Crowd) -> None:
    """Where the largest file is tiny, a line goes without its still, and says so."""
    async with town(tmp_path, upload_limit_bytes=100) as site, crowd:
        ana = await owner_of(site, crowd)
        room = await ana.makes_room("Tiny")
        page = await with_a_screen(ana)
        await shares(ana)
        await ana.clicks("Send a still")
        await expect(page.locator("#problem")).to_contain_text("Nothing was sent")
        await ana.says("as it is")
        await ana.sees("as it is")
        await expect(page.locator("#problem")).to_contain_text("Even a small still is larger")
        assert await stills(site, room) == [("as it is", [])]


@pytest.mark.patient
async def test_a_still_that_is_refused_leaves_the_words(
    ana: Person, site: Town, crowd: Crowd
) -> None:
    """The words come back to be sent again, and later lines go without a still."""
    room = await ana.makes_room("Refused")
    ben = await guest_of(room, ana, crowd)
    ben.expects("status of 400")
    page = await with_a_screen(ben)
    await shares(ben)
    await site.app.live.change("guest_files", "no-pictures", "owner")
    await ben.says("look here")
    await expect(page.locator(".refused .reason")).to_contain_text("Guests cannot send pictures")
    await expect(page.locator(".sharing p")).to_contain_text("your lines go without a still")
    await expect(page.get_by_label("A still with every line I write")).not_to_be_checked()
    await ben.clicks("Change it")
    await expect(page.locator("#text")).to_have_value("look here")
    await page.locator("#text").press("Enter")
    await ana.sees("look here")
    assert await stills(site, room) == [("look here", [])]


@pytest.mark.patient
async def test_too_many_stills_wait(tmp_path: Path, crowd: Crowd) -> None:
    """Where somebody gives more than the home takes at once, a line says so, and is kept."""
    async with town(tmp_path, upload_limit_bytes=4_000) as site, crowd:
        ana = await owner_of(site, crowd)
        ana.expects("status of 429")
        room = await ana.makes_room("Many")
        page = await with_a_screen(ana)
        await shares(ana)
        late = page.locator(".sending.late")
        for number in range(20):
            await ana.says(f"still {number}")
            line = page.locator("#lines .words, .sending.late", has_text=f"still {number}")
            await expect(line.first).to_be_visible()
            if await late.count():
                break
        await expect(late.locator(".reason")).to_contain_text(
            "You are sending a great many files. Wait"
        )
        await expect(late.locator(".words")).to_have_text(f"still {number}")
        assert 4 < len(await stills(site, room)) == number


@pytest.mark.patient
async def test_words_sent_with_a_still_outlive_the_page(ana: Person, site: Town) -> None:
    """A line that was on its way with a still is in the composer when the page is opened again."""
    room = await ana.makes_room("Slow")
    page = await with_a_screen(ana)

    async def never(route: Route) -> None:
        await route.abort()

    ana.expects("ERR_FAILED")
    await page.route("**/lines", never)
    await shares(ana)
    await ana.says("do not lose me")
    await expect(page.locator(".sending.late .reason")).to_contain_text("kept here")
    await page.unroute("**/lines")
    await page.reload()
    await expect(page.locator("#text")).to_have_value("do not lose me")
    await expect(page.locator("#problem")).to_contain_text("its words are here again")
    await page.locator("#text").press("Enter")
    await ana.sees("do not lose me")
    await page.reload()
    await ana.is_in()
    await expect(page.locator("#text")).to_have_value("")
    assert await stills(site, room) == [("do not lose me", [])]


@pytest.mark.patient
async def test_it_is_offered_to_whom_it_is_of_use(tmp_path: Path, crowd: Crowd) -> None:
    """No button where the browser cannot, where guests give no pictures, and in the past."""
    async with town(tmp_path, guest_files="no-pictures") as site, crowd:
        ana = await owner_of(site, crowd)
        room = await ana.makes_room("Buttons")
        ben = await guest_of(room, ana, crowd)
        await expect(ben.page.locator("#screen")).to_have_count(0)
        button = ana.page.get_by_role("button", name="Share screen")
        await expect(button).to_be_visible()
        await ana.says("one")
        await ana.sees("one")
        await ana.page.wait_for_function(SENT)
        await ana.opens(f"/rooms/{room}?at=1")
        await expect(ana.page.locator("#screen")).to_be_hidden()
        await ana.context.add_init_script(NOT_OFFERED)
        await ana.opens(f"/rooms/{room}")
        await ana.is_in()
        await expect(ana.page.locator("#screen")).to_be_hidden()


@pytest.mark.patient
async def test_its_bar_fits_and_is_used_by_keys(ana: Person, crowd: Crowd) -> None:
    """Wide and narrow, light and dark, nothing of it reaches out; all of it is done by keys."""
    await ana.makes_room("Bar", "maya")
    page = await with_a_screen(ana)
    keys = page.keyboard
    await page.locator("#screen").focus()
    await keys.press("Enter")
    bar = page.get_by_role("region", name="Your shared screen")
    await expect(bar).to_contain_text(NOTHING_ELSE)
    await expect(page.locator("#text")).to_be_focused()
    for width, scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        await page.set_viewport_size({"width": width, "height": 640})
        for each in ("#text", ".send", ".sharing"):
            await expect(page.locator(each)).to_be_in_viewport(ratio=0.9)
        assert not await ana.sideways()
        assert await found(ana, RULES) == []
    await ana.turns_desk()
    for name in ("A still with every line I write", "Send a still", "Stop sharing"):
        await page.evaluate("document.activeElement.blur()")
        await page.locator(".sharing").evaluate("each => { each.tabIndex = -1; each.focus(); }")
        for _ in range(4):
            await keys.press("Tab")
            focused = page.locator(":focus")
            told = await focused.evaluate(
                "each => each.labels?.[0]?.textContent ?? each.textContent"
            )
            if (told or await focused.text_content()) == name:
                break
        else:
            raise AssertionError(f"{name} is not reached by Tab")
        await keys.press("Space")
        if name == "Send a still":
            await ana.sees("My screen")
    await expect(bar).to_contain_text("Your screen is not shared any more.")
    await expect(page.locator("#text")).to_be_focused()
