"""The database itself keeps events as they are, whoever comes with whatever client."""

import sqlite3
from pathlib import Path

import psycopg
import pytest

from tests.ledger.saying import ROOM, Scribbler, opened

EVENTS = "stream, seq, id, kind, at, actor, cause, body, hash"
TEXTS = "ref, salt, text, event, stream"
NEXT = "stream, seq + 2, 'new', kind, at, actor, cause, body, hash"

FORBIDDEN = [
    "UPDATE events SET body = '{}'",
    "UPDATE events SET hash = hash WHERE seq = 1",
    "DELETE FROM events",
    "DELETE FROM events WHERE seq = 2",
    "UPDATE texts SET text = 'other'",
]
FORBIDDEN_SQLITE = [
    *FORBIDDEN,
    "UPDATE OR IGNORE events SET body = '{}'",
    f"INSERT OR REPLACE INTO events SELECT {EVENTS} FROM events",
    "REPLACE INTO events SELECT stream, seq, 'new', kind, at, actor, cause, '{}', hash FROM events",
    "REPLACE INTO events SELECT stream, seq + 9, id, kind, at, actor, cause, '{}', hash FROM events",
    f"INSERT INTO events SELECT {EVENTS} FROM events WHERE true ON CONFLICT DO UPDATE SET body = '{{}}'",
    f"INSERT INTO events SELECT {NEXT} FROM events WHERE seq = 2",
    f"INSERT OR IGNORE INTO events SELECT {NEXT} FROM events WHERE seq = 2",
    "INSERT OR REPLACE INTO texts SELECT ref, salt, 'other', event, stream FROM texts",
]
FORBIDDEN_POSTGRES = [
    *FORBIDDEN,
    "TRUNCATE events",
    "TRUNCATE events CASCADE",
    "TRUNCATE texts",
    f"INSERT INTO events SELECT {EVENTS} FROM events ON CONFLICT (id) DO UPDATE SET body = '{{}}'",
    "MERGE INTO events USING (SELECT 1) x ON true WHEN MATCHED THEN DELETE",
    "MERGE INTO events USING (SELECT 1) x ON true WHEN MATCHED THEN UPDATE SET body = '{}'",
]


async def _two_events(url: str) -> None:
    scribbler = Scribbler()
    async with opened(url) as ledger:
        await ledger.append(ROOM, [scribbler.heard("one"), scribbler.heard("two")])


@pytest.mark.parametrize("recursive", ["ON", "OFF"])
async def test_sqlite_refuses(tmp_path: Path, recursive: str) -> None:
    """A plain sqlite3 connection, with or without recursive triggers, changes no event or text."""
    file = tmp_path / "ledger.db"
    await _two_events(f"sqlite:///{file}")
    plain = sqlite3.connect(file)
    plain.execute(f"PRAGMA recursive_triggers = {recursive}")
    before = list(plain.iterdump())
    for statement in FORBIDDEN_SQLITE:
        with pytest.raises(sqlite3.IntegrityError, match=r"append-only|written once"):
            plain.execute(statement)
        plain.rollback()
    assert list(plain.iterdump()) == before
    assert plain.execute("DELETE FROM texts").rowcount == 2
    plain.close()


@pytest.mark.postgres
@pytest.mark.parametrize("role", ["origin", "replica"])
async def test_postgres_refuses(postgres_url: str, role: str) -> None:
    """A plain psycopg connection, also one that plays a replica, changes no event or text."""
    await _two_events(postgres_url)
    with psycopg.connect(postgres_url, autocommit=True) as plain:
        plain.execute(f"SET session_replication_role = {role}")
        for statement in FORBIDDEN_POSTGRES:
            with pytest.raises(psycopg.errors.RestrictViolation, match=r"append-only|written once"):
                plain.execute(statement.encode())
        assert plain.execute("SELECT count(*) FROM events").fetchone() == (2,)
        assert plain.execute("DELETE FROM texts").rowcount == 2
