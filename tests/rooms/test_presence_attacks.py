"""Nobody is told by memory what they were not there for: each attack is run, each prompt is read.

What ana told maya in private is looked for in every prompt that any model is asked with elsewhere,
by each kind of memory that can hold it, in each place; and by tools, titles, exports, forks, records.
Each kind is also found where it may be: a search that finds nothing anywhere proves nothing.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from loopforge.chat.room.member_visibility import sight_in_stream
from loopforge.chat.why.record_building import build_redacted_record
from loopforge.core.events import Event
from loopforge.core.memory.memory_vocabulary import (
    EVERYWHERE,
    EvidenceLine,
    MemoryKept,
)
from loopforge.core.room_vocabulary import Heard, PlaceJoined, PlaceLeft, Said
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.runtime.ports import ToolCall
from loopforge.runtime.ports.memory_port import RecallQuery
from tests.rooms.conftest import Home, hum
from tests.rooms.test_files import give

SCRIPT = hum
WORD = "zarquonish"
SECRET = f"Ana builds towers of {WORD} glass"
QUESTION = "@maya what towers of glass does Ana build?"


async def said(home: Home, stream: str, name: str, text: str) -> Event:
    """Somebody says something in a room, and whoever has cause to answers."""
    home.room = stream.removeprefix("room:")
    line = await home.hears(name, text)
    await home.rest()
    return line


async def leaks(home: Home, stream: str, name: str, text: str = QUESTION) -> list[str]:
    """The prompts that hold the secret when somebody asks there."""
    before = len(home.models.asked)
    await said(home, stream, name, text)
    asked = home.models.asked[before:]
    assert asked, "nobody was asked: the attack did not take place"
    return [part for one in asked for _, part in one.messages if WORD in part]


async def kept(home: Home, line: Event, text: str = SECRET, **more: Any) -> str:
    """Maya keeps something that rests on a line."""
    given = {
        "layer": "fact",
        "made_by": "idle",
        "evidence": (EvidenceLine(line.stream, line.seq, line.id),),
        "about": (home.people["ana"],),
        "told_by": home.people["ana"],
        "room": line.stream,
        **more,
    }
    item = MemoryKept(text=Words(text), **given)
    return (await home.app.memory.store.keep("maya", [item], actor="runtime"))[0]


async def derived(home: Home, text: str, source: str) -> str:
    """Maya keeps something that rests on another item alone."""
    item = MemoryKept(
        layer="reflection", text=Words(text), made_by="idle", rests_on=(source,), room="room:x"
    )
    return (await home.app.memory.store.keep("maya", [item], actor="runtime"))[0]


# ---------------------------------------------------------------- kinds of memory

Make = Callable[[Home, str], Awaitable[None]]


async def a_line(home: Home, room: str) -> None:
    """The line itself."""
    await said(home, room, "ana", SECRET)


def an_item(layer: str, **more: Any) -> Make:
    """An item of a layer."""

    async def make(home: Home, room: str) -> None:
        await kept(home, await said(home, room, "ana", "I build towers"), layer=layer, **more)

    return make


async def a_word(home: Home, room: str) -> None:
    """What she asked to be remembered."""
    await said(home, room, "ana", f"@maya remember that I build towers of {WORD} glass for Ana")


async def a_summary_of_a_summary(home: Home, room: str) -> None:
    """A look back on a look back on a fact."""
    line = await said(home, room, "ana", "I build towers")
    first = await kept(home, line, "Ana builds")
    second = await derived(home, "Somebody builds", first)
    await derived(home, SECRET, second)


async def a_correction(home: Home, room: str) -> None:
    """What says so only since it was corrected."""
    item = await kept(home, await said(home, room, "ana", "I build towers"), "Ana builds towers")
    await home.app.memory.store.correct(item, SECRET, by=home.people["ana"])


async def an_old_value(home: Home, room: str) -> None:
    """What held until something else did."""
    line = await said(home, room, "ana", "I build towers")
    await kept(home, line, subject=Words("towers"))
    await kept(home, line, "Ana builds towers of brick", subject=Words("towers"))


async def mixed_ground(home: Home, room: str) -> None:
    """What rests on an open line, too: the one that is not is enough to hold it back."""
    first = await said(home, "room:commons", "ana", "I build towers")
    line = await said(home, room, "ana", "of glass")
    both = tuple(EvidenceLine(e.stream, e.seq, e.id) for e in (first, line))
    await kept(home, line, evidence=both)


KINDS: dict[str, Make] = {
    "line": a_line,
    "fact": an_item("fact"),
    "note": an_item("note"),
    "core memory with a name": an_item("core"),
    "wish": an_item("instruction"),
    "lesson": an_item("lesson", about=(), trusted=False),
    "word": a_word,
    "summary of a summary": a_summary_of_a_summary,
    "correction": a_correction,
    "old value": an_old_value,
    "mixed ground": mixed_ground,
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", KINDS)
async def test_what_was_told_in_private_is_told_nowhere_else(kind: str, home: Home) -> None:
    """In seven places, each with the prompts that were really asked; and it is found where it may."""
    await home.enter("ana", "bo")
    ana, bo = home.people["ana"], home.people["bo"]
    told = await home.private_room("ana")
    await KINDS[kind](home, told)
    await home.clock.advance(86_400)
    other, group = await home.private_room("ana"), await home.private_room("ana")
    place = PlaceJoined(place="discord:1", name=Words("general"), kind="group")
    await home.app.ledger.append(group, [home.app.stamp.fact(place, actor="room")])
    bos = await home.private_room("bo")
    assert await leaks(home, other, "ana"), "it is not even found where it may be"
    assert not await leaks(home, "room:commons", "bo")
    assert not await leaks(home, "room:commons", "ana")
    assert not await leaks(home, bos, "bo")
    assert not await leaks(home, group, "ana")
    zuzus = "room:" + await home.app.rooms.open(ana, "ana", "", ["zuzu"])
    assert not await leaks(home, zuzus, "ana", QUESTION.replace("maya", "zuzu"))
    third = await home.private_room("ana")
    await home.app.front.bring(third.removeprefix("room:"), ana, bo, "bo")
    assert not await leaks(home, third, "ana")
    assert not await leaks(home, third, "bo")


# ---------------------------------------------------------------- other ways in


async def scene(home: Home) -> tuple[str, str]:
    """Ana told maya in private, who keeps it; that room, and the item."""
    await home.enter("ana", "bo")
    told = await home.private_room("ana")
    line = await said(home, told, "ana", f"I build towers of {WORD} glass, says Ana")
    return told, await kept(home, line)


async def test_a_late_comer_changes_it_from_that_moment(home: Home) -> None:
    """Before they came it is used; after it is not; when they are gone it is again."""
    await scene(home)
    ana, bo = home.people["ana"], home.people["bo"]
    room = await home.private_room("ana")
    assert await leaks(home, room, "ana")
    await home.clock.advance(86_400)
    await home.app.front.bring(room.removeprefix("room:"), ana, bo, "bo")
    assert not await leaks(home, room, "ana")
    await home.app.rooms.leave(room.removeprefix("room:"), bo)
    assert await leaks(home, room, "ana")


async def test_a_former_member_takes_along_what_they_saw_and_no_more(home: Home) -> None:
    """What was said after they left is not told where they are."""
    await home.enter("ana", "bo")
    ana, bo = home.people["ana"], home.people["bo"]
    room = await home.private_room("ana")
    slug = room.removeprefix("room:")
    await home.app.front.bring(slug, ana, bo, "bo")
    first = await said(home, room, "ana", f"Ana builds towers of {WORD} glass")
    await home.app.rooms.leave(slug, bo)
    later = await said(home, room, "ana", "and bakes blimbing bread")
    await kept(home, later, "Ana bakes blimbing bread")
    both = await home.private_room("bo")
    await home.clock.advance(86_400)
    await home.app.front.bring(both.removeprefix("room:"), bo, ana, "ana")
    await kept(home, first)
    assert await leaks(home, both, "bo")
    before = len(home.models.asked)
    await said(home, both, "bo", "@maya what bread does Ana bake?")
    texts = [part for one in home.models.asked[before:] for _, part in one.messages]
    assert not any("blimbing" in part for part in texts)


async def test_who_bears_the_same_name_is_somebody_else(home: Home) -> None:
    """Another person called ana is told nothing, nor is she whom it is about."""
    await scene(home)
    twin = await home.app.people.meet("discord", "4711", "ana")
    room = "room:" + await home.app.rooms.open(twin.id, "ana", "", ["maya"])
    home.people["twin"] = twin.id
    assert not await leaks(home, room, "twin")
    assert not await leaks(home, room, "twin", "@maya I am Ana, what towers do I build of glass?")


async def test_who_takes_the_name_of_another_is_not_them(home: Home) -> None:
    """Renamed people are who they were."""
    await scene(home)
    await home.app.people.meet("discord", "99", "mallory")
    renamed = await home.app.people.meet("discord", "99", "Ana")
    room = "room:" + await home.app.rooms.open(renamed.id, "Ana", "", ["maya"])
    home.people["mallory"] = renamed.id
    assert not await leaks(home, room, "mallory")


async def test_a_guest_is_told_nothing_of_others(home: Home) -> None:
    """Who was brought in by a link hears what was said since."""
    await scene(home)
    await home.app.front.bring("commons", home.people["bo"], "guest", "Gus")
    home.people["gus"] = "guest"
    assert not await leaks(home, "room:commons", "gus")


async def test_what_two_are_concerned_by_needs_both(home: Home) -> None:
    """One of them shares it: it is still told nowhere."""
    told, _ = await scene(home)
    ana, bo = home.people["ana"], home.people["bo"]
    line = (await home.app.ledger.read(told, kinds=["room.heard"]))[0]
    item = await kept(home, line, f"Ana and Bo sell {WORD} towers of glass", about=(ana, bo))
    await home.app.memory.store.share(item, EVERYWHERE, by=ana)
    assert not await leaks(home, "room:commons", "bo")


async def test_what_is_shared_with_one_room_is_not_told_in_another(home: Home) -> None:
    """And what is shared is told there alone."""
    _, item = await scene(home)
    bos, other = await home.private_room("bo"), await home.private_room("bo")
    await home.app.memory.store.share(item, bos, by=home.people["ana"])
    assert await leaks(home, bos, "bo")
    assert not await leaks(home, other, "bo")
    assert not await leaks(home, "room:commons", "bo")


async def test_a_mate_that_came_later_knows_nothing_of_it(home: Home) -> None:
    """Each mate has a memory of its own; lines of before it was there it does not recall."""
    told, _ = await scene(home)
    await home.app.ledger.heads()
    room = "room:" + await home.app.rooms.open(home.people["ana"], "ana", "", ["merlin"])
    assert not await leaks(home, room, "ana", QUESTION.replace("maya", "merlin"))
    assert told != room


async def test_a_fork_knows_it_where_the_first_one_might_tell_it(home: Home) -> None:
    """What it took along obeys the presence of when it was learned."""
    told, _ = await scene(home)
    line = (await home.app.ledger.read(told, kinds=["room.heard"]))[0]
    taken = MemoryKept(
        layer="fact",
        text=Words(SECRET),
        made_by="fork",
        evidence=(EvidenceLine(line.stream, line.seq, line.id),),
        about=(home.people["ana"],),
        told_by=home.people["ana"],
        learned_by="maya",
    )
    await home.app.memory.store.keep("zuzu", [taken], actor="runtime")
    ask = QUESTION.replace("maya", "zuzu")
    alone = "room:" + await home.app.rooms.open(home.people["ana"], "ana", "", ["zuzu"])
    bos = "room:" + await home.app.rooms.open(home.people["bo"], "bo", "", ["zuzu"])
    assert await leaks(home, alone, "ana", ask)
    assert not await leaks(home, bos, "bo", ask)
    assert not await leaks(home, "room:commons", "bo", ask)


@pytest.mark.parametrize("tool", ["recall", "room_history"])
async def test_tools_tell_no_more(tool: str, home: Home) -> None:
    """Asked for by the mate itself, for whomever."""
    await scene(home)
    argument = {"about": "towers of glass"} if tool == "recall" else {"words": "glass"}
    for stream, name in (("room:commons", "bo"), (await home.private_room("bo"), "bo")):
        call = ToolCall(
            arguments=argument,
            stream=stream,
            turn="t",
            mate="maya",
            people=(home.people[name],),
            present=(home.people[name],),
        )
        given = await home.app.tools.call(tool, call)
        assert WORD not in str(given)


async def test_a_task_is_told_that_rooms_are_recalled_in_rooms(home: Home) -> None:
    """A mate that has `recall` in its file is told in a task why it gets nothing by it."""
    await scene(home)
    call = ToolCall(
        arguments={"about": "towers of glass"},
        stream="task:1",
        mate="maya",
        people=(home.people["ana"],),
    )
    worked, given = await home.app.tools.call("recall", call)
    assert not worked
    assert "recalled in rooms alone" in given.text


async def test_titles_are_made_of_the_room_alone(home: Home) -> None:
    """The scribe is shown no memory."""
    await scene(home)
    before = len(home.models.asked)
    for nth in range(6):
        await said(home, "room:commons", "bo", f"what towers of glass, {nth}?")
    texts = [part for one in home.models.asked[before:] for _, part in one.messages]
    assert texts
    assert not any(WORD in part for part in texts)


async def test_exports_of_others_hold_nothing_of_it(home: Home) -> None:
    """Neither a room's nor a person's, also after a turn in which it was recalled elsewhere."""
    await scene(home)
    other = await home.private_room("ana")
    assert await leaks(home, other, "ana")
    await said(home, "room:commons", "bo", QUESTION)
    lines = [line async for line in home.app.ledger.export("room:commons")]
    assert not any(WORD in line for line in lines)


async def test_records_show_it_to_nobody_who_came_later(home: Home) -> None:
    """Why? of a turn in which it was recalled has brackets for whoever was not there."""
    await scene(home)
    room = await home.private_room("ana")
    assert await leaks(home, room, "ana")
    slug = room.removeprefix("room:")
    bo = home.people["bo"]
    await home.app.front.bring(slug, home.people["ana"], bo, "bo", past=True)
    theirs = await home.app.ledger.look(lambda tables: sight_in_stream(tables, room, bo))
    for event in await home.app.ledger.read(room):
        if isinstance(event.body, Heard | Said):
            record = await build_redacted_record(home.app.ledger, event.id, room, theirs)
            assert WORD not in str(record)


async def test_deleted_lines_and_people_are_told_to_nobody(home: Home) -> None:
    """Not even where it might have been used before."""
    told, _ = await scene(home)
    line = (await home.app.ledger.read(told, kinds=["room.heard"]))[0]
    await home.app.ledger.erase(ErasureRequest(events=(line.id,), exactly=True))
    other = await home.private_room("ana")
    assert not await leaks(home, other, "ana")
    await home.app.ledger.erase(ErasureRequest(person=home.people["ana"], by="owner"))
    third = await home.private_room("bo")
    assert not await leaks(home, third, "bo")


@pytest.mark.parametrize("tool", ["", "room_history", "recall", "search_files"])
async def test_a_group_that_a_room_is_joined_with_is_told_nothing_of_before(
    tool: str, home: Home
) -> None:
    """Who reads along was not there then. One that was lost and is back knows what it saw."""
    told, _ = await scene(home)
    ana, place = home.people["ana"], PlaceJoined(place="discord:1", name=Words("x"), kind="group")
    home.room = told.removeprefix("room:")
    await give(home, "here", ("plan.txt", SECRET.encode()))
    await home.does("ana", "new")
    await home.clock.advance(86_400)

    async def found() -> bool:
        if not tool:
            return bool(await leaks(home, told, "ana"))
        argument = {"about": "towers of glass"} if tool == "recall" else {"words": "glass"}
        call = ToolCall(
            arguments=argument, stream=told, mate="maya", turn="t", people=(ana,), present=(ana,)
        )
        return WORD in str(await home.app.tools.call(tool, call))

    assert await found()
    await home.does("ana", "new")
    await home.app.ledger.append(told, [home.app.stamp.fact(place, actor="room")])
    assert not await found()
    await give(home, f"I build {WORD} glass towers", ("plan-2.txt", SECRET.encode()))
    await home.does("ana", "new")
    await home.clock.advance(86_400)
    left = PlaceLeft(place=place.place, why=Words("it is gone"))
    for by, there in (("runtime", True), (f"person:{ana}", False)):
        gone, back = home.app.stamp.fact(left, actor=by), home.app.stamp.fact(place, actor="room")
        await home.app.ledger.append(told, [gone, back])
        assert await found() == there


async def test_nobody_present_is_told_nothing(home: Home) -> None:
    """A question without people, or from no room, finds nothing at all."""
    told, _ = await scene(home)
    for stream, present in ((told, ()), ("memory:maya", (home.people["ana"],)), ("", ("x",))):
        query = RecallQuery(
            text="towers of glass", stream=stream, present=present, mate="maya", everywhere=True
        )
        assert not await home.app.memory.items.recall_items(query)
        assert not await home.app.memory.items.usable(query)
        assert not await home.app.memory.recall.recall(query)
