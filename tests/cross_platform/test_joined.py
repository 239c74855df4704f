"""One conversation on Discord, on Telegram, in the web room and at a terminal, with two mates."""

import dataclasses
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import Heard, Stopped
from loopforge.core.turn_events import TurnEnded
from loopforge.home import make_home
from loopforge.models.scripted_model import Script, ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Question
from loopforge.setting_defaults import Settings
from loopforge.settings import load_settings
from tests.cross_platform.evening import MATES, ROOM, Evening, Shown, evening
from tests.discord.twin import Twin as Discord
from tests.rooms.conftest import write_mates
from tests.telegram.homes import counting
from tests.telegram.twin import Twin as Telegram

pytestmark = pytest.mark.xdist_group("telegram")
Says = Callable[[str], Awaitable[object]]
NAMES = [mate.capitalize() for mate in MATES]
TALE = " ".join(f"word{n}" for n in range(1200))


def settings_of(home: Path) -> Settings:
    """A home with two mates."""
    write_mates(home, ("maya", "merlin"))
    environ = {"LOOPFORGE_TIMEZONE": "UTC", "LOOPFORGE_WEB_PORT": "0"}
    settings = load_settings(home, environ=environ)
    return dataclasses.replace(settings, debounce_seconds=0.02, person="olu")


def scripted(script: Script | None = None) -> ScriptedModels:
    """A model that says which answer this is."""
    return ScriptedModels(script or counting())


def unplaced(told: list[Shown]) -> list[Shown]:
    """The same where people are told from which platform somebody speaks, and nothing nearer."""
    return [each._replace(where=each.where if each.where.istitle() else "") for each in told]


def endless(_: Question) -> ScriptedAnswer:
    """A tale of eight minutes, a dozen words at a time: what is missed is shown with the next."""
    return ScriptedAnswer(text=TALE, pieces=100, pause=5)


async def agree(there: Evening, *, words: bool = True) -> list[Shown]:
    """Everybody sees every line once, in the ledger's order, with its name and place.

    Without `words`, those of mates need not look the same everywhere, as Markdown does not.
    """

    def compared(seen: list[Shown]) -> list[Shown]:
        lines = [each for each in seen if each not in notices]
        return [each if words or each.who not in NAMES else Shown(each.who) for each in lines]

    told, notices = await there.told(), await there.notices()
    assert compared(there.ben.seen()) == compared(told)
    assert compared(await there.cleo.seen()) == compared(told)
    assert compared(there.olu.seen()) == compared(unplaced(told))
    others = [each for each in told if each.who != "ana"]
    assert compared(there.ana.seen()) == compared(unplaced(others))
    return told


async def test_four_people_and_two_mates_in_one_room(
    tmp_path: Path, city: Discord, twin: Telegram
) -> None:
    """Every line is seen once by everybody, in one order, under the right name; none comes back."""
    async with evening(settings_of(tmp_path), scripted(), city, twin) as there:
        await there.ben.says("maya, who keeps the light?")
        await there.rests(1)
        await there.cleo.says("merlin, who built the tower?")
        await there.rests(2)
        await there.olu.says("maya, what is for tea?")
        await there.rests(3)
        await there.ana.says("merlin, good night")
        await there.rests(4)
        people: list[Says] = [there.ana.says, there.olu.says, there.cleo.says, there.ben.says]
        for nth, says in enumerate(people):
            await says(f"what a day, {nth}")
            await there.rests(5 + nth)
        told = await agree(there)
    assert [(each.who, each.where) for each in told] == [
        ("ben", "Discord"),
        ("Maya", ""),
        ("cleo", "Telegram"),
        ("Merlin", ""),
        ("olu", "web"),
        ("Maya", ""),
        ("ana", "terminal"),
        ("Merlin", ""),
        ("ana", "terminal"),
        ("olu", "web"),
        ("cleo", "Telegram"),
        ("ben", "Discord"),
    ]
    assert [each.text for each in told if each.where] == [
        "maya, who keeps the light?",
        "merlin, who built the tower?",
        "maya, what is for tea?",
        "merlin, good night",
        *(f"what a day, {nth}" for nth in range(4)),
    ]
    assert city.doubled() == []
    assert await twin.city.doubled() == []


async def test_a_reply_on_one_platform_to_what_was_said_on_another(
    tmp_path: Path, city: Discord, twin: Telegram
) -> None:
    """A reply on Telegram to a mate that spoke to Discord calls it; one to a person calls nobody.

    What is answered on Discord is answered on Telegram too.
    """
    async with evening(settings_of(tmp_path), scripted(), city, twin) as there:
        await there.ben.says("merlin, who built the tower?")
        await there.rests(1)
        question, answer = await there.cleo.messages()
        await there.cleo.says("so I thought", reply_to=question)
        await there.rests(2)
        await there.cleo.says("and who paid?", reply_to=answer)
        await there.rests(3)
        await there.ben.says("nobody did", reply_to="and who paid?")
        await there.rests(4)
        told = await agree(there)
        lines = await there.lines()
        messages = await there.cleo.messages()
    assert [each.who for each in told] == ["ben", "Merlin", "cleo", "cleo", "Merlin", "ben"]
    heard = [event.body for event in lines if isinstance(event.body, Heard)]
    assert [body.reply_to for body in heard] == ["", lines[0].id, lines[1].id, lines[3].id]
    assert messages[5].reply == messages[3].key


async def test_what_is_edited_in_one_place_is_edited_in_all(
    tmp_path: Path, city: Discord, twin: Telegram
) -> None:
    """A line changed on Discord or Telegram is changed for everybody, in its place.

    Also one on which somebody put an emoji.
    """
    async with evening(settings_of(tmp_path), scripted(), city, twin) as there:
        mine = await there.ben.says("the light is **red**")
        await there.rests(1)
        hers = await there.cleo.says("maya, is the tower old?")
        await there.rests(2)
        await there.ben.reacts("maya, is the tower old?", "🥖")
        await there.olu.says("what a question")
        await there.rests(3)
        await there.ben.edits(mine, "the light is **green**")
        await there.cleo.edits(hers, "maya, is it young?")
        await there.rests(3, edited=2)
        told = await there.told()
        assert [each.text for each in told[:2]] == ["the light is **green**", "maya, is it young?"]
        plain = [told[0]._replace(text="the light is green"), *told[1:]]
        await there.until(lambda: there.ben.seen() == told)
        await there.eventually(there.cleo.seen, plain)
        await there.until(lambda: there.olu.seen() == unplaced(plain))
        one, two = (await there.lines())[:2]
        notices = {
            f"[ben edited #{one.seq}: the light is **green**]",
            f"[cleo edited #{two.seq}: maya, is it young?]",
        }
        await there.until(lambda: notices <= {*there.ana.notices()})


async def test_a_stop_sign_on_discord_stops_what_was_asked_for_at_the_terminal(
    tmp_path: Path, city: Discord, twin: Telegram
) -> None:
    """The turn ends, what it had said stays everywhere as a line, and everybody can know why."""
    async with evening(settings_of(tmp_path), scripted(endless), city, twin) as there:
        await there.ana.says("maya, tell me a tale")
        await there.until(lambda: len(there.ben.seen()) == 2 and there.olu.page.data("draft"))
        await there.eventually(there.cleo.drawn, True)
        await there.ben.reacts("maya, tell me a tale", "🛑")
        await there.rests(1)
        bodies = [event.body for event in await there.events()]
        (ended,) = [body for body in bodies if isinstance(body, TurnEnded)]
        assert ended.outcome == "stopped"
        assert sum(isinstance(body, Stopped) for body in bodies) == 1
        told = await there.told()
        asked, (who, _, words) = told
        assert (asked.text, who) == ("maya, tell me a tale", "Maya")
        assert TALE.startswith(words.removesuffix(" …"))
        await there.until(lambda: there.ben.said() == told)
        await there.eventually(there.cleo.seen, told)
        await there.until(lambda: there.olu.seen() == unplaced(told))
        await there.until(lambda: there.ana.seen() == told[1:])
        notice = "[ben said stop. Mates stay still until somebody speaks to them.]"
        await there.until(lambda: notice in there.ana.notices())


async def test_a_place_that_leaves_keeps_no_draft(
    tmp_path: Path, city: Discord, twin: Telegram
) -> None:
    """When a place goes its own way while a mate speaks, what it has said so far goes from there."""
    asked = Shown("ana", "terminal", "maya, tell me a tale")
    async with evening(settings_of(tmp_path), scripted(endless), city, twin) as there:
        await there.ana.says("maya, tell me a tale")
        await there.until(lambda: len(there.ben.seen()) == 2)
        await there.eventually(there.cleo.drawn, True)
        for place in list((await there.app.front.rooms.state(ROOM)).places):
            await there.app.front.rooms.leave_place(ROOM, place, "it goes its own way")
        await there.until(lambda: there.ben.seen() == [asked])
        await there.eventually(there.cleo.seen, [asked])
        await there.ana.says("stop")
        await there.rests(2)
        assert there.ben.seen() == await there.cleo.seen() == [asked]


@pytest.mark.patient
@pytest.mark.model
async def test_one_round_on_the_embedded_model(
    tmp_path: Path, city: Discord, twin: Telegram
) -> None:
    """With the mates and the model that come along: whatever they say, everybody sees the same."""
    make_home(tmp_path)
    for file in (tmp_path / "mates").glob("*.md"):
        if file.stem not in MATES:
            file.unlink()
        else:  # who comes in first is greeted in the browser, before there are other places
            file.write_text(re.sub(r"(?m)^greeting: .*\n", "", file.read_text()))
    settings = load_settings(tmp_path, environ={"LOOPFORGE_WEB_PORT": "0"})
    async with evening(settings, None, city, twin) as there:
        await there.ben.says("maya, what do you study?")
        await there.rests(1)
        told = await agree(there, words=False)
    asked = Shown("ben", "Discord", "maya, what do you study?")
    assert "Maya" in {each.who for each in told}
    assert [each for each in told if each.who not in NAMES] == [asked]
