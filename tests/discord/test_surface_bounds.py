"""Threads that mates open: whose rights hold in them, who is in them, and what a restart keeps."""

from pathlib import Path

from loopforge.core.room_vocabulary import (
    ConversationEnded,
    DefaultMateSet,
    MateLeft,
    RightsSet,
    Said,
    Titled,
    Told,
)
from loopforge.core.text.erasable_text import Words
from tests.discord.lodging import ANSWER, Lodging, lodged
from tests.discord.test_surface_threads import OPEN, TALK, name_of, opened, within
from tests.discord.twin import Twin
from tests.discord.words import Person, Place


async def mute(home: Lodging, place: Place, person: Person) -> None:
    """Let nobody answer this person there any more."""
    state = await home.app.front.rooms.state(await home.room(place))
    who = next(id for id, known in state.people.items() if str(known.name) == person.name)
    await home.app.rooms.add(await home.room(place), "", RightsSet(who=who, rights=()))


async def test_who_may_not_talk_opens_no_thread(city: Twin, tmp_path: Path) -> None:
    """Whose lines are not answered in a channel gets no thread there, by a call or by asking."""
    maya, plaza = city.bot("Maya"), city.channel("plaza")
    ann, ben = city.person("ann"), city.person("ben")
    async with lodged(city, tmp_path, {maya: "maya"}, options=ANSWER) as home:
        await city.until(lambda: maya.commands.get(None))
        said = await city.say(ann, plaza, "slugs sleep at night")
        await city.say(ben, plaza, "do they?")
        await home.hears(plaza, "slugs sleep at night", "do they?")
        await mute(home, plaza, ben)
        await city.say(ben, plaza, "maya, hello")
        await home.hears(plaza, "slugs sleep at night", "do they?", "maya, hello")
        told = await city.context(ben, maya, TALK, said)
        await city.until(lambda: told.text)
        await home.settled(plaza)
        assert opened(city) == []
        line = await city.say(ann, plaza, "maya, hello")
        await city.until(lambda: within(city, line) == ["Maya"])
    assert told.text.endswith("mates do not answer you: whoever manages it set that by /rights.")


async def test_rights_hold_in_a_thread_that_nobody_knew_of(city: Twin, tmp_path: Path) -> None:
    """Where a home ended while it opened a thread, the rights of the channel hold in there too."""
    maya, plaza = city.bot("Maya"), city.channel("plaza")
    ann, ben = city.person("ann"), city.person("ben")
    async with lodged(city, tmp_path, {maya: "maya"}, options=ANSWER) as home:
        await home.tell(ben, plaza, "a day")
        await mute(home, plaza, ben)
        gate = city.faults.hold(OPEN, carried=True)
        line = await city.say(ann, plaza, "maya, hello")
        await gate.reached.wait()
    gate.release()
    await city.delete(ann, line)
    async with lodged(city, tmp_path, {maya: "maya"}, options=ANSWER) as home:
        await city.say(ben, line.id, "maya, hello")
        await home.hears(line.id, "maya, hello")
        await home.settled(line.id)
        assert await home.said(line.id) == []
        await city.say(ann, line.id, "maya, hello")
        await city.until(lambda: within(city, line) == ["ben", "ann", "Maya"])


async def test_a_second_title_after_a_restart(city: Twin, tmp_path: Path) -> None:
    """A thread that bears its room's title bears the next one too, though the home began anew."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    line = None
    for title in ("Slugs", "Snails"):
        async with lodged(city, tmp_path, {maya: "maya"}, options=ANSWER) as home:
            if line is None:
                line = await city.say(ben, plaza, "maya, hello")
            else:
                await city.say(ben, line.id, "maya, and now?")
            await home.eventually(line.id, Said, 1 if title == "Slugs" else 2)
            await home.settled(line.id)
            titled = Titled(title=Words(title), by="room")
            await home.app.rooms.add(await home.room(line.id), "", titled)
            await city.until(lambda: name_of(city, line.id) == title)  # noqa: B023


async def test_a_thread_begins_once(city: Twin, tmp_path: Path) -> None:
    """Whoever asks for a thread again, when the talk in it is over, changes nothing in there."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}, lambda _: "Slugs sleep.") as home:
        await city.until(lambda: maya.commands.get(None))
        await home.ask(ben, plaza, "maya, hello")
        line, rights = city.lines(plaza)[-1], RightsSet(who="everyone", rights=("talk",))
        await home.app.rooms.add(await home.room(plaza), "", rights)
        await city.context(ben, maya, TALK, line)
        room = await home.room(line.id)
        await home.app.rooms.add(room, "", RightsSet(who="everyone", rights=()))
        await home.app.rooms.add(room, "", ConversationEnded(why="asked"))
        await city.context(ben, maya, TALK, line)
        bodies = [event.body for event in await home.events(line.id)]
        told = [str(body.text) for body in bodies if isinstance(body, Told)]
        assert told == ["Maya had said in #plaza: Slugs sleep."]
        assert within(city, line) == []  # it waits for a person
        assert (await home.app.front.rooms.state(room)).rights["everyone"].rights == ()


async def test_who_is_in_a_thread_that_is_asked_for(city: Twin, tmp_path: Path) -> None:
    """Not a mate that was sent out of the channel, also on its own line; else the default one."""
    house, plaza, ben = city.bot("House"), city.channel("plaza"), city.person("ben")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        await city.until(lambda: house.commands.get(None))
        await home.ask(ben, plaza, "maya, hello")
        room, lines = await home.room(plaza), city.lines(plaza)
        await home.app.rooms.add(room, "", MateLeft(mate="maya"), DefaultMateSet(mate="zuzu"))
        told = await city.context(ben, house, TALK, lines[1])
        other = await city.say(ben, plaza, "slugs sleep at night")
        await home.hears(plaza, "maya, hello", "slugs sleep at night")
        await city.context(ben, house, TALK, other)
        await city.until(lambda: within(city, other) == ["Zuzu"])
    assert told.text == "No mate is here by this bot."
    assert len(opened(city)) == 1
