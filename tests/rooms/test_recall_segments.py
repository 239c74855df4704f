"""Passages in mapped files: found as those in tables are, and gone with their lines."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy.engine import Connection

from loopforge.chat.service.memory_visibility import MOVES
from loopforge.core.room_vocabulary import Heard, LineDeleted, Titled
from loopforge.core.text.erasable_text import Words
from loopforge.errors import LedgerError, ModelError
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.memory import passage_embedding
from loopforge.memory.candidates.candidate_search import SegmentSearch
from loopforge.memory.candidates.passage_sampling import sample_passages
from loopforge.memory.passage_arrays import concatenate_passages
from loopforge.memory.passage_embedding import PassageVectors
from loopforge.memory.passage_index import vectors
from loopforge.memory.passage_loading import RoomPassages, VectorSpace
from loopforge.memory.passage_ranking import RecallCue, rank_passages
from loopforge.memory.passage_segments import SegmentStore
from loopforge.memory.passages import bag_of_words, pack_bag, search_stems
from loopforge.memory.segment_packing import commit_segment, next_packed
from loopforge.memory.transcript_recall import TranscriptRecall
from loopforge.models.embeddings.static_table import StaticTable
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Embeddings
from loopforge.runtime.ports.memory_port import RecallQuery
from loopforge.runtime.system_clock import SystemClock
from tests.ledger.saying import at_once
from tests.rooms.conftest import Home, living

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SECRET = "The zarquon key lies under the third flowerpot"
ROOM = "room:commons"
THINGS = "rhubarb beetle lantern harbour violin glacier saffron compass orchard thimble".split()  # noqa: SIM905


class Turned(StaticTable):
    """The table, with the numbers of each vector the other way round; out of order after a while."""

    name = "turned"
    left = 1

    async def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As Embeddings has it; raises ModelError when it has been asked for enough texts."""
        if len(texts) > 1 and not self.left:
            raise ModelError("enough")
        if len(texts) > 1:
            self.left -= 1
        return self.look_up(texts)[:, ::-1].copy()


async def talk(home: Home, count: int) -> None:
    """Lines that differ, all at once: mates take them up in one turn."""
    await home.hears("ana", "We begin.")
    ana = home.people["ana"]
    texts = [
        Words(f"Number {nth}: {THINGS[nth % 10]} and {THINGS[nth // 10 % 10]}")
        for nth in range(count)
    ]
    bodies = [Heard(person=ana, text=text, surface="terminal") for text in texts]
    await home.app.rooms.add("commons", ana, *bodies)
    await home.rest()


def asking(home: Home, text: str) -> RecallQuery:
    """What is asked in the room."""
    return RecallQuery(text=text, stream=ROOM, present=(home.people["ana"],), limit=10)


async def found(home: Home, text: str, recall: TranscriptRecall | None = None) -> list[str]:
    """What comes back."""
    best = await (recall or home.app.memory.recall).recall(asking(home, text))
    return [str(each.line.body.text) for each in best if isinstance(each.line.body, Heard)]


@pytest.mark.sample(1)
async def test_segments_find_what_the_tables_do(ledger_url: str, tmp_path: Path) -> None:
    """On either database: the same lines with the same scores; a new line is found at once."""
    async with living(tmp_path, database_url=ledger_url) as home:
        await talk(home, 60)
        await home.app.memory.vectors.fill()
        asked = asking(home, "what of the lantern and the compass?")
        before = await home.app.memory.recall.recall(asked)
        assert await home.app.memory.vectors.pack(full=25) > 1
        after = await home.app.memory.recall.recall(asked)
        assert [(e.line.id, e.score) for e in before] == [(e.line.id, e.score) for e in after]
        await home.hears("ana", SECRET)
        assert SECRET in await found(home, "where is the zarquon key?")


@pytest.mark.parametrize("way", ["erase", "delete"])
async def test_what_goes_is_in_no_segment(home: Home, way: str) -> None:
    """The file goes in the same moment; all else is still found, and packed again without it."""
    line = await home.hears("ana", SECRET)
    await talk(home, 30)
    await home.app.memory.vectors.fill()
    (row,) = await home.app.ledger.look(
        lambda table: table.execute(vectors.select().where(vectors.c.seq == line.seq)).all()
    )
    words = pack_bag(bag_of_words(search_stems("zarquon")))[:4]
    await home.app.memory.vectors.pack(full=25)
    segments = home.path / "data" / "memory"
    many = len(list(segments.iterdir()))
    assert [path for path in segments.iterdir() if row.vector in path.read_bytes()]
    assert [path for path in segments.iterdir() if words in path.read_bytes()]
    if way == "erase":
        await home.app.ledger.erase(ErasureRequest(events=(line.id,), by="owner"))
        assert home.holding(row.vector, words, b"zarquon") == []
    else:
        gone = LineDeleted(line=line.id, by="person:x")
        await home.app.ledger.append(ROOM, [home.app.stamp.fact(gone, actor="person:x")])
    assert len(list(segments.iterdir())) == many - 1
    assert SECRET not in await found(home, "where is the zarquon key?")
    assert "Number 7: compass and rhubarb" in await found(home, "number 7 compass")
    await home.app.forgetting.finish(ROOM)  # the answers that quote it
    await home.app.memory.vectors.pack(full=20)
    assert len(list(segments.iterdir())) >= many
    assert not [path for path in segments.iterdir() if words in path.read_bytes()]
    assert "Number 7: compass and rhubarb" in await found(home, "number 7 compass")


@pytest.mark.parametrize("way", ["erase", "start"])
async def test_what_was_being_packed_when_the_home_was_killed_goes_too(
    home: Home, way: str
) -> None:
    """A file that no segment came of holds words of lines: it goes with a line, or at a start."""
    line = await home.hears("ana", SECRET)
    await talk(home, 30)
    await home.app.memory.vectors.fill()
    ledger, store = home.app.ledger, SegmentStore(home.path / "data" / "memory")
    packing = partial(
        next_packed, store=store, model=StaticTable.name, dimension=StaticTable.dimension, full=25
    )
    next_one = await ledger.look(packing)
    assert next_one is not None
    aside = store.write(*next_one)
    assert aside.exists()
    if way == "erase":
        await ledger.erase(ErasureRequest(events=(line.id,), by="owner"))
    else:
        await home.app.memory.vectors.tidy()
    assert not aside.exists()


@pytest.mark.sqlite
@pytest.mark.parametrize("gone", [False, True], ids=["stays", "goes"])
async def test_a_segment_is_taken_in_twice(home: Home, gone: bool) -> None:
    """Where something beside it is taken back: once it is there, or its line goes, and it too."""

    def fault(_: Connection) -> None:
        raise LedgerError("This does not fit.")

    line = await home.hears("ana", SECRET)
    await talk(home, 30)
    await home.app.memory.vectors.fill()
    ledger, store = home.app.ledger, SegmentStore(home.path / "data" / "memory")
    name, dimension = StaticTable.name, StaticTable.dimension
    packing = partial(next_packed, store=store, model=name, dimension=dimension, full=25)
    next_one = await ledger.look(packing)
    assert next_one is not None
    taking = partial(
        commit_segment, store=store, aside=store.write(*next_one), blocks=next_one.blocks
    )
    body = (
        LineDeleted(line=line.id, by="person:x") if gone else Titled(title=Words("Keys"), by="room")
    )
    fact = home.app.stamp.fact(body, actor="person:x")
    taken, *_ = await at_once(
        ledger, ledger.change(taking), ledger.append(ROOM, [fact]), ledger.change(fault)
    )
    assert taken is (not gone)
    assert len(store.all(look=True)) == (not gone)


async def test_a_segment_of_another_state_is_not_used(home: Home, tmp_path: Path) -> None:
    """One that was copied back after its line was forgotten, is deleted when it is met."""
    line = await home.hears("ana", SECRET)
    await talk(home, 30)
    await home.app.memory.vectors.pack(full=25)
    words = pack_bag(bag_of_words(search_stems("zarquon")))[:4]
    there = (home.path / "data" / "memory").iterdir()
    (path,) = (path for path in there if words in path.read_bytes())
    kept = path.read_bytes()
    await home.app.ledger.erase(ErasureRequest(events=(line.id,), by="owner"))
    path.write_bytes(kept)
    assert SECRET not in await found(home, "where is the zarquon key?")
    assert not path.exists()
    path.write_bytes(b"no segment at all")
    assert "Number 7: compass and rhubarb" in await found(home, "number 7 compass")
    assert not path.exists()


@pytest.mark.patient
async def test_of_very_many_the_best_are_found(home: Home) -> None:
    """What is sampled ranks first what ranking all of them does."""
    await talk(home, 100)
    table = StaticTable()
    making = PassageVectors(
        home.app.ledger, lambda: table, lambda: SegmentStore(home.path / "apart"), home.clock
    )
    await making.fill()
    await making.anew()
    await making.fill()
    await making.pack(full=40)
    rooms = RoomPassages(VectorSpace(table.name, 256), SegmentStore(home.path / "apart"))
    find = partial(rooms.within, spans={ROOM: [(0, 40), (50, 1000)]})
    _, stretches = await home.app.ledger.look(find)
    assert any(each.segment for each in stretches)
    whole = concatenate_passages([each.passages for each in stretches])
    for text in ("saffron and orchard", "the violin, number 44", "a glacier"):
        cue = RecallCue(text=text, vector=table.look_up([text])[0])
        some, corpus = sample_passages(stretches, cue, rooms.space)
        best = [int(some.seq[each.place]) for each in rank_passages(some, cue, 3, corpus=corpus)]
        right = [int(whole.seq[each.place]) for each in rank_passages(whole, cue, 10)]
        assert best[0] in right[:2]
        assert set(best) <= set(right)


async def test_while_vectors_are_made_anew_the_old_ones_serve(home: Home) -> None:
    """Another model is set: lines are found by meaning before, while and after it has read them."""
    await home.hears("ana", "My sister bakes rye bread on Sundays")
    await talk(home, 70)
    await home.hears("ana", "The bicycle has a flat tyre")
    old, new = StaticTable(), Turned()
    store = SegmentStore(home.path / "apart")
    chosen: list[Embeddings] = [old]
    named = {old.name: old, new.name: new}

    def today() -> Embeddings:
        return chosen[0]

    making = PassageVectors(home.app.ledger, today, lambda: store, home.clock)
    usable = home.app.memory.recall._usable
    recall = TranscriptRecall(
        home.app.ledger,
        usable,
        MOVES,
        today,
        named.get,
        lambda space: SegmentSearch(space, store),
        home.clock,
    )
    await making.anew()
    await making.fill()

    async def nearest(text: str) -> str:
        query = RecallQuery(text=text, stream=ROOM, present=(home.people["ana"],), limit=1000)
        best = await recall.recall(query)
        told = [(e.parts["meaning"], e.line.body) for e in best if isinstance(e.line.body, Heard)]
        return str(max(told, key=lambda each: each[0])[1].text)

    async def all_is_found() -> None:
        assert await nearest("loaf of rye") == "My sister bakes rye bread on Sundays"
        assert await nearest("cycling, tyres") == "The bicycle has a flat tyre"

    await all_is_found()
    await making.pack(full=30)
    chosen[0] = new
    await all_is_found()
    await making.anew()
    with pytest.raises(ModelError):
        await making.fill()
    there = await home.app.ledger.look(
        lambda table: {row.model for row in table.execute(vectors.select())}
    )
    assert there == {old.name, new.name}
    await all_is_found()
    new.left = 10
    await making.fill()
    await making.pack(full=30)
    await all_is_found()
    assert {segment.head.model for segment in store.all()} == {new.name}


class LockedOnce(PassageVectors):
    """Vectors of a ledger that cannot be read the first time."""

    locked = True

    async def anew(self) -> None:
        """Fail once."""
        was, self.locked = self.locked, False
        if was:
            raise LedgerError("The database is locked.")
        await super().anew()


async def test_a_start_that_could_not_read_the_ledger_asks_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was said before the start gets its vectors then, without a word in that room."""
    await home.hears("ana", "My sister bakes rye bread on Sundays")
    monkeypatch.setattr(passage_embedding, "PAUSE", 0.0)
    monkeypatch.setattr(passage_embedding, "LULL", 0.0)
    store = SegmentStore(home.path / "apart")
    making = LockedOnce(home.app.ledger, StaticTable, lambda: store, SystemClock())
    async with BackgroundTasks() as tasks:
        tasks.spawn(making.run(), "vectors")
        name = StaticTable().name
        async with asyncio.timeout(60):
            while not await home.app.ledger.look(
                lambda table: table.execute(vectors.select().where(vectors.c.model == name)).first()
            ):
                await asyncio.sleep(0.01)
