"""Take the pictures in docs/images anew: `.venv/bin/python docs/shots.py`.

A home in a temporary folder, two people in real browsers, three mates whose lines are written here,
said by the scripted model through everything that a real one goes through; and a week of the
Factory, which needs no model. Needs Chromium.
"""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import async_playwright, expect

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from docs.palette import small  # noqa: E402

from loopforge.chat.room.platform_channels import ChannelSpot  # noqa: E402
from loopforge.core.factory_vocabulary import Decided  # noqa: E402
from loopforge.core.room_vocabulary import Heard, TalkSet  # noqa: E402
from loopforge.core.text.erasable_text import Words  # noqa: E402
from loopforge.home import make_home  # noqa: E402
from loopforge.lab.run.run_lifecycle import simulate  # noqa: E402
from loopforge.lab.run.run_log import rows_of  # noqa: E402
from loopforge.lab.world.scenario_file import open_scenario  # noqa: E402
from loopforge.models.scripted_model import ScriptedAnswer  # noqa: E402
from loopforge.runtime.ports import Question  # noqa: E402
from tests.browser.conftest import ARGUMENTS, CHROMIUM  # noqa: E402
from tests.browser.people import Crowd, Person, owner_of  # noqa: E402
from tests.web.conftest import Town, town  # noqa: E402

IMAGES = ROOT / "docs" / "images"
TITLE = "The footbridge that hums"
NOTES = b"22:10 no wind, no hum\n22:40 wind, hum\n23:05 wind, two people cross, still hum\n"
ASKED = (
    "The new footbridge hums at night, but only when nobody is on it. @maya, what failed?",
    "I sat there for an hour and took notes. @merlin, you remember tomorrow: does it stand?",
    "@zuzu, you know old metal. Would you keep it quiet?",
)
SAYS: dict[str, dict[str, Any]] = {
    "Maya": {
        "say": "Nothing, so far. A hum with nobody on it is wind, not feet. Tape over half of any"
        " slot you find, and listen again. And tell me what you heard: was it a note, or a growl?",
        "narrative": "Ana asked me what failed. There is no evidence of a failure yet, so I say"
        " that, and ask for the one thing that would tell wind from weight.",
        "mode": "context",
    },
    "Merlin": {
        "say": "Tomorrow it stands, and the owl on its third lamp complains about the tune. I once"
        " had a tower that whistled so. We stuffed straw into *one* window, and it went back to"
        " being a tower. Look for the window, child.",
        "narrative": "They want a yes, and a hint that can be used.",
        "mode": "context",
    },
    "Zuzu": {
        "say": "Quiet? Sniff. No! It sings because nobody is there. Lonely bridge. I sit with it, I"
        " bring half a sandwich and my second-best spring. But the slot, yes, the slot. I know"
        " slots. Things live in slots. Give me a spoon and one night.",
        "narrative": "A lonely machine. I am on its side.",
        "mode": "context",
    },
}


def script(question: Question) -> ScriptedAnswer:
    """What each of them says here, and for Zuzu, slowly, so that it can be seen growing."""
    told = "\n".join(text for _, text in question.messages)
    fields = (question.schema or {}).get("properties", {})
    if "title" in fields or "say" not in fields:
        return ScriptedAnswer(text=TITLE, data={"title": TITLE})
    name = next(name for name in SAYS if f"You are {name}" in told)
    slow = name == "Zuzu"
    return ScriptedAnswer(
        text=SAYS[name]["say"],
        data=SAYS[name],
        wait=0.4,
        pieces=40 if slow else 1,
        pause=0.6 if slow else 0,
    )


async def play(ana: Person, ben: Person) -> None:
    """The talk, up to the moment when Zuzu speaks."""
    await ana.says(ASKED[0])
    await ana.hears("Maya")
    await ben.page.locator("#files").set_input_files(
        {"name": "hum.txt", "mimeType": "text/plain", "buffer": NOTES}
    )
    await ben.says(ASKED[1])
    await ana.hears("Merlin")
    for each in (ana, ben):
        await each.rests()


async def shoot(ana: Person, name: str, grain: int = 1) -> None:
    """One picture, small enough for a README."""
    await ana.page.mouse.move(2, 2)
    await ana.page.evaluate("document.fonts.ready")
    path = IMAGES / f"{name}.png"
    path.write_bytes(small(await ana.page.screenshot(animations="disabled", caret="hide"), grain))
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB")


JOINED = (
    ("discord", "Ben", "The footbridge hums again. Is anybody near it tonight?"),
    ("telegram", "Cleo", "I am, with **nobody** on it, and it sings. @maya, what failed?"),
    ("discord", "Ben", "I walk over it to work. @merlin, does it stand tomorrow?"),
)


async def joined(ana: Person, site: Town) -> None:
    """One conversation in three places: a channel of Discord, a group of Telegram, and here."""
    room, front = await ana.makes_room("One bridge, three places", "maya", "merlin"), site.app.front
    for place, name in (("discord:1", "#bridges"), ("telegram:-1", "Night walkers")):
        await front.rooms.join_place(ChannelSpot(place, name, "group"), (), room)
    await site.app.rooms.add(room, "", TalkSet(free=False))
    for nth, (platform, name, text) in enumerate(JOINED):
        person = await site.app.people.meet(platform, name.lower(), name)
        await front.rooms.arrive(room, person.id, name, platform)
        place = "discord:1" if platform == "discord" else "telegram:-1"
        line = await front.rooms.hear(
            room, Heard(person=person.id, text=Words(text), surface=place, source=str(nth + 1))
        )
        await front.rooms.settled(room)
        if nth == 0:
            await front.rooms.edit(room, person.id, line.id, text.replace("near it", "out there"))
    await ana.says("Come over here with a thermos, both of you.")
    await ana.hears("Ana")
    await ana.rests()
    await expect(ana.page.locator("#lines .aside", has_text="on Telegram")).to_be_attached()
    await shoot(ana, "joined")


async def city(ana: Person, home: Path) -> None:
    """The Factory at a moment in which somebody misheard, was shown what was not so, and fell."""
    folder = home / "data" / "runs" / "quota_week"
    await simulate(open_scenario("quota_week"), out=folder)
    row = next(
        row
        for row in rows_of(folder)
        if isinstance(row, Decided)
        and row.outcome.incident
        and len(row.edits) > 1
        and row.voice.heard != row.voice.meant
    )
    await ana.page.emulate_media(color_scheme="dark")
    await ana.turns_desk()
    await ana.opens(f"/lab/quota_week?step={row.step}")
    await ana.page.locator(f"a.deed-why[href$='/why/{row.n}']").click()
    await expect(ana.page.locator("[data-detail] .triple")).to_be_visible()
    await shoot(ana, "lab", grain=4)


async def scene(crowd: Crowd, home: Path) -> None:
    """The whole scene, and its pictures."""
    make_home(home)
    async with town(home, script, person="Ana") as site, crowd:
        ana = await owner_of(site, crowd, "Ana")
        room = await ana.makes_room(TITLE, "maya", "merlin", "zuzu")
        ben = await crowd.person("Ben", site.address)
        await ben.joins(await ana.invites(room))
        for each in (ana, ben):
            hide = each.page.get_by_role("button", name="Hide this notice")
            if await hide.count():
                await hide.click()
        await play(ana, ben)

        why = (await ana.hears("Maya")).locator("a.why")
        await why.click()
        await expect(ana.page.locator("#sheet .why-story")).to_be_visible()
        await ana.page.locator("#sheet summary", has_text="Why it spoke").click()
        await ana.page.evaluate("document.getElementById('panel').scrollTop = 0")
        await shoot(ana, "why")
        await ana.page.keyboard.press("Escape")
        await expect(ana.page.locator("#sheet")).to_be_hidden()

        await ana.says(ASKED[2])
        await expect(ana.page.locator("#drafts .draft")).to_contain_text("my second-best spring")
        await ben.page.locator("#text").press_sequentially("I could bring")
        await shoot(ana, "room")
        await ana.page.emulate_media(color_scheme="dark")
        await shoot(ana, "dark")
        await ana.page.emulate_media(color_scheme="light")
        await ana.turns_desk()
        await joined(ana, site)
        await city(ana, home)


async def main() -> None:
    """Take them all."""
    assert CHROMIUM, "no Chromium here: apt-get install chromium"
    IMAGES.mkdir(exist_ok=True)
    with TemporaryDirectory() as home:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            await scene(Crowd(browser), Path(home))
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
