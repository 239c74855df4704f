"""Albums: several files that somebody gives at once, and places that move."""

from pathlib import Path

from loopforge.core.room_vocabulary import Heard, LineEdited
from tests.models.hearing import OGG
from tests.rooms.test_voice_notes import hears
from tests.telegram.city import City
from tests.telegram.homes import on_telegram
from tests.telegram.test_door import nothing_waits


async def test_an_album_is_one_line_with_several_files(tmp_path: Path, city: City) -> None:
    """Its caption and all of its files are one line, answered once; what is said next is another."""
    maya, ana = await city.bot("Maya", "maya_bot"), await city.person("Ana", "ana")
    async with on_telegram(tmp_path, maya, city.base) as home:
        for nth, caption in enumerate(("compare these", "", "")):
            paper = (f"{nth}.txt", b"the oven is hot")
            await city.say(ana, maya, caption, document=paper, album="77")
        await city.say(ana, maya, "well?")
        await home.until(lambda: nothing_waits(city, maya))
        (room,) = await home.rooms()
        lines = [each.body for each in await home.events(room) if isinstance(each.body, Heard)]
        told = [(str(each.text), [str(file.name) for file in each.files]) for each in lines]
    assert told == [("compare these", ["0.txt", "1.txt", "2.txt"]), ("well?", [])]


async def test_what_answers_any_piece_of_an_album_answers_its_line(
    tmp_path: Path, city: City
) -> None:
    """A reply to a later picture answers the album."""
    maya, ana = await city.bot("Maya", "maya_bot"), await city.person("Ana", "ana")
    async with on_telegram(tmp_path, maya, city.base) as home:
        papers = [(f"{nth}.txt", b"the oven is hot") for nth in range(3)]
        given = [
            await city.say(ana, maya, caption, document=paper, album="77")
            for caption, paper in zip(("compare these", "", ""), papers, strict=True)
        ]
        await home.until(lambda: nothing_waits(city, maya))
        for each in given:
            await city.say(ana, maya, "this one", reply_to=each)
        await home.until(lambda: nothing_waits(city, maya))
        (room,) = await home.rooms()
        events = await home.events(room)
        album, *answers = [each for each in events if isinstance(each.body, Heard)]
    told = [each.body.reply_to for each in answers if isinstance(each.body, Heard)]
    assert told == [album.id] * 3


async def test_captions_of_an_album_are_edited_each_by_itself(tmp_path: Path, city: City) -> None:
    """The words of its other messages stay; what is said in its voice note stays, too."""
    maya, ana = await city.bot("Maya", "maya_bot"), await city.person("Ana", "ana")
    script = hears("Is the rye ready?")
    async with on_telegram(
        tmp_path, maya, city.base, script=script, transcription_model="ears"
    ) as home:
        papers = [("0.txt", b"the oven"), ("1.txt", b"the loaf"), ("voice.ogg", OGG)]
        given = [
            await city.say(ana, maya, caption, document=paper, album="77")
            for caption, paper in zip(("this oven", "", "that\nloaf"), papers, strict=True)
        ]
        await home.until(lambda: nothing_waits(city, maya))
        (room,) = await home.rooms()

        async def says(*typed: str) -> None:
            whole = "\n".join([*typed, "", "> Is the rye ready?"])

            async def stands() -> bool:
                lines = (await home.app.front.rooms.state(room)).lines.values()
                return whole in [str(each.text) for each in lines]

            await home.until(stands)

        await says("this oven", "that\nloaf")
        for nth, caption, typed in (
            (0, "the hot oven", ("the hot oven", "that\nloaf")),
            (1, "a roll", ("the hot oven", "a roll", "that\nloaf")),
            (2, "a loaf", ("the hot oven", "a roll", "a loaf")),
            (0, "the oven\na roll", ("the oven", "a roll", "a roll", "a loaf")),
            (0, "", ("a roll", "a loaf")),
            (0, "an oven", ("an oven", "a roll", "a loaf")),
        ):
            await city.edit(ana, given[nth], caption)
            await says(*typed)


async def test_who_shares_where_they_are_says_one_line(tmp_path: Path, city: City) -> None:
    """A location that is shared live is heard once; that it moves changes no line."""
    maya, ana = await city.bot("Maya", "maya_bot"), await city.person("Ana", "ana")
    async with on_telegram(tmp_path, maya, city.base) as home:
        place = await city.say(ana, maya, location=(52.5, 13.4))
        for step in range(3):
            await city.move(ana, place, (52.5, 13.5 + step))
        await city.say(ana, maya, "here I am")
        await home.until(lambda: nothing_waits(city, maya))
        (room,) = await home.rooms()
        bodies = [event.body for event in await home.events(room)]
    assert [str(b.text) for b in bodies if isinstance(b, Heard)] == [
        "[a place: 52.5, 13.4]",
        "here I am",
    ]
    assert not [each for each in bodies if isinstance(each, LineEdited)]
