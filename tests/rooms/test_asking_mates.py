"""A mate asks another mate of its room, and is told the answer in a turn of its own."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from loopforge.chat.room.permissions import charge_for_lines, relay_depth
from loopforge.chat.service.mate_questions import ASK_MATE, MateQuestions
from loopforge.core.effect_states import EffectFailed, EffectProposed, EffectReturned, EffectStopped
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.room_vocabulary import EnergySet, RightsSet, Said
from loopforge.core.turn_events import TurnEnded
from loopforge.models.scripted_model import Script, ScriptedAnswer
from loopforge.runtime.ports import Question, Tool, ToolCall
from tests.rooms.conftest import START, Home, living, write_mates
from tests.rooms.test_talking import speaker
from tests.sim_clock import SimClock

MATE = "---\nname: {name}\nrole: mate\ntools: [ask_mate, gauge]\n---\nYou are {name}.\n"


def curious(question: Question) -> dict[str, object]:
    """Maya asks whom she is told to ask, and says what she was told; Merlin knows the tides."""
    text = str(question.messages)
    if speaker(question) == "merlin":
        return {"say": "High water is at nine." if "tide" in text else "Hm."}
    if speaker(question) != "maya":
        return {"say": "Hello."}
    results = [text for _, text in question.messages if "[result of ask_mate" in text]
    if not results and "at nine" in text:
        return {"say": "So I heard."}
    if not results:
        whom = "nobody" if "ask nobody" in text else "Merlin"
        asked = {"mate": whom, "question": "When is the tide high?"}
        return {"say": "", "tool": "ask_mate", "arguments": json.dumps(asked)}
    return {"say": f"I was told: {results[-1][-70:]}"}


@asynccontextmanager
async def shore(path: Path, script: Script = curious, *, hours: int = 0) -> AsyncIterator[Home]:
    """A home with three mates that may ask one another, so many hours later."""
    for name in ("maya", "merlin", "zuzu"):
        write_mates(path, (), **{name: MATE.format(name=name.capitalize())})
    async with living(path, script, clock=SimClock(START + timedelta(hours=hours))) as home:
        yield home


async def said(home: Home) -> list[str]:
    """What mates said, in order."""
    return [f"{one.mate}: {one.text}" for one in await home.bodies(Said)]


async def test_a_question_is_a_line_and_its_answer_comes_back(tmp_path: Path) -> None:
    """The room hears the question and the answer; the asking mate goes on from what it was told."""
    async with shore(tmp_path) as home:
        await home.hears("ana", "@maya when is high water?")
        await home.finishes()
        lines = await said(home)
        assert "maya: @merlin When is the tide high?" in lines
        assert lines.index("merlin: High water is at nine.") > 0
        assert any(
            line.startswith("maya: I was told:") and "Merlin: High water is at nine." in line
            for line in lines
        )
        (end,) = await home.bodies(EffectReturned)
        assert str(end.value) == "Merlin: High water is at nine."


async def test_only_who_is_here_can_be_asked(tmp_path: Path) -> None:
    """A name that no other mate of the room has is refused, with those who are here."""
    async with shore(tmp_path) as home:
        await home.hears("ana", "@maya ask nobody about the tide")
        await home.rest()
        (end,) = await home.bodies(EffectFailed)
        assert "no other mate 'nobody' in this room; here is" in str(end.value)
        assert "Merlin" in str(end.value)


@pytest.mark.parametrize("answer", [{"say": ""}, {"speak": False, "say": ""}])
async def test_silence_is_told(tmp_path: Path, answer: dict[str, object]) -> None:
    """A mate that says nothing, for whatever reason, leaves nobody waiting."""

    def silent(question: Question) -> dict[str, object]:
        return answer if speaker(question) == "merlin" else curious(question)

    async with shore(tmp_path, silent) as home:
        await home.hears("ana", "@maya when is high water?")
        await home.rest()
        (end,) = await home.bodies(EffectReturned)
        assert str(end.value).startswith("Merlin did not answer:")


async def test_who_uses_a_tool_first_has_not_been_silent(tmp_path: Path) -> None:
    """The asking mate waits for what the other says once its tool has ended."""
    gauge = Tool(
        name="gauge",
        summary="Reads the tide gauge.",
        schema={"type": "object", "properties": {}},
        harmless=True,
        idempotent=True,
        patience=0.0,
    )

    def measuring(question: Question) -> dict[str, object]:
        text = str(question.messages)
        if speaker(question) != "merlin" or "tide" not in text:
            return curious(question)
        if "[result of gauge: nine" in text:
            return {"say": "High water is at nine."}
        used = {} if "[result of gauge" in text else {"tool": "gauge", "arguments": "{}"}
        return {"say": "", **used}

    async with shore(tmp_path, measuring) as home:

        async def read(_: ToolCall) -> str:
            await home.clock.sleep(10)
            return "nine"

        home.app.tools.add(gauge, read)
        await home.hears("ana", "@maya when is high water?")
        await home.passes(60)
        ends = [str(end.value) for end in await home.bodies(EffectReturned)]
        assert ends[:2] == ["nine", "Merlin: High water is at nine."]


async def test_who_asked_a_mate_that_is_sent_out_does_not_wait(tmp_path: Path) -> None:
    """Nor where the question was taken away: nobody answers it."""

    def slow(question: Question) -> dict[str, object] | ScriptedAnswer:
        made = curious(question)
        return ScriptedAnswer(data=made, wait=60) if speaker(question) == "zuzu" else made

    for way in ("merlin leaves", "it is deleted"):
        async with shore(tmp_path / way, slow) as home:
            await home.says("ana", "@maya @zuzu when is high water?")
            while not (asked := [e for e in await home.events() if "@merlin" in str(e.body)]):
                await home.clock.advance(0.2)
            if way == "merlin leaves":
                await home.does("ana", "remove", "merlin")
            else:
                await home.app.front.rooms.delete(home.room, "", asked[0].id)
            await home.rest()
            (end,) = await home.bodies(EffectReturned)
            assert str(end.value).startswith("Merlin did not answer: ")


async def test_a_mate_asks_nobody_for_a_line_that_is_gone(tmp_path: Path) -> None:
    """Deleted before the question is put: with it went whose rights and whose budget that would be."""
    gate, begun = asyncio.Event(), asyncio.Event()
    async with shore(tmp_path) as home:
        app = home.app
        asking = MateQuestions(app.rooms, app.house, app.ledger, app.stamp, app.lanes.wake)

        async def later(call: ToolCall) -> str:
            begun.set()
            await gate.wait()
            return await asking.ask(call)

        app.tools.add(ASK_MATE, later)
        await home.enter("gus")
        little = RightsSet(who=home.people["gus"], rights=("talk",))
        await app.rooms.add(home.room, "", little)
        line = await home.says("gus", "@maya when is high water?")
        await home.passes(1)
        await begun.wait()
        assert [one.outcome for one in await home.bodies(TurnEnded)] == ["done"]
        await app.rooms.delete(home.room, "", line.id)
        gate.set()
        await home.rest()
        (end,) = await home.bodies(EffectFailed)
        assert "what its mate was to answer is gone" in str(end.value)
        assert not any("@merlin" in one for one in await said(home))


async def test_a_question_goes_back_to_whoever_the_asking_mate_answers(tmp_path: Path) -> None:
    """The asked mate has the tools that they may have used, and they pay for its turn."""
    gauge = Tool(name="gauge", summary="Reads the gauge.", schema={"type": "object"})
    read = list[ToolCall]()

    def measuring(question: Question) -> dict[str, object]:
        asked = speaker(question) == "merlin" and "tide" in str(question.messages)
        return {"say": "", "tool": "gauge", "arguments": "{}"} if asked else curious(question)

    async def reads(call: ToolCall) -> str:
        read.append(call)
        return "nine"

    async with shore(tmp_path, measuring) as home:
        home.app.tools.add(gauge, reads)
        await home.enter("gus")
        gus = home.people["gus"]
        await home.app.rooms.add(home.room, "", RightsSet(who=gus, rights=("talk",)))
        await home.hears("gus", "@maya when is high water?", surface="web")
        await home.finishes()
        state = await home.app.rooms.state(home.room)
        asked = next(line for line in state.lines.values() if "@merlin" in str(line.text))
        charge = charge_for_lines(state, [asked.id])
        assert charge == Charge(person=gus, surface="web")
        assert relay_depth(state, [asked.id]) == 1
        assert read == []


async def test_without_energy_nobody_is_asked(tmp_path: Path) -> None:
    """A question and its answer are two lines of mates; where the room has not two left, none is."""
    async with shore(tmp_path) as home:
        await home.enter("ana")
        await home.app.rooms.add(home.room, "", EnergySet(capacity=1, refill=1))
        await home.hears("ana", "@maya when is high water?")
        await home.rest()
        (end,) = await home.bodies(EffectFailed)
        assert "out of energy" in str(end.value)


async def test_mates_do_not_ask_each_other_for_ever(tmp_path: Path) -> None:
    """Two that only ask back come to an end, by the bounds of the room."""

    def both(question: Question) -> dict[str, object]:
        other = {"maya": "Merlin", "merlin": "Maya"}.get(speaker(question))
        if other is None:
            return {"say": "Hello."}
        asked = json.dumps({"mate": other, "question": f"And you, {other}?"})
        return {"say": "", "tool": "ask_mate", "arguments": asked}

    async with shore(tmp_path, both) as home:
        await home.hears("ana", "@maya when is high water?")
        await home.rest()
        assert len(await home.bodies(Said)) <= 12


async def test_stop_ends_the_asking(tmp_path: Path) -> None:
    """Who says stop stops the question too, wherever it stands."""
    async with shore(tmp_path) as home:
        await home.hears("ana", "@maya when is high water?")
        await home.acts("ana", "stop", "")
        proposed, over = await home.bodies(EffectProposed), await home.bodies(EffectStopped)
        done = [*await home.bodies(EffectReturned), *await home.bodies(EffectFailed), *over]
        assert len(proposed) == len(done)


async def test_a_question_outlives_the_home(tmp_path: Path) -> None:
    """A home that ended while the other mate thought asks nobody twice, and brings the answer."""

    def slow(question: Question) -> dict[str, object] | ScriptedAnswer:
        if speaker(question) == "merlin":
            return ScriptedAnswer(text="late", wait=600)
        return curious(question)

    async with shore(tmp_path, slow) as home:
        await home.says("ana", "@maya when is high water?")
        while "maya: @merlin When is the tide high?" not in await said(home):
            await home.clock.advance(1)
    async with shore(tmp_path, hours=1) as home:
        await home.rest()
        lines = await said(home)
        assert lines.count("maya: @merlin When is the tide high?") == 1
        assert lines.count("merlin: High water is at nine.") == 1
        ends = await home.bodies(EffectReturned)
        assert [str(end.value) for end in ends] == ["Merlin: High water is at nine."]
