"""A mate's last line in the browser: said anew, swiped between, gone on from, seen by everybody."""

import re
from itertools import count
from pathlib import Path

from playwright.async_api import expect

from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.browser.people import Crowd, guest_of, owner_of
from tests.web.conftest import Town, town

LATE = """window.EventSource = class extends EventSource {
  held = [];
  addEventListener(kind, hear) {
    super.addEventListener(kind, (event) => {
      if (kind === 'line' && event.data.includes('data-mate=')) return this.held.push(() => hear(event));
      hear(event);
      if (kind === 'scene') this.held.splice(0).forEach((held) => held());
    });
  }
};"""
"""A page that hears how the room stands before the line of a mate that this tells of."""

ALOUD = """() => {
  window.aloud = [];
  const log = document.getElementById('lines');
  new MutationObserver((changes) => {
    for (const { addedNodes, target } of changes) {
      if (target.closest('[aria-live]') !== log) continue;
      for (const each of addedNodes) {
        if (!each.isConnected || each.ariaLive === 'off') continue;
        const heard = each.cloneNode(true);
        heard.querySelectorAll?.('[aria-live=off], [aria-hidden]').forEach((part) => part.remove());
        if (heard.textContent.trim()) window.aloud.push(heard.textContent.trim().replace(/\\s+/g, ' '));
      }
    }
  }).observe(log, { childList: true, subtree: true }); }"""
"""Keeps what a screen reader is given to say of the lines from now on."""


async def test_versions_of_the_last_line_are_seen_by_all(tmp_path: Path, crowd: Crowd) -> None:
    """Try again, the arrows and Go on do what they say; after loading anew it stands the same."""
    numbers = count(1)

    def script(_: Question) -> ScriptedAnswer:
        return ScriptedAnswer(text=f"Tea, cup {next(numbers)}.", pieces=4, pause=0.05)

    async with town(tmp_path, script) as site:
        ana = await owner_of(site, crowd)
        room = await ana.makes_room("Tea", "maya")
        ben = await guest_of(room, ana, crowd)
        await ana.says("@maya what is there?")
        line = ana.page.locator("#lines > .said").last
        await expect(line.locator(".words")).to_have_text("Tea, cup 1.")
        await line.get_by_role("button", name="Try again").click()
        theirs = ben.page.locator("#lines > .said").last
        for one in (line, theirs):
            await expect(one.locator(".words")).to_have_text("Tea, cup 2.")
            await expect(one.locator(".which")).to_have_text("2 of 2")
            await expect(one.locator(".aside")).to_have_text("another version")
        await theirs.get_by_role("button", name="The version before").click()
        for one in (line, theirs):
            await expect(one.locator(".words")).to_have_text("Tea, cup 1.")
            await expect(one.locator(".which")).to_have_text("1 of 2")
            await expect(one.locator(".aside")).to_have_count(0)
        await line.get_by_role("button", name="The next version").click()
        await expect(theirs.locator(".which")).to_have_text("2 of 2")
        await ana.opens(f"/rooms/{room}")
        await ana.is_in()
        await expect(line.locator(".words")).to_have_text("Tea, cup 2.")
        await expect(line.locator(".which")).to_have_text("2 of 2")
        await line.get_by_role("button", name="Go on").click()
        for who in (ana, ben):
            await expect(who.page.locator("#lines > .said")).to_have_count(2)
            await expect(who.page.locator(".versions")).to_have_count(1)
            await expect(who.page.locator(".draft")).to_have_count(0)


async def test_a_screen_reader_says_each_line_once(tmp_path: Path, crowd: Crowd) -> None:
    """Neither the pieces of a version that grows, nor days and buttons, are said with it."""
    numbers = count(1)

    def script(_: Question) -> ScriptedAnswer:
        return ScriptedAnswer(text=f"Tea, cup {next(numbers)}.", pieces=4, pause=0.05)

    async with town(tmp_path, script) as site:
        ana = await owner_of(site, crowd)
        await ana.makes_room("Tea", "maya")
        await ana.page.evaluate(ALOUD)
        await ana.says("@maya what is there?")
        line = await ana.hears("Maya")
        await line.get_by_role("button", name="Try again").click()
        await expect(line.locator(".aside")).to_have_text("another version")
        await ana.rests()
        aloud = await ana.page.evaluate("window.aloud")
        assert [re.sub(r"\d\d:\d\d ", "", each) for each in aloud] == [
            "olu @maya what is there?",
            "Maya Tea, cup 1.",
            "Tea, cup 2.",
            "another version",
        ]


async def test_a_line_that_comes_after_what_tells_of_it_is_the_last(
    site: Town, crowd: Crowd
) -> None:
    """Try again stands under it, whichever of the two is heard first."""
    ana = await owner_of(site, crowd)
    await ana.context.add_init_script(LATE)
    await ana.makes_room("Tea", "maya")
    await ana.says("@maya what is there?")
    line = await ana.hears("Maya")
    await expect(line.get_by_role("button", name="Try again")).to_be_visible()
