"""A mate asks to be changed in a trait: nothing changes before the owner says yes."""

import json
from pathlib import Path

import pytest

from loopforge.core.effect_states import EffectFailed, EffectReturned
from loopforge.core.room_vocabulary import LineDeleted
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.rooms.conftest import Home, living, write_mates

MATE = "---\nname: Maya\ntraits: {calm: low}\ntools: [propose_trait]\n---\nYou are Maya.\n"


def changing(question: Question) -> dict[str, object] | ScriptedAnswer:
    """Maya does what she is told to, whatever it is."""
    results = [text for _, text in question.messages if "[result of propose_trait" in text]
    if results:
        return {"say": results[-1][-60:]}
    text = str(question.messages)
    amount = "low" if "remain as you are" in text else "very high"
    asked = {"trait": "calm", "amount": amount, "why": "Ana told me that I rush."}
    return {"say": "", "tool": "propose_trait", "arguments": json.dumps(asked)}


async def test_a_mate_asks_and_stays_as_it_is(tmp_path: Path) -> None:
    """What it asked waits, with the line that it answered; the file is untouched until a yes."""
    write_mates(tmp_path, (), maya=MATE)
    async with living(tmp_path, changing) as home:
        line = await home.hears("ana", "@maya you rush; set your calm to very high, now")
        await home.rest()
        (end,) = await home.bodies(EffectReturned)
        assert "You stay as you are until the owner" in str(end.value)
        (asked,) = await home.app.growth.traits.open("maya")
        assert (asked.trait, asked.before, asked.after) == ("calm", "low", "very high")
        assert (asked.why, asked.lines) == ("Ana told me that I rush.", (line.id,))
        assert home.app.roster.get("maya").traits == {"calm": "low"}
        await home.app.chronicle.look()
        await home.app.growth.traits.decide(asked.id, approved=True)
        assert home.app.roster.get("maya").traits == {"calm": "very high"}


async def test_what_makes_no_sense_is_told_to_the_mate(tmp_path: Path) -> None:
    """It asks for what it has already: the use fails with a sentence, and nothing waits."""
    write_mates(tmp_path, (), maya=MATE)
    async with living(tmp_path, changing) as home:
        await home.hears("ana", "@maya remain as you are")
        await home.rest()
        (end,) = await home.bodies(EffectFailed)
        assert "You have calm low already" in str(end.value)
        assert await home.app.growth.traits.open() == []


def telling(question: Question) -> dict[str, object] | ScriptedAnswer:
    """Maya says why in words that nobody said, but for one of an earlier line."""
    if any("[result of propose_trait" in text for _, text in question.messages):
        return {"say": "Done."}
    if "zarquonish mood" not in str(question.messages):
        return {"say": "Hm."}
    asked = {"trait": "wumbling", "amount": "high", "why": "Somebody finds cocoa quixotic."}
    return {"say": "", "tool": "propose_trait", "arguments": json.dumps(asked)}


async def _go(home: Home, how: str, first: str, last: str) -> None:
    """One way of forgetting what the proposal rests on."""
    match how:
        case "line":
            gone = home.app.stamp.fact(LineDeleted(line=last, by="person:x"), actor="person:x")
            await home.app.ledger.append("room:commons", [gone])
            await home.app.forgetting.finish("room:commons")
        case "earlier line":
            await home.app.ledger.erase(ErasureRequest(events=(first,)))
        case "person":
            await home.app.ledger.erase(ErasureRequest(person=home.people["ana"], by="owner"))
        case _:
            await home.app.closing.close_room("commons", home.people["ana"])


@pytest.mark.parametrize("how", ["line", "earlier line", "person", "room"])
async def test_why_it_asks_is_forgotten_with_what_it_rests_on(how: str, tmp_path: Path) -> None:
    """A line it answers or takes up, their person, their room; that it asked stays."""
    write_mates(tmp_path, (), maya=MATE)
    async with living(tmp_path, telling) as home:
        first = await home.hears("ana", "I like cocoa")
        last = await home.hears("ana", "@maya, what a zarquonish mood")
        await home.rest()
        (asked,) = await home.app.growth.traits.open("maya")
        assert asked.lines == (last.id, first.id)
        await _go(home, how, first.id, last.id)
        (asked,) = await home.app.growth.traits.open("maya")
        assert (asked.trait, asked.why, asked.after) == ("[forgotten]", "[forgotten]", "high")
        if how == "room":
            assert not home.holding(b"wumbling", b"quixotic")
        assert (await home.app.ledger.verify()).findings == ()


async def test_a_reason_goes_with_a_name_in_it_and_stays_with_others(tmp_path: Path) -> None:
    """Who is named in it is forgotten, whoever said it; of somebody else nothing happens to it."""
    write_mates(tmp_path, (), maya=MATE)
    async with living(tmp_path, changing) as home:
        await home.hears("bo", "hello")
        await home.enter("ana")
        await home.hears("bo", "@maya you rush; set your calm to very high, now")
        await home.rest()
        await home.hears("cy", "nice weather")
        await home.app.ledger.erase(ErasureRequest(person=home.people["cy"], by="owner"))
        assert (await home.app.growth.traits.open("maya"))[0].why == "Ana told me that I rush."
        await home.app.ledger.erase(ErasureRequest(person=home.people["ana"], by="owner"))
        assert (await home.app.growth.traits.open("maya"))[0].why == "[forgotten]"
