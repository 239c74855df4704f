"""Connections to PostgreSQL that notice when nobody is at the other end any more.

A network that is lost silently, or a proxy that forwards nothing but keeps its sockets open, tells
nobody. TCP's own probes (database_engine.py) find out where packets go unanswered; here it is asked
at a connection of its own whether the server still works on what was asked. So what takes long is
waited for, however long, and an answer that will never come is not.

Needs psycopg, and is loaded where there is a PostgreSQL. Does not know what is asked for.
"""

import os
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from datetime import datetime
from typing import Any, Self, TypeVar

import psycopg
from psycopg.abc import PQGen

R = TypeVar("R")
QUIET = 10.0
"""Seconds without a byte after which is looked."""
GLANCE = 0.5
"""Seconds for which a thread waits whether another reaches a server that was not reached last."""
Session = tuple[int, datetime]
"""One of the server's: the number of its process, and when it began."""
OWN = "SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()"
END = """
    SELECT pg_terminate_backend(pid{patience}) FROM pg_stat_activity
    WHERE (pid, backend_start) = (%s, %s)"""
RECYCLED = " AND state <> 'idle' AND pid <> pg_backend_pid()"
"""A pooler may have lent the session on; only what is amid a transaction is in the way."""
PATIENT = 140000
"""From this version on a server waits for it, so many milliseconds at most."""
BUSY = """
    SELECT coalesce(state NOT LIKE 'idle%%' AND wait_event_type IS DISTINCT FROM 'Client'
                    OR clock_timestamp() - state_change < make_interval(secs => %s), true)
    FROM pg_stat_activity WHERE (pid, backend_start) = (%s, %s)"""
"""Whether a session has something to do, or had just now; true where we may not know."""
REFUSED = "FATAL"
"""How a server begins to say why it lets nobody in. (PQping would tell, but it keeps the GIL.)"""


class SessionLent(psycopg.OperationalError):
    """A pooler in between gives the session to others, too, while this connection is there."""


class ImpatientConnection(psycopg.Connection[Any]):
    """A connection that breaks where nothing comes for so long."""

    quiet = QUIET

    def wait(self, gen: PQGen[R], interval: float = 0.0, *more: Any, **named: Any) -> R:
        """Consume the generator; raise OperationalError where what it waits for will not come."""
        return super().wait(self._heard(gen), interval or self.quiet, *more, **named)

    def _heard(self, gen: PQGen[R]) -> PQGen[R]:
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and not self._worked_on():
                    self._hang_up()
                wanted = gen.send(ready)
        except StopIteration as end:
            result: R = end.value
            return result

    def _worked_on(self) -> bool:
        return False

    def _hang_up(self) -> None:
        """Let libpq read an end: it knows what to do about that."""
        with suppress(OSError), closing(socket.socket(fileno=os.dup(self.fileno()))) as line:
            line.shutdown(socket.SHUT_RDWR)


class ProbedConnection(ImpatientConnection):
    """A connection that is waited at as long as the server works on what was asked."""

    session: Session | None = None
    pooled = False
    another: Callable[[], ImpatientConnection] | None = None

    @classmethod
    def reach(cls, given: Sequence[Any], named: dict[str, Any]) -> Self:
        """Connect, with what psycopg is given for that."""
        found = cls.connect(*given, **named)
        place = {"host": found.info.host, "port": found.info.port, "autocommit": True}
        found.another = lambda: ImpatientConnection.connect(*given, **{**named, **place})
        return found

    def meet(self) -> None:
        """Ask for the session; a pooler in between would tell of another by itself.

        Raises SessionLent.
        """
        self.session = self.execute(OWN).fetchone()
        self.pooled = self.session is not None and self.session[0] != self.info.backend_pid
        if self.pooled and self._lent():
            raise SessionLent

    def _lent(self) -> bool:
        """Whether a second connection is given this session, or keeps it away from this one."""
        assert self.another is not None
        with closing(self.another()) as other, other.transaction():
            given = other.execute(OWN).fetchone()
            return given == self.session or self.execute(OWN).fetchone() != self.session

    def end(self, session: Session) -> None:
        """Have the server end another session, and wait for that."""
        patience = ", 5000" if self.info.server_version >= PATIENT else ""
        ended = END.format(patience=patience) + (RECYCLED if self.pooled else "")
        self.execute(ended.encode(), session)

    def _worked_on(self) -> bool:
        if self.another is None or self.session is None:
            return False  # it begins, and nothing was asked yet that takes long
        try:
            with closing(self.another()) as other:
                row = other.execute(BUSY, (self.quiet / 2, *self.session)).fetchone()
        except psycopg.OperationalError as error:
            return REFUSED in str(error)
        return row is not None and bool(row[0])


class ReachBreaker:
    """Lets one thread at a time reach for a server that was not reached last.

    Else whoever asks would wait behind all others, each of whom finds out for itself.
    """

    def __init__(self) -> None:
        self._trying = threading.Lock()
        self._error: psycopg.OperationalError | None = None

    def connect(self, given: Sequence[Any], named: dict[str, Any]) -> ProbedConnection:
        """Connect, or raise why another thread just could not."""
        error = self._error
        if error is None:
            return self._try(given, named)
        if not self._trying.acquire(timeout=GLANCE):
            raise psycopg.OperationalError(str(error))
        try:
            return self._try(given, named)
        finally:
            self._trying.release()

    def _try(self, given: Sequence[Any], named: dict[str, Any]) -> ProbedConnection:
        try:
            found = ProbedConnection.reach(given, named)
        except psycopg.OperationalError as error:
            self._error = error
            raise
        self._error = None
        return found
