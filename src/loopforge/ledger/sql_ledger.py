"""The ledger on a SQL database: SQLite in a file, or PostgreSQL.

`open_ledger` makes or opens one; `SqlLedger` serves the port `Ledger`, and what people do with a
ledger besides: follow, search, export, verify, erase, rebuild. Everything here is a thin door; the
work is done by the module of the same name, in the writing thread or in a reading one.

Does not know rooms, turns or mates.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import msgspec
from sqlalchemy.engine import Connection

from loopforge.core.events import Event, Fact
from loopforge.errors import HostTaken, InputError, LedgerError, LedgerRewound
from loopforge.ledger import chain_verify as verify
from loopforge.ledger import jsonl_export as export
from loopforge.ledger import line_search as search
from loopforge.ledger import row_dump, schema_migration, write_check
from loopforge.ledger.chain_verify import Anchor, LedgerVerification
from loopforge.ledger.database.database_engine import (
    CHECKPOINT_EVENTS,
    READERS,
    DatabaseEngines,
    Durability,
    create_engines,
    parse_database_url,
)
from loopforge.ledger.database.database_faults import (
    FAULTS,
    as_ledger_error,
    is_connection_lost,
    translating_faults,
)
from loopforge.ledger.erasure import database_scrubbing as scrubbing
from loopforge.ledger.erasure import text_erasure as erasing
from loopforge.ledger.erasure.erasure_search import ErasureSearch
from loopforge.ledger.erasure.stream_quotes import Contents
from loopforge.ledger.erasure.text_erasure import Erasure, ErasureFindings, ErasureRequest
from loopforge.ledger.erasure.text_removal import Gone, erase_texts, removal_batches
from loopforge.ledger.line_search import SearchIndex
from loopforge.ledger.storage import event_reading as read
from loopforge.ledger.storage import state_snapshots
from loopforge.ledger.storage.event_append import (
    EventWriter,
    PendingAppend,
    check_append_names,
    write_appends,
)
from loopforge.ledger.storage.folded_views import FoldedView, refold_views, stale_views
from loopforge.ledger.storage.host_claim import HostClaim, claim_host
from loopforge.ledger.storage.line_annotations import LineAnnotations
from loopforge.ledger.storage.pending_work import DeliveryOutbox, OpenEffects
from loopforge.ledger.storage.process_follow import ProcessFollow
from loopforge.ledger.storage.revised_lines import RevisedLines
from loopforge.ledger.storage.writer_thread import Done, WriterThread
from loopforge.runtime.delivery_worker import PendingDelivery
from loopforge.runtime.follower import Follower, Handler
from loopforge.runtime.ports import Clock, Dice, OpenEffect
from loopforge.runtime.stream_decision import Decider
from loopforge.runtime.system_clock import Stamp

T = TypeVar("T")
Events = tuple[Event, ...]
log = logging.getLogger(__name__)
LOOKS = 5
"""How often a reader looks at most for what is to be erased, until there is nothing new."""
PROBE = 32 * 1024
"""Random bytes that are written to find out whether a disk is full yet."""
OUTBOX, EFFECTS = DeliveryOutbox(), OpenEffects()


async def open_ledger(
    url: str,
    clock: Clock,
    dice: Dice,
    views: Sequence[FoldedView] = (),
    *,
    durability: Durability = "normal",
    patience: float = 5.0,
    max_pages: int | None = None,
) -> SqlLedger:
    """Open the ledger at `url`, making it if there is none. `views` come beside its own.

    `sqlite:///relative.db`, `sqlite:////absolute.db`, or `postgresql://user@host/name`.
    `durability="full"` lets SQLite survive a power cut with the very last commit; "normal" may
    lose the last moments of it (a killed process loses nothing either way). `patience` is how many
    seconds to wait for somebody else's lock. `max_pages` bounds the SQLite file.

    Raises LedgerError (with its kinds) when it is out of reach, damaged, or of another schema.
    """
    own = (
        OUTBOX,
        EFFECTS,
        RevisedLines(),
        LineAnnotations(),
        SearchIndex(),
        scrubbing.RewrittenFiles(),
    )
    views = (*own, *views)
    store = create_engines(
        parse_database_url(url), durability=durability, patience=patience, max_pages=max_pages
    )
    try:
        heads = await asyncio.to_thread(_prepare, store, views)
        newest = await asyncio.to_thread(_newest_id, store)
    except BaseException:
        store.close()
        raise
    return SqlLedger(store, Stamp(clock, dice, newest), views, heads)


Concerned = Callable[[], Awaitable[Collection[str]]]
"""Gives the streams in which something would be erased now, but one that goes whole."""


Again = Callable[[], Awaitable[Erasure]]
"""Forgets what was written down of it since."""


def _keep_no_file(_hash: str) -> str:
    """No file is kept."""
    return ""


async def _at_once(*_: object) -> None:
    """No mind is at work."""


def _prepare(store: DatabaseEngines, views: Sequence[FoldedView]) -> dict[str, int]:
    with translating_faults(store.url):
        schema_migration.ready(store)
        with store.reader.connect() as connection:
            if not stale_views(connection, views):
                return read.stream_heads(connection)
        with store.writer.begin() as connection:
            schema_migration.alone(connection)
            refold_views(connection, stale_views(connection, views))
            return read.stream_heads(connection)


def _newest_id(store: DatabaseEngines) -> str:
    with translating_faults(store.url), store.reader.connect() as connection:
        found = connection.exec_driver_sql("SELECT max(id) FROM events").scalar_one()
    return found if isinstance(found, str) else ""


class SqlLedger:
    """A ledger in a SQL database; belongs to the event loop it was opened in."""

    def __init__(
        self,
        store: DatabaseEngines,
        stamp: Stamp,
        views: Sequence[FoldedView],
        heads: dict[str, int],
    ) -> None:
        self._store, self.stamp, self._views = store, stamp, tuple(views)
        self._tables = [table.name for view in views for table in view.tables]
        self._claim: HostClaim | None = None
        self._rewound: LedgerRewound | None = None
        self._elsewhere = ProcessFollow(store)
        self._follower = Follower(self.read, heads)
        self._still = asyncio.Lock()
        self._since, self._folding = 0, False
        self._reads, self._closed = 0, False
        self._loop = asyncio.get_running_loop()
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="ledger reader")
        self._writer = WriterThread(store, self._views, self._note_appended)
        self._decider = Decider()
        self.contents: Contents = _keep_no_file
        self.before_erasing: Callable[[Concerned], Awaitable[None]] = _at_once
        self.after_erasing: Callable[[Concerned, Again], Awaitable[None]] = _at_once

    async def close(self) -> None:
        """Write what is waiting, and let the database go."""
        await self._follower.close()
        await self._writer.close()
        self._elsewhere.close()
        self._closed = True
        await self._loop.run_in_executor(None, self._readers.shutdown)
        self._store.close()

    @property
    def working(self) -> int:
        """How many reads and writes are under way: asked for, and not yet back in the loop."""
        return self._reads + self._writer.working

    # ------------------------------------------------------------ the port

    async def append(
        self, stream: str, facts: Sequence[Fact], *, expect: int | None = None
    ) -> tuple[Event, ...]:
        """See `Ledger.append`. Also raises BadLine for what cannot be stored (see row_codec.py)."""
        check_append_names(stream, facts)
        if expect is None:
            await self._decider.free(stream)
        seed = self.stamp.dice.bytes(32)
        events = await self._writer.append(PendingAppend(stream, tuple(facts), expect, seed))
        await self._all_told(stream)
        return events

    async def decide(
        self,
        stream: str,
        head: Callable[[int], Awaitable[int]],
        attempt: Callable[[int], Awaitable[T]],
    ) -> T:
        """See `Ledger.decide`."""
        return await self._decider.decide(stream, head, attempt)

    async def read(
        self,
        stream: str,
        *,
        after: int = 0,
        before: int | None = None,
        kinds: Sequence[str] = (),
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Event]:
        """See `Ledger.read`."""
        return await self._run_reading(
            partial(
                read.read_events,
                stream=stream,
                after=after,
                before=before,
                kinds=kinds,
                limit=limit,
                newest=newest,
            )
        )

    async def event(self, id: str) -> Event:
        """See `Ledger.event`."""
        return await self._run_reading(partial(read.read_event, id=id))

    async def heads(self, prefix: str = "") -> dict[str, int]:
        """See `Ledger.heads`."""
        return await self._run_reading(partial(read.stream_heads, prefix=prefix))

    async def texts(self, refs: Sequence[str]) -> dict[str, str]:
        """The texts of these refs, as far as they are not forgotten."""
        return await self._run_reading(partial(read.read_texts, refs=refs))

    async def search(self, stream: str, words: str, limit: int = 20) -> list[Event]:
        """Lines of a room in which people see all these words, newest first; case is no matter."""
        return await self._run_reading(
            partial(search.search, stream=stream, words=words, limit=limit)
        )

    # ------------------------------------------------------------ views and snapshots

    async def look(self, work: Callable[[Connection], T]) -> T:
        """Read by hand, in a reading thread: for the tables that other packages declare."""
        return await self._run_reading(work)

    async def change(self, work: Callable[[Connection], T], *, soon: bool = True) -> T:
        """Change such tables by hand in the writing thread, all of it or nothing.

        For what is no fact and needs no history, such as passwords; events are only appended. What
        others write at the same time may stand in the same transaction; if one of those raises,
        `work` is taken back and run again. What is not wanted `soon` waits a moment for others.
        """
        return await self._writer.change(work, soon=soon)

    async def append_with(
        self,
        stream: str,
        facts: Sequence[Fact],
        work: Callable[[Connection], None],
        *,
        expect: int | None = None,
    ) -> tuple[Event, ...]:
        """Append, and change such tables by hand in the same transaction: both, or neither.

        For a fact with a secret beside it: an account is opened, and this is its password. What
        `work` raises takes the facts back.
        """
        check_append_names(stream, facts)
        append = PendingAppend(stream, tuple(facts), expect, self.stamp.dice.bytes(32))
        scribe = EventWriter()

        def both(connection: Connection) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
            write_appends(connection, [append], scribe, self._views)
            if append.error is not None:
                raise append.error
            work(connection)
            return append.events, append.events

        try:
            events = await self._writer.do(both)
        except Exception:
            scribe.undo()
            raise
        await self._all_told(stream)
        return events

    async def outbox(self, *, but: Collection[str] = ()) -> list[PendingDelivery]:
        """See `DeliveryQueue.outbox`."""
        return await self._run_reading(partial(OUTBOX.but, surfaces=but))

    async def unseen(self, stream: str, surface: str, upto: int) -> list[str]:
        """See `DeliveryQueue.unseen`."""
        return await self._run_reading(
            partial(OUTBOX.unseen, stream=stream, surface=surface, upto=upto)
        )

    async def open_effects(self) -> list[OpenEffect]:
        """Every use of a tool that is not over, oldest first."""
        return await self._run_reading(EFFECTS.rows)

    async def rebuild(self) -> int:
        """Drop all views and fold them anew; returns how many events were taken in."""
        return await self._writer.do(lambda connection: (refold_views(connection, self._views), ()))

    async def save_snapshot(self, stream: str, seq: int, version: int, body: bytes) -> None:
        """Keep a folded state (JSON, with refs for private words) in place of an older one."""

        def save(connection: Connection) -> tuple[None, tuple[Event, ...]]:
            state_snapshots.save(connection, stream, seq, version, body)
            return None, ()

        await self._writer.do(save)

    async def load_snapshot(self, stream: str, version: int) -> tuple[int, bytes] | None:
        """The last state kept, and its `seq`; None if there is none of this version."""
        return await self._run_reading(
            partial(state_snapshots.load, stream=stream, version=version)
        )

    # ------------------------------------------------------------ following

    def subscribe(
        self, handler: Handler, *, streams: str = "", kinds: Collection[str] = ()
    ) -> Callable[[], None]:
        """See `Ledger.subscribe`."""
        return self._follower.subscribe(handler, streams=streams, kinds=kinds)

    async def told(self, stream: str, past: int = -1) -> int:
        """See `Ledger.told`."""
        return await self._follower.told(stream, past)

    async def follow(self) -> None:
        """Look for what other processes appended, and tell subscribers. Cheap every second.

        Raises LedgerError; LedgerRewound where the database lost what this process knows.
        """
        try:
            await self._follower.seen(await self._writer.run(lambda: (self._elsewhere.look(), ())))
        except LedgerRewound as error:
            self._rewound = error
            raise

    def _note_appended(self, stream: str, events: tuple[Event, ...]) -> None:
        self._follower.appended(stream, events)
        self._fold_log(len(events))

    async def _all_told(self, stream: str) -> None:
        """What was written stands, whether or not what others wrote before can be read now."""
        try:
            await self._follower.told(stream)
        except LedgerError as error:
            log.warning("%s is followed later: %s", stream, error)

    async def claim(self, name: str) -> HostClaim:
        """Become its host; see host_claim.py. Raises HostTaken when another one is."""
        self._claim = await claim_host(self._store, name)
        return self._claim

    async def overtaken(self) -> HostTaken | LedgerRewound | None:
        """That another process is its host by now, where this one was and one is.

        Or that the database is at an earlier time than this process, as `follow` found.
        """
        if self._rewound is not None or self._claim is None:
            return self._rewound
        return await self._claim.overtaken()

    async def unwritable(self) -> LedgerError | None:
        """Why nothing can be written now; None while it can. Writes only where that failed last."""
        try:
            found = await self._run_reading(partial(write_check.foreseen, self._store))
            if found is None and self._writer.fault is not None:
                body = self.stamp.dice.bytes(PROBE).hex().encode()
                await self.change(partial(write_check.tried, body=body))
        except LedgerError as error:
            return error
        return found

    async def export(self, prefix: str = "", format: str = "jsonl") -> AsyncIterator[str]:
        """All events of streams whose name starts so, as lines of JSON (see jsonl_export.py)."""
        if format != "jsonl":
            raise InputError(f"The ledger is exported as jsonl; {format!r} is not known.")
        place = (prefix, 0)
        while True:
            events = await self._run_reading(partial(read.page, place=place, prefix=prefix))
            for event in events:
                yield export.as_json_line(event) + "\n"
            if len(events) < read.PAGE:
                return
            place = (events[-1].stream, events[-1].seq)

    async def load(self, rows: Iterable[bytes], forgotten: Sequence[str] = ()) -> Erasure:
        """Put dumped rows into this ledger, which is empty (see row_dump.py), all or none.

        Those of these refs that have a text are forgotten in the same moment.
        """

        def work(connection: Connection) -> tuple[Erasure, tuple[Event, ...]]:
            schema_migration.alone(connection)
            row_dump.load(connection, rows, self._views)
            known = tuple(read.read_texts(connection, forgotten))
            why = "forgotten after this backup was made"
            wish = ErasureRequest(refs=known, exactly=True, by="restore", why=why)
            found = erasing.find(connection, wish, self._views, ErasureSearch())
            events = erase_texts(connection, found.gone, wish, self.stamp, self._views)
            return found.told, events

        erasure = await self._writer.do(work)
        return await self._scrub_files(erasure) if erasure.refs else erasure

    async def verify(
        self, prefix: str = "", anchors: Mapping[str, Anchor] | None = None
    ) -> LedgerVerification:
        """Derive everything again and say what does not agree; see chain_verify.py.

        `anchors` are heads that an earlier verifying gave (`LedgerVerification.anchors`).
        """
        async with self._still:
            return await self._run_reading(
                partial(verify.verify, prefix=prefix, anchors=anchors, views=self._views)
            )

    async def erase(self, wish: ErasureRequest, *, pretend: bool = False) -> Erasure:
        """Forget texts for good, and what quotes them; see text_erasure.py. Raises Unknown.

        With `pretend`, nothing is forgotten, and the report says what would be. Else, unless
        `exactly` is wanted, `before_erasing` is waited for: that minds are done which were shown
        something of it, and may still write it down. `after_erasing` looks after what cannot be
        waited for so.
        """
        search = ErasureSearch(self.contents)
        if pretend:
            return (await self._find_erasure(wish, search)).told
        erasure = await self._forget_texts(wish, search)
        if not wish.exactly:
            concerned = partial(self._concerned_streams, wish, search)
            await self.after_erasing(concerned, partial(self._forget_texts, wish, search))
        return erasure

    async def _forget_texts(self, wish: ErasureRequest, search: ErasureSearch) -> Erasure:
        """Forget; asked again, what was written down meanwhile."""
        if not wish.exactly:
            await self.before_erasing(partial(self._concerned_streams, wish, search))
        async with self._still:
            await self._search_until_settled(wish, search)
            erasure = await self._erase_found(wish, search)
            return await self._scrub_files(erasure)

    async def _find_erasure(self, wish: ErasureRequest, search: ErasureSearch) -> ErasureFindings:
        return await self._run_reading(
            partial(erasing.find, wish=wish, views=self._views, search=search)
        )

    async def _search_until_settled(self, wish: ErasureRequest, search: ErasureSearch) -> None:
        """Look until nothing is new, so that little is left to the writing thread."""
        before: Mapping[str, Collection[str]] | None = None
        for _ in range(LOOKS):
            now = (await self._find_erasure(wish, search)).gone
            if now == before:
                return
            before = now

    async def _concerned_streams(
        self, wish: ErasureRequest, search: ErasureSearch
    ) -> Collection[str]:
        would = (await self._find_erasure(wish, search)).told
        return (would.texts.keys() | would.shown) - {wish.stream}

    async def _erase_found(self, wish: ErasureRequest, search: ErasureSearch) -> Erasure:
        """Find what came meanwhile, and take everything away, in one transaction or in several."""
        take = partial(erase_texts, wish=wish, stamp=self.stamp, views=self._views)

        def begin(connection: Connection) -> Done[tuple[Erasure, list[Gone], Events]]:
            found = erasing.find(connection, wish, self._views, search)
            first, *rest = removal_batches(found.gone, found.named) or [{}]
            events = take(connection, first)
            return (found.told, rest, events), events

        def go_on(connection: Connection, gone: Gone) -> Done[Events]:
            events = take(connection, gone)
            return events, events

        told, rest, events = await self._writer.do(begin)
        for gone in rest:
            try:
                events += await self._writer.do(partial(go_on, gone=gone))
            except LedgerError as error:
                error.args = (f"A part of it is forgotten; ask for the same again. {error}",)
                raise
        search.gone |= told.refs
        return msgspec.structs.replace(told, events=tuple(event.id for event in events))

    async def _scrub_files(self, erasure: Erasure) -> Erasure:
        """Leave nothing of it in the database's files."""
        clean = await self._run_in_reader(partial(scrubbing.scrub, self._store, self._tables))
        return msgspec.structs.replace(erasure, clean=clean)

    async def write_anew(self) -> None:
        """Write the files anew where something was erased since that was done last.

        Nobody can write meanwhile: this is for a host's start.
        """
        anew = partial(scrubbing.write_anew, self._store, self._tables)
        if not await self._writer.run(lambda: (scrubbing.settled(self._store, anew), ())):
            log.warning("files are written anew at the next start: somebody was reading")

    async def tail(self, count: int = 20, stream: str = "") -> list[Event]:
        """The newest events of one stream, or of all, oldest first."""
        return await self._run_reading(partial(read.tail, count=count, stream=stream))

    def _fold_log(self, count: int) -> None:
        """Now and then fold SQLite's log into its file, in a thread that no append waits for."""
        self._since += count
        if self._store.sqlite and self._since >= CHECKPOINT_EVENTS and not self._folding:
            self._since, self._folding = 0, True
            self._readers.submit(self._checkpoint_log)

    def _checkpoint_log(self) -> None:
        try:
            self._read_once(
                lambda found: found.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)").all()
            )
        except LedgerError as error:
            log.warning("SQLite's log is folded into its file later: %s", error)
        finally:
            self._folding = False

    # ------------------------------------------------------------ threads

    async def _run_reading(self, work: Callable[[Connection], T]) -> T:
        """Run some reading in a reading thread; done again once if the connection was gone."""
        return await self._run_in_reader(partial(self._read_once, work))

    async def _run_in_reader(self, work: Callable[[], T]) -> T:
        """Run something in a reading thread."""
        if self._closed:
            raise LedgerError("The ledger is closed; nothing was read.")
        self._reads += 1
        try:
            return await self._loop.run_in_executor(self._readers, work)
        finally:
            self._reads -= 1

    def _read_once(self, work: Callable[[Connection], T], again: bool = True) -> T:
        try:
            with self._store.reader.connect() as connection:
                return work(connection)
        except FAULTS as error:
            if not (again and is_connection_lost(error)):
                raise as_ledger_error(error, self._store.url) from error
        return self._read_once(work, again=False)
