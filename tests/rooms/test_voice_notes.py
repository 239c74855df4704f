"""Voice notes in a living room: written down before mates answer, the sender's own, never lost."""

from pathlib import Path

import pytest

from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.chat.turns.voice_notes import LONGEST
from loopforge.core.context_window import LARGEST_SOUND
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, LineEdited, Weighed
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Answered, Asked, TurnEnded
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.models.scripted_model import Script, ScriptedAnswer, in_character
from loopforge.policies.listening.voice_transcript import LOST
from loopforge.runtime.ports import Question
from tests.models.hearing import KEY, MODEL, OGG, Reply, hearing
from tests.rooms.conftest import Home, living
from tests.rooms.test_files import give
from tests.still import while_answering

SAID = "Maya, is the sourdough ready?"
NOTE = ("voice.ogg", OGG)
EARS = {"LOOPFORGE_TRANSCRIPTION_MODEL": "ears"}


def hears(*answers: ScriptedAnswer | str) -> Script:
    """A script that writes notes down as these say, one after the other, and talks in between."""
    left = list(answers)

    def script(question: Question) -> ScriptedAnswer | str:
        if question.sound:
            return left.pop(0) if len(left) > 1 else left[0]
        return in_character(question)

    return script


def prompts(home: Home) -> list[str]:
    """What mates were asked, each as one text."""
    asked = [one for one in home.models.asked if not one.sound]
    return ["\n".join(text for _, text in one.messages) for one in asked]


async def test_who_is_called_by_a_note_answers(tmp_path: Path) -> None:
    """What is said in it stands in the line before anybody weighs it; the room's record has all."""
    async with living(tmp_path, hears(SAID), environ=EARS) as home:
        line = await give(home, "", NOTE)
        assert await home.said() == ["maya"]
        (edit,) = await home.bodies(LineEdited)
        assert (str(edit.text), edit.by, edit.transcribed) == (SAID, "room", True)
        kinds = await home.kinds("room.")
        assert kinds.index("room.line_edited") < kinds.index("room.weighed")
        assert [one.sound for one in home.models.asked][:1] == [str(line.files[0].hash)]
        assert f'"{" ".join(SAID.split()[:6])}"'.rstrip('?"') in (await home.lines())[-1]
        assert "a voice note that came with the line above: audio/ogg" in prompts(home)[0]
        (asked,) = [one for one in await home.bodies(Asked) if one.purpose == "transcript"]
        answers = [one for one in await home.bodies(Answered) if one.turn == asked.turn]
        assert [str(one.text) for one in answers] == [SAID]
        assert answers[0].charge is not None
        assert answers[0].charge.person == home.people["ana"]


async def test_a_note_under_typed_words(tmp_path: Path) -> None:
    """It stands below what was typed, as a quotation, and both are shown to mates."""
    async with living(tmp_path, hears("First this.\nThen that."), environ=EARS) as home:
        await give(home, "@maya listen", NOTE)
        (edit,) = await home.bodies(LineEdited)
        assert str(edit.text) == "@maya listen\n\n> First this.\n> Then that."
        assert "> Then that." in prompts(home)[0]
        assert await home.said() == ["maya"]


async def test_a_note_that_comes_right_after_a_line(tmp_path: Path) -> None:
    """While more of what somebody is saying is waited for, a note comes: it is written down, too."""
    async with living(tmp_path, hears(SAID), environ=EARS, debounce_seconds=3) as home:
        await home.says("ana", "hello")
        await home.clock.advance(1)
        await give(home, "", NOTE)
        (edit,) = await home.bodies(LineEdited)
        assert str(edit.text) == SAID
        assert await home.said() == ["maya"]


async def test_a_note_that_comes_while_a_mate_thinks(tmp_path: Path) -> None:
    """That mate took it in without a word of it; it answers what it says once that is known."""

    def script(question: Question) -> ScriptedAnswer | str:
        answer = in_character(question)
        slow = not question.sound and isinstance(answer, str)
        return ScriptedAnswer(text=answer, wait=2) if slow else SAID if question.sound else answer

    async with living(tmp_path, script, environ=EARS) as home:
        await home.enter("ana")
        await home.does("", "policy", "chain")
        await home.says("ana", "@maya hello")
        await home.clock.advance(1.5)
        await give(home, "", NOTE)
        note = [event.id for event in await home.events() if isinstance(event.body, Heard)][-1]
        assert (await home.bodies(TurnEnded))[0].took_in == (note,), "it came amid the turn"
        assert await home.said() == ["maya", "maya"]


async def test_without_a_model_that_hears(home: Home) -> None:
    """Nobody is asked, and mates are told that there is a file which they cannot read."""
    await give(home, "@maya listen", NOTE)
    assert not [one for one in home.models.asked if one.sound]
    assert await home.bodies(LineEdited) == []
    assert "audio/ogg" in prompts(home)[0]
    assert "it cannot be read here" in prompts(home)[0]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (ScriptedAnswer(outcome="failed", cause="busy"), "too busy just now"),
        (ScriptedAnswer(outcome="timed_out", cause="silent"), "did not say a word in time"),
        (ScriptedAnswer(outcome="failed", cause="unheard"), "(it may be damaged, too long, or of"),
        (ScriptedAnswer(outcome="malformed"), "made no sense"),
        (ScriptedAnswer(text="  "), "nothing was said in it"),
    ],
)
async def test_what_could_not_be_written_down(
    tmp_path: Path, answer: ScriptedAnswer, why: str
) -> None:
    """The room says so in one sentence, once; the note stays, and the typed words are answered."""
    async with living(tmp_path, hears(answer), environ=EARS) as home:
        await give(home, "@maya listen", NOTE)
        (told,) = await home.told()
        assert told.startswith("What ana said in a voice note could not be written down (")
        assert why in told
        assert await home.said() == ["maya"]
        assert len([one for one in home.models.asked if one.sound]) == 1
        await home.hears("ana", "@maya and now?")
        assert len([one for one in home.models.asked if one.sound]) == 1, "nor asked again"


async def test_notes_that_are_too_many_or_no_sound(tmp_path: Path) -> None:
    """Who sent them is told so once, and a mate is not told that it knows what they say."""
    notes = [(f"{nth}.ogg", OGG + bytes([nth])) for nth in range(5)]
    async with living(tmp_path, hears(SAID), environ=EARS) as home:
        await give(home, "@maya listen", *notes, ("talk.mp3", bytes(range(128, 200))))
        (sentence,) = await home.told()
        assert sentence == (
            "2 voice notes of ana were not listened to (four of one line are; it holds no sound "
            "that is known here): no mate knows what is said there."
        )
        assert prompts(home)[0].count("a voice note that came with the line above") == 4
        assert "the file “4.ogg”: [a file that came with the line above" in prompts(home)[0]
        await home.hears("ana", "@maya and now?")
        assert len(await home.told()) == 1


async def test_a_note_that_is_too_large(tmp_path: Path) -> None:
    """The room says so, and the mate that is called beside it answers."""
    large = OGG + bytes(LARGEST_SOUND)
    async with living(tmp_path, hears(SAID), environ=EARS) as home:
        file = await ingest_file(home.app.artifacts, "talk.ogg", large, FileLimits(30_000_000, 9))
        await home.hears("ana", "@maya listen", files=(file,))
        (sentence,) = await home.told()
        assert sentence == (
            "A voice note of ana was not listened to (one may have 25 MB at most): no mate knows "
            "what is said there."
        )
        assert await home.said() == ["maya"]
        assert not [one for one in home.models.asked if one.sound]


async def test_one_of_several_notes_fails(tmp_path: Path) -> None:
    """What the others say is known, that one was not written down stands between, and is told."""
    answers = ("Maya, first.", ScriptedAnswer(outcome="failed", cause="unheard"), "Then this.")
    notes = [(f"{nth}.ogg", OGG + bytes([nth])) for nth in range(3)]
    async with living(tmp_path, hears(*answers), environ=EARS) as home:
        await give(home, "", *notes)
        (edit,) = await home.bodies(LineEdited)
        assert str(edit.text).split("\n\n") == [answers[0], LOST, answers[2]]
        (sentence,) = await home.told()
        assert sentence.startswith("What ana said in a voice note could not be written down (it ")
        assert await home.said() == ["maya"]


async def test_forgetting_takes_what_was_heard(tmp_path: Path) -> None:
    """With the line, and with its sender, go the words wherever they were written down."""
    words = "the marzipan lies behind the third brick"
    async with living(tmp_path, hears(words), environ=EARS) as home:
        await give(home, "", NOTE)
        line = next(e.id for e in await home.events() if isinstance(e.body, Heard))
        await home.app.front.rooms.delete("commons", home.people["ana"], line)
        await home.rest()
        await home.app.forgetting.finish("room:commons")
        assert home.holding(b"third brick") == []
        await give(home, "", NOTE)
        await home.app.ledger.erase(ErasureRequest(person=home.people["ana"]))
        assert home.holding(b"third brick") == []


async def test_stop_while_a_note_is_listened_to(tmp_path: Path) -> None:
    """It is left at once, and not begun again; a later line is heard as ever."""
    slow = ScriptedAnswer(text=SAID, wait=60)
    async with living(tmp_path, hears(slow, "Maya, hello"), environ=EARS) as home:
        await home.enter("ana")
        await asked_about_a_note(home)
        await home.acts("ana", "stop")
        assert await home.bodies(LineEdited) == []
        assert await home.said() == []
        await give(home, "", NOTE)
        assert await home.said() == ["maya"]


async def asked_about_a_note(home: Home) -> None:
    """A note is given, and a model has just been asked what is said in it."""
    ear = home.app.front.rooms.listen(home.room)
    await home.app.front.rooms.hear(home.room, await noted(home))
    async for what in ear:
        if isinstance(what, Event) and isinstance(what.body, Asked):
            break
    ear.close()


async def noted(home: Home) -> Heard:
    """A line with a note and no words."""
    file = await ingest_file(home.app.artifacts, *NOTE, FileLimits(5_000_000, 200_000))
    return Heard(
        person=home.people["ana"], text=Words(""), surface="terminal", source="", files=(file,)
    )


async def test_a_note_is_heard_after_a_restart(tmp_path: Path) -> None:
    """Where the program ended while a note waited, it is listened to at the next start, once."""
    async with living(tmp_path, hears(SAID), environ=EARS, wake=False) as home:
        await home.enter("ana")
        await home.app.lanes.close()
        line = await noted(home)
        stamp = home.app.stamp
        fact = stamp.fact(line, actor=f"person:{line.person}")
        await home.app.ledger.append("room:commons", [fact])
        home.app.artifacts.settle(str(line.files[0].hash))
    async with living(tmp_path, hears(SAID), environ=EARS) as home:
        await home.rest()
        assert len(await home.bodies(LineEdited)) == 1
        assert await home.said() == ["maya"]


async def test_a_note_under_way_when_the_program_ends(tmp_path: Path) -> None:
    """What was asked and not answered goes on at the next start: the note is written down once."""
    slow = ScriptedAnswer(text=SAID, wait=60)
    async with living(tmp_path, hears(slow), environ=EARS) as home:
        await home.enter("ana")
        await asked_about_a_note(home)
    async with living(tmp_path, hears(SAID), environ=EARS) as home:
        await home.rest()
        assert [str(edit.text) for edit in await home.bodies(LineEdited)] == [SAID]
        assert await home.said() == ["maya"]


async def test_a_long_note_is_cut(tmp_path: Path) -> None:
    """What a server makes of hours of sound does not fill the room."""
    async with living(tmp_path, hears("word " * LONGEST), environ=EARS) as home:
        await give(home, "", NOTE)
        (edit,) = await home.bodies(LineEdited)
        assert len(str(edit.text)) == LONGEST + 2
        assert await home.bodies(Weighed)


async def test_by_a_real_server(tmp_path: Path) -> None:
    """A table of loopforge.toml names the server; nobody else is asked, and it is paid by minute."""
    async with hearing() as server:
        server.last = Reply(
            body={"text": SAID, "usage": {"type": "duration", "seconds": 120}},
        )
        (tmp_path / "loopforge.toml").write_text(
            f"""
transcription_model = "ears"
[tiers]
1 = ["scripted"]
[models.ears]
base_url = "{server.address}"
id = "{MODEL}"
key = "EARS_API_KEY"
hears = true
minute_price = 0.006
"""
        )
        async with living(tmp_path, None, environ={"EARS_API_KEY": KEY}) as home:
            while_answering(home.clock, lambda: False)
            await give(home, "", NOTE)
            assert (await home.said())[0] == "maya"
            (edit,) = await home.bodies(LineEdited)
            assert str(edit.text) == SAID
            usage = await home.app.usage.by(("model",))
            assert {one.model: one.cost for one in usage}["ears"] == "0.012"
        assert server.wrong == []
        assert len(server.asked) == 1
