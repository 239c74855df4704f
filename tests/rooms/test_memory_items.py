"""What a mate keeps: it rests on lines, changes by events, and is used where presence allows it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from loopforge.core.events import Event
from loopforge.core.memory.memory_vocabulary import (
    EVERYWHERE,
    EvidenceLine,
    KeepingSet,
    Layer,
    MemoryKept,
)
from loopforge.core.people_events import AccountLinked
from loopforge.core.room_vocabulary import Heard, LineDeleted, PlaceJoined
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.runtime.ports.memory_port import RecallQuery
from tests.rooms.conftest import Home, living

TEA = "Ana likes zarquon tea"


async def heard(home: Home, stream: str, name: str, text: str) -> Event:
    """Somebody says something in a room."""
    line = Heard(person=home.people[name], text=Words(text), surface="web")
    return await home.app.rooms.hear(stream.removeprefix("room:"), line)


def item(text: str, *lines: Event, **more: object) -> MemoryKept:
    """An item that rests on lines."""
    evidence = tuple(EvidenceLine(line.stream, line.seq, line.id) for line in lines)
    given = {"layer": "fact", "made_by": "idle", "evidence": evidence, **more}
    return MemoryKept(text=Words(text), **given)  # type: ignore[arg-type]


async def keep(home: Home, text: str, *lines: Event, mate: str = "maya", **more: object) -> str:
    """Keep one item; its id, "" where it was not kept."""
    ids = await home.app.memory.store.keep(mate, [item(text, *lines, **more)], actor="runtime")
    return ids[0] if ids else ""


async def usable(home: Home, stream: str, *who: str, mate: str = "maya") -> list[str]:
    """What may be used in a room among these people."""
    present = tuple(home.people[name] for name in who)
    query = RecallQuery(text="tea", stream=stream, present=present, mate=mate, everywhere=True)
    found = await home.app.memory.items.usable(query)
    for layer in get_args(Layer):  # asked for alone, each layer gives what it has of them
        alone = await home.app.memory.items.usable(query, [layer])
        assert alone == [one for one in found if one.layer == layer]
    return [str(one.text) for one in found]


async def test_an_item_is_found_by_words_and_by_meaning(home: Home) -> None:
    """By the same passages as lines, with its score; what it says after a correction counts."""
    line = await home.hears("ana", "I drink zarquon tea in the morning")
    kept = await keep(home, TEA, line, told_by=home.people["ana"])
    await keep(home, "Ana repairs bicycles", line)
    await home.app.memory.vectors.fill()
    query = RecallQuery(
        text="what does Ana drink?",
        stream="room:commons",
        present=(home.people["ana"],),
        mate="maya",
    )
    best = (await home.app.memory.items.recall_items(query))[0]
    assert (best.item.id, str(best.item.text)) == (kept, TEA)
    assert best.parts["meaning"] > 0
    await home.app.memory.store.correct(kept, "Ana likes quixo coffee", by=home.people["ana"])
    await home.app.memory.vectors.fill()
    found = await home.app.memory.items.recall_items(query)
    assert {str(one.item.text) for one in found} == {
        "Ana likes quixo coffee",
        "Ana repairs bicycles",
    }


async def test_a_new_value_supersedes_the_old_one_which_stays(home: Home) -> None:
    """The old fact says until when it held; another person's fact of that subject is untouched."""
    ana, bo = await home.hears("ana", "I live in Riga"), await home.hears("bo", "I live in Bonn")
    people = home.people
    await keep(home, "Ana lives in Riga", ana, subject=Words("home"), about=(people["ana"],))
    await keep(home, "Bo lives in Bonn", bo, subject=Words("home"), about=(people["bo"],))
    moved = datetime(2026, 11, 1, tzinfo=UTC)
    again = await home.hears("ana", "I moved to Oslo on the first")
    new = await keep(
        home,
        "Ana lives in Oslo",
        again,
        subject=Words("Home "),
        about=(people["ana"],),
        since=moved,
    )
    items = {str(one.text): one for one in await home.app.memory.store.items("maya")}
    assert items["Ana lives in Riga"].state == "superseded"
    assert items["Ana lives in Riga"].until == moved
    assert items["Ana lives in Riga"].replaced == new
    assert [text for text, one in items.items() if one.state == "held"] == [
        "Bo lives in Bonn",
        "Ana lives in Oslo",
    ]


async def test_of_two_meanings_of_a_word_that_are_kept_at_once_the_later_holds(
    home: Home,
) -> None:
    """Just as where one was kept after the other: both are of one room."""
    line = await home.hears("ana", "a zarquon is a tea; no, a coffee")
    word = {"layer": "word", "subject": Words("zarquon"), "room": line.stream}
    items = [item("A zarquon is a tea", line, **word), item("A zarquon is a coffee", line, **word)]
    await home.app.memory.store.keep("maya", items, actor="runtime")
    kept = await home.app.memory.store.items("maya")
    assert [str(one.text) for one in kept if one.state == "held"] == ["A zarquon is a coffee"]


async def test_keeping_twice_is_keeping_once(home: Home) -> None:
    """The same words of the same persons are one item, whoever keeps them again."""
    line = await home.hears("ana", "I like tea")
    assert await keep(home, TEA, line) == await keep(home, f" {TEA.upper()}", line)


async def test_an_item_rests_on_something(home: Home) -> None:
    """A line, items, or somebody's word; and it has words, not too many."""
    await home.enter("ana")
    with pytest.raises(InputError, match="rests on"):
        await keep(home, TEA)
    with pytest.raises(InputError, match="nothing"):
        await keep(home, " ", told_by=home.people["ana"])
    with pytest.raises(InputError, match="characters"):
        await keep(home, "tea " * 200, told_by=home.people["ana"])
    with pytest.raises(Unknown):
        await keep(home, TEA, rests_on=("nothing",))


async def test_what_a_person_locked_is_changed_by_persons_alone(home: Home) -> None:
    """Idle time and mates are refused; a person is not; unlocked, it is as before."""
    store = home.app.memory.store
    kept = await keep(home, TEA, await home.hears("ana", "tea"))
    ana = home.people["ana"]
    await store.lock(kept, by=ana)
    for by in ("idle", "mate:maya"):
        with pytest.raises(InputError, match="locked"):
            await store.drop(kept, "old", by=by)
    await store.drop(kept, "old", by=ana)
    assert (await store.item(kept)).state == "dropped"
    assert TEA not in await usable(home, "room:commons", "ana")
    await store.restore(kept, by=ana)
    await store.lock(kept, by=ana, on=False)
    await store.invalidate(kept, "its line changed", by="idle")
    assert (await store.item(kept)).state == "invalidated"


async def test_forgotten_is_gone_from_every_file(home: Home) -> None:
    """Also in the wordings it had before, from index and vectors; it cannot be restored."""
    store = home.app.memory.store
    kept = await keep(home, "Ana hums zarquonish", await home.hears("ana", "hm"))
    await store.correct(kept, "Ana hums quixotish", by="idle")
    await home.app.memory.vectors.fill()
    await store.forget(kept, by=home.people["ana"])
    assert (await store.item(kept)).state == "forgotten"
    assert not home.holding(b"zarquonish", b"quixotish")
    with pytest.raises(Unknown):
        await store.restore(kept, by=home.people["ana"])


async def test_who_wants_nothing_kept_is_kept_nothing_of(home: Home) -> None:
    """A person's word, a room's; taken back, it is as before."""
    store = home.app.memory.store
    line = await home.hears("ana", "tea")
    ana = home.people["ana"]
    for scope in (f"person:{ana}", "room:commons"):
        await store.set_keeping(KeepingSet(scope=scope, kept="off", by=ana))
        assert not await keep(home, f"{TEA} {scope}", line, about=(ana,))
        await store.set_keeping(KeepingSet(scope=scope, kept="default", by=ana))
    assert await keep(home, TEA, line, about=(ana,))


async def test_nothing_is_kept_of_any_self_of_who_said_so(home: Home) -> None:
    """`/memory off` outlives the linking of accounts, and `/memory on` by any self ends it."""
    await home.enter("ana", "anka")
    ana, anka = home.people["ana"], home.people["anka"]
    line = await home.hears("ana", "tea")
    await home.does("anka", "memory", "off")
    assert await keep(home, TEA, line, about=(ana,))
    link = AccountLinked(person=ana, surface="terminal", account=Words("anka"), was=anka)
    await home.app.ledger.append("people", [home.app.stamp.fact(link, actor=f"person:{ana}")])
    assert (await home.app.people.meet("terminal", "anka")).id == ana
    for one in (ana, anka):
        assert not await home.app.memory.memories.keeps(one)
        assert not await keep(home, "Ana likes quixo coffee", line, about=(one,))
    assert "may keep" in await home.does("ana", "memory", "on")
    for one in (ana, anka):
        assert await home.app.memory.memories.keeps(one)
        assert await keep(home, f"Ana likes cocoa {one}", line, about=(one,))


async def test_an_item_is_used_where_all_saw_what_it_rests_on(home: Home) -> None:
    """Private stays private; a late comer changes it; another mate's memory is its own."""
    await home.enter("ana", "bo")
    told, other = await home.private_room("ana"), await home.private_room("ana")
    await keep(home, TEA, await heard(home, told, "ana", "I like tea"), about=(home.people["ana"],))
    assert await usable(home, told, "ana") == await usable(home, other, "ana") == [TEA]
    assert not await usable(home, told, "ana", "bo")
    assert not await usable(home, "room:commons", "ana")
    assert not await usable(home, other, "ana", mate="zuzu")
    assert not await usable(home, other)
    summary = next(one.id for one in await home.app.memory.store.items("maya"))
    await keep(home, "We talked of drinks", rests_on=(summary,), layer="reflection")
    assert not await usable(home, "room:commons", "ana", "bo")


async def test_whom_it_concerns_may_share_it(home: Home) -> None:
    """All whom it concerns must; a group only by its own name."""
    await home.enter("ana", "bo")
    ana, bo = home.people["ana"], home.people["bo"]
    store, told = home.app.memory.store, await home.private_room("ana")
    line = await heard(home, told, "ana", "I like tea")
    tea = await keep(home, TEA, line, about=(ana,))
    both = await keep(home, "Ana and Bo sing", line, about=(ana, bo))
    with pytest.raises(InputError, match="concerns"):
        await store.share(tea, EVERYWHERE, by=bo)
    await store.share(tea, EVERYWHERE, by=ana)
    await store.share(both, EVERYWHERE, by=ana)
    assert await usable(home, "room:commons", "bo") == [TEA]
    await store.share(both, EVERYWHERE, by=bo)
    assert len(await usable(home, "room:commons", "bo")) == 2
    group = await home.private_room("bo")
    place = PlaceJoined(place="discord:1", name=Words("general"), kind="group")
    await home.app.ledger.append(group, [home.app.stamp.fact(place, actor="room")])
    assert not await usable(home, group, "bo")
    await store.share(tea, group, by=ana)
    assert await usable(home, group, "bo") == [TEA]
    await store.share(tea, group, by=ana, on=False)
    await store.share(tea, EVERYWHERE, by=ana, on=False)
    assert TEA not in await usable(home, "room:commons", "bo")


async def test_what_travels_goes_everywhere(home: Home) -> None:
    """Also into a group of a platform."""
    await home.enter("ana", "bo")
    told, group = await home.private_room("ana"), await home.private_room("bo")
    line = await heard(home, told, "ana", "I like tea")
    await keep(home, "I listen before I judge.", line, layer="core", travels=True)
    place = PlaceJoined(place="discord:1", name=Words("general"), kind="group")
    await home.app.ledger.append(group, [home.app.stamp.fact(place, actor="room")])
    assert await usable(home, group, "bo") == ["I listen before I judge."]


async def test_an_item_whose_line_went_is_not_used(home: Home) -> None:
    """Deleted, or forgotten by the ledger alone."""
    for words in ("I like tea", "I like cocoa"):
        line = await home.hears("ana", words)
        await keep(home, words, line)
        assert words in await usable(home, "room:commons", "ana")
        if "tea" in words:
            gone = LineDeleted(line=line.id, by="person:x")
            fact = home.app.stamp.fact(gone, actor="person:x")
            await home.app.ledger.append("room:commons", [fact])
        else:
            await home.app.ledger.erase(ErasureRequest(events=(line.id,), exactly=True))
        assert words not in await usable(home, "room:commons", "ana")


async def test_the_tables_are_what_the_events_make_them(ledger_url: str, tmp_path: Path) -> None:
    """Folded anew they are the same, on either database."""
    async with living(tmp_path, database_url=ledger_url) as home:
        line = await home.hears("ana", "tea")
        ana, store = home.people["ana"], home.app.memory.store
        kept = await keep(home, TEA, line, about=(ana,))
        await store.lock(kept, by=ana)
        await store.share(kept, EVERYWHERE, by=ana)
        assert await usable(home, "room:commons", "ana") == [TEA]
        before = await store.items("maya")
        assert (await home.app.ledger.verify()).findings == ()
        await home.app.ledger.rebuild()
        assert await store.items("maya") == before
        await store.forget(kept, by=ana)
        assert not await usable(home, "room:commons", "ana")
        assert (await home.app.ledger.verify()).findings == ()
