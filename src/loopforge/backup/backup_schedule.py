"""When backups are made. Which of them are kept then: backup_retention.py."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta

from loopforge.backup.backup_retention import prune_backups
from loopforge.backup.backup_store import BackupStore
from loopforge.backup.make_backup import back_up, last_backup, note_erasures
from loopforge.core.events import Event
from loopforge.errors import LoopforgeError
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.plugins.setting_checks import parse_retention_rule
from loopforge.runtime.ports import Clock
from loopforge.setting_defaults import Settings

log = logging.getLogger(__name__)
RETRY = timedelta(hours=1)
"""Between two tries, and two looks whether a backup is due."""


class BackupSchedule:
    """Makes the backups of a home that runs, and notes beside them what is forgotten."""

    def __init__(self, settings: Settings, ledger: SqlLedger, clock: Clock) -> None:
        self._settings, self._ledger, self._clock = settings, ledger, clock
        self._store = BackupStore(settings.backup_to, clock)
        self._every = timedelta(hours=settings.backup_every_hours)
        self._keep = parse_retention_rule(settings.backup_keep)
        self._erased = asyncio.Event()

    def open(self, tasks: BackgroundTasks) -> None:
        """Begin."""
        self._ledger.subscribe(self._follow, kinds=["ledger.erased"])
        self._erased.set()  # what was forgotten while the home did not run is noted, too
        tasks.spawn(self._noting(), "erasures noted beside backups")
        tasks.spawn(self._making(), "backups")

    def _follow(self, _stream: str, _events: Sequence[Event]) -> None:
        self._erased.set()

    async def _noting(self) -> None:
        while True:
            await self._erased.wait()
            self._erased.clear()
            try:
                await note_erasures(self._ledger, self._store)
            except LoopforgeError as error:
                log.warning("an erasure is noted beside the next backup: %s", error)

    async def _making(self) -> None:
        while True:
            while wait := self._due():  # the machine may sleep meanwhile
                await self._clock.sleep(min(wait, RETRY).total_seconds())
            await self._make()
            await self._clock.sleep(RETRY.total_seconds())

    async def _make(self) -> None:
        try:
            await back_up(self._settings, self._ledger, self._store, self._clock)
        except LoopforgeError as error:
            log.warning("no backup was made; it is tried again in an hour: %s", error)
            return
        try:
            await prune_backups(self._store, self._keep)
        except LoopforgeError as error:
            log.warning("older backups are kept until the next one is made: %s", error)

    def _due(self) -> timedelta:
        """How long until the next one; not at all where the clock was ahead at the last one."""
        last, now = last_backup(self._settings), self._clock.now()
        if last is None or last.at > now:
            return timedelta()
        return max(timedelta(), last.at + self._every - now)
