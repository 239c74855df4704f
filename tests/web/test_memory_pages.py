"""What mates know of you, in the browser: seen with its lines, changed, and nobody else's."""

from typing import Any

from loopforge.core.memory.memory_vocabulary import EvidenceLine, MemoryKept
from loopforge.core.text.erasable_text import Words
from tests.web.conftest import Guest, Town, words

HERE = "/you/memory"


async def keep(site: Town, room: str, text: str, about: str = "", **more: Any) -> str:
    """maya keeps something that rests on the last line of a room; its id."""
    lines = [event for event in await site.events(room) if event.kind == "room.heard"]
    evidence = tuple(EvidenceLine(each.stream, each.seq, each.id) for each in lines[-1:])
    given = {"layer": "fact", "made_by": "idle", **more}
    item = MemoryKept(text=Words(text), evidence=evidence, about=(about,) if about else (), **given)
    (id,) = await site.app.memory.store.keep("maya", [item], actor="runtime")
    return id


async def does(guest: Guest, act: str, number: int = 1, **more: str) -> str:
    """Send a form about an item of maya's; what the page says then."""
    data = {"act": act, "mate": "maya", "number": str(number), "back": HERE, **more}
    return words(await guest.post(HERE, data))


async def test_what_is_known_is_shown_and_changed(site: Town, owner: Guest) -> None:
    """With the line it rests on as a link; each form says what it did."""
    room = await site.talk(owner, "Tea", "I like zarquon tea")
    id = await keep(site, room, "Olu likes zarquon tea", owner.person)
    shown = await owner.get(HERE)
    assert "Olu likes zarquon tea" in words(shown)
    assert f'href="/rooms/{room}?at=' in shown.text
    assert "Corrected." in await does(owner, "correct", text="Olu likes cocoa")
    assert "Locked" in await does(owner, "lock")
    assert "taken back" in await does(owner, "undo")
    assert "may be used is changed" in await does(owner, "share", room="everywhere")
    assert "Shared: everywhere" in words(await owner.get(HERE))
    assert "may be used is changed" in await does(owner, "unshare", room="everywhere")
    assert "Let go" in await does(owner, "drop")
    assert "let go" in words(await owner.get(HERE))
    assert "holds again" in await does(owner, "restore")
    assert "Tick that you are sure" in await does(owner, "forget")
    assert "stay in their rooms until they are deleted" in await does(owner, "forget", sure="yes")
    assert (await site.app.memory.store.item(id)).state == "forgotten"
    assert "1 item was forgotten" in words(await owner.get(HERE))
    assert "Nothing of you is kept" in await does(owner, "off")
    assert "Mates may keep" in await does(owner, "on")


async def test_nobody_sees_or_changes_what_is_of_another(site: Town, owner: Guest) -> None:
    """Not the owner either; neither on the page of the mate nor by a form with the number."""
    room = await site.room(owner, "Tea", "maya")
    bea = await site.guest("bea", by=owner)
    mine = await site.room(bea, "Mine", "maya")
    await bea.says(mine, "I like zarquon tea")
    await site.rest(mine)
    id = await keep(site, mine, "Bea likes zarquon tea", bea.person)
    assert "zarquon" in (await bea.get(HERE)).text
    assert "zarquon" in (await bea.get("/mates/maya/memory")).text
    for path in (HERE, "/mates/maya/memory", "/mates/maya"):
        assert "zarquon" not in (await owner.get(path)).text
    for act in ("correct", "lock", "drop", "restore", "forget", "share"):
        told = await does(owner, act, text="no", sure="yes", room=room)
        assert "keeps nothing under the number 1 that you may see" in told
    item = await site.app.memory.store.item(id)
    assert (item.state, str(item.text)) == ("held", "Bea likes zarquon tea")
    assert "Memory 1 kept" in words(await owner.get("/mates/maya"))


async def test_wrong_forms_are_answered(site: Town, owner: Guest) -> None:
    """With a sentence, and the page again."""
    for act, number in (("lock", "x"), ("dance", "1"), ("lock", "9" * 20), ("undo", "")):
        data = {"act": act, "mate": "maya", "number": number, "back": HERE}
        assert (await owner.post(HERE, data)).status_code == 400
    assert (await owner.get("/mates/nobody/memory")).status_code == 404
    assert "No mate remembers anything of you" in words(await owner.get(HERE))


async def test_deleting_a_room_asks_about_memories(site: Town, owner: Guest) -> None:
    """It tells how many rest on it, and takes them along unless they rest on others, too."""
    room = await site.talk(owner, "Tea", "I like zarquon tea")
    id = await keep(site, room, "Olu likes zarquon tea", owner.person)
    shown = words(await owner.get(f"/rooms/{room}/delete"))
    assert "Mates keep 1 memory of what was said here" in shown
    assert "Forget all of that" in shown
    await owner.post(f"/rooms/{room}/delete", {"sure": "yes", "memories": "forget"})
    assert (await site.app.memory.store.item(id)).state == "forgotten"
