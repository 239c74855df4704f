"""What was said is recalled by what it is about: where it may be, as it stands now, or not at all."""

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from loopforge.chat.room.member_visibility import mates_in
from loopforge.core.room_vocabulary import (
    Heard,
    LineDeleted,
    LineEdited,
    MateJoined,
    MateLeft,
    PlaceJoined,
    Said,
)
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.memory import transcript_recall
from loopforge.memory.passage_arrays import Passages, concatenate_passages
from loopforge.memory.passage_embedding import PassageVectors
from loopforge.memory.passage_index import passages, vectors
from loopforge.memory.passage_loading import RoomPassages, VectorSpace
from loopforge.memory.passage_segments import SegmentStore
from loopforge.models.embeddings.static_table import StaticTable
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports.memory_port import RecallQuery
from tests.rooms.conftest import Home, living

SECRET = "The zarquon key lies under the third flowerpot"


async def recalled(home: Home, text: str, *who: str, stream: str = "", **more: object) -> list[str]:
    """What comes back for these people, the best first."""
    query = RecallQuery(
        text=text,
        stream=stream or f"room:{home.room}",
        present=tuple(home.people[name] for name in who),
        mate="maya",
        **more,  # type: ignore[arg-type]
    )
    found = await home.app.memory.recall.recall(query)
    return [str(each.line.body.text) for each in found if isinstance(each.line.body, Heard)]


async def heard(home: Home, stream: str, name: str, text: str) -> None:
    """Somebody says something in a room."""
    line = Heard(person=home.people[name], text=Words(text), surface="web")
    await home.app.rooms.hear(stream.removeprefix("room:"), line)


async def count(home: Home) -> tuple[int, int]:
    """How many passages and vectors there are."""
    rows = await home.app.ledger.look(lambda table: table.execute(passages.select()).all())
    made = await home.app.ledger.look(lambda table: table.execute(vectors.select()).all())
    return len(rows), len(made)


@pytest.mark.usefixtures("sentence_model_here")
async def test_a_line_is_found_at_once_by_words_and_later_by_meaning(home: Home) -> None:
    """No reply waits for vectors: they come in idle time, and then count besides."""
    await home.hears("ana", "My sister bakes rye bread on Sundays")
    await home.hears("ana", "The bicycle has a flat tyre")
    assert (await recalled(home, "who bakes bread?", "ana"))[0].startswith("My sister")
    before = await count(home)
    assert before[0] > 0
    assert before[1] == 0
    await home.app.memory.vectors.fill()
    there = await count(home)
    assert there[0] == there[1]
    query = RecallQuery(text="loaf", stream="room:commons", present=(home.people["ana"],))
    best = (await home.app.memory.recall.recall(query))[0]
    assert isinstance(best.line.body, Heard)
    assert "rye bread" in str(best.line.body.text)
    assert best.parts["meaning"] > 0


async def test_what_stands_before_a_mate_is_not_recalled(home: Home) -> None:
    """Its lines are left out by their numbers, and there alone: of another room, that number is not."""
    lines = [await home.hears("ana", f"My {each} eats bread") for each in ("sister", "goat")]
    one = frozenset({lines[0].seq})
    assert await recalled(home, "who eats bread?", "ana", seen=one) == ["My goat eats bread"]
    everything = frozenset(event.seq for event in await home.events())
    assert await recalled(home, "who eats bread?", "ana", seen=everything) == []
    private = await home.private_room("ana")
    found = await recalled(
        home, "who eats bread?", "ana", stream=private, seen=everything, everywhere=True
    )
    assert len(found) == 2


async def test_nothing_is_searched_where_a_mate_sees_all_there_is(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the question means is not asked for, until a line is out of its sight, or elsewhere."""
    await home.hears("ana", "Bread number 1 did not rise")
    private = await home.private_room("ana")
    asked, meant = list[str](), home.app.memory.recall.meant

    async def counted(text: str) -> dict[str, Any]:
        asked.append(text)
        return await meant(text)

    async def found(**more: object) -> list[str]:
        asked.clear()
        return await recalled(home, "bread?", "ana", **more)  # type: ignore[arg-type]

    monkeypatch.setattr(home.app.memory.recall, "meant", counted)
    before = frozenset(event.seq for event in await home.events())
    assert await found(seen=before) == []
    assert not asked
    await home.hears("ana", "Nor did this bread")
    everything = frozenset(event.seq for event in await home.events())
    assert await found(seen=everything) == []
    assert not asked
    assert await found(seen=before, upto=max(before)) == []
    assert not asked  # what came after all that it sees is news
    assert await found(seen=before) == ["Nor did this bread"]
    assert asked
    assert await found(stream=private) == []
    assert not asked
    assert len(await found(stream=private, everywhere=True)) == 2


async def test_a_young_room_is_not_even_read(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a mate sees all that is said; only where more was said meanwhile than is followed."""
    recall, reads = home.app.memory.recall, list[str]()
    look = recall._look_now

    def counted(*given: Any, **more: Any) -> Any:
        reads.append(more["query"].mate)
        return look(*given, **more)

    async def found(*left_out: int) -> list[str]:
        reads.clear()
        seen = {event.seq for event in await home.events() if isinstance(event.body, Heard | Said)}
        query = RecallQuery(
            text="bread?",
            stream=f"room:{home.room}",
            present=(home.people["ana"],),
            mate="otto",
            everywhere=True,
            seen=frozenset(seen.difference(left_out)),
            upto=max(seen),
        )
        lines = [each.line.body for each in await recall.recall(query)]
        return [str(line.text) for line in lines if isinstance(line, Heard)]

    monkeypatch.setattr(recall, "_look_now", counted)
    monkeypatch.setattr(transcript_recall, "FOLLOWED", 40)
    await home.hears("ana", "Bread number 1 did not rise")
    assert await found() == []
    assert "otto" in reads
    for nth in range(12):
        await home.hears("ana", f"Nor did number {nth}, of flour")
        if nth % 3 == 0:
            assert await found() == []
            assert "otto" not in reads
    for nth in range(30):
        await home.hears("ana", f"Nor did number {nth}, of rye")
    assert await found() == []
    assert "otto" in reads
    rose = await home.hears("ana", "This bread rose")
    await home.hears("ana", "So I ate it")
    assert await found(rose.seq) == ["This bread rose"]


async def test_another_room_that_may_be_used_is_looked_for_from_then_on(home: Home) -> None:
    """Who are here meet elsewhere, too, and what is said there then may come up."""
    await home.enter("ana")
    ana = home.people["ana"]
    bo = home.people["bo"] = "p-bo"
    elsewhere, here = await home.private_room("ana"), await home.private_room("ana")
    await home.app.front.bring(here.removeprefix("room:"), ana, bo, "Bo")
    await heard(home, elsewhere, "ana", SECRET)
    await heard(home, here, "bo", "Good morning")
    ask, key = "where does the zarquon key lie?", "The zarquon key is with me"
    seen = frozenset(event.seq for event in await home.app.ledger.read(here))
    both = partial(recalled, home, ask, "ana", "bo", stream=here, seen=seen, everywhere=True)
    assert [await both(), await both()] == [[], []]
    await home.app.front.bring(elsewhere.removeprefix("room:"), ana, bo, "Bo")
    await heard(home, elsewhere, "bo", key)
    assert await both() == [key]


async def test_who_came_later_keeps_back_what_was_said_before(home: Home) -> None:
    """A late comer who may not see the past changes what may be used, until they are gone."""
    await home.hears("ana", SECRET)
    assert SECRET in await recalled(home, "where is the zarquon key?", "ana")
    await home.app.front.bring(home.room, home.people["ana"], "cy", "Cy")
    home.people["cy"] = "cy"
    assert SECRET not in await recalled(home, "where is the zarquon key?", "ana", "cy")
    assert not await recalled(home, "where is the zarquon key?")


async def test_private_stays_private(home: Home) -> None:
    """It comes up in another private room of the same person, with the same mate, and nowhere else."""
    await home.enter("ana", "bo")
    told, other = await home.private_room("ana"), await home.private_room("ana")
    bos = await home.private_room("bo")
    await heard(home, told, "ana", SECRET)
    ask = "where does the zarquon key lie?"
    assert await recalled(home, ask, "ana", stream=other, everywhere=True) == [SECRET]
    assert not await recalled(home, ask, "ana", stream=other)
    for people, stream in ((["ana"], ""), (["ana", "bo"], other), (["bo"], bos), (["bo"], other)):
        assert SECRET not in await recalled(home, ask, *people, stream=stream, everywhere=True)
    stranger = RecallQuery(
        text=ask, stream=other, present=(home.people["ana"],), mate="zuzu", everywhere=True
    )
    assert not await home.app.memory.recall.recall(stranger)


async def test_a_mate_takes_along_what_was_said_while_it_was_there(home: Home) -> None:
    """Not what was said before it came, or after it had left; and nobody is told it is there still."""
    await home.hears("ana", "The zarquon tea is green")
    rooms, ana = home.app.rooms, home.people["ana"]
    other = await rooms.open(ana, "elsewhere", "", ["maya"])
    await rooms.add(home.room, ana, MateLeft(mate="maya"))
    await home.hears("ana", "The zarquon coffee is black")
    await rooms.add(home.room, ana, MateJoined(mate="maya"))
    await home.hears("ana", "The zarquon milk is white")
    found = await recalled(home, "zarquon?", "ana", stream=f"room:{other}", everywhere=True)
    assert sorted(found) == ["The zarquon milk is white", "The zarquon tea is green"]
    there = await home.app.ledger.look(lambda tables: mates_in(tables, f"room:{home.room}"))
    assert there[-1] == "maya"


async def test_a_group_of_a_platform_takes_nothing_in(home: Home) -> None:
    """Who reads along in a channel is not known: only what was said there is recalled there."""
    await home.enter("ana")
    told, group = await home.private_room("ana"), await home.private_room("ana")
    await heard(home, told, "ana", SECRET)
    place = PlaceJoined(place="discord:1", name=Words("general"), kind="group")
    await home.app.ledger.append(group, [home.app.stamp.fact(place, actor="room")])
    assert not await recalled(home, "zarquon key", "ana", stream=group, everywhere=True)


async def test_edited_and_deleted_lines_are_as_they_stand_now(home: Home) -> None:
    """The old words find nothing, the new ones do; a deleted line is gone from the first moment."""
    line = await home.hears("ana", SECRET)
    edit = LineEdited(line=line.id, text=Words("The quixo key hangs by the door"), by="person:x")
    await recalled(home, "key", "ana")
    await home.app.ledger.append("room:commons", [home.app.stamp.fact(edit, actor="person:x")])
    assert "The quixo key hangs by the door" in await recalled(home, "quixo", "ana")
    assert SECRET not in await recalled(home, "zarquon flowerpot", "ana")
    gone = LineDeleted(line=line.id, by="person:x")
    await home.app.ledger.append("room:commons", [home.app.stamp.fact(gone, actor="person:x")])
    assert not [each for each in await recalled(home, "quixo key", "ana") if "quixo" in each]


@pytest.mark.parametrize("first", ["edited", "forgotten"])
async def test_a_line_whose_first_words_are_forgotten_is_found_by_those_of_now(
    home: Home, first: str
) -> None:
    """Before or after the edit; and folding all lines anew comes to the same."""
    line, ledger = await home.hears("ana", SECRET), home.app.ledger
    edit = LineEdited(line=line.id, text=Words("The quixo key hangs by the door"), by="person:x")
    edited = partial(ledger.append, "room:commons", [home.app.stamp.fact(edit, actor="person:x")])
    forgotten = partial(ledger.erase, ErasureRequest(events=(line.id,), exactly=True))
    for step in (edited, forgotten) if first == "edited" else (forgotten, edited):
        await step()
    for _ in range(2):
        assert await recalled(home, "quixo", "ana") == [str(edit.text)]
        assert SECRET not in await recalled(home, "zarquon flowerpot", "ana")
        assert (await ledger.verify()).findings == ()
        await ledger.rebuild()


async def test_a_line_of_before_that_was_edited_since_is_no_news(home: Home) -> None:
    """Where lines count up to a place, one from before it is found by what it says now."""
    line = await home.hears("ana", SECRET)
    edit = LineEdited(line=line.id, text=Words("The quixo key hangs by the door"), by="person:x")
    await home.app.ledger.append("room:commons", [home.app.stamp.fact(edit, actor="person:x")])
    await home.hears("ana", "The quixo key is blue")
    assert await recalled(home, "quixo", "ana", upto=line.seq) == [str(edit.text)]


async def test_what_is_forgotten_is_gone_from_every_file(home: Home) -> None:
    """Rows, vectors and their bytes; also where its vector was just being made."""
    line = await home.hears("ana", SECRET)
    await home.hears("ana", "a fine day for the garden")
    await home.app.memory.vectors.fill()
    mine = passages.c.line == line.id
    (row,) = await home.app.ledger.look(
        lambda table: table.execute(passages.select().where(mine)).all()
    )
    place = (vectors.c.stream == row.stream) & (vectors.c.seq == row.seq)
    (vector,) = await home.app.ledger.look(
        lambda table: table.execute(vectors.select().where(place)).all()
    )
    assert home.holding(row.words)
    assert home.holding(vector.vector)
    await home.app.ledger.erase(ErasureRequest(events=(line.id,), by="owner"))
    assert SECRET not in await recalled(home, "zarquon key", "ana")
    assert home.holding(b"zarquon", row.words, vector.vector) == []
    await home.app.memory.vectors.anew()
    await home.app.memory.vectors.fill()
    assert home.holding(b"zarquon", row.words, vector.vector) == []
    assert (await home.app.ledger.verify()).findings == ()


async def test_a_rebuilt_index_finds_the_same(ledger_url: str, tmp_path: Path) -> None:
    """On either database; vectors go with the old index and are made anew."""
    async with living(tmp_path, database_url=ledger_url) as home:
        await home.hears("ana", "My sister bakes rye bread on Sundays")
        await home.hears("ana", "word " * 400 + "and a zeppelin")
        await home.app.memory.vectors.fill()
        before = await recalled(home, "who baked the zeppelin bread?", "ana")
        there = await count(home)
        assert there[0] == there[1] >= 6
        assert (await home.app.ledger.verify()).findings == ()
        await home.app.ledger.rebuild()
        assert await count(home) == (there[0], 0)
        await home.app.memory.vectors.anew()
        await home.app.memory.vectors.fill()
        assert await count(home) == there
        assert await recalled(home, "who baked the zeppelin bread?", "ana") == before


async def test_vectors_are_made_by_themselves_when_nobody_speaks(home: Home) -> None:
    """A while after the last line each passage has one."""
    await home.hears("ana", "The bicycle has a flat tyre")
    await home.clock.advance(timedelta(minutes=2).total_seconds())
    while (await count(home))[1] < (await count(home))[0]:
        await home.clock.advance(1)


async def test_a_fault_that_nobody_foresaw_ends_no_making_of_vectors(home: Home) -> None:
    """It is told to the log, and after a pause the passages that wait have theirs."""
    await home.hears("ana", "The bicycle has a flat tyre")
    asked = list[str]()

    def today() -> StaticTable:
        asked.append("vectors")
        if len(asked) < 3:
            raise RuntimeError("a server that nobody foresaw")
        return StaticTable()

    store = SegmentStore(home.path / "apart")
    making = PassageVectors(home.app.ledger, today, lambda: store, home.clock)
    async with BackgroundTasks() as tasks:
        work = tasks.spawn(making.run(), "vectors")
        await home.clock.advance(400)
        assert not work.done()
        assert len(asked) > 3
        assert making._from == {}


async def test_vectors_are_made_though_people_never_pause(home: Home) -> None:
    """They wait for a pause, but not for ever: four minutes."""
    began = home.clock.now()
    while not (await count(home))[1]:
        await home.hears("ana", "The bicycle has a flat tyre")
        await home.clock.advance(10)
        assert home.clock.now() - began < timedelta(minutes=10)
    assert home.clock.now() - began >= timedelta(minutes=4)


@pytest.mark.parametrize("held", [0, 10**9])
async def test_rooms_are_let_go_and_read_again(home: Home, held: int, tmp_path: Path) -> None:
    """However little is kept in memory, what is read is the same."""
    rooms = RoomPassages(VectorSpace(), SegmentStore(tmp_path / "none"), held)

    async def there() -> Passages:
        find = partial(rooms.within, spans={"room:commons": [(0, 1000)]})
        _, stretches = await home.app.ledger.look(find)
        return concatenate_passages([each.passages for each in stretches])

    for nth in range(5):
        await home.hears("ana", f"line number {nth} about beetles")
    first = await there()
    await home.hears("ana", "one more")
    again = await there()
    assert len(again) > len(first)
    assert again.seq.tolist()[: len(first)] == first.seq.tolist()
    assert again.number.tolist()[: len(first.number)] == first.number.tolist()
