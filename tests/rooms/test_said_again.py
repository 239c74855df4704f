"""A fact that was kept of a private talk and is said again before others, and who is told of it."""

from loopforge.runtime.ports.memory_port import RecallQuery
from tests.rooms.conftest import Home, hum
from tests.rooms.test_presence_attacks import QUESTION, SECRET, WORD, kept, said

SCRIPT = hum


async def usable(home: Home, stream: str, *names: str) -> list[str]:
    """What maya keeps that may be used in a room, while these are there."""
    present = tuple(home.people[name] for name in names)
    query = RecallQuery(text="", stream=stream, present=present, mate="maya", everywhere=True)
    return [str(one.text) for one in await home.app.memory.items.usable(query)]


async def test_it_may_be_used_where_it_was_said_and_only_there(home: Home) -> None:
    """Before bo, who heard it in that room; not in a room with vera, who did not."""
    await home.enter("ana", "bo", "vera", mates=("maya",))
    told = await home.private_room("ana")
    await kept(home, await said(home, told, "ana", SECRET))
    home.room = "workshop"
    await home.enter("ana", "bo", mates=("maya",))
    assert await usable(home, "room:workshop", "ana", "bo") == []
    again = await home.hears("ana", f"@maya {SECRET}")
    await kept(home, again)
    assert await usable(home, "room:workshop", "ana", "bo") == [SECRET]
    assert await usable(home, "room:workshop", "ana", "bo", "vera") == []
    assert await usable(home, "room:commons", "ana", "bo", "vera") == []
    await kept(home, again)
    assert len(await home.app.memory.store.items("maya")) == 2


async def test_it_is_so_before_who_came_into_the_room_since(home: Home) -> None:
    """Said when ana was alone there, and again before bo: it may be used before both."""
    await home.enter("ana", "bo", mates=("maya",))
    room = await home.private_room("ana")
    await kept(home, await said(home, room, "ana", SECRET))
    ana, bo = home.people["ana"], home.people["bo"]
    await home.app.front.bring(home.room, ana, bo, "bo", past=False)
    assert await usable(home, room, "ana", "bo") == []
    await kept(home, await home.hears("ana", f"@maya {SECRET}"))
    assert await usable(home, room, "ana", "bo") == [SECRET]


async def test_it_stands_before_a_mate_once(home: Home) -> None:
    """Where both may be used, the prompt holds it once, and neither has ended."""
    await home.enter("ana", mates=("maya",))
    told = await home.private_room("ana")
    await kept(home, await said(home, told, "ana", SECRET))
    home.room = "commons"
    await kept(home, await home.hears("ana", f"@maya {SECRET}"))
    items = await home.app.memory.store.items("maya")
    assert [one.state for one in items] == ["held", "held"]
    await home.clock.advance(86_400)
    room = await home.private_room("ana")
    before = len(home.models.asked)
    await said(home, room, "ana", QUESTION)
    asked = home.models.asked[before:]
    assert [str(one.messages).count(WORD) for one in asked] == [1] * len(asked)
    assert asked
