"""A mate asks to be changed in a trait: nothing changes before the owner says yes."""

from __future__ import annotations

import json
from pathlib import Path

from loopforge.core.effect_states import EffectFailed, EffectReturned
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.rooms.conftest import living, write_mates

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
