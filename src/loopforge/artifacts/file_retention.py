"""Which kept files the ledger still holds, and the sweeping away of those it holds no more.

A file's hash is private words: an erasure forgets it with the line. The view notes only the refs
of hashes, and asks the ledger's texts what they are, so that a forgotten hash is gone from here in
the very moment in which it is forgotten, and nothing has to be folded anew.

Does not know what the files are, or who may see them.
"""

import logging
from collections.abc import Callable, Sequence

from sqlalchemy import PrimaryKeyConstraint, Table, func, select
from sqlalchemy.engine import Connection

from loopforge.artifacts.artifact_store import DIGITS, YOUNG, Artifacts
from loopforge.core.effect_states import EffectReturned
from loopforge.core.events import Erased, Event
from loopforge.core.people_events import PictureSet
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.erasable_text import Words
from loopforge.errors import LoopforgeError
from loopforge.ledger.database.table_schema import metadata, name_columns, texts
from loopforge.ledger.table_access import ReadableLedger, Tables
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock

log = logging.getLogger(__name__)
KINDS = frozenset({"room.heard", "room.said", "effect.returned", "people.picture_set"})
"""Events that hold kept files."""

kept = Table(
    "kept",
    metadata,
    *name_columns("ref", "stream", "event"),
    PrimaryKeyConstraint("ref", "event", name="kept_file"),
)


class KeptFiles:
    """Folds lines with kept files, what tools gave and pictures of people into a row for each."""

    name = "kept files"
    version = 4
    kinds = KINDS
    tables = (kept,)
    holds_texts = False

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Take in lines and results."""
        rows = [
            {"ref": ref, "stream": event.stream, "event": event.id}
            for event in events
            for ref in sorted({hash.ref for hash in hashes_in(event)} - {""})
        ]
        if rows:
            connection.execute(kept.insert(), rows)


def hashes_in(event: Event) -> list[Words]:
    """The hashes of the files that an event holds."""
    match event.body:
        case Heard(files=files) | Said(files=files) | EffectReturned(files=files):
            return [file.hash for file in files]
        case PictureSet(picture=picture):
            return [picture]
    return []


def referenced_hashes(connection: Connection, stream: str = "") -> frozenset[str]:
    """The hashes that some event still holds, or some event of a stream."""
    query = select(texts.c.text).join(kept, kept.c.ref == texts.c.ref).distinct()
    if stream:
        query = query.where(kept.c.stream == stream)
    return frozenset(connection.execute(query).scalars())


def like_hashes(connection: Connection) -> frozenset[str]:
    """The texts that may be hashes, by their length, whatever views an older program left."""
    query = select(texts.c.text).where(func.length(texts.c.text) == DIGITS)
    return frozenset(connection.execute(query).scalars())


async def delete_unreferenced_files(ledger: Tables, artifacts: Artifacts) -> list[str]:
    """Drop every kept file that no event holds any more; their hashes. Young ones stay."""

    async def asked() -> frozenset[str]:
        return await ledger.look(referenced_hashes)

    return await artifacts.sweep(asked)


class FileSweeper:
    """Sweeps when something was forgotten; for the process that holds the home."""

    def __init__(
        self, ledger: ReadableLedger, artifacts: Artifacts, tasks: BackgroundTasks, clock: Clock
    ) -> None:
        self._ledger, self._artifacts = ledger, artifacts
        self._tasks, self._clock = tasks, clock
        self._wanted = self._busy = self._later = False
        self._hearing: list[Callable[[], None]] = []

    def follow(self) -> None:
        """From now on, sweep whenever something was forgotten, by any process."""
        self._ledger.subscribe(self._follow, kinds=[*KINDS, "ledger.erased"])

    def on_erased(self, hear: Callable[[], None]) -> None:
        """Be told whenever something was forgotten, by this process or by another one."""
        self._hearing.append(hear)

    def _follow(self, _stream: str, events: Sequence[Event]) -> None:
        """A line or result holds its files now; after an erasure, what nobody holds goes."""
        for event in events:
            for hash in hashes_in(event):
                self._artifacts.settle(str(hash))
            if isinstance(event.body, Erased):
                for hear in self._hearing:
                    hear()
                self.soon()

    def soon(self) -> None:
        """Sweep, without anybody waiting for it. To be called once at the start too."""
        self._wanted = True
        if not self._busy:
            self._busy = True
            self._tasks.spawn(self._sweeping(), "sweep of kept files")

    async def sweep(self) -> list[str]:
        """Sweep now; the hashes of what went."""
        gone = await delete_unreferenced_files(self._ledger, self._artifacts)
        if gone:
            log.info("%d kept files that nothing holds any more were deleted", len(gone))
        if self._artifacts.young() and not self._later:
            self._later = True
            self._tasks.spawn(self._once_grown(), "later sweep of kept files")
        return gone

    async def _sweeping(self) -> None:
        try:
            while self._wanted:
                self._wanted = False
                await self.sweep()
        except LoopforgeError as error:
            log.warning("kept files are not swept until the next start: %s", error)
        finally:
            self._busy = False

    async def _once_grown(self) -> None:
        """What was young at a sweep is looked at again once it is not."""
        await self._clock.sleep(YOUNG)
        self._later = False
        self.soon()
