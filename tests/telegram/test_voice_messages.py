"""Voice messages of Telegram: which file one is, and that what is said in it is heard."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import telegram
from loopforge.core.room_vocabulary import LineEdited
from loopforge.io.telegram.text.incoming_message import attachments
from tests.models.hearing import OGG
from tests.rooms.test_voice_notes import hears
from tests.telegram.city import City
from tests.telegram.homes import on_telegram, pair


def test_a_voice_message_is_a_file() -> None:
    """It has no name of its own, and is called by its kind."""
    chat = telegram.Chat(1, "private")
    voice = telegram.Voice("f1", "u1", 3, "audio/ogg", 9_000)
    message = telegram.Message(1, datetime(2026, 11, 21, tzinfo=UTC), chat, voice=voice)
    (found,) = attachments(message)
    assert found == ("f1", "voice.ogg", 9_000, False)


@pytest.mark.parametrize(
    ("kind", "file", "line"),
    [
        ("document", ("voice.ogg", OGG), "{}"),
        ("video_note", ("a.mp4", b"\0\0\0\x20ftypmp42vide"), "[a video note]\n\n> {}"),
    ],
)
async def test_what_is_said_in_it_is_answered(
    tmp_path: Path, city: City, kind: str, file: tuple[str, bytes], line: str
) -> None:
    """In private, where no word was typed: its words stand in the line, and the mate answers them.

    A round film of somebody speaking is listened to like a voice message.
    """
    maya, ana = await pair(city)
    script = hears("Is the sourdough ready?")
    async with on_telegram(
        tmp_path, maya, city.base, script=script, transcription_model="ears"
    ) as home:
        chat = await city.private(ana, maya)
        await city.say(ana, maya, "", document=file, kind=kind)
        lines = await city.heard(chat, by=maya)
        (room,) = await home.rooms()
        edits = [e.body for e in await home.events(room) if isinstance(e.body, LineEdited)]
        assert [str(edit.text) for edit in edits] == [line.format("Is the sourdough ready?")]
        assert "you said" in lines[0].text


async def test_an_edit_leaves_what_is_said_in_it(tmp_path: Path, city: City) -> None:
    """Other words beside a voice note are the line's; what it says stays, also where none changed.

    Telegram tells of edits, too, that change nothing which a bot is told.
    """
    maya, ana = await pair(city)
    script = hears("Is the sourdough ready?", "And the rye?")
    async with on_telegram(
        tmp_path, maya, city.base, script=script, transcription_model="ears"
    ) as home:
        chat = await city.private(ana, maya)
        mute = await city.say(ana, maya, "", document=("voice.ogg", OGG))
        await city.heard(chat, by=maya)
        (room,) = await home.rooms()
        note = await city.say(ana, maya, "listen", document=("voice.ogg", OGG))
        await city.heard(chat, by=maya, count=2)
        await city.edit(ana, mute, "")
        await city.edit(ana, note, "listen, please")

        async def words() -> list[str]:
            entries = (await home.app.front.rooms.state(room)).lines.values()
            found = [str(each.text) for each in entries if each.kind == "heard"]
            return found if "please" in found[-1] else []

        assert await city.until(words) == [
            "Is the sourdough ready?",
            "listen, please\n\n> And the rye?",
        ]
