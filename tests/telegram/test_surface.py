"""Mates on Telegram: private chats, groups, topics, and nothing said twice."""

import hashlib
from pathlib import Path

import pytest

from loopforge.artifacts.file_intake import FileLimits
from loopforge.core.room_vocabulary import Heard, PlaceLeft, Said
from loopforge.io.platforms.surface_options import SurfaceOptions
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from tests.held_clock import HeldClock
from tests.telegram.city import City
from tests.telegram.homes import both, hall, on_telegram, pair
from tests.telegram.records import Bot, Chat
from tests.telegram.twin import Twin


async def test_a_group_listens_until_called(tmp_path: Path, city: City) -> None:
    """In a group a mate is silent until it is named, mentioned or replied to."""
    maya, ana, lab = await hall(city)
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, lab, "what a day")
        await city.say(ana, lab, "@maya_bot how are you?")
        (first,) = await city.heard(lab, by=maya)
        assert first.text == "This is answer 1."
        await city.say(ana, lab, "and now?", reply_to=first)
        assert len(await city.heard(lab, by=maya, count=2)) == 2
        (room,) = await home.rooms()
        heard = [e.body for e in await home.events(room) if isinstance(e.body, Heard)]
        assert [str(body.text) for body in heard] == [
            "what a day",
            "@Maya how are you?",
            "and now?",
        ]
        assert heard[2].reply_to


async def test_who_begins_is_told_how_to_talk(tmp_path: Path, city: City) -> None:
    """Who presses *Start* in private, or brings a bot into a group by its link, is told how."""
    maya, ana, lab = await hall(city)
    merlin = await city.bot("Merlin", "merlin_bot")
    tower = await city.supergroup("Tower", [ana, merlin])
    desk = await city.supergroup("Desk", [ana], [merlin])
    tokens = {"TELEGRAM_TOKEN_MAYA": maya.token, "TELEGRAM_TOKEN_MERLIN": merlin.token}
    async with on_telegram(tmp_path, tokens, city.base) as home:

        async def greeted(bot: Bot, chat: Chat) -> str:
            of = bot if chat.id < 0 else None
            await city.command(ana, chat, "start", "true" if of else "", of=of)
            (told,) = await city.heard(chat, by=bot)
            return told.text

        private = await greeted(maya, await city.private(ana, maya))
        assert private.startswith("Here is Maya: whatever you write is answered.")
        assert (await greeted(maya, lab)).startswith(
            "Here is Maya: say the name, mention @maya_bot"
        )
        assert "its privacy mode is on: /setprivacy" in await greeted(merlin, tower)
        assert "say the name" in await greeted(merlin, desk)
        assert await home.rooms() == []


async def test_a_group_of_strangers_asks_no_model(tmp_path: Path, city: City) -> None:
    """A group counts once somebody whom the owner let in speaks there; strangers are told once."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    eve, ana = await city.person("Eve", "eve"), await city.person("Ana", "ana")
    lab = await city.supergroup("Lab", [eve, ana, maya])
    async with on_telegram(tmp_path, maya, city.base, telegram_groups="known") as home:
        await city.say(eve, lab, "@maya_bot hello")
        (notice,) = await city.heard(lab, by=maya)
        assert "Mates do not talk here yet" in notice.text
        await city.say(eve, lab, "@maya_bot hello?")
        await home.app.people.meet("telegram", str(ana.id), "Ana")
        await home.app.pairing.admit(f"telegram:{ana.id}", "")
        await city.say(ana, lab, "@maya_bot it is me")
        told = await city.heard(lab, by=maya, count=2)
        assert [line.text for line in told] == [notice.text, "This is answer 1."]
        (room,) = await home.rooms()
        heard = [e.body for e in await home.events(room) if isinstance(e.body, Heard)]
        assert [str(body.text) for body in heard] == ["@Maya it is me"]


async def test_two_bots_one_line(tmp_path: Path, city: City) -> None:
    """A line that two of our bots receive is heard once, and each mate speaks by its own bot."""
    maya, merlin, ana, tokens = await both(city)
    lab = await city.supergroup("Lab", [ana, maya, merlin])
    async with on_telegram(tmp_path, tokens, city.base) as home:
        await city.say(ana, lab, "maya and merlin, hello")
        await city.heard(lab, by=maya)
        await city.heard(lab, by=merlin)
        (room,) = await home.rooms()
        events = await home.events(room)
        assert sum(isinstance(e.body, Heard) for e in events) == 1
        assert sorted(e.body.mate for e in events if isinstance(e.body, Said)) == ["maya", "merlin"]


async def test_a_file_is_fetched_by_one_bot(tmp_path: Path, city: City) -> None:
    """Of several bots in a group the first that hears a line asks for its file, and who says it."""
    maya, merlin, ana, tokens = await both(city)
    lab = await city.supergroup("Lab", [ana, maya, merlin])
    manners, film = SurfaceOptions(limits=FileLimits(size=100, text=1000)), ("film.mp4", b"x" * 101)
    async with on_telegram(tmp_path, tokens, city.base, manners=manners) as home:
        for bot in (maya, merlin):
            await city.say(ana, lab, f"@{bot.username} look", document=("a.txt", b"bytes"))
            await city.heard(lab, by=bot)
            await city.say(ana, lab, f"@{bot.username} this, too", document=film)

        async def told() -> bool:
            lines = [*await city.lines(lab, by=maya), *await city.lines(lab, by=merlin)]
            large = sum("too large" in one.text for one in lines)
            unread = [await city.waiting(each) for each in (maya, merlin)]
            return len(lines) == 6 and large == 2 and not any(unread)

        await home.until(told)
        assert len(await city.calls("getFile")) == 2
        asked = [call.params["user_id"] for call in await city.calls("getChatMember")]
        assert asked.count(str(ana.id)) == 1


async def test_topics_are_conversations(tmp_path: Path, city: City) -> None:
    """A topic is a conversation of its own, and is answered in the topic."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    lab = await city.supergroup("Lab", [ana, maya], forum=True)
    plans = await city.topic(ana, lab, "Plans")
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, lab, "maya, here?", topic=plans)
        (answer,) = await city.heard(lab, by=maya)
        assert answer.topic == plans
        await city.say(ana, lab, "maya, and here?")
        await city.heard(lab, by=maya, count=2)
        assert len(await home.rooms()) == 2


async def test_a_group_and_a_topic_that_are_renamed(tmp_path: Path, twin: Twin, city: City) -> None:
    """They are called by their new names at once, and where nobody was told, by the next line."""
    maya, ana = await city.bot("Maya", "maya_bot", reads_all=True), await city.person("Ana", "ana")
    lab = await city.supergroup("Lab", [ana, maya], forum=True)
    plans = await city.topic(ana, lab, "Plans")
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, lab, "one", topic=plans)
        await city.say(ana, lab, "two")
        await home.named("Lab", "Plans in Lab")
        await city.retopic(ana, lab, plans, "edited", "Dreams")
        await city.say(ana, lab, "three", topic=plans)
        await home.named("Dreams in Lab", "Lab")
        await city.retitle(ana, lab, "Crew")
        await home.named("Crew", "Dreams in Crew")
    await city.retitle(ana, lab, "Gang")
    twin.town.accounts[maya.id].box.waiting.clear()  # Telegram keeps what it tells for a day
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, lab, "four")
        await home.named("Dreams in Crew", "Gang")


async def test_sent_away(tmp_path: Path, city: City) -> None:
    """A group that the bot was sent away from is part of the room no longer."""
    maya, ana, lab = await hall(city)
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, lab, "maya?")
        await city.heard(lab, by=maya)
        await city.kick(ana, maya, lab)
        (room,) = await home.rooms()

        async def left() -> bool:
            return any(isinstance(e.body, PlaceLeft) for e in await home.events(room))

        await home.until(left)


async def test_a_shared_bot(tmp_path: Path, city: City) -> None:
    """One bot for many mates: each line bears its mate's name, and a reply finds that mate."""
    house = await city.bot("House", "house_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    lab = await city.supergroup("Lab", [ana, house])
    async with on_telegram(tmp_path, {"TELEGRAM_TOKEN": house.token}, city.base) as home:
        await city.say(ana, lab, "merlin, are you there?")
        (first,) = await city.heard(lab, by=house)
        assert first.text == "Merlin: This is answer 1."
        await city.say(ana, lab, "go on", reply_to=first)
        await city.heard(lab, by=house, count=2)
        (room,) = await home.rooms()
        said = [e.body.mate for e in await home.events(room) if isinstance(e.body, Said)]
        assert said == ["merlin", "merlin"]


async def test_drafts_in_private(tmp_path: Path, city: City) -> None:
    """In a private chat Telegram's own drafts are used."""
    maya, ana = await pair(city)
    slow = ScriptedAnswer(text="This one comes in many small pieces.", pieces=8, pause=0.3)
    held = HeldClock()
    async with on_telegram(tmp_path, maya, city.base, script=lambda _: slow, pace=held):
        await city.say(ana, maya, "tell me")
        await city.until(city.drafts)
        held.let_go()
        chat = await city.private(ana, maya)
        await city.heard(chat, by=maya)
        assert await city.drafts()
        assert len(await city.lines(chat, by=maya)) == 1


async def test_files(tmp_path: Path, city: City) -> None:
    """A file is kept and read; one that is too large is refused with a sentence."""
    maya, ana = await pair(city)
    manners = SurfaceOptions(limits=FileLimits(size=100, text=1000))
    async with on_telegram(tmp_path, maya, city.base, manners=manners) as home:
        chat = await city.private(ana, maya)
        await city.say(ana, maya, "read this", document=("notes.txt", b"the oven is hot"))
        await city.heard(chat, by=maya)
        (room,) = await home.rooms()
        (heard,) = [e.body for e in await home.events(room) if isinstance(e.body, Heard)]
        (file,) = heard.files
        assert (str(file.name), str(file.text)) == ("notes.txt", "the oven is hot")
        assert await home.app.artifacts.get(str(file.hash)) == b"the oven is hot"
        await city.say(ana, maya, "", document=("big.bin", b"x" * 101))
        lines = await city.heard(chat, by=maya, count=2)
        assert lines[1].text.startswith("big.bin is too large: 101 bytes of at most 100.")
        await city.say(ana, maya, "read that", document=("big.bin", b"x" * 101))
        await city.heard(chat, by=maya, count=4)
        said = [e.body for e in await home.events(room) if isinstance(e.body, Heard)][-1]
        assert str(said.text) == "read that\n[a file that came with this could not be taken]"


async def test_a_file_that_is_too_large_in_a_group(tmp_path: Path, city: City) -> None:
    """In a group who talks to nobody is told nothing of a file too large; who asks a mate is."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana, ben = await city.person("Ana", "ana"), await city.person("Ben", "ben")
    lab = await city.supergroup("Lab", [ana, ben, maya])
    manners, film = SurfaceOptions(limits=FileLimits(size=100, text=1000)), ("film.mp4", b"x" * 101)
    async with on_telegram(tmp_path, maya, city.base, manners=manners) as home:
        await city.say(ana, lab, "", document=film)
        await city.say(ana, lab, "from the beach", document=film)
        await city.say(ana, lab, "@maya_bot see", document=film)
        told = [line.text for line in await city.heard(lab, by=maya, count=2)]
        assert sum("too large" in text for text in told) == 1
        (room,) = await home.rooms()
        said = [e.body for e in await home.events(room) if isinstance(e.body, Heard)]
        assert str(said[0].text) == (
            "from the beach\n[a file that came with this could not be taken]"
        )


async def test_a_mates_file(tmp_path: Path, city: City) -> None:
    """What a mate wrote is uploaded after its words, under its name, byte for byte."""
    maya, ana = await pair(city)
    recipe = {"name": "bread.md", "text": "500 g flour\n"}
    answer = ScriptedAnswer(data={"say": "Here it is.", "files": [recipe]})
    async with on_telegram(tmp_path, maya, city.base, script=lambda _: answer) as home:
        assert isinstance(home.app.models, ScriptedModels)
        home.app.models.window = 65_536
        chat = await city.private(ana, maya)
        await city.say(ana, maya, "write it down")
        words, upload = await city.heard(chat, by=maya, count=2)
        assert words.text == "Here it is."
        assert upload.paper is not None
        digest = hashlib.sha256(b"500 g flour\n").hexdigest()
        assert (upload.paper.name, upload.paper.sha256) == ("bread.md", digest)


async def test_a_group_that_grows(tmp_path: Path, city: City) -> None:
    """A group that becomes a supergroup, under another number, stays the same room."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    lab = await city.group("Lab", [ana, maya])
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, lab, "maya, one")
        await city.heard(lab, by=maya)
        great = await city.upgrade(lab)
        await city.say(ana, great, "maya, two")
        await city.heard(great, by=maya)
        (room,) = await home.rooms()
        state = await home.app.front.rooms.state(room)
        assert list(state.places) == [f"telegram:{great.id}"]


@pytest.mark.parametrize("anonymous", [False, True])
async def test_a_stop_sign(tmp_path: Path, city: City, *, anonymous: bool) -> None:
    """A stop sign that is put on a line stops the room, also where a group's keeper has no name."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    lab = await city.supergroup("Lab", [ana, maya], admins=[maya])
    async with on_telegram(tmp_path, maya, city.base) as home:
        line = await city.say(ana, lab, "maya, one")
        await city.heard(lab, by=maya)
        with pytest.raises(ValueError, match="Telegram has no such reaction"):
            await city.react(ana, line, "✋")
        await city.react(ana, line, "🙊", anonymous=anonymous)
        (room,) = await home.rooms()

        async def stopped() -> bool:
            return (await home.app.front.rooms.state(room)).stopped

        await home.until(stopped)


async def test_who_may_change_a_group(tmp_path: Path, city: City) -> None:
    """In a group a room is changed by those who manage the group, and by nobody else."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana, ben = await city.person("Ana", "ana"), await city.person("Ben", "ben")
    lab = await city.supergroup("Lab", [ana, ben, maya])
    async with on_telegram(tmp_path, maya, city.base):
        await city.command(ben, lab, "energy", "9")
        (refused,) = await city.heard(lab, by=maya)
        assert refused.text.startswith("/energy is for")
        await city.command(ana, lab, "energy", "9")
        done = (await city.heard(lab, by=maya, count=2))[1]
        assert done.text.startswith("Mates may say 9 lines")


async def test_another_bot_commands_nothing(tmp_path: Path, city: City) -> None:
    """Though it manages the group: what makes it say so is not known. Its line is a bot's line."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana, feed = await city.person("Ana", "ana"), await city.bot("Feed", "feed_bot", meets_bots=True)
    lab = await city.supergroup("Lab", [ana, maya], admins=[ana, feed])
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.command(feed, lab, "energy", "9", of=maya)
        await city.command(feed, lab, "stop", "", of=maya)
        await city.command(feed, lab, "none", "", of=maya)
        await city.command(ana, lab, "energy", "5")
        await city.heard(lab, by=maya)
        (room,) = await home.rooms()

        async def done() -> list[str]:
            kinds, events = ("room.energy_set", "room.stopped"), await home.events(room)
            return [one.kind for one in events if one.kind in kinds and one.actor != "room"]

        await home.until(done)
        assert await done() == ["room.energy_set"]


async def test_a_keepers_line_is_a_keepers(tmp_path: Path, city: City) -> None:
    """Where nobody may talk, who manages the group still may; that is not asked at each line."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana, ben = await city.person("Ana", "ana"), await city.person("Ben", "ben")
    lab = await city.supergroup("Lab", [ana, ben, maya])
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.command(ana, lab, "rights", "everyone none")
        await city.heard(lab, by=maya)
        for person in (ben, ana, ana):
            await city.say(person, lab, f"maya, it is {person.name}")
        await city.heard(lab, by=maya, count=2)
        (room,) = await home.rooms()
        events = [event.body for event in await home.events(room)]
        assert [body.keeper for body in events if isinstance(body, Heard)] == [False, True, True]
        asked = [call.params["user_id"] for call in await city.calls("getChatMember")]
        assert asked.count(str(ana.id)) == 1
