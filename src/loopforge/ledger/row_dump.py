"""The ledger's rows as lines of JSON, from either database, and back into either.

    {"table": "events", "columns": ["stream", "seq", ...]}
    ["room:commons", 1, ...]

A table's heading, then its rows, for one table after the other; bytes are base64. Left out is what
can be folded anew (views, snapshots), what is under way, and who is signed in. `verify_dump` needs
no database.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import LargeBinary, Table, inspect, select
from sqlalchemy.engine import Connection

from loopforge.core.events import GENESIS, chain_hash
from loopforge.core.text.erasable_text import salted_digest
from loopforge.errors import InputError, LedgerBroken
from loopforge.ledger.database.table_schema import (
    BLANK,
    accounts,
    events,
    invites,
    reads,
    spent,
    streams,
    texts,
)
from loopforge.ledger.storage.folded_views import FoldedView, refold_views
from loopforge.ledger.storage.row_codec import unescape_stored_text

DUMPED = {each.name: each for each in (events, texts, streams, accounts, invites, reads, spent)}
PAGE = 1000
"""Rows that are read or written at a time."""
Anchors = Mapping[str, tuple[int, str]]
"""The number and the hash of each stream's last event."""


def dump_rows(connection: Connection, write: Callable[[bytes], object]) -> None:
    """Write every row; the caller holds the database to one moment.

    Tables that an older schema has not are left out.
    """
    there = set(inspect(connection).get_table_names())
    for table in (each for name, each in DUMPED.items() if name in there):
        columns = [str(column.name) for column in table.columns]
        write(msgspec.json.encode({"table": str(table.name), "columns": columns}) + b"\n")
        query = select(table).order_by(*table.primary_key).execution_options(yield_per=PAGE)
        if table is texts:
            query = query.where(texts.c.ref.not_like(f"{BLANK}%"))
        for row in connection.execute(query):
            write(msgspec.json.encode(list(row)) + b"\n")


def load(connection: Connection, lines: Iterable[bytes], views: Sequence[FoldedView]) -> None:
    """Put the rows into an empty ledger, and fold its views; the caller commits.

    Raises InputError where events are there already, or rows that this program does not know.
    """
    if connection.execute(select(events.c.id).limit(1)).first() is not None:
        raise InputError("There is a ledger already; a backup goes into an empty one.")
    waiting: list[dict[str, Any]] = []
    of: Table | None = None
    for table, row in rows(lines):
        if of is not None and waiting and (table is not of or len(waiting) >= PAGE):
            connection.execute(of.insert(), waiting)
            waiting = []
        of = table
        waiting.append(row)
    if of is not None and waiting:
        connection.execute(of.insert(), waiting)
    refold_views(connection, views)


def rows(lines: Iterable[bytes]) -> Iterator[tuple[Table, dict[str, Any]]]:
    """Each row with its table. Raises InputError for what this program does not know."""
    table, columns, binary = events, list[str](), set[str]()
    for line in lines:
        try:
            found = msgspec.json.decode(line)
            if isinstance(found, dict):
                table, columns = DUMPED[found["table"]], found["columns"]
                binary = {c.name for c in table.columns if isinstance(c.type, LargeBinary)}
                known = {column.name for column in table.columns}
                if not known.issuperset(columns):
                    raise KeyError(*columns)
                continue
            row = dict(zip(columns, found, strict=True))
            yield table, {k: b64decode(v) if k in binary else v for k, v in row.items()}
        except (msgspec.DecodeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise InputError(
                "These rows are damaged, or a newer Loopforge wrote them: "
                f"{line[:80].decode(errors='replace')!r}."
            ) from error


def verify_dump(lines: Iterable[bytes]) -> Anchors:
    """Derive every hash and digest again; the heads. Raises LedgerBroken where one is another."""
    heads: dict[str, tuple[int, str]] = {}
    told: dict[str, tuple[int, str]] = {}
    for table, row in rows(lines):
        try:
            _check(table, row, heads, told)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise LedgerBroken(f"A row of {table.name} is no such row.") from error
    if heads != told:
        raise LedgerBroken("The heads of the streams are not their last events.")
    return heads


def _check(
    table: Table,
    row: Mapping[str, Any],
    heads: dict[str, tuple[int, str]],
    told: dict[str, tuple[int, str]],
) -> None:
    if table is events:
        before, previous = heads.get(row["stream"], (0, GENESIS))
        said = {name: row[name] for name in ("stream", "seq", "id", "at", "actor", "cause")}
        hash = chain_hash(previous, **said, body=row["body"].encode())
        if (row["seq"], row["hash"]) != (before + 1, hash):
            raise LedgerBroken(f"Event {row['seq']} of {row['stream']} is not what was hashed.")
        heads[row["stream"]] = (row["seq"], hash)
    elif (
        table is texts
        and salted_digest(unescape_stored_text(row["text"]), row["salt"]) != row["ref"]
    ):
        raise LedgerBroken(f"A text of event {row['event']} is not what was digested.")
    elif table is streams:
        told[row["stream"]] = (row["seq"], row["hash"])
