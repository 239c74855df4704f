"""Candidates out of PostgreSQL itself, where it has pgvector: by its indexes (pgvector_index.py).

    words     how common each word of the question is; of the rarest, the passages that hold them
    meaning   the nearest by the graph, as far as they may be used; where those are few, the nearest
              of all that may, compared one by one
    around    the neighbours of all these, and only now their rows

What may be used is told to each query as spans of streams, so that nothing outside is counted or
comes back. How many passages there are is counted once for each stream, and then what is added. Up
to NEAR are ranked one and all, as everywhere; so are they found where the indexes are not there.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy import select, text
from sqlalchemy.engine import Connection

from loopforge.ledger.database.table_schema import streams as heads
from loopforge.memory.candidates.candidate_search import NEAR, CandidatePassages, SegmentSearch
from loopforge.memory.candidates.passage_sampling import AROUND
from loopforge.memory.candidates.pgvector_index import (
    STEMS,
    STEP,
    PgvectorState,
    graph_of,
    of_model,
    state_of,
    vector_cast_sql,
)
from loopforge.memory.passage_arrays import APART, passages_of
from loopforge.memory.passage_loading import Span, VectorSpace, change_counts
from loopforge.memory.passage_ranking import K1, B, PassageCorpus, RecallCue
from loopforge.memory.passage_segments import SegmentStore
from loopforge.memory.passages import bag_of_words, search_stems
from loopforge.runtime.ports.memory_port import EVER

if TYPE_CHECKING:
    from numpy.typing import NDArray

POSTINGS, MOST = 5_000, 50_000
"""Passages that are looked at for holding a word; of the rarest word more, but not above MOST."""
BEST, NEAREST = 150, 400
"""Candidates by words, and by meaning; of these so many are asked of the graph."""
ENOUGH = 100
"""Of the nearest in the graph so many must be of use; else all that may be used are compared."""
Place = tuple[str, int, int]
"""Stream, seq and nth of a passage."""
_SPANS = """span AS (SELECT * FROM unnest(CAST(:streams AS text[]),
    CAST(CAST(:runs AS text[]) AS int8multirange[])) AS span(stream, runs))"""
_MINE = """{0}.stream = span.stream AND {0}.seq >= lower(span.runs)
    AND {0}.seq < upper(span.runs) AND {0}.seq <@ span.runs"""
_MANY = f"""WITH {_SPANS} SELECT span.stream, (SELECT count(*) FROM passages
    WHERE {_MINE.format("passages")}) FROM span"""  # noqa: S608
_HOLDERS = f"""unnest(CAST(:words AS int[])) AS word, LATERAL (
        SELECT ctid AS place, stream, seq, length(words) / 5 AS long FROM passages
        WHERE {STEMS} @> ARRAY[word]{{}} OFFSET 0) AS holder
    JOIN span ON holder.stream = span.stream AND holder.seq <@ span.runs"""  # noqa: S608
"""By the index of words, and only then by spans: OFFSET keeps the one from being joined into the
other, since how many hold a word is nothing that PostgreSQL has figures of."""
_SAMPLED = f"""WITH {_SPANS} SELECT word, count(*) FROM {_HOLDERS.format(f" AND seq % {STEP} = 0")}
    GROUP BY word"""  # noqa: S608
_HOLDING = f"""
    WITH {_SPANS}, held AS MATERIALIZED (
        SELECT word, place, long FROM {_HOLDERS.format("")}),
    counted AS (
        SELECT word, holding,
            ln(1 + (CAST(:many AS float8) - holding + 0.5) / (holding + 0.5)) AS rare
        FROM (SELECT word, count(*) AS holding FROM held GROUP BY word) AS each),
    best AS (
        SELECT place, sum(rare) / (1 + CAST({K1} AS float8) * (1 - {B} + {B} * min(long)
            / (SELECT CAST(greatest(avg(long), 1) AS float8) FROM held))) AS worth
        FROM held JOIN counted USING (word) GROUP BY place ORDER BY worth DESC LIMIT {BEST})
    SELECT word, holding, NULL AS stream, 0 AS seq, 0 AS nth FROM counted
    UNION ALL SELECT 0, 0, stream, seq, nth FROM best JOIN passages ON passages.ctid = place
"""  # noqa: S608
_BY_GRAPH = f"""
    WITH {_SPANS}, near AS MATERIALIZED (
        SELECT stream, seq, nth, {{compared}} <=> {{asked}} AS far FROM passage_vectors
        WHERE {{of_model}} ORDER BY far LIMIT {NEAREST})
    SELECT near.stream, seq, nth FROM near
    JOIN span ON near.stream = span.stream AND seq <@ span.runs
    ORDER BY far LIMIT {BEST}
"""  # noqa: S608
_ONE_BY_ONE = f"""
    WITH {_SPANS}
    SELECT each.stream, seq, nth FROM passage_vectors AS each JOIN span ON {_MINE.format("each")}
    WHERE {{of_model}} ORDER BY ({{compared}} <=> {{asked}}) + 0 LIMIT {BEST}
"""  # noqa: S608 (+ 0: not by the graph, which would come back short)
_NEXT = """(SELECT one.seq, one.nth FROM passages AS one
    WHERE one.stream = near.stream AND (one.seq, one.nth) {} (near.seq, near.nth)
    ORDER BY one.seq {}, one.nth {} LIMIT {})"""
_AROUND = f"""
    WITH {_SPANS}, near AS (SELECT * FROM unnest(CAST(:of AS text[]), CAST(:seqs AS bigint[]),
        CAST(:nths AS bigint[])) AS near(stream, seq, nth)),
    around AS (
        SELECT near.stream, there.seq, there.nth, bool_or(there.follows) AS follows
        FROM near JOIN span ON near.stream = span.stream, LATERAL (
            SELECT seq, nth, row_number() OVER (ORDER BY seq, nth) > 1 AS follows
            FROM ({_NEXT.format("<=", "DESC", "DESC", AROUND + 1)}
                UNION ALL {_NEXT.format(">", "", "", AROUND)}) AS beside
            WHERE beside.seq <@ span.runs) AS there
        GROUP BY near.stream, there.seq, there.nth)
    SELECT one.stream, seq, nth, at, speaker, size, traits, words, follows, model,
        CASE WHEN model = :model THEN vector END AS vector,
        CASE WHEN model = :former THEN vector END AS old
    FROM around JOIN passages AS one USING (stream, seq, nth)
    LEFT JOIN passage_vectors USING (stream, seq, nth) ORDER BY stream, seq, nth
"""  # noqa: S608
_SETTLED = (
    f"SELECT set_config('jit', 'off', false), set_config('hnsw.ef_search', '{NEAREST}', false)"
)


class _Counted(NamedTuple):
    """How many passages of a stream may be used, up to a line, and what must not change."""

    key: object
    upto: int
    many: int


class PgvectorSearch:
    """See CandidateSearch."""

    def __init__(self, space: VectorSpace, store: SegmentStore, near: int = NEAR) -> None:
        self.space, self._near = space, near
        self._segments = SegmentSearch(space, store, near)
        self._counts: dict[str, _Counted] = {}
        self._counting = threading.Lock()

    def candidates(
        self, connection: Connection, spans: Mapping[str, Sequence[Span]], asked: RecallCue
    ) -> CandidatePassages:
        """See CandidateSearch."""
        there = state_of(connection)
        if not there.ready or (many := self._many(connection, spans)) <= self._near:
            return self._segments.candidates(connection, spans, asked)
        connection.execute(text(_SETTLED))
        scope = _scope(spans)
        holding, places = _by_words(connection, scope, asked.text, many)
        for vector, model in ((asked.vector, self.space.model), (asked.former, self.space.former)):
            if vector is not None:
                places |= _by_meaning(connection, scope, there, vector, model)
        return self._around(
            connection, sorted(spans), scope, places, PassageCorpus(many, holding, _NONE)
        )

    def _many(self, connection: Connection, spans: Mapping[str, Sequence[Span]]) -> int:
        """How many passages lie within these spans."""
        names = list(spans)
        changed = change_counts(connection, names)
        query = select(heads.c.stream, heads.c.seq).where(heads.c.stream.in_(names))
        upto = {row.stream: row.seq for row in connection.execute(query)}
        with self._counting:
            more: dict[str, list[Span]] = {}
            for name in names:
                key, head = (tuple(spans[name]), changed.get(name)), upto.get(name, 0)
                held = self._counts.get(name)
                if held is None or held.key != key:
                    held = self._counts[name] = _Counted(key, 0, 0)
                if held.upto < head:
                    cut = [(max(a, held.upto + 1), min(b, head)) for a, b in spans[name]]
                    more[name] = [span for span in cut if span[0] <= span[1]]
            found = connection.execute(text(_MANY), _scope(more)).all() if more else ()
            for name, many in found:
                held = self._counts[name]
                self._counts[name] = _Counted(held.key, upto[name], held.many + many)
            return sum(self._counts[name].many for name in names)

    def _around(
        self,
        connection: Connection,
        names: list[str],
        scope: dict[str, Any],
        places: set[Place],
        corpus: PassageCorpus,
    ) -> CandidatePassages:
        """The rows of these places and of their neighbours, as arrays."""
        streams, seqs, nths = map(list, zip(*sorted(places), strict=True)) if places else ([],) * 3
        given = {"of": streams, "seqs": seqs, "nths": nths}
        models = {"model": self.space.model, "former": self.space.former}
        rows = connection.execute(text(_AROUND), scope | given | models).all()
        found = passages_of(rows, self.space.dimension, self.space.formerly)
        number = {name: nth for nth, name in enumerate(names)}
        found = replace(found, room=np.array([number[row.stream] for row in rows], np.int32))
        apart = ~np.array([row.follows for row in rows], bool)
        apart[1:] |= np.abs(np.diff(found.at)) > APART
        strange = {row.model for row in rows} - {None, self.space.model}
        return CandidatePassages(names, found, corpus._replace(talk=np.cumsum(apart)), strange)


_NONE: NDArray[np.int64] = np.zeros(0, np.int64)


def _scope(spans: Mapping[str, Sequence[Span]]) -> dict[str, Any]:
    """What may be used, as queries take it: for each stream its runs."""
    runs = [
        "{" + ",".join(f"[{since},{min(until, EVER)}]" for since, until in each) + "}"
        for each in spans.values()
    ]
    return {"streams": list(spans), "runs": runs}


def _by_words(
    connection: Connection, scope: dict[str, Any], asked: str, many: int
) -> tuple[dict[int, int], set[Place]]:
    """How many passages hold each word, and the best by the rarest: see passage_sampling.py."""
    signed = {(word ^ 1 << 31) - (1 << 31): word for word in bag_of_words(search_stems(asked))}
    sample = connection.execute(text(_SAMPLED), scope | {"words": list(signed)})
    common = dict.fromkeys(signed, 0) | {word: count * STEP for word, count in sample}
    rare, taken = list[int](), 0
    for word in sorted(common, key=lambda word: common[word]):
        if common[word] > MOST or (taken and taken + common[word] > POSTINGS):
            break
        taken += common[word]
        rare.append(word)
    rows = connection.execute(text(_HOLDING), scope | {"words": rare, "many": many}).all()
    common |= dict.fromkeys(rare, 0)
    common |= {row.word: row.holding for row in rows if row.stream is None}
    places = {(row.stream, row.seq, row.nth) for row in rows if row.stream is not None}
    return {signed[word]: min(count, many) for word, count in common.items()}, places


def _by_meaning(
    connection: Connection,
    scope: dict[str, Any],
    there: PgvectorState,
    vector: NDArray[np.float32],
    model: str,
) -> set[Place]:
    """The nearest that may be used."""
    kind, dimension = there.kind, len(vector)
    parts = {
        "compared": vector_cast_sql(kind, dimension),
        "of_model": of_model(model, dimension),
        "asked": f"CAST(CAST(:vector AS text) AS {kind}({dimension}))",
    }
    given = scope | {"vector": f"[{','.join(map(str, vector.tolist()))}]"}
    ways = [_BY_GRAPH, _ONE_BY_ONE] if graph_of(model) in there.made else [_ONE_BY_ONE]
    found: set[Place] = set()
    for way in ways:
        query = text(way.format(**parts))
        found = {(row.stream, row.seq, row.nth) for row in connection.execute(query, given)}
        if len(found) >= ENOUGH:
            break
    return found
