"""Lines that were edited or deleted: people and mates see what stands there now, and no more."""

from collections.abc import AsyncIterator
from datetime import UTC
from itertools import chain, repeat
from pathlib import Path

import pytest

from loopforge.chat.why.flight_record import LineRecord, TurnRecord
from loopforge.chat.why.plain_summary import clock, why_record_as_text, why_story
from loopforge.chat.why.record_building import build_why_record
from loopforge.core.edited_lines import Revised
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, LineDeleted, Said
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Perceived, TurnEnded
from loopforge.errors import Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger_opening import open_ledger_of
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.system_clock import Stamp
from tests.rooms.conftest import Home, living


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    """A home whose mates quote nobody."""
    async with living(tmp_path, lambda _: "So it is.") as made:
        yield made


def text_of(event: Event) -> Words:
    """The text of a line, whoever said it."""
    assert isinstance(event.body, Heard | Said)
    return event.body.text


async def shown(home: Home, line: Event) -> Event:
    """The line as a reader is given it."""
    history = await home.app.front.history(home.room, limit=200)
    return next(event for event in history if event.id == line.id)


async def forgotten(home: Home) -> None:
    """Wait until what was deleted is forgotten, by whoever began it."""
    ear = home.app.front.rooms.listen(home.room)
    while "ledger.erased" not in await home.kinds():
        await anext(ear)
    ear.close()
    await home.app.forgetting.finish(f"room:{home.room}")  # until the files are clean


async def test_an_edited_line_says_what_it_says_now(home: Home) -> None:
    """History, a single line and the next prompt hold the new words; the record keeps the old."""
    line = await home.hears("ana", "@maya I grow turnips")
    front, ana = home.app.front, home.people["ana"]
    await front.rooms.edit(home.room, ana, line.id, "@maya I grow leeks")
    now = await shown(home, line)
    assert isinstance(now, Revised)
    assert (str(text_of(now)), now.revision.by) == ("@maya I grow leeks", f"person:{ana}")
    assert str(text_of(await front.line(home.room, line.id))) == "@maya I grow leeks"
    await home.hears("ana", "@maya what do I grow?")
    prompt = str(home.models.asked[-1].messages)
    assert "leeks" in prompt
    assert "turnips" not in prompt
    first = await home.app.ledger.event(line.id)
    assert str(text_of(first)) == "@maya I grow turnips"


async def test_search_finds_what_an_edited_line_says_now_alone(home: Home) -> None:
    """The old words find nothing, the new ones the line itself, also after a second edit."""
    line = await home.says("ana", "@maya I grow turnips")
    front, ana = home.app.front, home.people["ana"]
    for text in ("@maya I grow leeks", "@maya I grow pumpkins"):
        await front.rooms.edit(home.room, ana, line.id, text)
    for gone in ("turnips", "leeks"):
        assert not await front.search(home.room, gone, 5)
    found = await front.search(home.room, "pumpkins", 5)
    assert [event.id for event in found] == [line.id]
    assert str(text_of(found[0])) == "@maya I grow pumpkins"


async def test_a_deleted_line_is_forgotten_with_what_it_was_edited_to_and_what_quotes_it(
    home: Home,
) -> None:
    """No reader, no search, no mate and no file holds a word of it, and the chain verifies."""
    line = await home.hears("ana", "@maya my locker opens with rhubarb-4711")
    front, ana = home.app.front, home.people["ana"]
    await home.says("ben", "rhubarb-4711 is a fine word")
    await front.rooms.edit(home.room, ana, line.id, "@maya my locker opens with gherkin-4712")
    await home.rest()
    await front.rooms.delete(home.room, ana, line.id)
    now = await shown(home, line)
    assert text_of(now).text is None
    assert isinstance(now, Revised)
    assert now.revision.deleted
    await forgotten(home)
    for word in ("rhubarb", "gherkin"):
        assert not await front.search(home.room, word, 5)
        assert home.holding(word.encode()) == []
    await home.hears("ana", "@maya what did I tell you?")
    assert "rhubarb" not in str(home.models.asked[-1].messages)
    assert (await home.app.ledger.verify()).findings == ()
    with pytest.raises(Unknown):
        await front.rooms.edit(home.room, ana, line.id, "@maya rhubarb again")


async def test_a_line_that_is_forgotten_takes_along_what_it_was_edited_to(home: Home) -> None:
    """Whoever names a line means what stands there, too; named exactly, its first words go alone."""
    one, two = [await home.hears("ana", f"I grow {word}") for word in ("turnips", "rhubarb")]
    for line, word in ((one, "gherkins"), (two, "fennel")):
        await home.app.front.rooms.edit(home.room, home.people["ana"], line.id, f"It is {word}")
    await home.app.ledger.erase(ErasureRequest(events=(one.id,)))
    await home.app.ledger.erase(ErasureRequest(events=(two.id,), exactly=True))
    held = {word: bool(home.holding(word.encode())) for word in ("turnips", "gherkins", "rhubarb")}
    assert held == dict.fromkeys(held, False)
    assert text_of(await shown(home, two)).text == "It is fennel"
    assert (await home.app.ledger.verify()).findings == ()


async def test_what_was_deleted_before_the_end_is_forgotten_at_the_next_start(
    tmp_path: Path,
) -> None:
    """A process that died after the deletion leaves the forgetting to the host's next start."""
    async with living(tmp_path) as home:
        line = await home.hears("ana", "@maya my locker opens with rhubarb-4711")
        settings, clock = home.app.settings, home.clock
    async with open_ledger_of(settings) as ledger:
        fact = Stamp(clock, home.app.stamp.dice).fact(
            LineDeleted(line=line.id, by="room"), actor="room"
        )
        await ledger.append("room:commons", [fact])
        assert "rhubarb" in str(await ledger.event(line.id))
    async with living(tmp_path, seed=8) as home:
        await forgotten(home)
        assert text_of(await home.app.ledger.event(line.id)).text is None


async def test_a_turn_whose_only_line_is_deleted_comes_to_its_end(tmp_path: Path) -> None:
    """A mate that is answering a line alone says nothing to it once it is deleted."""
    slow = ScriptedAnswer(text="So it is.", wait=20)
    async with living(tmp_path, lambda _: slow) as home:
        line = await home.says("ana", "@maya a secret of mine")
        await home.clock.advance(5)
        assert home.models.asked
        await home.app.front.rooms.delete(home.room, home.people["ana"], line.id)
        await home.rest()
        await forgotten(home)
        assert "maya" not in await home.said()
        ended = await home.bodies(TurnEnded)
        assert ended[0].outcome == "stopped"


async def test_a_mate_that_is_sent_out_says_nothing_more(tmp_path: Path) -> None:
    """Also where it is in the middle of its turn; what it had shown of it is taken back."""
    slow = ScriptedAnswer(text="So it is, as far as I can tell.", pieces=4, pause=10)
    async with living(tmp_path, lambda _: slow) as home:
        await home.says("ana", "@maya what do you think?")
        await home.clock.advance(15)
        assert home.models.asked
        assert await home.does("ana", "remove", "maya") == "Maya has left."
        await home.rest()
        assert "maya" not in await home.said()
        assert next(iter(await home.bodies(TurnEnded))).outcome == "stopped"


async def test_a_record_shows_the_line_as_it_was_and_says_that_it_was_edited(home: Home) -> None:
    """The turn's record keeps the words it answered; story, text and record say it was edited."""
    line = await home.hears("ana", "@maya I grow turnips")
    said = next(e for e in await home.events() if isinstance(e.body, Said))
    await home.app.front.rooms.edit(home.room, home.people["ana"], line.id, "@maya I grow leeks")
    record = await build_why_record(home.app.ledger, said.id)
    assert isinstance(record, TurnRecord)
    assert record.caller is not None
    assert (record.caller.text, record.caller.changed) == ("@maya I grow turnips", "edited")
    assert [one.changed for one in record.shown.lines if one.id == line.id] == ["edited"]
    assert "(it was edited since)" in " ".join(why_story(record, clock(home.app.rooms._rules.zone)))
    assert "“@maya I grow turnips” (edited since)" in why_record_as_text(record)
    own = await build_why_record(home.app.ledger, line.id)
    assert isinstance(own, LineRecord)
    assert own.changed == "edited"


async def test_who_was_away_when_a_line_was_edited_sees_neither_version(home: Home) -> None:
    """The new words are of a time they may not see, the old ones are not what was meant."""
    line = await home.says("ana", "@maya I grow turnips")
    front, ana = home.app.front, home.people["ana"]
    await home.enter("ben")
    ben = home.people["ben"]
    await home.rest()
    await front.rooms.leave(home.room, ben)
    await front.rooms.edit(home.room, ana, line.id, "@maya I grow leeks")
    sight = await front.lobby.sight(home.room, ben)
    seen = next(e for e in await front.history(home.room, sight=sight) if e.id == line.id)
    assert str(text_of(seen)) == "[changed while you were away]"
    assert not await front.search(home.room, "turnips", 5, sight)
    assert not await front.search(home.room, "leeks", 5, sight)


async def test_a_mates_line_that_keepers_took_away(tmp_path: Path) -> None:
    """No reader, no search, no mate and no file holds a word of it; a person may not do that."""
    answers = chain(["The vault opens with rhubarb-4711."], repeat("So it is."))
    async with living(tmp_path, lambda _: next(answers)) as home:
        await home.hears("ana", "@maya tell me")
        said = next(event for event in await home.events() if isinstance(event.body, Said))
        front = home.app.front
        with pytest.raises(Unknown):
            await front.rooms.delete(home.room, home.people["ana"], said.id)
        await front.rooms.delete(home.room, "", said.id)
        now = await shown(home, said)
        assert isinstance(now, Revised)
        assert now.revision.deleted
        assert text_of(now).text is None
        assert said.id not in (await front.rooms.state(home.room)).lines
        with pytest.raises(Unknown):
            await front.rooms.delete(home.room, "", said.id)
        assert [type(e.body) for e in await home.events()].count(LineDeleted) == 1
        await forgotten(home)
        assert home.holding(b"rhubarb") == []
        assert not await front.search(home.room, "rhubarb", 5)
        for sentence in why_story(await build_why_record(home.app.ledger, said.id), clock(UTC)):
            assert "rhubarb" not in sentence
        await home.hears("ana", "@maya what did you say?")
        assert "rhubarb" not in str(home.models.asked[-1].messages)
        assert (await home.app.ledger.verify()).findings == ()


async def test_an_edit_that_names_a_mate_calls_it(home: Home) -> None:
    """It answers once, whatever the line says after that; what is long past calls nobody."""
    await home.enter("ana", "ben")
    await home.does("ana", "talk", "called")
    old = await home.hears("ana", "ben, is it Tuesday?")
    await home.passes(1200)
    line = await home.hears("ana", "ben, what do I grow?")
    edit, ana = home.app.front.rooms.edit, home.people["ana"]
    assert await home.said() == []
    for text in ("@maya what do I grow?", "what do I grow?", "maya, what do I grow?"):
        await edit(home.room, ana, line.id, text)
        await home.rest()
    await edit(home.room, ana, old.id, "@maya is it Tuesday?")
    await home.rest()
    assert await home.said() == ["maya"]
    (turn,) = await home.bodies(Perceived)
    assert (turn.line, turn.summons) == (line.id, "mention")
    await edit(home.room, ana, line.id, "maya and @merlin, what do I grow?")
    await home.rest()
    assert await home.said() == ["maya", "merlin"]
    await home.replays()


async def test_another_bots_edit_calls_nobody(home: Home) -> None:
    """A bot that writes its line by edits calls a mate by none of them."""
    await home.enter("ana")
    await home.does("ana", "talk", "called")
    line = await home.hears("beep", "I think", bot=True)
    await home.app.front.rooms.edit(home.room, home.people["beep"], line.id, "I think, @maya, so")
    await home.rest()
    assert await home.said() == []
