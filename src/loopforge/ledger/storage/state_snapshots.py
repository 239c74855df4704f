"""Snapshots: the folded state of a stream as it was at some event, so that a start is quick.

A snapshot is JSON with references for private words, never their texts. It may be lost at any
time; an erasure drops those of the streams it touches. It is kept behind a digest of itself: a
damaged one is not used, and none of an event that the stream has not: a database may be put back to
an earlier time under a process that goes by a later one.
"""

import hashlib
from collections.abc import Iterable

from sqlalchemy.engine import Connection

from loopforge.ledger.storage.row_codec import in_list_sql, list_parameter, sql_placeholder

_DIGITS = 64


def _sealed(stream: str, seq: int, version: int, body: str) -> str:
    whole = f"{stream}\x1f{seq}\x1f{version}\x1e{body}"
    seal = hashlib.sha256(whole.encode("utf-8", "surrogateescape"))  # it may be damaged
    return seal.hexdigest() + body


def save(connection: Connection, stream: str, seq: int, version: int, body: bytes) -> None:
    """Keep a state in place of the last one, unless that one is newer and of this stream."""
    one = sql_placeholder(connection)
    head = connection.exec_driver_sql(
        f"SELECT seq FROM streams WHERE stream = {one}",  # noqa: S608
        (stream,),
    ).scalar_one_or_none()
    if seq > (head or 0):
        return
    connection.exec_driver_sql(
        f"INSERT INTO snapshots (stream, seq, version, body) VALUES ({one}, {one}, {one}, {one}) "  # noqa: S608
        "ON CONFLICT (stream) DO UPDATE SET seq = excluded.seq, version = excluded.version, "
        "body = excluded.body WHERE snapshots.version <> excluded.version "
        f"OR snapshots.seq < excluded.seq OR snapshots.seq > {one}",
        (stream, seq, version, _sealed(stream, seq, version, body.decode()), head),
    )


def load(connection: Connection, stream: str, version: int) -> tuple[int, bytes] | None:
    """The last state kept and its `seq`; None if there is none of this version and stream."""
    one = sql_placeholder(connection)
    row = connection.exec_driver_sql(
        "SELECT seq, body FROM snapshots WHERE seq <= "  # noqa: S608
        "(SELECT seq FROM streams WHERE streams.stream = snapshots.stream) "
        f"AND stream = {one} AND version = {one}",
        (stream, version),
    ).one_or_none()
    if row is None or not isinstance(row[1], str):
        return None
    if row[1] != _sealed(stream, row[0], version, row[1][_DIGITS:]):
        return None
    return row[0], row[1][_DIGITS:].encode()


def damaged_snapshots(connection: Connection) -> list[str]:
    """The streams whose snapshot is not as it was kept."""
    kept = connection.exec_driver_sql("SELECT stream, version FROM snapshots").all()
    return [
        stream
        for stream, version in kept
        if not stream.isprintable() or load(connection, stream, version) is None
    ]


def drop(connection: Connection, streams: Iterable[str]) -> None:
    """Let the states of these streams go."""
    connection.exec_driver_sql(
        f"DELETE FROM snapshots WHERE stream {in_list_sql(connection)}",  # noqa: S608
        (list_parameter(connection, streams),),
    )
