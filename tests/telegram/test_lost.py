"""A line that Telegram refuses for good: the people who wait for it are told."""

import gc
from pathlib import Path

import pytest

from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.chat.room.platform_channels import ChannelSpot, room_of
from loopforge.chat.turns.apply_acts import delivery_facts
from loopforge.core.delivery_states import Accepted, Failed, Queued, Uncertain
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, Reacted, Told
from loopforge.core.text.erasable_text import Words
from loopforge.io.platforms.bot_tokens import BotAccount
from loopforge.io.platforms.platform_time import PlatformTime
from loopforge.io.platforms.surface_options import SurfaceOptions
from loopforge.io.session import Sessions
from loopforge.io.telegram.connection.polling import BotPolling
from loopforge.io.telegram.sending.message_delivery import TelegramDelivery
from tests.telegram.city import City
from tests.telegram.homes import Home, hall, on_telegram, pair
from tests.telegram.test_signs import nothing, outgoing
from tests.telegram.twin import Twin

PLAIN = SurfaceOptions(streams=False, marks=False)


async def test_the_place_that_lost_a_line_is_told(tmp_path: Path, city: City) -> None:
    """Where a line alone is refused, its chat is told why; of a word that is lost it is not."""
    maya, ana = await pair(city)
    why = "Bad Request: message can't be shown"
    async with on_telegram(tmp_path, maya, city.base) as home:
        chat = await city.private(ana, maya)
        await city.fault("sendMessage", "refuse", code=400, description=why)
        await city.say(ana, maya, "hello")
        (word,) = await city.heard(chat, by=maya)
        assert word.text.startswith("What Maya said did not reach Ana: Telegram refuses it: ")
        await city.fault("sendMessage", "refuse", code=400, description=why, times=2)
        await city.say(ana, maya, "and now?")
        (room,) = await home.rooms()

        async def told() -> bool:
            events = await home.events(room)
            return len([e for e in events if isinstance(e.body, Told)]) == 2

        await home.until(told)
        await city.say(ana, maya, "still there?")
        lines = await city.heard(chat, by=maya, count=2)
    assert lines[1].text.startswith("This is answer")


async def test_a_group_that_takes_no_files_of_the_bot(tmp_path: Path, city: City) -> None:
    """What would be a file there arrives in as many messages as it takes, all of it, once."""
    maya, ana, chat = await hall(city)
    why = "Bad Request: not enough rights to send documents to the chat"
    page = " ".join(f"slug{n}" for n in range(5000))
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN, script=lambda _: page) as home:
        await city.fault("sendDocument", "refuse", code=400, description=why, times=100)
        await city.say(ana, chat, "@maya_bot all of it")

        async def arrived() -> bool:
            return " ".join(one.text for one in await city.lines(chat, by=maya)) == page

        await home.until(arrived)
        (room,) = await home.rooms()
        assert not [e for e in await home.events(room) if isinstance(e.body, Told)]


async def test_a_line_that_is_lost_half_way(tmp_path: Path, city: City) -> None:
    """Of a line whose second file is refused, nothing that was sent is kept in mind."""
    maya, ana, chat = await hall(city)
    why = "Bad Request: wrong file identifier"
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        await city.say(ana, chat, "what a day")
        (room,) = await home.until(home.rooms)
        olga = (await home.app.people.meet("web", "olga", "Olga")).id
        await home.app.front.rooms.arrive(room, olga, "Olga", "web")
        files = [
            await ingest_file(
                home.app.artifacts, name, b"secret" + name.encode(), FileLimits(99, 99)
            )
            for name in ("a.txt", "b.txt")
        ]
        await city.fault("sendDocument", "refuse", code=400, description=why, skip=1)
        said = Heard(person=olga, text=Words("both"), surface="web", files=tuple(files))
        await home.app.front.rooms.hear(room, said)

        async def failed() -> bool:
            return any(isinstance(each.body, Failed) for each in await home.events(room))

        await home.until(failed)
        sendings = [one for one in gc.get_objects() if isinstance(one, TelegramDelivery)]
        assert sendings
        assert not any(b"secreta.txt" in within(each) for each in sendings)
    assert len(await city.calls("sendDocument")) == 2


@pytest.mark.parametrize("local", [False, True])
async def test_a_file_that_telegram_takes_of_no_bot_costs_no_line(
    tmp_path: Path, twin: Twin, city: City, local: bool
) -> None:
    """Its words arrive, and why it is not there; a server with --local takes the file itself."""
    maya, ana, chat = await hall(city)
    twin.town.disk = tmp_path if local else None
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        await city.say(ana, chat, "what a day")
        await shown_a_film(home)
        line, shown = await city.heard(chat, by=maya, count=2)
    assert line.text == "Olga (web): both"
    assert shown.paper is not None
    assert shown.paper.name == ("film.mp4" if local else "film.mp4.txt")


async def test_what_telegram_itself_never_takes_it_is_not_asked_to(
    tmp_path: Path, twin: Twin, city: City
) -> None:
    """To its own server no file is sent that is larger than that server takes of a bot."""
    maya, ana, chat = await hall(city)
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        await city.say(ana, chat, "what a day")
        said = await shown_a_film(home)
        await city.heard(chat, by=maya, count=2)
        front, clock, before = home.app.front, home.app.stamp.clock, len(twin.town.calls)
        account = BotAccount(platform="telegram", token=maya.token, mates=("maya",))
        poll = BotPolling(account, clock, nothing, PlatformTime(clock), city.base)
        await poll.bot.initialize()
        sending = TelegramDelivery([poll], Sessions(front), front, home.app.artifacts, clock)
        await sending.send(outgoing(said, f"telegram:{chat.id}"))
        await poll.close()
    given = [each for each in twin.town.calls[before:] if each.method == "sendDocument"]
    assert [each.code for each in given] == [200]


async def shown_a_film(home: Home) -> Event:
    """Somebody in the browser shows the room a film of more than fifty megabytes."""
    (room,) = await home.until(home.rooms)
    olga = (await home.app.people.meet("web", "olga", "Olga")).id
    await home.app.front.rooms.arrive(room, olga, "Olga", "web")
    limits, store = FileLimits(60_000_000, 60_000_000), home.app.artifacts
    film = await ingest_file(store, "film.mp4", bytes((50 << 20) + 1), limits)
    said = Heard(person=olga, text=Words("both"), surface="web", files=(film,))
    return await home.app.front.rooms.hear(room, said)


def within(sending: TelegramDelivery) -> list[bytes]:
    """All bytes that deliveries to Telegram hold, by themselves or in what is of that module."""
    todo, found = list[object]([sending]), list[bytes]()
    while todo:
        match todo.pop():
            case bytes() as data:
                found.append(data)
            case dict() as each:
                todo += [*each.keys(), *each.values()]
            case tuple() | list() as each:
                todo += each
            case each if type(each).__module__ == TelegramDelivery.__module__:
                todo += vars(each).values()
            case _:
                pass
    return found


@pytest.mark.parametrize(
    ("why", "told"),
    [
        ("Bad Request: message thread not found", "Telegram refuses it: Message thread not found."),
        ("Bad Request: TOPIC_CLOSED", "the topic is closed; open it again."),
        ("Forbidden: user is deactivated", "that account of Telegram was deleted."),
    ],
)
async def test_a_topic_that_is_no_more(tmp_path: Path, city: City, why: str, told: str) -> None:
    """Nothing else is sent there, as where a bot was sent away: not even what was lost."""
    maya, ana = await pair(city)
    lab = await city.supergroup("Lab", [ana, maya], admins=[maya], forum=True)
    topic = await city.topic(ana, lab, "Plans")
    async with on_telegram(
        tmp_path, maya, city.base, manners=SurfaceOptions(streams=False)
    ) as home:
        code = 403 if why.startswith("Forbidden") else 400
        await city.fault("sendMessage", "refuse", code=code, description=why)
        await city.say(ana, lab, "maya, hello", topic=topic)

        async def failed() -> bool:
            events = [each for room in await home.rooms() for each in await home.events(room)]
            return any(isinstance(each.body, Failed) for each in events)

        await home.until(failed)
        (room,) = await home.rooms()
        words = {e.id for e in await home.events(room) if isinstance(e.body, Told)}
        owed = [e.body for e in await home.events(room) if isinstance(e.body, Queued)]
        failed_by = [e.body for e in await home.events(room) if isinstance(e.body, Failed)]
        assert [str(one.why) for one in failed_by] == [told]
        assert not [one for one in owed if one.of in words and ":" in one.surface]


async def test_a_group_where_the_bot_may_write_again(tmp_path: Path, city: City) -> None:
    """It is part of the room it was joined to again, as soon as somebody speaks there.

    Where that room was deleted meanwhile, it opens one of its own.
    """
    maya, ana, lab = await hall(city)
    why = "Bad Request: not enough rights to send text messages to the chat"
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        await city.say(ana, maya, "hello")
        await city.heard(await city.private(ana, maya), by=maya)
        (room,) = await home.rooms()
        sessions, place = Sessions(home.app.front), f"telegram:{lab.id}"
        await sessions.join(ChannelSpot(place, "Lab", "group"), room, ("maya",))

        async def parted() -> bool:
            return await sessions.known(place) == ""

        for word, where in (("one", room), ("two", room_of(place))):
            await city.fault("sendMessage", "refuse", code=400, description=why, chat=lab)
            await city.say(ana, lab, f"maya, {word}")
            await home.until(parted)
            if word == "two":
                await home.app.front.closing.close_room(room, "")
            answers = len(await city.lines(lab, by=maya))
            await city.say(ana, lab, "maya, and now?")
            await city.heard(lab, by=maya, count=answers + 1)
            assert await sessions.known(place) == where


@pytest.mark.parametrize("told", [True, False])
async def test_a_group_that_lets_its_bot_in_again(tmp_path: Path, city: City, told: bool) -> None:
    """It is part of the room it was joined to again, whether an update told that or a refusal."""
    maya, ana, lab = await hall(city)
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        await city.say(ana, maya, "hello")
        await city.heard(await city.private(ana, maya), by=maya)
        (room,) = await home.rooms()
        sessions, place = Sessions(home.app.front), f"telegram:{lab.id}"
        await sessions.join(ChannelSpot(place, "Lab", "group"), room, ("maya",))

        async def parted() -> bool:
            return await sessions.known(place) == ""

        if not told:
            why = "Forbidden: bot was kicked from the supergroup chat"
            await city.fault("sendMessage", "refuse", description=why, chat=lab)
            await city.say(ana, lab, "maya, one")
            await home.until(parted)
        await city.kick(ana, maya, lab)
        await home.until(parted)
        await city.add(ana, maya, lab)
        await city.say(ana, lab, "maya, and now?")
        await city.heard(lab, by=maya)
        assert await sessions.known(place) == room


@pytest.mark.parametrize("gone", [True, False])
async def test_an_emoji_that_cannot_be_put(tmp_path: Path, city: City, gone: bool) -> None:
    """That a line was deleted, of which no bot is told, is no failure; a group's rule is told."""
    maya, ana, chat = await hall(city)
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        line = await city.say(ana, chat, "@maya_bot hello")
        await city.heard(chat, by=maya)
        why = "Bad Request: REACTION_INVALID"
        if gone:
            await city.delete(ana, line)
        else:
            await city.fault("setMessageReaction", "refuse", code=400, description=why)
        (room,), stamp = await home.rooms(), home.app.stamp
        (heard,) = [e.id for e in await home.events(room) if isinstance(e.body, Heard)]
        body = Reacted(turn="", mate="maya", to=heard, emoji="👍")
        fact = stamp.fact(body, actor="mate:maya")
        sent = delivery_facts(fact, (await home.app.rooms.state(room)).places, stamp, "reaction")
        await home.app.ledger.append(f"room:{room}", [fact, *sent])

        async def ended() -> list[str]:
            found = [e.body for e in await home.events(room)]
            ends = [body for body in found if isinstance(body, Accepted | Failed)]
            mine = [body for body in ends if body.delivery == sent[0].id]
            return [str(each.why) if isinstance(each, Failed) else "" for each in mine]

        refused = "that emoji may not be put on messages there."
        assert await home.until(ended) == ["" if gone else refused]


async def test_a_message_that_may_be_of_two_topics_is_taken_for_neither_line(
    tmp_path: Path, city: City
) -> None:
    """Two sendings broke off and one arrived, nobody can say in which: no line takes its place."""
    maya, ana = await pair(city)
    lab = await city.supergroup("Lab", [ana, maya], admins=[maya], forum=True)
    topics = [await city.topic(ana, lab, name) for name in ("Plans", "Bread")]
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        await city.fault("sendMessage", "after", skip=2)
        await city.fault("sendMessage", "before", skip=2)
        for topic in topics:
            await city.say(ana, lab, "maya, one", topic=topic)
        await city.heard(lab, by=maya, count=2)
        for topic in topics:
            await city.say(ana, lab, "maya, two", topic=topic)

        async def ended() -> list[bool]:
            events = [each for room in await home.rooms() for each in await home.events(room)]
            ends = [e.body for e in events if isinstance(e.body, Accepted | Uncertain)]
            mine = [isinstance(each, Uncertain) for each in ends]
            return mine if mine.count(True) >= 2 else []

        assert sorted(await home.until(ended))[-2:] == [True, True]
        edits = await city.calls("editMessageText")
    assert edits == []


async def test_a_webhook_of_somebody_else(tmp_path: Path, twin: Twin, city: City) -> None:
    """Where another program takes a bot's messages by a webhook, it is said what to do."""
    maya, _ = await pair(city)
    twin.town.accounts[maya.id].profile["webhook"] = "https://bots.example.org/hook"
    async with on_telegram(tmp_path, maya, city.base) as home:

        async def told() -> bool:
            states = home.platforms.states().get("telegram", {})
            return "webhook" in states.get("maya", "")

        await home.until(told)
        assert "--take-over" in home.platforms.states()["telegram"]["maya"]
