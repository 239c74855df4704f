"""What the drill of deliveries found: who is in a new room, what stands before what, who speaks."""

import asyncio
from pathlib import Path

import pytest

import discord
from loopforge.chat.room.platform_channels import Channels, DraftPost
from loopforge.core.delivery_states import Drafted
from loopforge.core.room_vocabulary import Said
from loopforge.io.discord.connection import bot_accounts
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.discord.clients import online
from tests.discord.lodging import SEND, STREAM, WORDS, Lodging, lodged
from tests.discord.twin import Twin
from tests.discord.words import Place
from tests.held_clock import HeldClock

LOGIN = "GET /users/@me"


async def test_a_new_room_waits_for_who_is_connecting(
    city: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mate whose bot connects last is in a room that another bot's hearing opens meanwhile."""
    monkeypatch.setattr(bot_accounts, "GATHERING", 600.0)
    maya, house, ben = city.bot("Maya"), city.bot("House"), city.person("ben")
    alley, plaza = city.channel("alley"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya", house: "*"}) as home:
        await home.ask(ben, alley, "merlin, hello")
    gate = city.faults.hold(LOGIN, bot="Maya")
    async with lodged(city, tmp_path, {maya: "maya", house: "*"}, wait=False) as home:
        await city.until(lambda: city.online(house))
        await city.say(ben, plaza, "maya, hello")
        await city.brings(ben, alley, "merlin, and you?", 4)
        gate.release()
        await city.until(lambda: len(city.lines(plaza)) == 2)
        kinds = [event.kind for event in await home.events(plaza)]
    assert [line.by for line in city.lines(plaza)] == ["ben", "Maya"]
    assert "room.mate_joined" not in kinds[kinds.index("room.heard") :]


async def test_who_connects_late_answers_what_is_fresh(
    city: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that called a mate before its bot was there is answered once, where it is."""
    monkeypatch.setattr(bot_accounts, "GATHERING", 0.0)
    maya, house, ben = city.bot("Maya"), city.bot("House"), city.person("ben")
    plaza, den = city.channel("plaza"), city.channel("den")
    await city.forbid(maya, den, "view_channel")
    gate = city.faults.hold(LOGIN, bot="Maya")
    bots = {maya: "maya", house: "*"}
    async with lodged(city, tmp_path, bots, wait=False) as home:
        await city.until(lambda: city.online(house))
        for place in (plaza, den):
            await city.say(ben, place, "maya, hello")
            await home.hears(place, "maya, hello")
        gate.release()
        await city.until(lambda: len(city.lines(plaza)) == 2)
        await home.ask(ben, den, "merlin, and you?")
        await home.delivered(plaza)
    async with lodged(city, tmp_path, bots) as home:
        await home.ask(ben, plaza, "merlin, and you?")
    assert [line.by for line in city.lines(plaza)[:3]] == ["ben", "Maya", "ben"]
    assert "Maya" not in [line.by for line in (*city.lines(plaza)[2:], *city.lines(den))]


async def test_a_draft_waits_for_the_line_before_it(city: Twin, tmp_path: Path) -> None:
    """While an answer is on its way, the next one is not shown, so that it cannot stand above."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")

    def script(asked: Question) -> ScriptedAnswer:
        slow = any("the second" in text for _, text in asked.messages)
        return (
            ScriptedAnswer(text=WORDS, pieces=12, pause=0.2) if slow else ScriptedAnswer(text="one")
        )

    async with lodged(city, tmp_path, {maya: "maya"}, script, manners=STREAM) as home:
        gate = city.faults.hold(SEND)
        await city.say(ben, plaza, "maya, the first")
        await gate.reached.wait()
        await city.say(ben, plaza, "maya, the second")
        while await home.said(plaza) != ["maya", "maya"]:
            await home.app.stamp.clock.sleep(0.02)
        gate.release()
        await home.delivered(plaza)
    assert [line.text for line in city.lines(plaza) if line.by == "Maya"] == ["one", WORDS]


async def _held(home: Lodging, plaza: Place) -> Said:
    """What a mate said that is on its way and does not arrive."""
    while not await home.said(plaza):
        await home.app.stamp.clock.sleep(0.02)
    return next(e.body for e in await home.events(plaza) if isinstance(e.body, Said))


async def test_a_late_draft_belongs_to_its_line(city: Twin, tmp_path: Path) -> None:
    """A draft that is noted after its line was said is known as that line's, and its turn as over."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        gate = city.faults.hold(SEND)
        await city.say(ben, plaza, "maya, hello")
        await gate.reached.wait()
        said = await _held(home, plaza)
        place, room = f"discord:{plaza.id}", await home.room(plaza)
        late = Drafted(turn=said.turn, surface=place, message_id="5")
        await home.app.front.note(f"room:{room}", late)
        line = next(e.id for e in await home.events(plaza) if isinstance(e.body, Said))
        assert await home.reception.sessions.channels.draft(place, line) == "5"
        gate.release()


async def test_a_private_talk_is_closed_to_other_bots(city: Twin) -> None:
    """On loopback as on Discord, a bot cannot look into another one's direct messages."""
    maya, bram, ben = city.bot("Maya"), city.bot("Bram"), city.person("ben")
    line = await city.dm(ben, maya, "psst")
    async with online(city, bram) as stranger:
        with pytest.raises(discord.Forbidden):
            await stranger.fetch_channel(line.channel)
    async with online(city, maya) as friend:
        assert (await friend.fetch_channel(line.channel)).id == line.channel


async def test_what_another_account_is_still_to_read(
    city: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came in while several accounts connected is heard after what one of them missed there."""
    maya, house, ben = city.bot("Maya"), city.bot("House"), city.person("ben")
    plaza, den = city.channel("plaza"), city.channel("den")
    await city.forbid(maya, den, "view_channel")
    bots = {maya: "maya", house: ("merlin", "zuzu")}
    async with lodged(city, tmp_path, bots) as home:
        await home.tell(ben, plaza, "one")
        await home.tell(ben, den, "here")
    await city.say(ben, plaza, "two")
    asked, gates = Channels.strays, [asyncio.Event(), asyncio.Event()]
    waiting = iter(gates)

    async def slow(channels: Channels, platform: str) -> list[DraftPost]:
        """House asks first, and goes on when Maya is there; Maya goes on when House has read."""
        await next(waiting).wait()
        return await asked(channels, platform)

    monkeypatch.setattr(Channels, "strays", slow)
    login = city.faults.hold("GET /users/@me", bot="Maya")
    async with lodged(city, tmp_path, bots, wait=False) as home:
        await city.until(lambda: home.states()[1].startswith("connected"))
        await city.say(ben, plaza, "three")
        await city.say(ben, den, "there")
        login.release()
        await home.connected()
        gates[0].set()
        await home.hears(den, "here", "there")
        gates[1].set()
        await home.hears(plaza, "one", "two", "three")


async def test_a_draft_in_a_thread_that_was_closed(city: Twin, tmp_path: Path) -> None:
    """Nothing can be changed in it until the line opens it: then the draft goes, and one stands."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    walk = await city.thread(ben, plaza, "a walk")
    answer, held = ScriptedAnswer(text=WORDS, pieces=4, pause=1), HeldClock()
    async with lodged(
        city, tmp_path, {maya: "maya"}, lambda _: answer, manners=STREAM, pace=held
    ) as home:
        await city.brings(ben, walk, "maya, hello", 2)
        await city.archive(walk)
        held.let_go()
        await city.until(lambda: city.lines(walk)[-1].text == WORDS)
        await home.delivered(walk)
    assert [line.text for line in city.lines(walk)] == ["maya, hello", WORDS]


async def test_a_place_in_which_nobody_speaks_any_more_costs_nothing(
    city: Twin, tmp_path: Path
) -> None:
    """Each line in its order, and no task stays for a thread that was spoken in once."""
    maya, ben = city.bot("Maya"), city.person("ben")
    places = [city.channel(name) for name in ("plaza", "mall", "alley")]

    def working() -> list[str]:
        return [
            one.get_name() for one in asyncio.all_tasks() if one.get_name().startswith("inward ")
        ]

    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        for place in places:
            for text in ("one", "two", "three"):
                await city.say(ben, place, text)
        for place in places:
            await home.hears(place, "one", "two", "three")
        async for _ in home.looks("all of it is done"):
            if not working():
                break
        await home.tell(ben, city.channel("garden"), "four")
