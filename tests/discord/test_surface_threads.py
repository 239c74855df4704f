"""Threads that mates open: one for a line that calls them, named, answered in, and found again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from loopforge.app import open_app
from loopforge.chat.turns.apply_acts import delivery_facts
from loopforge.core.room_vocabulary import (
    Heard,
    LineDeleted,
    LineEdited,
    PersonReacted,
    Reacted,
    RightsSet,
    Told,
)
from loopforge.host import run_surfaces
from loopforge.io.platforms.bot_tokens import BotTokens
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels, in_character
from loopforge.runtime.ports import Question
from loopforge.runtime.system_clock import SystemClock
from loopforge.settings import load_settings
from tests.discord.lodging import ANSWER, MARKS, lodged
from tests.discord.twin import Twin
from tests.discord.words import Line
from tests.elsewhere import elsewhere
from tests.rooms.conftest import write_mates
from tests.rooms.test_talking import speaker

OPEN = "POST /channels/*/messages/*/threads"
STARTER, TALK = 21, "Talk in a thread"


def entitling(question: Question) -> ScriptedAnswer | str | Mapping[str, Any]:
    """A model that names rooms, and says little otherwise."""
    if speaker(question) == "the room":
        return {"title": "Slugs at night"}
    return in_character(question)


def opened(city: Twin) -> list[tuple[str, str]]:
    """Who opened which threads."""
    return [(deed.by, deed.text) for deed in city.deeds("thread")]


def within(city: Twin, line: Line) -> list[str]:
    """Who spoke in the thread on a line."""
    return [each.by for each in city.lines(line.id) if each.kind != STARTER]


async def answered(city: Twin, place: int) -> None:
    """Wait until Maya spoke last there."""
    await city.until(lambda: city.lines(place)[-1].by == "Maya")


def name_of(city: Twin, thread: int) -> str | None:
    """What a thread is called now."""
    return city.town.channels[thread].name


async def test_a_call_is_answered_in_a_thread(city: Twin, tmp_path: Path) -> None:
    """Who calls a mate is answered in a thread on that line, and from then on without calling."""
    maya, merlin = city.bot("Maya"), city.bot("Merlin")
    ben, plaza = city.person("ben"), city.channel("plaza")
    bots = {merlin: "merlin", maya: "maya"}
    async with lodged(city, tmp_path, bots, options=ANSWER, manners=MARKS) as home:
        await home.tell(ben, plaza, "what a day")
        line = await city.say(ben, plaza, f"{maya.mention} **how** do slugs sleep?")
        await city.until(lambda: within(city, line) == ["Maya"])
        await home.delivered(line.id)
        await city.say(ben, line.id, "and when?")
        await city.until(lambda: within(city, line) == ["Maya", "ben", "Maya"])
        await home.settled(line.id)
        await home.delivered(line.id)
        await city.say(ben, line.id, "merlin, do you know?")
        await city.until(lambda: within(city, line)[3:] == ["ben", "Merlin"])
        await home.settled(line.id)
        assert await home.heard(plaza) == ["what a day"]
        texts = ["@Maya **how** do slugs sleep?", "and when?", "merlin, do you know?"]
        assert await home.heard(line.id) == texts
        room = await home.app.front.rooms.state(await home.room(line.id))
        await city.until(lambda: "✅" in city.lines(plaza)[1].reactions)
    assert opened(city) == [("Maya", "@Maya how do slugs sleep?")]
    assert [each.by for each in city.lines(plaza)] == ["ben", "ben"]
    assert list(room.mates) == ["maya", "merlin"]


async def test_the_setting_reaches_discord(city: Twin, tmp_path: Path) -> None:
    """What the home's file says of threads and servers holds for the mates of that home."""
    chosen = 'discord_threads = "answer"\ndiscord_places = "open"\ndebounce_seconds = 0.02\n'
    (tmp_path / "loopforge.toml").write_text(chosen)
    write_mates(tmp_path, ["maya"])
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    settings = load_settings(tmp_path, environ={"LOOPFORGE_TIMEZONE": "UTC"})
    tokens = BotTokens(settings.data, {"DISCORD_TOKEN_MAYA": maya.token})
    models = ScriptedModels(clock=SystemClock())
    settings.data.mkdir()
    async with (
        open_app(settings, models=models, follow=0.05) as app,
        run_surfaces(app, tokens, elsewhere(settings, discord=city.connector)),
    ):
        await city.until(lambda: city.online(maya))
        line = await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: within(city, line) == ["Maya"])


async def test_what_is_said_to_others_in_it_is_not_answered(city: Twin, tmp_path: Path) -> None:
    """In such a thread people may talk to each other: who is mentioned or answered is meant."""
    house, plaza = city.bot("House"), city.channel("plaza")
    ben, ann = city.person("ben"), city.person("ann")
    async with lodged(city, tmp_path, {house: "*"}, options=ANSWER) as home:
        line = await city.say(ben, plaza, "merlin, a riddle please")
        await city.until(lambda: within(city, line) == ["Merlin"])
        await home.delivered(line.id)
        first = await city.say(ann, line.id, f"<@{ben.id}> do you get it?")
        await city.say(ben, line.id, "no", reply_to=first)
        await home.hears(line.id, "merlin, a riddle please", "@ben do you get it?", "no")
        await home.settled(line.id)
        assert within(city, line) == ["Merlin", "ann", "ben"]
        await city.say(ann, line.id, "tell us then")
        await city.until(lambda: within(city, line)[3:] == ["ann", "Merlin"])
    assert opened(city) == [("House", "merlin, a riddle please")]


@pytest.mark.parametrize("way", ["lost", "lost before", "failed"])
async def test_a_call_that_broke_off_makes_no_second(city: Twin, tmp_path: Path, way: str) -> None:
    """Whatever becomes of the answer to opening a thread, there is one, and the line is in it."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}, options=ANSWER) as home:
        if way == "failed":
            city.faults.fail(OPEN, 503, carried=True)
        else:
            city.faults.lose(OPEN, carried=way == "lost")
        line = await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: within(city, line) == ["Maya"])
        await home.settled(line.id)
        assert await home.heard(line.id) == ["maya, hello"]
        assert await home.heard(plaza) == []
    assert city.faults.left == []
    assert opened(city) == [("Maya", "maya, hello")]


async def test_an_end_while_a_thread_is_opened(city: Twin, tmp_path: Path) -> None:
    """A home that ends before it knows of its thread finds it at the next start, and answers."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}, options=ANSWER) as home:
        await home.tell(ben, plaza, "a day")
        gate = city.faults.hold(OPEN, carried=True)
        line = await city.say(ben, plaza, "maya, hello")
        await gate.reached.wait()
    gate.release()
    async with lodged(city, tmp_path, {maya: "maya"}, options=ANSWER) as home:
        await city.until(lambda: within(city, line) == ["Maya"])
        await home.settled(line.id)
        assert await home.heard(line.id) == ["maya, hello"]
        assert await home.heard(plaza) == ["a day"]
    assert opened(city) == [("Maya", "maya, hello")]


async def test_who_is_quicker_than_discord_is_heard_second(city: Twin, tmp_path: Path) -> None:
    """What is said in a thread before Discord told us that it is open stands after its first line."""
    maya, merlin = city.bot("Maya"), city.bot("Merlin")
    ben, plaza = city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {merlin: "merlin", maya: "maya"}, options=ANSWER) as home:
        gate = city.faults.hold(OPEN, carried=True)
        line = await city.say(ben, plaza, "maya, hello")
        await gate.reached.wait()
        await city.say(ben, line.id, "quickly")
        gate.release()
        await home.hears(line.id, "maya, hello", "quickly")
        await home.settled(line.id)
        assert set(await home.said(line.id)) == {"maya"}


async def test_without_the_right_it_is_answered_in_the_channel(
    city: Twin, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where no thread can be opened a mate answers in the channel, and why is logged once."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    mall = city.channel("mall")
    await city.forbid(maya, plaza, "create_public_threads")
    async with lodged(city, tmp_path, {maya: "maya"}, options=ANSWER) as home:
        for _ in range(2):
            await city.say(ben, plaza, "maya, hello")
            await answered(city, plaza.id)
            await home.delivered(plaza)
        city.faults.refuse(OPEN, 160006, 400, "Maximum number of active threads reached")
        await city.brings(ben, mall, "maya, hello", 2)
    why = [
        record.getMessage() for record in caplog.records if "no thread in" in record.getMessage()
    ]
    assert len(why) == 2
    assert "lacks the permission Create Public Threads" in why[0]
    assert "Maximum number of active threads" in why[1]
    assert opened(city) == []


async def test_places_that_are_one_conversation_stay_one(city: Twin, tmp_path: Path) -> None:
    """Where a channel is joined with another place a call is answered for all to hear."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {maya: "maya"}, options=ANSWER) as home:
        await home.join(plaza, mall, "a day")
        for place in (plaza, mall):
            await city.say(ben, place, f"maya, hello from {place.name}")
            await answered(city, plaza.id)
            await answered(city, mall.id)
            await home.rests(place)
    assert opened(city) == []


async def test_a_thread_bears_the_title_of_its_room(city: Twin, tmp_path: Path) -> None:
    """A title that the room found names the thread that we opened, and nobody else's; once."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}, entitling, options=ANSWER) as home:
        own = await city.thread(ben, plaza, "a walk", on=await city.say(ben, plaza, "out?"))
        post = await city.post(ben, city.forum("ideas"), "an idea", "maya, what if?")
        line = await city.say(ben, plaza, "maya, hello")
        taken = await city.say(ben, plaza, "maya, hello again")
        await city.until(lambda: within(city, taken) == ["Maya"])
        await city.rename(taken.id, "mine now")
        unlucky = await city.say(ben, plaza, "maya, hello once more")
        renaming = f"PATCH /channels/{unlucky.id}"
        city.faults.rate_limit(renaming, retry_after=600)
        for place in (own.id, post.id, line.id, taken.id, unlucky.id):
            if place != own.id:
                await answered(city, place)
            for text in ("maya, one", "maya, two"):
                await city.say(ben, place, text)
                await answered(city, place)
                await home.rests(place)
        await city.until(lambda: city.faults.left == [])
        await city.until(lambda: name_of(city, line.id) == "Slugs at night")
        titles = [(await home.app.front.rooms.scene(await home.room(p))).title for p in (own, post)]
    assert titles == ["Slugs at night"] * 2
    names = [name_of(city, place) for place in (own.id, post.id, taken.id, unlucky.id)]
    assert names == ["a walk", "an idea", "mine now", "maya, hello once more"]
    renames = [call.route for call in city.calls if call.method == "PATCH"]
    assert renames == [f"PATCH /channels/{line.id}", renaming]


async def test_the_line_it_was_opened_on_stays_a_line(city: Twin, tmp_path: Path) -> None:
    """What people do to that line in the channel reaches the thread's room, after a restart too."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}, options=ANSWER) as home:
        await city.say(ben, plaza, "a day")
        line = await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: within(city, line) == ["Maya"])
        await home.delivered(line.id)
        await city.edit(ben, line, "maya, good day")
        await home.eventually(line.id, LineEdited)
        heard = next(e for e in await home.events(line.id) if isinstance(e.body, Heard))
        stamp, stream = home.app.stamp, f"room:{await home.room(line.id)}"
        body = Reacted(turn="", mate="maya", to=heard.id, emoji="🐌")
        fact = stamp.fact(body, actor="mate:maya")
        place = f"discord:{line.id}"
        await home.app.ledger.append(
            stream, [fact, *delivery_facts(fact, [place], stamp, "reaction")]
        )
        await city.until(lambda: city.line(line).reactions == {"🐌": ("Maya",)})
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.react(ben, line, "🥖")
        await home.eventually(line.id, PersonReacted)
        await city.say(ben, line.id, "still there?")
        await city.until(lambda: within(city, line) == ["Maya", "ben", "Maya"])
        await home.settled(line.id)
        assert await home.heard(line.id) == ["maya, hello", "still there?"]
        assert await home.heard(plaza) == ["a day"]
        room = await home.app.front.rooms.state(await home.room(line.id))
        assert next(str(entry.text) for entry in room.lines.values()) == "maya, good day"
        await city.delete(ben, line)
        await home.eventually(line.id, LineDeleted)


async def test_an_answer_to_a_mate_takes_its_words_along(city: Twin, tmp_path: Path) -> None:
    """Who answers a mate's line in a channel goes on in a thread that knows it, with its rights."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}, lambda _: "Slugs sleep.") as home:
        await home.ask(ben, plaza, "maya, hello")
        rights = RightsSet(who="everyone", rights=("talk",))
        await home.app.rooms.add(await home.room(plaza), "", rights)
    async with lodged(city, tmp_path, {maya: "maya"}, options=ANSWER) as home:
        line = await city.say(ben, plaza, "where?", reply_to=city.lines(plaza)[-1])
        await city.until(lambda: within(city, line) == ["Maya"])
        bodies = [event.body for event in await home.events(line.id)]
    assert [str(b.text) for b in bodies if isinstance(b, Told)] == [
        "Maya had said in #plaza: Slugs sleep."
    ]
    assert [b for b in bodies if isinstance(b, RightsSet)] == [rights]
    assert [each.text for each in city.lines(line.id) if "had said" in each.text] == []


async def test_a_thread_on_demand(city: Twin, tmp_path: Path) -> None:
    """Whoever asks for a thread on anybody's line gets one; the mate answers that line in there."""
    maya, merlin = city.bot("Maya"), city.bot("Merlin")
    ann, ben, plaza = city.person("ann"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya", merlin: "merlin"}) as home:
        await city.until(lambda: maya.commands.get(None))
        line = await home.tell(ben, plaza, "slugs sleep at night")
        answer = await city.context(ann, maya, TALK, line)
        await city.until(lambda: within(city, line) == ["Maya"])
        again = await city.context(ann, maya, TALK, line)
        assert (again.text, again.ephemeral) == (f"The talk goes on in <#{line.id}>.", True)
        await home.settled(line.id)
        assert await home.heard(line.id) == ["ben had said in #plaza: slugs sleep at night"]
        asked = [e.body for e in await home.events(line.id) if isinstance(e.body, Heard)]
        ann_is = home.app.people.who("discord", str(ann.id))
        assert ann_is is not None
        assert [(one.person, one.owner, one.keeper) for one in asked] == [(ann_is.id, False, False)]
        await city.edit(ben, line, "slugs sleep by day")
        await home.eventually(plaza, LineEdited)
        assert not [e for e in await home.events(line.id) if isinstance(e.body, LineEdited)]
    assert answer.text == again.text
    assert opened(city) == [("Maya", "slugs sleep at night")]


async def test_where_no_thread_can_be_opened_on_demand(city: Twin, tmp_path: Path) -> None:
    """Who may not open threads, or asks in a thread, in private or without our right is told so."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}):
        await city.until(lambda: maya.commands.get(None))
        line = await city.say(ben, plaza, "hello")
        await city.forbid(ben, plaza, "create_public_threads")
        told = [(await city.context(ben, maya, TALK, line)).text]
        await city.allow(ben, plaza)
        await city.forbid(maya, plaza, "create_public_threads")
        told.append((await city.context(ben, maya, TALK, line)).text)
        walk = await city.thread(ben, plaza, "a walk", on=line)
        inside = await city.say(ben, walk, "inside")
        told.append((await city.context(ben, maya, TALK, inside)).text)
        told.append((await city.context(ben, maya, TALK, line)).text)
    assert told == [
        "In this channel you may not open threads.",
        "No thread could be opened: the bot lacks the permission Create Public Threads there.",
        "A thread can be opened on a line in a text channel of a server.",
        f"The talk goes on in <#{walk.id}>.",
    ]
