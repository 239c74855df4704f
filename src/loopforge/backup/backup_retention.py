"""Which backups are kept: "7 days, 4 weeks, 12 months".

Of each of the last so many days, weeks (from Monday) and months that have a backup, the newest one
is kept, in UTC; the newest of all always. Files that no backup names any more go with the others,
unless another backup is being made there, or one that stays cannot be read: it may need them.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime

from loopforge.backup.backup_store import DEAD, BackupManifest, BackupStore, made_at
from loopforge.errors import BackupError, LedgerBehind, Unknown

log = logging.getLogger(__name__)

PERIODS: dict[str, Callable[[datetime], tuple[int, ...]]] = {
    "day": lambda at: (at.year, at.month, at.day),
    "week": lambda at: at.isocalendar()[:2],
    "month": lambda at: (at.year, at.month),
    "year": lambda at: (at.year,),
}


def times_to_keep(made: Iterable[datetime], keep: dict[str, int]) -> set[datetime]:
    """Which of these are kept."""
    newest = sorted(made, reverse=True)
    found = set(newest[:1])
    for period, count in keep.items():
        of: dict[tuple[int, ...], datetime] = {}
        for at in newest:
            of.setdefault(PERIODS[period](at), at)
        found.update(list(of.values())[:count])
    return found


async def prune_backups(store: BackupStore, keep: dict[str, int]) -> list[str]:
    """Take away what the rule does not keep, and what was never finished; names of the former."""
    unfinished = await store.unfinished()  # before the others: one that is done by then is there
    manifests = {name: await _readable(store, name) for name in await store.names()}
    made = {name: one.at if one else made_at(name) for name, one in manifests.items()}
    if not (times := [at for at in made.values() if at]):
        return []
    stays = times_to_keep(times, keep)
    gone = [name for name, at in made.items() if at and at not in stays]
    dead = [name for name, at in unfinished.items() if at < max(stays) - DEAD]
    for name in (*gone, *dead):
        await store.drop(name)
    staying = [one for name, one in manifests.items() if name not in gone]
    if len(dead) == len(unfinished) and None not in staying:
        needed = {hash for one in staying if one for hash in one.files}
        for hash in set(await store.files.hashes()) - needed:
            await store.files.drop(hash)
    return gone


async def _readable(store: BackupStore, name: str) -> BackupManifest | None:
    try:
        return await store.manifest(name)
    except (Unknown, BackupError, LedgerBehind) as error:
        log.warning("files of backups that are kept no longer stay: %s", error)
        return None
