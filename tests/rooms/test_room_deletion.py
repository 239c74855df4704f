"""/delete: what it would mean is told first; its name said again deletes the room for good."""

import asyncio

import pytest
from msgspec.structs import replace

from loopforge.chat.commands.command_request import CommandRequest
from loopforge.core.memory.memory_vocabulary import EvidenceLine, MemoryKept
from loopforge.core.room_vocabulary import RoomClosed
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, Unknown
from tests.rooms.conftest import Home

SECRET = "my zarquonish safe opens with quixotic tunes"


async def cellar(home: Home) -> str:
    """A room that ana opened, where maya learned something, also by a line of another room."""
    await home.enter("ana", "bo")
    other = await home.hears("ana", "I keep a safe")
    home.room = (await home.private_room("ana")).removeprefix("room:")
    line = await home.hears("ana", f"@maya {SECRET}")
    for text, lines in (("Ana's safe is zarquonish", [line]), ("Ana has a safe", [line, other])):
        evidence = tuple(EvidenceLine(one.stream, one.seq, one.id) for one in lines)
        item = MemoryKept(layer="fact", text=Words(text), made_by="idle", evidence=evidence)
        await home.app.memory.store.keep("maya", [item], actor="runtime")
    await home.app.memory.vectors.fill()
    return home.room


async def does(home: Home, argument: str) -> str:
    """What ana is answered to /delete."""
    task = asyncio.ensure_future(home.does("ana", "delete", argument))  # noqa: TID251
    await home.clock.until(task)
    return task.result()


async def test_what_it_would_mean_is_told_and_nothing_is_done(home: Home) -> None:
    """How many memories rest on it, how many on others, too; and how it is done."""
    room = await cellar(home)
    before = await home.events()
    told = await does(home, "")
    assert "Mates keep 2 memories of it." in told
    assert f"1 of these rest on other rooms, too; /delete {room} keep memories" in told
    assert told.endswith(f"To do it: /delete {room}")
    for wrong in ("yes", "commons", "The old cellar"):
        with pytest.raises(InputError, match=f"/delete {room} deletes it"):
            await home.does("ana", "delete", wrong)
    for wrong in (f"{room} keep", f"{room} keep everything", f"{room} now"):
        with pytest.raises(InputError, match="What may stay"):
            await home.does("ana", "delete", wrong)
    assert await home.events() == before


@pytest.mark.parametrize("keep", ["", " keep memories"])
async def test_its_name_said_again_deletes_it_from_every_file(home: Home, keep: str) -> None:
    """Lines, prompts, passages, vectors and what mates keep of it; or all but what rests on more."""
    room = await cellar(home)
    assert home.holding(b"zarquonish", b"quixotic")
    assert "for good" in await does(home, room + keep)
    assert not home.holding(b"zarquonish", b"quixotic")
    assert bool(home.holding(b"Ana has a safe")) is bool(keep)
    items = await home.app.memory.store.items("maya")
    assert [one.state for one in items] == ["forgotten", "held" if keep else "forgotten"]
    with pytest.raises(Unknown):
        await home.does("ana", "delete", room)
    assert (await home.app.ledger.verify()).findings == ()


async def test_only_who_opened_it_and_the_owner_may(home: Home) -> None:
    """Others may neither do it nor ask what it would mean; nor may a stranger who is the owner."""
    room = await cellar(home)
    bo, commands = home.people["bo"], home.app.front.commands
    asked = CommandRequest(room=room, person=bo)
    await home.app.front.bring(room, home.people["ana"], bo, "bo")
    for argument in ("", room):
        with pytest.raises(InputError, match="Only who opened"):
            await commands.act(room, bo, "delete", argument)
        for more in ({"keeper": True}, {"owner": True, "untrusted": True}):
            with pytest.raises(InputError, match="Only who opened"):
                await commands.carry_out("delete", replace(asked, argument=argument, **more))
    assert "To do it" in await commands.act(room, bo, "delete", "", owner=True)
    assert "To do it" in await commands.act(room, "", "delete", "")
    task = asyncio.ensure_future(commands.act(room, bo, "delete", room, owner=True))  # noqa: TID251
    await home.clock.until(task)
    (closed,) = await home.bodies(RoomClosed)
    assert closed.person == bo
