"""Somebody comes in while a mate takes its turn: what it was reminded of is not told to them.

What ana told maya in private is recalled for a turn in another room of theirs, or found there by a
tool; then bo is brought in. Each prompt and each line after that moment is read.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from loopforge.chat.room.turn_queue import REMINDING
from loopforge.core.events import Event, Fact
from loopforge.core.room_vocabulary import PersonJoined, Said, Stopped
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import TurnEnded
from loopforge.ledger_opening import open_ledger_of
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Tool, ToolCall
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice
from tests.rooms.conftest import Home, living, write_mates
from tests.rooms.test_presence_attacks import WORD, kept, said

MATE = "---\nname: Maya\ntools: [kiln, recall]\n---\nYou are Maya.\n"
KILN = Tool(
    name="kiln",
    summary="Fires clay.",
    schema={"type": "object", "properties": {}},
    harmless=True,
    idempotent=True,
)
Answer = dict[str, Any] | ScriptedAnswer


def telling(question: Question) -> Answer:
    """Maya takes a while, and tells all that she has before her eyes."""
    text = str(question.messages)
    return ScriptedAnswer(data=_say(text), wait=30)


def firing(question: Question) -> Answer:
    """Maya has clay fired first, and tells all then."""
    text = str(question.messages)
    if "[result of kiln" not in text and "towers of glass does" in text:
        return {"say": "", "tool": "kiln", "arguments": "{}"}
    return _say(text)


def looking(question: Question) -> Answer:
    """Maya looks it up by a tool, takes a while, and tells all then."""
    text = str(question.messages)
    if "[result of recall" not in text and "look up" in text:
        about = json.dumps({"about": "what towers of glass does Ana build"})
        return {"say": "", "tool": "recall", "arguments": about}
    return ScriptedAnswer(data=_say(text), wait=30)


def _say(text: str) -> dict[str, Any]:
    told = f"They are {WORD}." if WORD in text else f"I know of {len(text)} letters."
    return {"say": told, "mode": "context", "rule": "", "narrative": "I tell."}


@asynccontextmanager
async def scene(
    path: Path, script: Callable[[Question], Answer], *, keeps: bool = True, **changes: Any
) -> AsyncIterator[Home]:
    """Ana told maya of her towers in private, and is in another private room with her now.

    Where maya `keeps` that, she has it before her eyes whenever ana is there.
    """
    write_mates(path, (), maya=MATE)
    minds: list[Callable[[Question], Answer]] = [lambda _: {"say": "Hm."}]
    async with living(path, lambda question: minds[-1](question), **changes) as home:
        await home.enter("ana", "bo")

        async def fire(_: ToolCall) -> str:
            await home.clock.sleep(4)
            return "fired"

        home.app.tools.add(KILN, fire)
        told = await home.private_room("ana")
        line = await said(home, told, "ana", f"I build towers of {WORD} glass, says Ana")
        if keeps:
            await kept(home, line)
        await home.clock.advance(86_400)
        room = await home.private_room("ana")
        home.room = room.removeprefix("room:")
        minds.append(script)
        home.models.asked.clear()
        yield home


async def brought(home: Home, seconds: float, *, past: bool = False) -> list[str]:
    """Bo comes in after so many seconds; the prompts and lines of maya's from then on."""
    await home.clock.advance(seconds)
    before = len(home.models.asked)
    ana, bo = home.people["ana"], home.people["bo"]
    await home.app.front.bring(home.room, ana, bo, "bo", past=past)
    seq = (await home.events())[-1].seq
    task = asyncio.ensure_future(home.app.front.rooms.settled(home.room))  # noqa: TID251
    await home.clock.until(task)
    parts = [text for one in home.models.asked[before:] for _, text in one.messages]
    lines = [e.body for e in await home.events() if isinstance(e.body, Said) and e.seq > seq]
    return [*parts, *(str(line.text) for line in lines)]


ASK = "@maya what towers of glass does Ana build?"


@pytest.mark.parametrize(
    ("script", "asked", "seconds", "instead"),
    [
        (telling, ASK, 10, "I know of"),
        (firing, ASK, 2.5, ""),
        (looking, "@maya look up what I build", 10, ""),
    ],
    ids=["answering", "at a tool", "recalled by a tool"],
)
async def test_what_was_recalled_is_not_said_to_who_came_in_meanwhile(
    tmp_path: Path, script: Callable[[Question], Answer], asked: str, seconds: float, instead: str
) -> None:
    """What the model still answers is not said, and it is asked anew without that.

    Where a tool is still at work, what follows it is asked without what bo may not know; what
    `recall` found when ana was alone is said neither in this turn nor in a later one.
    """
    async with scene(tmp_path, script) as home:
        await home.says("ana", asked)
        found = await brought(home, seconds)
        assert WORD in str(home.models.asked)
        assert not [text for text in found if WORD in text]
        assert not instead or any(instead in text for text in found)


async def test_what_a_tool_recalled_before_leaves_with_whom_may_know(tmp_path: Path) -> None:
    """The turn is over: its result does not come to the next one, where bo is, too."""

    def quiet(question: Question) -> Answer:
        found = looking(question)
        return _say("") if isinstance(found, ScriptedAnswer) else found

    async with scene(tmp_path, quiet) as home:
        await home.hears("ana", "@maya look up what I build")
        assert WORD in str(home.models.asked)
        await brought(home, 10)
        before = len(home.models.asked)
        await home.hears("bo", "@maya good day")
        asked = home.models.asked[before:]
        assert asked
        assert WORD not in str([one.messages for one in asked])


async def test_what_a_tool_recalled_before_is_not_said_in_a_later_turn_either(
    tmp_path: Path,
) -> None:
    """Its result is before her eyes still when bo comes in: that turn begins anew without it."""

    def later(question: Question) -> Answer:
        if "good evening" in str(question.messages):
            return telling(question)
        found = looking(question)
        return _say("") if isinstance(found, ScriptedAnswer) else found

    async with scene(tmp_path, later, keeps=False) as home:
        await home.hears("ana", "@maya look up what I build")
        await home.says("ana", "@maya good evening")
        found = await brought(home, 10)
        assert WORD in str(home.models.asked)
        assert not [text for text in found if WORD in text]
        assert any("I know of" in text for text in found)


async def test_who_may_know_it_all_does_not_disturb(tmp_path: Path) -> None:
    """Nothing was recalled that they may not be told: the turn goes on as it was."""
    async with scene(tmp_path, telling, keeps=False) as home:
        await home.says("ana", "@maya good morning")
        found = await brought(home, 10)
        assert any("I know of" in text for text in found)
        assert [one.outcome for one in await home.bodies(TurnEnded)] == ["done"]


async def test_it_is_so_after_a_crash_too(tmp_path: Path) -> None:
    """A turn that was broken off is not taken up with what was recalled before bo came in."""
    async with scene(tmp_path, telling) as home:
        await home.says("ana", ASK)
        await home.clock.advance(10)
        assert WORD in str(home.models.asked)
    joined = PersonJoined(person=home.people["bo"], name=Words("bo"), surface="terminal")
    stamp = Stamp(SystemClock(), SystemDice())
    async with open_ledger_of(home.app.settings) as other:
        await other.append(f"room:{home.room}", [stamp.fact(joined, actor="room")])
    async with living(tmp_path, telling, clock=home.clock, seed=9) as again:
        again.room = home.room
        await again.clock.advance(60)
        await again.rest()
        assert again.models.asked
        assert WORD not in str([one.messages for one in again.models.asked])
        assert [str(one.text)[:9] for one in await again.bodies(Said)] == ["I know of"]


@pytest.mark.parametrize("stops", [True, False])
async def test_what_another_program_wrote_as_a_line_was_to_be_said_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, stops: bool
) -> None:
    """In the last moment somebody says stop, or brings bo in: it is judged anew."""
    async with (
        scene(tmp_path, telling) as home,
        open_ledger_of(home.app.settings) as other,
    ):
        append, stream = home.app.ledger.append, f"room:{home.room}"
        stamp, ana, bo = Stamp(SystemClock(), SystemDice()), home.people["ana"], home.people["bo"]
        joined = PersonJoined(person=bo, name=Words("bo"), surface="terminal")
        last = [stamp.fact(Stopped(person=ana) if stops else joined, actor="room")]

        async def late(
            to: str, facts: Sequence[Fact], *, expect: int | None = None
        ) -> tuple[Event, ...]:
            if last and any(isinstance(fact.body, Said) for fact in facts):
                await other.append(stream, [last.pop()])
            return await append(to, facts, expect=expect)

        monkeypatch.setattr(home.app.ledger, "append", late)
        await home.hears("ana", ASK)
        assert not last
        assert WORD in str(home.models.asked)
        said = [str(one.text) for one in await home.bodies(Said)]
        assert [text[:9] for text in said] == ([] if stops else ["I know of"])


async def test_tools_that_remind_are_known_by_their_names(home: Home) -> None:
    """The state of a room names them, since it knows no tools."""
    assert set(REMINDING) <= {tool.name for tool in home.app.tools.known()}


async def test_what_it_had_said_does_not_stay_for_who_came_in_as_it_was_stopped(
    tmp_path: Path,
) -> None:
    """A line that is cut off by a stop is kept for those who read it, and for nobody else."""
    tale = f"They are {WORD}, " + "and there is much more to be told of them. " * 20
    draft = ScriptedAnswer(data=_say("") | {"say": tale}, pieces=8, pause=60)

    async with scene(tmp_path, lambda _: draft) as home:
        for also in (
            (),
            (PersonJoined(person=home.people["bo"], name=Words("bo"), surface="web"),),
        ):
            await home.says("ana", ASK)
            await home.clock.advance(130)
            ana, before = home.people["ana"], len(await home.bodies(Said))
            await home.app.rooms.add(home.room, ana, *also, Stopped(person=ana))
            task = asyncio.ensure_future(home.app.front.rooms.settled(home.room))  # noqa: TID251
            await home.clock.until(task)
            kept = (await home.bodies(Said))[before:]
            assert [WORD in str(one.text) for one in kept] == ([] if also else [True])
