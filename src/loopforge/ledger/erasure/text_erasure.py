"""Erasure: texts forgotten truly, on somebody's wish, and the chain still verifies.

    what was named -> what later texts quote it (quote_matching.py) -> Erased events -> texts gone
      -> views that hold texts folded anew, snapshots dropped -> nothing left in the file

Named may be texts (by ref); events (the words of a line, those that it was edited to, and what a
task took in of it; of a turn's record, what it brought in);
a person: everything that came in with an event of theirs, and their names and accounts wherever
they stand, of every self that was linked to them (person_identities.py); or
a whole stream: every text that came in with it, and what echoes it in others (cross_quotes.py).
What was derived from that (derived_texts.py), such as memories of mates, goes along, too.
Quotes are looked for in every stream where something named came in, from the event on that brought
it in; for what a mate said, from the beginning of its turn on; and in every other where a mate was
shown something of it (cross_quotes.py). With `exactly`, nothing but what was
named is forgotten. The name of somebody else is never a quote: Ana Maria stays when Ana goes.

A reader looks for all of this, and the writing thread only in what came meanwhile
(erasure_search.py). There it happens in one transaction; what is very much, in several, with what
was named in the last: cut off in between, it can be asked for again. Cleaning the file comes after
it. What is left then: PostgreSQL's pages until a host's next start, and its own write-ahead log
until that is recycled; backups, and files that sinks and exports wrote. Events themselves stay:
who, when, which kind, and plain strings such as ids.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.text.spoken_lists import join_as_prose as listed_words
from loopforge.errors import Unknown
from loopforge.ledger.erasure import cross_quotes
from loopforge.ledger.erasure.cross_quotes import shown_elsewhere
from loopforge.ledger.erasure.derived_texts import DerivedTexts, ForgottenGrounds, Reach
from loopforge.ledger.erasure.erasure_search import ErasureSearch
from loopforge.ledger.erasure.person_identities import NAMES, PersonIdentities, event_ids_of_people
from loopforge.ledger.erasure.quote_matching import ForgottenText, QuoteMatcher
from loopforge.ledger.erasure.stream_quotes import QuotesMade, turn_texts
from loopforge.ledger.storage.event_reading import END, stream_heads
from loopforge.ledger.storage.event_reading import read_event as event_by_id
from loopforge.ledger.storage.folded_views import FoldedView
from loopforge.ledger.storage.revised_lines import edits_of
from loopforge.ledger.storage.row_codec import (
    COLUMNS,
    event_of,
    in_list_sql,
    list_parameter,
    sql_placeholder,
)

PAGE = 1000
NAMED, HANDLE = 8, 8
"""Files that are named, and digits by which each is."""
OWN = ("room.", "people.")
"""Kinds whose words are the event's own, also where they came in earlier."""

KEPT = "memory:"
"""Streams of what rests on other texts."""


class ErasureRequest(Struct, frozen=True, kw_only=True):
    """What is to be forgotten, and on whose wish.

    `derived`: what rests on it goes along, where it rests on nothing else ("sole"), or not at all;
    "" is "all", and "none" for what is wanted `exactly`.
    """

    refs: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    person: str = ""
    stream: str = ""
    exactly: bool = False
    derived: Reach = ""
    by: str = ""
    why: str = ""


class Erasure(Struct, frozen=True, kw_only=True):
    """What was forgotten: refs of texts by stream, how many were named and how many quoted those.

    `resting` is how many texts rested on those, such as memories of mates; `shown` are the other
    streams in which minds were shown something of it. `unread` are the handles of files in which
    nothing could be read: they stay, whatever they hold. `events` are the Erased events. `clean`
    says whether nothing is left that a query or, on SQLite, the file could tell; if not,
    somebody was in the way, and the same erasure asked again does it.
    """

    texts: dict[str, tuple[str, ...]]
    named: int
    quoting: int
    resting: int = 0
    shown: frozenset[str] = frozenset()
    unread: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    clean: bool = False

    @property
    def unlooked(self) -> str:
        """Which files were not looked into, as a sentence; "" for none."""
        if not self.unread:
            return ""
        named = listed_words([*self.unread[:NAMED]])
        more = f" and {left} more" if (left := len(self.unread) - NAMED) > 0 else ""
        stay = (
            "file stays, for nothing in it"
            if len(self.unread) == 1
            else "files stay, for nothing in them"
        )
        return f" {len(self.unread)} {stay} could be read: {named}{more}."

    @property
    def refs(self) -> frozenset[str]:
        """All refs that have no text any more."""
        return frozenset(ref for refs in self.texts.values() for ref in refs)


class _Target(NamedTuple):
    """A named text, seen from one stream."""

    ref: str
    stream: str
    since: int
    name: bool


class ErasureFindings(NamedTuple):
    """What is to go, by stream; what of it was named; and what can be told of it."""

    gone: Mapping[str, Collection[str]]
    named: Collection[str]
    told: Erasure


def find(
    connection: Connection,
    wish: ErasureRequest,
    views: Sequence[FoldedView],
    search: ErasureSearch,
) -> ErasureFindings:
    """Find what is to be forgotten; nothing is. `search` is what was read for this before.

    Raises Unknown when an event, a person or a stream is not in the ledger.
    """
    kin, echoes = PersonIdentities(connection), dict[str, set[str]]()
    people = kin.selves(wish.person)
    if wish.stream and not wish.exactly:
        echoes = search.once("echoes", partial(cross_quotes.elsewhere, connection, wish.stream))
    targets = list(_targets_of(connection, wish, kin, people, search))
    texts = search.texts(connection, [target.ref for target in targets])
    gone: dict[str, set[str]] = {}
    for target in targets:
        if target.ref in texts:
            gone.setdefault(target.stream, set()).add(target.ref)
    if whole := _texts_of_stream(connection, wish.stream):
        gone[wish.stream] = whole
    named = frozenset[str]().union(*gone.values())
    spared = kin.others(people, named)
    if not wish.exactly:
        for stream in sorted(gone.keys() - {wish.stream}):
            gone[stream] |= _quoting_texts(connection, stream, targets, texts, search) - spared
    names = [texts[target.ref] for target in targets if target.name and target.ref in texts]
    grounds = ForgottenGrounds(events=wish.events, people=people, stream=wish.stream, names=names)
    look = partial(_derived_texts, connection, grounds, views, search)
    resting = frozenset[str]().union(*look(gone, "all").values()) if echoes else frozenset()
    for stream, refs in echoes.items():
        if there := _refs_with_text(connection, refs) - spared - resting:
            gone[stream] = gone.get(stream, set()) | there
    known = {target.ref: target.name for target in targets}
    derived, elsewhere = _texts_going_along(
        connection, wish, gone, partial(look, gone), known, spared, search
    )
    record = frozenset[str]().union(*(one.record for one in elsewhere.values()))
    every = frozenset[str]().union(*gone.values())
    gone = {stream: refs - search.gone for stream, refs in gone.items()}
    unread = search.unread().items()
    told = Erasure(
        texts={stream: tuple(sorted(refs)) for stream, refs in gone.items()},
        named=len(named),
        quoting=len(every - named - derived - record),
        resting=len((every & derived) - named),
        shown=frozenset(elsewhere),
        unread=tuple(sorted({hash[:HANDLE] for ref, hash in unread if ref not in every})),
    )
    return ErasureFindings(gone, named, told)


def _texts_going_along(
    connection: Connection,
    wish: ErasureRequest,
    gone: dict[str, set[str]],
    look: Callable[[Reach], Mapping[str, Collection[str]]],
    named: Mapping[str, bool],
    spared: Collection[str],
    search: ErasureSearch,
) -> tuple[set[str], dict[str, QuotesMade]]:
    """Add what rests on what goes, and what minds made of it elsewhere, by stream.

    Gives the refs of the former, and the latter.
    """
    reach: Reach = wish.derived or ("none" if wish.exactly else "all")
    derived, known, elsewhere = set[str](), set[str](), dict[str, QuotesMade]()
    while True:
        resting, every = look(reach), set[str]().union(*gone.values())
        derived.update(*resting.values())
        more = every - known
        items = derived.union(wish.refs if reach != "none" else ()) - known
        shown = (
            {} if wish.exactly else shown_elsewhere(connection, search, more, named, wish.stream)
        )
        made = _quotes_by_makers(connection, items, search)
        known |= every
        for stream, one in shown.items():
            elsewhere.setdefault(stream, QuotesMade(set(), set())).add(one)
        quoted = {stream: one.told | one.record for stream, one in shown.items()}
        for stream, refs in (*resting.items(), *quoted.items(), *made.items()):
            if there := _refs_with_text(connection, refs) - known - set(spared):
                gone[stream] = gone.get(stream, set()) | there
        if not set[str]().union(*gone.values()) - known:
            return derived, elsewhere


def _quotes_by_makers(
    connection: Connection, items: Collection[str], search: ErasureSearch
) -> dict[str, set[str]]:
    """What quotes items of memory in the very turns that made them: answers, plans; by stream."""
    brought = list(_texts_with_origin(connection, "texts.ref", sorted(items)))
    texts, made = search.texts(connection, [ref for _, ref in brought]), dict[str, set[str]]()
    for event, ref in brought:
        since = _quotable_since(connection, event)
        if event.kind.startswith("memory.") and since < event.seq:
            sieve = QuoteMatcher([ForgottenText(texts[ref], since)])
            turn = turn_texts(connection, event.stream, since, event.seq)
            made.setdefault(event.stream, set()).update(
                text.ref for text in turn if sieve.holds(text)
            )
    return made


# ---------------------------------------------------------------- what was named


def _targets_of(
    connection: Connection,
    wish: ErasureRequest,
    kin: PersonIdentities,
    people: set[str],
    search: ErasureSearch,
) -> Iterator[_Target]:
    edits = () if wish.exactly else edits_of(connection, wish.events)
    copies = () if wish.exactly else _task_copies(connection, wish.events)
    for id in dict.fromkeys((*wish.events, *edits, *copies)):
        yield from search.once((id,), partial(list, _of_event(connection, id)))
    yield from search.once("refs", partial(list, _of_refs(connection, wish.refs)))
    if wish.person:
        yield from _of_person(connection, wish.person, kin, people, search)


def _task_copies(connection: Connection, lines: Sequence[str]) -> Iterator[str]:
    """The events by which tasks were made of these lines, or took them in, as their own words."""
    one = sql_placeholder(connection)
    query = (
        "SELECT id FROM events WHERE stream IN "  # noqa: S608
        f"(SELECT stream FROM streams WHERE stream >= {one} AND stream < {one}) "
        f"AND kind = 'task.steered' AND body LIKE {one}"
    )
    opened = f"SELECT id FROM events WHERE stream = {one} AND kind = 'task.opened'"  # noqa: S608
    for line in lines:
        said = "task:", "task:" + END, f'%"source":"{line}"%'
        yield from connection.exec_driver_sql(query, said).scalars().all()
        yield from connection.exec_driver_sql(opened, (f"task:{line}",)).scalars().all()


def _of_refs(connection: Connection, refs: Sequence[str]) -> Iterator[_Target]:
    for event, ref in _texts_with_origin(connection, "texts.ref", refs):
        yield _Target(ref, event.stream, _quotable_since(connection, event), name=False)


def _of_event(connection: Connection, id: str) -> Iterator[_Target]:
    """The words of an event."""
    event = event_by_id(connection, id)
    (row,) = _events_where(connection, "id", [event.id])
    refs = {words.ref for words in event_of(row)[1]}
    brought = {ref for _, ref in _texts_with_origin(connection, "events.id", [event.id])}
    since = _quotable_since(connection, event)
    for ref in sorted(refs if event.kind.startswith(OWN) else refs & brought):
        yield _Target(ref, event.stream, since, name=event.kind in NAMES)


def _of_person(
    connection: Connection,
    person: str,
    kin: PersonIdentities,
    people: set[str],
    search: ErasureSearch,
) -> Iterator[_Target]:
    """What came in with a person's events, and the names and accounts of every self of theirs."""
    done = event_ids_of_people(connection, people)
    found, targets = bool(done), search.once("targets", dict[str, list[_Target]])
    new = [id for id in done if id not in targets]
    for start in range(0, len(new), PAGE):
        some = new[start : start + PAGE]
        targets.update((id, []) for id in some)
        for event, ref in _texts_with_origin(connection, "events.id", some):
            since = _quotable_since(connection, event)
            one = _Target(ref, event.stream, since, name=event.kind in NAMES)
            targets[event.id].append(one)
    for id in done:
        yield from targets[id]
    for event, words in kin.words(people):
        found = True
        for each in words:
            yield _Target(each.ref, event.stream, event.seq, name=True)
    if not found:
        raise Unknown(f"Nobody with the id {person!r} is in the ledger.")


def _quotable_since(connection: Connection, event: Event) -> int:
    """From which event of its stream on the words of an event may have been written down."""
    turn = getattr(event.body, "turn", "")
    if not turn and event.cause:
        turn = event.cause
    one = sql_placeholder(connection)
    row = connection.exec_driver_sql(
        f"SELECT seq FROM events WHERE id = {one} AND stream = {one} AND kind = 'turn.perceived'",  # noqa: S608
        (turn, event.stream),
    ).one_or_none()
    return event.seq if row is None else min(row[0], event.seq)


def _texts_of_stream(connection: Connection, stream: str) -> set[str]:
    """Every text that came in with a stream; none of no stream."""
    if not stream:
        return set()
    if stream not in stream_heads(connection, stream):
        raise Unknown(f"There is no stream {stream!r} in the ledger.")
    query = f"SELECT ref FROM texts WHERE stream = {sql_placeholder(connection)}"  # noqa: S608
    return set(connection.exec_driver_sql(query, (stream,)).scalars())


# ---------------------------------------------------------------- what quotes it


def _quoting_texts(
    connection: Connection,
    stream: str,
    targets: Iterable[_Target],
    texts: dict[str, str],
    search: ErasureSearch,
) -> set[str]:
    forgotten = (
        ForgottenText(texts[target.ref], target.since, target.name)
        for target in targets
        if target.stream == stream and target.ref in texts
    )
    return {quote.ref for quote in search.quotes(connection, stream, forgotten)}


def _derived_texts(
    connection: Connection,
    named: ForgottenGrounds,
    views: Sequence[FoldedView],
    search: ErasureSearch,
    gone: Mapping[str, Collection[str]],
    reach: Reach,
) -> dict[str, set[str]]:
    """The refs of what rests on what is to be forgotten, by stream, as far as it goes along.

    What that is was `named`, and has come to these texts that are to be `gone`.
    """
    if reach == "none":
        return {}
    origins = search.origins(connection, {ref for refs in gone.values() for ref in refs})
    events = frozenset(one.event for one in origins.values()).union(named.events)
    grounds = replace(named, events=events)

    def derived() -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for view in views:
            if isinstance(view, DerivedTexts):
                for stream, some in view.derived(connection, grounds, sole=reach == "sole").items():
                    found.setdefault(stream, set()).update(some)
        return found

    kept = tuple(stream_heads(connection, KEPT).items())
    asked = events, frozenset(grounds.people), frozenset(grounds.names), reach, kept
    return search.once(asked, derived)


# ---------------------------------------------------------------- rows


def _events_where(
    connection: Connection, column: str, values: Sequence[str]
) -> Sequence[Sequence[object]]:
    query = (
        f"SELECT {COLUMNS} FROM events WHERE {column} {in_list_sql(connection)} "  # noqa: S608
        "ORDER BY stream, seq"
    )
    return connection.exec_driver_sql(query, (list_parameter(connection, values),)).all()


def _texts_with_origin(
    connection: Connection, column: str, values: Sequence[str]
) -> Iterator[tuple[Event, str]]:
    """The texts that a column says, each with the event that brought it in."""
    names = ", ".join(f"events.{name}" for name in COLUMNS.split(", "))
    query = (
        f"SELECT {names}, texts.ref FROM texts "  # noqa: S608
        "JOIN events ON events.id = texts.event AND events.stream = texts.stream "
        f"WHERE {column} {in_list_sql(connection)} ORDER BY events.stream, events.seq"
    )
    for row in connection.exec_driver_sql(query, (list_parameter(connection, values),)).all():
        yield event_of(row[:-1])[0], row[-1]


def _refs_with_text(connection: Connection, refs: Collection[str]) -> set[str]:
    """Those of these refs that still have a text."""
    query = f"SELECT ref FROM texts WHERE ref {in_list_sql(connection)}"  # noqa: S608
    return set(connection.exec_driver_sql(query, (list_parameter(connection, refs),)).scalars())
