"""A newcomer: does only what a page shows and names, and presses no name that two things have.

What cannot be found by its words cannot be done, and the walk ends there.
`Answers` is what the model server says in the walk: a few words for each question, written here.
"""

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, Page, expect

sys.path[:0] = [str(Path(__file__).parent.parent)]

from tests.browser.people import Person  # noqa: E402
from tests.models.server import Behaviour  # noqa: E402

Shoot = Callable[[Person, str], Awaitable[None]]
"""Keep what somebody sees under this name."""


@dataclass
class Newcomer:
    """Somebody at a browser who reads what stands there."""

    person: Person
    shoot: Shoot
    done: int = 0

    @property
    def page(self) -> Page:
        """What is open."""
        return self.person.page

    def named(self, words: str, within: Locator | None = None) -> Locator:
        """Whatever can be pressed here and is called so."""
        here = within or self.page
        found = here.get_by_role("button", name=words, exact=True)
        found = found.or_(here.get_by_role("link", name=words, exact=True))
        whole = re.compile(rf"^\s*{re.escape(words)}\s*$")
        shown = here.locator("a, button, summary")
        shown = shown.filter(has_text=whole).or_(here.locator(f"summary[aria-label={words!r}]"))
        return found.or_(shown).filter(visible=True)

    def under(self, heading: str) -> Locator:
        """What stands under a heading."""
        title = self.page.get_by_role("heading", name=heading, exact=True)
        return self.page.locator("section").filter(has=title)

    def line(self, words: str) -> Locator:
        """The last line of the room with these words."""
        return self.page.get_by_role("article").filter(has_text=words).last

    async def press(self, words: str, within: Locator | None = None) -> None:
        """Press what is called so; two of them would be one too many."""
        await self.named(words, within).click()

    async def write(self, label: str, text: str, within: Locator | None = None) -> None:
        """Write into the field of this label, or of one that goes on after it."""
        here = within or self.page
        found = here.get_by_label(label, exact=True).filter(visible=True)
        await (found if await found.count() else here.get_by_label(label)).fill(text)

    async def say(self, text: str) -> None:
        """Say something in the room."""
        await self.write("Say something", text)
        await self.press("Send")

    async def do(self, line: str, *words: str) -> None:
        """Point at a line, and press what shows beside it, one after the other."""
        await self.line(line).hover()
        for each in words:
            await self.press(each, self.line(line))

    async def sees(self, *texts: str) -> None:
        """Wait until these words stand on the page, in sight."""
        for each in texts:
            await expect(self.page.get_by_text(each).filter(visible=True).first).to_be_visible()

    async def hears(self, words: str) -> None:
        """Wait for a line with these words, and until nobody speaks any more."""
        await expect(self.line(words)).to_be_visible()
        await self.person.rests()

    async def picture(self, what: str) -> None:
        """A picture of this moment; its name begins with how many there were."""
        self.done += 1
        await self.shoot(self.person, f"half-hour-{self.done:02}-{what}")


# ---------------------------------------------------------------- what the model says

SAYS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "Maya",
        "ho are you?",
        ("I find out what gave way first: bridges, bread. What broke near you lately?",),
    ),
    (
        "Merlin",
        "what is good for tired bread",
        (
            "Patience, child. Tomorrow it has already risen; I saw the crumbs.",
            "A warm bowl and an old song. The song is for you, the bowl for the bread.",
        ),
    ),
    ("Merlin", "Which song?", ("Any that is longer than you are impatient.",)),
    (
        "Maya",
        "what do my notes say?",
        ("That it hums in wind and not without. So it is wind, not feet.",),
    ),
    ("Maya", "is it still wind?", ("It is. Tape over the slot, and listen once more.",)),
    ("Otto", "My bread fell.", ("Crust first, grief later. Was the oven hot?",)),
    ("Otto", "allergic to nuts", ("No nuts, then. Seeds?",)),
)
LONG = (
    "It began with a spoon. The spoon was behind the factory, under the third bin from the left."
    " Nobody had asked it what it wanted. So I did. It wanted to be a bell."
)
WHY = "I was asked, so I answer, in my own way."


@dataclass
class Answers:
    """What the server says: a hello to a mere question, and in a room what each would say.

    The latest question that stands in the talk counts. To one that is asked again it says the next
    of its answers, if there is one. The long story stands still in its middle until `gate` is set.
    """

    gate: asyncio.Event = field(default_factory=asyncio.Event)
    told: dict[str, int] = field(default_factory=dict)

    def __call__(self, asked: dict[str, Any]) -> str | Behaviour:
        """The answer to one request."""
        if "response_format" not in asked:
            return "Hello! How can I help you today?"
        schema = asked["response_format"]["json_schema"]["schema"]
        fields = schema.get("anyOf", [schema])[0]["properties"]
        texts = [str(each["content"]) for each in asked["messages"]]
        said, long = self._said(texts[0], "\n".join(texts[1:]))
        form = {
            "speak": bool(said),
            "say": said,
            "mode": "context",
            "rule": "",
            "narrative": WHY if said else "It is not for me to say.",
            "title": "A home with bread",
            "note": "",
            "again": False,
        }
        whole = json.dumps({name: form[name] for name in fields if name in form})
        if not long:
            return whole
        pieces = re.findall(r"\S+\s*", whole)
        return Behaviour(pieces=pieces, stall=pieces.index("did. "), gate=self.gate)

    def _said(self, character: str, talk: str) -> tuple[str, bool]:
        if "You are Zuzu" in character and talk.rfind("tell us a long story") >= 0:
            return LONG, True
        for who, key, says in reversed(SAYS):
            if f"You are {who}" in character and key in talk:
                nth = self.told.get(key, 0)
                self.told[key] = nth + 1
                return (says[nth], False) if nth < len(says) else ("", False)
        return "", False
