"""The ledger of a home, opened with all its views: for the app, and what only reads or mends it.

Belongs to the composition root (app.py), apart from it: it loads nothing that takes turns.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.document_process import FileText
from loopforge.artifacts.file_retention import KeptFiles, delete_unreferenced_files
from loopforge.budgets.model_usage import UsageTally
from loopforge.chat.room.member_visibility import Members
from loopforge.chat.room.platform_channels import ChannelsView
from loopforge.errors import HostTaken
from loopforge.host_lock import home_holder_pid, lock_home
from loopforge.ledger.erasure.host_turns import HostTurns
from loopforge.ledger.schema_migration import UnopenedTables, ledger_schema_status
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.ledger.storage.folded_views import FoldedView
from loopforge.ledger.table_access import Tables
from loopforge.mates.trait_proposals import RequestGrounds
from loopforge.memory.beliefs.memory_erasure import memories_view
from loopforge.memory.passage_index import TranscriptIndex
from loopforge.runtime.system_clock import SystemClock, SystemDice

if TYPE_CHECKING:
    from loopforge.memory.passage_segments import SegmentStore
    from loopforge.runtime.ports import Clock, Dice
    from loopforge.setting_defaults import Settings


ARTIFACTS = "artifacts"
"""The folder of kept files, in the home's data."""


@asynccontextmanager
async def open_ledger_of(
    settings: Settings, clock: Clock | None = None, dice: Dice | None = None
) -> AsyncIterator[SqlLedger]:
    """The ledger of a home alone."""
    ledger = await open_ledger(
        settings.database_url,
        clock or SystemClock(),
        dice or SystemDice(),
        views(settings),
        durability=settings.database_durability,
    )
    ledger.contents = FileText(Artifacts(settings.data / ARTIFACTS, clock or SystemClock()))
    try:
        yield ledger
    finally:
        await ledger.close()


def beside_host(ledger: SqlLedger, settings: Settings) -> None:
    """Who erases in this process stays for what a host is at meanwhile, if one runs the home."""
    turns = HostTurns(ledger, SystemClock(), lambda: home_holder_pid(settings.home) is not None)
    ledger.after_erasing = turns.look_again


async def sweep_idle_home(ledger: SqlLedger, settings: Settings) -> int | None:
    """After an erasure in this process: delete kept files that nothing holds, and scratch.

    How many files went; None where the home runs, for only who holds a home knows what is young in
    it: its host hears of the erasure, and does it.
    """
    from loopforge.tools.sandbox.call_workspace import forget_workspaces

    artifacts = Artifacts(settings.data / ARTIFACTS, SystemClock())
    try:
        with lock_home(settings.home, wait=False):
            gone = await delete_unreferenced_files(ledger, artifacts)
            forget_workspaces(settings.home)
    except HostTaken:
        return None
    return len(gone)


@asynccontextmanager
async def open_tables_of(settings: Settings) -> AsyncIterator[Tables]:
    """The ledger of a home for reading its rows alone; one of an older schema stays as it is."""
    if ledger_schema_status(settings.database_url) == "behind":
        yield UnopenedTables(settings.database_url)
        return
    async with open_ledger_of(settings) as ledger:
        yield ledger


def views(settings: Settings) -> tuple[FoldedView, ...]:
    """The views of a home's ledger, besides its own."""
    index = index_of(settings)
    return (
        Members(),
        KeptFiles(),
        UsageTally(),
        ChannelsView(),
        index,
        memories_view(),
        RequestGrounds(),
    )


def segments_of(settings: Settings) -> Callable[[], SegmentStore]:
    """Where passages stand in files, besides the index's tables; loaded when first asked for."""

    def store() -> SegmentStore:
        from loopforge.memory.passage_segments import SegmentStore

        return SegmentStore(settings.data / "memory")

    return cache(store)


def index_of(settings: Settings) -> TranscriptIndex:
    """The index of what was said; what goes from it goes from those files."""
    store = segments_of(settings)
    return TranscriptIndex(lambda stream, lines: store().take_out(stream, lines))
