"""The store of rooms: those of this home as they are held in memory, each the fold of its stream.

States are loaded when first needed (from a snapshot and what came after it), and follow the ledger
from then on. Of those that nobody holds, such as a turn under way, the last ones that were asked
for are kept. Whatever is appended is published to who listens to its room.
"""

import logging
from collections import OrderedDict
from collections.abc import Sequence
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

from loopforge.chat.room.room_state import RoomState
from loopforge.core.events import Event
from loopforge.core.text.erasable_text import decode_stored, encode_stored
from loopforge.errors import LedgerBehind, LedgerError
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.runtime.ports import Signals
from loopforge.runtime.turn_record import Recorder

log = logging.getLogger(__name__)
VERSION = 21
"""The form of a snapshot; one of another version is not read but folded anew."""
PREFIX = "room:"
HELD = 100_000
"""Lines in sight of the rooms that were last asked for, which are kept: 3 kB each."""
ROOM = 2
"""Lines that a room without any weighs as much as."""
EVERY = 500
"""A snapshot is saved when this many events have come since the last one."""


def stream_of(room: str) -> str:
    """The stream of a room, by its slug."""
    return PREFIX + room


class RoomStore:
    """The states of rooms."""

    def __init__(self, ledger: SqlLedger, signals: Signals, recorder: Recorder) -> None:
        self._ledger, self._signals = ledger, signals
        self._states: WeakValueDictionary[str, RoomState] = WeakValueDictionary()
        self._held: OrderedDict[str, tuple[RoomState, int]] = OrderedDict()
        self._weight = 0
        self._saved: dict[str, int] = {}
        ledger.subscribe(self._follow, streams=PREFIX)
        ledger.subscribe(lambda *_: recorder.forget_all(), kinds=["ledger.erased"])

    async def state(self, stream: str) -> RoomState:
        """The room as it is now, as far as it is known what others wrote."""
        await self._ledger.told(stream)
        state = self._states.get(stream)
        if state is None:
            state = await self._load(stream)
            while state.seq < await self._ledger.told(stream):
                await self._read(state)
            # another task may have loaded it meanwhile; there is one state of a room
            state = self._states.setdefault(stream, state)
        self._hold(stream, state)
        return state

    def _hold(self, stream: str, state: RoomState) -> None:
        """Keep a room as the last one, as heavy as it is now; those before go that are too many."""
        _, before = self._held.pop(stream, (state, 0))
        weight = ROOM + len(state.lines)
        self._held[stream] = state, weight
        self._weight += weight - before
        while self._weight > HELD and len(self._held) > 1:
            _, (_, gone) = self._held.popitem(last=False)
            self._weight -= gone

    async def head(self, stream: str, past: int) -> int:
        """Up to which event the room is known, having read on if that is not beyond `past`."""
        await self._ledger.told(stream, past)
        return (await self.state(stream)).seq

    async def present(self, stream: str) -> tuple[str, ...]:
        """The people who are in a room now; nobody where it is no room."""
        return tuple((await self.state(stream)).people) if stream.startswith(PREFIX) else ()

    async def places(self, stream: str) -> tuple[str, ...]:
        """The places of platforms that are part of a room; none where it is no open room."""
        state = await self.state(stream) if stream.startswith(PREFIX) else None
        return tuple(state.places) if state is not None and not state.closed else ()

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
        saved = await self._ledger.load_snapshot(stream, VERSION)
        if saved is not None:
            state = restore(saved[1])
            state.fill(await self._ledger.texts(sorted(state.wanting())))
            self._saved[stream] = state.seq
            return state
        self._saved.pop(stream, None)
        state = RoomState(stream=stream, name=stream.removeprefix(PREFIX))
        await self._read(state)
        return state

    async def _read(self, state: RoomState) -> None:
        for event in await self._ledger.read(state.stream, after=state.seq):
            state.apply(event)

    async def save(self, stream: str, *, least: int = EVERY) -> None:
        """Save a snapshot, if enough has happened since the last one."""
        state = self._states.get(stream)
        if state is not None and state.seq - self._saved.get(stream, 0) >= least:
            self._saved[stream] = state.seq
            await self._ledger.save_snapshot(stream, state.seq, VERSION, snapshot(state))

    async def close(self) -> None:
        """Save what is worth saving; what cannot be saved is folded anew when it is needed."""
        for stream in tuple(self._states):
            try:
                await self.save(stream, least=50)
            except LedgerError as error:
                log.warning("rooms are folded from their lines at the next start: %s", error)
                return


# ---------------------------------------------------------------- whole states


class _Snapshot(Struct, kw_only=True):
    version: int
    state: msgspec.Raw


_encoder = msgspec.json.Encoder(enc_hook=encode_stored)
_decoder = msgspec.json.Decoder(RoomState, dec_hook=decode_stored)


def snapshot(state: RoomState) -> bytes:
    """The state as JSON, with references for private texts (which must all be stored)."""
    raw = msgspec.Raw(_encoder.encode(state))
    return msgspec.json.encode(_Snapshot(version=VERSION, state=raw))


def restore(stored: bytes) -> RoomState:
    """The state of a snapshot; its private texts are to be put back with `fill`.

    Raises LedgerBehind for a snapshot of another version: fold the stream instead.
    """
    read = msgspec.json.decode(stored, type=_Snapshot)
    if read.version != VERSION:
        raise LedgerBehind(
            f"the snapshot is of version {read.version}, this program reads {VERSION}; "
            "fold the stream from its beginning"
        )
    return _decoder.decode(read.state)
