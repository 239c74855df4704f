"""Presence at random: whoever comes and goes, no prompt holds what somebody present did not hear.

People say words that nobody else says, in open rooms and in private ones, and ask about the same
few things everywhere. Each word that comes up in another room is held against a plain reading of
who was there: written anew here, so that it shares no mistake with the query.
"""

import asyncio
import re
import tempfile
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random  # noqa: TID251 (an evening is its seed)

from hypothesis import given, settings
from hypothesis import strategies as st

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import MateJoined, MateLeft, PersonJoined, PersonLeft
from loopforge.errors import LoopforgeError
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from tests.examples import few
from tests.rooms.conftest import Home, hum, living

PEOPLE = ("ana", "ben", "cleo")
THINGS = ("bread", "garden", "piano")
OPEN, ROOMS = 2, 4
"""Of four rooms two are open, then one is ana's and one is ben's."""
DEEDS = {
    "say": 4.0,
    "ask": 5.0,
    "leave": 2.0,
    "come": 1.0,
    "bring": 1.0,
    "tell": 1.0,
    "add": 0.6,
    "remove": 0.3,
    "forget": 0.3,
}
"""What is done, and how often beside the others."""
MANY = 45
Deed = tuple[str, int, str, str]
"""What is done, in which room, by or with whom, about what."""


def heard_by(events: Sequence[Event], line: Event) -> set[str]:
    """Who may know a line: people and mates who were there, and whom the past was given to."""
    here, knowing = set[str](), set[str]()
    for event in events:
        match event.body:
            case PersonJoined(person=who, past=past):
                here.add(who)
                if past and event.seq > line.seq:
                    knowing.add(who)
            case PersonLeft(person=who) | MateLeft(mate=who):
                here.discard(who)
            case MateJoined(mate=who):
                here.add(who)
        if event.seq == line.seq:
            knowing |= here
    return knowing


class Evening:
    """Four rooms, and what was said in them by the word that nobody else says."""

    def __init__(self, home: Home, rooms: Sequence[str]) -> None:
        self.home, self.rooms = home, rooms
        self.said: dict[str, tuple[int, Event]] = {}
        self.forgotten: set[str] = set()

    async def do(self, deed: Deed) -> list[str]:
        """Do it, where it can be done; what came up where it may not."""
        what, room, who, thing = deed
        home, front, you = self.home, self.home.app.front, self.home.people[who]
        home.room = self.rooms[room]
        present = (await home.app.rooms.state(home.room)).people
        match what:
            case "say":
                word = f"qx{len(self.said)}zz"
                self.said[word] = room, await home.hears(who, f"@maya my {thing} is {word}")
            case "ask":
                return await self.leaks(room, who, f"@maya what do you know of my {thing}?")
            case "come" if room < OPEN:
                await front.rooms.come_in(home.room, you, who)
            case "bring" | "tell" if present:
                await front.rooms.bring(home.room, min(present), you, who, past=what == "tell")
            case "leave":
                await front.rooms.leave(home.room, you)
            case "forget" if self.said:
                word = max(self.said)
                await home.app.ledger.erase(ErasureRequest(events=(self.said[word][1].id,)))
                self.forgotten.add(word)
            case "remove" | "add":
                await front.commands.act(home.room, you, what, "maya")
            case _:
                pass
        return []

    async def leaks(self, room: int, who: str, question: str) -> list[str]:
        """What mates are shown, when asked, that not everybody here may know."""
        home = self.home
        present, before = (await home.app.rooms.state(home.room)).people, len(home.models.asked)
        await home.hears(who, question)
        shown = " ".join(text for one in home.models.asked[before:] for _, text in one.messages)
        return [w for w in re.findall(r"qx\d+zz", shown) if not await self._may(w, room, present)]

    async def _may(self, word: str, room: int, present: Collection[str]) -> bool:
        there, line = self.said[word]
        if word in self.forgotten or there == room:
            return word not in self.forgotten
        events = await self.home.app.ledger.read(f"room:{self.rooms[there]}")
        out = there >= OPEN > room
        return not out and {*present, "maya"} <= heard_by(events, line)


async def evening(path: Path, deeds: Sequence[Deed]) -> list[str]:
    """Do all of it; what came up where it may not."""
    async with living(path, hum) as home:
        await home.enter(*PEOPLE, mates=("maya",))
        for who in PEOPLE[1:]:
            await home.app.front.rooms.leave(home.room, home.people[who])
        home.room = "yard"
        await home.enter("ana", "ben", mates=("maya",))
        own = [await home.app.rooms.open(home.people[w], w, "", ["maya"]) for w in ("ana", "ben")]
        there, found = Evening(home, ("commons", "yard", *own)), list[str]()
        for deed in deeds:
            with suppress(LoopforgeError):
                found += await there.do(deed)
        return found


def deeds_of(seed: int) -> list[Deed]:
    """An evening: drawn evenly, since what leaks takes many people in the right order."""
    draw = Random(seed)
    what = draw.choices(list(DEEDS), list(DEEDS.values()), k=MANY)
    return [(w, draw.randrange(ROOMS), draw.choice(PEOPLE), draw.choice(THINGS)) for w in what]


@settings(max_examples=few(12), deadline=None)
@given(st.integers(0, 2**32))
def test_nobody_learns_what_they_did_not_hear(seed: int) -> None:
    """Of no other room, by no way of coming and going; and nothing that is forgotten comes up."""
    with tempfile.TemporaryDirectory() as folder:
        assert asyncio.run(evening(Path(folder), deeds_of(seed))) == []


def test_what_all_heard_comes_up() -> None:
    """Else the test above would prove nothing: what both heard in the yard comes up elsewhere."""

    async def told() -> str:
        with tempfile.TemporaryDirectory() as folder:
            async with living(Path(folder), hum) as home:
                for room in ("yard", "commons"):
                    home.room = room
                    await home.enter("ana", "ben", mates=("maya",))
                home.room = "yard"
                for nth, thing in enumerate(THINGS):
                    await home.hears("ana", f"@maya my {thing} is qx{nth}zz")
                home.room = "commons"
                await home.hears("ana", "@maya what do you know of my bread?")
                return str(home.models.asked[-1].messages)

    assert "qx0zz" in asyncio.run(told())
