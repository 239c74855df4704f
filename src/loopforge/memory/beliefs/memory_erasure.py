"""What goes with what it rests on: items of memory whose lines, sources or persons are forgotten.

An item goes when a line that it rests on goes, and so does what was made of it, by forks, too; one
that is about a person who is forgotten, that they told, or that holds their name, or once held it,
goes whatever it rests on. All its wordings go, not only what it says now. Reads alone: the erasure
itself is the ledger's.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.engine import Connection

from loopforge.core.memory.memory_vocabulary import PREFIX, MemoryCorrected, MemoryKept
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.database.table_schema import events
from loopforge.ledger.erasure.derived_texts import ForgottenGrounds
from loopforge.ledger.erasure.quote_matching import ForgottenText, QuoteMatcher, StreamText
from loopforge.ledger.storage.revised_lines import events_by_id
from loopforge.memory.memory_view import (
    MemoryView,
    id_batches,
    items_resting_on_lines,
    memories,
    memory_evidence,
    memory_people,
    memory_sources,
)


def memories_view() -> MemoryView:
    """The view of items, which says what goes along with what is forgotten."""
    return MemoryView(derived_refs)


def derived_refs(
    connection: Connection, grounds: ForgottenGrounds, sole: bool
) -> dict[str, set[str]]:
    """The refs of all wordings of the items that rest on what is to be forgotten, by stream.

    Those that are of a person who is forgotten, or hold their name, go whatever they rest on.
    """
    named = set(grounds.events)
    found = set(items_resting_on_lines(connection, named))
    if grounds.stream:
        there = memory_evidence.c.stream == grounds.stream
        found.update(connection.execute(select(memory_evidence.c.item).where(there)).scalars())
    if sole:
        found -= _rest_elsewhere(connection, found, named, grounds.stream)
    if grounds.people:
        found |= _of_people(connection, grounds.people)
    found |= _following(connection, found | _known(connection, named), sole=sole) - named
    if grounds.people and grounds.names:
        found |= _holding(connection, grounds.names)
    return _refs_of(connection, found)


class RestingItem(NamedTuple):
    """An item that rests on a room's lines, the stream that it stands in, and its state.

    `elsewhere`: it rests on lines of other rooms, too.
    """

    item: str
    stream: str
    state: str
    elsewhere: bool


def items_resting_on_room(connection: Connection, stream: str) -> list[RestingItem]:
    """The items that rest on lines of a room and are not forgotten."""
    there = memory_evidence.c.stream == stream
    found = sorted(connection.execute(select(memory_evidence.c.item).where(there)).scalars())
    items = []
    for some in id_batches(sorted(set(found))):
        both = _rest_elsewhere(connection, some, (), stream)
        query = select(memories).where(memories.c.item.in_(some), ~memories.c.forgotten)
        for row in connection.execute(query):
            mine = PREFIX + row.mate
            items.append(RestingItem(row.item, mine, row.state, row.item in both))
    return items


def _known(connection: Connection, ids: Collection[str]) -> set[str]:
    known = set[str]()
    for some in id_batches(sorted(ids)):
        query = select(memories.c.item).where(memories.c.item.in_(some))
        known.update(connection.execute(query).scalars())
    return known


def _rest_elsewhere(
    connection: Connection, items: Collection[str], named: Collection[str], stream: str
) -> set[str]:
    """Those of these items that rest on a line besides, or that a person vouched for."""
    kept = set[str]()
    for some in id_batches(sorted(items)):
        query = select(memory_evidence).where(memory_evidence.c.item.in_(some))
        for row in connection.execute(query):
            if row.line not in named and row.stream != stream:
                kept.add(row.item)
    return kept


def _of_people(connection: Connection, people: Collection[str]) -> set[str]:
    mine = memory_people.c.person.in_(list(people))
    about = connection.execute(select(memory_people.c.item).where(mine)).scalars()
    told = memories.c.told_by.in_(list(people)) | memories.c.worded_by.in_(list(people))
    return {*about, *connection.execute(select(memories.c.item).where(told)).scalars()}


def _following(connection: Connection, items: Collection[str], *, sole: bool) -> set[str]:
    """These items, what was made of them, what forks took along of either, and so on."""
    gone, more = set(items), set(items)
    while more:
        gone |= more
        more = (_made_of(connection, gone, sole=sole) | _copies_of(connection, gone)) - gone
    return gone


def _made_of(connection: Connection, items: Collection[str], *, sole: bool) -> set[str]:
    """The items that were made of these, and of those again; with `sole`, of nothing else."""
    pairs = [(row.item, row.source) for row in connection.execute(select(memory_sources))]
    gone, more = set(items), True
    while more:
        some = {item for item, source in pairs if source in gone} - gone
        if sole:
            some -= {item for item, source in pairs if item in some and source not in gone}
        more = bool(some)
        gone |= some
    return gone - set(items)


def _copies_of(connection: Connection, items: Collection[str]) -> set[str]:
    """The items that say what these ever said by the very same texts, as those of forks do."""
    refs = set[str]().union(*_refs_of(connection, items).values())
    found = set[str]()
    for some in id_batches(sorted(refs)):
        query = select(memories.c.item).where(memories.c.ref.in_(some))
        found.update(connection.execute(query).scalars())
    return found


def _holding(connection: Connection, names: Collection[str]) -> set[str]:
    """The items in which one of these names stands, or once stood."""
    sieve = QuoteMatcher(ForgottenText(name, 0, name=True) for name in names)
    items = connection.execute(select(memories.c.item)).scalars().all()
    return {
        item
        for item, _, words in _wordings(connection, items)
        if words.text and sieve.holds(StreamText(item, 1, words.text))
    }


def _refs_of(connection: Connection, items: Collection[str]) -> dict[str, set[str]]:
    """The refs of every wording and subject that these items ever had, by stream."""
    found: dict[str, set[str]] = {}
    for _, stream, words in _wordings(connection, items):
        found.setdefault(stream, set()).add(words.ref)
    return found


def _wordings(connection: Connection, items: Collection[str]) -> Iterator[tuple[str, str, Words]]:
    """Every private wording and subject that these items ever had: item, stream, words."""
    wanted, streams = set(items), set[str]()
    for some in id_batches(sorted(wanted)):
        mates = select(memories.c.mate).where(memories.c.item.in_(some)).distinct()
        streams.update(PREFIX + mate for mate in connection.execute(mates).scalars())
    corrected = (events.c.kind == "memory.corrected") & events.c.stream.in_(sorted(streams))
    ids = connection.execute(select(events.c.id).where(corrected)).scalars()
    for some in id_batches(sorted(wanted.union(ids))):
        for event in events_by_id(connection, some):
            match event.body:
                case MemoryKept(text=text, subject=subject):
                    told, each = event.id, [text, subject]
                case MemoryCorrected(item=item, text=text) if item in wanted:
                    told, each = item, [text]
                case _:
                    continue
            yield from ((told, event.stream, words) for words in each if not words.public)
