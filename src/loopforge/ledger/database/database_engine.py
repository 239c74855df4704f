"""Two SQLAlchemy engines for one ledger: one to write with, one to read with.

Both are synchronous and are driven from threads (docs/decisions/0004-one-writer-thread.md). The
writing engine has a single connection and begins each transaction with the write lock in hand; the
reading one commits by itself, and on SQLite may not write at all.

`FileIdentity` says whether SQLite's file is still the one that was opened: who deletes, moves or
replaces it under a running program leaves the program with a file that has no name; what it wrote
would be lost with its end.

Knows both dialects' settings; knows nothing of events.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from sqlalchemy import create_engine, event
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import URL, Engine, ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import QueuePool

from loopforge.errors import LedgerError, LedgerRewound
from loopforge.ledger.database.database_faults import READ_ONLY_STATE
from loopforge.runtime.installation.extras import require_extra

if TYPE_CHECKING:
    from loopforge.ledger.database.liveness_probe import ProbedConnection, ReachBreaker, Session

Durability = Literal["normal", "full"]

IMMEDIATE = "sqlite.immediate"
READERS = 4
"""Threads that read, each with a connection of its own."""

CHECKPOINT_EVENTS = 500
"""Events after which SQLite's write-ahead log is folded into the file, beside the writing."""

AUTOCHECKPOINT_PAGES = 16_000
"""Should that not keep up, SQLite folds the log in within a commit from here on (64 MB)."""

PROBED = {
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
"""How PostgreSQL's client finds out within half a minute that packets go unanswered; what the URL
says goes before."""

SERVER_PROBES = {
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "30000",
    "idle_in_transaction_session_timeout": "60000",
}
"""How the server does, which holds a host's lock until then; and how long a program that was frozen
amid a transaction may keep rows locked (ms)."""


class DatabaseEngines(Struct, frozen=True, kw_only=True):
    """A ledger's engines."""

    url: URL
    writer: Engine
    reader: Engine

    @property
    def sqlite(self) -> bool:
        """Whether this is a file of ours; otherwise it is PostgreSQL."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def log(self) -> Path:
        """SQLite's write-ahead log."""
        return Path(f"{self.url.database}-wal")

    def close(self) -> None:
        """Let every connection go."""
        self.writer.dispose()
        self.reader.dispose()


def parse_database_url(url: str) -> URL:
    """The URL with the driver we use.

    Raises LedgerError for anything but the two dialects, NotInstalled where a driver is missing.
    """
    try:
        found = make_url(_one_of_several(url))
    except (ArgumentError, ValueError) as error:  # the latter for a port that is no number
        raise LedgerError(
            "`database_url` is no URL; it looks like sqlite:////path/loopforge.db or "
            "postgresql://user@host:5432/name."
        ) from error
    kind = found.drivername.partition("+")[0]
    if kind in {"postgres", "postgresql"}:
        require_extra("postgres", "A ledger on PostgreSQL needs")
        return found.set(drivername="postgresql+psycopg")
    if kind != "sqlite":
        raise LedgerError(f"`database_url` names {kind!r}; the ledger knows sqlite and postgresql.")
    if not found.database or ":memory:" in found.database or found.database.startswith("file:"):
        raise LedgerError("`database_url` names no file; the ledger outlives the program.")
    return URL.create("sqlite+pysqlite", database=found.database)


def _one_of_several(url: str) -> str:
    """With hosts as a query, what PostgreSQL's own programs take: `user@one:5432,two:5432/name`."""
    found = re.fullmatch(r"(\w+(?:\+\w+)?://(?:[^@/]*@)?)([^/?]*,[^/?]*)(/[^?]*)?(?:\?(.*))?", url)
    if found is None:
        return url
    before, several, path, rest = found.groups()
    places = [re.fullmatch(r"(\[[^]]*\]|[^:]*)(?::(\d+))?", each) for each in several.split(",")]
    if not all(places):
        return url
    hosts = ",".join(each[1].strip("[]") for each in places if each)
    ports = ",".join(each[2] or "5432" for each in places if each)
    return f"{before}{path or '/'}?host={hosts}&port={ports}{f'&{rest}' if rest else ''}"


def create_engines(
    url: URL,
    *,
    durability: Durability = "normal",
    patience: float = 5.0,
    max_pages: int | None = None,
) -> DatabaseEngines:
    """Prepare the engines; nothing is opened yet.

    `patience` is how many seconds to wait for a lock. `max_pages` bounds the SQLite file, in pages
    of 4096 bytes; what does not fit raises LedgerFull.
    """
    if url.get_backend_name() == "sqlite":
        return _sqlite(url, durability, patience, max_pages)
    return _postgres(url, patience)


def _pool(size: int) -> dict[str, Any]:
    # hide_parameters: SQLAlchemy's errors would else carry private texts into logs
    return {
        "hide_parameters": True,
        "poolclass": QueuePool,
        "pool_size": size,
        "max_overflow": 2,
        "pool_timeout": 60,
    }


def _sqlite(
    url: URL, durability: Durability, patience: float, max_pages: int | None
) -> DatabaseEngines:
    arguments: dict[str, Any] = {
        "isolation_level": None,
        "timeout": patience,
        "check_same_thread": False,
    }
    registry.register(IMMEDIATE, __name__, ImmediateDialect.__name__)
    immediate = url.set(drivername=IMMEDIATE.replace(".", "+"))
    path = Path(str(url.database))

    def opened() -> sqlite3.Connection:
        _close_off(path)
        connection: sqlite3.Connection = sqlite3.connect(path, **arguments)
        return connection

    writer = create_engine(immediate, creator=opened, **_pool(1))
    reader = create_engine(
        url, connect_args=arguments, isolation_level="AUTOCOMMIT", **_pool(READERS)
    )
    shared = ("foreign_keys=ON", "recursive_triggers=ON", "secure_delete=ON", "temp_store=MEMORY")
    writing = (
        *shared,
        "journal_mode=WAL",
        f"synchronous={durability.upper()}",
        f"wal_autocheckpoint={AUTOCHECKPOINT_PAGES}",
    )
    _pragmas(writer, (*writing, *([f"max_page_count={max_pages}"] if max_pages else [])))
    _pragmas(reader, (*shared, f"synchronous={durability.upper()}", "query_only=ON"))
    return DatabaseEngines(url=url, writer=writer, reader=reader)


class ImmediateDialect(SQLiteDialect_pysqlite):
    """SQLite, each of whose transactions begins with the write lock in hand.

    (Said here and not by a listener: an engine that has one looks for more at every statement.)
    """

    supports_statement_cache = True

    def do_begin(self, dbapi_connection: Any) -> None:
        """Begin."""
        dbapi_connection.execute("BEGIN IMMEDIATE")


def _close_off(path: Path) -> None:
    """Let nobody but its owner read the file, from the moment SQLite would make it."""
    with suppress(OSError):  # then SQLite says itself what is wrong
        path.touch(0o600)
        path.chmod(0o600)


def _pragmas(engine: Engine, pragmas: tuple[str, ...]) -> None:
    @event.listens_for(engine, "connect")
    def settle(dbapi: sqlite3.Connection, _record: object) -> None:
        for pragma in pragmas:
            dbapi.execute(f"PRAGMA {pragma}")


def _postgres(url: URL, patience: float) -> DatabaseEngines:
    from loopforge.ledger.database.liveness_probe import ReachBreaker

    known = {**PROBED, "connect_timeout": str(max(2, round(patience)))}
    given = {k: v for k, v in known.items() if k not in url.query}
    url = url.update_query_dict({**given, "client_encoding": "utf8"})
    writer = create_engine(url, **_pool(1))
    reader = create_engine(url, isolation_level="AUTOCOMMIT", **_pool(READERS))
    breaker = ReachBreaker()
    for engine in (writer, reader):
        _session(engine, patience, breaker)
    _leave_standby(writer, reader)
    return DatabaseEngines(url=url, writer=writer, reader=reader)


def _leave_standby(writer: Engine, reader: Engine) -> None:
    """Ask for the server anew once a session may only read: another one may be the primary now."""

    @event.listens_for(writer, "handle_error")
    def leave(context: ExceptionContext) -> None:
        if getattr(context.original_exception, "sqlstate", "") == READ_ONLY_STATE:
            context.is_disconnect = True
            reader.dispose()


def _session(engine: Engine, patience: float, breaker: ReachBreaker) -> None:
    settings = {**SERVER_PROBES, "lock_timeout": f"{round(patience * 1000)}"}
    wanted = "; ".join(f"SET {name} = {value}" for name, value in settings.items())
    broken: set[Session] = set()

    @event.listens_for(engine, "do_connect")
    def reach(_dialect: object, _record: object, given: list[Any], named: dict[str, Any]) -> object:
        return breaker.connect(given, named)

    @event.listens_for(engine, "connect")
    def settle(dbapi: ProbedConnection, _record: object) -> None:
        was = dbapi.autocommit
        dbapi.autocommit = True
        try:
            dbapi.meet()
        except BaseException:
            dbapi.close()
            raise
        dbapi.execute(wanted.encode())
        for session in tuple(broken):
            dbapi.end(session)
            broken.discard(session)
        dbapi.autocommit = was

    @event.listens_for(engine, "invalidate")
    def outlive(dbapi: ProbedConnection, _record: object, _why: object) -> None:
        """The server may not know of it: what it would still commit, or has locked, must not be."""
        if dbapi.session is not None:
            broken.add(dbapi.session)


# ---------------------------------------------------------------- file identity


OTHER = (
    "The file of the ledger, {path}, was deleted, moved or replaced while this process had it "
    "open, so nothing was written, and the process ends. What was said so far is in the file that "
    "was there: put it back if it was moved, or leave what is there now, and start again."
)


class FileIdentity:
    """The file that was there when this was made, or when it was first checked."""

    def __init__(self, store: DatabaseEngines) -> None:
        self._path = Path(str(store.url.database)) if store.sqlite else None
        self._opened = self._now()

    def check(self) -> None:
        """Raises LedgerRewound where another file is there now, or none."""
        now = self._now()
        self._opened = self._opened or now
        if now != self._opened:
            raise LedgerRewound(OTHER.format(path=self._path))

    def _now(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat() if self._path else None
        except OSError:
            return None
        return (found.st_dev, found.st_ino) if found else None
