"""What is in the air of rooms, as signs on Discord: typing, drafts, marks on the lines that call.

One ear for each room that a place of Discord is part of. Nothing here is owed: a sign that cannot
be shown is left out. Does not send what is said (outward.py does).
"""

from __future__ import annotations

import logging

from loopforge.chat.front import Front
from loopforge.chat.house import PREFIX as ROOM
from loopforge.core.events import Event, Perceived, TurnEnded
from loopforge.core.room import PlaceLeft, Said, Told
from loopforge.errors import SendFailed
from loopforge.io.discord.crowd import PREFIX, Crowd
from loopforge.io.discord.drafts import Drafts, Key
from loopforge.io.discord.marks import Marks
from loopforge.io.discord.options import Options
from loopforge.io.discord.troubles import scrub
from loopforge.io.session import Sessions
from loopforge.runtime.air import Ear
from loopforge.runtime.ports import Breath, Clock, Draft, Rested, Thinking, Withdrawn
from loopforge.runtime.tasks import Tasks

log = logging.getLogger(__name__)
AGAIN = 8.0
"""Seconds between two typing signs; one is shown for ten."""


class Live:
    """Listens to rooms; `attend` begins with one."""

    def __init__(
        self,
        crowd: Crowd,
        drafts: Drafts,
        sessions: Sessions,
        front: Front,
        clock: Clock,
        options: Options,
    ) -> None:
        self._crowd, self._drafts, self._sessions = crowd, drafts, sessions
        self._front, self._clock, self._options = front, clock, options
        self._marks = Marks(crowd, sessions)
        self._ears: dict[str, Ear] = {}
        self._typing: dict[str, Tasks] = {}
        self._turns: dict[str, tuple[str, str]] = {}
        self._said: set[str] = set()
        self._tasks = Tasks()

    async def close(self) -> None:
        """Listen to nothing any more."""
        for ear in self._ears.values():
            ear.close()
        await self._tasks.close()
        for tasks in self._typing.values():
            await tasks.close()
        await self._marks.close()

    def attend(self, room: str) -> None:
        """Listen to this room from now on."""
        if room not in self._ears:
            self._ears[room] = self._front.listen(room)
            self._tasks.spawn(self._listen(room, self._ears[room]), f"air of {room}")

    async def _listen(self, room: str, ear: Ear) -> None:
        async for what in ear:
            try:
                await self._heard(room, what)
            except Exception as error:
                log.warning("a sign on Discord was left out: %s", scrub(repr(error)))

    async def _places(self, room: str) -> list[str]:
        found = await self._sessions.all("discord")
        return [place for place, each in found.items() if each == room]

    async def _heard(self, room: str, what: Breath | Event) -> None:
        stream = f"{ROOM}{room}"
        match what:
            case Thinking(turn=turn, mate=mate):
                await self._think(room, turn, mate)
            case Draft(turn=turn, mate=mate, text=text):
                if self._options.stream:
                    for place in await self._places(room):
                        await self._drafts.show(stream, Key(place, turn), mate, text)
            case Withdrawn(turn=turn, mate=mate):
                await self._withdraw(room, turn, mate)
            case Rested(turn=turn, mate=mate):
                await self._rest(room, turn, mate)
            case Event():
                await self._event(room, what)

    async def _think(self, room: str, turn: str, mate: str) -> None:
        if mate not in self._front.mates:  # the room itself thinks of a title
            return
        self._turns[turn] = room, mate
        tasks = self._typing.setdefault(turn, Tasks())
        for place in await self._places(room):
            tasks.spawn(self._type(place, mate), f"typing in {place}")

    async def _type(self, place: str, mate: str) -> None:
        """Show that a mate is about to speak, until it rests."""
        seat = None
        while True:
            try:
                seat = seat or await self._crowd.seat(place, mate)
                await seat.channel.typing()
            except SendFailed:
                return
            except Exception as error:
                log.debug("a typing sign was left out: %s", scrub(error))
            await self._clock.sleep(AGAIN)

    async def _withdraw(self, room: str, turn: str, mate: str) -> None:
        for place in await self._places(room):
            await self._drafts.drop(f"{ROOM}{room}", Key(place, turn), mate)

    async def _rest(self, room: str, turn: str, mate: str) -> None:
        if (tasks := self._typing.pop(turn, None)) is not None:
            await tasks.close()
        self._turns.pop(turn, None)
        if turn not in self._said:
            await self._withdraw(room, turn, mate)
        self._said.discard(turn)

    async def _event(self, room: str, event: Event) -> None:
        match event.body:
            case Said(turn=turn):
                self._said.add(turn)
            case PlaceLeft(place=place) if place.startswith(PREFIX):
                for turn, (where, mate) in list(self._turns.items()):
                    if where == room:  # what it says will not be said there any more
                        await self._drafts.drop(f"{ROOM}{room}", Key(place, turn), mate)
        if not self._options.marks:
            return
        match event.body:
            case Perceived(mate=mate, line=line, summons=summons):
                self._marks.began(await self._places(room), event.id, mate, line, summons)
            case Said(turn=turn):
                self._marks.answered(turn)
            case TurnEnded(turn=turn, outcome=outcome):
                self._marks.ended(turn, failed=outcome in ("failed", "diverged"))
            case Told():
                self._marks.troubled(event.cause)
