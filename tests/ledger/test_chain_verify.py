"""Verifying finds one flipped bit anywhere, in what SQL shows and in the file itself."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, reject, settings
from hypothesis import strategies as st
from psycopg import sql

from loopforge.errors import LedgerBroken
from loopforge.ledger import chain_verify
from loopforge.ledger.database.database_engine import create_engines, parse_database_url
from loopforge.ledger.database.database_faults import translating_faults
from loopforge.ledger.storage.pending_work import DeliveryOutbox
from tests.examples import few
from tests.ledger.contract.test_verify import fill
from tests.ledger.saying import ROOM, opened

COLUMNS = {
    "events": ("stream", "seq", "id", "kind", "at", "actor", "cause", "body", "hash"),
    "texts": ("ref", "salt", "text", "event", "stream"),
    "streams": ("stream", "seq", "hash"),
    "deliveries": ("delivery", "stream", "surface", "of", "what", "state", "attempts"),
    "snapshots": ("stream", "seq", "version", "body"),
}
PLACES = [(table, column) for table, columns in COLUMNS.items() for column in columns]
FLIPS = settings(
    max_examples=few(45),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


async def _made(url: str) -> None:
    async with opened(url) as ledger:
        await fill(ledger)
        await ledger.save_snapshot(ROOM, 3, 1, b'{"title":"Garden"}')


def found_wrong(url: str) -> bool:
    """Whether verifying finds something besides triggers; an unreadable file is found damaged."""
    store = create_engines(parse_database_url(url))
    try:
        with translating_faults(store.url), store.reader.connect() as connection:
            found = chain_verify.verify(connection, views=[DeliveryOutbox()]).findings
            return any(each.trouble != "trigger" for each in found)
    except LedgerBroken:
        return True
    finally:
        store.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger in a file, with its log folded in, its triggers gone."""
    file = tmp_path_factory.mktemp("made") / "ledger.db"
    asyncio.run(_made(f"sqlite:///{file}"))
    with closing(sqlite3.connect(file)) as plain:
        for (name,) in plain.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            plain.execute(f"DROP TRIGGER {name}")
        plain.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file


def flipped(value: Any, at: int, bit: int) -> Any:
    """The value with one bit changed."""
    if isinstance(value, int):
        return value ^ 1 << at % 50
    stored = bytearray(value.encode() if isinstance(value, str) else value)
    stored[at % len(stored)] ^= 1 << bit
    return bytes(stored)


@FLIPS
@given(st.sampled_from(PLACES), st.integers(0, 5), st.integers(0, 500), st.integers(0, 7))
@example(("events", "cause"), 0, 0, 0)
@example(("snapshots", "body"), 0, 64, 7).via("a kept state that is no UTF-8 any more")
def test_a_flipped_bit_is_found_in_sqlite(
    made: Path, tmp_path: Path, where: tuple[str, str], row: int, at: int, bit: int
) -> None:
    """One bit of any column of any event, text, head, view or snapshot, changed behind the triggers, is found."""
    table, column = where
    file = tmp_path / "copy.db"
    shutil.copy(made, file)
    with closing(sqlite3.connect(file)) as plain:
        rows = plain.execute(f"SELECT rowid, {column} FROM {table} ORDER BY rowid").fetchall()
        rowid, value = rows[row % len(rows)]
        if value == "":
            value = "x"  # an empty cause: something is put there instead
        kind = "INTEGER" if isinstance(value, int) else "TEXT" if column != "salt" else "BLOB"
        change = f"UPDATE {table} SET {column} = CAST(? AS {kind}) WHERE rowid = ?"
        try:
            plain.execute(change, (flipped(value, at, bit), rowid))
        except sqlite3.IntegrityError:
            reject()  # two events of one number are more than even this connection can make
        plain.commit()
    assert found_wrong(f"sqlite:///{file}")


def test_a_kept_state_that_is_bytes_is_found(made: Path, tmp_path: Path) -> None:
    """It was an error of the program."""
    file = tmp_path / "copy.db"
    shutil.copy(made, file)
    with closing(sqlite3.connect(file)) as plain:
        plain.execute("UPDATE snapshots SET body = CAST(body AS BLOB)")
        plain.commit()
    assert found_wrong(f"sqlite:///{file}")


@pytest.fixture
def guarded(postgres_url: str) -> str:
    """A ledger in PostgreSQL."""
    asyncio.run(_made(postgres_url))
    return postgres_url


@pytest.mark.postgres
@settings(FLIPS, max_examples=few(18))
@given(st.sampled_from(PLACES), st.integers(0, 5), st.integers(0, 500), st.integers(0, 6))
def test_a_flipped_bit_is_found_in_postgres(
    guarded: str, where: tuple[str, str], row: int, at: int, bit: int
) -> None:
    """One bit of any column of any event, text, head, view or snapshot, changed behind the triggers, is found."""
    table, column = (sql.Identifier(name) for name in where)
    with psycopg.connect(guarded, autocommit=True) as plain:
        if where[0] in {"events", "texts"}:
            plain.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(table))
        rows = plain.execute(
            sql.SQL("SELECT {}, to_jsonb(t)::text FROM {} t ORDER BY 2").format(column, table)
        ).fetchall()
        value, key = rows[row % len(rows)]
        changed = flipped("x" if value == "" else value, at, bit)
        if isinstance(value, str):
            changed = changed.decode("utf-8", "replace").replace("\x00", "\x02")
        change = sql.SQL(
            "UPDATE {} t SET {} = %s WHERE to_jsonb(t)::text = %s RETURNING t.ctid::text"
        ).format(table, column)
        try:
            ((place,),) = plain.execute(change, (changed, key)).fetchall()
        except psycopg.errors.UniqueViolation:
            reject()
        assert found_wrong(guarded)
        back = sql.SQL("UPDATE {} SET {} = %s WHERE ctid = %s::tid").format(table, column)
        plain.execute(back, (value, place))
    assert not found_wrong(guarded)


@FLIPS
@given(st.data())
def test_a_flipped_bit_is_found_in_the_file(
    made: Path, tmp_path: Path, data: st.DataObject
) -> None:
    """One bit changed in the file itself, wherever something is stored, is found."""
    raw = bytearray(made.read_bytes())
    with closing(sqlite3.connect(made)) as plain:
        stored = [
            str(value).encode()
            for table, column in PLACES
            if column not in {"seq", "at", "salt", "cause", "attempts", "version"}
            for (value,) in plain.execute(f"SELECT {column} FROM {table}")
        ]
    cell = data.draw(st.sampled_from(stored))
    begin = data.draw(st.sampled_from(_places(bytes(raw), cell)))
    raw[begin + data.draw(st.integers(0, len(cell) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    file = tmp_path / "copy.db"
    file.write_bytes(raw)
    if _read(file) == _read(made):
        reject()  # the bytes of an old copy, of the index of search, or of a name: nothing is another
    assert found_wrong(f"sqlite:///{file}")


def _read(file: Path) -> object:
    """What is stored, as a database gives it back, and whether it is whole; else its trouble."""
    with closing(sqlite3.connect(file)) as plain:
        plain.text_factory = bytes
        try:
            kept = [plain.execute(f"SELECT {column} FROM {table}").fetchall()
                    for table, column in PLACES]  # fmt: skip
            return kept, plain.execute("PRAGMA integrity_check").fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:  # a name of a column is text, always
            return str(error)


def _places(raw: bytes, cell: bytes) -> list[int]:
    found, at = list[int](), raw.find(cell)
    while at >= 0:
        found.append(at)
        at = raw.find(cell, at + 1)
    return found
