"""Recall of items of memory: what a mate keeps, as far as it may be used where it is asked for.

They are found as lines are, by the same passages, vectors and ranking (transcript_recall.py); which
may be used is asked once for each question, by `UsableItems`, and what may not is not counted.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace
from sqlalchemy.engine import Connection

from loopforge.core.memory.memory_vocabulary import PREFIX
from loopforge.ledger.table_access import ReadableLedger
from loopforge.memory.memory_view import items_of
from loopforge.memory.transcript_recall import Meant, Span, TranscriptRecall
from loopforge.runtime.ports.memory_port import KeptItem, RecalledItem, RecallQuery

UsableItems = Callable[[Connection, RecallQuery, Collection[str]], Mapping[str, int]]
"""The items of some layers (none: of all) that may be used for a question: their numbers in the
mate's stream, by id."""


class KeptRecall:
    """See `ItemRecall`. `finder` ranks passages."""

    def __init__(
        self, ledger: ReadableLedger, usable: UsableItems, finder: TranscriptRecall
    ) -> None:
        self._ledger, self._usable, self._finder = ledger, usable, finder

    async def recall_items(self, query: RecallQuery) -> Sequence[RecalledItem]:
        """See `ItemRecall.recall_items`."""
        if not query.text.strip() or not query.present or not await self._keeps(query.mate):
            return ()
        if not await self._ledger.look(lambda reading: self._usable(reading, query, ())):
            return ()
        meant = await self._finder.meant(query.text)
        return await self._ledger.look(partial(self._find, query=query, meant=meant))

    async def usable(self, query: RecallQuery, layers: Collection[str] = ()) -> Sequence[KeptItem]:
        """See `ItemRecall.usable`."""
        if not await self._keeps(query.mate):
            return []

        def look(connection: Connection) -> list[KeptItem]:
            found = self._usable(connection, query, layers)
            items = items_of(connection, query.mate, found, layers) if found else []
            return [_as_known(item, found) for item in items]

        return [item for item in await self._ledger.look(look) if item.text.text]

    async def _keeps(self, mate: str) -> bool:
        """Whether it ever kept anything, by what is known without reading."""
        return await self._ledger.told(PREFIX + mate) > 0

    def _find(self, connection: Connection, query: RecallQuery, meant: Meant) -> list[RecalledItem]:
        usable = self._usable(connection, query, ())
        if not usable:
            return []
        stream, ids = PREFIX + query.mate, {seq: item for item, seq in usable.items()}
        ranked = self._finder.ranked(connection, query, {stream: runs_of(ids)}, meant)
        wanted = [ids[place.seq] for place in ranked]
        known = items_of(connection, query.mate, wanted)
        items = {item.id: _as_known(item, usable) for item in known}
        found = [(items[item], place) for item, place in zip(wanted, ranked, strict=True)]
        return [
            RecalledItem(item=item, score=round(place.score, 4), parts=place.parts)
            for item, place in found
            if item.text.text
        ][: query.limit]


def _as_known(item: KeptItem, usable: Mapping[str, int]) -> KeptItem:
    """An item as it is known there: that another took its place is told where that one may be."""
    if item.state != "superseded" or item.replaced in usable:
        return item
    return replace(item, state="held", until=None, replaced="")


def runs_of(numbers: Iterable[int]) -> list[Span]:
    """Numbers as spans without a gap."""
    runs: list[Span] = []
    for one in sorted(numbers):
        if runs and runs[-1][1] == one - 1:
            runs[-1] = runs[-1][0], one
        else:
            runs.append((one, one))
    return runs
