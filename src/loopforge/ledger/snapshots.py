"""Snapshots: the folded state of a stream as it was at some event, so that a start is quick.

A snapshot is JSON with references for private words, never their texts. It may be lost at any
time; an erasure drops those of the streams it touches.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.engine import Connection

from loopforge.ledger.rows import listed, mark, within


def save(connection: Connection, stream: str, seq: int, version: int, body: bytes) -> None:
    """Keep a state in place of the stream's last one, unless that one is newer."""
    one = mark(connection)
    connection.exec_driver_sql(
        f"INSERT INTO snapshots (stream, seq, version, body) VALUES ({one}, {one}, {one}, {one}) "  # noqa: S608
        "ON CONFLICT (stream) DO UPDATE SET seq = excluded.seq, version = excluded.version, "
        "body = excluded.body WHERE snapshots.version <> excluded.version "
        "OR snapshots.seq < excluded.seq",
        (stream, seq, version, body.decode()),
    )


def load(connection: Connection, stream: str, version: int) -> tuple[int, bytes] | None:
    """The last state kept and its `seq`; None if there is none of this version."""
    one = mark(connection)
    row = connection.exec_driver_sql(
        f"SELECT seq, body FROM snapshots WHERE stream = {one} AND version = {one}",  # noqa: S608
        (stream, version),
    ).one_or_none()
    return None if row is None else (row[0], row[1].encode())


def drop(connection: Connection, streams: Iterable[str]) -> None:
    """Let the states of these streams go."""
    connection.exec_driver_sql(
        f"DELETE FROM snapshots WHERE stream {within(connection)}",  # noqa: S608
        (listed(connection, streams),),
    )
