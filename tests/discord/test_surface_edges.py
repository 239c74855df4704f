"""Replies, reactions, long files, places that close, and a storm of everything at once."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from loopforge.chat.turns.apply_acts import delivery_facts
from loopforge.core.delivery_states import Attempting, PutOff, Uncertain
from loopforge.core.room_vocabulary import Heard, PersonReacted, Reacted, Said, Told
from loopforge.core.text.erasable_text import Words
from loopforge.io.discord.connection.gateway_client import GatewayClient
from loopforge.io.discord.connection.rate_limit import DiscordPace
from loopforge.io.discord.discord_settings import DiscordOptions
from loopforge.io.discord.sending.reply_quote import strip_reply_quote
from loopforge.io.platforms.bot_tokens import BotAccount
from tests.discord.clients import online
from tests.discord.lodging import HOOK, SEND, Lodging, lodged
from tests.discord.twin import Twin
from tests.discord.words import Place


async def test_a_mates_reaction(city: Twin, tmp_path: Path) -> None:
    """An emoji that a mate puts on a line stands on its message, by the mate's own account."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        line = await home.tell(ben, plaza, "bread!")
        heard = next(e for e in await home.events(plaza) if isinstance(e.body, Heard))
        stamp, place = home.app.stamp, f"discord:{plaza.id}"
        body = Reacted(turn="", mate="maya", to=heard.id, emoji="🥖")
        fact = stamp.fact(body, actor="mate:maya")
        facts = [fact, *delivery_facts(fact, [place], stamp, "reaction")]
        await home.app.ledger.append(f"room:{await home.room(plaza)}", facts)
        await city.until(lambda: city.line(line).reactions == {"🥖": ("Maya",)})


async def test_what_is_too_long_comes_as_a_file(city: Twin, tmp_path: Path) -> None:
    """An answer of many messages is one: its beginning, and all of it as a file."""
    words = "\n\n".join(f"Paragraph {n} " + "word " * 60 for n in range(60))
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}, lambda _: words) as home:
        await home.ask(ben, plaza, "maya, all of it")
    answer = city.lines(plaza)[-1]
    assert answer.text.startswith("Paragraph 0")
    assert len(answer.files) == 1
    url = str(city.find(answer).attachments[0]["url"]).partition("?")[0]
    assert "Paragraph 59" in (city.town.cdn.get(url) or b"").decode()


async def test_a_person_who_takes_no_messages(city: Twin, tmp_path: Path) -> None:
    """Who closed their direct messages is not written to again; the record says why."""
    maya, ben = city.bot("Maya"), city.person("ben")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.close_dm(ben)
        line = await city.dm(ben, maya, "hello")
        while not (room := await home.room(line.channel)):
            await home.app.stamp.clock.sleep(0.02)
        await home.parted(room)
        events = await home.app.ledger.read(f"room:{room}")
        told = [str(e.body.text) for e in events if isinstance(e.body, Told)]
    assert "takes no direct messages from the bot" in told[0]


async def test_what_cannot_be_read_back_is_uncertain(city: Twin, tmp_path: Path) -> None:
    """Where the bot may not read, what broke off is never sent again; the place is told so."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    await city.forbid(house, plaza, "read_message_history")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        city.faults.lose(HOOK, carried=True)
        await city.say(ben, plaza, "maya, hello")
        await home.eventually(plaza, Uncertain)
        await home.eventually(plaza, Told)
        await city.until(lambda: len(city.lines(plaza)) == 3)
    assert [line.by for line in city.lines(plaza)] == ["ben", "Maya", "House"]
    assert "nobody knows" in city.lines(plaza)[2].text


async def _weather(city: Twin, nth: int) -> None:
    """Something goes wrong, in turn."""
    faults = city.faults
    match nth % 8:
        case 0:
            faults.fail(SEND, 502, carried=True)
        case 1:
            faults.fail(HOOK, 502, carried=True)
        case 2:
            faults.double("MESSAGE_CREATE")
        case 3:
            await city.cut("Maya", 4000)
        case 4:
            faults.lose(SEND, carried=True)
            faults.lose(HOOK, carried=True)
        case 5:
            faults.spoil("MESSAGE_CREATE", "channel_id", times=2)  # nobody hears it as it is said
        case 6:
            faults.rate_limit(SEND, retry_after=0.02)
            faults.rate_limit(SEND, retry_after=0.02, via=False)  # discord.py gives it back
            faults.rate_limit(HOOK, retry_after=0.02)
        case _:
            faults.fail(SEND, 502)
            faults.lose(HOOK, carried=False)


async def _counted(home: Lodging, place: Place) -> tuple[Counter[str], Counter[str]]:
    """What mates said in a room, and what the ledger says arrived there, by their texts."""
    events = await home.events(place)
    said = {e.id: str(e.body.text) for e in events if isinstance(e.body, Said)}
    posts = [
        line for line in said if await home.reception.sessions.channels.posts(_key(place), line)
    ]
    return Counter(said.values()), Counter(said[line] for line in posts)


def _key(place: Place) -> str:
    return f"discord:{place.id}"


@pytest.mark.parametrize("lines", [8, pytest.param(16, marks=pytest.mark.patient)])
async def test_a_storm(city: Twin, tmp_path: Path, lines: int) -> None:
    """Whatever goes wrong, each line of a person is heard once, and each of a mate stands once."""
    maya, house, ben = city.bot("Maya"), city.bot("House"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    texts = [f"maya and merlin, line {n}?" for n in range(lines)]
    answers = (f"answer {n}" for n in count())
    bots = {maya: "maya", house: ("merlin", "zuzu")}
    async with lodged(city, tmp_path, bots, lambda _: next(answers), energy_capacity=100) as home:
        for nth, text in enumerate(texts):
            await _weather(city, nth)
            await city.say(ben, (plaza, mall)[nth % 2], text)
            await home.hears((plaza, mall)[nth % 2], *texts[nth % 2 : nth + 1 : 2])
        for place in (plaza, mall):
            await home.rests(place)
            said, arrived = await _counted(home, place)
            shown = [line for line in city.lines(place) if line.author != ben.id]
            stands = Counter(strip_reply_quote(line.text) for line in shown)
            assert arrived == said
            assert stands == said


async def test_two_bots_see_one_reaction_once(city: Twin, tmp_path: Path) -> None:
    """What happens to a message in front of two of our bots happens once in the room."""
    maya, merlin = city.bot("Maya"), city.bot("Merlin")
    ben, plaza = city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya", merlin: "merlin"}) as home:
        line = await home.tell(ben, plaza, "bread!")
        await city.react(ben, line, "🥖")
        await city.react(ben, line, "🛑")
        await city.until(lambda: len(city.lines(plaza)) == 2)
        await city.say(ben, plaza, "done")
        await home.hears(plaza, "bread!", "done")
        bodies = [event.body for event in await home.events(plaza)]
    reactions = [body.emoji for body in bodies if isinstance(body, PersonReacted)]
    assert reactions == ["🥖", "🛑"]
    assert len([line for line in city.lines(plaza) if "Stopped" in line.text]) == 1


async def test_emojis_that_a_moderator_takes_off_are_off(city: Twin, tmp_path: Path) -> None:
    """Each of one kind, or all at once: nobody says whose they were, and the room knows."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    ana = city.person("ana")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        line = await home.tell(ben, plaza, "bread!")
        for person, emoji in ((ben, "🥖"), (ana, "🥖"), (ben, "🐌"), (ana, "🐌")):
            await city.react(person, line, emoji)
        await home.eventually(plaza, PersonReacted, 4)
        city.town.clear_reaction(plaza.id, line.id, "🥖")
        await home.eventually(plaza, PersonReacted, 6)
        city.town.clear_reactions(plaza.id, line.id)
        await home.eventually(plaza, PersonReacted, 8)
        bodies = [event.body for event in await home.events(plaza)]
    back = [body.emoji for body in bodies if isinstance(body, PersonReacted) and body.back]
    assert back == ["🥖", "🥖", "🐌", "🐌"]


async def test_a_webhook_of_others_speaks_for_many(city: Twin, tmp_path: Path) -> None:
    """Somebody else's webhook is heard, as a bot, each of its names as somebody else."""
    maya, other, plaza = city.bot("Maya"), city.bot("Beep"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home, online(city, other) as client:
        hook = await client.text(plaza).create_webhook(name="Proxy")
        await hook.send("one", username="Ann", wait=True)
        await hook.send("two", username="Bob", wait=True)
        await home.hears(plaza, "one", "two")
        heard = [e.body for e in await home.events(plaza) if isinstance(e.body, Heard)]
    assert all(body.bot for body in heard)
    assert len({body.person for body in heard}) == 2


@asynccontextmanager
async def unreached(city: Twin, path: Path) -> AsyncIterator[tuple[Lodging, Place]]:
    """A home that cannot reach Discord, where somebody elsewhere said something for it."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
    city.faults.fail("GET /users/@me", 503, times=1000)
    async with lodged(city, path, {maya: "maya"}, wait=False) as home:
        events = await home.events(plaza)
        person = next(e.body.person for e in events if isinstance(e.body, Heard))
        line = Heard(person=person, text=Words("from afar"), surface="web", source="1")
        await home.app.front.rooms.hear(await home.room(plaza), line)
        await home.eventually(plaza, Attempting)
        yield home, plaza


async def test_what_is_said_while_discord_cannot_be_reached(city: Twin, tmp_path: Path) -> None:
    """A line for Discord waits until an account is back, and is attempted once."""
    async with unreached(city, tmp_path) as (home, plaza):
        await city.until(lambda: "being connected" not in home.states()[0])
        assert [line.text for line in city.lines(plaza)] == ["one"]
        city.faults.clear()
        await city.until(lambda: len(city.lines(plaza)) == 2)
        await home.delivered(plaza)
        attempts = [e for e in await home.events(plaza) if isinstance(e.body, Attempting)]
    assert len(attempts) == 1
    assert (city.lines(plaza)[-1].by, city.lines(plaza)[-1].text) == ("ben (web)", "from afar")


async def test_leaving_while_discord_cannot_be_reached(city: Twin, tmp_path: Path) -> None:
    """A home that ends while a line waits for Discord ends at once, and the line is kept."""
    async with unreached(city, tmp_path) as (home, plaza):
        await home.surface.close()
        await home.eventually(plaza, PutOff)
    city.faults.clear()
    async with lodged(city, tmp_path, {city.bots["Maya"]: "maya"}):
        await city.until(lambda: len(city.lines(plaza)) == 2)


async def test_what_comes_while_a_client_closes_is_dropped() -> None:
    """discord.py tells of its servers a while after a session began; nothing breaks where it ended."""
    account = BotAccount(platform="discord", token="none", mates=("maya",))
    client = GatewayClient(account, DiscordOptions(), None, DiscordPace().trace(lambda _: None))
    await client.close()
    client.dispatch("ready")
