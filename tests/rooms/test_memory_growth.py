"""What mates keep when one becomes two and two become one: by presence, and truly forgotten."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.growth.growth_events import MateForked
from loopforge.core.memory.memory_vocabulary import KeepingSet, MemoryDropped, MemoryKept
from loopforge.core.room_vocabulary import LineEdited
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.mates.growth_story import StoryReader
from tests.mates.growth_checker import check
from tests.rooms.conftest import Home, living
from tests.rooms.test_memory_items import TEA, heard, keep, usable

CORE = "I listen before I judge."


async def fork(home: Home, name: str = "Eve") -> str:
    """A fork of Maya; its handle."""
    await home.app.chronicle.look()
    return (await home.app.growth.forking.fork("maya", name)).handle


async def texts(home: Home, mate: str, state: str = "held") -> list[str]:
    """What a mate keeps."""
    items = await home.app.memory.store.items(mate)
    return [str(one.text) for one in items if one.state == state]


async def item_of(home: Home, mate: str, text: str) -> str:
    """The id of an item of a mate that says this."""
    items = await home.app.memory.store.items(mate)
    return next(one.id for one in items if str(one.text) == text)


# ---------------------------------------------------------------- forks


async def test_a_fork_keeps_the_same_for_the_same_people(home: Home) -> None:
    """It rests on the same lines, so it is used where those who were there are, and not elsewhere."""
    await home.enter("ana", "bo")
    told = await home.private_room("ana")
    line = await heard(home, told, "ana", "I like tea")
    kept = await keep(home, TEA, line, about=(home.people["ana"],))
    eve = await fork(home)
    (copy,) = await home.app.memory.store.items(eve)
    first = await home.app.memory.store.item(kept)
    assert (copy.evidence, copy.about, copy.made_by) == (first.evidence, first.about, "fork")
    assert (copy.learned_by, copy.text.ref) == ("maya", first.text.ref)
    assert await usable(home, told, "ana", mate=eve) == [TEA]
    assert not await usable(home, told, "ana", "bo", mate=eve)
    assert not await usable(home, "room:commons", "ana", "bo", mate=eve)
    assert not await usable(home, await home.private_room("bo"), "bo", mate=eve)
    (change,) = await home.app.growth.changes.changes(eve)
    body = change.events[0].body
    assert isinstance(body, MateForked)
    assert body.upto == 1
    assert [event.kind for event in change.events[1:]] == ["mates.written", "memory.kept"]


async def test_each_goes_on_from_there(home: Home) -> None:
    """What one keeps, rewords or lets go afterwards is the other's no more; a fork of a fork too."""
    line = await home.hears("ana", "I like tea")
    first = await keep(home, TEA, line)
    eve = await fork(home)
    await keep(home, "Ana sings", line)
    await keep(home, "Ana dances", line, mate=eve)
    await home.app.memory.store.correct(first, "Ana likes cocoa", by="idle")
    assert await texts(home, "maya") == ["Ana likes cocoa", "Ana sings"]
    assert await texts(home, eve) == [TEA, "Ana dances"]
    await home.app.memory.store.drop(await item_of(home, eve, TEA), "old", by="idle")
    assert await texts(home, eve) == ["Ana dances"]
    assert "Ana likes cocoa" in await texts(home, "maya")
    await home.app.growth.forking.fork(eve, "Ina")
    assert await texts(home, "ina") == ["Ana dances"]


OATH = "Ana likes tea since her oath"


async def test_what_somebody_corrected_is_their_word_in_a_fork_too(home: Home) -> None:
    """It is used where they alone are, and so is what was made of it; not where its lines were said."""
    line = await home.hears("ana", "I like tea")
    await home.hears("bo", "so do I")
    first = await keep(home, TEA, line)
    await home.app.memory.store.correct(first, OATH, by=home.people["ana"])
    await keep(home, f"Of people: {OATH}", rests_on=(first,), layer="core")
    eve = await fork(home)
    assert await usable(home, "room:commons", "ana", "bo") == []
    assert await usable(home, "room:commons", "ana", "bo", mate=eve) == []
    assert await usable(home, "room:commons", "bo", mate=eve) == []
    assert await usable(home, "room:commons", "ana", mate=eve) == [OATH, f"Of people: {OATH}"]
    ina = (await home.app.growth.forking.fork(eve, "Ina")).handle
    assert await usable(home, "room:commons", "ana", "bo", mate=ina) == []


async def test_what_somebody_corrected_is_their_word_after_a_merge_and_its_undoing(
    home: Home,
) -> None:
    """Whoever merges, or takes that back, is not the one who said so."""
    line, merging = await home.hears("ana", "I like tea"), home.app.growth.merging
    await home.hears("bo", "so do I")
    store, ana, bo = home.app.memory.store, home.people["ana"], home.people["bo"]
    first = await keep(home, TEA, line)
    await home.app.memory.store.correct(first, OATH, by=ana)
    eve = await fork(home)
    await store.correct(await item_of(home, eve, OATH), f"{OATH}, I hear", by=ana)
    await merging.merge(await merging.plan("maya", eve), {}, by=bo)
    assert await texts(home, "maya") == [f"{OATH}, I hear"]
    assert await usable(home, "room:commons", "bo") == []
    assert await usable(home, "room:commons", "ana") == [f"{OATH}, I hear"]
    await home.app.growth.changes.undo("maya", by=bo)
    assert await texts(home, "maya") == [OATH]
    assert await usable(home, "room:commons", "bo") == []
    assert await usable(home, "room:commons", "ana") == [OATH]


@pytest.mark.parametrize("whose", ["maya", "eve"])
async def test_what_is_forgotten_is_forgotten_in_both(home: Home, whose: str) -> None:
    """Whichever of the two it is asked of: no word of it is left, in any file, in any index."""
    line = await home.hears("ana", "hm")
    text = "Ana hums zarquonish"
    await keep(home, text, line)
    await fork(home)
    await home.app.memory.vectors.fill()
    assert home.holding(b"zarquonish")
    await home.app.memory.store.forget(await item_of(home, whose, text), by=home.people["ana"])
    assert not home.holding(b"zarquonish")
    for mate in ("maya", "eve"):
        assert await texts(home, mate, "forgotten") == ["[forgotten]"]
        assert not await usable(home, "room:commons", "ana", mate=mate)
    assert (await home.app.ledger.verify()).findings == ()
    await home.app.ledger.rebuild()
    assert not await usable(home, "room:commons", "ana", mate="eve")


async def test_a_forgotten_line_takes_the_memory_of_a_fork_along(home: Home) -> None:
    """What rests on it is used by neither, and no later fork begins with it."""
    line = await home.hears("ana", "I like tea")
    await keep(home, TEA, line)
    eve = await fork(home)
    await home.app.ledger.erase(ErasureRequest(events=(line.id,), exactly=True))
    for mate in ("maya", eve):
        assert not await usable(home, "room:commons", "ana", mate=mate)
    ina = await fork(home, "Ina")
    assert await texts(home, ina) == []


async def test_a_forgotten_memory_takes_along_what_was_made_of_a_forks(home: Home) -> None:
    """What another mate was given of the copy, in words of its own, goes with the first one."""
    line = await home.hears("ana", "hm")
    kept = await keep(home, "Ana hums zarquonish", line)
    eve = await fork(home)
    copy = await item_of(home, eve, "Ana hums zarquonish")
    await keep(home, "Ana hums zarquonish", mate="zuzu", rests_on=(copy,))
    await keep(home, "Ana hums at night", line, mate="zuzu")
    await home.app.memory.store.forget(kept, by=home.people["ana"])
    assert await texts(home, "zuzu") == ["Ana hums at night"]
    assert await texts(home, eve) == []
    assert home.holding(b"zarquonish") == []


async def test_a_forgotten_copy_leaves_no_subject(home: Home) -> None:
    """The subject came in with the first item, and goes with the fork's all the same."""
    line = await home.hears("ana", "hm")
    await keep(home, TEA, line, subject=Words("marmoladic drinks"))
    copy = await item_of(home, await fork(home), TEA)
    await home.app.memory.store.forget(copy, by=home.people["ana"])
    assert home.holding(b"marmoladic") == []


async def test_what_no_longer_stands_is_not_taken_along(home: Home) -> None:
    """A line that was edited since, an item let go or doubted, a person who wants nothing kept."""
    edited, line = await home.hears("ana", "I like milk"), await home.hears("ana", "tea")
    store, ana = home.app.memory.store, home.people["ana"]
    await keep(home, "Ana likes milk", edited)
    await store.drop(await keep(home, "Ana likes mud", line), "no", by=ana)
    await store.invalidate(await keep(home, "Ana likes rain", line), "doubt", by="idle")
    await keep(home, TEA, line)
    change = LineEdited(line=edited.id, text=Words("I like gin"), by=ana)
    fact = home.app.stamp.fact(change, actor=f"person:{ana}")
    await home.app.ledger.append("room:commons", [fact])
    assert await texts(home, await fork(home)) == [TEA]
    await keep(home, "Ana is shy", line, about=(ana,))
    await store.set_keeping(KeepingSet(scope=f"person:{ana}", kept="off", by=ana))
    assert await texts(home, await fork(home, "Ina")) == [TEA]


async def test_old_values_and_locks_come_along(home: Home) -> None:
    """A superseded fact is superseded in the fork, since the same day; what was locked is locked."""
    line, store = await home.hears("ana", "I moved"), home.app.memory.store
    ana, moved = home.people["ana"], datetime(2026, 11, 1, tzinfo=UTC)
    fact: dict[str, Any] = {"subject": Words("home"), "about": (ana,)}
    await keep(home, "Ana lives in Riga", line, **fact)
    new = await keep(home, "Ana lives in Oslo", line, since=moved, **fact)
    await store.lock(new, by=ana)
    items = {str(one.text): one for one in await store.items(await fork(home))}
    old, held = items["Ana lives in Riga"], items["Ana lives in Oslo"]
    assert (old.state, old.until, old.replaced) == ("superseded", moved, held.id)
    assert (held.state, held.locked) == ("held", True)
    await store.drop(new, "gone", by=ana)
    assert await texts(home, await fork(home, "Ina")) == []


async def test_a_fork_of_how_it_once_was_remembers_what_it_did_then(home: Home) -> None:
    """Later memories are not there; a fact that was superseded later holds; what was let go stays so."""
    line, store = await home.hears("ana", "I moved"), home.app.memory.store
    ana = home.people["ana"]
    fact: dict[str, Any] = {"subject": Words("home"), "about": (ana,)}
    await home.app.chronicle.look()
    await keep(home, "Ana lives in Riga", line, **fact)
    await keep(home, CORE, line, layer="core")
    lost = await keep(home, "I fear rain.", line, layer="core")
    await keep(home, "Ana lives in Oslo", line, **fact)
    await store.drop(lost, "no", by=ana)
    changes = await home.app.growth.changes.changes("maya")
    number = next(one.number for one in changes if one.id == lost)
    made = await home.app.growth.forking.fork("maya", "Old Maya", number=number)
    assert await texts(home, made.handle) == ["Ana lives in Riga", CORE]


async def test_forks_hold_on_either_database(ledger_url: str, tmp_path: Path) -> None:
    """Taken along, forgotten in both, the tables are what the events make them, the chain is whole."""
    async with living(tmp_path, database_url=ledger_url) as home:
        line = await home.hears("ana", "hm")
        await keep(home, TEA, line)
        kept = await keep(home, "Ana hums zarquonish", line)
        eve = await fork(home)
        await home.app.memory.store.forget(kept, by=home.people["ana"])
        assert await texts(home, eve) == await texts(home, "maya") == [TEA]
        assert await usable(home, "room:commons", "ana", mate=eve) == [TEA]
        before = await home.app.memory.store.items(eve)
        assert (await home.app.ledger.verify()).findings == ()
        await home.app.ledger.rebuild()
        assert await home.app.memory.store.items(eve) == before
        assert (await home.app.growth.merging.plan("maya", eve)).idle


@pytest.mark.parametrize("name", ["Eve", "Zora"])
async def test_a_forgotten_memory_of_a_fork_stays_so_folded_anew(home: Home, name: str) -> None:
    """Whichever stream is read first, the table is what it was; what was corrected stands."""
    line, ana = await home.hears("ana", "hm"), home.people["ana"]
    kept, stays = await keep(home, TEA, line), await keep(home, "Ana sings", line)
    eve, store = await fork(home, name), home.app.memory.store
    first = (await store.item(stays)).text.ref
    await store.correct(await item_of(home, eve, "Ana sings"), "Ana hums", by=ana)
    await store.forget(kept, by=ana)
    await home.app.ledger.erase(ErasureRequest(refs=(first,), exactly=True, by=ana))
    before = {mate: await store.items(mate) for mate in ("maya", eve)}
    assert [one.state for one in before["maya"]] == ["forgotten", "forgotten"]
    assert [one.state for one in before[eve]] == ["forgotten", "held"]
    assert (await home.app.ledger.verify()).findings == ()
    await home.app.ledger.rebuild()
    assert {mate: await store.items(mate) for mate in ("maya", eve)} == before


async def test_a_fork_that_was_broken_off_is_finished(home: Home) -> None:
    """Ended between the new file and its memories: at the next start they come along, once."""
    line, chronicle = await home.hears("ana", "I like tea"), home.app.chronicle
    await keep(home, TEA, line)
    await chronicle.look()
    await chronicle.new(
        "---\nname: Eve\n---\nYou are Eve.\n",
        growth=lambda own: MateForked(mate="eve", source="maya", of="x", hash=own, upto=1),
    )
    await keep(home, "Ana sings", line)
    assert await texts(home, "eve") == []
    for _ in range(2):
        await home.app.growth.forking.resume()
    assert await texts(home, "eve") == [TEA]
    (change,) = await home.app.growth.changes.changes("eve")
    assert [event.kind for event in change.events] == [
        "mates.forked",
        "mates.written",
        "memory.kept",
    ]


async def test_a_handle_that_was_another_s_is_not_given_again(home: Home) -> None:
    """Who was here before is on record, with a memory; a fork does not step into it."""
    await fork(home)
    await home.app.chronicle.retire("eve.md")
    with pytest.raises(InputError, match="There was a mate @eve here before"):
        await fork(home)


# ---------------------------------------------------------------- core memories as changes


async def test_core_memories_are_changes_and_can_be_taken_back(home: Home) -> None:
    """Kept, reworded, let go: each has its number; undo is an event, and undone again it is back."""
    line, growth = await home.hears("ana", "thanks"), home.app.growth.changes
    await home.app.chronicle.look()
    kept = await keep(home, CORE, line, layer="core", travels=True)
    await keep(home, "a note", line, layer="note")
    await home.app.memory.store.correct(kept, "I ask before I judge.", by="idle")
    told = [(one.number, one.kind, one.told) for one in await growth.changes("maya")]
    assert told[1:] == [
        (2, "memory", "a core memory was kept"),
        (3, "memory", "a core memory was reworded"),
    ]
    await growth.undo("maya")
    assert CORE in await texts(home, "maya")
    await growth.undo("maya", 2)
    assert CORE not in await texts(home, "maya")
    assert "a note" in await texts(home, "maya")
    await growth.undo("maya", 5)
    assert CORE in await texts(home, "maya")
    kinds = [one.kind for one in await growth.changes("maya")]
    assert kinds == ["written", "memory", "memory", "undone", "undone", "undone"]
    events = await home.app.ledger.read("memory:maya")
    assert sum(isinstance(event.body, MemoryKept) for event in events) == 2
    assert sum(isinstance(event.body, MemoryDropped) for event in events) == 1


async def test_a_wording_that_was_forgotten_does_not_come_back(home: Home) -> None:
    """Undo of a correction whose old words are gone says so, and writes nothing to memory."""
    line, growth = await home.hears("ana", "thanks"), home.app.growth.changes
    await home.app.chronicle.look()
    kept = await keep(home, "I fear zarquons.", line, layer="core")
    await home.app.memory.store.correct(kept, CORE, by="idle")
    await home.app.ledger.erase(ErasureRequest(events=(kept,), exactly=True))
    with pytest.raises(InputError, match="forgotten"):
        await growth.undo("maya")
    assert not home.holding(b"zarquons")


async def test_the_story_tells_what_it_keeps_to_those_who_may_know(home: Home) -> None:
    """What travels is told to all, the rest to those who see the lines; the checker agrees."""
    line, growth = await home.hears("ana", "thanks"), home.app.growth.changes
    await home.app.chronicle.look()
    await keep(home, CORE, line, layer="core", travels=True)
    shy = await keep(home, "I was gentle with Ana.", line, layer="core")
    await home.app.memory.store.drop(shy, "no", by="idle")
    eve = await fork(home)
    await home.app.memory.store.forget(shy, by=home.people["ana"])
    await keep(home, "I sang with Bo.", line, layer="core")

    async def told(mate: str, *, seen: bool) -> str:
        async def reader(_lines: object) -> StoryReader:
            return StoryReader(lambda _by: "somebody", lambda lines: seen or not lines)

        story = await growth.story(mate, reader)
        assert check(mate, story, await growth.events(mate), lambda _by: "somebody") == []
        return " ".join(one.text for one in story)

    everything, little = await told("maya", seen=True), await told("maya", seen=False)
    assert f"It keeps since: “{CORE}”" in little
    assert "“I sang with Bo.”" in everything
    assert "I sang with Bo." not in little
    assert "Ana" not in everything
    assert "forgotten since" in everything
    assert "It took 1 memory of @maya along." in await told(eve, seen=True)


# ---------------------------------------------------------------- merges


async def test_what_the_other_keeps_besides_is_taken(home: Home) -> None:
    """New items of the fork, by reference and evidence; what both keep is taken once."""
    line, merging = await home.hears("ana", "I like tea"), home.app.growth.merging
    await keep(home, TEA, line)
    eve = await fork(home)
    await keep(home, "Ana dances", line, mate=eve)
    await keep(home, "Ana sings", line, mate=eve)
    await keep(home, "ana sings", line)
    plan = await merging.plan("maya", eve)
    assert (plan.kept, plan.about, plan.idle) == (1, (), False)
    await merging.merge(plan, {})
    assert await texts(home, "maya") == [TEA, "ana sings", "Ana dances"]
    taken = await home.app.memory.store.item(await item_of(home, "maya", "Ana dances"))
    assert (taken.learned_by, taken.made_by) == ("eve", "fork")
    assert "Ana dances" in await usable(home, "room:commons", "ana")
    assert (await merging.plan("maya", eve)).idle
    await home.app.growth.changes.undo("maya")
    assert await texts(home, "maya") == [TEA, "ana sings"]
    assert "Ana dances" in await texts(home, eve)


async def test_facts_that_differ_are_for_a_person_to_decide(home: Home) -> None:
    """The same subject with another value, a core memory reworded in both, one let go in one."""
    line, store = await home.hears("ana", "hm"), home.app.memory.store
    ana, merging = home.people["ana"], home.app.growth.merging
    gone = await keep(home, "Ana is shy", line)
    core = await keep(home, CORE, line, layer="core")
    eve = await fork(home)
    fact: dict[str, Any] = {"subject": Words("home"), "about": (ana,)}
    await keep(home, "Ana lives in Riga", line, **fact)
    await keep(home, "Ana lives in Oslo", line, mate=eve, **fact)
    await store.correct(core, "I listen first.", by="idle")
    await store.correct(await item_of(home, eve, CORE), "I listen, always.", by="idle")
    await store.drop(gone, "wrong", by=ana)
    plan = await merging.plan("maya", eve)
    told = {(one.a, one.b, one.takes) for one in plan.conflicts}
    assert told == {
        ("Ana lives in Riga", "Ana lives in Oslo", ("a", "b")),
        ("I listen first.", "I listen, always.", ("a", "b", "both")),
        ("", "Ana is shy", ("a", "b")),
    }
    with pytest.raises(InputError, match="To be decided first"):
        await merging.merge(plan, {})
    names = {one.b: one.about for one in plan.conflicts}
    assert all(re.fullmatch("memory[.][0-9a-f-]{8}", name) for name in names.values())
    takes = {
        names["Ana lives in Oslo"]: "b",
        names["I listen, always."]: "both",
        names["Ana is shy"]: "a",
    }
    await merging.merge(plan, takes)  # type: ignore[arg-type]
    held = await texts(home, "maya")
    assert sorted(held) == ["Ana lives in Oslo", "I listen first.", "I listen, always."]
    assert await texts(home, "maya", "superseded") == ["Ana lives in Riga"]
    await home.app.growth.changes.undo("maya")
    assert sorted(await texts(home, "maya")) == ["Ana lives in Riga", "I listen first."]


async def test_a_wording_of_one_side_alone_is_taken_unasked(home: Home) -> None:
    """Reworded in the fork only, the item is reworded; let go in the fork only, it stays."""
    line = await home.hears("ana", "hm")
    store, merging = home.app.memory.store, home.app.growth.merging
    await keep(home, TEA, line)
    core = await keep(home, CORE, line, layer="core")
    eve = await fork(home)
    await store.correct(await item_of(home, eve, CORE), "I listen first.", by="idle")
    await store.drop(await item_of(home, eve, TEA), "no", by="idle")
    plan = await merging.plan("maya", eve)
    assert (plan.kept, plan.about) == (1, ())
    await merging.merge(plan, {})
    assert (await store.item(core)).text.text == "I listen first."
    assert await texts(home, "maya") == [TEA, "I listen first."]
    assert (await merging.plan(eve, "maya")).about != ()


async def test_a_forgotten_memory_is_not_merged_back(home: Home) -> None:
    """What was forgotten of one is not there to be taken from the other, in any wording of one text."""
    line = await home.hears("ana", "hm")
    store, merging = home.app.memory.store, home.app.growth.merging
    kept = await keep(home, "Ana hums zarquonish", line)
    eve = await fork(home)
    await store.forget(kept, by=home.people["ana"])
    assert (await merging.plan("maya", eve)).idle
    assert not home.holding(b"zarquonish")
