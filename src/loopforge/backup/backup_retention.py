"""Which backups are kept: "7 days, 4 weeks, 12 months".

Of each of the last so many days, weeks (from Monday) and months that have a backup, the newest one
is kept, in UTC; the newest of all always. Files that no backup names any more go with the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from loopforge.backup.backup_store import DEAD, BackupStore

PERIODS: dict[str, Callable[[datetime], tuple[int, ...]]] = {
    "day": lambda at: (at.year, at.month, at.day),
    "week": lambda at: at.isocalendar()[:2],
    "month": lambda at: (at.year, at.month),
    "year": lambda at: (at.year,),
}


def kept(made: Iterable[datetime], keep: dict[str, int]) -> set[datetime]:
    """Which of these are kept."""
    newest = sorted(made, reverse=True)
    found = set(newest[:1])
    for period, count in keep.items():
        of: dict[tuple[int, ...], datetime] = {}
        for at in newest:
            of.setdefault(PERIODS[period](at), at)
        found.update(list(of.values())[:count])
    return found


async def prune(store: BackupStore, keep: dict[str, int]) -> list[str]:
    """Take away what the rule does not keep, and what was never finished; names of the former."""
    manifests = {name: await store.manifest(name) for name in await store.names()}
    if not manifests:
        return []
    stays = kept((one.at for one in manifests.values()), keep)
    gone = [name for name, one in manifests.items() if one.at not in stays]
    for name in (*gone, *await store.torn(max(stays) - DEAD)):
        await store.drop(name)
    needed = {hash for one in manifests.values() if one.at in stays for hash in one.files}
    for hash in set(await store.files.hashes()) - needed:
        await store.files.drop(hash)
    return gone
