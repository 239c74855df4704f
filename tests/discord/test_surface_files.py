"""Files on Discord, both ways, and messages that cannot be taken."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from loopforge.artifacts.file_intake import FileLimits
from loopforge.core.room_vocabulary import File, Heard
from loopforge.core.text.erasable_text import Words
from loopforge.models.scripted_model import ScriptedAnswer
from tests.discord.lodging import HOOK, SEND, STILL, lodged
from tests.discord.twin import Twin
from tests.drawing_mate import MAYA, attaching, with_draw
from tests.drawing_mate import PICTURE as DRAWN
from tests.models.hearing import OGG
from tests.rooms.conftest import write_mates
from tests.rooms.test_voice_notes import hears

PICTURE = bytes.fromhex("89504e470d0a1a0a") + bytes(range(200))
NOT_TAKEN = "[a file that came with this could not be taken]"
SMALL = replace(STILL, limits=FileLimits(size=1000, text=500))


async def test_a_file_is_kept_and_shown_elsewhere(city: Twin, tmp_path: Path) -> None:
    """What people attach is kept byte for byte, and comes along to the room's other places."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.join(plaza, mall, "hello")
        files = [("face.png", PICTURE), ("notes.txt", b"buy bread")]
        await city.say(ben, plaza, "look", files=files)
        await city.until(lambda: len(city.lines(mall)) == 1)
        await home.delivered(plaza)
        heard = next(e.body for e in await home.events(plaza) if _files(e.body))
        kept = [await home.app.artifacts.get(str(file.hash)) for file in _files(heard)]
    urls = [str(one["url"]) for one in city.find(city.lines(mall)[0]).attachments]
    assert [str(file.name) for file in _files(heard)] == ["face.png", "notes.txt"]
    assert kept == [PICTURE, b"buy bread"]
    assert city.lines(mall)[0].files == ("face.png", "notes.txt")
    assert city.lines(mall)[0].text == "look"
    assert city.town.cdn.get(urls[0].partition("?")[0]) == PICTURE


async def test_words_beside_a_file_are_taken_back(city: Twin, tmp_path: Path) -> None:
    """An edit that leaves the file alone, or makes two messages one, is followed; the file stays."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.join(plaza, mall, "hello")
        line = await city.say(ben, plaza, "look", files=[("notes.txt", b"buy bread")])
        await city.until(lambda: len(city.lines(mall)) == 1)
        await city.edit(ben, line, "")
        await city.until(lambda: city.lines(mall)[0].text == "")
        rooms, room = home.app.front.rooms, await home.room(plaza)
        person = (await home.app.people.meet("web", "olu", "Olu")).id
        await rooms.arrive(room, person, "Olu", "web")
        (files,) = [_files(e.body) for e in await home.events(plaza) if _files(e.body)]
        long = Heard(person=person, text=Words("word " * 700), surface="web", files=files)
        said = (await rooms.hear(room, long)).id
        await city.until(lambda: len(city.lines(mall)) == 3)
        await home.delivered(plaza)
        await rooms.edit(room, person, said, "few words")
        await city.until(lambda: city.lines(mall)[-1].text == "")
        await rooms.edit(room, person, said, "")
        await city.until(lambda: city.lines(mall)[1].text == "…")
        await home.delivered(plaza)
    shown = [(each.text, each.files) for each in city.lines(mall)]
    assert shown == [("", ("notes.txt",)), ("…", ()), ("", ("notes.txt",))]


async def test_a_file_that_is_forwarded(city: Twin, tmp_path: Path) -> None:
    """It is kept like one that is given, also where nothing is said with it."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    given = await city.say(ben, mall, "", files=[("notes.txt", b"buy bread")])
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.forward(ben, given, plaza)
        await home.eventually(plaza, Heard)
        (heard,) = [e.body for e in await home.events(plaza) if _files(e.body)]
        assert [str(file.name) for file in _files(heard)] == ["notes.txt"]


async def test_a_file_that_comes_as_its_client_ends(
    city: Twin, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The next client of that account fetches it, and nothing is said to be lost."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        gate = city.faults.hold("GET /attachments/**")
        await city.say(ben, plaza, "look", files=[("notes.txt", b"buy bread")])
        await gate.reached.wait()
        await next(home.surface._crowd.clients()).close()
        gate.release()
        await home.hears(plaza, "look")
        (heard,) = [e.body for e in await home.events(plaza) if isinstance(e.body, Heard)]
    assert [str(file.name) for file in _files(heard)] == ["notes.txt"]
    assert "not heard" not in caplog.text


async def test_a_file_that_discord_cannot_give_at_once(city: Twin, tmp_path: Path) -> None:
    """It is asked for again where that is Discord's own trouble."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        city.faults.fail("GET /attachments/**", 503)
        await city.say(ben, plaza, "look", files=[("notes.txt", b"buy bread")])
        await home.hears(plaza, "look")
        (heard,) = [e.body for e in await home.events(plaza) if isinstance(e.body, Heard)]
    assert [str(file.name) for file in _files(heard)] == ["notes.txt"]


async def test_a_stop_sign_whose_answer_breaks_off(
    city: Twin, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What it stopped is stopped; that this could not be said is no alarm."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        line = await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: len(city.lines(plaza)) == 2)
        await home.settled(plaza)
        city.faults.lose(SEND, carried=False)
        await city.react(ben, line, "\U0001f6d1")
        await city.until(lambda: not city.faults.left)
        await city.say(ben, plaza, "so?")
        await home.hears(plaza, "maya, hello", "so?")
    assert "not heard" not in caplog.text


async def test_a_voice_message_is_heard(city: Twin, tmp_path: Path) -> None:
    """Its words stand in its line, there for mates and in the room's other places; who is called answers."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    script = hears("maya, is the sourdough ready?")
    opening = lodged(city, tmp_path, {maya: "maya"}, script, transcription_model="ears")
    async with opening as home:
        await home.join(plaza, mall, "hello")
        await city.say(ben, plaza, "", files=[("voice-message.ogg", OGG)])
        await city.until(lambda: [one.by for one in city.lines(plaza)][-1:] == ["Maya"])
        await home.rests(plaza)
    assert "is the sourdough ready?" in city.lines(mall)[0].text
    assert "you said" in city.lines(plaza)[-1].text


def _files(body: object) -> tuple[File, ...]:
    return body.files if isinstance(body, Heard) else ()


def _kept(path: Path) -> list[Path]:
    """The files that the home keeps of what people brought."""
    return [each for each in path.glob("data/artifacts/**/*") if each.is_file()]


async def test_a_file_alone_is_a_line(city: Twin, tmp_path: Path) -> None:
    """A message that is nothing but a file is heard, and in private answered."""
    maya, ben = city.bot("Maya"), city.person("ben")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        line = await city.dm(ben, maya, "", files=[("notes.txt", b"buy bread")])
        await city.until(lambda: len(city.lines(line.channel)) == 2)
        assert await home.heard(line.channel) == [""]


async def test_a_file_that_is_too_large(city: Twin, tmp_path: Path) -> None:
    """What is too large is refused with its limit, before it is fetched; the words are heard.

    Mates are told that it came.
    """
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    large = [("film.mp4", bytes(2000))]
    async with lodged(city, tmp_path, {maya: "maya"}, manners=SMALL) as home:
        await city.say(ben, plaza, "among others", files=large)
        line = await city.dm(ben, maya, "see", files=large)
        await city.until(lambda: len(city.lines(line.channel)) == 3)
        await home.hears(plaza, f"among others\n{NOT_TAKEN}")
        await home.hears(line.channel, f"see\n{NOT_TAKEN}")
    told = next(each for each in city.lines(line.channel) if "too large" in each.text)
    assert told.text == "film.mp4 is too large: 2,000 bytes of at most 1,000. Give a part of it."
    assert told.reply_to == line.id
    assert len(city.lines(plaza)) == 1


async def test_a_file_that_is_too_large_and_without_words(city: Twin, tmp_path: Path) -> None:
    """In a channel it is heard that a file came; who waits for an answer is told why not."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    large = [("film.mp4", bytes(2000))]
    async with lodged(city, tmp_path, {maya: "maya"}, manners=SMALL) as home:
        await city.say(ben, plaza, "", files=large)
        await home.hears(plaza, "[a file that came could not be taken]")
        line = await city.dm(ben, maya, "", files=large)
        await city.until(lambda: len(city.lines(line.channel)) == 2)
        assert await home.room(line.channel) == ""
    assert city.lines(line.channel)[-1].text.startswith("film.mp4 is too large: 2,000 bytes")
    assert len(city.lines(plaza)) == 1


async def test_a_line_that_is_too_long(city: Twin, tmp_path: Path) -> None:
    """A message beyond the limit of lines is refused with the reason, to who called a mate."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}, line_limit=100) as home:
        await city.say(ben, plaza, f"{maya.mention} {'long ' * 100}")
        await city.until(lambda: len(city.lines(plaza)) == 2)
        assert await home.heard(plaza) == []
    assert "100" in city.lines(plaza)[-1].text


async def test_strangers_see_one_notice(city: Twin, tmp_path: Path) -> None:
    """A stranger who writes in private is shown the notice as a reply; nothing of it is heard."""

    async def closed(_platform: str, _account: str, _name: str, _place: str) -> str | None:
        return "Ask the owner to let you in with the code 1234."

    maya, ben = city.bot("Maya"), city.person("ben")
    async with lodged(city, tmp_path, {maya: "maya"}, knock=closed) as home:
        line = await city.dm(ben, maya, "hello")
        await city.until(lambda: len(city.lines(line.channel)) == 2)
        assert await home.room(line.channel) == ""
        assert home.models.asked == []
    notice = city.lines(line.channel)[-1]
    assert (notice.text, notice.reply_to) == (
        "Ask the owner to let you in with the code 1234.",
        line.id,
    )


async def test_files_of_strangers(city: Twin, tmp_path: Path) -> None:
    """What a stranger attaches is not fetched; one notice, then silence; admitted, it is kept."""
    answers: list[str | None] = ["Ask the owner.", "", ""]

    async def door(_platform: str, _account: str, _name: str, _place: str) -> str | None:
        return answers.pop(0) if answers else None

    maya, ben = city.bot("Maya"), city.person("ben")
    async with lodged(city, tmp_path, {maya: "maya"}, knock=door, manners=SMALL) as home:
        for size in (10, 20, 2000):
            line = await city.dm(ben, maya, "see", files=[("notes.txt", b"x" * size)])
        await city.until(lambda: not answers)
        assert _kept(tmp_path) == []
        await city.dm(ben, maya, "and now?", files=[("notes.txt", b"buy bread")])
        await home.hears(line.channel, "and now?")
        await home.settled(line.channel)
        await home.delivered(line.channel)
        (heard,) = [e.body for e in await home.events(line.channel) if _files(e.body)]
    assert [str(file.name) for file in _files(heard)] == ["notes.txt"]
    told = [each.text for each in city.lines(line.channel) if each.by != "ben"]
    assert (told[0], len(told)) == ("Ask the owner.", 2)


async def test_files_of_who_may_not_talk(city: Twin, tmp_path: Path) -> None:
    """In a channel the files of somebody who may not talk there are not kept."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "hello")
        await home.app.front.commands.act(await home.room(plaza), "", "rights", "everyone stop")
        await city.say(ben, plaza, "see", files=[("notes.txt", b"buy bread")])
        await home.hears(plaza, "hello", "see")
        assert not any(_files(event.body) for event in await home.events(plaza))
    assert _kept(tmp_path) == []


async def test_marks_become_names(city: Twin, tmp_path: Path) -> None:
    """Whom and what a message mentions is read by name."""
    maya, ben, eve = city.bot("Maya"), city.person("ben"), city.person("eve")
    plaza = city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, f"<@{eve.id}> is in <#{plaza.id}> <:bun:12> `<@{eve.id}>`")
        await home.hears(plaza, f"@eve is in #plaza :bun: `<@{eve.id}>`")


@pytest.mark.parametrize("who", ["maya", "*"])
async def test_a_mates_file(city: Twin, tmp_path: Path, who: str) -> None:
    """What a mate wrote is uploaded with its words, byte for byte and once, by whichever voice."""
    recipe = {"name": "bread.md", "text": "500 g flour\n"}
    answer = ScriptedAnswer(data={"say": "Here it is.", "files": [recipe]})
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {house: who}, lambda _: answer) as home:
        home.models.window = 65_536
        sent = "POST /channels/*/messages" if who == "maya" else "POST /webhooks/*/*"
        city.faults.fail(sent, 502, carried=True)
        picture = await city.say(ben, plaza, "maya, write it down", files=[("face.png", PICTURE)])
        await city.until(lambda: len(city.lines(plaza)) == 2)
        await home.delivered(plaza)
        heard = next(e.body for e in await home.events(plaza) if _files(e.body))
        kept = [await home.app.artifacts.get(str(file.hash)) for file in _files(heard)]
        asked = str(home.models.asked[0])
    shown = city.lines(plaza)[-1]
    assert (shown.text, shown.files) == ("Here it is.", ("bread.md",))
    assert city.file(shown, "bread.md") == b"500 g flour\n"
    assert kept == [PICTURE]
    assert "face.png" in asked
    assert city.line(picture).files == ("face.png",)
    assert city.faults.left == []
    assert len(city.lines(plaza)) == 2


@pytest.mark.parametrize("carried", [True, False])
async def test_what_a_mate_attached_is_there_once(
    city: Twin, tmp_path: Path, carried: bool
) -> None:
    """A picture of a tool comes with the words, once, also where the way there broke off."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    write_mates(tmp_path, (), maya=MAYA)
    async with lodged(city, tmp_path, {maya: "maya"}, attaching()) as home:
        with_draw(home.app)
        city.faults.lose(SEND, carried=carried)
        city.faults.lose(HOOK, carried=carried)
        await city.brings(ben, plaza, "maya, draw the slugs", 2)
        await home.delivered(plaza)
    answer = city.lines(plaza)[-1]
    assert (answer.text, answer.files) == ("So many.", ("slugs.png",))
    url = str(city.find(answer).attachments[0]["url"]).partition("?")[0]
    assert city.town.cdn.get(url) == DRAWN
    assert len(city.lines(plaza)) == 2
