"""Before a turn what fits comes back by itself: with when and from whom, within bounds, on record."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from loopforge.chat.room.member_visibility import sight_in_stream
from loopforge.chat.turns.turn_recall import BYTES, ROW
from loopforge.chat.why.flight_record import TurnRecord
from loopforge.chat.why.record_building import build_redacted_record, build_why_record
from loopforge.core.memory.memory_vocabulary import EvidenceLine, MemoryKept
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Perceived
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.policies.prompt_building import RECALLED, STANDING
from loopforge.runtime.ports.memory_port import RecalledLine, RecallQuery
from tests.rooms.conftest import Home, hum, living

SCRIPT = hum
FACT = "My cat is called Zarquon and she is allergic to fish"
TALK = (
    "the weather is grey",
    "I had soup for lunch",
    "work was long",
    "the train was late",
    "we painted the kitchen",
    "the garden needs water",
)
WEEK = 7 * 86_400


async def small_talk(home: Home, count: int) -> None:
    """So many lines that nobody needs to answer, all at once."""
    lines = [
        Heard(person=home.people["ana"], text=Words(f"{TALK[n % 6]}, day {n}"), surface="terminal")
        for n in range(count)
    ]
    facts = [home.app.stamp.fact(line, actor=f"person:{line.person}") for line in lines]
    await home.app.ledger.append(f"room:{home.room}", facts)
    await home.rest()


def prompt_of(home: Home, nth: int = -1) -> str:
    """The prompt of a question about what to say, as one text."""
    talks = [q for q in home.models.asked if "Now answer as" in q.messages[-1][1]]
    return "\n".join(text for _, text in talks[nth].messages)


async def seen(home: Home) -> Perceived:
    """What the last turn was shown."""
    return (await home.bodies(Perceived))[-1]


async def kept(home: Home, text: str, *, about: Sequence[str] = (), **more: object) -> str:
    """Maya keeps something that ana says now."""
    line = await home.hears("ana", f"Listen: {text}")
    item = MemoryKept(
        text=Words(text),
        evidence=(EvidenceLine(line.stream, line.seq, line.id),),
        told_by=home.people["ana"],
        about=tuple(home.people[one] for one in about),
        **{"layer": "fact", "made_by": "idle", **more},  # type: ignore[arg-type]
    )
    return (await home.app.memory.store.keep("maya", [item], actor="runtime"))[0]


async def test_what_left_the_prompt_comes_back_when_it_fits(home: Home) -> None:
    """A week and 300 lines later, in another conversation, with the day and the speaker."""
    await home.hears("ana", FACT)
    await small_talk(home, 300)
    await home.clock.advance(WEEK)
    await home.app.memory.vectors.fill()
    await home.hears("ana", "@maya what is my cat called?")
    text = prompt_of(home)
    assert f"[21 November 2026 from ana: {FACT}]" in text
    assert text.index("what is my cat called") < text.index(RECALLED)
    note = next(one for one in (await seen(home)).recalled if not one.left)
    assert note.score > 0.25
    assert dict(note.parts)["words"] > 0
    await home.hears("ana", "@maya hello")
    assert RECALLED not in prompt_of(home)


async def test_the_same_words_come_back_once_and_mates_by_their_names(tmp_path: Path) -> None:
    """A line said five times takes the place of one; the question itself is no memory."""
    question = "what is my cat called?"
    async with living(tmp_path, lambda _: hum(_) | {"say": "Zarquon, your cat."}) as home:
        for told in (FACT, f"{FACT}!", f"@maya {question}", f"@zuzu {question}", FACT.upper()):
            await home.hears("ana", told)
        await small_talk(home, 300)
        await home.clock.advance(WEEK)
        await home.hears("ana", f"@maya {question}")
        rows = prompt_of(home).partition(RECALLED)[2].partition("===")[0]
        assert rows.casefold().count(FACT.casefold()) == 1
        assert question not in rows
        assert re.search("from (Maya|Zuzu|Merlin): Zarquon", rows)
        assert "that was told already" in {one.left for one in (await seen(home)).recalled}


@pytest.mark.patient
@pytest.mark.model
async def test_a_mind_that_runs_here_is_reminded_too(tmp_path: Path) -> None:
    """The model that comes along is shown it in its own short form."""
    async with living(tmp_path, None) as home:
        await home.hears("ana", FACT)
        await small_talk(home, 300)
        await home.clock.advance(WEEK)
        await home.hears("ana", "@maya what is my cat called?")
        turn = next(
            event
            for event in reversed(await home.events())
            if isinstance(event.body, Perceived) and event.body.summons == "mention"
        )
        record = await build_why_record(home.app.ledger, turn.id)
        assert isinstance(record, TurnRecord)
        assert any(FACT in str(getattr(one, "prompt", "")) for one in record.requests)


async def test_what_it_keeps_stands_before_the_lines(home: Home) -> None:
    """Core memories and the wishes of those who are here; of those who are not, none."""
    await kept(home, "I learned to listen before I judge.", layer="core")
    await kept(home, "Always answer me in German", layer="instruction")
    await home.hears("ana", "@maya good morning")
    text = prompt_of(home)
    assert text.index(STANDING) < text.index("good morning")
    assert "[a wish, 21 November 2026 from ana: Always answer me in German]" in text
    assert "I learned to listen before I judge.]" in text
    await home.enter("bo")
    await home.app.rooms.leave(home.room, home.people["ana"])
    await home.hears("bo", "@maya good morning")
    assert "Always answer me in German]" not in prompt_of(home)


async def test_what_it_knows_of_those_present_stands_before_the_lines(home: Home) -> None:
    """Facts about who is here, and its promises to them, of earlier talks; not of this one."""
    await kept(home, "Ana has a cat called Zarquon", about=("ana",))
    await kept(home, "I promised to bring seeds", layer="note", made_by="mate")
    await kept(home, "It rained", layer="note")
    await home.hears("ana", "@maya good morning")
    assert "called Zarquon]" not in prompt_of(home).partition("good morning")[0]
    await home.clock.advance(WEEK)
    await home.hears("ana", "@maya good evening")
    before = prompt_of(home).partition("good evening")[0]
    assert "[a fact, 21 November 2026 from ana: Ana has a cat called Zarquon]" in before
    assert "I promised to bring seeds]" in before
    assert "It rained]" not in before
    await home.enter("bo")
    await home.app.rooms.leave(home.room, home.people["ana"])
    await home.hears("bo", "@maya good evening")
    assert "called Zarquon]" not in prompt_of(home)


async def test_what_is_recalled_is_bounded(home: Home) -> None:
    """What finds no room is left out, and said to be."""
    for nth in range(8):
        await kept(home, f"Zarquon tea number {nth}: {'leaves ' * 40}")
    await home.clock.advance(WEEK)
    await home.hears("ana", "@maya tell me of zarquon tea leaves")
    perceived = await seen(home)
    assert {one.left for one in perceived.recalled} >= {"", "there was no room for it"}
    text = prompt_of(home)
    rows = text[text.index(RECALLED) + len(RECALLED) :].partition("===")[0]
    assert len(rows.encode()) <= BYTES + ROW * 8


async def test_a_turn_goes_the_same_way_again_with_what_it_remembered(home: Home) -> None:
    """What was recalled stands in the record, by the very texts: forgetting reaches it there."""
    line = await home.hears("ana", FACT)
    await small_talk(home, 20)
    await home.clock.advance(WEEK)
    await home.hears("ana", "@maya what is my cat called?")
    turn = [e for e in await home.events() if isinstance(e.body, Said)][-1]
    record = await build_why_record(home.app.ledger, turn.id)
    assert isinstance(record, TurnRecord)
    (told,) = [one for one in record.shown.memory if one.text == FACT]
    assert (told.who, told.at, told.left) == ("ana", "21 November 2026", "")
    await home.app.ledger.erase(ErasureRequest(events=(line.id,), exactly=True))
    record = await build_why_record(home.app.ledger, turn.id)
    assert isinstance(record, TurnRecord)
    assert "Zarquon" not in json.dumps([str(one) for one in record.requests])
    assert not home.holding(b"allergic to fish")


async def test_who_reads_why_later_is_not_told_what_came_from_elsewhere(home: Home) -> None:
    """Of an item that rests on lines of another room a reader sees brackets, whoever they are."""
    await home.enter("ana")
    room = await home.app.rooms.open(home.people["ana"], "ana", "", ["maya"])
    other = await home.app.rooms.open(home.people["ana"], "ana", "", ["maya"])
    home.room = room
    await kept(home, "Ana dreams of zarquonish towers", about=("ana",))
    home.room = other
    await home.hears("ana", "@maya what do I dream of? towers?")
    assert "zarquonish" in prompt_of(home)
    await home.app.front.bring(other, home.people["ana"], "bo", "Bo", past=True)
    turn = [e for e in await home.events() if isinstance(e.body, Said)][-1]
    stream = f"room:{other}"
    theirs = await home.app.ledger.look(lambda tables: sight_in_stream(tables, stream, "bo"))
    record = await build_redacted_record(home.app.ledger, turn.id, stream, theirs)
    assert "zarquonish" not in str(record)
    assert "[said in another room]" in str(record)


async def test_what_is_said_while_a_turn_begins_is_no_memory(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is before the mate's eyes in the next turn, and in none as something that was recalled."""
    await home.hears("ana", "hello")
    recall = home.app.memory.recall
    whole, late = recall.recall, "@maya what does my cat Zarquon drink?"

    async def slowly(query: RecallQuery) -> Sequence[RecalledLine]:
        monkeypatch.setattr(recall, "recall", whole)
        line = Heard(person=home.people["ana"], text=Words(late), surface="terminal")
        event = await home.app.rooms.hear(home.room, line)
        found = await whole(replace(query, upto=event.seq))
        assert event.id in [one.line.id for one in found]
        return await whole(query)

    monkeypatch.setattr(recall, "recall", slowly)
    await home.hears("ana", "@maya what does my cat Zarquon eat?")
    await home.rest()
    for asked in home.models.asked:
        assert not any(text.startswith(RECALLED) for _, text in asked.messages)
    assert late in prompt_of(home)
