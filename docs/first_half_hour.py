"""A walk through the first half hour, with pictures: `.venv/bin/python docs/first_half_hour.py`.

A home as it is made, a newcomer at a browser who does only what the pages show and name, a model
server on this machine that answers from a few words written in docs/newcomer.py, somebody who is
brought in, and a phone. 25 things, each with a picture in docs/first-half-hour.md; the tests walk
the same way. Needs Chromium.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import async_playwright, expect

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from docs.newcomer import Answers, Newcomer, Shoot  # noqa: E402
from docs.palette import small  # noqa: E402

from loopforge.home import make_home  # noqa: E402
from loopforge.models_opening import open_models  # noqa: E402
from loopforge.runtime.system_clock import SystemClock, SystemDice  # noqa: E402
from loopforge.settings import load_settings  # noqa: E402
from tests.browser.conftest import ARGUMENTS, CHROMIUM  # noqa: E402
from tests.browser.people import Crowd, Person  # noqa: E402
from tests.models.own import OwnServer, own  # noqa: E402
from tests.web.conftest import PASSWORD, Town, town  # noqa: E402

IMAGES = ROOT / "docs" / "images"
WINDOW = {"width": 1280, "height": 720}
PHONE = {"width": 400, "height": 760}
NOTES = b"22:10 no wind, no hum\n22:40 wind, hum\n23:05 wind, two people cross, still hum\n"
VOICE = "#voice: how it sounds, in a few words", "voice: gruff, floury, kind"
PLAIN = "Cross-Origin-Opener-Policy header has been ignored"
"""What a browser says of plain http by any name but its own machine's."""
ENVIRON = {"LOOPFORGE_EMBEDDED_MODEL": "true"}


@dataclass
class Stage:
    """Where the walk goes: a home's folder, its models, a model server, people, pictures."""

    crowd: Crowd
    home: Path
    shoot: Shoot
    server: OwnServer
    answers: Answers

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Town]:
        """The home, until the block ends; people may stay at their browsers."""
        settings = load_settings(self.home, environ=ENVIRON)
        models = open_models(settings, SystemClock(), SystemDice())
        try:
            host: dict[str, Any] = {"web_host": settings.web_host}
            async with town(
                self.home, models=models, environ=ENVIRON, person="guest", **host
            ) as site:
                yield site
        finally:
            await models.close()


@asynccontextmanager
async def stage(crowd: Crowd, home: Path, shoot: Shoot) -> AsyncIterator[Stage]:
    """A home as it is made, and a model server that nobody told it of."""
    make_home(home)
    answers = Answers()
    async with own("ollama", says=answers) as server, crowd:
        yield Stage(crowd, home, shoot, server, answers)


async def walk(crowd: Crowd, home: Path, shoot: Shoot) -> None:
    """All 25."""
    async with stage(crowd, home, shoot) as here:
        async with here.opened() as site:
            ana = await arrive(here, site)
            await talk(here, site, ana)
            await lines(ana)
            await mates(ana)
            await remembered(ana)
            await company(here, site, ana)
            await around(ana)
            await opens(ana)
        await again(here, ana)


async def arrive(here: Stage, site: Town) -> Newcomer:
    """1 to 3: from the link that the terminal shows to a better model."""
    person = await here.crowd.person("Ana", site.address, viewport=WINDOW)
    ana = Newcomer(person, here.shoot)
    await ana.page.goto(f"{site.address}/enter/{await site.app.accounts.links.offer()}")
    name = ana.page.get_by_label("What shall mates call you?")
    await expect(name).to_have_value("")
    await name.fill("Ana")
    await ana.picture("come-in")
    await ana.press("Come in")
    await ana.hears("Zuzu! Raccoon. You are Ana?")
    await ana.picture("greeted")
    await ana.press("Choose a better model")
    await ana.write("Its address", f"{here.server.url}/v1")
    server = ana.page.locator("form").filter(has=ana.page.get_by_label("Its address", exact=True))
    await server.get_by_role("button", name="Try it and save it").filter(visible=True).click()
    await ana.sees("It opens llama3.2")
    await ana.picture("better-model")
    await ana.press("Go and talk")
    return ana


async def talk(here: Stage, site: Town, ana: Newcomer) -> None:
    """4 to 8: asked and answered, why, by name, said anew, stopped."""
    await ana.press("@maya Who are you?")
    await ana.hears("What broke near you lately?")
    await ana.picture("answered")
    await ana.press("Why?", ana.line("What broke near you lately?"))
    await expect(ana.page.get_by_role("dialog")).to_contain_text("Ana")
    await ana.picture("why")
    await ana.press("Close", ana.page.get_by_role("dialog"))
    await ana.say("Merlin, what is good for tired bread?")
    await ana.hears("Patience, child.")
    await ana.picture("by-name")
    await site.app.front.rooms.settled("commons")  # another mate may still weigh a word of its own
    await ana.press("Try again", ana.line("Patience, child."))
    await ana.hears("A warm bowl and an old song.")
    await ana.picture("another-version")
    await ana.say("Zuzu, tell us a long story.")
    await ana.sees("third bin from the left")
    await ana.press("Stop")
    await ana.sees("Stopped.")
    here.answers.gate.set()
    await ana.picture("stopped")


async def lines(ana: Newcomer) -> None:
    """9 to 13: react, quote, edit and take back, give a file, search."""
    await ana.do("A warm bowl and an old song.", "React", "❤️")
    await expect(ana.line("A warm bowl")).to_contain_text("❤")
    await ana.picture("react")
    await ana.do("A warm bowl and an old song.", "More", "Quote")
    field = ana.page.get_by_label("Say something", exact=True)
    await field.press_sequentially("Which song?")
    await ana.press("Send")
    await ana.hears("Any that is longer")
    await ana.picture("quote")
    await ana.say("I am a backer, by the way.")
    await ana.hears("I am a backer")
    await ana.do("I am a backer", "More", "Edit")
    await ana.write("Your line", "I am a baker, by the way.")
    await ana.picture("edit")
    await ana.press("Save")
    await ana.hears("I am a baker")
    await ana.do("I am a baker", "More", "Delete", "Delete for good?")
    # words that are forgotten leave the open page, too
    await expect(ana.page.get_by_text("I am a baker, by the way.")).to_have_count(0)
    await ana.page.get_by_label("Add files").set_input_files(
        {"name": "hum.txt", "mimeType": "text/plain", "buffer": NOTES}
    )
    await ana.sees("hum.txt")
    await ana.say("Maya, what do my notes say?")
    await ana.hears("So it is wind, not feet.")
    await ana.picture("file")
    await ana.write("Search this room", "wind")
    await ana.page.keyboard.press("Enter")
    await ana.sees("the newest last")
    await ana.picture("search")
    await ana.press("Close", ana.page.get_by_role("dialog"))


async def mates(ana: Newcomer) -> None:
    """14 to 16: a mate of one's own, in another voice, in the room."""
    await ana.press("Mates")
    await ana.press("New mate")
    await ana.write("Name", "Otto")
    await ana.page.get_by_label("What it does").fill("baker who is proud of his crusts")
    await ana.press("Start with a sketch")
    await ana.sees("This is a mate.")
    await ana.picture("new-mate")
    await ana.press("Save")
    await ana.press("Edit")
    file = ana.page.get_by_label("The whole file, line by line")
    sketch = await file.input_value()
    await file.fill(sketch.replace(*VOICE))
    await expect(ana.page.get_by_text("gruff, floury, kind", exact=True)).to_be_visible()
    await ana.picture("voice")
    await ana.press("Save")
    await ana.press("Try it out")
    await ana.say("My bread fell.")
    await ana.hears("Crust first, grief later.")
    await ana.picture("tried-out")


async def remembered(ana: Newcomer) -> None:
    """17 to 19: what mates know of one, forgotten for good, and a reminder."""
    await ana.say("Remember that I am allergic to nuts.")
    await ana.sees("Otto will remember that.")
    await ana.hears("No nuts, then.")
    await ana.press("You, Ana: sessions and password")
    await ana.press("See it")
    await ana.sees("I am allergic to nuts")
    await ana.press("Where it is from")
    await ana.picture("what-it-knows")
    await ana.press("Change it")
    await ana.page.get_by_label("I am sure").check()
    await ana.press("Forget it for good")
    await ana.sees("item was forgotten")
    await ana.picture("forgotten")
    await ana.press("Rooms")
    await ana.page.get_by_role("link", name="Trying out Otto").click()
    await ana.press("Reminders")
    await ana.write("When, in your own words", "tomorrow at 7:00")
    await ana.write("Of what", "feed the dough")
    await ana.press("Set it")
    await ana.sees("feed the dough")
    await ana.picture("remind")


async def company(here: Stage, site: Town, ana: Newcomer) -> None:
    """20 to 22: what it may cost, a guest, and what the guest may do."""
    await ana.press("Trying out Otto")
    await ana.press("Budget")
    budget = ana.under("Budget")
    await ana.write("At most", "2 dollars day", budget)
    await ana.press("Set", budget)
    await ana.sees("$2.00")
    await ana.picture("budget")
    await ana.press("Make an invite link")
    link = await ana.page.get_by_label("The link", exact=True).input_value()
    ben = Newcomer(await here.crowd.person("Ben", site.address, viewport=WINDOW), here.shoot)
    await ben.page.goto(link)
    await ben.write("Your name here", "Ben")
    await ben.page.get_by_label("A password").fill(PASSWORD)
    await ben.press("Come in")
    await ben.say("Hello Ana! It smells of bread here.")
    await ben.hears("It smells of bread here.")
    ben.done = ana.done
    await ben.picture("guest")
    ana.done = ben.done
    await ben.page.goto("about:blank")
    await ana.page.get_by_role("link", name="Back to the room").click()
    await ana.hears("It smells of bread here.")
    await ana.press("Settings")
    rights = ana.under("Talk and rights")
    await rights.get_by_label("From now on").select_option(label="Ben")
    await rights.get_by_label("change the room").uncheck()
    await rights.locator("form").filter(has_text="From now on").get_by_role("button").click()
    await ana.sees("Ben may")
    await ana.picture("what-a-guest-may")


async def around(ana: Newcomer) -> None:
    """23 and 24: a room taken along, and another one by Ctrl K."""
    async with ana.page.expect_download() as taken:
        await ana.press("As text (Markdown)")
    assert "It smells of bread here." in (await (await taken.value).path()).read_text("utf-8")
    await ana.page.get_by_role("heading", name="Take it along").scroll_into_view_if_needed()
    await ana.picture("take-along")
    await ana.page.get_by_role("link", name="← Trying out Otto").click()
    await ana.person.is_in()
    await ana.page.keyboard.press("Control+K")
    await ana.page.get_by_label("Go to a room or page").fill("bread")
    await ana.picture("go-to")
    await ana.page.keyboard.press("Enter")
    await ana.hears("So it is wind, not feet.")


async def opens(ana: Newcomer) -> None:
    """What the next start is to open, by the button beside a link that nobody else could open."""
    await ana.press("You, Ana: sessions and password")
    await ana.press("Sign in on another device")
    await ana.press("Open it to this network")
    await ana.sees("Close the home and start it again")
    await ana.page.goto("about:blank")


async def again(here: Stage, ana: Newcomer) -> None:
    """25: the home, opened to the network and started again, on a phone in the dark."""
    async with here.opened() as site:
        ana.person.address = site.address
        ana.person.expects(PLAIN)
        await ana.page.goto(f"{site.address}/enter/{await site.app.accounts.links.offer()}")
        await ana.press("Come in")
        await ana.press("You, Ana: sessions and password")
        await ana.press("Sign in on another device")
        link = await ana.page.get_by_label("The link", exact=True).input_value()
        how = {"viewport": PHONE, "has_touch": True, "color_scheme": "dark"}
        phone = Newcomer(await here.crowd.person("Ana", site.address, **how), here.shoot, ana.done)
        phone.person.expects(PLAIN)
        await phone.page.goto(link)
        await phone.press("Come in as Ana")
        await phone.page.get_by_role("link", name="A home with bread").click()
        await phone.say("Maya, is it still wind?")
        await phone.hears("Tape over the slot")
        await phone.picture("phone")
        for each in (ana, phone):
            await each.page.goto("about:blank")


async def main() -> None:
    """Walk, and keep the pictures; they are made small at the end, since the home runs in here."""
    assert CHROMIUM, "no Chromium here: apt-get install chromium"
    taken: dict[str, bytes] = {}

    async def keep(person: Person, name: str) -> None:
        await person.page.mouse.move(2, 2)
        await person.page.evaluate("document.fonts.ready")
        taken[name] = await person.page.screenshot(animations="disabled", caret="hide")

    with TemporaryDirectory() as home:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            await walk(Crowd(browser), Path(home), keep)
            await browser.close()
    for name, shot in taken.items():
        (IMAGES / f"{name}.png").write_bytes(small(shot, 2))
        print(name)


if __name__ == "__main__":
    asyncio.run(main())
