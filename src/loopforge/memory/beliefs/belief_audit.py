"""The audit of beliefs: whether what mates keep still rests on what it was made of.

    a line was edited          the item is made anew where it can be carried over, else flagged
    a line was deleted         flagged, until the erasure of the line takes it along
    a source was corrected,    what was made of it is flagged; and holds again by itself as soon as
    dropped, flagged, replaced the source does

A flagged item (`MemoryInvalidated`) is not used. What a person locked is only counted; what a
person restores stands, whatever became of its lines before. Every change is an event of the mate's
stream, by "audit", that names its cause. Nothing here asks a model.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from msgspec import Struct
from sqlalchemy import Row, select
from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.memory.memory_vocabulary import PREFIX, EvidenceLine
from loopforge.core.room_vocabulary import Heard, LineEdited, Said
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, Unknown
from loopforge.ledger.storage.revised_lines import events_by_id, revisions
from loopforge.ledger.table_access import ReadableLedger
from loopforge.memory.memory_store import MemoryStore
from loopforge.memory.memory_view import (
    fallen_lines,
    items_of,
    items_resting_on_lines,
    memories,
    memory_sources,
)
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock
from loopforge.runtime.ports.memory_port import KeptItem

log = logging.getLogger(__name__)
AUDIT = "audit"
ROUNDS = 50
"""Steps of a cascade that are followed: items made of items made of items."""
EDITED = "a line that it rests on was edited"
DELETED = "a line that it rests on was deleted"
LINES = ("room.line_edited", "room.line_deleted")
CHANGES = tuple(
    f"memory.{kind}"
    for kind in ("superseded", "corrected", "invalidated", "dropped", "restored", "unlocked")
)


class BeliefDoubt(Struct, frozen=True):
    """Why an item does not rest on what it was made of any more, and the event or item it is by."""

    why: str
    because: str


class AuditFigures(Struct, frozen=True, kw_only=True):
    """How many items of a mate are held and rest on their lines, are stale, are unsupported.

    Stale: superseded, or over by their own time. Unsupported: flagged, or locked although what they
    rested on changed. `let_go` were dropped, `forgotten` are gone for good.
    """

    held: int = 0
    stale: int = 0
    unsupported: int = 0
    let_go: int = 0
    forgotten: int = 0


class BeliefAudit:
    """The audit of all mates of a home."""

    def __init__(
        self, ledger: ReadableLedger, store: MemoryStore, tasks: BackgroundTasks, clock: Clock
    ) -> None:
        self._ledger, self._store = ledger, store
        self._tasks, self._clock = tasks, clock
        self._busy: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def start(self) -> None:
        """Look at everything once, and from now on at whatever changes. For the host alone."""
        self._ledger.subscribe(self._changed, streams=PREFIX, kinds=CHANGES)
        self._ledger.subscribe(self._revised, streams="room:", kinds=LINES)
        self._tasks.insist(self.settle_all, "audit of memories", self._clock)

    def _changed(self, stream: str, _: Sequence[Event]) -> None:
        settle = partial(self.settle, stream.removeprefix(PREFIX))
        self._tasks.insist(settle, f"audit of {stream}", self._clock)

    def _revised(self, stream: str, events: Sequence[Event]) -> None:
        lines = {str(getattr(event.body, "line", "")) for event in events}
        self._tasks.insist(partial(self._of_lines, lines), f"audit after {stream}", self._clock)

    async def _of_lines(self, lines: Collection[str]) -> None:
        resting = await self._ledger.look(partial(items_resting_on_lines, lines=lines))
        items = await self._ledger.look(partial(items_of, ids=resting)) if resting else []
        for mate in sorted({item.mate for item in items}):
            await self.settle(mate)

    # ------------------------------------------------------------ looking

    async def figures(self, mate: str, now: datetime) -> AuditFigures:
        """How it stands with what a mate keeps."""
        items = await self._store.items(mate)
        doubts = await self._ledger.look(partial(doubts_of, mate=mate))
        counts = dict.fromkeys(AuditFigures.__struct_fields__, 0)
        for item in items:
            counts[_standing(item, doubts, now)] += 1
        return AuditFigures(**counts)

    async def doubts(self, mate: str) -> dict[str, BeliefDoubt]:
        """The items of a mate that do not rest on what they were made of any more, by id."""
        return await self._ledger.look(partial(doubts_of, mate=mate))

    # ------------------------------------------------------------ changing

    async def settle_all(self) -> int:
        """Look at the items of all mates; how many were changed."""
        mates = await self._ledger.look(
            lambda found: list(found.execute(select(memories.c.mate).distinct()).scalars())
        )
        return sum([await self.settle(mate) for mate in sorted(mates)])

    async def settle(self, mate: str) -> int:
        """Flag what rests on nothing any more, and restore what does again; how many changed."""
        count = 0
        async with self._busy[mate]:
            for _ in range(ROUNDS):
                items = await self._store.items(mate)
                doubts = await self.doubts(mate)
                some = sum([await self._mend(item, doubts.get(item.id)) for item in items])
                count += some
                if not some:
                    break
        return count

    async def _mend(self, item: KeptItem, doubt: BeliefDoubt | None) -> bool:
        """Whether something was changed about an item."""
        try:
            if doubt is None:
                if item.state == "invalidated" and item.changed_by == AUDIT:
                    await self._store.restore(item.id, by=AUDIT, because=item.because)
                    return True
                return False
            if item.state != "held" or item.locked:
                return False
            if doubt.why == EDITED and await self._carried_over(item, doubt):
                return True
            await self._store.invalidate(item.id, doubt.why, by=AUDIT, because=doubt.because)
        except (InputError, Unknown) as error:
            log.info("item %s is left as it is: %s", item.id, error)
            return False
        return True

    async def _carried_over(self, item: KeptItem, doubt: BeliefDoubt) -> bool:
        """Whether an item that says what a line said was made anew of what it says now."""
        found = await self._ledger.look(partial(_edited, item=item, edit=doubt.because))
        text = carried_over(str(item.text), found.old, found.new) if found else ""
        if found is None or not text or item.worded_by:
            return False
        edit = found.event
        line = EvidenceLine(stream=edit.stream, seq=edit.seq, line=edit.id)
        new = item.anew(
            text=Words(text),
            made_by="idle",
            evidence=(*item.evidence, line),
            subject=Words(str(item.subject)),
            travels=False,
        )
        kept = await self._store.keep(item.mate, [new], actor="runtime", cause=edit.id)
        if kept and (await self._store.item(item.id)).state == "held":
            await self._store.supersede(item.id, kept[0], edit.at, by=AUDIT)
        return bool(kept)


def _standing(item: KeptItem, doubts: Collection[str], now: datetime) -> str:
    """Which figure an item counts for."""
    if item.state == "forgotten":
        return "forgotten"
    if item.state == "dropped":
        return "let_go"
    if item.state == "invalidated" or (item.state == "held" and item.id in doubts):
        return "unsupported"
    over = item.until is not None and item.until <= now
    return "stale" if item.state == "superseded" or over else "held"


def carried_over(item: str, old: str, new: str) -> str:
    """What an item says that stands in a line word for word, once the line is edited; "" if not.

    The words before and after it in the line must be the same as before.
    """
    place = old.find(item) if item.strip() else -1
    if place < 0:
        return ""
    before, after = old[:place], old[place + len(item) :]
    if len(new) <= len(before) + len(after) or not new.startswith(before):
        return ""
    return new[len(before) : len(new) - len(after)].strip() if new.endswith(after) else ""


# ---------------------------------------------------------------- rows


def doubts_of(connection: Connection, mate: str) -> dict[str, BeliefDoubt]:
    """The items of a mate that do not rest on what they were made of any more, by id."""
    mine = memories.c.mate == mate
    rows = {row.item: row for row in connection.execute(select(memories).where(mine))}
    found = _of_sources(connection, rows)
    gone = fallen_lines(connection, mate)
    if not gone:
        return found
    one = revisions.c
    query = select(one.line, one.event, one.deleted).order_by(one.deleted, one.event)
    lines = [line for _, line in gone]
    last = {row.line: row for row in connection.execute(query.where(one.line.in_(lines)))}
    for item, line in sorted(gone):
        row = last.get(line)
        edited = row is not None and not row.deleted
        found[item] = BeliefDoubt(
            EDITED if edited else DELETED, row.event if row is not None else line
        )
    return found


def _of_sources(connection: Connection, rows: dict[str, Row[Any]]) -> dict[str, BeliefDoubt]:
    """Items of which a source holds no longer, or says something else since."""
    found: dict[str, BeliefDoubt] = {}
    for pair in connection.execute(select(memory_sources)):
        item, source = rows.get(pair.item), rows.get(pair.source)
        if item is None or source is None:
            continue
        state = "forgotten" if source.forgotten else source.state
        if state != "held" and source.changed > item.vouched:
            found[item.item] = BeliefDoubt(f"what it was made of is {state}", source.item)
        elif source.wording > item.vouched:
            found[item.item] = BeliefDoubt("what it was made of was corrected", source.item)
    return found


class _Edit(Struct, frozen=True):
    """An edit of a line: the event of it, what the line said when an item was made, and says."""

    event: Event
    old: str
    new: str


def _edited(connection: Connection, item: KeptItem, edit: str) -> _Edit | None:
    """An edit of a line that an item rests on; None if it is none, or is forgotten."""
    found = next(iter(events_by_id(connection, [edit])), None)
    if found is None or not isinstance(found.body, LineEdited):
        return None
    line = found.body.line
    mine = (revisions.c.line == line) & (revisions.c.event < item.id)
    before = connection.execute(select(revisions.c.event).where(mine)).scalars().all()
    was = next(iter(events_by_id(connection, [max(before, default=line)])), None)
    if was is None or not isinstance(was.body, Heard | Said | LineEdited):
        return None
    return _Edit(found, was.body.text.text or "", found.body.text.text or "")
