"""A mailbox: what waits to be written to one terminal that may be slow.

It never grows without bound and never loses an event: where too many wait, they are let go and the
mailbox is `behind`, which means that its owner must read the room's history again from the last
event it sent. Of drafts and sights only the newest is worth sending, so a newer one takes the place
of an older. Replies to the terminal's own requests are always kept; who makes them can wait for
`slack`.

Knows nothing of sockets.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import assert_never

from loopforge.core.events import Event
from loopforge.io.socket.wire_protocol import FromHost, RoomHappened, RoomSight, shown, shown_draft
from loopforge.runtime.ports import Draft, Rested, Signal, Thinking, Withdrawn

EVENTS = 256
"""Most events that wait for one terminal."""
REPLIES = 64
"""Replies that may wait before `slack` makes the reader of requests wait too."""

Cell = list[FromHost]


class Mailbox:
    """One terminal's. `wait` until there is something, then `pop` it."""

    def __init__(self, events: int = EVENTS, replies: int = REPLIES) -> None:
        self.behind = True
        self._most_events, self._most_replies = events, replies
        self._cells: deque[Cell] = deque()
        self._turns: dict[str, dict[str, Cell]] = {}
        self._sight: Cell | None = None
        self._events = 0
        self._replies = 0
        self._filled = asyncio.Event()
        self._eased = asyncio.Event()
        self._eased.set()

    def hear(self, what: Signal | Event) -> None:
        """Take in what is in the room's air."""
        if isinstance(what, Event):
            self._happened(what)
        else:
            self._breathed(what)

    def see(self, sight: RoomSight) -> None:
        """The room looks different now."""
        if self._sight is not None:
            self._sight[0] = sight
        else:
            self._sight = self._add(sight)

    def reply(self, frame: FromHost) -> None:
        """Answer a request."""
        self._replies += 1
        if self._replies >= self._most_replies:
            self._eased.clear()
        self._add(frame)

    def fall_behind(self) -> None:
        """Let the events go that wait; they stand in the ledger."""
        self.behind = True
        if self._events:
            self._cells = deque(
                cell for cell in self._cells if not isinstance(cell[0], RoomHappened)
            )
            self._events = 0
        self._filled.set()

    def pop(self) -> FromHost | None:
        """The next frame to write, or None."""
        if not self._cells:
            self._filled.clear()
            return None
        cell = self._cells.popleft()
        frame = cell[0]
        if isinstance(frame, RoomHappened):
            self._events -= 1
        elif isinstance(frame, RoomSight):
            self._sight = None
        elif isinstance(frame, Signal):
            self._forget(frame)
        else:
            self._replies -= 1
            if self._replies < self._most_replies:
                self._eased.set()
        return frame

    async def wait(self) -> None:
        """Until there is something to pop, or to read again."""
        if not self._cells and not self.behind:
            self._filled.clear()
            await self._filled.wait()

    async def slack(self) -> None:
        """Until few enough replies wait."""
        await self._eased.wait()

    def _add(self, frame: FromHost) -> Cell:
        cell = [frame]
        self._cells.append(cell)
        self._filled.set()
        return cell

    def _happened(self, event: Event) -> None:
        if self.behind:
            return
        seen = shown(event)
        if seen is None:
            return
        if self._events >= self._most_events:
            self.fall_behind()
            return
        self._events += 1
        self._add(RoomHappened(event=seen))

    def _breathed(self, breath: Signal) -> None:
        waiting = self._turns.setdefault(breath.turn, {})
        match breath:
            case Draft():
                breath = shown_draft(breath)
                if (cell := waiting.get("draft")) is not None:
                    cell[0] = breath
                    return
                waiting["draft"] = self._add(breath)
            case Rested():
                if "thinking" in waiting and "withdrawn" not in waiting:  # it never knew of it
                    known = {id(cell) for cell in waiting.values()}
                    self._cells = deque(cell for cell in self._cells if id(cell) not in known)
                    del self._turns[breath.turn]
                    return
                waiting["rested"] = self._add(breath)
            case Thinking():
                waiting["thinking"] = self._add(breath)
            case Withdrawn():
                if "draft" in waiting:  # a draft that comes now is another one
                    waiting["spoilt"] = waiting.pop("draft")
                waiting["withdrawn"] = self._add(breath)
            case _:
                assert_never(breath)

    def _forget(self, breath: Signal) -> None:
        waiting = self._turns.get(breath.turn, {})
        for kind, cell in tuple(waiting.items()):
            if cell[0] is breath:
                del waiting[kind]
        if not waiting:
            self._turns.pop(breath.turn, None)
