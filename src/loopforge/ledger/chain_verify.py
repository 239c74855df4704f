"""Does the ledger still say what it said? Everything is derived again from what reads return.

For each stream: sequence numbers without a gap, the hash of every event over the one before it,
whether its body, encoded again from what was decoded, is the same (a read that loses something is
found too), the kind beside the body's own, and the head. For each private word: its text is there,
or an erasure lists it. For each text: its digest, and the event that it says brought it in. With
anchors (heads noted earlier and kept elsewhere): that those very events are still there. Views are
compared with what folding gives. The triggers that refuse changes must be there. On SQLite also the
file itself is looked at, with its indexes.

What a chain can prove: that nothing was changed, reordered, or taken out of the middle, unless
somebody rewrote everything after it. What it cannot: who can write the file can cut off the newest
events together with the head, or rewrite a stream from some point on with new hashes. Anchors find
both; keep them where the writer of the ledger cannot reach.

Goes page by page: memory does not grow with the ledger (but by 100 bytes or so for each forgotten
text, and by a line for each stream).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from msgspec import Struct
from msgspec.json import decode as json_decode
from msgspec.structs import fields
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from loopforge.core.events import GENESIS, Erased, Event, chain_hash, encode_body, epoch_micros
from loopforge.core.text.erasable_text import salted_digest
from loopforge.errors import LedgerBroken, LedgerError
from loopforge.ledger.database.database_faults import as_ledger_error, file_damage
from loopforge.ledger.database.table_schema import BLANK, missing_triggers
from loopforge.ledger.storage.event_reading import END, in_read_snapshot
from loopforge.ledger.storage.folded_views import FoldedView, differing_views
from loopforge.ledger.storage.row_codec import (
    COLUMNS,
    Row,
    event_of,
    in_list_sql,
    list_parameter,
    sql_placeholder,
    unescape_stored_text,
)
from loopforge.ledger.storage.state_snapshots import damaged_snapshots

PAGE = 1000
MOST_FINDINGS = 1000
"""Findings told one by one; how many there were besides is counted."""

Trouble = Literal[
    "unreadable",
    "gap",
    "hash",
    "lossy",
    "kind",
    "missing",
    "text",
    "stray",
    "head",
    "anchor",
    "view",
    "file",
    "trigger",
]
"""What can be wrong:

unreadable  an event's body cannot be decoded, or a column holds what cannot stand there
gap         a number is left out or comes twice
hash        an event is not what was hashed, or not after what it was hashed over
lossy       the event is as it was written, but this program reads less than was written
kind        the column says another kind than the body
missing     a private text is gone, and no erasure says so
text        a text is not the one that was digested
stray       a text says that an event brought it in which did not
head        the stream's head is not its last event
anchor      an event noted earlier is not there, or is another
view        a view, or a snapshot, is not what its events make it; it can be made anew
file        SQLite finds its own file damaged
trigger     what refuses changes to events and texts is gone from the database, or switched off
"""

Anchor = tuple[int, str]
"""A stream's last number and hash."""


class LedgerFinding(Struct, frozen=True, kw_only=True):
    """Something wrong. `says` is a sentence; `seq` is 0 and `id` "" where no event is to blame."""

    trouble: Trouble
    stream: str
    says: str
    seq: int = 0
    id: str = ""


class LedgerVerification(Struct, frozen=True, kw_only=True):
    """What a verifying found, and what it went over. `anchors` are worth keeping elsewhere."""

    events: int
    texts: int
    forgotten: int
    anchors: dict[str, Anchor]
    findings: tuple[LedgerFinding, ...] = ()
    more: int = 0

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


class _Report:
    def __init__(self, anchors: Mapping[str, Anchor]) -> None:
        self.expected = dict(anchors)
        self.findings: list[LedgerFinding] = []
        self.more = self.events = self.texts = self.forgotten = 0
        self.heads: dict[str, Anchor] = {}

    def find(self, trouble: Trouble, stream: str, says: str, seq: int = 0, id: str = "") -> None:
        if len(self.findings) >= MOST_FINDINGS:
            self.more += 1
            return
        self.findings.append(
            LedgerFinding(trouble=trouble, stream=stream, says=says, seq=seq, id=id)
        )


def verify(
    connection: Connection,
    prefix: str = "",
    anchors: Mapping[str, Anchor] | None = None,
    views: Sequence[FoldedView] = (),
) -> LedgerVerification:
    """Go over all streams whose name starts with `prefix`, as they are at this moment.

    Without a prefix, also over the file, its triggers, these views, and the snapshots.
    """
    report = _Report(anchors or {})
    with _reading_leniently(connection), in_read_snapshot(connection):
        try:
            if not prefix:
                _check_file(connection, report)
                _check_triggers(connection, report)
            erased = _erased_refs(connection, report)
            _check_events(connection, report, prefix, erased)
            _check_heads(connection, report, prefix)
            _check_texts(connection, report, prefix)
            _check_stray_texts(connection, report, prefix)
            if not prefix:
                _check_views(connection, report, views)
        except DBAPIError as error:
            if not isinstance(fault := as_ledger_error(error, connection.engine.url), LedgerBroken):
                raise
            report.find("file", "", str(fault))
    for stream, (seq, _) in report.expected.items():
        if stream.startswith(prefix):
            report.find("anchor", stream, f"{stream} has not that event {seq} any more.", seq)
    return LedgerVerification(
        events=report.events,
        texts=report.texts,
        forgotten=report.forgotten,
        anchors=report.heads,
        findings=tuple(report.findings),
        more=report.more,
    )


@contextmanager
def _reading_leniently(connection: Connection) -> Iterator[None]:
    """Read texts of SQLite that are not UTF-8, too: they must be looked at."""
    driver = connection.connection.driver_connection
    if connection.dialect.name != "sqlite" or driver is None:
        yield
        return
    driver.text_factory = lambda stored: stored.decode("utf-8", "surrogateescape")
    try:
        yield
    finally:
        driver.text_factory = str


def _check_file(connection: Connection, report: _Report) -> None:
    for said in file_damage(connection):
        report.find("file", "", f"SQLite finds its file damaged: {said}.")


def _check_triggers(connection: Connection, report: _Report) -> None:
    for name in missing_triggers(connection):
        says = (
            f"The trigger {name}, by which the database refuses changes, is gone or another; "
            "`loopforge ledger migrate` makes it anew."
        )
        report.find("trigger", "", says)


def _pages_of_rows(
    connection: Connection, query: str, place: tuple[Any, ...], *more: Any
) -> Iterator[Sequence[Row]]:
    """Rows, a page at a time; the query begins with its place's columns and orders by them."""
    while rows := connection.exec_driver_sql(query, (*map(_as_parameter, place), *more)).all():
        yield rows
        last, place = place, tuple(rows[-1][: len(place)])
        if place == last:
            return  # a name that is not even a text; it was found to be unreadable


def _as_parameter(value: Any) -> Any:
    """A name as a parameter, also one that is not UTF-8 (the queries cast it to a text)."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "surrogateescape")
    return value


def _span_of_prefix(
    connection: Connection, column: str, prefix: str
) -> tuple[str, tuple[str, ...]]:
    """The condition that a stream's name starts with the prefix, and its parameters."""
    if not prefix:
        return "1 = 1", ()
    one = sql_placeholder(connection)
    return f"{column} >= {one} AND {column} < {one}", (prefix, prefix + END)


def _erased_refs(connection: Connection, report: _Report) -> set[bytes]:
    """The refs of all texts that an erasure lists, in any stream."""
    refs: set[bytes] = set()
    query = f"SELECT {COLUMNS} FROM events WHERE kind = 'ledger.erased' ORDER BY stream, seq"  # noqa: S608
    for row in connection.exec_driver_sql(query):
        try:
            event, _ = event_of(row)
        except LedgerBroken:
            continue
        if isinstance(event.body, Erased):
            refs.update(ref.encode() for ref in event.body.refs)
    report.forgotten = len(refs)
    return refs


# ---------------------------------------------------------------- events


def _check_events(connection: Connection, report: _Report, prefix: str, erased: set[bytes]) -> None:
    one = sql_placeholder(connection)
    span, names = _span_of_prefix(connection, "stream", prefix)
    query = (
        f"SELECT {COLUMNS} FROM events "  # noqa: S608
        f"WHERE (stream, seq) > (CAST({one} AS TEXT), CAST({one} AS BIGINT)) "
        f"AND {span} ORDER BY stream, seq LIMIT {PAGE}"
    )
    for rows in _pages_of_rows(connection, query, (prefix, -(1 << 63)), *names):
        refs: dict[str, tuple[str, int, str]] = {}
        for row in rows:
            _check_event(report, row, refs)
        _check_texts_present(connection, report, refs, erased)


def _check_event(report: _Report, row: Row, refs: dict[str, tuple[str, int, str]]) -> None:
    stream, seq, id, kind, _, _, _, body, hash = row
    report.events += 1
    if not isinstance(seq, int):
        report.find("unreadable", stream, f"An event of {stream} has the number {seq!r}.", id=id)
        return
    before, previous = report.heads.get(stream, (0, GENESIS))
    if seq != before + 1:
        report.find("gap", stream, f"{stream} goes from {before} to {seq}.", seq, id)
    report.heads[stream] = (seq, hash)
    if report.expected.get(stream) == (seq, hash):
        del report.expected[stream]
    try:
        event, words = event_of(row)
        right = _derived_hash(previous, event, body.encode()) == hash
        whole = encode_body(event.body) == body.encode() or _all_read(json_decode(body), event.body)
    except (LedgerBroken, ValueError, TypeError, AttributeError) as error:
        report.find("unreadable", stream, f"Event {seq} of {stream}: {error}", seq, id)
        return
    if not right:
        report.find("hash", stream, f"Event {seq} of {stream} is not what was hashed.", seq, id)
    elif not whole:
        says = f"Event {seq} of {stream}: another version wrote more than this one reads."
        report.find("lossy", stream, says, seq, id)
    if event.kind != kind:
        says = f"Event {seq} of {stream} is {event.kind}, not {kind}."
        report.find("kind", stream, says, seq, id)
    for one in words:
        refs.setdefault(one.ref, (stream, seq, id))


def _all_read(said: Any, read: object) -> bool:
    """Whether nothing of a body was left out in reading. A default may have been written out."""
    match said, read:
        case dict(), Struct():
            known = {each.encode_name: getattr(read, each.name) for each in fields(read)}
            tag = read.__struct_config__.tag_field
            return all(
                name == tag or (name in known and _all_read(each, known[name]))
                for name, each in said.items()
            )
        case dict(), dict():
            return len(said) == len(read) and all(map(_all_read, said.values(), read.values()))
        case list(), list() | tuple():
            return len(said) == len(read) and all(map(_all_read, said, read))
        case _:
            return True


def _derived_hash(previous: str, event: Event, body: bytes) -> str:
    at = epoch_micros(event.at)
    return chain_hash(
        previous, event.stream, event.seq, event.id, at, event.actor, event.cause, body
    )


def _check_texts_present(
    connection: Connection,
    report: _Report,
    refs: dict[str, tuple[str, int, str]],
    erased: set[bytes],
) -> None:
    """Every private word has its text, or was forgotten; never both."""
    found = {
        ref
        for (ref,) in connection.exec_driver_sql(
            f"SELECT ref FROM texts WHERE ref {in_list_sql(connection)}",  # noqa: S608
            (list_parameter(connection, refs),),
        )
    }
    for ref, (stream, seq, id) in refs.items():
        forgotten = ref.encode() in erased
        if ref not in found and not forgotten:
            says = f"A text of event {seq} of {stream} is gone, and nobody asked to forget it."
            report.find("missing", stream, says, seq, id)
        if ref in found and forgotten:
            says = f"A text of event {seq} of {stream} was to be forgotten, and is there."
            report.find("missing", stream, says, seq, id)


# ---------------------------------------------------------------- heads and texts


def _check_heads(connection: Connection, report: _Report, prefix: str) -> None:
    left = dict(report.heads)
    span, names = _span_of_prefix(connection, "stream", prefix)
    query = f"SELECT stream, seq, hash FROM streams WHERE {span}"  # noqa: S608
    for stream, seq, hash in connection.exec_driver_sql(query, names):
        last = left.pop(stream, (0, GENESIS))
        if last != (seq, hash):
            says = f"The head of {stream} is at {seq}; its last event is {last[0]}"
            more = "." if last[0] != seq else ", with another hash."
            report.find("head", stream, says + more, seq)
    for stream, (seq, _) in left.items():
        report.find("head", stream, f"{stream} reaches {seq} and has no head.", seq)


def _check_texts(connection: Connection, report: _Report, prefix: str) -> None:
    one = sql_placeholder(connection)
    span, names = _span_of_prefix(connection, "stream", prefix)
    query = (
        f"SELECT ref, salt, text, event, stream FROM texts WHERE ref > CAST({one} AS TEXT) "  # noqa: S608
        f"AND {span} ORDER BY ref LIMIT {PAGE}"
    )
    for rows in _pages_of_rows(connection, query, ("",), *names):
        for ref, salt, stored, event, stream in rows:
            if ref.startswith(BLANK) and not str(stored).strip(" "):
                continue
            report.texts += 1
            try:
                right = salted_digest(unescape_stored_text(stored), bytes(salt)) == ref
            except (ValueError, TypeError, AttributeError):
                right = False
            if not right:
                says = f"A text that event {event} brought in is not what was digested."
                report.find("text", stream, says, id=event)


def _check_stray_texts(connection: Connection, report: _Report, prefix: str) -> None:
    """Texts whose event is not there, is of another stream, or does not hold them."""
    holds = "instr" if connection.dialect.name == "sqlite" else "strpos"
    span, names = _span_of_prefix(connection, "texts.stream", prefix)
    query = (
        "SELECT texts.ref, texts.event, texts.stream FROM texts "  # noqa: S608
        "LEFT JOIN events ON events.id = texts.event AND events.stream = texts.stream "
        f"WHERE (events.id IS NULL OR {holds}(events.body, '\"#' || texts.ref || '\"') = 0) "
        f"AND substr(texts.ref, 1, {len(BLANK)}) <> '{BLANK}' "
        f"AND {span} ORDER BY texts.ref LIMIT {MOST_FINDINGS}"
    )
    for ref, event, stream in connection.exec_driver_sql(query, names):
        says = f"The text {ref} says that event {event} of {stream} brought it in, which did not."
        report.find("stray", stream, says, id=event)


def _check_views(connection: Connection, report: _Report, views: Sequence[FoldedView]) -> None:
    """What was folded is what folding gives."""
    try:
        for view in differing_views(connection, views):
            says = (
                f"The view {view.name} is not what its events make it; `loopforge ledger rebuild`."
            )
            report.find("view", "", says)
    except (LedgerError, IntegrityError, ValueError, TypeError) as error:
        report.find("view", "", f"The views cannot be folded to be compared: {error}")
    for stream in damaged_snapshots(connection):
        report.find("view", stream, f"The snapshot of {stream} is damaged, and will not be used.")
