"""A room for tests of surfaces: it keeps events in memory or in a file, and a mate that answers.

It serves what a terminal asks of the front of the rooms. The mate `echo` says back what it hears, drafting word
by word; how it behaves is scripted by `Temper`.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from loopforge.chat.room.member_visibility import EVERYTHING, MemberSight
from loopforge.chat.room.room_snapshot import MateCard, RoomSnapshot
from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.events import Body, Event
from loopforge.core.room_vocabulary import (
    EnergySet,
    Heard,
    PersonJoined,
    RoomOpened,
    Said,
    Stopped,
    Titled,
    Told,
)
from loopforge.core.text.erasable_text import Words
from loopforge.errors import BadLine, LedgerFull, Unknown
from loopforge.host_lock import lock_home
from loopforge.io.socket.wire_protocol import RoomHappened, encode, from_host, shown
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.local.room_pubsub import LocalSignals
from loopforge.runtime.ports import Draft, Listening, Rested, Thinking, Withdrawn

START = datetime(2026, 10, 8, 14, 0, tzinfo=UTC)
MATES = (
    MateCard(handle="maya", name="Maya", role="the host of the commons", colour="#e0a458"),
    MateCard(handle="merlin", name="Merlin", role="keeper of old books", colour="#8f7ee7"),
    MateCard(handle="pixel", name="Pixel", role="tinkers with machines", colour="#5cc8a1"),
)
NOTICE = (
    "Answers come from a small embedded model, for trying out. Plug in a better one: set "
    "OPENAI_API_KEY, or name one in loopforge.toml (docs/adding-models.md)."
)


@dataclass
class Temper:
    """How the mate answers."""

    answer: Callable[[str], str | None] = lambda text: f"You said: {text}"
    withdraws: bool = False
    tells: str = ""
    step: float = 0.0
    gate: asyncio.Event | None = None
    full: bool = False


class Commons(RoomsApi):
    """Every room of a home, kept in `store` (a file) or in memory."""

    def __init__(self, temper: Temper | None = None, store: Path | None = None) -> None:
        self.rooms = self.commands = cast("Any", self)
        self.temper = temper or Temper()
        self.seen_up_to: dict[str, int] = {}
        self.owners: list[bool] = []
        self.acts: list[tuple[str, str, str]] = []
        self.signals = LocalSignals()
        self._store = store
        self._events: dict[str, list[Event]] = {}
        self._sources: dict[tuple[str, str], Event] = {}
        self._tasks = BackgroundTasks()
        self._idle = asyncio.Event()
        self._idle.set()
        self._busy = 0
        self._count = 0
        if store is not None and store.exists():
            for line in store.read_bytes().splitlines():
                self._load(line)

    async def __aenter__(self) -> Commons:
        for room, events in self._events.items():
            answered = {e.body.turn for e in events if isinstance(e.body, Said)}
            for event in tuple(events):
                if isinstance(event.body, Heard) and f"turn-{event.id}" not in answered:
                    self._wake(room, event)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._tasks.close()

    # ------------------------------------------------------------ what the protocol asks

    async def enter(
        self, room: str, name: str, surface: str, mates: tuple[str, ...] = ()
    ) -> RoomSnapshot:
        for handle in mates:
            if handle not in {card.handle for card in MATES}:
                raise Unknown(f"There is no mate {handle!r} here.")
        person = f"p-{name}"
        if room not in self._events:
            self.add(room, RoomOpened(name=room), "room")
        joined = {e.body.person for e in self._events[room] if isinstance(e.body, PersonJoined)}
        if person not in joined:
            body = PersonJoined(person=person, name=Words(name), surface=surface)
            self.add(room, body, f"person:{person}")
        scene = await self.scene(room)
        return replace(scene, you=person)

    async def hear(self, room: str, line: Heard) -> Event:
        self.owners.append(line.owner)
        if (before := self._sources.get((room, line.source))) is not None:
            return before
        if self.temper.full:
            raise LedgerFull("The disk is full; nothing was written.")
        if len(str(line.text)) > 8000:
            raise BadLine("A line is at most 8,000 characters long; nothing was said.")
        if str(line.text).strip().lower() == "stop":
            await self.act(room, line.person, "stop", "")
        event = self.add(room, replace(line, owner=False), f"person:{line.person}")
        self._wake(room, event)
        return event

    async def forgotten(self, room: str, after: int) -> int:
        return 0

    async def act(
        self, room: str, person: str, name: str, argument: str, *, owner: bool = False
    ) -> str:
        assert owner, "whoever is at a terminal is at the machine itself"
        self.acts.append((person, name, argument))
        match name:
            case "stop":
                self.add(room, Stopped(person=person), f"person:{person}")
                return "Stopped. Mates stay still until somebody speaks to them again."
            case "title":
                self.add(room, Titled(title=Words(argument), by=person), f"person:{person}")
                return f"The room is called {argument!r} now."
            case "energy":
                if argument:
                    self.add(room, EnergySet(capacity=int(argument), refill=4), "room")
                return "4 of 6 lines are left to mates."
            case "keep" | "spent" | "policy":
                return f"{name} {argument}: done."
        raise Unknown(f"There is no command {name!r}.")

    async def history(
        self,
        room: str,
        *,
        before: int | None = None,
        after: int = 0,
        limit: int = 50,
        sight: MemberSight = EVERYTHING,
    ) -> list[Event]:
        end = len(self._events[room]) if before is None else before - 1
        within = self._events[room][after:end]  # an event's place is its number
        if after:
            return list(itertools.islice(filter(shown, within), limit))
        return [*itertools.islice(filter(shown, reversed(within)), limit)][::-1]

    async def search(
        self, room: str, words: str, limit: int, sight: MemberSight = EVERYTHING
    ) -> list[Event]:
        return [
            event
            for event in self._events[room]
            if isinstance(event.body, Heard | Said) and words.casefold() in str(event.body.text)
        ][-limit:]

    async def scene(self, room: str) -> RoomSnapshot:
        events = self._events[room]
        people = {
            e.body.person: str(e.body.name) for e in events if isinstance(e.body, PersonJoined)
        }
        titles = [str(e.body.title) for e in events if isinstance(e.body, Titled)]
        last = [e for e in events if isinstance(e.body, Heard | Stopped)]
        return RoomSnapshot(
            room=room,
            title=titles[-1] if titles else "",
            people=tuple(people.items()),
            mates=MATES,
            energy=4,
            capacity=6,
            stopped=bool(last) and isinstance(last[-1].body, Stopped),
            policy="talk",
            notice=NOTICE,
        )

    async def why(self, event_id: str) -> str:
        for events in self._events.values():
            for event in events:
                if event.id == event_id:
                    return f"Event {event_id}\nmode: context\n" + "because " * 50
        raise Unknown(f"There is no event {event_id}.")

    def same(self, person: str) -> str:
        """Nobody becomes somebody else here."""
        return person

    def listen(self, room: str) -> Listening:
        return self.signals.listen(room)

    async def seen(self, room: str, person: str, seq: int, surface: str = "terminal") -> None:
        self.seen_up_to[person] = max(seq, self.seen_up_to.get(person, 0))

    async def settled(self, room: str) -> None:
        await self._idle.wait()

    # ------------------------------------------------------------ what happens in it

    def add(self, room: str, body: Body, actor: str, at: datetime | None = None) -> Event:
        """Append one event and let everybody hear it."""
        events = self._events.setdefault(room, [])
        self._count += 1
        event = Event(
            stream=room,
            seq=len(events) + 1,
            id=f"e{self._count:05}",
            at=at or START + timedelta(seconds=20 * self._count),
            actor=actor,
            cause="",
            body=body,
        )
        self._save(event)
        self._keep(event)
        self.signals.publish(room, event)
        return event

    def events(self, room: str) -> list[Event]:
        """Everything that happened in a room."""
        return self._events[room]

    def _wake(self, room: str, event: Event) -> None:
        self._busy += 1
        self._idle.clear()
        self._tasks.spawn(self._answer(room, event), "echo")

    async def _answer(self, room: str, event: Event) -> None:
        temper, turn = self.temper, f"turn-{event.id}"
        assert isinstance(event.body, Heard)
        try:
            text = temper.answer(str(event.body.text))
            if text is None:
                return
            self.signals.publish(room, Thinking(turn=turn, mate="maya"))
            words = text.split(" ")
            for count in range(1, len(words) + 1):
                draft = Draft(turn=turn, mate="maya", text=" ".join(words[:count]))
                self.signals.publish(room, draft)
                await asyncio.sleep(temper.step)
            if temper.gate is not None:
                await temper.gate.wait()
            if temper.withdraws:
                self.signals.publish(
                    room, Withdrawn(turn=turn, mate="maya", why="it would leak a key")
                )
            elif temper.tells:
                self.add(room, Told(text=Words(temper.tells)), "room")
            else:
                said = Said(
                    turn=turn,
                    mate="maya",
                    text=Words(text),
                    mode="context",
                    narrative=Words("because I was asked"),
                    reply_to=event.id,
                )
                self.add(room, said, "mate:maya")
            self.signals.publish(room, Rested(turn=turn, mate="maya"))
        finally:
            self._busy -= 1
            if not self._busy:
                self._idle.set()

    # ------------------------------------------------------------ the file

    def _save(self, event: Event) -> None:
        if self._store is None:
            return
        with self._store.open("ab") as file:
            file.write(encode(RoomHappened(event=event)))

    def _load(self, line: bytes) -> None:
        happened = from_host(line)
        assert isinstance(happened, RoomHappened)
        self._keep(happened.event)
        self._count += 1

    def _keep(self, event: Event) -> None:
        self._events.setdefault(event.stream, []).append(event)
        if isinstance(event.body, Heard) and event.body.source:
            self._sources[event.stream, event.body.source] = event


HOSTED: dict[Path, Commons] = {}
"""The rooms that were opened last in this process, by home."""


@contextlib.asynccontextmanager
async def hosting(home: Path, temper: Temper | None = None) -> AsyncIterator[Commons]:
    """What a host does: take the lock, open the rooms. Raises HostTaken."""
    with lock_home(home):
        async with Commons(temper, home / "data" / "events.jsonl") as rooms:
            HOSTED[home] = rooms
            yield rooms
