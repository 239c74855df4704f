"""Edits of lines on Telegram: what was changed elsewhere, whole; none of what stands as it should."""

import hashlib
from pathlib import Path

import pytest

from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.io.platforms.surface_options import SurfaceOptions
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from tests.telegram.city import City
from tests.telegram.homes import hall, on_telegram
from tests.telegram.test_limits import lab
from tests.telegram.twin import Twin


async def test_longer_and_shorter(tmp_path: Path, city: City) -> None:
    """Spare messages go; where there are too few, a file holds all of it, and stays a file."""
    maya, ana, lab = await hall(city)
    long, longer = "A " + "long words " * 700, "B " + "longer words " * 600 + "THE END"
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, lab, "what a day")
        (room,) = await home.until(home.rooms)
        front = home.app.front
        olga = (await home.app.people.meet("web", "olga", "Olga")).id
        await front.rooms.arrive(room, olga, "Olga", "web")
        short = await front.rooms.hear(
            room, Heard(person=olga, text=Words("short"), surface="web", source="1")
        )
        grown = await front.rooms.hear(
            room, Heard(person=olga, text=Words(long), surface="web", source="2")
        )
        first, *_ = await city.heard(lab, by=maya, count=3)
        await front.rooms.edit(room, olga, short.id, longer)
        await front.rooms.edit(room, olga, grown.id, "now short")

        async def told() -> list[str]:
            lines = [line for line in await city.lines(lab, by=maya) if not line.deleted]
            return [line.text for line in lines] if len(lines) == 2 else []

        texts = await city.until(told)
        assert texts[0].startswith("Olga (web): B longer words")
        assert texts[1] == "Olga (web): now short"
        (line,) = [line for line in await city.lines(lab, by=maya) if line.key == first.key]
        assert line.paper is not None
        assert line.paper.sha256 == hashlib.sha256(longer.encode()).hexdigest()
        await front.rooms.edit(room, olga, short.id, "short again")

        async def again() -> bool:
            return (await told())[0] == "Olga (web): short again"

        await city.until(again)


async def test_a_line_that_is_too_old_to_be_taken_away(tmp_path: Path) -> None:
    """After two days Telegram lets no bot delete a message: what it said goes, words and file."""
    async with lab(tmp_path) as there:
        front, (room,) = there.home.app.front, await there.home.rooms()
        olga = (await there.home.app.people.meet("web", "olga", "Olga")).id
        await front.rooms.arrive(room, olga, "Olga", "web")
        note = await ingest_file(there.home.app.artifacts, "a.txt", b"secret", FileLimits(99, 99))
        said = Heard(person=olga, text=Words("secret"), surface="web", files=(note,))
        line = await front.rooms.hear(room, said)
        await there.heard(3)
        for message in there.twin.town.messages:
            message.at -= 49 * 3600
        await front.rooms.delete(room, olga, line.id)

        async def gone() -> bool:
            words, file = (await there.city.lines(there.chat, by=there.maya))[1:]
            return words.text == "(deleted)" and file.text == "(deleted)"

        await there.city.until(gone, patience=20)
        *_, file = await there.city.lines(there.chat, by=there.maya)
        assert file.paper is not None
        assert file.paper.name == "text.md"


async def test_a_file_that_is_forgotten_before_it_is_sent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In its place stands that it is kept no longer, and nothing goes wrong."""
    async with lab(tmp_path) as there:
        app, (room,) = there.home.app, await there.home.rooms()
        olga = (await app.people.meet("web", "olga", "Olga")).id
        await app.front.rooms.arrive(room, olga, "Olga", "web")
        note = await ingest_file(app.artifacts, "a.txt", b"secret", FileLimits(99, 99))
        await there.city.fault("sendMessage", "flood", retry_after=20)
        said = Heard(person=olga, text=Words("secret"), surface="web", files=(note,))
        await app.front.rooms.hear(room, said)
        await there.city.until(lambda: _flooded(there.city))
        await app.ledger.erase(ErasureRequest(person=olga))
        await there.heard(3)
        assert not any("secret" in said for said in await there.stands())
    assert [each.message for each in caplog.records if each.levelname == "ERROR"] == []


async def _flooded(city: City) -> bool:
    return any(call.fault for call in await city.calls("sendMessage"))


async def test_patience_in_the_middle_of_a_long_answer(tmp_path: Path, city: City) -> None:
    """The parts that stand are left alone: an edit of each would use up what the group takes."""
    maya, ana, lab = await hall(city)
    page = " ".join(f"slug{n}" for n in range(3000))
    plain = SurfaceOptions(streams=False, marks=False)
    async with on_telegram(tmp_path, maya, city.base, manners=plain, script=lambda _: page) as home:
        await city.fault("sendMessage", "flood", skip=3, retry_after=40)
        await city.say(ana, lab, "@maya_bot all of it")

        async def arrived() -> bool:
            return " ".join(one.text for one in await city.lines(lab, by=maya)) == page

        await home.until(arrived)
    assert await city.calls("editMessageText") == []


async def test_many_lines_at_once(tmp_path: Path, twin: Twin, city: City) -> None:
    """What a group is owed after an outage comes at the pace that it takes, after one refusal at most."""
    maya, ana, lab = await hall(city)
    plain = SurfaceOptions(streams=False, marks=False)
    async with on_telegram(tmp_path, maya, city.base, manners=plain) as home:
        await city.say(ana, lab, "what a day")
        (room,) = await home.until(home.rooms)
        rooms = home.app.front.rooms
        olga = (await home.app.people.meet("web", "olga", "Olga")).id
        await rooms.arrive(room, olga, "Olga", "web")
        for count in range(12):
            said = Heard(person=olga, text=Words(f"line {count}"), surface="web", source=str(count))
            await rooms.hear(room, said)
        lines = await city.heard(lab, by=maya, count=12)
    assert [line.text for line in lines] == [f"Olga (web): line {count}" for count in range(12)]
    assert twin.town.floods.refused <= 1  # none, where the machine itself is that slow
    assert twin.town.floods.impatient == 0
