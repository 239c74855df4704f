"""The house: the rooms of this home as they are held in memory, each the fold of its stream.

States are loaded when first needed (from a snapshot and what came after it), kept up by every
append of this process, and read on from the ledger where another process wrote. Whatever is
appended goes into the air of its room.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from loopforge.chat.room.room_state import VERSION, RoomState, restore, snapshot
from loopforge.core.events import Erased, Event
from loopforge.runtime.ports import Air, Ledger
from loopforge.runtime.turn_record import Recorder

log = logging.getLogger(__name__)
PREFIX = "room:"
EVERY = 500
"""A snapshot is saved when this many events have come since the last one."""


class Snapshots(Protocol):
    """A rebuildable store of folded states, and the texts that they refer to."""

    async def save_snapshot(self, stream: str, seq: int, version: int, body: bytes) -> None:
        """Keep a state as it was at `seq`, in place of the last one."""
        ...

    async def load_snapshot(self, stream: str, version: int) -> tuple[int, bytes] | None:
        """The last state kept, and its `seq`; None if there is none of this version."""
        ...

    async def texts(self, refs: Sequence[str]) -> dict[str, str]:
        """The texts of these refs, as far as they are not forgotten."""
        ...


def stream_of(room: str) -> str:
    """The stream of a room, by its slug."""
    return PREFIX + room


class House:
    """The states of rooms. `appended` must be called with every append of this process."""

    def __init__(
        self, ledger: Ledger, snapshots: Snapshots | None, air: Air, recorder: Recorder
    ) -> None:
        self._ledger, self._snapshots = ledger, snapshots
        self._air, self._recorder = air, recorder
        self._states: dict[str, RoomState] = {}
        self._saved: dict[str, int] = {}
        self._behind: set[str] = set()

    async def state(self, stream: str) -> RoomState:
        """The room as it is now, as far as it is known what others wrote (see `catch_up`)."""
        state = self._states.get(stream)
        if state is None:
            state = await self._load(stream)
            # another task may have loaded it meanwhile; there is one state of a room
            state = self._states.setdefault(stream, state)
            await self.catch_up(stream)
        elif stream in self._behind:
            await self.catch_up(stream)
        return state

    async def head(self, stream: str, past: int) -> int:
        """Up to which event the room is known, having read on if that is not beyond `past`."""
        state = await self.state(stream)
        if state.seq <= past:
            await self.catch_up(stream)
        return state.seq

    def known(self, stream: str) -> RoomState | None:
        """The room as it was when last looked at, without reading."""
        return self._states.get(stream)

    async def catch_up(self, stream: str) -> None:
        """Read on from the ledger: another process wrote into this room."""
        state = self._states[stream]
        self._behind.add(stream)
        while stream in self._behind:
            self._behind.discard(stream)
            self.appended(stream, await self._ledger.read(stream, after=state.seq))

    def appended(self, stream: str, events: Sequence[Event]) -> None:
        """Take in events of a stream, in order; what was taken in already is passed over."""
        state = self._states.get(stream)
        for event in events:
            if state is not None:
                if event.seq <= state.seq:
                    continue
                if event.seq > state.seq + 1:
                    self._behind.add(stream)  # another process wrote in between
                    break
                state.apply(event)
            if isinstance(event.body, Erased):
                self._recorder.forget_all()
            self._air.publish(stream, event)

    async def _load(self, stream: str) -> RoomState:
        if self._snapshots is not None:
            saved = await self._snapshots.load_snapshot(stream, VERSION)
            if saved is not None:
                state = restore(saved[1])
                state.fill(await self._snapshots.texts(sorted(state.wanting())))
                self._saved[stream] = state.seq
                return state
        state = RoomState(stream=stream, name=stream.removeprefix(PREFIX))
        for event in await self._ledger.read(stream):
            state.apply(event)
        return state

    async def save(self, stream: str, *, least: int = EVERY) -> None:
        """Save a snapshot, if enough has happened since the last one."""
        state = self._states.get(stream)
        if state is None or self._snapshots is None:
            return
        if state.seq - self._saved.get(stream, 0) >= least:
            self._saved[stream] = state.seq
            await self._snapshots.save_snapshot(stream, state.seq, VERSION, snapshot(state))

    async def close(self) -> None:
        """Save what is worth saving."""
        for stream in self._states:
            await self.save(stream, least=50)
