"""People and what mates keep of them: seen with its lines, corrected, locked, dropped, forgotten."""

import re
from pathlib import Path

import pytest

from loopforge.chat.memories.memory_service import Belief, MemoryReader
from loopforge.core.memory.memory_vocabulary import EVERYWHERE
from loopforge.core.room_vocabulary import LineDeleted, LineEdited
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from tests.rooms.conftest import Home
from tests.rooms.test_memory_items import heard, keep, usable

PAGE = (Path(__file__).parents[2] / "docs" / "memory.md").read_text("utf-8")
TEA = "Ana likes zarquon tea"


async def beliefs(home: Home, name: str, *, all: bool = False) -> list[Belief]:
    """What maya keeps, as somebody sees it."""
    reader = MemoryReader(home.people[name])
    return await home.app.memory.memories.beliefs(reader, "maya", all=all)


async def one(home: Home, name: str) -> Belief:
    """The one item that maya keeps of somebody."""
    (found,) = await beliefs(home, name)
    return found


async def edit(home: Home, line: str, text: str, stream: str = "room:commons") -> None:
    """A line says something else from now on, and the audit has seen it."""
    fact = home.app.stamp.fact(LineEdited(line=line, text=Words(text), by="person:x"), actor="room")
    await home.app.ledger.append(stream, [fact])
    await home.app.memory.audit.settle("maya")


async def test_what_is_kept_of_somebody_is_seen_with_its_lines(home: Home) -> None:
    """By them; another person who saw the lines sees it among all, and may change nothing."""
    line = await home.hears("ana", "I like zarquon tea")
    await home.hears("bo", "hello")
    await keep(home, TEA, line, about=(home.people["ana"],))
    found = await one(home, "ana")
    assert (found.text, found.mine, found.rewords) == (TEA, True, True)
    assert [(each.who, each.text) for each in found.evidence] == [("ana", "I like zarquon tea")]
    assert found.evidence[0].address == f"/rooms/commons?at={line.seq}#l-{line.seq}"
    assert not await beliefs(home, "bo")
    bo = MemoryReader(home.people["bo"])
    for seen in await beliefs(home, "bo", all=True):
        with pytest.raises(InputError, match="concerns"):
            await home.app.memory.memories.drop(bo, seen)


async def test_words_of_a_room_where_one_was_not_are_not_shown(home: Home) -> None:
    """Whom it concerns is told that there is something, and may have it forgotten unseen."""
    await home.enter("ana", "bo")
    told = await home.private_room("bo")
    line = await heard(home, told, "bo", "Ana hums zarquon tunes")
    await keep(home, "Ana hums zarquon tunes", line, about=(home.people["ana"],))
    found, ana = await one(home, "ana"), MemoryReader(home.people["ana"])
    assert "zarquon" not in found.text
    assert (found.hidden, found.evidence, found.rewords) == (1, (), False)
    assert "zarquon" not in await home.does("ana", "memory")
    with pytest.raises(InputError):
        await home.app.memory.memories.correct(ana, found, "Ana sings")
    await home.app.memory.memories.forget(ana, found)
    assert (await one(home, "ana")).item.state == "forgotten"


async def test_a_correction_is_used_where_its_person_alone_is(home: Home) -> None:
    """Who was not told is not, unless they share it; taken back it is as before."""
    line = await home.hears("ana", "I like zarquon tea")
    await home.enter("bo")
    await keep(home, TEA, line, about=(home.people["ana"],))
    ana, memories = MemoryReader(home.people["ana"]), home.app.memory.memories
    await memories.correct(ana, await one(home, "ana"), "Ana likes quixo coffee")
    assert await usable(home, "room:commons", "ana") == ["Ana likes quixo coffee"]
    assert not await usable(home, "room:commons", "ana", "bo")
    await memories.share(ana, await one(home, "ana"), EVERYWHERE)
    assert await usable(home, "room:commons", "ana", "bo")
    assert [await memories.undo(ana), await memories.undo(ana)] == ["shared", "corrected"]
    assert await usable(home, "room:commons", "ana", "bo") == [TEA]
    with pytest.raises(InputError, match="nothing"):
        await memories.undo(ana)


async def test_a_core_memory_that_was_reworded_travels_no_more(home: Home) -> None:
    """It was checked as it was made; a name may stand in it now."""
    await home.enter("ana", "bo")
    told = await home.private_room("ana")
    line = await heard(home, told, "ana", "I like tea")
    ana = home.people["ana"]
    await keep(home, "I listen.", line, layer="core", travels=True, told_by=ana)
    assert await usable(home, "room:commons", "bo") == ["I listen."]
    reader = MemoryReader(ana)
    await home.app.memory.memories.correct(
        reader, await one(home, "ana"), "I listen to Ana's troubles"
    )
    assert not await usable(home, "room:commons", "bo")
    made = (await home.app.memory.store.items("maya"))[0].id
    await keep(home, "We talked of zarquons", rests_on=(made,), layer="reflection")
    assert not await usable(home, told, "ana", "bo")


async def test_an_edited_line_is_carried_over_or_the_item_flagged(home: Home) -> None:
    """What stood in it word for word says the new words; what was made of it otherwise waits."""
    line = await home.hears("ana", "you know, I like tea")
    kept = await keep(home, "I like tea", line, told_by=home.people["ana"])
    free = await keep(home, "Ana drinks hot things", line, about=(home.people["ana"],))
    last = await keep(home, "Drinks matter", rests_on=(free,), layer="reflection")
    await edit(home, line.id, "you know, I like coffee")
    items = {item.id: item for item in await home.app.memory.store.items("maya")}
    assert items[kept].state == "superseded"
    assert str(items[items[kept].replaced].text) == "I like coffee"
    assert [items[free].state, items[last].state] == ["invalidated", "invalidated"]
    figures = await home.app.memory.memories.figures("maya")
    assert (figures.held, figures.stale, figures.unsupported) == (1, 1, 2)
    found = {each.item.id: each for each in await beliefs(home, "ana")}
    ana = MemoryReader(home.people["ana"])
    assert found[free].doubt == "a line that it rests on was edited"
    await home.app.memory.memories.restore(ana, found[free])
    items = {item.id: item for item in await home.app.memory.store.items("maya")}
    assert [items[free].state, items[last].state] == ["held", "held"]
    assert "Ana drinks hot things" in await usable(home, "room:commons", "ana")


async def test_what_was_made_of_an_item_follows_it(home: Home) -> None:
    """Dropped, both rest; back, both are; a locked one is only counted."""
    line = await home.hears("ana", "I like tea")
    kept = await keep(home, TEA, line, about=(home.people["ana"],))
    made = await keep(home, "She is calm", rests_on=(kept,), layer="reflection")
    memories, ana, store = (
        home.app.memory.memories,
        MemoryReader(home.people["ana"]),
        home.app.memory.store,
    )
    source = next(each for each in await beliefs(home, "ana") if each.item.id == kept)
    await memories.drop(ana, source)
    assert (await store.item(made)).state == "invalidated"
    assert await memories.undo(ana) == "dropped"
    assert [(await store.item(each)).state for each in (kept, made)] == ["held", "held"]
    await store.lock(made, by=home.people["ana"])
    await store.correct(kept, "Ana likes cocoa", by=home.people["ana"])
    await home.app.memory.audit.settle("maya")
    assert (await store.item(made)).state == "held"
    assert (await memories.figures("maya")).unsupported == 1


@pytest.mark.parametrize("how", ["deleted", "forgotten", "item"])
async def test_what_derives_goes_along_from_every_file(home: Home, how: str) -> None:
    """A line deleted, erased, or an item forgotten: with what was made of it, in every wording."""
    line = await home.hears("ana", "my zarquonish secret")
    kept = await keep(home, "Ana has a zarquonish secret", line, subject=Words("quixotic"))
    note = await keep(home, "A zarquonish talk", rests_on=(kept,), layer="final")
    await home.app.memory.store.correct(note, "A wumbling talk", by=home.people["ana"])
    await keep(home, "Wumbling again", rests_on=(note,), layer="core", travels=True)
    await home.app.memory.vectors.fill()
    assert home.holding(b"zarquonish", b"quixotic", b"wumbling")
    match how:
        case "deleted":
            gone = home.app.stamp.fact(LineDeleted(line=line.id, by="person:x"), actor="person:x")
            await home.app.ledger.append("room:commons", [gone])
            await home.app.forgetting.finish("room:commons")
        case "forgotten":
            erased = await home.app.ledger.erase(ErasureRequest(events=(line.id,)))
            assert erased.resting == 5
        case _:
            await home.app.memory.store.forget(kept, by=home.people["ana"])
            await home.app.ledger.erase(ErasureRequest(events=(line.id,)))
    assert {each.state for each in await home.app.memory.store.items("maya")} == {"forgotten"}
    assert not home.holding(b"zarquonish", b"quixotic", b"wumbling")
    assert (await home.app.ledger.verify()).findings == ()


async def test_who_is_forgotten_leaves_no_memory(home: Home) -> None:
    """What is about them, what they told, and what holds their name; of others it stays."""
    ana = await home.hears("annelise", "I like tea")
    bo = await home.hears("bo", "I like cocoa, too")
    people = home.people
    await keep(home, "likes zarquonish tea", ana, about=(people["annelise"],))
    await keep(home, "Bo met Annelise", bo, about=(people["bo"],))
    await keep(home, "Bo likes wumbling cocoa", bo, about=(people["bo"],))
    await home.app.ledger.erase(ErasureRequest(person=people["annelise"], by="owner"))
    assert not home.holding(b"annelise", b"zarquonish")
    held = [str(item.text) for item in await home.app.memory.store.items("maya")]
    assert held == ["[forgotten]", "[forgotten]", "Bo likes wumbling cocoa"]


async def test_the_command_shows_and_changes(home: Home) -> None:
    """By numbers, for whoever asks; wrong ones are answered by a sentence."""
    line = await home.hears("ana", "I like zarquon tea")
    await keep(home, TEA, line, about=(home.people["ana"],))
    listed = await home.does("ana", "memory")
    assert f"[1] {TEA} (a fact, " in listed
    assert "ana (/rooms/commons?at=" in await home.does("ana", "memory", "1")
    assert "Corrected" in await home.does("ana", "memory", "correct 1: Ana likes cocoa")
    assert "Locked" in await home.does("ana", "memory", "lock maya 1")
    assert "locked" in await home.does("ana", "memory")
    assert "Taken back: locked" in await home.does("ana", "memory", "undo")
    assert "everywhere" in await home.does("ana", "memory", "share 1")
    assert "in commons" in await home.does("ana", "memory", "share 1 commons")
    assert "everybody present" in await home.does("ana", "memory", "unshare 1")
    assert not (await one(home, "ana")).shared
    assert "Let go" in await home.does("ana", "memory", "drop 1")
    assert "holds again" in await home.does("ana", "memory", "restore 1")
    assert "for good" in await home.does("ana", "memory", "forget 1")
    assert "No mate" in await home.does("ana", "memory")
    for wrong in ("1", "lock 1", "share 1", "correct 1: x"):
        with pytest.raises(Unknown):
            await home.does("ana", "memory", wrong)
    for wrong in ("lock", "correct 1", "so what", "here", "share"):
        with pytest.raises(InputError):
            await home.does("ana", "memory", wrong)
    assert "Nothing of you" in await home.does("ana", "memory", "off")
    assert not await keep(home, TEA, line, about=(home.people["ana"],))
    assert "may keep" in await home.does("ana", "memory", "on")


@pytest.mark.parametrize("spared", [False, True])
async def test_a_deleted_room_takes_its_memories(home: Home, spared: bool) -> None:
    """All of them, or those that rest on nothing else; who saw the rest may still be told it."""
    await home.enter("ana", "bo")
    told = await home.private_room("ana")
    line = await heard(home, told, "ana", "zarquonish: Ana likes quixotic tea")
    other = await home.hears("ana", "I like tea")
    await keep(home, "Ana is zarquonish", line)
    both = await keep(home, "Ana likes quixotic tea", line, other)
    room = told.removeprefix("room:")
    rests = await home.app.closing.resting(room)
    assert (rests.memories, rests.also) == (2, 1)
    await home.app.closing.close_room(room, home.people["ana"], keep_memories=spared)
    await home.app.memory.audit.settle("maya")
    assert not home.holding(b"zarquonish")
    assert bool(home.holding(b"quixotic")) is spared
    assert (await home.app.memory.store.item(both)).state == ("held" if spared else "forgotten")
    assert not await usable(home, "room:commons", "ana", "bo")
    mine = await home.private_room("ana")
    assert await usable(home, mine, "ana") == (["Ana likes quixotic tea"] if spared else [])


async def test_the_page_on_memory_names_commands_that_do(home: Home) -> None:
    """Each way of `/memory` in its tables and its list, on the twelfth of what is kept."""
    line = await home.hears("ana", "I like zarquon tea")
    for nth in range(1, 13):
        await keep(home, f"{TEA} {nth}", line, about=(home.people["ana"],))
    row = PAGE.partition("| any surface | ")[2].partition(" The answer is for")[0]
    ways = [way.removeprefix("/memory").strip() for way in re.findall(r"`([^`]+)`", row)]
    assert len(ways) == 10
    forms = {way.replace("[ROOM]", "commons"): way.replace(" [ROOM]", "") for way in ways}
    for way in sorted({*forms, *forms.values()}, key=lambda way: ("forget" in way, way)):
        assert await home.does("ana", "memory", way.replace("TEXT", "Ana likes cocoa")), way
    keeping = PAGE.partition("* **Keeping nothing.** ")[2].partition("\n\n")[0]
    for way in re.findall(r"`(?:/memory )?([^`]+)`", keeping):
        assert re.search("ke(?:ep|pt)", await home.does("ana", "memory", way)), way
