"""One mate with an account of its own, and people who talk to it, over real sockets."""

from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import Heard, LineDeleted, LineEdited, PersonReacted, Said
from tests.discord.lodging import lodged
from tests.discord.twin import Twin


async def test_a_channel_is_quiet_unless_a_mate_is_called(city: Twin, tmp_path: Path) -> None:
    """What is said in a channel to nobody is heard, and no model is asked."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "what a day")
        await home.settled(plaza)
        assert home.models.asked == []
        await city.brings(ben, plaza, "maya, is it not?", 3)
    assert [line.by for line in city.lines(plaza)] == ["ben", "ben", "Maya"]


async def test_everyones_bell_wakes_no_mate(city: Twin, tmp_path: Path) -> None:
    """@everyone and @here in a channel are for people: they are heard, and no model is asked."""
    maya, bram, ben = city.bot("Maya"), city.bot("Bram"), city.person("ben")
    plaza, lines = city.channel("plaza"), ("@everyone the server is down tonight", "@here too")
    async with lodged(city, tmp_path, {maya: "maya", bram: "merlin"}) as home:
        for line in lines:
            await city.say(ben, plaza, line)
        await home.hears(plaza, *lines)
        await home.settled(plaza)
        assert home.models.asked == []


@pytest.mark.parametrize("shared", [False, True])
async def test_a_reply_calls_the_mate_it_answers(city: Twin, tmp_path: Path, shared: bool) -> None:
    """Who answers a mate's message calls that mate, and the room knows which line it was."""
    maya, merlin = city.bot("Maya"), city.bot("Merlin")
    ben, plaza = city.person("ben"), city.channel("plaza")
    bots = {maya: "*"} if shared else {maya: "maya", merlin: "merlin"}
    async with lodged(city, tmp_path, bots) as home:
        await home.ask(ben, plaza, "merlin, hello")
        await city.say(ben, plaza, "and then?", reply_to=city.lines(plaza)[-1])
        await city.until(lambda: len(city.lines(plaza)) == 4)
        events = await home.events(plaza)
    first = next(event for event in events if isinstance(event.body, Said))
    heard = [event.body for event in events if isinstance(event.body, Heard)]
    assert heard[-1].reply_to == first.id
    assert [line.by for line in city.lines(plaza)] == ["ben", "Merlin", "ben", "Merlin"]


@pytest.mark.parametrize("shared", [False, True])
async def test_what_was_said_is_known_while_its_route_rests(
    city: Twin, tmp_path: Path, shared: bool
) -> None:
    """discord.py keeps the answer to the last call of a route until that has rested, for a while."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    city.window = 25.0
    async with lodged(city, tmp_path, {maya: "*" if shared else "maya"}) as home:
        for count in range(1, 6):
            await city.say(ben, plaza, f"maya, tell me {count}")
            await city.until(lambda count=count: len(city.lines(plaza)) == 2 * count)  # type: ignore[misc]
        await city.say(ben, plaza, "is it?", reply_to=city.lines(plaza)[-1])
        await home.hears(plaza, *(f"maya, tell me {count}" for count in range(1, 6)), "is it?")
        events = await home.events(plaza)
    *_, said = [event for event in events if isinstance(event.body, Said)]
    *_, heard = [event.body for event in events if isinstance(event.body, Heard)]
    assert heard.reply_to == said.id


async def test_two_bots_hear_a_message_once(city: Twin, tmp_path: Path) -> None:
    """Two of our bots in one channel make one line of one message; both mates are in the room."""
    maya, merlin = city.bot("Maya"), city.bot("Merlin")
    ben, plaza = city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya", merlin: "merlin"}) as home:
        await city.say(ben, plaza, f"{maya.mention} and {merlin.mention}, who is first?")
        await city.until(lambda: len(city.lines(plaza)) >= 3)
        await home.settled(plaza)
        assert await home.heard(plaza) == ["@Maya and @Merlin, who is first?"]
        assert set(await home.said(plaza)) == {"maya", "merlin"}
    assert {line.by for line in city.lines(plaza)[1:]} == {"Maya", "Merlin"}


async def test_edits_deletions_and_reactions(city: Twin, tmp_path: Path) -> None:
    """What people change, take away and react to is in the ledger, also of older messages."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        one = await city.say(ben, plaza, "one")
        two = await city.say(ben, plaza, "two")
        await home.hears(plaza, "one", "two")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.edit(ben, one, "first")
        await city.react(ben, one, "🥖")
        await city.unreact(ben, one, "🥖")
        await city.delete(ben, two)
        await home.eventually(plaza, LineDeleted)
        await home.eventually(plaza, PersonReacted, 2)
        bodies = [event.body for event in await home.events(plaza)]
        room = await home.app.front.rooms.state(await home.room(plaza))
    assert [str(entry.text) for entry in room.lines.values()] == ["first"]
    assert [str(b.text) for b in bodies if isinstance(b, LineEdited)] == ["first"]
    reactions = [(b.emoji, b.back) for b in bodies if isinstance(b, PersonReacted)]
    assert reactions == [("🥖", False), ("🥖", True)]


async def test_threads_and_forum_posts_are_talks_of_their_own(city: Twin, tmp_path: Path) -> None:
    """A thread has its own room; a forum post's first message is heard in the post."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    ideas = city.forum("ideas")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        root = await city.say(ben, plaza, "let us walk")
        walk = await city.thread(ben, plaza, "a walk", on=root)
        await city.say(ben, walk, "maya, where to?")
        await city.until(lambda: city.lines(walk)[-1].by == "Maya")
        post = await city.post(ben, ideas, "an idea", "maya, what if?")
        await city.until(lambda: city.lines(post)[-1].by == "Maya")
        assert await home.heard(plaza) == ["let us walk"]
        assert await home.heard(walk) == ["maya, where to?"]
        assert await home.heard(post) == ["maya, what if?"]
        rooms = {await home.room(place) for place in (plaza, walk, post)}
    assert len(rooms) == 3


async def test_an_edit_that_mentions_a_mate(city: Twin, tmp_path: Path) -> None:
    """Whoever forgot to mention the bot puts that right by an edit, and is answered once."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        line = await home.tell(ben, plaza, "is it raining?")
        await home.rests(plaza)
        for words in ("is it raining?", "and is it cold?"):
            await city.edit(ben, line, f"{maya.mention} {words}")
            await city.until(lambda: len(city.lines(plaza)) == 2)
            await home.rests(plaza)
        await home.eventually(plaza, LineEdited, 2)
        await home.rests(plaza)
    assert [each.by for each in city.lines(plaza)] == ["ben", "Maya"]
