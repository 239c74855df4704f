"""What goes wrong between us and Discord: nothing is lost, nothing said twice, nobody goes deaf."""

import logging
from pathlib import Path

import pytest
from msgspec.structs import replace

from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.core.delivery_states import PutOff
from loopforge.core.room_vocabulary import Heard, PlaceLeft, Said, Told
from loopforge.core.text.erasable_text import Words
from loopforge.io.platforms.surface_options import SurfaceOptions
from tests.discord.lodging import HOOK, LONG, PLAIN, SEND, STILL, STREAM, lodged
from tests.discord.twin import Twin
from tests.discord.words import Bot


async def test_the_same_words_twice_are_two_lines(city: Twin, tmp_path: Path) -> None:
    """A line that reads like an earlier one is not taken for it when it is looked for."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.join(plaza, mall, "yes")
        await city.say(ben, plaza, "yes")
        await city.until(lambda: len(city.lines(mall)) == 1)
        await home.delivered(plaza)
        city.faults.fail(HOOK, 502, carried=False)
        await city.say(ben, plaza, "yes")
        await city.until(lambda: len(city.lines(mall)) == 2)
        await home.delivered(plaza)
    assert city.faults.left == []
    assert [(line.by, line.text) for line in city.lines(mall)] == [("ben (plaza)", "yes")] * 2


async def test_a_line_in_doubt_where_the_clock_is_a_day_ahead(city: Twin, tmp_path: Path) -> None:
    """What arrived although its call broke off is found there, whatever time the home believes it is."""
    city.town.clock.advance(-26 * 3600)
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.join(plaza, mall, "hello")
        city.faults.lose(HOOK, carried=True)
        await city.say(ben, plaza, "it rains")
        await home.hears(plaza, "hello", "it rains")
        await home.rests(plaza)
    assert city.faults.left == []
    assert [line.text for line in city.lines(mall)] == ["it rains"]


async def test_a_bad_token_is_said_once_and_never_shown(
    city: Twin, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A token that Discord does not know is refused, with what to do, and others go on."""
    maya, merlin = city.bot("Maya"), city.bot("Merlin")
    ben, plaza = city.person("ben"), city.channel("plaza")
    bad = f"{maya.token}x"
    wrong = Bot(maya.name, bad, maya.id, maya.application, maya.role, maya.approved)
    with caplog.at_level(logging.DEBUG):
        async with lodged(city, tmp_path, {wrong: "maya", merlin: "merlin"}, wait=False) as home:
            await city.until(
                lambda: (
                    "Make a new one in the developer portal; connect the mate anew"
                    in home.states()[0]
                    and home.states()[1].startswith("connected")
                )
            )
            tries = [call for call in city.calls if call.status == 401]
            await city.until(lambda: len([c for c in city.calls if c.status == 401]) > len(tries))
            await city.brings(ben, plaza, "merlin, hello", 2)
    told = [record for record in caplog.records if "is not connected" in record.message]
    assert len(told) == 1
    assert bad not in caplog.text
    assert merlin.token not in caplog.text


async def test_an_intent_that_is_off(city: Twin, tmp_path: Path) -> None:
    """Without the message-content intent the account is refused, with what to switch on."""
    maya = city.bot("Maya", approved=())
    async with lodged(city, tmp_path, {maya: "maya"}, wait=False) as home:
        await city.until(lambda: "Message Content Intent" in home.states()[0])


async def test_a_cut_connection_resumes(city: Twin, tmp_path: Path) -> None:
    """A socket that is cut resumes: what was said meanwhile is heard, once, in order."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
        await city.cut(maya, 4000)
        await city.say(ben, plaza, "two")
        await city.say(ben, plaza, "three")
        await home.hears(plaza, "one", "two", "three")
    assert (city.identified, city.resumed) == (["Maya"], ["Maya"])


async def test_what_is_said_before_the_servers_are_known(city: Twin, tmp_path: Path) -> None:
    """A line that comes while an account is still getting ready waits for what was missed."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
    await city.say(ben, plaza, "two")
    late = replace(PLAIN, guilds=1.0)
    async with lodged(city, tmp_path, {maya: "maya"}, options=late, wait=False) as home:
        await city.until(lambda: city.identified == ["Maya", "Maya"])
        await city.say(ben, plaza, "three")
        await home.hears(plaza, "one", "two", "three")


async def test_reading_what_was_missed_fails_at_first(city: Twin, tmp_path: Path) -> None:
    """Where what was missed cannot be read at once, it is tried again, and later words wait."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
    await city.say(ben, plaza, "two")
    city.faults.lose("GET /channels/*/messages", carried=False, times=3)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "three")
        await home.hears(plaza, "one", "two", "three")
    assert city.faults.left == []


async def test_a_bot_that_was_sent_away(city: Twin, tmp_path: Path) -> None:
    """Where the bot was kicked, the place leaves the room, and people elsewhere are told why."""
    maya, merlin = city.bot("Maya"), city.bot("Merlin")
    ben, plaza, mall = city.person("ben"), city.channel("plaza"), city.channel("mall")
    await city.forbid(merlin, plaza, "view_channel")
    async with lodged(city, tmp_path, {maya: "maya", merlin: "merlin"}) as home:
        await home.join(plaza, mall, mates=("maya", "merlin"))
        room = await home.room(plaza)
        await city.kick(maya)
        await city.say(ben, mall, "anybody?")
        await home.eventually(mall, PlaceLeft)
        bodies = [event.body for event in await home.events(mall)]
        assert await home.reception.sessions.channels.all("discord") == {f"discord:{mall.id}": room}
    told = [str(body.text) for body in bodies if isinstance(body, Told)]
    assert told[0].startswith("What ben said did not reach #plaza: none of the bots")


async def test_slow_mode(city: Twin, tmp_path: Path) -> None:
    """What slow mode refuses for now is said later, once; nothing is told to be lost."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}, lambda _: "rye") as home:
        words = "This action cannot be performed due to slowmode rate limit"
        city.faults.refuse(SEND, 20016, 400, words, times=1)
        await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: len(city.lines(plaza)) == 2)
        await home.rests(plaza)
        told = [e.body for e in await home.events(plaza) if isinstance(e.body, Told)]
    assert told == []
    assert [line.text for line in city.lines(plaza)] == ["maya, hello", "rye"]


@pytest.mark.parametrize("right", ["Send Messages", "Send Messages in Threads"])
async def test_a_right_that_is_missing(city: Twin, tmp_path: Path, right: str) -> None:
    """Where the bot may not write, it is said which right that takes; the place stays."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    await city.forbid(maya, plaza, right.lower().replace(" ", "_"))
    place = await city.thread(ben, plaza, "walking") if "Threads" in right else plaza
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, place, "maya, hello")
        await home.eventually(place, Told)
        told = [e.body for e in await home.events(place) if isinstance(e.body, Told)]
        assert await home.room(place)
    where = "walking" if "Threads" in right else "#plaza"
    assert f"the bot lacks the permission {right} in {where}." in str(told[0].text)


@pytest.mark.parametrize("manners", [STILL, STREAM])
async def test_a_long_line_where_no_file_may_be_given(
    city: Twin, tmp_path: Path, manners: SurfaceOptions
) -> None:
    """What would be a file arrives in as many messages as it takes, all of it."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    await city.forbid(maya, plaza, "attach_files")
    words = " ".join(f"word{n}" for n in range(1600))
    async with lodged(city, tmp_path, {maya: "maya"}, lambda _: words, manners=manners) as home:
        await city.say(ben, plaza, "maya, hello")
        await home.eventually(plaza, Said)
        await home.rests(plaza)
        told = [e.body for e in await home.events(plaza) if isinstance(e.body, Told)]
    assert told == []
    assert " ".join(line.text for line in city.lines(plaza)[1:]) == words


async def test_files_may_be_given_while_a_long_line_is_sent(city: Twin, tmp_path: Path) -> None:
    """What was begun in messages goes on in messages, to its end."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    await city.forbid(maya, plaza, "attach_files")
    words = " ".join(f"word{n}" for n in range(1600))
    gate = city.faults.hold(SEND)
    async with lodged(city, tmp_path, {maya: "maya"}, lambda _: words) as home:
        await city.say(ben, plaza, "maya, hello")
        await gate.reached.wait()
        city.faults.fail(SEND, 503)
        gate.release()
        await home.eventually(plaza, PutOff)
        await city.allow(maya, plaza)
        await home.rests(plaza)
    assert " ".join(line.text for line in city.lines(plaza)[1:]) == words


async def test_the_words_of_a_line_whose_file_may_not_be_given(city: Twin, tmp_path: Path) -> None:
    """Where the bot may give no files, a line arrives, and says which file is not there, and why."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    await city.forbid(maya, mall, "attach_files", "manage_webhooks")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.join(plaza, mall)
        await city.say(ben, plaza, "my notes", files=[("notes.txt", b"rye and salt")])
        await home.hears(plaza, "I bake", "my notes")
        await city.until(lambda: city.lines(mall))
        await home.settled(plaza)
    why = "the bot lacks the permission Attach Files here"
    words = f"**ben** (plaza): my notes\n[file: notes.txt, 12 bytes; {why}]"
    assert [line.text for line in city.lines(mall)] == [words]


async def test_no_file_of_many_vanishes_without_a_word(city: Twin, tmp_path: Path) -> None:
    """Ten are in a message; beside a long text, which is a file itself, one less: that one is named."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.join(plaza, mall)
        limits = FileLimits(1_000_000, 1_000_000)
        files = [
            await ingest_file(home.app.artifacts, f"{n}.txt", b"rye", limits) for n in range(10)
        ]
        person = (await home.app.people.meet("discord", str(ben.id), "ben")).id
        line = Heard(person=person, text=Words(LONG * 2), surface="web", files=tuple(files))
        await home.app.front.rooms.hear(await home.room(mall), line)
        await city.until(lambda: len(city.lines(mall)) == 1)
        await home.settled(mall)
    (shown,) = city.lines(mall)
    assert len(shown.files) == 10
    assert shown.text.endswith("\n[file: 9.txt, 3 bytes; 10 are in a message]")


async def test_the_words_for_files_that_may_not_be_given_stay_whole(
    city: Twin, tmp_path: Path
) -> None:
    """A message that is full with the text alone is not: the words follow, or how many there are."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    await city.forbid(maya, mall, "attach_files", "manage_webhooks")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.join(plaza, mall)
        words, files = ("rye " * 420).strip(), [(f"{n}.txt", b"rye") for n in range(10)]
        await city.say(ben, plaza, words, files=files)
        await home.hears(plaza, "I bake", words)
        await city.until(lambda: city.lines(mall))
        await home.settled(plaza)
    (line,) = city.lines(mall)
    shown = line.text
    assert shown.count("rye") == 420
    named, more = shown.count("[file: "), int(shown.rpartition("[")[2].split()[0])
    assert (shown.count("Attach Files here]"), named + more) == (named, 10)
