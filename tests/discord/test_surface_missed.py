"""What happened on Discord while nobody of ours was there: new places, edits, deletions."""

from pathlib import Path

from loopforge.core.room_vocabulary import Heard, LineDeleted, LineEdited, Said, Stopped
from tests.discord.lodging import Lodging, lodged
from tests.discord.twin import Twin
from tests.discord.words import Place

HISTORY, ONE = "GET /channels/*/messages", "GET /channels/*/messages/*"


async def test_places_where_nobody_was_heard_before(city: Twin, tmp_path: Path) -> None:
    """A first line during a gap is heard, wherever it can be read; what was there before is not."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    alley, mall, forum = city.channel("alley"), city.channel("mall"), city.forum("forum")
    empty, vault, den = city.channel("empty"), city.channel("vault"), city.channel("den")
    await city.say(ben, mall, "long ago")
    city.town.clock.advance(3600)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "maya, hello")
        assert not await home.room(mall)
        await home.delivered(plaza)
    await city.say(ben, alley, "maya, first here")
    await city.say(ben, mall, "maya, second here")
    walk = await city.thread(ben, plaza, "walking")
    await city.say(ben, walk, "maya, where to?")
    post = await city.post(ben, forum, "Bread", "maya, which one?")
    await city.say(ben, vault, "a secret")
    await city.forbid(maya, vault, "read_message_history")
    await city.forbid(maya, den, "view_channel")
    await city.say(ben, den, "before you came")
    city.town.clock.advance(60)
    late, before = city.bot("Late"), len(city.calls)
    async with lodged(city, tmp_path, {maya: "maya", late: "merlin"}) as home:
        await home.hears(alley, "maya, first here")
        await home.hears(mall, "maya, second here")
        await home.hears(walk, "maya, where to?")
        await home.hears(post.id, "maya, which one?")
        assert not await home.room(vault)
        assert not await home.room(den)
        await city.until(lambda: city.lines(alley)[-1].by == "Maya")
        asked = [call.path for call in city.calls[before:] if call.method == "GET"]
    read = [path for path in asked if not path.endswith("/threads/archived/public")]
    assert not [path for path in read if str(empty.id) in path or str(vault.id) in path]


async def test_a_first_line_in_the_gap_of_a_connection(city: Twin, tmp_path: Path) -> None:
    """An account that was away alone reads new places too, though others of ours heard meanwhile."""
    maya, bram, ben = city.bot("Maya"), city.bot("Bram"), city.person("ben")
    plaza, alley = city.channel("plaza"), city.channel("alley")
    await city.forbid(bram, alley, "view_channel")
    async with lodged(city, tmp_path, {maya: "maya", bram: "merlin"}) as home:
        await home.tell(ben, plaza, "one")
        gate = city.faults.hold("GET /users/@me", bot="Maya")
        await city.cut(maya, 4004)
        await gate.reached.wait()
        await city.say(ben, alley, "first here")
        city.town.clock.advance(3600)
        await city.say(ben, plaza, "two")
        await home.hears(plaza, "one", "two")
        gate.release()
        await home.hears(alley, "first here")


async def test_a_first_line_in_a_server_that_is_late(city: Twin, tmp_path: Path) -> None:
    """A server of which the account hears only after its session began is read then."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, alley = city.channel("plaza"), city.channel("alley")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
    await city.say(ben, alley, "first here")
    city.faults.swap("GUILD_CREATE")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "two")
        await home.hears(plaza, "one", "two")
        await home.hears(alley, "first here")


async def test_a_server_that_comes_back_is_read_before_what_is_said_in_it_then(
    city: Twin, tmp_path: Path
) -> None:
    """Whoever speaks as soon as it is there again is heard after those who spoke before."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
        await city.darken()
        await city.say(ben, plaza, "two")
        await city.say(ben, plaza, "three")
        await city.lighten()
        await city.say(ben, plaza, "four")
        await home.hears(plaza, "one", "two", "three", "four")


async def _changes(home: Lodging, place: Place) -> tuple[dict[str, str], list[str]]:
    """What lines were changed to, and which were deleted; by what was said at first, or its id."""
    events = await home.events(place)
    said = {e.id: e.body.source for e in events if isinstance(e.body, Heard)}
    edits = {said[e.body.line]: str(e.body.text) for e in events if isinstance(e.body, LineEdited)}
    return edits, [said.get(e.body.line, "") for e in events if isinstance(e.body, LineDeleted)]


async def test_edits_and_deletions_in_a_gap(city: Twin, tmp_path: Path) -> None:
    """What people changed or took away while nobody was there is so in the room when we are back."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        one = await city.say(ben, plaza, "one")
        two = await city.say(ben, plaza, "two")
        three = await city.say(ben, plaza, "maya, three")
        await home.hears(plaza, "one", "two", "maya, three")
        await home.delivered(plaza)
        await city.until(lambda: city.lines(plaza)[-1].by == "Maya")
        await home.rests(plaza)
    await city.edit(ben, one, "uno")
    await city.delete(ben, two)
    await city.react(ben, three, "🛑")
    four = await city.say(ben, plaza, "four")
    before = len(city.calls)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        while len(await home.heard(plaza)) < 4:
            await home.app.stamp.clock.sleep(0.02)
        assert await _changes(home, plaza) == ({str(one.id): "uno"}, [str(two.id)])
        assert not [e for e in await home.events(plaza) if isinstance(e.body, Stopped)]
        made = [c.path for c in city.calls[before:] if c.method == "GET" and "messages" in c.path]
        assert len([path for path in made if path.endswith("/messages")]) <= 3  # with its drafts
        assert len([path for path in made if "/messages/" in path]) == 1
    before = len(city.calls)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "five")
        while len(await home.heard(plaza)) < 5:
            await home.app.stamp.clock.sleep(0.02)
        assert len((await _changes(home, plaza))[1]) == 1
        assert not [c for c in city.calls[before:] if f"/messages/{two.id}" in c.path]
        assert [e.body.source for e in await home.events(plaza) if isinstance(e.body, Heard)][
            3
        ] == str(four.id)


async def test_edits_and_deletions_in_private(city: Twin, tmp_path: Path) -> None:
    """They are found after a gap in the talks where something was said last, as in channels."""
    maya, ben = city.bot("Maya"), city.person("ben")
    talk = city.private(ben, maya)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        one = await home.tell(ben, talk, "one")
        two = await city.say(ben, talk, "two")
        await home.hears(talk, "one", "two")
        await home.rests(talk)
    await city.edit(ben, one, "uno")
    await city.delete(ben, two)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.eventually(talk, LineDeleted)
        assert await _changes(home, talk) == ({str(one.id): "uno"}, [str(two.id)])


async def test_what_cannot_be_read_is_not_deleted(city: Twin, tmp_path: Path) -> None:
    """A line is deleted when Discord says so, not because an answer lacks it or a right is gone."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        one = await city.say(ben, plaza, "one")
        await city.say(ben, plaza, "two")
        await home.hears(plaza, "one", "two")
    await city.delete(ben, one)
    await city.forbid(maya, plaza, "read_message_history")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "three")
        await home.hears(plaza, "one", "two", "three")
        assert await _changes(home, plaza) == ({}, [])
    await city.allow(maya, plaza)
    refusal = city.faults.refuse(ONE, 50001, message="Missing Access")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "four")
        await home.hears(plaza, "one", "two", "three", "four")
        assert await _changes(home, plaza) == ({}, [])
    city.faults.plan.remove(refusal)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.eventually(plaza, LineDeleted)
        assert await _changes(home, plaza) == ({}, [str(one.id)])


async def test_events_that_lack_something(city: Twin, tmp_path: Path) -> None:
    """A message or an edit that comes spoiled is asked for, and the connection goes on."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        texts = []
        for key in ("author", "content", "mentions", "type"):
            city.faults.spoil("MESSAGE_CREATE", key)
            line = await city.say(ben, plaza, f"without {key}")
            await city.say(ben, plaza, f"after {key}")
            texts += [f"without {key}", f"after {key}"]
        city.faults.spoil("MESSAGE_REACTION_ADD", "user_id")
        await city.react(ben, line, "🥖")
        await home.hears(plaza, *texts)
        for key in ("author", "content"):
            city.faults.spoil("MESSAGE_UPDATE", key)
            await city.edit(ben, line, f"edited without {key}")
            while (await _changes(home, plaza))[0] != {str(line.id): f"edited without {key}"}:
                await home.app.stamp.clock.sleep(0.02)
    assert city.identified == ["Maya"]


async def test_what_an_account_said_that_is_late(city: Twin, tmp_path: Path) -> None:
    """A line that the shared bot's webhook said is not a stranger's to who connects before it."""
    maya, house, ben = city.bot("Maya"), city.bot("House"), city.person("ben")
    house.application = house.id  # as of every bot since 2016
    plaza, bots = city.channel("plaza"), {maya: "maya", house: ("merlin", "zuzu")}
    async with lodged(city, tmp_path, bots) as home:
        said = city.faults.hold("POST /webhooks/*/*", carried=True)
        await city.say(ben, plaza, "merlin, hello")
        await said.reached.wait()
    late = city.faults.hold("GET /users/@me", bot="House")
    async with lodged(city, tmp_path, bots, wait=False) as home:
        await late.reached.wait()
        await city.say(ben, plaza, "one more")
        await home.hears(plaza, "merlin, hello", "one more")
        late.release()
        await home.connected()
        await home.rests(plaza)
        assert await home.heard(plaza) == ["merlin, hello", "one more"]
    said.release()
    assert [line.by for line in city.lines(plaza)] == ["ben", "Merlin", "ben"]


async def _removed(home: Lodging, place: Place) -> list[str]:
    """The kinds of the lines that were deleted."""
    events = await home.events(place)
    said = {e.id: e for e in events if isinstance(e.body, Heard | Said)}
    gone = [e.body.line for e in events if isinstance(e.body, LineDeleted)]
    return [said[line].kind for line in gone]


async def test_what_moderators_take_away(city: Twin, tmp_path: Path) -> None:
    """With its first message a line of a mate, or one relayed, is gone in every place of its room."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    long = "\n\n".join("word " * 90 for _ in range(8))
    async with lodged(city, tmp_path, {maya: "maya"}, lambda _: long) as home:
        await home.join(plaza, mall)
        await city.say(ben, plaza, "maya, all of it")
        await city.until(lambda: len(city.lines(mall)) == 3)
        await home.delivered(plaza)
        first, second = (line.id for line in city.lines(plaza)[-2:])
        city.town.delete_message(plaza.id, second)
        await city.say(ben, plaza, "so")
        await home.hears(plaza, "I bake", "maya, all of it", "so")
        assert await _removed(home, plaza) == []
        city.town.delete_message(plaza.id, first)
        await city.until(lambda: len(city.lines(mall)) == 2)
        await home.delivered(plaza)
        assert await _removed(home, plaza) == ["room.said"]
        relayed = city.lines(mall)[-1]
        assert relayed.by == "ben (plaza)"
        city.town.delete_message(mall.id, relayed.id)
        while len(await _removed(home, plaza)) < 2:
            await home.app.stamp.clock.sleep(0.02)
        await home.delivered(plaza)
        assert await _removed(home, plaza) == ["room.said", "room.heard"]
    assert [line.text for line in city.lines(plaza)] == ["I bake", "maya, all of it", "so"]


async def test_a_line_from_before_its_place_was_joined(city: Twin, tmp_path: Path) -> None:
    """Edits and deletions of what was said before a channel became part of another room are heard."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        one = await home.tell(ben, mall, "one")
        two = await city.say(ben, mall, "two")
        await home.hears(mall, "one", "two")
        before = await home.room(mall)
        await home.join(plaza, mall)
        await city.edit(ben, one, "uno")
        await city.delete(ben, two)
        async for _ in home.looks("both are in the room of then"):
            changes = await home.app.ledger.read(f"room:{before}", after=1)
            kinds = [each.kind for each in changes]
            if "room.line_edited" in kinds and "room.line_deleted" in kinds:
                break


async def test_a_server_that_discord_lost_for_hours(city: Twin, tmp_path: Path) -> None:
    """What was said meanwhile is read when it is back, in threads that were closed since, too."""
    city.town.clock.advance(-4 * 3600)
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
        walk = await city.thread(ben, plaza, "walking")
        await home.tell(ben, walk, "two")
        await city.darken()
        await city.say(ben, plaza, "three")
        await city.say(ben, walk, "four")
        await city.archive(walk)
        city.town.clock.advance(4 * 3600)
        await city.lighten()
        await home.hears(plaza, "one", "three")
        await home.hears(walk, "two", "four")


async def test_a_channel_and_a_thread_that_are_renamed(city: Twin, tmp_path: Path) -> None:
    """They are called by their new names, also where nobody was there or nobody speaks."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
        walk = await city.thread(ben, plaza, "a walk")
        await home.tell(ben, walk, "where to?")
        await city.rename(plaza, "square")
        await city.rename(walk, "a long walk")
        await home.named(plaza, "#square")
        await home.named(walk, "a long walk")
    await city.rename(plaza, "market")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.named(plaza, "#market")
