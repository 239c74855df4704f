"""Passages that PostgreSQL finds itself, with pgvector: the same ones, and none that may not be.

What test_recall.py says of presence holds here too, where every passage comes by the indexes.
"""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from loopforge.errors import LedgerBusy
from loopforge.ledger.erasure.database_scrubbing import drop_graphs, make_way
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.memory.candidates.candidate_search import CandidateSearch, SegmentSearch
from loopforge.memory.candidates.pgvector_index import graph_of, pgvector_standing, state_of
from loopforge.memory.candidates.pgvector_search import PgvectorSearch
from loopforge.memory.passage_index import passages, vectors
from loopforge.memory.passage_loading import VectorSpace
from loopforge.memory.passage_ranking import RecallCue, rank_passages
from loopforge.memory.passage_segments import SegmentStore
from loopforge.memory.passages import bag_of_words, pack_bag, search_stems
from tests.postgres import Cluster
from tests.rooms.conftest import Home, living
from tests.rooms.test_recall import (
    SECRET,
    recalled,
    test_a_group_of_a_platform_takes_nothing_in,  # noqa: F401
    test_a_line_is_found_at_once_by_words_and_later_by_meaning,  # noqa: F401
    test_a_rebuilt_index_finds_the_same,  # noqa: F401
    test_edited_and_deleted_lines_are_as_they_stand_now,  # noqa: F401
    test_private_stays_private,  # noqa: F401
    test_who_came_later_keeps_back_what_was_said_before,  # noqa: F401
)
from tests.rooms.test_recall_segments import ROOM, talk

IN_DATABASE = {"LOOPFORGE_MEMORY_INDEX": "pgvector"}
pytestmark = [
    pytest.mark.postgres,
    pytest.mark.xdist_group("pgvector"),
    pytest.mark.usefixtures("sentence_model_here"),
]


def by_indexes(home: Home) -> None:
    """However few passages there are, they are looked for in the indexes."""
    store = SegmentStore(home.path / "apart")
    home.app.memory.recall._search = lambda space: PgvectorSearch(space, store, near=0)


@pytest.fixture
def ledger_url(pgvector_url: str) -> str:
    """Where a ledger is, for tests of both databases: on a third."""
    return pgvector_url


@pytest.fixture
async def home(pgvector_url: str, tmp_path: Path) -> AsyncIterator[Home]:
    """A home whose database finds passages itself, by its indexes even where they are few."""
    url = f"{pgvector_url}&options=-c%20enable_seqscan%3Doff%20-c%20enable_sort%3Doff"
    async with living(tmp_path, environ=IN_DATABASE, database_url=url) as made:
        await made.app.memory.vectors.pack()
        assert (await made.app.ledger.look(state_of)).ready
        by_indexes(made)
        yield made


async def test_the_best_of_all_are_found(home: Home) -> None:
    """The ten best, by the same scores' order, are those of the exact way; outside spans, none."""
    await talk(home, 120)
    await home.app.memory.vectors.fill()
    store, made = SegmentStore(home.path / "apart"), home.app.memory.embeddings()
    space = VectorSpace(made.name, made.dimension)
    spans = {ROOM: [(0, 40), (60, 110)], "room:nowhere": [(0, 9)]}
    exact, own = SegmentSearch(space, store), PgvectorSearch(space, store, near=0)

    async def best(search: CandidateSearch, text: str) -> tuple[list[int], dict[int, int] | None]:
        cue = RecallCue(text=text, vector=(await made.vectors([text]))[0])
        found = await home.app.ledger.look(lambda table: search.candidates(table, spans, cue))
        ranked = rank_passages(found.passages, cue, 10, corpus=found.corpus)
        inside = set(range(41)) | set(range(60, 111))
        assert set(found.passages.seq.tolist()) <= inside
        holding = dict(found.corpus.holding) if found.corpus else None
        return [int(found.passages.seq[each.place]) for each in ranked], holding

    for text in ("saffron and orchard", "the violin, number 44", "a glacier", "quite another"):
        right, _ = await best(exact, text)
        found, holding = await best(own, text)
        assert found[:1] == right[:1]
        assert len({*found} & {*right}) >= 8
        assert holding is not None
        word = next(iter(bag_of_words(search_stems("orchard"))))
        everything = await home.app.ledger.look(
            lambda table: table.execute(passages.select().where(passages.c.stream == ROOM)).all()
        )
        mine = [row for row in everything if row.seq <= 40 or 60 <= row.seq <= 110]
        if word in holding:
            assert holding[word] == sum(word in _numbers(row.words) for row in mine)


def _stored(sent: bytes) -> bytes:
    """A vector as it stands in pages, from what is sent of it."""
    return b"".join(sent[at : at + 2][::-1] for at in range(4, len(sent), 2))


def _numbers(words: bytes) -> set[int]:
    many = len(words) // 5
    return {int.from_bytes(words[4 * nth : 4 * nth + 4], "little") for nth in range(many)}


async def test_what_is_forgotten_is_in_no_page(home: Home, pgvector: Cluster) -> None:
    """Row, vector, index of words and graph: from the next start on their bytes are in no file."""
    line = await home.hears("ana", SECRET)
    await talk(home, 30)
    await home.app.memory.vectors.fill()
    await home.app.memory.vectors.pack()
    (row,) = await home.app.ledger.look(
        lambda table: table.execute(vectors.select().where(vectors.c.seq == line.seq)).all()
    )
    words = pack_bag(bag_of_words(search_stems("zarquon")))[:4]
    url = home.app.settings.database_url
    with psycopg.connect(url, autocommit=True) as plain:
        said = (
            "SELECT halfvec_send(meaning), halfvec_send(l2_normalize(meaning)) "
            "FROM passage_vectors WHERE seq = %s"
        )
        meaning, inner = map(_stored, plain.execute(said, (line.seq,)).fetchone() or ())
        there = "SELECT oid FROM pg_database WHERE datname = current_database()"
        (number,) = plain.execute(there).fetchone() or ()

        def pages(*secrets: bytes) -> list[str]:
            plain.execute("CHECKPOINT")
            files = (pgvector.root / "data" / "base" / str(number)).iterdir()
            held = {path.name: path.read_bytes() for path in files}
            return [name for name, page in held.items() if any(each in page for each in secrets)]

        plain.execute("ANALYZE")
        assert len(pages(words)) >= 2
        assert pages(SECRET.encode())
        assert pages(meaning)
        assert pages(inner)
        assert pages(row.vector)
        assert (await home.app.ledger.erase(ErasureRequest(events=(line.id,), by="owner"))).clean
        graph = graph_of(home.app.memory.embeddings().name)
        assert graph in (await home.app.ledger.look(state_of)).made
        await home.app.ledger.write_anew()
        secrets = (words, meaning, inner, row.vector, SECRET.encode(), b"zarquon")
        assert pages(*secrets) == []
        assert graph not in (await home.app.ledger.look(state_of)).made
        assert SECRET not in await recalled(home, "where is the zarquon key?", "ana")
        assert "Number 7: compass and rhubarb" in await recalled(home, "number 7 compass", "ana")
        await home.app.memory.vectors.pack()
        assert graph in (await home.app.ledger.look(state_of)).made
        assert pages(*secrets) == []


async def test_what_makes_an_index_is_called_off(pgvector_url: str, tmp_path: Path) -> None:
    """Who stops the home does not wait for it, nor does who forgets something; it is made later."""
    async with living(tmp_path, environ=IN_DATABASE, database_url=pgvector_url) as home:
        await home.hears("ana", SECRET)
        vectors, ledger = home.app.memory.vectors, home.app.ledger

        async def begun(connection: psycopg.Connection[Any]) -> asyncio.Task[int]:
            """The graph is being made, and waits for a transaction that goes on."""
            await ledger.change(partial(drop_graphs, tables=("passage_vectors",)))
            connection.execute("LOCK TABLE passage_vectors, passages IN ROW EXCLUSIVE MODE")
            task = asyncio.ensure_future(vectors.pack())  # noqa: TID251
            while not await making():
                assert not task.done()
            return task

        async def making() -> int:
            query = "SELECT count(*) FROM pg_stat_progress_create_index"
            found = await ledger.look(lambda table: table.exec_driver_sql(query).scalar_one())
            return int(found)

        await vectors.fill()
        await vectors.pack()
        with psycopg.connect(pgvector_url) as other:
            task = await begun(other)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            while await making():
                pass
            other.rollback()
            task = await begun(other)
            await ledger.look(lambda table: make_way(table, ("passages", "passage_vectors")))
            with pytest.raises(LedgerBusy):
                await task
        await vectors.pack()
        made = (await ledger.look(state_of)).made
        assert graph_of(home.app.memory.embeddings().name) in made


async def test_the_extension_comes_and_goes(pgvector_url: str, tmp_path: Path) -> None:
    """Segments serve until the indexes are made, then go; without the extension they come again."""
    with psycopg.connect(pgvector_url, autocommit=True) as plain:
        async with living(tmp_path, environ=IN_DATABASE, database_url=pgvector_url) as home:
            memory, segments = home.app.memory, home.path / "data" / "memory"

            async def asked() -> list[str]:
                return (await recalled(home, "lantern and compass", "ana"))[:3]

            assert pgvector_standing(pgvector_url)[0] == "missing"
            await talk(home, 40)
            await memory.vectors.fill()
            index, memory.vectors._index = memory.vectors._index, None
            assert await memory.vectors.pack(full=25) > 0
            right = await asked()
            memory.vectors._index = index
            await memory.vectors.pack()
            by_indexes(home)
            memory.recall._searched = None
            assert not list(segments.iterdir())
            assert pgvector_standing(pgvector_url) == ("used", "0.8.5")
            assert await asked() == right
            plain.execute("DROP EXTENSION vector CASCADE")
            assert await asked() == right
            await home.hears("ana", SECRET)
            await memory.vectors.fill()
            assert SECRET in await recalled(home, "zarquon flowerpot", "ana")
            plain.execute("CREATE EXTENSION vector")
            assert pgvector_standing(pgvector_url)[0] == "unindexed"
            await memory.vectors.pack()
            assert SECRET in await recalled(home, "zarquon flowerpot", "ana")
            query = "SELECT count(*) FROM passage_vectors WHERE meaning IS NULL"
            assert plain.execute(query).fetchone() == (0,)
