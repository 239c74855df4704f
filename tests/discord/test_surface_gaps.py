"""What was missed is found behind what was heard elsewhere, and behind what nobody can hear."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from discord.gateway import KeepAliveHandler
from loopforge.core.events import Event
from loopforge.core.home_events import CaughtUp
from loopforge.core.room_vocabulary import LineEdited, PersonReacted
from loopforge.io.discord.connection.unread_backlog import Backlog
from loopforge.io.discord.discord_settings import DiscordOptions
from tests.discord.lodging import ANSWER, PLAIN, lodged
from tests.discord.test_surface_threads import within
from tests.discord.twin import Twin
from tests.door import welcome


async def test_lines_that_moved_hide_none(city: Twin, tmp_path: Path) -> None:
    """However many lines of a channel were heard in threads, what was missed after them is read."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    few = replace(ANSWER, catch_up=2)
    async with lodged(city, tmp_path, {maya: "maya"}, options=few) as home:
        await home.tell(ben, plaza, "a day")
        for n in range(3):
            line = await city.say(ben, plaza, f"maya, hello {n}")
            await city.until(lambda line=line: within(city, line) == ["Maya"])  # type: ignore[misc]
            await home.delivered(line.id)
    await city.say(ben, plaza, "a night")
    async with lodged(city, tmp_path, {maya: "maya"}, options=few) as home:
        await home.hears(plaza, "a day", "a night")


async def test_one_that_cannot_be_heard_hides_none(city: Twin, tmp_path: Path) -> None:
    """What fails with one message of a gap is logged, and the others are heard."""
    maya, ben = city.bot("Maya"), city.person("ben")
    private, broken = city.private(ben, maya), [KeyError("of no use")]

    async def knock(platform: str, account: str, name: str, place: str) -> str | None:
        if broken:
            raise broken.pop()
        return await welcome(platform, account, name, place)

    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, private, "one")
        await home.rests(private)
    for text in ("two", "three"):
        await city.say(ben, private, text)
    async with lodged(city, tmp_path, {maya: "maya"}, knock=knock) as home:
        await home.hears(private, "one", "three")


@pytest.mark.parametrize("by", ["user", "role"])
@pytest.mark.parametrize("options", [PLAIN, ANSWER], ids=["channel", "thread"])
async def test_a_mention_of_a_bot_that_is_not_back_yet(
    city: Twin, tmp_path: Path, by: str, options: DiscordOptions
) -> None:
    """A mention in a gap calls the mate of that bot, also where another bot of ours reads it first.

    With threads it is answered in one, as others are.
    """
    aria, bram, ben = city.bot("Aria"), city.bot("Bram"), city.person("ben")
    plaza, bots = city.channel("plaza"), {aria: "maya", bram: "merlin"}
    mention = aria.mention if by == "user" else f"<@&{aria.role}>"
    async with lodged(city, tmp_path, bots, options=options) as home:
        await home.tell(ben, plaza, "one")
    line = await city.say(ben, plaza, f"{mention} second")
    late = city.faults.hold("GET /users/@me", bot="Aria")
    place, before = (line.id, []) if options is ANSWER else (plaza, ["one"])
    async with lodged(city, tmp_path, bots, wait=False, options=options) as home:
        await late.reached.wait()
        await home.hears(place, *before, "@Maya second")
        late.release()
        await home.delivered(place)
        await city.until(lambda: city.lines(place)[-1].by == "Aria")


async def test_an_end_while_a_gap_is_read(city: Twin, tmp_path: Path) -> None:
    """What was not read of a gap when the home ended is read later, though newer lines were heard."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, alley = city.channel("plaza"), city.channel("alley")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, alley, "one")
        await home.tell(ben, plaza, "one")
        await home.hears(alley, "one")
    await city.say(ben, alley, "two")
    reading = city.faults.hold(f"GET /channels/{alley.id}/messages", times=5)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await reading.reached.wait()
        city.town.clock.advance(3600)
        await city.say(ben, plaza, "much later")
        await home.hears(plaza, "one", "much later")
        assert await home.heard(alley) == ["one"]
    city.faults.clear()
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.hears(alley, "one", "two")


@pytest.mark.parametrize("kind", ["channel", "private", "closed", "closed within the hour"])
async def test_a_newer_line_of_the_same_place_hides_none(
    city: Twin, tmp_path: Path, kind: str
) -> None:
    """What was missed in a place is read, also where something newer was heard there before."""
    away = 0 if kind.endswith("hour") else 4 * 3600
    city.town.clock.advance(-away)
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    place = city.private(ben, maya) if kind == "private" else plaza
    if kind.startswith("closed"):
        place = await city.thread(ben, plaza, "a walk")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        first = await home.tell(ben, place, "one")
        city.faults.drop("MESSAGE_CREATE")
        for text in ("two", "three"):
            await city.say(ben, place, text)
        await home.hears(place, "one", "three")
        await home.delivered(place)
        await home.app.front.rooms.behind.note("discord", first.id)
    if kind.startswith("closed"):
        await city.archive(place)
    city.town.clock.advance(away)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.hears(place, "one", "three", "two")


async def test_the_first_line_of_a_place_that_a_crash_came_before(
    city: Twin, tmp_path: Path
) -> None:
    """A joined place's first line is heard after a crash, though a newer one was heard elsewhere."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.join(plaza, mall, "one")
        city.faults.drop("MESSAGE_CREATE")
        await city.say(ben, mall, "two")
        await city.say(ben, plaza, "three")
        await home.hears(plaza, "one", "three")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.hears(plaza, "one", "three", "two")


async def test_a_line_that_waits_as_the_home_ends(city: Twin, tmp_path: Path) -> None:
    """A line whose file came slowly is heard by the next home, though newer ones were heard since."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
        slow = city.faults.hold("GET /attachments/**")
        await city.say(ben, plaza, "look", files=[("notes.txt", b"buy bread")])
        await slow.reached.wait()
        city.town.clock.advance(3600)
        await home.tell(ben, mall, "two")
    slow.release()
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.hears(plaza, "one", "look")
        async for _ in home.looks("nothing is behind"):
            notes = await home.app.ledger.read("platform:discord")
            if isinstance(notes[-1].body, CaughtUp):
                break


async def test_a_gap_that_ends_while_a_line_is_noted(city: Twin, tmp_path: Path) -> None:
    """A line is heard also where the last account has read all it missed just before it is noted."""
    maya = city.bot("Maya")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        backlog = Backlog(home.app.front)
        backlog.opened(0)
        await asyncio.gather(backlog.guard(1), backlog.done(0))
        assert await home.app.ledger.read("platform:discord") == []


async def test_a_connection_that_is_lost_while_a_gap_is_read(city: Twin, tmp_path: Path) -> None:
    """What is read meanwhile hides nothing that was said elsewhere, if the home ends before that."""
    city.town.clock.advance(-4 * 3600)
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, alley = city.channel("plaza"), city.channel("alley")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
        await home.tell(ben, alley, "two")
        await city.darken()
        await city.say(ben, plaza, "three")
        gate = city.faults.hold(f"GET /channels/{plaza.id}/messages")
        await city.lighten()
        await gate.reached.wait()
        await city.forget(maya)
        await city.cut(maya)
        await city.until(lambda: not city.online(maya))
        await city.say(ben, alley, "four")
        city.town.clock.advance(3600)
        await city.say(ben, plaza, "five")
        gate.release()
        await home.hears(plaza, "one", "three", "five")
    assert not any(isinstance(thread, KeepAliveHandler) for thread in threading.enumerate())
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.hears(alley, "two", "four")


async def test_what_nobody_heard_is_read_by_the_first_that_is_back(
    city: Twin, tmp_path: Path
) -> None:
    """Another that is still away hides nothing: what is said then stands behind what was missed."""
    aria, bram, ben = city.bot("Aria"), city.bot("Bram"), city.person("ben")
    plaza = city.channel("plaza")
    async with lodged(city, tmp_path, {aria: "maya", bram: "merlin"}) as home:
        await home.tell(ben, plaza, "one")
        city.faults.invalidate(bot="Aria")
        for bot in (bram, aria):
            await city.forget(bot)
            await city.cut(bot)
            await city.until(lambda bot=bot: not city.online(bot))  # type: ignore[misc]
        await city.say(ben, plaza, "two")
        await city.until(lambda: city.online(bram))
        await city.say(ben, plaza, "three")
        await home.hears(plaza, "one", "two", "three")
        city.faults.clear()
        await city.until(lambda: city.online(aria))
        await city.say(ben, plaza, "four")
        await home.hears(plaza, "one", "two", "three", "four")


async def test_a_change_that_one_bot_is_told_of_late(city: Twin, tmp_path: Path) -> None:
    """What another of us was told of at once is taken in then, and not again when it comes late."""
    aria, bram, ben = city.bot("Aria"), city.bot("Bram"), city.person("ben")
    plaza = city.channel("plaza")

    def changes(events: Sequence[Event]) -> list[type]:
        return [type(e.body) for e in events if isinstance(e.body, LineEdited | PersonReacted)]

    async with lodged(city, tmp_path, {aria: "maya", bram: "merlin"}) as home:
        line = await home.tell(ben, plaza, "it rains")
        await city.silence(aria)
        await city.edit(ben, line, "it pours")
        await city.react(ben, line, "🥖")
        await city.say(ben, plaza, "two")
        await home.hears(plaza, "it rains", "two")
        before = changes(await home.events(plaza))
        city.faults.swap("RESUMED", bot="Aria")
        await city.cut(aria)
        await city.until(lambda: city.resumed == ["Aria"])
        await city.say(ben, plaza, "three")
        await home.hears(plaza, "it rains", "two", "three")
        await city.unreact(ben, line, "🥖")
        await city.react(ben, line, "🥖")
        await home.eventually(plaza, PersonReacted, 3)
        await home.settled(plaza)
        after = changes(await home.events(plaza))
    assert before == [LineEdited, PersonReacted]
    assert after == [LineEdited, *[PersonReacted] * 3]
