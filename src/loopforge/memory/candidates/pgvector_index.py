"""Indexes by which PostgreSQL itself finds passages, where it has the extension pgvector.

    loopforge_words    GIN over the numbers of a passage's stems, out of the bytes of its very row
    loopforge_sample   the same of every STEPth line: by it, how common a common word is is told
    meaning            a column beside the bytes of each vector, which a trigger fills
    loopforge_graph_*  HNSW over it by cosine, one for each model; without it all are compared

Nothing of it holds anything that is in another row than before. All is made beside the talk, while
segments serve; then there are none any more. A view that is folded anew takes it along, and who
takes the extension away takes the column: then segments serve again, until all is made anew. An
erasure takes the graph along, since the table is written anew then, and nobody is to wait for that.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from zlib import crc32

from sqlalchemy import text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from loopforge.errors import LedgerBusy, LedgerError
from loopforge.ledger.schema_migration import query_database

if TYPE_CHECKING:
    from loopforge.ledger.sql_ledger import SqlLedger
    from loopforge.memory.passage_segments import SegmentStore

log = logging.getLogger(__name__)
RecallWay = Literal["used", "unindexed", "missing"]
"""Whether PostgreSQL finds passages itself, could as soon as its indexes are made, or cannot."""

LEAST = 140_000
"""The version of PostgreSQL that has multiranges, by which spans are told."""
STEP = 61
"""Of so many lines one is in the sample; a prime, since people and mates take turns."""
FILLED = 2_000
"""Rows that get their meaning in one transaction."""
MOST = {"halfvec": 4_000, "vector": 2_000}
"""Numbers of a vector that a graph takes, by the kind of column: from 0.7 on, and before."""
WORDS, SAMPLE, GRAPH = "loopforge_words", "loopforge_sample", "loopforge_graph_"
STEMS = "loopforge_stems(words)"
_STATE = """
    SELECT
        (SELECT t.typname FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
         WHERE a.attrelid = to_regclass('passage_vectors') AND a.attname = 'meaning'
           AND to_regtype(t.typname) = t.oid) AS kind,
        ARRAY(SELECT CAST(c.relname AS text) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
         WHERE i.indrelid IN (to_regclass('passages'), to_regclass('passage_vectors'))
           AND i.indisvalid AND c.relname LIKE 'loopforge%') AS made
"""
_SHAPES = """
    CREATE OR REPLACE FUNCTION loopforge_stems(bytea) RETURNS int[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
        SELECT array_agg(get_byte($1, i) | (get_byte($1, i + 1) << 8)
            | (get_byte($1, i + 2) << 16) | (get_byte($1, i + 3) << 24))
        FROM generate_series(0, length($1) / 5 * 4 - 4, 4) AS i
    $$;
    CREATE OR REPLACE FUNCTION loopforge_meaning(bytea) RETURNS {kind}
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT CAST(array_agg((get_byte($1, i) + 128) % 256 - 128 ORDER BY i) AS {kind})
        FROM generate_series(0, length($1) - 1) AS i
    $$;
    CREATE OR REPLACE FUNCTION loopforge_meant() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            NEW.meaning := loopforge_meaning(NEW.vector);
            RETURN NEW;
        EXCEPTION WHEN undefined_column OR undefined_function OR undefined_object THEN
            RETURN NEW;  -- the extension was taken away
        END
    $$;
    ALTER TABLE passage_vectors ADD COLUMN IF NOT EXISTS meaning {kind};
    ALTER TABLE passage_vectors ALTER COLUMN meaning SET STATISTICS 0;
    ALTER TABLE passage_vectors ALTER COLUMN meaning SET STORAGE MAIN;
    CREATE OR REPLACE TRIGGER passage_vectors_meant BEFORE INSERT ON passage_vectors
    FOR EACH ROW EXECUTE FUNCTION loopforge_meant();
"""
_FILL = f"""
    UPDATE passage_vectors SET meaning = loopforge_meaning(vector)
    WHERE (stream, seq, nth) IN (
        SELECT stream, seq, nth FROM passage_vectors
        WHERE meaning IS NULL AND length(vector) > 0 LIMIT {FILLED})
"""  # noqa: S608
_BUILDING = """
    SELECT set_config('lock_timeout', '0', false),
        set_config('max_parallel_maintenance_workers', '0', false),
        set_config('maintenance_work_mem', CAST(greatest(524288,
            pg_size_bytes(current_setting('maintenance_work_mem')) / 1024) AS text), false)
"""


class PgvectorState(NamedTuple):
    """What is there: the kind of the column, and the indexes that may be used."""

    kind: str
    made: frozenset[str]

    @property
    def ready(self) -> bool:
        """Whether the database finds passages by itself."""
        return bool(self.kind) and {WORDS, SAMPLE} <= self.made


def state_of(connection: Connection) -> PgvectorState:
    """What is there at this moment."""
    row = connection.execute(text(_STATE)).one()
    return PgvectorState(row.kind or "", frozenset(row.made))


def pgvector_standing(url: str) -> tuple[RecallWay, str]:
    """How matters stand with pgvector in this PostgreSQL, and its version ("" where there is none).

    Raises LedgerError when it is out of reach.
    """
    return query_database(url, _standing)


def _standing(connection: Connection) -> tuple[RecallWay, str]:
    query = (
        "SELECT extversion FROM pg_extension "
        "WHERE extname = 'vector' AND to_regtype('vector') IS NOT NULL"
    )
    found = connection.exec_driver_sql(query).scalar()
    if found and state_of(connection).ready:
        return "used", str(found)
    return "unindexed" if found and _able(connection) else "missing", str(found or "")


def graph_of(model: str) -> str:
    """The name of the graph of a model's vectors."""
    return f"{GRAPH}{crc32(model.encode()):08x}"


def vector_cast_sql(kind: str, dimension: int) -> str:
    """The expression that a graph is over."""
    return f"CAST(meaning AS {kind}({dimension}))"


def of_model(model: str, dimension: int) -> str:
    """The condition for rows in a graph, as SQLAlchemy's `text` takes it."""
    given = model.replace("'", "''").replace(":", "\\:")
    return f"model = '{given}' AND octet_length(vector) = {dimension}"


class PgvectorIndex:
    """Makes what is wanting. See PassageIndex (passage_embedding.py)."""

    def __init__(self, ledger: SqlLedger, store: Callable[[], SegmentStore]) -> None:
        self._ledger, self._store = ledger, store
        self._refused = False
        self._building: Any = None

    async def made(self, model: str, dimension: int) -> bool:
        """See PassageIndex.made."""
        there = await self._ledger.look(state_of)
        if not there.kind and not self._refused:
            self._refused = not await self._ledger.change(_shaped)
        if self._refused:
            return there.ready
        if not there.ready:
            while await self._ledger.change(lambda table: table.execute(text(_FILL)).rowcount):
                pass
        wanting = partial(_wanting, model=model, dimension=dimension)
        try:
            for name, rest in await self._ledger.look(wanting):
                await self._build(name, rest)
        except LedgerBusy:
            raise
        except LedgerError as error:
            log.warning("An index of what was said is not made until the next start. %s", error)
            self._refused = True
            return there.ready
        await self._ledger.look(partial(_tidied, model=model))
        for segment in self._store().all(look=True):
            self._store().drop(segment)
        return True

    async def _build(self, name: str, rest: str) -> None:
        """Make an index, while others read and write; to be called off at any time."""

        def work(connection: Connection) -> None:
            connection.execute(text(_BUILDING))
            self._building = connection.connection.dbapi_connection
            try:
                connection.exec_driver_sql(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
                connection.execute(text(f"CREATE INDEX CONCURRENTLY {name} ON {rest}"))
                connection.exec_driver_sql(f"ALTER INDEX {name} ALTER COLUMN 1 SET STATISTICS 0")
            finally:
                self._building = None
                connection.invalidate()  # it waits for ever

        log.info("PostgreSQL makes the index %s of what was said.", name)
        try:
            await self._ledger.look(work)
        except asyncio.CancelledError:
            if self._building is not None:
                self._building.cancel()
            raise


def _able(connection: Connection) -> bool:
    version = connection.exec_driver_sql("SHOW server_version_num").scalar_one()
    return int(version) >= LEAST


def _shaped(connection: Connection) -> bool:
    """Make column and functions; False where the extension is missing and may not be made."""
    if not _able(connection):
        return False
    there = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
    if connection.exec_driver_sql(there).first() is None:
        return False
    try:
        with connection.begin_nested():
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
    except DBAPIError as error:
        log.info("PostgreSQL has pgvector, but it may not be used here: %s", error.orig)
        return False
    kinds = "SELECT to_regtype('halfvec') IS NOT NULL, to_regtype('vector') IS NOT NULL"
    half, whole = connection.exec_driver_sql(kinds).one()
    if not (half or whole):
        return False
    connection.exec_driver_sql("DROP FUNCTION IF EXISTS loopforge_meaning(bytea)")
    # Made last, they say that all is there.
    connection.exec_driver_sql(f"DROP INDEX IF EXISTS {WORDS}, {SAMPLE}")
    shapes = _SHAPES.format(kind="halfvec" if half else "vector")
    connection.connection.cursor().execute(shapes)
    return True


def _wanting(connection: Connection, model: str, dimension: int) -> list[tuple[str, str]]:
    """The indexes that are not there: their names, and what follows `ON`."""
    kind, made = state_of(connection)
    return [each for each in _wanted(kind, model, dimension) if each[0] not in made]


def _wanted(kind: str, model: str, dimension: int) -> Iterator[tuple[str, str]]:
    if model and 0 < dimension <= MOST[kind]:
        over = f"hnsw (({vector_cast_sql(kind, dimension)}) {kind}_cosine_ops)"
        yield graph_of(model), f"passage_vectors USING {over} WHERE {of_model(model, dimension)}"
    words = f"passages USING gin ({STEMS}) WITH (fastupdate = off)"
    yield SAMPLE, f"{words} WHERE seq % {STEP} = 0"
    yield WORDS, words


def _tidied(connection: Connection, model: str) -> None:
    """Drop the graphs of models of which no vector is left."""
    graphs = {each for each in state_of(connection).made if each.startswith(GRAPH)}
    if not model or not graphs - {graph_of(model)}:
        return
    models = connection.exec_driver_sql("SELECT DISTINCT model FROM passage_vectors").scalars()
    for name in graphs - {graph_of(each) for each in (*models, model)}:
        connection.exec_driver_sql(f"DROP INDEX IF EXISTS {name}")
