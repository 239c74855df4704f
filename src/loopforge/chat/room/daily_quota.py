"""Quota: how many answers a place and a person had today, counted from the ledger.

A day begins at midnight in the home's time zone. An answer is a line that a mate said; it counts
for the room's place on a platform, and for the person whose line it goes back to. The owner's own
answers count for the place alone. Does not know what an answer costs.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import msgspec
from sqlalchemy import select
from sqlalchemy.engine import Connection

from loopforge.core.events import Event, Perceived
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.spoken_lists import counted
from loopforge.ledger.database.table_schema import events
from loopforge.ledger.table_access import Readable
from loopforge.runtime.ports import Clock

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
COUNTED = ("room.heard", "turn.perceived", "room.said")
HOUSE = ("terminal",)
"""Surfaces of the home's own people, who are not counted."""


class Quota:
    """The counts of today. `place` and `person` are the most; 0: as many as they like."""

    def __init__(
        self, ledger: Readable, clock: Clock, place: int, person: int, zone: ZoneInfo
    ) -> None:
        self._ledger, self._clock = ledger, clock
        self.allow(place, person, zone)
        self._day: datetime | None = None
        self._origin: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._reading = asyncio.Lock()
        ledger.subscribe(self._follow, kinds=COUNTED)

    def allow(self, place: int, person: int, zone: ZoneInfo) -> None:
        """So many from now on; what was counted today stays counted, and may be told again."""
        self._place, self._person, self._zone = place, person, zone
        self._told: set[str] = set()

    def _follow(self, stream: str, added: Sequence[Event]) -> None:
        for event in added if self._day is not None else ():
            match event.body:
                case Heard():
                    self._origin[event.id] = event.actor
                case Perceived(line=line):
                    self._origin[event.id] = self._origin.get(line, "")
                case Said(turn=turn):
                    self._said(stream, event.id, turn)
                case _:
                    pass

    def _said(self, stream: str, line: str, turn: str) -> None:
        if line in self._origin:
            return
        who = self._origin[line] = self._origin.get(turn, "")
        self._counts[stream] += 1
        if who:
            self._counts[who] += 1

    async def over(
        self, stream: str, surface: str, person: tuple[str, str], *, owner: bool
    ) -> str | None:
        """None while a line may be answered; else why not, or "" if that was said already today.

        `person` is an id and a name.
        """
        if surface in HOUSE or not (self._place or self._person):
            return None
        await self._today()
        actor, name = f"person:{person[0]}", person[1]
        theirs, here = self._counts[actor], self._counts[stream]
        if self._person and not owner and theirs >= self._person:
            return self._once(actor, f"{name} had {counted(theirs, 'answer')} today", "one person")
        if self._place and ":" in surface and here >= self._place:
            return self._once(
                stream, f"This place had {counted(here, 'answer')} today", "one place"
            )
        return None

    async def had(self, person: str) -> int:
        """How many answers a person had today."""
        await self._today()
        return self._counts[f"person:{person}"]

    def _once(self, whom: str, so: str, what: str) -> str:
        if whom in self._told:
            return ""
        self._told.add(whom)
        most = f"which is as many as this home gives {what} in a day"
        return f"{so}, {most}. Mates answer again after midnight ({self._zone.key})."

    async def _today(self) -> None:
        """Begin a new day; what was said in it before this process began is read."""
        now = self._clock.now().astimezone(self._zone)
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        async with self._reading:
            if self._day == day:
                return
            self._origin.clear()
            self._counts.clear()
            self._told.clear()
            since = round((day.astimezone(UTC) - EPOCH).total_seconds() * 1_000_000)
            self._day = day
            for stream, id, actor, body in await self._ledger.look(
                lambda each: _since(each, since)
            ):
                told = msgspec.json.decode(body, type=_Body)
                if told.turn:
                    self._said(stream, id, told.turn)
                else:
                    self._origin[id] = self._origin.get(told.line, "") if told.line else actor


class _Body(msgspec.Struct):
    """What is needed of a line and of a turn's beginning."""

    turn: str = ""
    line: str = ""


def _since(connection: Connection, micros: int) -> list[tuple[str, str, str, str]]:
    """Lines and turns since a moment, in order: stream, id, actor, body."""
    wanted = events.c.kind.in_(COUNTED)
    query = select(events.c.stream, events.c.id, events.c.actor, events.c.body)
    rows = connection.execute(query.where(events.c.at >= micros, wanted).order_by(events.c.id))
    return [(row.stream, row.id, row.actor, row.body) for row in rows]
