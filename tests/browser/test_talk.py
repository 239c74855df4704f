"""Talking in a room: what is heard, thought, spoken, taken back and stopped, on several pages."""

import asyncio
import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from loopforge.app import open_app
from loopforge.core.room_vocabulary import Said, Stopped
from loopforge.home import make_home
from loopforge.host import serve_web_room
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Question
from loopforge.settings import load_settings
from tests.browser.people import Crowd, Person, guest_of, owner_of
from tests.held_clock import HeldClock
from tests.web.conftest import reachable, town

TAKEN = """() => new MutationObserver(() => {
  const draft = document.querySelector('#drafts .draft.withdrawn');
  if (draft) window.taken ??= ['.draft.withdrawn .reason', '.draft.withdrawn .when', '#signs'].map(
    (each) => document.querySelector(each).textContent);
}).observe(document.body, {childList: true, subtree: true})"""
"""Keeps how a draft was taken back: it is seen for a few seconds alone."""


@pytest.mark.patient
@pytest.mark.model
async def test_two_people_and_two_mates_on_the_embedded_model(tmp_path: Path, crowd: Crowd) -> None:
    """With no key and no setting: both people speak, mates answer both, and both pages agree."""
    make_home(tmp_path)
    environ = {"LOOPFORGE_WEB_PORT": "0", "LOOPFORGE_PERSON": "ana"}
    async with (
        open_app(load_settings(tmp_path, environ=environ)) as app,
        serve_web_room(app) as address,
        crowd,
    ):
        await reachable(address)
        ana = await crowd.person("ana", address)
        await ana.enters(f"{address}/enter/{await app.accounts.links.offer()}")
        await expect(ana.page.locator("[data-notice]")).to_contain_text("small")
        room = await ana.makes_room("A first evening", "maya", "merlin")
        await expect(ana.page.locator("#scene-body [data-handle]")).to_have_count(2)
        ben = await guest_of(room, ana, crowd)
        await expect(ana.page.locator("#scene-body")).to_contain_text("ben")

        await ana.says("@maya what do you study?")
        await ben.sees("@maya what do you study?")
        await ben.hears("Maya")
        await ben.says("@merlin and you, wizard? what will the weather be?")
        await ana.hears("Merlin")
        await app.front.rooms.settled(room)
        for each in (ana, ben):
            await each.rests()

        said = [e for e in await app.ledger.read(f"room:{room}") if isinstance(e.body, Said)]
        assert {e.body.mate for e in said if isinstance(e.body, Said)} == {"maya", "merlin"}
        for each in (ana, ben):
            await expect(each.page.locator("#lines > .said")).to_have_count(len(said))
        assert await ana.talk() == await ben.talk()
        assert len(await ana.talk()) == 2 + len(said)


async def test_a_draft_grows_and_becomes_the_line(tmp_path: Path, crowd: Crowd) -> None:
    """A mate is seen thinking, its words grow on every page, and they end as one line, once."""
    words = "The bridge hums because the wind is bored, and so am I, a little, since Tuesday."

    def slow(question: Question) -> ScriptedAnswer:
        return ScriptedAnswer(text=words, wait=1, pieces=16, pause=1)

    pace = HeldClock()
    async with town(tmp_path, models=ScriptedModels(slow, clock=pace)) as site, crowd:
        ana = await owner_of(site, crowd)
        room = await ana.makes_room("Bridges", "maya")
        ben = await guest_of(room, ana, crowd)
        colour = "each => getComputedStyle(each).getPropertyValue('--mate-raw')"
        for each in (ana, ben):
            assert await each.page.locator("#scene-body .mate-maya").evaluate(colour)
            await each.page.evaluate("""() => {
              window.grown = [];
              new MutationObserver(() => {
                const words = document.querySelector('#drafts .draft .words');
                if (words && words.innerText !== window.grown.at(-1)) window.grown.push(words.innerText);
              }).observe(document.getElementById('drafts'), {childList: true, subtree: true}); }""")
        await ana.says("@maya why does it hum?")
        await expect(ben.page.locator("#signs .thinks")).to_have_text("Maya is thinking")
        pace.let_go(5)  # of sixteen pieces, whose last tell of other things
        for each in (ana, ben):
            await expect(each.page.locator("#drafts .draft.mate-maya .words")).to_contain_text("T")
        pace.let_go(2)
        for each in (ana, ben):
            while await each.page.evaluate("window.grown.length") < 2:
                await asyncio.sleep(0.02)
        pace.let_go()
        for each in (ana, ben):
            await each.hears("Maya")
            await expect(each.page.locator("#drafts .draft")).to_have_count(0)
            await expect(each.page.locator("#signs .thinks")).to_have_count(0)
            grown = await each.page.evaluate("window.grown")
            assert len(grown) >= 2, grown
            assert all(words.startswith(one.strip()) for one in grown), grown
            assert [len(one) for one in grown] == sorted(len(one) for one in grown)
            assert (await each.talk())[-1] == f"Maya: {words}"


async def test_a_refused_draft_is_taken_back_with_its_reason(tmp_path: Path, crowd: Crowd) -> None:
    """What the guard refuses is struck out before the readers' eyes, and the reason stands by it."""

    def same(question: Question) -> ScriptedAnswer:
        return ScriptedAnswer(text="I am a teapot, @zuzu and @maya.", pieces=6, pause=0.1)

    async with town(tmp_path, same) as site, crowd:
        ana = await owner_of(site, crowd)
        await ana.makes_room("Tea", "maya", "zuzu")
        await ana.page.evaluate(TAKEN)
        await ana.says("@maya who are you?")
        await ana.page.wait_for_function("() => window.taken")
        reason, when, sign = await ana.page.evaluate("window.taken")
        assert reason.startswith("Taken back: ")
        assert "just that" in reason
        assert when == "taken back"
        assert "took back" in sign
        await ana.hears("Maya", 1)


@pytest.mark.patient
async def test_people_are_seen_typing_by_others_and_not_by_themselves(
    ana: Person, crowd: Crowd
) -> None:
    """Who types is named on the other's page, until the line is there; each page marks its own."""
    room = await ana.makes_room("Tea", "maya")
    ben = await guest_of(room, ana, crowd)
    await ana.page.locator("#text").press_sequentially("hello b")
    await expect(ben.page.locator("#signs")).to_contain_text("olu is typing")
    await expect(ana.page.locator("#signs .types")).to_have_count(0)
    await ana.page.locator("#text").press_sequentially("en")
    await ana.page.locator("#text").press("Enter")
    await ben.sees("hello ben")
    await expect(ben.page.locator("#signs .types")).to_have_count(0)
    await expect(ana.line("hello ben")).to_have_class(re.compile(r"\bmine\b"))
    await expect(ben.line("hello ben")).not_to_have_class(re.compile(r"\bmine\b"))


async def test_stop_halts_a_mate_in_the_middle_of_a_word(tmp_path: Path, crowd: Crowd) -> None:
    """A mate that would speak for minutes is cut short on both pages, and speaks when spoken to."""
    long = " ".join(f"word{n}" for n in range(400))

    def endless(question: Question) -> ScriptedAnswer:
        text = str(question.messages)
        if "be short" in text:
            return ScriptedAnswer(text="Short it is.")
        return ScriptedAnswer(text=long, pieces=400, pause=0.2)

    async with town(tmp_path, endless) as site, crowd:
        ana = await owner_of(site, crowd)
        room = await ana.makes_room("Long stories", "maya")
        ben = await guest_of(room, ana, crowd)
        await ana.says("@maya tell me everything")
        for each in (ana, ben):
            await expect(each.page.locator("#drafts .draft .words")).to_contain_text("word15")
        await ana.clicks("Stop")
        for each in (ana, ben):
            await expect(each.page.locator("#scene-body .halted")).to_be_visible()
            await expect(each.page.locator("#drafts .draft:not(.withdrawn)")).to_have_count(0)
            await each.rests()
        events = await site.events(room)
        assert sum(isinstance(e.body, Stopped) for e in events) == 1
        assert [e.body.cut for e in events if isinstance(e.body, Said)] == [True]
        for each in (ana, ben):
            kept = each.page.locator("#lines > .line.said")
            await expect(kept).to_have_count(1)
            await expect(kept).to_contain_text("stopped here")
        await ben.says("@maya be short, please")
        await ana.sees("Short it is.")
