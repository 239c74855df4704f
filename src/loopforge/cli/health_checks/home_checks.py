"""The home: what is set, its ledger, its backups, and who runs it."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from loopforge.cli.health_checks.health_finding import DoctorFinding, note, ok, wrong
from loopforge.errors import BadSettings, LedgerBroken, LoopforgeError

if TYPE_CHECKING:
    from loopforge.setting_defaults import Settings


RECALL_BY = {
    "used": ("PostgreSQL itself finds what was said, with pgvector {version}.", ""),
    "unindexed": ("What was said is found without pgvector until its indexes are made.", ""),
    "missing": (
        "`memory_index` is pgvector, but what was said is found by files in data/memory.",
        (
            "That does. To have PostgreSQL do it, from 14 on: install pgvector beside it, say "
            "CREATE EXTENSION vector in this database as its superuser, and start again."
        ),
    ),
}
"""What is said of how matters stand with pgvector, and what to do."""
OLD = timedelta(days=14)
"""Since the last backup of a home that makes none by itself."""
STARTING = 120
"""Seconds that a host may take to open its door: a long ledger, a slow machine."""
CLOSING = 5.0
"""Seconds that a host may go on holding its home after it closed its door."""


def check_settings(settings: Settings) -> Iterator[DoctorFinding]:
    """What is set, and from where; what looks like a setting and is none."""
    from loopforge.settings import SAVED

    given = [
        f"{name} ({source})" for name, source in settings.sources.items() if source != "default"
    ]
    yield ok("settings", f"set: {', '.join(given)}." if given else "all at default.")
    for stray in settings.strays:
        yield wrong(
            "settings",
            f"{'the variable' if stray.isupper() else f'in {SAVED},'} {stray} is no setting.",
            "Take it away, or look for the right name in docs/settings.md.",
        )
    machine = "the machine's" if settings.sources["timezone"] == "default" else "as set"
    yield ok("time zone", f"{settings.timezone}, {machine}.")


def check_database(settings: Settings) -> Iterator[DoctorFinding]:
    """Whether the database answers, and whether its schema is this program's."""
    from loopforge.ledger.database.database_engine import parse_database_url
    from loopforge.ledger.database.database_faults import ledger_location

    url = settings.database_url
    try:
        place = ledger_location(parse_database_url(url))
    except LoopforgeError as error:
        yield wrong("database", str(error), "Check `database_url`.")
        return
    path = Path(url.partition(":///")[2])
    if url.startswith("sqlite") and not path.exists():
        yield note("database", f"{place} is not there yet; the first start makes it.")
        return
    from loopforge.ledger.schema_migration import ledger_schema_status, refuse_damaged
    from loopforge.memory.candidates.pgvector_index import pgvector_standing
    from loopforge.memory_opening import in_database

    try:
        stands = ledger_schema_status(url)
        refuse_damaged(url)
        wanted = in_database(settings) and stands == "ok"
        found = pgvector_standing(url) if wanted else None
    except LedgerBroken as error:
        yield wrong("database", str(error), "End the home, keep the file, and restore a backup.")
        return
    except LoopforgeError as error:
        yield wrong("database", str(error), f"Check `database_url`: {place}")
        return
    yield ok("database", f"{place} answers.")
    if found:
        state, version = found
        said, mend = RECALL_BY[state]
        yield note("memory", said.format(version=version), mend)
    match stands:
        case "ok":
            yield ok("migrations", "the schema is this program's.")
        case "empty":
            yield note("migrations", "the database is empty; the first start fills it.")
        case "behind":
            yield wrong("migrations", "the schema is older.", "Run `loopforge ledger migrate`.")
        case "ahead":
            yield wrong(
                "migrations",
                "the schema is newer than this program.",
                "Use the newer Loopforge that made it.",
            )


def check_backups(settings: Settings) -> Iterator[DoctorFinding]:
    """Whether there is a backup, and whether it is old."""
    from loopforge.backup.make_backup import last_backup
    from loopforge.runtime.system_clock import SystemClock

    if (last := last_backup(settings)) is None:
        mend = "`loopforge backup FOLDER` makes one; where `backup_to` is set, the home does."
        yield note("backups", "none was made yet.", mend)
        return
    age = SystemClock().now() - last.at
    said = f"the last one is of {last.at:%d %b %Y %H:%M} UTC, in {last.where}."
    if settings.backup_to and age > 2 * timedelta(hours=settings.backup_every_hours):
        mend = "Run the home, which makes them, or look in data/logs why it could not."
        yield wrong("backups", f"{said} That is too old.", mend)
    elif age > OLD:
        yield note("backups", f"{said} That is old.", f"`loopforge backup {last.where}`")
    else:
        yield ok("backups", said)


def check_host(settings: Settings, patience: float = CLOSING) -> Iterator[DoctorFinding]:
    """Whether a process runs this home, and whether terminals reach it.

    One that just begins, or just ends, is healthy: it is waited for, or said to begin.
    """
    from loopforge.host_lock import held_for, home_holder_pid
    from loopforge.io.socket.socket_address import SocketAddress
    from loopforge.runtime.system_clock import SystemClock

    try:
        path = SocketAddress(settings.data, settings.host_socket).path()
    except BadSettings as error:
        yield wrong("host", str(error), "Change host_socket in loopforge.toml.")
        return
    clock = SystemClock()
    until = clock.ticks() + patience
    while (process := home_holder_pid(settings.home)) is not None and not (
        answers := _answers(path)
    ):
        if (held := held_for(settings.home, clock)) < STARTING or clock.ticks() > until:
            break
        time.sleep(0.1)
    if process is None:
        yield note("host", "nobody runs this home now; `loopforge up` does.")
    elif answers:
        yield ok("host", f"process {process} runs this home.")
    elif held < STARTING:
        said = f"process {process} took this home {held:.0f} s ago and is starting."
        yield note("host", said, "Ask the doctor again in a moment.")
    else:
        yield wrong(
            "host",
            f"process {process} holds this home, but {path} does not answer.",
            f"If it does not answer soon, end it: kill {process}",
        )


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(2)
        try:
            caller.connect(os.fspath(path))
        except OSError:
            return False
        return True
