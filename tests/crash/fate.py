"""Where a host dies: it kills itself with SIGKILL at a chosen point, for the n-th time it gets there.

Or it is halted there (SIGSTOP), until somebody lets it go on.

A point is a word such as `ask.piece`, or `append.commit room.said`: a stage of a transaction that
writes events, and a kind of event that is among them. Before it dies it says where, so that whoever
counts knows which phase it was in. SIGKILL leaves no time for anything.
"""

import os
import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import Pool

from loopforge.ledger.storage import event_append

STAGES = ("events", "texts", "heads", "commit", "committed")
"""Of a transaction: some of its rows written, or all; before its commit; after it, nobody told yet.

Besides there is `append.begin`: it has the lock and has written nothing.
"""


class Fate:
    """One host's; `last_words` are heard outside. Unarmed it lets everything pass."""

    def __init__(self, last_words: Callable[[str], None], point: str = "", after: int = 1) -> None:
        self._last_words = last_words
        self._point, self._left, self._halts = point, after, False
        self._lock = threading.Lock()

    def arm(self, point: str, after: int, *, halts: bool = False) -> None:
        """Die, or be halted, at this point, when it is passed for the n-th time from now on."""
        with self._lock:
            self._point, self._left, self._halts = point, after, halts

    def at(self, point: str) -> None:
        """This point is passed."""
        with self._lock:
            if point != self._point:
                return
            self._left -= 1
            if self._left <= 0 and self._halts:
                self._point = ""
                self._last_words("halted")
                os.kill(os.getpid(), signal.SIGSTOP)
            elif self._left <= 0:
                self._last_words(f"died {point}")
                os.kill(os.getpid(), signal.SIGKILL)


class _Transaction(threading.local):
    """The kinds of event that this thread's transaction holds so far."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.wrote = False


def watch_transactions(fate: Fate) -> None:
    """Let fate see every transaction that writes events, of every engine of this process."""
    now = _Transaction()

    def passed(stage: str) -> None:
        assert stage in STAGES
        for kind in now.kinds:
            fate.at(f"append.{stage} {kind}")

    def after(statement: str, parameters: Sequence[Any]) -> None:
        if statement.startswith("SELECT stream, seq, hash FROM streams"):  # with the lock in hand
            now.kinds, now.wrote = set(), False
            fate.at("append.begin")
        elif statement.startswith("INSERT INTO events"):
            now.kinds, now.wrote = {row[3] for row in parameters}, True
            passed("events")
        elif now.wrote and statement.startswith("INSERT INTO texts"):
            passed("texts")
        elif now.wrote and statement.startswith("INSERT INTO streams"):
            passed("heads")

    def commit(_connection: Connection) -> None:
        if now.wrote:
            passed("commit")

    def checkin(_connection: object, _record: object) -> None:
        if now.wrote:
            passed("committed")
        now.kinds, now.wrote = set(), False

    def watched(run: Callable[..., object]) -> Callable[..., object]:
        def ran(connection: Connection, statement: str, parameters: Sequence[Any]) -> object:
            found = run(connection, statement, parameters)
            after(statement, parameters)
            return found

        return ran

    for name in ("insert_rows", "fetch_rows"):
        setattr(event_append, name, watched(getattr(event_append, name)))
    event.listen(Engine, "commit", commit)
    event.listen(Pool, "checkin", checkin)
