"""Watching rooms for a platform: typing signs, drafts as they grow, marks on lines.

    Thinking            --> the stage shows that somebody is typing, until Rested
    Draft ... Draft     --> the stage shows the draft, at a pace that platforms bear
    Withdrawn           --> the draft is taken away
    Perceived, Ended    --> the line that called the turn is marked: seen, then answered or failed

What is shown here is no record: a draft is not Said, and what goes wrong with it is passed over.
Knows rooms and places; does not know how a platform shows anything (that is the Stage's).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Collection
from typing import Literal, Protocol

from loopforge.chat.front import Front
from loopforge.core.events import Event, Perceived, TurnEnded
from loopforge.core.room import PlaceJoined, PlaceLeft, RoomClosed, Said
from loopforge.io.edits import Pace
from loopforge.runtime.ports import Breath, Clock, Draft, Rested, Thinking, Withdrawn
from loopforge.runtime.tasks import Tasks

log = logging.getLogger(__name__)
Mark = Literal["seen", "answered", "failed", ""]


class Stage(Protocol):
    """How a platform shows what is in the air. What raises here is logged and passed over."""

    name: str

    async def typing(self, place: str, mate: str) -> None:
        """Show that this mate is at it, for some seconds."""
        ...

    async def draft(self, place: str, turn: str, mate: str, text: str) -> float:
        """Show a draft, or more of it; seconds to be patient before the next (0: none asked)."""
        ...

    async def withdraw(self, place: str, turn: str, mate: str) -> None:
        """Take the draft of a turn away, if one stands."""
        ...

    async def mark(self, place: str, line: str, mark: Mark) -> None:
        """Mark the message that this line is in a place; "" takes the mark off."""
        ...


class _Turn:
    """One turn in the air of a room."""

    def __init__(self, mate: str) -> None:
        self.mate, self.line, self.spoke, self.withdrawn = mate, "", False, False
        self.pace = Pace()
        self.drafted = False
        self.wake = asyncio.Event()
        self.typing: asyncio.Task[None] | None = None
        self.drawing: asyncio.Task[None] | None = None


class Watch:
    """Watches every room it is told of. `again` is after how many seconds a typing sign fades."""

    def __init__(
        self,
        front: Front,
        stage: Stage,
        clock: Clock,
        *,
        again: float,
        streams: bool = True,
        marks: bool = True,
    ) -> None:
        self._front, self._stage, self._clock = front, stage, clock
        self._again, self._streams, self._marks = again, streams, marks
        self._rooms: dict[str, asyncio.Task[None]] = {}
        self._tasks = Tasks()

    def room(self, room: str) -> None:
        """Watch a room from now on; twice is once."""
        if room not in self._rooms:
            self._rooms[room] = self._tasks.spawn(self._watch(room), f"watch {room}")

    async def close(self) -> None:
        """Watch nothing any more."""
        await self._tasks.close()

    async def _watch(self, room: str) -> None:
        turns: dict[str, _Turn] = {}
        ear = self._front.listen(room)
        try:
            places = await self._places(room)
            async for what in ear:
                if isinstance(what, Event):
                    if isinstance(what.body, (PlaceJoined, PlaceLeft, RoomClosed)):
                        places = await self._places(room)
                    if isinstance(what.body, PlaceLeft):
                        await self._leave(what.body.place, turns)
                    await self._happened(what, places, turns)
                else:
                    await self._breathed(what, places, turns)
        finally:
            ear.close()
            self._rooms.pop(room, None)

    async def _places(self, room: str) -> list[str]:
        with contextlib.suppress(Exception):
            state = await self._front.settings_of(room)
            mine = f"{self._stage.name}:"
            return [place for place in state.places if place.startswith(mine)]
        return []

    async def _leave(self, place: str, turns: dict[str, _Turn]) -> None:
        """What is being said will not be said in this place any more: its drafts go."""
        if place.startswith(f"{self._stage.name}:"):
            for id, turn in turns.items():
                await self._safe(self._stage.withdraw(place, id, turn.mate))

    # ------------------------------------------------------------ breaths

    async def _breathed(
        self, what: Breath, places: Collection[str], turns: dict[str, _Turn]
    ) -> None:
        turn = turns.setdefault(what.turn, _Turn(what.mate))
        match what:
            case Thinking():
                known = what.mate in self._front.mates  # else the room thinks of a title
                if turn.typing is None and places and known:
                    turn.typing = self._tasks.spawn(self._type(turn, list(places)), "typing")
            case Draft(text=text):
                turn.pace.offer(text, self._clock.ticks())
                turn.wake.set()
                if turn.drawing is None and self._streams and places:
                    drawing = self._draw(what.turn, turn, list(places))
                    turn.drawing = self._tasks.spawn(drawing, "drafts")
            case Withdrawn():
                turn.withdrawn = True
                await self._still(turn)
                if turn.drafted:
                    for place in places:
                        await self._safe(self._stage.withdraw(place, what.turn, what.mate))
            case Rested():
                await self._still(turn)
                if turn.typing is not None:
                    turn.typing.cancel()
                mark: Mark = "answered" if turn.spoke else "failed" if turn.withdrawn else ""
                if turn.line and self._marks:
                    for place in places:
                        await self._safe(self._stage.mark(place, turn.line, mark))
                turns.pop(what.turn, None)

    async def _still(self, turn: _Turn) -> None:
        """No more drafts of a turn are shown; one that is on its way comes first."""
        if turn.drawing is not None:
            drawing, turn.drawing = turn.drawing, None
            drawing.cancel()
            await asyncio.wait([drawing])

    async def _type(self, turn: _Turn, places: Collection[str]) -> None:
        while True:
            for place in places:
                await self._safe(self._stage.typing(place, turn.mate))
            await self._clock.sleep(self._again)

    async def _draw(self, id: str, turn: _Turn, places: Collection[str]) -> None:
        while True:
            turn.wake.clear()
            due = turn.pace.due()
            if due is None:
                await turn.wake.wait()
                continue
            await self._clock.sleep(due - self._clock.ticks())
            text = turn.pace.take(self._clock.ticks())
            if text is None:
                continue
            turn.drafted = True
            waits = [await self._shown(place, id, turn.mate, text) for place in places]
            if longest := max(waits, default=0.0):
                turn.pace.put_off(longest, self._clock.ticks())

    async def _shown(self, place: str, turn: str, mate: str, text: str) -> float:
        try:
            # Sent to its end also when the turn is over meanwhile, so that its id is known.
            return await asyncio.shield(self._stage.draft(place, turn, mate, text))
        except Exception:
            log.debug("a draft was not shown in %s", place, exc_info=True)
            return 0.0

    # ------------------------------------------------------------ events

    async def _happened(
        self, event: Event, places: Collection[str], turns: dict[str, _Turn]
    ) -> None:
        match event.body:
            case Perceived(mate=mate, line=line, summons=summons) if summons != "title":
                turn = turns.setdefault(event.id, _Turn(mate))
                turn.line = line
                if self._marks:
                    for place in places:
                        await self._safe(self._stage.mark(place, line, "seen"))
            case Said(turn=id) if id in turns:
                turns[id].spoke = True
                await self._still(turns[id])
            case TurnEnded(turn=id, outcome="failed" | "stopped") if id in turns:
                turns[id].withdrawn = True
            case _:
                pass

    async def _safe(self, shown: object) -> None:
        try:
            await shown  # type: ignore[misc]
        except Exception:
            log.debug("something was not shown on %s", self._stage.name, exc_info=True)
