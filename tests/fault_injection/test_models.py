"""Models that misbehave: they stall, say monstrous things, or leave the form; the room goes on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.room_vocabulary import Said
from loopforge.core.turn_events import TurnEnded
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.policies.talk import MOST_PARTS
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Draft, Question
from tests.rooms.conftest import Home, living

FOR_EVER = 10**9


async def texts(home: Home) -> list[str]:
    """What mates said."""
    return [str(one.text) for one in await home.bodies(Said)]


async def test_while_a_model_stalls_the_room_hears_and_obeys(tmp_path: Path) -> None:
    """A model that never answers: lines are heard meanwhile, a stop frees the room at once."""
    answers = [ScriptedAnswer(text="never", wait=FOR_EVER)]

    def script(question: Question) -> ScriptedAnswer:
        return answers.pop() if answers else ScriptedAnswer(text="Here I am.")

    async with living(tmp_path, script) as home:
        await home.says("ana", "@maya hello")
        await home.clock.advance(3600)
        for number in range(5):
            await home.says("bo", f"@merlin are you there, {number}?")
        assert await home.said() == []
        scene = await home.app.front.rooms.scene("commons")
        assert scene.energy == scene.capacity
        await home.hears("ana", "stop")
        assert await home.said() == []
        ended = [one.outcome for one in await home.bodies(TurnEnded)]
        assert ended == ["stopped"]
        await home.hears("bo", "@merlin and now?")
        assert await home.said() == ["merlin"]


MONSTROUS: dict[str, str] = {
    "200,000 letters": "A" * 200_000,
    "escapes": "\x1b[2J\x1b]0;owned\x07\x1b[31mred\x1b[0m and plain",
    "nothing but control signs": "\x00\x07\x1b[2J\x1b[H",
    "turned around": "\u202eevil\u202c and \u2066good\u2069",
    "half a letter": "before \ud800 after",
    "line breaks": "one" + "\n" * 5_000 + "two",
    "marks without end": "z" + "\u0301" * 5_000,
    "another's voice": "ana: I promise to obey.\nbo: So do I.",
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("form", ["plain", "structured"])
@pytest.mark.parametrize("kind", MONSTROUS)
async def test_a_monstrous_answer_is_tamed(tmp_path: Path, kind: str, form: str) -> None:
    """Whatever a model says, what is shown is bounded text without control signs; the raw stays."""
    text = MONSTROUS[kind]
    policy = "talk" if form == "structured" else "chain"
    async with living(tmp_path, lambda question: ScriptedAnswer(text=text, pieces=7)) as home:
        await home.enter("ana")
        await home.does("ana", "policy", policy)
        drafts: list[str] = []
        tasks = BackgroundTasks()
        tasks.spawn(_listen(home, drafts), "listening")
        await home.hears("ana", "@maya hello")
        said = await texts(home)
        await tasks.close()
        assert len(said) <= MOST_PARTS
        for shown in (*said, *drafts):
            assert 0 < len(shown) <= home.app.settings.say_limit
            assert not any(ord(sign) < 32 and sign not in "\n\t" for sign in shown)
            assert not any("\ud800" <= sign <= "\udfff" for sign in shown)
            assert not {"\x7f", "\x9b", "\u202e", "\u2066"} & set(shown)
        assert (await home.app.ledger.verify()).sound
        notices = [line for line in await home.lines() if line.startswith("*")]
        assert len(notices) == (0 if said else 1)


async def _listen(home: Home, drafts: list[str]) -> None:
    async for what in home.app.front.rooms.listen("commons"):
        if isinstance(what, Draft):
            drafts.append(what.text)  # noqa: PERF401 (it is cancelled, and must keep what it has)


Given = Mapping[str, Any]
ODD: dict[str, Given] = {
    "a tool it has not": {"say": "", "calls": [{"tool": "rm", "arguments": "{}"}]},
    "arguments that are none": {"say": "", "calls": [{"tool": "clock", "arguments": "}{"}]},
    "a mode that is none": {"mode": "rage", "say": "hello"},
    "numbers for words": {"say": 7, "narrative": 7, "mode": 7, "note": 7, "again": 7},
    "nothing for words": {"say": None, "narrative": None, "note": None, "calls": None},
    "lists for words": {"say": ["a"], "note": {"b": 1}, "again": "no"},
    "a guardrail without its rule": {"mode": "guardrail", "rule": "", "say": "hello"},
}


@pytest.mark.parametrize("kind", ODD)
async def test_an_answer_of_odd_form_breaks_nothing(tmp_path: Path, kind: str) -> None:
    """Fields that hold what they should not: the turn ends, the room rests, the next line works."""
    answers: list[Given] = [ODD[kind]]
    plain: Given = {"say": "Good day.", "again": False, "calls": []}

    async with living(tmp_path, lambda question: answers.pop() if answers else plain) as home:
        await home.hears("ana", "@maya hello")
        ended = [one.outcome for one in await home.bodies(TurnEnded)]
        assert set(ended) <= {"done", "failed"}
        await home.hears("ana", "@merlin hello")
        assert (await home.said())[-1] == "merlin"
        scene = await home.app.front.rooms.scene("commons")
        assert scene.energy >= scene.capacity - 3


async def test_one_that_says_the_same_for_ever_is_heard_once_a_call(tmp_path: Path) -> None:
    """Whoever calls it is answered once; what it would go on with word for word is refused."""
    same = {"say": "I am a teapot.", "again": True, "note": "more", "narrative": "I pour."}
    async with living(tmp_path, lambda question: same) as home:
        for _ in range(3):
            await home.hears("ana", "@maya hello")
        assert await texts(home) == ["I am a teapot."] * 3
        ended = len(await home.bodies(TurnEnded))
        assert ended > 3, "it went on, and was refused"
