"""Items of memory as tables: a view of the streams `memory` and `memory:MATE`.

    memories         one row an item: its layer, its state, where its wording stands
    memory_evidence  the lines that it rests on
    memory_people    whom it is about
    memory_sources   the items that it was made of
    memory_wordings  whose word a correction was
    memory_shares    where those whom it concerns let it be used
    memory_keeping   rooms and persons of whom something is kept, or nothing

No text stands here: the wording of an item is that of the event that kept or last corrected it. By
words and vectors an item is found like a line, by its passages (passage_index.py). Does not know
who may read what: that is decided in the query (chat/service/memory_visibility.py).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import asdict
from sqlalchemy import BigInteger, Boolean, Column, Index, PrimaryKeyConstraint, Table, select
from sqlalchemy.engine import Connection, Row

from loopforge.core.events import Erased, Event, epoch_micros, from_epoch_micros
from loopforge.core.memory.memory_vocabulary import (
    MACHINE,
    PREFIX,
    KeepingSet,
    MemoryCorrected,
    MemoryDropped,
    MemoryInvalidated,
    MemoryKept,
    MemoryLocked,
    MemoryRestored,
    MemoryShared,
    MemorySuperseded,
    MemoryUnlocked,
)
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.database.table_schema import (
    Name,
    metadata,
    name_columns,
    number_columns,
    texts,
)
from loopforge.ledger.erasure.derived_texts import ForgottenGrounds
from loopforge.ledger.storage.revised_lines import events_by_id, revisions
from loopforge.runtime.ports.memory_port import KeptItem

memories = Table(
    "memories",
    metadata,
    *name_columns("item", "mate"),
    *number_columns("seq", "at"),
    *name_columns("layer", "state", "wording", "ref", "told_by", "learned_by", "room", "replaced"),
    Column("ended", BigInteger, nullable=True),
    Column("travels", Boolean, nullable=False),
    Column("locked", Boolean, nullable=False),
    Column("forgotten", Boolean, nullable=False),
    *name_columns("worded_by", "vouched", "changed", "changed_by", "because"),
    PrimaryKeyConstraint("item", name="memories_item"),
    Index("memories_mate", "mate", "seq"),
    Index("memories_ref", "ref"),
)
"""`replaced` is the item that superseded it, at `ended`. `forgotten`: its wording has no text now.

`worded_by` is the person whose word it is, since they corrected it; `vouched` the event by which a
person last said that it stands (its own, where nobody did). `changed` is the event that made its
state what it is, `changed_by` whose that was, and `because` of what.
"""

memory_evidence = Table(
    "memory_evidence",
    metadata,
    *name_columns("item", "stream"),
    Column("seq", BigInteger, nullable=False),
    Column("line", Name, nullable=False),
    PrimaryKeyConstraint("item", "line", name="memory_evidence_place"),
    Index("memory_evidence_line", "line"),
)
memory_people = Table(
    "memory_people",
    metadata,
    *name_columns("item", "person"),
    PrimaryKeyConstraint("item", "person", name="memory_people_place"),
    Index("memory_people_person", "person"),
)
memory_sources = Table(
    "memory_sources",
    metadata,
    *name_columns("item", "source"),
    PrimaryKeyConstraint("item", "source", name="memory_sources_place"),
    Index("memory_sources_source", "source"),
)
memory_wordings = Table(
    "memory_wordings",
    metadata,
    *name_columns("wording", "person"),
    PrimaryKeyConstraint("wording", name="memory_wordings_event"),
)
memory_shares = Table(
    "memory_shares",
    metadata,
    *name_columns("person", "item", "target"),
    PrimaryKeyConstraint("person", "item", "target", name="memory_shares_place"),
)
memory_keeping = Table(
    "memory_keeping",
    metadata,
    Column("scope", Name, nullable=False),
    Column("kept", Boolean, nullable=False),
    Column("person", Name, nullable=False),
    PrimaryKeyConstraint("scope", name="memory_keeping_scope"),
)

AUTOMATIC = ("idle", "audit", "mate:")
"""How those are called (`by`) who are no person."""
FEW = 500
"""Ids that are put into a query; of more, the rows of all are read."""


Derives = Callable[[Connection, ForgottenGrounds, bool], dict[str, set[str]]]
"""What rests on what is forgotten: see memory_erasure.py."""


class MemoryView:
    """The view. `derives` says what goes along with what is forgotten."""

    name = "memories"
    version = 7
    kinds = frozenset(
        "memory." + kind
        for kind in (
            *("kept", "superseded", "corrected", "invalidated", "dropped", "restored"),
            *("locked", "unlocked", "shared", "keeping_set"),
        )
    ) | {"ledger.erased"}
    tables = (
        *(memories, memory_evidence, memory_people),
        *(memory_sources, memory_wordings, memory_shares, memory_keeping),
    )
    holds_texts = False

    def __init__(self, derives: Derives) -> None:
        self._derives = derives

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Take in what happened to items, and which wordings were forgotten."""
        for event in events:
            match event.body:
                case MemoryKept() as kept:
                    _insert_item(connection, event, kept)
                case MemoryShared() as shared:
                    _apply_share(connection, shared)
                case KeepingSet() as keeping:
                    _set_keeping(connection, keeping)
                case Erased(refs=refs):  # the copies of forks, too, that share a text
                    gone = memories.c.ref.in_(refs)
                    connection.execute(memories.update().where(gone).values(forgotten=True))
                case _:
                    _apply_change(connection, event)

    def derived(
        self, connection: Connection, grounds: ForgottenGrounds, *, sole: bool
    ) -> dict[str, set[str]]:
        """See `DerivedTexts`."""
        return self._derives(connection, grounds, sole)


def _insert_item(connection: Connection, event: Event, kept: MemoryKept) -> None:
    row = {
        "item": event.id,
        "mate": event.stream.removeprefix(PREFIX),
        "seq": event.seq,
        "at": epoch_micros(event.at),
        "layer": kept.layer,
        "state": "held",
        "wording": event.id,
        "ref": "" if kept.text.public else kept.text.ref,
        "told_by": kept.told_by,
        "learned_by": kept.learned_by,
        "room": kept.room,
        "replaced": "",
        "ended": None,
        "travels": kept.travels,
        "locked": False,
        "forgotten": kept.text.text is None,
        "worded_by": "",
        "vouched": event.id,
        "changed": event.id,
        "changed_by": "",
        "because": "",
    }
    connection.execute(memories.insert().values(row))
    lines = {each.line: each for each in kept.evidence}
    rows: list[tuple[Table, list[dict[str, Any]]]] = [
        (
            memory_evidence,
            [
                {"item": event.id, "stream": each.stream, "seq": each.seq, "line": line}
                for line, each in lines.items()
            ],
        ),
        (memory_people, [{"item": event.id, "person": one} for one in dict.fromkeys(kept.about)]),
        (
            memory_sources,
            [{"item": event.id, "source": one} for one in dict.fromkeys(kept.rests_on)],
        ),
    ]
    for table, values in rows:
        if values:
            connection.execute(table.insert(), values)


def _apply_change(connection: Connection, event: Event) -> None:
    """What became of one item."""
    body = event.body
    match body:
        case MemorySuperseded(item=item, new=new, when=when):
            by = event.actor.removeprefix("person:")
            values: dict[str, Any] = {
                "state": "superseded",
                "replaced": new,
                "ended": epoch_micros(when),
            }
            values |= {"changed": event.id, "changed_by": by, "because": new}
        case MemoryCorrected(item=item, text=text, by=by):
            values = {"wording": event.id, "ref": "" if text.public else text.ref}
            values["forgotten"] = text.text is None
            values |= {"travels": False, "worded_by": _worded_by(connection, event.id, body)}
        case MemoryInvalidated(item=item, by=by, because=because):
            values = {"state": "invalidated", **_changed_columns(event, by, because)}
        case MemoryDropped(item=item, by=by, because=because):
            values = {"state": "dropped", **_changed_columns(event, by, because)}
        case MemoryRestored(item=item, by=by, because=because):
            values = {"state": "held", "replaced": "", "ended": None}
            values |= _changed_columns(event, by, because)
        case MemoryLocked(item=item, by=by):
            values = {"locked": True}
        case MemoryUnlocked(item=item, by=by):
            values = {"locked": False}
        case _:
            raise AssertionError(event.kind)
    if isinstance(body, MemoryCorrected | MemoryRestored | MemoryLocked) and not is_automatic(by):
        values["vouched"] = event.id
    connection.execute(memories.update().where(memories.c.item == item).values(values))


def _worded_by(connection: Connection, wording: str, corrected: MemoryCorrected) -> str:
    """The person whose word it is from now on; of a wording that comes back, whose it was."""
    by = "" if is_automatic(corrected.by) or corrected.by == MACHINE else corrected.by
    if corrected.back_to:
        was = select(memory_wordings.c.person).where(memory_wordings.c.wording == corrected.back_to)
        by = connection.execute(was).scalar() or ""
    if by:
        connection.execute(memory_wordings.insert().values(wording=wording, person=by))
    return by


def _changed_columns(event: Event, by: str, because: str) -> dict[str, Any]:
    return {"changed": event.id, "changed_by": by, "because": because}


def is_automatic(by: str) -> bool:
    """Whether a change was made by no person."""
    return by.startswith(AUTOMATIC)


def _apply_share(connection: Connection, shared: MemoryShared) -> None:
    row = {"person": shared.by, "item": shared.item, "target": shared.to}
    same = [memory_shares.c[name] == value for name, value in row.items()]
    connection.execute(memory_shares.delete().where(*same))
    if shared.on:
        connection.execute(memory_shares.insert().values(row))


def _set_keeping(connection: Connection, keeping: KeepingSet) -> None:
    here = memory_keeping.c.scope == keeping.scope
    connection.execute(memory_keeping.delete().where(here))
    if keeping.kept != "default":
        row = {"scope": keeping.scope, "kept": keeping.kept == "on", "person": keeping.by}
        connection.execute(memory_keeping.insert().values(row))


# ---------------------------------------------------------------- reading


def keeping_of(connection: Connection, scopes: Collection[str]) -> dict[str, bool]:
    """What was said of these rooms and persons: whether something is kept of them."""
    query = select(memory_keeping).where(memory_keeping.c.scope.in_(list(scopes)))
    return {row.scope: row.kept for row in connection.execute(query)}


def items_of(
    connection: Connection,
    mate: str = "",
    ids: Collection[str] | None = None,
    layers: Collection[str] = (),
) -> list[KeptItem]:
    """The items of a mate, with these ids, of these layers, in the order they were kept in."""
    query = select(memories).order_by(memories.c.at, memories.c.item)
    if mate:
        query = query.where(memories.c.mate == mate)
    if layers:
        query = query.where(memories.c.layer.in_(list(layers)))
    if ids is not None and len(ids) <= FEW:
        query = query.where(memories.c.item.in_(list(ids)))
    rows = [r for r in connection.execute(query).all() if ids is None or r.item in ids]
    events = {event.id: event for event in events_by_id(connection, _events_of(rows))}
    return [_item_of(row, events) for row in rows]


def current_wordings(connection: Connection, ids: Collection[str]) -> dict[str, str]:
    """What these items say now, as far as that is not forgotten."""
    query = select(memories.c.item, memories.c.wording).where(memories.c.item.in_(list(ids)))
    rows = connection.execute(query).all()
    events = {event.id: event for event in events_by_id(connection, {row.wording for row in rows})}
    texts = {row.item: _wording_of(events[row.wording]).text for row in rows}
    return {item: text for item, text in texts.items() if text is not None}


def _events_of(rows: Sequence[Row[Any]]) -> set[str]:
    return {row.item for row in rows} | {row.wording for row in rows}


def _wording_of(event: Event) -> Words:
    assert isinstance(event.body, MemoryKept | MemoryCorrected)
    return event.body.text


def _item_of(row: Row[Any], events: Mapping[str, Event]) -> KeptItem:
    kept = events[row.item].body
    assert isinstance(kept, MemoryKept)
    now = asdict(kept) | {"text": _wording_of(events[row.wording]), "until": _ends_at(row, kept)}
    return KeptItem(
        id=row.item,
        mate=row.mate,
        seq=row.seq,
        at=events[row.item].at,
        state="forgotten" if row.forgotten else row.state,
        replaced=row.replaced,
        locked=row.locked,
        worded_by=row.worded_by,
        changed_by=row.changed_by,
        because=row.because,
        **now,
    )


def _ends_at(row: Row[Any], kept: MemoryKept) -> datetime | None:
    return kept.until if row.ended is None else from_epoch_micros(row.ended)


def items_resting_on_lines(connection: Connection, lines: Collection[str]) -> list[str]:
    """The items that rest on one of these events."""
    found = set[str]()
    for some in id_batches(sorted(lines)):
        query = select(memory_evidence.c.item).where(memory_evidence.c.line.in_(some))
        found.update(connection.execute(query).scalars())
    return sorted(found)


def id_batches(ids: Sequence[str]) -> list[Sequence[str]]:
    """Ids in numbers that a query takes."""
    return [ids[start : start + FEW] for start in range(0, len(ids), FEW)]


def fallen_items(connection: Connection, mate: str) -> set[str]:
    """Items of which a line was edited or deleted since they were made, or is forgotten."""
    return {item for item, _ in fallen_lines(connection, mate)}


def fallen_lines(connection: Connection, mate: str) -> set[tuple[str, str]]:
    """Those items, each with such a line.

    Ids are ordered by time, so a change that came before the item is no change of it; nor is one
    that came before a person said that the item stands, or one that it was made of with that line.
    """
    one, item, vouched = memory_evidence.c, memories.c.item, memories.c.vouched
    mine = (memories.c.mate == mate) & (one.item == item)
    changed = select(one.item, one.line).join(revisions, revisions.c.line == one.line)
    changed = changed.where(
        mine,
        (revisions.c.event > vouched) | (revisions.c.deleted & (vouched == item)),
    )
    there = (texts.c.stream == one.stream) & (texts.c.event == one.line)
    gone = select(texts.c.ref).where(there)
    forgotten = select(one.item, one.line).where(mine, vouched == item, ~gone.exists())
    both = [*connection.execute(changed), *connection.execute(forgotten)]
    pairs = {(row.item, row.line) for row in both}
    return pairs - _excused_pairs(connection, pairs) if pairs else pairs


def _excused_pairs(connection: Connection, pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Items with lines that stand in one that they were made of, which stands nevertheless."""
    one, source = memory_evidence.c, memory_sources.c
    query = select(source.item, source.source, one.line).join(
        memory_evidence, one.item == source.source
    )
    some = connection.execute(query.where(source.item.in_([item for item, _ in pairs]))).all()
    excused, more = set[tuple[str, str]](), True
    while more:
        found = {
            (row.item, row.line)
            for row in some
            if (row.item, row.line) in pairs and (row.source, row.line) not in pairs - excused
        }
        more = found > excused
        excused |= found
    return excused
