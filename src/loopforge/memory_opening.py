"""The memory of a home, put together: what recalls lines and items, and what keeps them.

Belongs to the composition root (app.py), as the part of it that grows with memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from loopforge.chat.memories.memory_service import MemoryService
from loopforge.chat.remembering.note_taking import NoteWorld
from loopforge.chat.room.room_store import RoomStore
from loopforge.chat.service.memory_visibility import (
    MOVES,
    is_more_visible,
    usable_items,
    usable_rooms,
)
from loopforge.chat.service.memory_wishes import MemoryWishes
from loopforge.chat.service.recall_tool import RECALL, RecallTool
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.core.mates.mate_file import Mate
from loopforge.ledger_opening import segments_of
from loopforge.memory.beliefs.belief_audit import BeliefAudit
from loopforge.memory.item_recall import KeptRecall
from loopforge.memory.memory_lineage import MemoryLineage
from loopforge.memory.memory_settings import MemorySettings
from loopforge.memory.memory_store import MemoryStore
from loopforge.memory.passage_embedding import PassageVectors
from loopforge.memory.transcript_recall import TranscriptRecall
from loopforge.models.embeddings.embeddings_choice import EmbeddingsChoice
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Embeddings, Models, Tool, ToolWork

if TYPE_CHECKING:
    from loopforge.ledger.sql_ledger import SqlLedger
    from loopforge.live_settings import LiveSettings
    from loopforge.memory.candidates.candidate_search import CandidateSearch
    from loopforge.memory.passage_embedding import PassageIndex
    from loopforge.memory.passage_loading import VectorSpace
    from loopforge.memory.passage_segments import SegmentStore
    from loopforge.people.identity.person_registry import PersonRegistry
    from loopforge.runtime.system_clock import Stamp
    from loopforge.setting_defaults import Settings


class RoomMemory(NamedTuple):
    """How texts become vectors, what recalls lines by them, and what makes those of lines.

    `items` recalls what mates keep, `store` keeps it, `lineage` takes it along into forks. `audit`
    sees whether it still holds, `memories` is what people do with what is kept of them.
    """

    embeddings: Callable[[], Embeddings]
    recall: TranscriptRecall
    vectors: PassageVectors
    items: KeptRecall
    store: MemoryStore
    lineage: MemoryLineage
    audit: BeliefAudit
    memories: MemoryService


def in_database(settings: Settings) -> bool:
    """Whether the database is to find passages itself, which PostgreSQL can."""
    wanted = settings.of("memory", MemorySettings).index == "pgvector"
    return wanted and not settings.database_url.startswith("sqlite")


def _search_of(
    settings: Settings, segments: Callable[[], SegmentStore]
) -> Callable[[VectorSpace], CandidateSearch]:
    """What finds passages on the home's database; loaded when first asked for."""

    def search(space: VectorSpace) -> CandidateSearch:
        if not in_database(settings):
            from loopforge.memory.candidates.candidate_search import SegmentSearch

            return SegmentSearch(space, segments())
        from loopforge.memory.candidates.pgvector_search import PgvectorSearch

        return PgvectorSearch(space, segments())

    return search


def _own_index_of(
    settings: Settings, ledger: SqlLedger, segments: Callable[[], SegmentStore]
) -> PassageIndex | None:
    """What the database makes for that itself, if it can."""
    if not in_database(settings):
        return None
    from loopforge.memory.candidates.pgvector_index import PgvectorIndex

    return PgvectorIndex(ledger, segments)


def memory_of(
    live: LiveSettings,
    ledger: SqlLedger,
    stamp: Stamp,
    tasks: BackgroundTasks,
    house: RoomStore,
    people: PersonRegistry,
) -> RoomMemory:
    """What was said, and what is kept of it. Whoever needs vectors of texts uses the same."""
    chosen = EmbeddingsChoice(lambda: live.now, stamp.clock)
    vectors, segments = chosen.today, segments_of(live.now)
    search = _search_of(live.now, segments)
    index = _own_index_of(live.now, ledger, segments)
    recall = TranscriptRecall(
        ledger, usable_rooms, MOVES, vectors, chosen.called, search, stamp.clock
    )
    making = PassageVectors(ledger, vectors, segments, stamp.clock, index)
    live.follow(lambda _: making.everything())
    store = MemoryStore(ledger, stamp, is_more_visible, people.persons)
    audit = BeliefAudit(ledger, store, tasks, stamp.clock)
    return RoomMemory(
        embeddings=vectors,
        recall=recall,
        vectors=making,
        items=KeptRecall(ledger, usable_items, recall),
        store=store,
        lineage=MemoryLineage(ledger, store, stamp),
        audit=audit,
        memories=MemoryService(ledger, store, audit, house, stamp.clock, people.same),
    )


def recall_tool_of(
    memory: RoomMemory, house: RoomStore, mates: Mapping[str, Mate], zone: str
) -> tuple[Tool, ToolWork]:
    """The tool by which a mate looks things up, and what does its work."""
    return RECALL, RecallTool(memory.recall, memory.items, house, mates, ZoneInfo(zone)).tell


def notes_of(
    memory: RoomMemory,
    house: RoomStore,
    models: Models,
    mates: Mapping[str, Mate],
    rules: RoomRules,
    live: LiveSettings,
    ledger: SqlLedger,
) -> NoteWorld:
    """What mates make of talks in idle time, as the settings have it now."""
    return NoteWorld(
        ledger,
        house,
        memory.store,
        models,
        mates,
        rules,
        ledger.stamp.clock.now,
        lambda: live.now.of("memory", MemorySettings),
    )


def wishes_of(
    memory: RoomMemory,
    house: RoomStore,
    mates: Mapping[str, Mate],
    live: LiveSettings,
    ledger: SqlLedger,
    tasks: BackgroundTasks,
) -> MemoryWishes:
    """What carries out what is asked to be kept or let go of."""
    kept = lambda: live.now.of("memory", MemorySettings).keep  # noqa: E731
    store, items = memory.store, memory.items
    return MemoryWishes(ledger, house, store, items, mates, ledger.stamp, tasks, kept)
