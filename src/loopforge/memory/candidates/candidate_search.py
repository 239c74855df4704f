"""Candidates: of the passages that may be used, those worth ranking, and what is known of all.

The port, and what serves it on every database: up to NEAR passages are candidates one and all; of
more, those that are found in arrays and mapped files (passage_sampling.py). Where PostgreSQL has
the extension pgvector, it finds them itself (pgvector_search.py). What comes of either is ranked
by the same formula (passage_ranking.py).
"""

import threading
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from sqlalchemy.engine import Connection

from loopforge.memory.candidates.passage_sampling import sample_passages
from loopforge.memory.passage_arrays import Passages, concatenate_passages
from loopforge.memory.passage_loading import RoomPassages, Span, VectorSpace
from loopforge.memory.passage_ranking import PassageCorpus, RecallCue
from loopforge.memory.passage_segments import SegmentStore

NEAR = 20_000
"""Passages that are ranked one and all."""


class CandidatePassages(NamedTuple):
    """Passages in their order; `room` of each is a place in `streams`.

    `corpus` tells of all that may be used, where these are not all. `strange` are models, met among
    them, that are neither of those that were searched by.
    """

    streams: Sequence[str]
    passages: Passages
    corpus: PassageCorpus | None
    strange: Collection[str]


class CandidateSearch(Protocol):
    """Finds what is worth ranking, by the vectors of the models of its `space`."""

    @property
    def space(self) -> VectorSpace:
        """See `VectorSpace`."""

    def candidates(
        self, connection: Connection, spans: Mapping[str, Sequence[Span]], asked: RecallCue
    ) -> CandidatePassages:
        """Those within these spans of streams; of what lies outside, nothing is told or counted."""


class SegmentSearch:
    """See CandidateSearch: rows that are held in memory, and segments."""

    def __init__(self, space: VectorSpace, store: SegmentStore, near: int = NEAR) -> None:
        self.space, self._near = space, near
        self._rooms = RoomPassages(space, store)
        self._searching = threading.Lock()

    def candidates(
        self, connection: Connection, spans: Mapping[str, Sequence[Span]], asked: RecallCue
    ) -> CandidatePassages:
        """See CandidateSearch."""
        with self._searching:
            streams, stretches = self._rooms.within(connection, spans)
            strange = frozenset(self._rooms.strange)
        if sum(len(each.passages) for each in stretches) <= self._near:
            parts = [each.passages for each in stretches] or [self._rooms.none()]
            return CandidatePassages(streams, concatenate_passages(parts), None, strange)
        found, corpus = sample_passages(stretches, asked, self.space)
        return CandidatePassages(streams, found, corpus, strange)
