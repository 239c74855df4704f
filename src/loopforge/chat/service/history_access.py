"""What was said in a room, as a mate may look it up: see `RoomHistory`.

A line is told only where everybody may see it who is present, and everybody for whom it is looked
up: what a mate says of it reaches all of them. Where nobody is, nothing is told.
"""

from collections.abc import Sequence
from functools import partial

from sqlalchemy import select

from loopforge.chat.room.member_visibility import MemberSight
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import PREFIX, RoomStore
from loopforge.chat.service.memory_visibility import usable_spans
from loopforge.core.events import Event, epoch_micros
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.topics import fold_case
from loopforge.ledger.database.table_schema import events
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger.storage.revised_lines import apply_revisions
from loopforge.ledger.storage.row_codec import events_of
from loopforge.runtime.ports import ToolCall
from loopforge.runtime.ports.memory_port import FoundLine, LineSearch

SPOKEN = ("room.heard", "room.said")
LOOKED = 2_000
"""Lines that are looked at for one search, the newest first."""
NOBODY = "somebody who left"


class LineHistory:
    """See `RoomHistory`."""

    def __init__(self, ledger: SqlLedger, house: RoomStore) -> None:
        self._ledger, self._house = ledger, house

    async def lines(self, call: ToolCall, wanted: LineSearch) -> Sequence[FoundLine]:
        """See `RoomHistory.lines`."""
        spans = await self._ledger.look(partial(usable_spans, call=call))
        if not spans:
            return ()
        seen = MemberSight(spans)
        state = await self._house.state(call.stream)
        turn = state.open.get(call.turn)
        found = [
            line
            for event in await self._candidates(call.stream, wanted)
            if event.id != (turn.line if turn else "")
            and seen.sees(event.seq)
            and seen.follows(event)
            and (line := _line(state, event)) is not None
            and fold_case(wanted.who) in fold_case(line.who)
        ]
        return found[: wanted.limit][::-1]

    async def _candidates(self, stream: str, wanted: LineSearch) -> Sequence[Event]:
        """Lines with these words of this time, as they stand now, the newest first."""
        if wanted.words.strip():
            found = await self._ledger.search(stream, wanted.words, LOOKED)
            return [event for event in found if _within(event, wanted)]
        query = select(events).where(events.c.stream == stream, events.c.kind.in_(SPOKEN))
        if wanted.since:
            query = query.where(events.c.at >= epoch_micros(wanted.since))
        if wanted.until:
            query = query.where(events.c.at < epoch_micros(wanted.until))
        newest = query.order_by(events.c.seq.desc()).limit(LOOKED)
        return await self._ledger.look(
            lambda table: apply_revisions(table, events_of(table, table.execute(newest).all()))
        )


def _within(event: Event, wanted: LineSearch) -> bool:
    late = wanted.since is not None and event.at < wanted.since
    return not late and (wanted.until is None or event.at < wanted.until)


def _line(state: RoomState, event: Event) -> FoundLine | None:
    """An event as a line that was found; None for what is none, or was forgotten."""
    body = event.body
    if not isinstance(body, Heard | Said) or body.text.text is None:
        return None
    if isinstance(body, Said):
        who = body.mate
    else:
        person = state.people.get(body.person) or state.former.get(body.person)
        who = str(person.name) if person else NOBODY
    files = "".join(f" [{file.name}]" for file in body.files if file.name.text)
    room = event.stream.removeprefix(PREFIX)
    address = f"/rooms/{room}?at={event.seq}#l-{event.seq}"
    return FoundLine(at=event.at, who=who, text=f"{body.text}{files}", address=address)
