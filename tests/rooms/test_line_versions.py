"""A mate's last line is said anew, gone on from, and its versions are chosen between."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from loopforge.chat.commands.command_request import CommandRequest
from loopforge.chat.why.flight_record import TurnRecord
from loopforge.chat.why.record_building import build_why_record
from loopforge.core.edited_lines import Revised
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import AnswerWanted, LineEdited, Said
from loopforge.core.turn_events import Perceived
from loopforge.errors import InputError, Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Draft, Listening, Question
from tests.rooms.conftest import Home, living, write_mates


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    """A home whose mate Maya says another thing each time; nobody else is in the room."""
    numbers = count(1)
    async with living(tmp_path, lambda _: f"Tea, cup {next(numbers)}.") as made:
        await made.enter("ana", "ben", mates=("maya",))
        yield made


async def said(home: Home) -> list[Event]:
    """The lines of mates as they stand."""
    history = await home.app.front.history(home.room, limit=200)
    return [event for event in history if isinstance(event.body, Said)]


async def words(home: Home) -> list[str]:
    """What stands in them."""
    return [str(event.body.text) for event in await said(home) if isinstance(event.body, Said)]


async def test_a_line_said_anew_stands_in_place_of_the_old_one_which_stays_a_version(
    home: Home,
) -> None:
    """History, search, prompts and the export hold what stands; energy is as it was; none is lost."""
    await home.hears("ana", "@maya what is there?")
    assert await words(home) == ["Tea, cup 1."]
    state = await home.app.rooms.state(home.room)
    energy = state.energy.left
    await home.acts("ana", "again")
    assert await words(home) == ["Tea, cup 2."]
    line = (await said(home))[0]
    assert isinstance(line, Revised)
    assert line.revision.aside == "another version"
    prompts = [str(question.messages) for question in home.models.asked]
    assert "cup 1" not in prompts[-1]
    perceived = [body for body in await home.bodies(Perceived) if body.summons == "again"]
    assert [edit.what for body in perceived for edit in body.edits] == [
        "the line that it says anew, and what came after it"
    ]
    front = home.app.front
    assert not await front.search(home.room, "cup 1", 5)
    assert [event.id for event in await front.search(home.room, "cup 2", 5)] == [line.id]
    assert state.energy.left == energy
    assert [state.page.newest.place, len(state.page.newest.versions)] == [2, 2]

    await home.does("ben", "again", "1")
    assert await words(home) == ["Tea, cup 1."]
    line = (await said(home))[0]
    assert isinstance(line, Revised)
    assert line.revision.aside == ""
    assert state.page.newest.place == 1
    await home.hears("ana", "@maya and now?")
    assert "cup 1" in str(home.models.asked[-1].messages)
    assert "cup 2" not in str(home.models.asked[-1].messages)
    edits = [str(body.text) for body in await home.bodies(LineEdited)]
    assert edits == ["Tea, cup 2.", "Tea, cup 1."]


async def test_why_explains_the_version_that_stands(home: Home) -> None:
    """The record of the line is that of the turn whose words stand there."""
    await home.hears("ana", "@maya what is there?")
    line = (await said(home))[0].id
    ledger = home.app.ledger

    async def turn() -> str:
        record = await build_why_record(ledger, line)
        assert isinstance(record, TurnRecord)
        return record.summons

    first = await turn()
    assert first in ("name", "mention")
    await home.acts("ana", "again")
    assert await turn() == "again"
    await home.does("ana", "again", "1")
    assert await turn() == first


async def test_a_mate_goes_on_from_its_last_line(home: Home) -> None:
    """It says one more line, is told why it speaks, and the wish stands in the ledger."""
    await home.hears("ana", "@maya what is there?")
    await home.acts("ben", "more")
    assert await words(home) == ["Tea, cup 1.", "Tea, cup 2."]
    assert "go on from your last line" in str(home.models.asked[-1].messages)
    (wanted,) = await home.bodies(AnswerWanted)
    assert (wanted.person, wanted.how, wanted.mate) == (home.people["ben"], "more", "maya")


async def test_what_cannot_be_said_anew_is_refused_in_words(home: Home) -> None:
    """No line yet, a line that is not the last, a version that is none, somebody who may not."""
    front = home.app.front
    asked = CommandRequest(room=home.room, person=home.people["ana"])
    with pytest.raises(InputError, match="could be said anew"):
        await home.does("ana", "again")
    await home.hears("ana", "@maya what is there?")
    first = (await said(home))[0].id
    await home.hears("ana", "@maya more tea?")
    with pytest.raises(InputError, match="no longer the last"):
        await front.versions.want(asked, "again", first)
    with pytest.raises(Unknown, match="no version 2"):
        await home.does("ana", "again", "2")
    with pytest.raises(InputError, match="which version"):
        await home.does("ana", "again", "one")
    with pytest.raises(Unknown, match="not in the room"):
        await front.versions.want(replace(asked, person="nobody"), "again")
    await home.does("", "rights", "everyone none")
    with pytest.raises(InputError, match="is for"):
        await front.versions.want(asked, "again")


async def test_the_same_words_again_are_no_version_and_are_told_so(tmp_path: Path) -> None:
    """What stood there stands; the room says that there were no other words."""
    async with living(tmp_path, lambda _: "So it is.") as home:
        await home.enter("ana", mates=("maya",))
        await home.hears("ana", "@maya is it so?")
        await home.acts("ana", "again")
        assert (await home.lines())[-1] == (
            "* Maya found no other words (It had said just that a moment ago)."
        )
        assert not await home.bodies(LineEdited)


async def test_a_person_who_asks_again_is_answered_in_the_same_words(tmp_path: Path) -> None:
    """A mate repeats itself to a person who calls it, once for each call; to a mate it does not."""
    async with living(tmp_path, lambda _: "Yes, @zuzu.") as home:
        await home.enter("ana", mates=("maya", "zuzu"))
        await home.hears("ana", "@maya is it so?")
        await home.hears("ana", "@maya is it still so?")
        await home.rest()
        assert sorted(await home.said()) == ["maya", "maya", "zuzu"]


async def _draft(ear: Listening) -> Draft:
    """The next words of a mate that are not said yet."""
    async for what in ear:
        if isinstance(what, Draft):
            return what
    raise AssertionError("nobody spoke")


async def test_stop_ends_it_and_what_stood_there_stands(tmp_path: Path) -> None:
    """Nothing of a version that a person stopped is kept: the line is whole as it is."""
    long = "Once there was a kettle that had no lid, and it minded very much. " * 3

    def script(question: Question) -> ScriptedAnswer:
        text = f"{len(asked)}. {long}"
        return ScriptedAnswer(text=text, pieces=9, pause=1.0 if len(asked) == 1 else 0.0)

    asked: list[int] = []
    async with living(tmp_path, script) as home:
        await home.enter("ana", mates=("maya",))
        await home.hears("ana", "@maya tell me one")
        before = await words(home)
        asked.append(1)
        ear = home.app.front.rooms.listen(home.room)
        await home.does("ana", "again")
        drafted = asyncio.ensure_future(_draft(ear))  # noqa: TID251
        draft = await home.clock.until(drafted)
        assert draft.anew == (await said(home))[0].id
        await home.acts("ana", "stop")
        ear.close()
        assert await words(home) == before
        assert not await home.bodies(LineEdited)
        asked.append(2)
        await home.acts("ana", "more")
        assert len(await words(home)) == 2


async def test_an_answer_in_another_version_counts_for_who_wanted_it(home: Home) -> None:
    """And who chose a version is forgotten without the words of the mate."""
    await home.hears("ana", "@maya what is there?")
    await home.acts("ben", "again")
    await home.does("ben", "again", "1")
    quota = home.app.rooms.quota
    assert [await quota.had(f"person:{home.people[name]}") for name in ("ana", "ben")] == [1, 1]
    await home.app.ledger.erase(ErasureRequest(person=home.people["ben"]))
    assert await words(home) == ["Tea, cup 1."]


async def test_another_answer_is_drawn_with_some_chance(tmp_path: Path) -> None:
    """A mate that always answers the same is asked by a higher temperature, for that once."""
    write_mates(tmp_path, maya="---\nname: Maya\nrole: mate\ntemperature: 0\n---\nYou are Maya.\n")
    numbers = count(1)
    async with living(tmp_path, lambda _: f"Tea, cup {next(numbers)}.") as home:
        await home.enter("ana", mates=("maya",))
        await home.hears("ana", "@maya what is there?")
        await home.acts("ana", "again")
        await home.hears("ana", "@maya and now?")
    heats = [question.route.temperature for question in home.models.asked]
    assert heats[:3] == [0, 0.8, 0]
