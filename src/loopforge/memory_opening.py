"""The memory of a home, put together: what recalls lines and items, and what keeps them.

Belongs to the composition root (app.py), as the part of it that grows with memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from loopforge.chat.service.usable_items import usable_items
from loopforge.chat.service.usable_rooms import usable_rooms
from loopforge.memory.item_recall import KeptRecall
from loopforge.memory.memory_lineage import MemoryLineage
from loopforge.memory.memory_store import MemoryStore
from loopforge.memory.passage_vectors import PassageVectors
from loopforge.memory.transcript_recall import TranscriptRecall
from loopforge.models.embeddings.embeddings_choice import embeddings_of
from loopforge.runtime.ports import Embeddings

if TYPE_CHECKING:
    from loopforge.ledger.sql_ledger import SqlLedger
    from loopforge.live_settings import LiveSettings
    from loopforge.runtime.system_clock import Stamp


class RoomMemory(NamedTuple):
    """How texts become vectors, what recalls lines by them, and what makes those of lines.

    `items` recalls what mates keep, `store` keeps it, `lineage` takes it along into forks.
    """

    embeddings: Callable[[], Embeddings]
    recall: TranscriptRecall
    vectors: PassageVectors
    items: KeptRecall
    store: MemoryStore
    lineage: MemoryLineage


def memory_of(live: LiveSettings, ledger: SqlLedger, stamp: Stamp) -> RoomMemory:
    """What was said, and what is kept of it. Whoever needs vectors of texts uses the same."""
    vectors = cache(lambda: embeddings_of(live.now, stamp.clock))
    store = MemoryStore(ledger, stamp)
    recall = TranscriptRecall(ledger, usable_rooms, vectors, stamp.clock)
    return RoomMemory(
        embeddings=vectors,
        recall=recall,
        vectors=PassageVectors(ledger, vectors, stamp.clock),
        items=KeptRecall(ledger, usable_items, recall),
        store=store,
        lineage=MemoryLineage(ledger, store, stamp),
    )
