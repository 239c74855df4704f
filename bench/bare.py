"""The baselines of everything that writes: the same rows, with as little around them as can be.

`written` is plain sqlite3: the same rows and commits, without triggers, hashes, other indexes,
threads or SQLAlchemy. `appended` is the ledger alone: the same facts, appended in the same way.
"""

import asyncio
import sqlite3
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from loopforge.core.events import Body, Fact, from_epoch_micros
from loopforge.core.text.erasable_text import Words, set_words_ref, set_words_text
from loopforge.ledger.sql_ledger import open_ledger
from loopforge.ledger.storage.row_codec import collector, unescape_stored_text
from loopforge.runtime.system_clock import SystemClock, SystemDice

TABLES = """
CREATE TABLE events (stream TEXT, seq INTEGER, id TEXT, kind TEXT, at INTEGER, actor TEXT,
  cause TEXT, body TEXT, hash TEXT, PRIMARY KEY (stream, seq));
CREATE TABLE texts (ref TEXT PRIMARY KEY, salt BLOB, text TEXT, event TEXT, stream TEXT);
"""
EVENTS = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
TEXTS = "INSERT INTO texts VALUES (?, ?, ?, ?, ?)"


class Rows(NamedTuple):
    """The rows of one append."""

    events: Sequence[Sequence[Any]]
    texts: Sequence[Sequence[Any]]


class Book:
    """All rows of a ledger on SQLite, by event."""

    def __init__(self, path: Path) -> None:
        connection = sqlite3.connect(path)
        self._events = {row[2]: row for row in connection.execute("SELECT * FROM events")}
        self._texts: dict[str, list[Any]] = {}
        self._words: dict[str, tuple[str, str]] = {}
        for row in connection.execute("SELECT * FROM texts"):
            self._texts.setdefault(row[3], []).append(row)
            self._words[row[0]] = (row[3], unescape_stored_text(row[2]))
        connection.close()
        self._found: list[Words] = []
        self._decoder = msgspec.json.Decoder(Body, dec_hook=collector(self._found))

    def rows(self, ids: Sequence[str]) -> Rows:
        """The rows of the append of these events."""
        texts = [text for id in ids for text in self._texts.get(id, ())]
        return Rows([self._events[id] for id in ids], texts)

    def facts(self, ids: Sequence[str]) -> tuple[str, list[Fact]]:
        """The append of these events again, as it was before anything was stored."""
        facts = []
        for id in ids:
            _, _, _, _, at, actor, cause, body, _ = self._events[id]
            self._found.clear()
            read = self._decoder.decode(body)
            for words in self._found:
                owner, text = self._words[words.ref]
                set_words_text(words, text)
                if owner == id:
                    set_words_ref(words, "")
            facts.append(Fact(id=id, at=from_epoch_micros(at), actor=actor, cause=cause, body=read))
        return self._events[ids[0]][0], facts


def opened(path: Path) -> sqlite3.Connection:
    """An empty database with the ledger's journal settings."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.executescript(TABLES)
    return connection


def written(path: Path, groups: Iterable[Sequence[Rows]]) -> list[float]:
    """Insert and commit each append of each group; the seconds each group took."""
    connection = opened(path)
    taken = []
    for group in groups:
        began = time.perf_counter()
        for rows in group:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(EVENTS, rows.events)
            connection.executemany(TEXTS, rows.texts)
            connection.execute("COMMIT")
        taken.append(time.perf_counter() - began)
    connection.close()
    return taken


def appended(path: Path, groups: Sequence[Sequence[tuple[str, list[Fact]]]]) -> list[float]:
    """Append each append of each group to a ledger of its own; the seconds each group took."""

    async def work() -> list[float]:
        ledger = await open_ledger(f"sqlite:///{path}", SystemClock(), SystemDice())
        taken = []
        for group in groups:
            began = time.perf_counter()
            for stream, facts in group:
                await ledger.append(stream, facts)
            taken.append(time.perf_counter() - began)
        await ledger.close()
        return taken

    return asyncio.run(work())
