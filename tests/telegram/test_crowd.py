"""Several bots of ours in one group are one home: it hears once, and acts once."""

from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import ConversationBegan, Heard, LineEdited, PlaceLeft
from tests.telegram.city import City
from tests.telegram.homes import both, on_telegram


async def test_a_command_is_done_once(tmp_path: Path, city: City) -> None:
    """Without a bot's name one of ours does it, told twice or not; with a name that one does."""
    maya, merlin, ana, tokens = await both(city)
    lab = await city.supergroup("Lab", [ana, maya, merlin])
    async with on_telegram(tmp_path, tokens, city.base) as home:
        await city.command(ana, lab, "nonsense")
        await city.fault("getUpdates", "again", skip=1, bot=maya)
        await city.fault("getUpdates", "again", skip=1, bot=merlin)
        await city.command(ana, lab, "new")
        await city.command(ana, lab, "nonsense", of=merlin)
        unknown = (await city.heard(lab, by=merlin, count=1))[-1]
        await city.command(ana, lab, "energy", "9", of=maya)

        async def last() -> bool:
            return "9 lines" in (await city.lines(lab, last=1))[0].text

        await city.until(last)
        said = [line.text for line in await city.lines(lab) if line.by.endswith("_bot")]
        (room,) = await home.rooms()
        begun = [e for e in await home.events(room) if isinstance(e.body, ConversationBegan)]
    assert len(said) == 3, said
    assert unknown.text
    assert len(begun) == 1


async def test_the_bot_of_all_and_a_mates_own(tmp_path: Path, city: City) -> None:
    """Who has a bot of its own is not there by the bot of all; whose mention gets one mark."""
    house = await city.bot("House", "house_bot", reads_all=True)
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    lab = await city.supergroup("Lab", [ana, house])
    tokens = {"TELEGRAM_TOKEN": house.token, "TELEGRAM_TOKEN_MAYA": maya.token}
    async with on_telegram(tmp_path, tokens, city.base) as home:
        line = await city.say(ana, lab, "@house_bot hello")
        await city.heard(lab, by=house)
        (room,) = await home.rooms()
        assert sorted((await home.app.front.rooms.state(room)).mates) == ["merlin", "zuzu"]

        async def marked() -> bool:
            lines = await city.lines(lab)
            return next(one for one in lines if one.key == line.key).reactions == {house.id: ["👌"]}

        await city.until(marked)


async def test_a_basic_group_is_heard_once(tmp_path: Path, city: City) -> None:
    """One of our bots hears and speaks there for all, until it becomes a supergroup."""
    maya, merlin, ana, tokens = await both(city)
    lab = await city.group("Lab", [ana, maya, merlin])
    async with on_telegram(tmp_path, tokens, city.base) as home:
        await city.say(ana, maya, "in private")  # from now on each has other numbers
        await city.heard(await city.private(ana, maya), by=maya)
        (private,) = await home.rooms()
        await city.say(ana, lab, "@merlin_bot hello")
        (first,) = await city.heard(lab, by=maya)
        await city.say(ana, lab, "go on", reply_to=first)
        await city.heard(lab, by=maya, count=2)
        line = await city.say(ana, lab, "it rains")
        await city.edit(ana, line, "it pours")
        await city.command(ana, lab, "energy", "9", of=merlin)
        await city.heard(lab, by=merlin)
        (room,) = [room for room in await home.rooms() if room != private]
        lines = [each.text for each in await city.lines(lab, by=maya)]
        assert lines == ["Merlin: This is answer 2.", "Merlin: This is answer 3."]
        events = await home.events(room)
        heard = {str(e.body.text): e.id for e in events if isinstance(e.body, Heard)}
        assert list(heard) == ["@Merlin hello", "go on", "it rains"]
        edited = [e.body.line for e in events if isinstance(e.body, LineEdited)]
        assert edited == [heard["it rains"]]
        assert "make the group a supergroup" in home.platforms.states()["telegram"]["maya"]
        great = await city.upgrade(lab)
        await city.say(ana, great, "merlin, and now?")
        (own,) = await city.heard(great, by=merlin)
        assert own.text.startswith("This is answer")
        assert await city.lines(great, by=maya) == []
        state = await home.app.front.rooms.state(room)
        assert list(state.places) == [f"telegram:{great.id}"]


@pytest.mark.parametrize("of_itself", [True, False])
async def test_who_is_not_told_how_somebody_stands_does_not_ask_at_each_line(
    tmp_path: Path, city: City, of_itself: bool
) -> None:
    """That Telegram refused to say so, of a bot of ours or of a person, is remembered a while."""
    maya, merlin, ana, tokens = await both(city)
    lab = await city.supergroup("Lab", [ana, maya])
    async with on_telegram(tmp_path, tokens, city.base):
        why, who = "Bad Request: member list is inaccessible", merlin if of_itself else maya
        await city.fault("getChatMember", "refuse", bot=who, code=400, description=why, times=9)
        for count in (1, 2, 3):
            await city.say(ana, lab, "maya, hello")
            await city.heard(lab, by=maya, count=count)
        calls = await city.calls("getChatMember", who)
        asked = [str(call.params["user_id"]) for call in calls if call.fault]
    assert asked == [str(merlin.id if of_itself else ana.id)]


async def test_an_ear_that_is_not_back_yet(
    tmp_path: Path, city: City, caplog: pytest.LogCaptureFixture
) -> None:
    """What another bot is told in a basic group meanwhile is no trouble, and is heard by its ear."""
    maya, merlin, ana, tokens = await both(city)
    lab = await city.group("Lab", [ana, maya, merlin])
    async with on_telegram(tmp_path, tokens, city.base) as home:
        await city.say(ana, lab, "maya, hello")
        await city.heard(lab, by=maya)
        (room,) = await home.rooms()
        places = list((await home.app.front.rooms.state(room)).places)
    await city.fault("getMe", "before", bot=maya, times=2)
    await city.fault("getChatMember", "flood", bot=maya)
    await city.say(ana, lab, "it rains")
    async with on_telegram(tmp_path, tokens, city.base) as home:

        async def heard() -> list[str]:
            bodies = [event.body for event in await home.events(room)]
            return [str(body.text) for body in bodies if isinstance(body, Heard)]

        async def caught_up() -> bool:
            return await heard() == ["maya, hello", "it rains"] and not await city.waiting(merlin)

        await home.until(caught_up)
        assert list((await home.app.front.rooms.state(room)).places) == places
    assert "by half" not in caplog.text


async def test_a_shared_bot_calls_whom_the_line_names(city: City, tmp_path: Path) -> None:
    """Who mentions a bot of several mates calls the mate that they name; else the first one."""
    house, ana = await city.bot("House", "house_bot"), await city.person("Ana", "ana")
    ben = await city.person("Ben", "ben")
    lab = await city.supergroup("Lab", [ana, ben, house])
    async with on_telegram(tmp_path, {"TELEGRAM_TOKEN": house.token}, city.base):
        await city.say(ana, lab, "@house_bot merlin, hello")
        (first,) = await city.heard(lab, house)
        await city.say(ben, lab, "@house_bot good day")
        second = (await city.heard(lab, house, 2))[1]
    assert first.text.startswith("Merlin: ")
    assert second.text.startswith("Maya: ")


async def test_a_bot_that_was_restricted_and_sent_away(tmp_path: Path, city: City) -> None:
    """Telegram calls it restricted still: its mate is not there, and with the last bot no room is."""
    maya, merlin, ana, tokens = await both(city)
    lab = await city.supergroup("Lab", [ana, maya, merlin])
    await city.kick(ana, merlin, lab, restricted=True)
    async with on_telegram(tmp_path, tokens, city.base) as home:
        await city.say(ana, lab, "maya, hello")
        await city.heard(lab, by=maya)
        (room,) = await home.rooms()
        assert list((await home.app.front.rooms.state(room)).mates) == ["maya"]
        await city.kick(ana, maya, lab, restricted=True)

        async def parted() -> bool:
            return any(isinstance(each.body, PlaceLeft) for each in await home.events(room))

        await home.until(parted)
