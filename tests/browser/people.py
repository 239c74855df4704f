"""People with browsers: what they do is said as they would say it, and what they see is waited for.

A person keeps every error of the console, every breach of the content policy and every request to
another host; the fixture `crowd` fails a test in which anything of that happened unannounced.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    Response,
    expect,
)

from tests.web.conftest import PASSWORD, Town

PATIENCE = 150_000
"""Milliseconds after which something that was waited for will not come any more."""
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 320, "height": 640}
TALK = """() => [...document.querySelectorAll('#lines > .line')].map(
  (line) => line.querySelector('.who').textContent + ': ' + line.querySelector('.words').innerText.trim())"""

expect.set_options(timeout=PATIENCE)


@dataclass
class Person:
    """Somebody at a browser of their own. `expected` are the troubles that belong to the test."""

    name: str
    address: str
    context: BrowserContext
    page: Page
    troubles: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    # ------------------------------------------------------------ what goes wrong

    def watch(self) -> None:
        """Keep whatever goes wrong from now on."""
        self.context.on("console", self._console)
        self.context.on("weberror", lambda error: self.troubles.append(f"thrown: {error.error}"))
        self.context.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        ended = "net::ERR_CONNECTION_REFUSED" in message.text  # the test's home, before its pages
        if message.type in ("error", "warning") and not ended:
            self.troubles.append(f"{message.type}: {message.text} ({self.page.url})")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.address + "/", "data:", "blob:")):
            self.troubles.append(f"a request to another host: {request.url}")

    def expects(self, *patterns: str) -> None:
        """These troubles belong to what is tested."""
        self.expected += patterns

    @property
    def surprises(self) -> list[str]:
        """The troubles that nobody announced."""
        return [
            f"{self.name}: {each}"
            for each in self.troubles
            if not any(re.search(pattern, each) for pattern in self.expected)
        ]

    # ------------------------------------------------------------ coming in

    async def opens(self, path: str) -> Response:
        """Open a page of the site."""
        answer = await self.page.goto(self.address + path)
        assert answer is not None
        return answer

    async def enters(self, link: str) -> None:
        """Come in as the owner, by the one-time link."""
        await self.page.goto(link)
        await self.page.get_by_label("What shall mates call you?").fill(self.name)
        await self.clicks("Come in")
        await self.is_in()

    async def joins(self, link: str) -> None:
        """Come in by an invite, with a name and a password."""
        await self.page.goto(link)
        await self.page.get_by_label("Your name here").fill(self.name)
        await self.page.get_by_label("A password").fill(PASSWORD)
        await self.clicks("Come in")
        await self.is_in()

    async def makes_room(self, title: str, *mates: str) -> str:
        """Open a room with these mates by the form; its name in addresses."""
        await self.opens("/")
        await self.page.get_by_label("What is it about?").fill(title)
        for box in await self.page.locator("input[name=mates]").all():
            await box.set_checked(await box.get_attribute("value") in mates)
        await self.clicks("Open the room")
        await expect(self.page.locator("#title")).to_have_text(title)
        await self.is_in()
        return self.page.url.rpartition("/")[2]

    async def invites(self, room: str, *, past: bool = False) -> str:
        """Make an invite link in the room's settings."""
        await self.opens(f"/rooms/{room}/settings#people")
        if past:
            await self.page.get_by_label("Whoever is invited may see what was said before").check()
        await self.clicks("Make an invite link")
        link = await self.page.get_by_label("The link", exact=True).input_value()
        await self.page.get_by_role("link", name="Back to the room").click()
        await self.is_in()
        return link

    async def is_in(self) -> None:
        """Wait until a room is open and its stream runs."""
        await expect(self.page.locator("#scene-body[data-shown]")).to_be_attached()

    # ------------------------------------------------------------ in a room

    async def clicks(self, name: str, **more: Any) -> None:
        """Press a button by its name."""
        await self.page.get_by_role("button", name=name, **more).click()

    async def says(self, text: str) -> None:
        """Write a line and send it."""
        await self.page.locator("#text").fill(text)
        await self.page.locator("#text").press("Enter")

    def line(self, text: str) -> Locator:
        """The lines of the room that say just this."""
        words = self.page.locator(".words", has_text=re.compile(rf"^\s*{re.escape(text)}\s*$"))
        return self.page.locator("#lines > .line").filter(has=words)

    async def sees(self, text: str, times: int = 1) -> Locator:
        """Wait for a line that says just this, so many times."""
        found = self.line(text)
        await expect(found).to_have_count(times)
        return found

    async def hears(self, name: str, times: int = 1) -> Locator:
        """Wait until somebody has said so many lines."""
        found = self.page.locator("#lines > .line").filter(
            has=self.page.locator(".who", has_text=re.compile(f"^{name}$"))
        )
        await expect(found).to_have_count(times)
        return found

    async def talk(self) -> list[str]:
        """All that stands in the room, line by line."""
        told: list[str] = await self.page.evaluate(TALK)
        return told

    async def rests(self) -> None:
        """Wait until nobody thinks or speaks any more."""
        await expect(self.page.locator("main.room")).not_to_have_class(re.compile(r"\bbusy\b"))

    # ------------------------------------------------------------ the shape of a page

    async def turns_phone(self) -> None:
        """Make the window as narrow as the narrowest phone."""
        await self.page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})

    async def turns_desk(self) -> None:
        """Make the window as wide as a desk's."""
        await self.page.set_viewport_size({"width": DESK["width"], "height": DESK["height"]})

    async def sideways(self) -> list[str]:
        """What of the page reaches out of the window to the right, if it scrolls that way."""
        found: list[str] = await self.page.evaluate("""() => {
          const root = document.scrollingElement, wide = root.clientWidth;
          if (root.scrollWidth <= wide && document.body.scrollWidth <= wide) return [];
          return [`${root.scrollWidth} > ${wide}`, ...[...document.querySelectorAll('body *')]
            .filter((each) => each.getBoundingClientRect().right > wide + 0.5)
            .map((each) => `${each.tagName}.${each.className}`).slice(-6)]; }""")
        return found

    async def shot(self, path: Path) -> None:
        """A picture of the window."""
        await self.page.screenshot(path=path)


@dataclass
class Crowd:
    """The people of one test. As a block inside that of a home, it ends before the home does."""

    browser: Browser
    people: list[Person] = field(default_factory=list)

    async def person(self, name: str, address: str, **how: Any) -> Person:
        """Somebody with a fresh profile. `how` are further properties of their browser."""
        how.setdefault("viewport", DESK)
        how.setdefault("reduced_motion", "reduce")
        context = await self.browser.new_context(**how)
        context.set_default_timeout(PATIENCE)
        person = Person(name, address, context, await context.new_page())
        person.watch()
        self.people.append(person)
        return person

    async def __aenter__(self) -> Crowd:
        return self

    async def __aexit__(self, *_: object) -> None:
        """All go home; raises AssertionError if anything went wrong that nobody announced."""
        people, self.people = self.people, []
        surprises = [each for person in people for each in person.surprises]
        for person in people:
            await person.context.close()
        assert not surprises, "\n".join(surprises)


async def owner_of(site: Town, crowd: Crowd, name: str = "olu", **how: Any) -> Person:
    """The owner of a home, who came in by the one-time link."""
    owner = await crowd.person(name, site.address, **how)
    await owner.enters(f"{site.address}/enter/{await site.app.accounts.links.offer()}")
    return owner


async def guest_of(room: str, by: Person, crowd: Crowd, name: str = "ben", **how: Any) -> Person:
    """Somebody who came into a room by an invite of one of its people."""
    guest = await crowd.person(name, by.address, **how)
    await guest.joins(await by.invites(room))
    return guest
