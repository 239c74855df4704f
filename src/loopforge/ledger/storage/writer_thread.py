"""The one thread that writes: what comes while a commit runs goes into the next one.

Each caller gets its own events, its own result or its own error. A transaction that fails as a
whole because of one append, or of one change beside the appends, is done again one by one, in the
order in which they were asked for, so that nobody suffers for another's mistake. Other work that
writes (an erasure, a rebuilding) runs alone, between commits. On PostgreSQL changes do, too: there
two programs that hold rows of several tables in different orders would wait for each other.

Knows nothing of events loops but the one it reports to; knows no SQL but the check for ids.
"""

import asyncio
import logging
import queue
import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from time import sleep
from typing import Any, TypeVar

from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from loopforge.core.events import Event
from loopforge.errors import (
    Conflict,
    HostTaken,
    LedgerBusy,
    LedgerError,
    LedgerFull,
    LedgerReadOnly,
    LedgerRewound,
)
from loopforge.ledger.database.database_engine import DatabaseEngines, FileIdentity
from loopforge.ledger.database.database_faults import (
    FAULTS,
    as_ledger_error,
    is_connection_lost,
    translating_faults,
)
from loopforge.ledger.storage.event_append import (
    EventWriter,
    PendingAppend,
    ViewRefused,
    write_appends,
)
from loopforge.ledger.storage.folded_views import FoldedView
from loopforge.ledger.storage.row_codec import in_list_sql, list_parameter

T = TypeVar("T")
Appended = Callable[[str, tuple[Event, ...]], None]
Done = tuple[T, Sequence[Event]]
"""What other writing gives back: its result, and the events it added."""

MOST_JOBS = 512
"""Appends and changes in one transaction at most."""

TRIES = 3
"""How often an append is tried when another process got in between."""

LEISURE = 0.05
"""Seconds that a change without hurry waits for something else to be written."""

BREATH = 0.2
"""Seconds after which a COMMIT is done that was on its way when the connection broke."""

log = logging.getLogger(__name__)


class _Job:
    """Something to write, and the future of whoever waits for it: one of the three."""

    __slots__ = ("append", "change", "error", "events", "future", "result", "soon", "work")

    def __init__(
        self,
        future: asyncio.Future[Any],
        append: PendingAppend | None = None,
        change: Callable[[Connection], Any] | None = None,
        work: Callable[[], Done[Any]] | None = None,
        *,
        soon: bool = True,
    ) -> None:
        self.future, self.append, self.change, self.work = future, append, change, work
        self.soon = soon
        self.result: Any = None
        self.error: BaseException | None = None
        self.events: Sequence[Event] = ()


class OneRefused(Exception):
    """One of several things to write raised: each is to be written by itself."""


class WriterThread:
    """Takes jobs from the event loop, writes them in a thread, reports back in order.

    `fault` is why the last thing could not be written, where the database took nothing at all.
    """

    def __init__(
        self, store: DatabaseEngines, views: Sequence[FoldedView], appended: Appended
    ) -> None:
        self._store, self._views, self._appended = store, views, appended
        self._file = FileIdentity(store)
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._scribe = EventWriter()
        self._closed, self._open = False, 0
        self.fault: LedgerError | None = None
        self._thread = threading.Thread(target=self._run, name="ledger writer", daemon=True)
        self._thread.start()

    @property
    def working(self) -> int:
        """Jobs that were taken and of which the loop has not heard yet; also deserted ones."""
        return self._open

    async def append(self, append: PendingAppend) -> tuple[Event, ...]:
        """Add facts. Cancelled before its transaction begins, it writes nothing."""
        await self._put(_Job(self._loop.create_future(), append=append))
        return append.events

    async def change(self, change: Callable[[Connection], T], *, soon: bool = True) -> T:
        """Run some small other writing, in one transaction with whatever comes at the same time.

        It may be run again, after it was taken back as a whole: where another raised, not it. One
        that is not wanted `soon` waits a moment for something to come; never behind it. It is
        written also where who asked for it waits no longer: what it tells of has happened.
        """
        job = _Job(self._loop.create_future(), change=change, soon=soon)
        result: T = await self._put(job)
        return result

    async def do(self, work: Callable[[Connection], Done[T]]) -> T:
        """Run some other writing once, in a transaction of its own."""
        return await self.run(partial(self._own_transaction, work))

    def _own_transaction(self, work: Callable[[Connection], T]) -> T:
        self._check_connection()
        with self._store.writer.begin() as connection:
            return work(connection)

    def _check_connection(self) -> None:
        """Find out, before work begins that is done once, whether the connection broke since."""
        if not self._store.sqlite:
            try:
                with self._store.writer.connect() as connection:
                    connection.exec_driver_sql("SELECT 1")
            except DBAPIError as error:
                if not is_connection_lost(error):
                    raise

    async def run(self, work: Callable[[], Done[T]]) -> T:
        """Run something in the writing thread, between two transactions."""
        result: T = await self._put(_Job(self._loop.create_future(), work=work))
        return result

    async def _put(self, job: _Job) -> Any:
        if self._closed:
            raise LedgerError("The ledger is closed; nothing was written.")
        self._open += 1
        self._jobs.put(job)
        return await job.future

    async def close(self) -> None:
        """Write what is waiting, then end."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
        await self._loop.run_in_executor(None, self._thread.join)

    # ------------------------------------------------------------ in the thread

    def _run(self) -> None:
        open = True
        while open:
            jobs: list[_Job] = []
            job = self._jobs.get()
            while job is not None:
                jobs.append(job)
                if len(jobs) == MOST_JOBS:
                    break
                try:
                    job = self._next_job(jobs)
                except queue.Empty:
                    break
            else:
                open = False
            if jobs:
                self._write(jobs)
                self._report(jobs)

    def _next_job(self, jobs: Sequence[_Job]) -> _Job | None:
        """What comes together with these. Raises queue.Empty where nothing does."""
        if len(jobs) > 1 or jobs[0].soon:
            return self._jobs.get_nowait()
        return self._jobs.get(timeout=LEISURE)

    def _write(self, jobs: list[_Job]) -> None:
        try:
            self._file.check()
        except LedgerRewound as error:
            for job in jobs:
                job.error = error
            return
        run: list[_Job] = []
        for job in jobs:
            if job.future.cancelled() and job.soon:
                continue
            if job.append is not None or (job.change is not None and self._store.sqlite):
                run.append(job)
                continue
            self._run_gathered(run)
            run = []
            self._run_alone(job)
        self._run_gathered(run)

    def _run_alone(self, job: _Job) -> None:
        try:
            if job.change is not None:
                job.result = self._own_transaction(job.change)
            elif job.work is not None:
                job.result, job.events = job.work()
        except FAULTS as error:
            job.error = as_ledger_error(error, self._store.url)
        except BaseException as error:
            job.error = error

    def _run_gathered(self, jobs: Sequence[_Job]) -> None:
        appends = [job.append for job in jobs if job.append is not None]
        changes = [job for job in jobs if job.change is not None]
        if not appends:
            for job in changes:
                self._run_alone(job)
            return
        try:
            self._write_transaction(appends, changes)
        except (IntegrityError, ViewRefused, OneRefused):
            for job in jobs:  # in this order: a crash in between keeps no fact without its cost
                if job.append is not None:
                    self._write_singly(job.append)
                else:
                    self._run_alone(job)
        for job in jobs:
            if job.append is not None:
                job.events, job.error = job.append.events, job.append.error

    def _write_transaction(
        self, appends: Sequence[PendingAppend], changes: Sequence[_Job] = (), tries: int = TRIES
    ) -> None:
        """Write and commit. What goes wrong stands on each append.

        Raises IntegrityError, ViewRefused and OneRefused: one of them may be at fault.
        """
        try:
            with self._store.writer.begin() as connection:
                write_appends(connection, appends, self._scribe, self._views)
                _run_changes(connection, changes)
        except (IntegrityError, ViewRefused, OneRefused):
            self._scribe.undo()
            raise
        except FAULTS as error:
            fault = as_ledger_error(error, self._store.url)
            if is_connection_lost(error):
                self._recover_connection(appends, error, tries)
            elif changes and not isinstance(fault, LedgerBusy):
                self._scribe.undo()
                raise OneRefused from error
            else:
                self._fail_appends(appends, fault, changes)
        except Exception as error:
            if changes:
                self._scribe.undo()
                raise OneRefused from error
            self._fail_appends(appends, error)
        except BaseException as error:
            self._fail_appends(appends, error, changes)
        else:
            self._scribe.clear()

    def _fail_appends(
        self, appends: Sequence[PendingAppend], fault: BaseException, changes: Sequence[_Job] = ()
    ) -> None:
        self._scribe.undo()
        for append in appends:
            append.events, append.error = (), append.error or fault
        for job in changes:
            job.error = fault

    def _recover_connection(
        self, appends: Sequence[PendingAppend], error: Exception, tries: int
    ) -> None:
        """The connection broke: ask over a new one whether the commit arrived."""
        ids = [event.id for append in appends for event in append.events]
        sleep(BREATH)
        try:
            arrived = bool(ids) and len(self._ids_in_ledger(ids)) == len(ids)
        except HostTaken as taken:
            return self._fail_appends(appends, taken)
        except LedgerError as fault:
            unknown = f"{fault} It is not known whether the last events were written: read first."
            return self._fail_appends(appends, LedgerError(unknown))
        if arrived:
            return self._scribe.clear()
        if tries <= 1:
            return self._fail_appends(appends, as_ledger_error(error, self._store.url))
        self._scribe.undo()
        return self._write_transaction(appends, tries=tries - 1)

    def _write_singly(self, append: PendingAppend) -> None:
        """Write one append; it may be its own fault that the database refuses it."""
        for left in reversed(range(TRIES)):
            try:
                return self._write_transaction([append])
            except IntegrityError as error:
                append.events = ()
                ids = [fact.id for fact in append.facts]
                try:
                    there = self._ids_in_ledger(ids)
                except (LedgerError, HostTaken) as fault:
                    append.error = fault
                    return None
                if there or len(set(ids)) < len(ids):
                    known = min(there, default=ids[0])
                    append.error = Conflict(
                        f"Event {known} is in the ledger already; nothing was written."
                    )
                    return None
                if not left:
                    append.error = LedgerBusy(
                        f"Other programs write to {append.stream} all the time ({error.orig}); "
                        "nothing was written. Try again."
                    )
        return None

    def _ids_in_ledger(self, ids: Sequence[str]) -> set[str]:
        """Which of these events are in the ledger. Raises LedgerError."""
        with translating_faults(self._store.url), self._store.writer.connect() as connection:
            found = connection.exec_driver_sql(
                f"SELECT id FROM events WHERE id {in_list_sql(connection)}",  # noqa: S608
                (list_parameter(connection, ids),),
            )
            return {id for (id,) in found}

    # ------------------------------------------------------------ back in the loop

    def _report(self, jobs: list[_Job]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._deliver, jobs)
        except RuntimeError:
            log.warning("the event loop closed before the ledger could report what it wrote")

    def _deliver(self, jobs: list[_Job]) -> None:
        for job in jobs:
            self._open -= 1
            self._mark_fault(job)
            if job.events and job.error is None:
                self._tell_of_events(job)
            if job.future.done():
                continue
            if job.error is not None:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.result)

    def _mark_fault(self, job: _Job) -> None:
        if isinstance(job.error, LedgerFull | LedgerReadOnly):
            self.fault = job.error
        elif job.error is None and (job.events or job.change is not None):
            self.fault = None

    def _tell_of_events(self, job: _Job) -> None:
        """Tell of new events, those of one stream together."""
        if job.append is not None:
            self._appended(job.append.stream, job.append.events)
            return
        for stream, run in groupby(job.events, key=lambda event: event.stream):
            self._appended(stream, tuple(run))


def _run_changes(connection: Connection, jobs: Sequence[_Job]) -> None:
    for job in jobs:
        assert job.change is not None
        try:
            job.result = job.change(connection)
        except Exception as error:
            raise OneRefused from error
