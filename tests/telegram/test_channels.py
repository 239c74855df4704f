"""Channels: whose posts say not who of the administrators wrote them, be it one of our bots."""

from pathlib import Path

from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.core.delivery_states import Accepted
from loopforge.core.room_vocabulary import EnergySet, Heard, PlaceLeft
from tests.telegram.city import City
from tests.telegram.homes import both, hall, on_telegram


async def test_what_a_mate_says_in_a_channel_is_heard_by_no_other_bot_of_ours(
    tmp_path: Path, city: City
) -> None:
    """One of them hears and speaks for all, so that no line of a mate is one of the channel's."""
    maya, merlin, ana, tokens = await both(city)
    news = await city.channel("News", ana, [maya, merlin])
    async with on_telegram(
        tmp_path, tokens, city.base, script=lambda _: "/energy 9 is what I would set."
    ) as home:
        await city.fault("sendMessage", "hold", bot=maya)
        await city.say(ana, news, "merlin, hello")
        await city.heard(news, by=maya)
        await city.say(ana, news, "/nonsense@maya_bot")
        await city.say(ana, news, "it rains")
        await city.release()
        (room,) = await home.rooms()

        async def heard() -> list[str]:
            events = await home.events(room)
            found = [str(each.body.text) for each in events if isinstance(each.body, Heard)]
            return found if "it rains" in found else []

        assert await home.until(heard) == ["merlin, hello", "it rains"]
        await city.heard(news, by=maya, count=2)
        assert [type(each.body) for each in await home.events(room)].count(EnergySet) == 1
        said = {line.text for line in await city.lines(news, by=maya)}
        assert "Merlin: /energy 9 is what I would set." in said
    assert await city.lines(news, by=merlin) == []
    assert await city.doubled() == []


async def test_a_channel_in_which_the_bot_may_not_post(tmp_path: Path, city: City) -> None:
    """It is an administrator there without that right: who can give it is told, once for all."""
    maya, merlin, ana, _ = await both(city)
    news = await city.channel("News", ana, [maya, merlin])
    why = "Bad Request: need administrator rights in the channel chat"
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.fault("sendMessage", "refuse", code=400, description=why, times=9)
        await city.say(ana, news, "maya, hello")

        async def told() -> list[str]:
            events = [each for room in await home.rooms() for each in await home.events(room)]
            return [str(each.body.why) for each in events if isinstance(each.body, PlaceLeft)]

        (word,) = await home.until(told)
    assert word.startswith("the bot may not post in that channel; whoever manages it can give it ")


async def test_what_one_bot_heard_in_a_channel_its_successor_does_not_hear_again(
    tmp_path: Path, city: City
) -> None:
    """Posts have the same numbers for all, whoever of them is told: people's, and a mate's own."""
    maya, merlin, ana, tokens = await both(city)
    news = await city.channel("News", ana, [maya, merlin])
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, news, "maya, it rains")
        await city.heard(news, by=maya)
        (room,) = await home.rooms()

        async def known() -> bool:
            return any(isinstance(each.body, Accepted) for each in await home.events(room))

        await home.until(known)
    await city.kick(ana, maya, news)
    async with on_telegram(tmp_path, tokens, city.base) as home:
        await city.say(ana, news, "merlin, hello")
        await city.heard(news, by=merlin)
        (room,) = await home.rooms()
        heard = [str(e.body.text) for e in await home.events(room) if isinstance(e.body, Heard)]
    assert heard == ["maya, it rains", "merlin, hello"]


async def test_a_channel_is_let_in_and_joined_by_its_number_alone(
    tmp_path: Path, city: City
) -> None:
    """Which bot hears it nobody has to know: its room is the one that was opened for it."""
    maya, _, ana, tokens = await both(city)
    news = await city.channel("News", ana, [maya])
    async with on_telegram(tmp_path, tokens, city.base, telegram_groups="known") as home:
        await city.say(ana, news, "@maya_bot hello")
        (told,) = await city.heard(news, by=maya)
        key = f"telegram:{news.id}"
        assert told.text.endswith(f"loopforge room admit {key} on its machine.")
        room = await home.app.front.rooms.join_place(ChannelSpot(key, "News", "group"), ())
        await city.say(ana, news, "maya, are you here?")
        await city.heard(news, by=maya, count=2)
        assert await home.rooms() == [room]
        assert list((await home.app.front.rooms.state(room)).places) == [f"{key}#{maya.id}"]


async def test_what_people_write_to_a_channel_in_private_is_heard_in_no_room(
    tmp_path: Path, city: City
) -> None:
    """Telegram tells all of these talks as one chat, in which nobody sees another's words."""
    maya = await city.bot("Maya", "maya_bot")
    ana, ben = await city.person("Ana", "ana"), await city.person("Ben", "ben")
    news = await city.supergroup("News", [ana, ben], admins=[maya], direct=True)
    lab = await city.supergroup("Lab", [ana, maya])
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ben, news, "maya, my number is 4711")
        await city.say(ana, news, "/energy@maya_bot 9")
        await city.say(ana, lab, "@maya_bot hello")
        await city.heard(lab, by=maya)
        (room,) = await home.rooms()
        assert list((await home.app.front.rooms.state(room)).places) == [f"telegram:{lab.id}"]
    assert await city.lines(news, by=maya) == []


async def test_a_poll_is_heard(tmp_path: Path, city: City) -> None:
    """A message without words is heard as what it shows."""
    maya, ana, lab = await hall(city)
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, lab, poll=["Maya, tea?", "yes", "no"])
        await city.heard(lab, by=maya)
        (room,) = await home.rooms()
        heard = [e.body for e in await home.events(room) if isinstance(e.body, Heard)]
    assert [str(each.text) for each in heard] == ["[asks: Maya, tea? (yes, no)]"]


async def test_who_speaks_as_a_channel_manages_no_group(tmp_path: Path, city: City) -> None:
    """Telegram says of nobody who speaks so; who speaks as the group itself is one of its admins."""
    maya, ana, lab = await hall(city)
    news = await city.channel("News", ana, [])
    async with on_telegram(tmp_path, maya, city.base):
        await city.say(ana, lab, "/energy 9", channel=news)
        await city.heard(lab, by=maya)
        await city.say(ana, lab, "/energy 9", anonymous=True)
        told = [line.text for line in await city.heard(lab, by=maya, count=2)]
    assert "whoever manages this channel or chat" in told[0]
    assert "9 lines" in told[1]
