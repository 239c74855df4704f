"""Which process is the host of a ledger on PostgreSQL, and that another writes nothing more.

A host holds an advisory lock on a connection of its own: when it dies, or the connection does, the
lock is free, and also where the server was asked nothing over it for as long as its LEASE. Whoever
takes it draws a number, and each of its transactions looks whether that is still the last: a host
that was frozen until its lock was lost, and wakes when another has taken over, writes nothing more,
and is told so when it asks (`overtaken`). Where nobody has, as when the server was restarted, it
takes the lock again, so that another is still refused. On SQLite the home's file lock does this
(host_lock.py), and nothing happens here.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from contextlib import suppress
from functools import partial

from sqlalchemy import event
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from loopforge.errors import HostElsewhere, HostTaken, Overtaken
from loopforge.ledger.database.database_engine import DatabaseEngines
from loopforge.ledger.database.database_faults import translating_faults

LEASE = 60.0
"""Seconds: one that is frozen, or behind a proxy that does not tell of its end, holds no longer."""
LEASED = """
    SELECT set_config('idle_session_timeout', %s, false) FROM pg_settings
    WHERE name = 'idle_session_timeout'"""
"""Of servers from 14 on; older ones hold it as long as the connection lasts."""
DRAWN = "SELECT setval('{0}', nextval('{0}'))"
"""The next number, logged as it is: after a crash `nextval` alone has gone on by up to 32."""


class HostClaim:
    """The right to be the host, held until `release`."""

    def __init__(
        self,
        name: str,
        connection: Connection | None = None,
        fence: ClaimFence | None = None,
    ) -> None:
        self.name, self._connection, self._fence = name, connection, fence
        self._looking = threading.Lock()

    async def held(self) -> bool:
        """Whether it is still held; a lost connection to PostgreSQL loses it."""
        return await asyncio.to_thread(self._held)

    async def overtaken(self) -> HostTaken | None:
        """That another process has taken over, where one has; as far as the database is reached.

        Where nobody has, and it was lost, it is taken again.
        """
        return None if self._fence is None else await asyncio.to_thread(self._look, self._fence)

    def _held(self) -> bool:
        if self._connection is None:
            return True
        try:
            self._connection.exec_driver_sql("SELECT 1")
        except SQLAlchemyError:
            return False
        return True

    def _look(self, fence: ClaimFence) -> HostTaken | None:
        with self._looking:
            taken = fence.look()
            if taken is None and not self._held() and (found := fence.lock()) is not None:
                lost, self._connection = self._connection, found
                if lost is not None:
                    _let_go(lost)
            return taken

    async def release(self) -> None:
        """Let it go."""
        if self._fence is not None:
            self._fence.remove()
        await asyncio.to_thread(self._release)

    def _release(self) -> None:
        with self._looking:
            connection, self._connection = self._connection, None
        if connection is not None:
            _unlock(connection)


def _unlock(connection: Connection) -> None:
    """Let the lock go while the server listens: it notices late that a connection was closed."""
    with suppress(SQLAlchemyError):
        connection.exec_driver_sql("SELECT pg_advisory_unlock_all()")
    _let_go(connection)


def _let_go(connection: Connection) -> None:
    connection.invalidate()
    connection.close()


async def claim_host(store: DatabaseEngines, name: str) -> HostClaim:
    """Become the host of that name. Raises HostTaken when another process is."""
    if store.sqlite:
        return HostClaim(name)
    connection, number = await asyncio.to_thread(partial(_lock, store, name))
    return HostClaim(name, connection, ClaimFence(store, name, number))


def is_host_claimed(connection: Connection, name: str) -> bool:
    """Whether a process on whatever machine holds that name; False on SQLite, which cannot tell."""
    if connection.dialect.name == "sqlite":
        return False
    held = (
        "SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database "
        "WHERE datname = current_database() AND locktype = 'advisory' AND granted "
        "AND ((classid::bigint << 32) | objid::bigint) = %s"
    )
    return connection.exec_driver_sql(held, (_key(name),)).first() is not None


def _key(name: str) -> int:
    digest = hashlib.sha256(f"loopforge:{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _numbers(name: str) -> str:
    """The sequence of whom this name was given to."""
    return f"loopforge_claims_{hashlib.sha256(name.encode()).hexdigest()[:16]}"


class ClaimFence:
    """Has nothing written once the name was given to another, until it is removed."""

    def __init__(self, store: DatabaseEngines, name: str, number: int) -> None:
        self._store, self._name, self._number = store, name, number
        event.listen(store.writer, "begin", self._keep)

    def remove(self) -> None:
        """Look no more at what is written."""
        event.remove(self._store.writer, "begin", self._keep)

    def lock(self) -> Connection | None:
        """A connection that holds the lock of the name, which still is of this number, if it can.

        Whoever has the lock now, and draws a number next, is found by the next look.
        """
        with suppress(SQLAlchemyError):
            connection, got = _locking(self._store, self._name)
            if got:
                return connection
            _let_go(connection)
        return None

    def look(self) -> HostTaken | None:
        """What to tell whoever holds it no more; None while it is held, or nobody can tell."""
        try:
            with self._store.reader.connect() as connection:
                self._keep(connection)
        except HostTaken as taken:
            return taken
        except SQLAlchemyError:
            return None
        return None

    def _keep(self, connection: Connection) -> None:
        last = f"SELECT last_value FROM {_numbers(self._name)}"  # noqa: S608
        if connection.exec_driver_sql(last).scalar_one() != self._number:
            raise Overtaken(
                "Another process has taken over this ledger while this one could not be reached. "
                "It writes nothing more, and ends."
            )


def _lock(store: DatabaseEngines, name: str) -> tuple[Connection, int]:
    with translating_faults(store.url):
        connection, got = _locking(store, name)
        if got:
            try:
                numbers = _numbers(name)
                connection.exec_driver_sql(f"CREATE SEQUENCE IF NOT EXISTS {numbers}")
                drawn = connection.exec_driver_sql(DRAWN.format(numbers))
                return connection, drawn.scalar_one()
            except BaseException:
                _let_go(connection)
                raise
    _let_go(connection)
    raise HostElsewhere(
        "Another process runs this ledger already, in another home or on another machine. Stop it "
        "first, or use it."
    )


def _locking(store: DatabaseEngines, name: str) -> tuple[Connection, bool]:
    """A connection of its own, and whether it holds the lock of that name now."""
    connection = store.reader.connect()
    try:
        connection.exec_driver_sql(LEASED, (f"{round(LEASE * 1000)}",)).all()
        got = connection.exec_driver_sql(
            "SELECT pg_try_advisory_lock(%s)", (_key(name),)
        ).scalar_one()
    except BaseException:
        _let_go(connection)
        raise
    return connection, bool(got)
