"""The house: the rooms of this home as they are held in memory, each the fold of its stream.

States are loaded when first needed (from a snapshot and what came after it), and follow the ledger
from then on. Whatever is appended is published to who listens to its room.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from loopforge.chat.room.room_state import VERSION, RoomState, restore, snapshot
from loopforge.core.events import Event
from loopforge.runtime.ports import Ledger, Signals
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
    """The states of rooms."""

    def __init__(
        self, ledger: Ledger, snapshots: Snapshots | None, signals: Signals, recorder: Recorder
    ) -> None:
        self._ledger, self._snapshots, self._signals = ledger, snapshots, signals
        self._states: dict[str, RoomState] = {}
        self._saved: dict[str, int] = {}
        ledger.subscribe(self._follow, streams=PREFIX)
        ledger.subscribe(lambda *_: recorder.forget_all(), kinds=["ledger.erased"])

    async def state(self, stream: str) -> RoomState:
        """The room as it is now, as far as it is known what others wrote."""
        await self._ledger.told(stream)
        if stream not in self._states:
            state = await self._load(stream)
            while state.seq < await self._ledger.told(stream):
                await self._read(state)
            # another task may have loaded it meanwhile; there is one state of a room
            self._states.setdefault(stream, state)
        return self._states[stream]

    async def head(self, stream: str, past: int) -> int:
        """Up to which event the room is known, having read on if that is not beyond `past`."""
        await self._ledger.told(stream, past)
        return (await self.state(stream)).seq

    def known(self, stream: str) -> RoomState | None:
        """The room as it was when last looked at, without reading."""
        return self._states.get(stream)

    def _follow(self, stream: str, events: Sequence[Event]) -> None:
        state = self._states.get(stream)
        for event in events:
            if state is not None:
                state.apply(event)
            self._signals.publish(stream, event)

    async def _load(self, stream: str) -> RoomState:
        if self._snapshots is not None:
            saved = await self._snapshots.load_snapshot(stream, VERSION)
            if saved is not None:
                state = restore(saved[1])
                state.fill(await self._snapshots.texts(sorted(state.wanting())))
                self._saved[stream] = state.seq
                return state
        state = RoomState(stream=stream, name=stream.removeprefix(PREFIX))
        await self._read(state)
        return state

    async def _read(self, state: RoomState) -> None:
        for event in await self._ledger.read(state.stream, after=state.seq):
            state.apply(event)

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
