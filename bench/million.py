"""One million passages in one home: words and vectors together, and what that takes.

Rows are put straight into the index's tables, with ready-made vectors: each is a mixture of three
sentences out of documents that lie on this machine, in words and in meaning, in rooms of 20,000
lines. Then the home's own packer makes segments of them, and a process of its own opens the home
and asks: in all rooms, in one, for a line said just now. Memory is that process's, mapped files
apart. The exact scan is of the same vectors in the same process, afterwards. `bench/pgvector.py`
does the same on PostgreSQL.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from sqlalchemy.engine import Connection

from bench.figures import Figure, folder, middle, share, sized
from bench.long_chats import paragraphs
from loopforge.core.events import Fact, epoch_micros
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.database.table_schema import streams
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.memory.candidates.candidate_search import SegmentSearch
from loopforge.memory.candidates.pgvector_index import PgvectorIndex
from loopforge.memory.candidates.pgvector_search import PgvectorSearch
from loopforge.memory.passage_arrays import concatenate_passages
from loopforge.memory.passage_embedding import PassageVectors
from loopforge.memory.passage_index import TranscriptIndex, passages, vectors
from loopforge.memory.passage_loading import RoomPassages, VectorSpace
from loopforge.memory.passage_ranking import (
    RecallCue,
    cosine_similarities,
    quantize_vectors,
    rank_passages,
)
from loopforge.memory.passage_segments import SegmentStore
from loopforge.memory.passages import bag_of_words, pack_bag, search_stems
from loopforge.memory.transcript_recall import TranscriptRecall
from loopforge.models.embeddings.static_table import StaticTable
from loopforge.runtime.ports.memory_port import RecallQuery
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice

ITEMS, ROOM = sized(1_000_000, 60_000), 20_000
SENTENCES, QUESTIONS, EXACT = 6_000, sized(60, 12), 5
AT_ONCE = 10_000
Spans = dict[str, list[tuple[int, int]]]


def sentences() -> list[str]:
    """Sentences of documents, always the same on one machine."""
    found = [
        part for text in paragraphs(0) for part in text.split(". ") if 6 < len(part.split()) < 30
    ]
    dice = np.random.default_rng(1)
    return [found[nth] for nth in dice.permutation(len(found))[:SENTENCES]]


def _stream(nth: int) -> str:
    return f"room:r{nth:04}"


async def build(home: Path, url: str, items: int) -> None:
    """Fill a home, and pack it, or have its database make indexes."""
    store = SegmentStore(home / "memory")
    ledger = await _open(url, store)
    said, dice = sentences(), np.random.default_rng(2)
    meant = StaticTable().look_up(said)
    words = [bag_of_words(search_stems(text)) for text in said]
    for start in range(0, items, AT_ONCE):
        mixed = dice.integers(0, len(said), (AT_ONCE, 3))
        whole = meant[mixed].sum(axis=1) + dice.normal(0, 0.02, (AT_ONCE, meant.shape[1]))
        whole /= np.linalg.norm(whole, axis=1, keepdims=True)
        bags = [words[a] + words[b] + words[c] for a, b, c in mixed]
        rows = list(_rows(start, bags, quantize_vectors(whole.astype(np.float32))))
        await ledger.change(partial(_insert, rows=rows))
    await ledger.change(partial(_heads, items=items))
    index = None if url.startswith("sqlite") else PgvectorIndex(ledger, lambda: store)
    vectors_of = PassageVectors(ledger, StaticTable, lambda: store, SystemClock(), index)
    began = time.perf_counter()
    await vectors_of.pack()
    print(json.dumps({"packed": time.perf_counter() - began}))
    await ledger.close()


def _rows(start: int, bags: Sequence[Counter[int]], given: Any) -> Iterator[dict[str, Any]]:
    began = epoch_micros(SystemClock().now()) - ITEMS * 30_000_000
    for nth, (words, vector) in enumerate(zip(bags, given, strict=True), start):
        yield {
            "stream": _stream(nth // ROOM),
            "seq": nth % ROOM + 1,
            "nth": 0,
            "line": f"{nth:020}",
            "ref": f"r{nth:019}",
            "at": began + nth * 30_000_000,
            "speaker": f"person:{nth % 7}",
            "size": sum(words.values()) * 2,
            "traits": 0,
            "words": pack_bag(words),
            "model": StaticTable.name,
            "vector": vector.tobytes(),
        }


def _insert(connection: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    for table in (passages, vectors):
        names = table.c.keys()
        connection.execute(table.insert(), [{name: row[name] for name in names} for row in rows])


def _heads(connection: Any, items: int) -> None:
    rows = [
        {"stream": _stream(nth), "seq": min(ROOM, items - nth * ROOM), "hash": "0" * 64}
        for nth in range(-(-items // ROOM))
    ]
    connection.execute(streams.insert(), rows)


async def _open(url: str, store: SegmentStore) -> SqlLedger:
    views = (TranscriptIndex(store.take_out),)
    return await open_ledger(url, SystemClock(), SystemDice(), views)


async def ask(home: Path, url: str, items: int) -> dict[str, float]:
    """What a fresh process finds, how fast, and what it takes."""
    began = time.perf_counter()
    store = SegmentStore(home / "memory")
    ledger = await _open(url, store)
    table, spans = StaticTable(), {_stream(nth): [(1, ROOM)] for nth in range(-(-items // ROOM))}
    scope: Spans = spans
    search = partial(SegmentSearch if url.startswith("sqlite") else PgvectorSearch, store=store)
    recall = TranscriptRecall(
        ledger, lambda *_: scope, (), lambda: table, lambda _: None, search, SystemClock()
    )
    opened = time.perf_counter() - began
    said, dice = sentences(), np.random.default_rng(3)
    texts = [said[nth].split() for nth in dice.integers(0, len(said), QUESTIONS)]
    asked = [" ".join(dice.permutation(words)[:6]) for words in texts]

    async def found(text: str) -> tuple[float, list[tuple[str, int]]]:
        query = RecallQuery(text=text, stream=_stream(0), present=("0",), limit=10)
        began = time.perf_counter()
        meant = await recall.meant(text)
        best = await ledger.look(lambda c: recall.ranked(c, query, scope, meant))
        return 1000 * (time.perf_counter() - began), [(b.stream, b.seq) for b in best[:10]]

    first, _ = await found(asked[0])
    every = [await found(text) for text in asked]
    scope = {_stream(1): [(1, ROOM)]}
    await found(asked[0])
    one = [(await found(text))[0] for text in asked]
    scope = spans
    memory = _memory()
    new = await _added(ledger, recall, spans)
    return {
        "opened": opened,
        "first": first,
        "p50": middle([took for took, _ in every]),
        "p95": share([took for took, _ in every], 95),
        "scope50": middle(one),
        "scope95": share(one, 95),
        "anonymous": memory["RssAnon"],
        "mapped": memory["RssFile"],
        "new": new,
        **await ledger.look(partial(_exact, spans, store, asked, [best for _, best in every])),
        "files": sum(path.stat().st_size for path in (home / "memory").glob("*")) / 1e6,
        "database": await ledger.look(_size) / 1e6,
    }


def _size(connection: Connection) -> int:
    """Bytes of the database."""
    if connection.dialect.name == "sqlite":
        return Path(str(connection.engine.url.database)).stat().st_size
    query = "SELECT pg_database_size(current_database())"
    return int(connection.exec_driver_sql(query).scalar_one())


async def _added(ledger: SqlLedger, recall: TranscriptRecall, spans: Spans) -> float:
    """Milliseconds until a line that was just said is found among all; NaN if it is not."""
    stamp = Stamp(SystemClock(), SystemDice())
    line = Heard(person="7", text=Words("The zarquon key lies under the flowerpot"), surface="web")
    last = "room:new"
    fact = Fact(id=stamp.id(), at=SystemClock().now(), actor="person:7", body=line)
    await ledger.append(last, [fact])
    spans[last] = [(1, ROOM)]
    began = time.perf_counter()
    query = RecallQuery(text="where does the zarquon key lie?", stream=last, present=("7",))
    best = await recall.recall(query)
    took = 1000 * (time.perf_counter() - began)
    return took if best and best[0].line.id == fact.id else float("nan")


def _exact(
    spans: Spans,
    store: SegmentStore,
    asked: Sequence[str],
    found: Sequence[Any],
    connection: Connection,
) -> dict[str, float]:
    """The exact scan of all vectors; and how many of the ten best of all the search has found."""
    table = StaticTable()
    rooms = RoomPassages(VectorSpace(table.name, table.dimension), store)
    streams, stretches = rooms.within(connection, spans)
    parts = [each.passages for each in stretches]
    took = []
    for vector in table.look_up(asked[:EXACT]):
        began = time.perf_counter()
        near = np.concatenate([cosine_similarities(part.vector, vector) for part in parts])
        np.argpartition(-near, 10)
        took.append(1000 * (time.perf_counter() - began))
    whole, same, ranking = concatenate_passages(parts), [], []
    for text, vector, best in zip(asked[:EXACT], table.look_up(asked[:EXACT]), found, strict=False):
        began = time.perf_counter()
        right = rank_passages(whole, RecallCue(text=text, vector=vector), 10)
        ranking.append(1000 * (time.perf_counter() - began))
        places = {(streams[whole.room[r.place]], int(whole.seq[r.place])) for r in right}
        same.append(len(places & set(best)) / 10)
    return {"scan": middle(took), "ranked": middle(ranking), "same": float(np.mean(same))}


def _memory() -> dict[str, float]:
    rows = [line.split() for line in Path("/proc/self/status").read_text().splitlines()]
    return {row[0].rstrip(":"): int(row[1]) / 1000 for row in rows if row[0].startswith("Rss")}


def figures() -> Iterator[Figure]:
    """Yield the figures."""
    with folder() as home:
        yield from figures_of(home, f"sqlite:///{home / 'm.db'}", ITEMS)


def figures_of(home: Path, url: str, items: int) -> Iterator[Figure]:
    """Those of a database."""
    command = [sys.executable, "-m", "bench.million"]
    made = _run([*command, "build", str(home), url, str(items)])
    got = _run([*command, "ask", str(home), url, str(items)])
    scan, ranked = "exact scan of the vectors alone", "ranking each of them"
    named = f"{items:,} passages"
    yield Figure(f"{named}: words, vectors, p50", got["p50"], "ms", scan, got["scan"])
    yield Figure(f"{named}: words, vectors, p95", got["p95"], "ms", scan, got["scan"], 120)
    yield Figure("the same", got["p50"], "ms", ranked, got["ranked"])
    yield Figure("of the ten best of all", 100 * got["same"], "%", "all of them", 100)
    yield Figure("one room of 20,000, p50", got["scope50"], "ms", "all rooms", got["p50"])
    yield Figure("one room of 20,000, p95", got["scope95"], "ms", "all rooms", got["p95"], 50)
    yield Figure("a line said just now, found in", got["new"], "ms", "any other", got["p50"])
    yield Figure("the first question", got["first"], "ms", "any other", got["p50"])
    yield Figure("to open the ledger", 1000 * got["opened"], "ms", "a question", got["p50"])
    resident, mapped = got["anonymous"], "mapped files beside it"
    yield Figure("resident, mapped files apart", resident, "MB", mapped, got["mapped"], 300)
    yield Figure("disk: segments", got["files"], "MB", "the database", got["database"])
    yield Figure("to pack all of it", made["packed"], "s", "a question", got["p50"] / 1000)


def _run(command: Sequence[str]) -> dict[str, float]:
    small = ["--small"] if "--small" in sys.argv else []
    told = subprocess.run([*command, *small], check=True, stdout=subprocess.PIPE).stdout
    return msgspec.json.decode(told, type=dict[str, float])


if __name__ == "__main__":
    task, place = sys.argv[1], (Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    if task == "build":
        asyncio.run(build(*place))
    else:
        print(json.dumps(asyncio.run(ask(*place))))
