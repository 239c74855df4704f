"""Rights in a living room: who wakes mates, changes the room, and has tools used."""

from pathlib import Path

import pytest

from loopforge.chat.commands.command_request import CommandRequest
from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.core.effect_states import EffectReturned
from loopforge.core.room_vocabulary import Heard, RightsSet
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Judged
from loopforge.errors import InputError
from loopforge.runtime.ports import Question, Tool, ToolCall
from tests.rooms.conftest import Home, living, write_mates

SHELL = """---
name: Maya
role: mate
tools: [clock, lathe]
---
You are Maya.
"""


async def crowded(home: Home) -> None:
    """The room has a channel of a platform."""
    await home.enter("ana", "ben")
    await home.app.front.rooms.join_place(
        ChannelSpot("discord:7", "general", "group"), (), home.room
    )


async def test_only_keepers_and_the_owner_change_a_room_with_a_channel(home: Home) -> None:
    """Others are told who may; they may still stop everything, and ask how things stand."""
    await crowded(home)
    act, ana = home.app.front.commands.act, home.people["ana"]
    for name, argument in (("title", "Mine"), ("energy", "9"), ("add", "otto"), ("keep", "x")):
        with pytest.raises(
            InputError, match="for whoever manages this channel or chat, and the owner"
        ):
            await act(home.room, ana, name, argument)
    assert "lines are left" in await act(home.room, ana, "energy", "")
    assert await act(home.room, ana, "stop", "")
    keeper = CommandRequest(room=home.room, person=ana, argument="Ours", keeper=True)
    assert await home.app.front.commands.carry_out("title", keeper)
    assert await act(home.room, ana, "energy", "9", owner=True)
    assert await act(home.room, "", "energy", "8")


async def test_rights_go_along_with_who_comes_in_as_another_self(home: Home) -> None:
    """Who is linked and enters by the web, or uses a command first, may no more than before."""
    await crowded(home)
    people, front = home.app.people, home.app.front
    await home.does("", "rights", "everyone all")
    for account, name in (("1", "Cem"), ("2", "Dor")):
        before = await people.meet("discord", account, name)
        there = await people.meet("web", f"w{account}", name)
        await front.rooms.arrive(home.room, before.id, name, "discord")
        if name == "Dor":
            await front.rooms.come_in(home.room, there.id, name)
        await home.app.rooms.add(home.room, "", RightsSet(who=before.id))
        code = await home.app.linking.offer_code(there.id)
        await home.app.linking.claim(code, "discord", account)
        if name == "Cem":
            await front.rooms.come_in(home.room, there.id, name)
            state = await home.app.rooms.state(home.room)
            assert state.rights[there.id].rights == ()
        with pytest.raises(InputError, match="Yours were set apart"):
            await front.commands.act(home.room, there.id, "rights", f"{name} all")


async def test_who_may_not_talk_is_heard_and_wakes_nobody(home: Home) -> None:
    """Their line is in the ledger, gives no energy back, and does not lift a stop."""
    await crowded(home)
    ana, ben = home.people["ana"], home.people["ben"]
    await home.app.rooms.add(home.room, ana, RightsSet(who=ben, rights=()))
    await home.says("ana", "stop")
    line = await home.hears("ben", "@maya hello?")
    assert line.id in (await home.app.rooms.state(home.room)).lines
    assert await home.said() == []
    assert (await home.app.front.rooms.scene(home.room)).stopped
    await home.hears("ana", "@maya hello?")
    await home.hears("ben", "stop")
    assert await home.said() == ["maya"]
    assert not (await home.app.front.rooms.scene(home.room)).stopped


async def test_a_mate_uses_no_tool_for_who_may_not_have_it_used(tmp_path: Path) -> None:
    """The mind is not offered it, and the guard refuses it all the same; for a keeper it runs."""
    write_mates(tmp_path, (), maya=SHELL)
    ran: list[object] = []

    async def run(call: ToolCall) -> str:
        ran.append(call.arguments)
        return "it is done"

    def script(question: Question) -> dict[str, object]:
        used = "" if "it is done" in str(question.messages) else "lathe"
        return {"say": "Yes." * (not used), "tool": used, "arguments": "{}", "again": False}

    async with living(tmp_path, script) as home:
        home.app.tools.add(Tool(name="lathe", summary="Runs a command."), run)
        await crowded(home)
        await home.hears("ana", "@maya run it")
        assert ran == []
        offered = [one.name for question in home.models.asked for one in question.tools]
        assert "lathe" not in offered
        await home.hears("ana", "@maya run it", untrusted=True, keeper=True)
        assert ran == []
        await home.hears("ana", "@maya run it", keeper=True)
        assert len(ran) >= 1
        events = await home.events()
        assert any(isinstance(event.body, EffectReturned) for event in events)
        assert any(isinstance(event.body, Judged) for event in events)


async def test_no_name_stands_for_everyone_or_for_two(home: Home) -> None:
    """Who calls themselves "everyone" or like somebody else gets nothing that is not theirs."""
    await crowded(home)
    people, front = home.app.people, home.app.front
    for account, name in (("1", "everyone"), ("2", "ana"), ("3", "ana talk")):
        person = await people.meet("discord", account, name)
        await front.rooms.arrive(home.room, person.id, name, "discord")

    async def rights(argument: str) -> str:
        return await front.commands.act(home.room, "", "rights", argument)

    assert (await rights("Everyone talk")).startswith("Everybody here may")
    ana = home.people["ana"]
    with pytest.raises(InputError, match=f"write one's id instead: {ana}"):
        await rights("ana talk stop")
    assert await rights(f"@{ana} stop") == "ana may stop mates."
    assert await rights("ana talk none") == "ana talk may do nothing here but read."
    assert (await home.app.rooms.state(home.room)).rights.keys() == {
        "everyone",
        ana,
        (await people.meet("discord", "3")).id,
    }


async def test_selves_of_one_person_are_one_name(home: Home) -> None:
    """Rights go to whom somebody became, whichever of their accounts was here before."""
    await crowded(home)
    people, front, ana = home.app.people, home.app.front, home.people["ana"]
    other = await people.meet("discord", "2", "ana")
    await front.rooms.arrive(home.room, other.id, "ana", "discord")
    await home.app.linking.claim(await home.app.linking.offer_code(ana), "discord", "2")
    await front.commands.act(home.room, "", "rights", "ana talk")
    assert list((await home.app.rooms.state(home.room)).rights) == [ana]
    await front.rooms.leave(home.room, home.people["ben"])
    assert await front.commands.act(home.room, "", "rights", "ben talk"), "also of who went away"


async def test_rights_go_along_with_a_link(home: Home) -> None:
    """Who may not talk does not talk on as another self of theirs."""
    await crowded(home)
    people, front = home.app.people, home.app.front
    muted, other = await people.meet("discord", "1", "Cem"), await people.meet("telegram", "2")
    await front.rooms.arrive(home.room, muted.id, "Cem", "discord")
    await front.commands.act(home.room, "", "rights", "Cem none")
    await front.rooms.arrive(home.room, other.id, "2", "telegram")
    await home.app.linking.claim(await home.app.linking.offer_code(other.id), "discord", "1")
    cem = await people.meet("discord", "1", "Cem")
    assert cem.id == other.id
    await front.rooms.hear(
        home.room, Heard(person=other.id, text=Words("stop"), surface="web", source="1")
    )
    assert not await home.kinds("room.stopped")
    await front.rooms.arrive(home.room, cem.id, "Cem", "discord")
    await front.rooms.arrive(home.room, cem.id, "Cem", "discord")
    with pytest.raises(InputError, match="Yours were set apart, by /rights"):
        await front.commands.act(home.room, cem.id, "stop", "")
    assert len(await home.kinds("room.rights_set")) == 2


async def test_nobody_gives_more_than_they_have(home: Home) -> None:
    """Who may change the room, but has no tools used, gives tools to nobody: not to themselves."""
    await crowded(home)
    act, ana = home.app.front.commands.act, home.people["ana"]
    await act(home.room, "", "rights", "ana talk change tools:clock")
    for more in ("ana all", "ben talk tools", "everyone stop tools:clock,shell"):
        with pytest.raises(InputError, match="that they do not have"):
            await act(home.room, ana, "rights", more)
    assert await act(home.room, ana, "rights", "ben talk stop tools:clock")
    assert await act(home.room, ana, "rights", "ben none")
    assert await act(home.room, "", "rights", "ana all")


async def test_tools_are_named_as_they_are_written(home: Home) -> None:
    """Capital letters of a tool's name are kept; a colon without a tool is not all of them."""
    await crowded(home)
    act, ana = home.app.front.commands.act, home.people["ana"]
    await act(home.room, "", "rights", "Ana Talk TOOLS:getWeather,clock")
    assert (await home.app.rooms.state(home.room)).rights[ana].tools == ("getWeather", "clock")
    for wrong in ("ana tools:", "ana tools: clock", "ana talk:clock"):
        with pytest.raises(InputError):
            await act(home.room, "", "rights", wrong)
