"""A home with its web room open, in a process of its own, that does what its input says.

One JSON list a line comes in (a name and its arguments), one JSON value a line goes out. The first
line out is the address. Used by web.py and people.py, which measure from outside.
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from bench.homes import Append, Instant, Taken, home
from loopforge.app import App
from loopforge.chat.room.event_wording import SHOWN
from loopforge.chat.room.room_store import stream_of
from loopforge.core.events import Body, Event
from loopforge.core.room_vocabulary import (
    ConversationBegan,
    ConversationEnded,
    Heard,
    Said,
    Weighed,
)
from loopforge.core.text.erasable_text import Words
from loopforge.host import serve_web_room

MATE = "maya"
PASSWORD = "a password of some length"
CONVERSATION = 200
"""Lines after which people of an old room began anew."""
BATCH = 25
"""Conversations that one append holds."""


class Home:
    """What web.py may ask for."""

    def __init__(self, app: App) -> None:
        self._app, self._taken = app, Taken()
        self._said: dict[str, float] = {}
        self._people: list[tuple[str, str]] = []
        app.ledger.subscribe(self._appended)
        app.ledger.subscribe(self._taken)

    def _appended(self, stream: str, events: Sequence[Event]) -> None:
        now = time.perf_counter()
        for event in events:
            if isinstance(event.body, Said):
                self._said[f"{stream.removeprefix('room:')} {event.seq}"] = now

    async def people(self, count: int) -> list[str]:
        """So many people, the owner among them; the tokens of their sessions."""
        accounts = self._app.accounts
        owner, token = await accounts.links.enter(await accounts.links.offer(), "olu", "bench")
        tokens = [token]
        self._people = [(owner.person, owner.name)]
        for nth in range(1, count):
            _, link = await accounts.links.invite(owner.person)
            visitor, token, _ = await accounts.links.take(link, f"ana{nth}", PASSWORD, "bench")
            self._people.append((visitor.person, visitor.name))
            tokens.append(token)
        return tokens

    async def room(self, title: str, most: int = 1000) -> str:
        """A new room with a mate and everybody in it, or the first so many."""
        front, (owner, name) = self._app.front, self._people[0]
        room = await front.rooms.open(owner, name, title, [MATE])
        for person, called in self._people[1:most]:
            await front.bring(room, owner, person, called, past=True)
        return room

    async def turn(self, room: str) -> str:
        """A line and its answer; the answer's id."""
        front = self._app.front
        person, source = self._people[0][0], f"bench:{time.perf_counter_ns()}"
        text = f"@{MATE} my bread did not rise, and I do not know why"
        await front.rooms.hear(
            room, Heard(person=person, text=Words(text), surface="web", source=source)
        )
        await front.rooms.settled(room)
        kinds = ("room.said",)
        stream = stream_of(room)
        return (await self._app.ledger.read(stream, kinds=kinds, limit=1, newest=True))[0].id

    async def past(self, room: str, lines: int) -> int:
        """Give a room so many lines, without any turn; its newest sequence number."""
        stream, append = stream_of(room), self._app.ledger.append
        seq = (await self._app.house.state(stream)).seq
        waiting: list[Body] = []
        for nth in range(0, lines, CONVERSATION):
            waiting += self._conversation(nth, min(CONVERSATION, lines - nth))
            waiting.append(Weighed(upto=seq + len(waiting), weights=()))
            if nth // CONVERSATION % BATCH == BATCH - 1 or nth + CONVERSATION >= lines:
                facts = [self._app.stamp.fact(body, actor="room") for body in waiting]
                await append(stream, facts)
                seq, waiting = seq + len(facts), []
        await self._app.front.rooms.settled(room)
        await self._app.house.save(stream)
        return seq

    def _conversation(self, first: int, lines: int) -> list[Body]:
        made: list[Body] = [ConversationEnded(why="idle"), ConversationBegan(why="idle")]
        person = self._people[0][0]
        for nth in range(first, first + lines, 2):
            heard = Words(f"My {nth}th loaf was flat, and so was the one before it.")
            said = Words(f"Then try less water for the {nth + 1}th, and tell me.")
            why = Words(f"I want to see whether loaf {nth} failed of water.")
            made.append(Heard(person=person, text=heard, surface="web"))
            made.append(Said(turn="", mate=MATE, text=said, mode="context", narrative=why))
        return made

    async def taken(self) -> list[list[Append]]:
        """What was appended during each turn, since last asked."""
        turns = self._taken.turns
        self._taken.clear()
        return turns

    async def said(self) -> dict[str, float]:
        """When each line of a mate was in the ledger, by room and number, since last asked."""
        said, self._said = self._said, {}
        return said

    async def shown(self, room: str, after: int) -> list[int]:
        """The numbers of the events after a place that every page is to have."""
        events = await self._app.ledger.read(stream_of(room), after=after, kinds=SHOWN)
        return [event.seq for event in events]

    async def settled(self, *rooms: str) -> None:
        """When nobody in these rooms has anything left to do."""
        for room in rooms:
            await self._app.front.rooms.settled(room)


async def serve(path: Path, provider: str = "") -> None:
    """Serve until the input ends; with the models of a provider, if one is named."""
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    keys = {"OPENAI_BASE_URL": provider, "OPENAI_API_KEY": "loopback"}
    models, more = (None, {"keys": keys}) if provider else (Instant(), {})
    async with home(path, models, web_port=0, **more) as app, serve_web_room(app) as address:
        made = Home(app)
        _tell(address)
        while line := await lines.readline():
            name, *arguments = msgspec.json.decode(line)
            _tell(await getattr(made, name)(*arguments))


def _tell(what: Any) -> None:
    sys.stdout.write(msgspec.json.encode(what).decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), *sys.argv[2:]))
