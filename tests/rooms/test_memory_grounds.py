"""What is kept rests on all that it was made of: the words a line has now, its files, what a tool gave.

Each time somebody was there for a part of that alone, and every prompt of a later talk is read.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopforge.chat.memories.memory_service import MemoryReader
from loopforge.core.room_vocabulary import File
from loopforge.core.text.erasable_text import Words
from loopforge.runtime.ports import Question, ToolCall
from tests.rooms.conftest import hum, living, write_mates
from tests.rooms.test_files import give
from tests.rooms.test_note_taking import held, noted
from tests.rooms.test_pictures import drawn
from tests.rooms.test_presence_attacks import QUESTION, SECRET, WORD, kept, leaks, said
from tests.rooms.test_presence_in_turn import KILN, MATE


def keeping(tool: str = "", **arguments: Any) -> Callable[[Question], dict[str, Any]]:
    """Maya keeps what she knows of towers when she is asked to, having used a tool first."""

    def answer(question: Question) -> dict[str, Any]:
        text = str(question.messages)
        if "keep in mind" not in text:
            return dict(hum(question))
        if tool and f"[result of {tool}" not in text:
            return {"say": "", "tool": tool, "arguments": json.dumps(arguments)}
        return hum(question) | {"remember": SECRET}

    return answer


async def test_what_a_line_says_since_it_was_edited_is_for_who_was_there_for_that(
    tmp_path: Path,
) -> None:
    """Bo saw what it said at first; what is kept of it since is told where ana is alone."""
    async with living(tmp_path, hum) as home:
        await home.enter("ana", "bo")
        ana, bo = home.people["ana"], home.people["bo"]
        room = await home.private_room("ana")
        slug = room.removeprefix("room:")
        await home.app.front.bring(slug, ana, bo, "bo")
        line = await said(home, room, "ana", "@maya I build towers")
        await home.app.rooms.leave(slug, bo)
        await home.app.front.rooms.edit(slug, ana, line.id, "@maya " + SECRET)
        await kept(home, line, layer="note")
        await home.clock.advance(86_400)
        alone, both = await home.private_room("ana"), await home.private_room("bo")
        assert await leaks(home, alone, "ana")
        await home.app.front.bring(both.removeprefix("room:"), bo, ana, "ana")
        assert not await leaks(home, both, "bo")


@pytest.mark.parametrize("picture", [False, True])
async def test_what_stands_in_a_file_is_for_who_was_given_it(
    tmp_path: Path, *, picture: bool
) -> None:
    """Bo came after it was given; what maya keeps of it for him is told him nowhere else."""
    async with living(tmp_path, keeping()) as home:
        await home.enter("ana", "bo")
        ana, bo = home.people["ana"], home.people["bo"]
        room = await home.private_room("ana")
        slug = room.removeprefix("room:")
        home.room, home.models.vision = slug, picture
        if picture:
            await give(home, "@maya here you are", ("plan.png", drawn()))
        else:
            plan = File(name=Words("plan.txt"), size=40, text=Words(SECRET), media="text/plain")
            await home.hears("ana", "@maya here you are", files=(plan,))
        await home.app.front.bring(slug, ana, bo, "bo")
        await home.hears("bo", "@maya keep in mind what you know")
        assert await held(home)
        await home.clock.advance(86_400)
        bos = await home.private_room("bo")
        assert not await leaks(home, bos, "bo")


async def test_what_a_tool_recalled_in_this_turn_is_for_who_knew_it(tmp_path: Path) -> None:
    """Bo is shown the past of the room, but not what was recalled there of another."""
    write_mates(tmp_path, (), maya=MATE)
    script = keeping("recall", about="what towers does Ana build")
    async with living(tmp_path, script) as home:
        await home.enter("ana", "bo")
        ana, bo = home.people["ana"], home.people["bo"]
        told = await home.private_room("ana")
        await said(home, told, "ana", SECRET)
        await home.clock.advance(86_400)
        room = await home.private_room("ana")
        await said(home, room, "ana", "@maya look up, and keep in mind")
        assert await held(home)
        await home.app.front.bring(room.removeprefix("room:"), ana, bo, "bo", past=True)
        await home.clock.advance(86_400)
        bos = await home.private_room("bo")
        assert not await leaks(home, bos, "bo")


async def test_what_a_tool_gave_in_this_turn_is_a_tools_word(tmp_path: Path) -> None:
    """What is kept of it is marked so."""
    write_mates(tmp_path, (), maya=MATE)

    async def fire(_: ToolCall) -> str:
        return f"{SECRET}, says a page"

    async with living(tmp_path, keeping("kiln")) as home:
        home.app.tools.add(KILN, fire)
        await home.hears("ana", "@maya fire it, and keep in mind")
        (item,) = (await held(home)).values()
        assert not item.trusted


async def test_what_is_noted_in_other_words_is_for_who_heard_the_whole_talk(
    tmp_path: Path,
) -> None:
    """A note cites what bo heard, and says besides what ana had said before he came."""
    text = f"Ana builds towers, the {WORD} sort"
    noted: dict[str, Any] = {"about": "ana", "subject": "", "text": text, "lines": []}

    def answer(question: Question) -> dict[str, Any]:
        notes = "Note what will matter" in str(question.messages)
        return {"facts": [noted]} if notes else dict(hum(question))

    async with living(tmp_path, answer, environ={"LOOPFORGE_MEMORY_KEEP": "all"}) as home:
        await home.enter("ana", "bo")
        ana, bo = home.people["ana"], home.people["bo"]
        room = await home.private_room("ana")
        home.room = room.removeprefix("room:")
        first = await home.hears("ana", "@maya sie sind aus Glas, verrate es keinem")
        await home.app.front.bring(home.room, ana, bo, "bo")
        for line in ("@maya I build towers", "@maya nice weather", "@maya so be it"):
            last = await home.hears("ana", line)
        await home.passes(5 * 3600)
        (fact,) = (await held(home)).values()
        assert first.id in [line.line for line in fact.evidence]
        assert last.id not in [line.line for line in fact.evidence]
        bos, alone = await home.private_room("bo"), await home.private_room("ana")
        assert await leaks(home, alone, "ana")
        await home.app.front.bring(bos.removeprefix("room:"), bo, ana, "ana")
        assert not await leaks(home, bos, "bo")


async def test_why_a_mate_wants_to_change_rests_on_what_a_tool_recalled(tmp_path: Path) -> None:
    """The line in another room is one of those that whoever reads it must have seen."""

    def answer(question: Question) -> dict[str, Any]:
        text = str(question.messages)
        if "look it up" not in text or "[result of propose_trait" in text:
            return dict(hum(question))
        if "[result of recall" not in text:
            about = json.dumps({"about": "what towers does Ana build"})
            return {"say": "", "tool": "recall", "arguments": about}
        wanted = {"trait": "calm", "amount": "high", "why": f"So much {WORD}!"}
        return {"say": "", "tool": "propose_trait", "arguments": json.dumps(wanted)}

    write_mates(tmp_path, (), maya=MATE.replace("kiln", "propose_trait"))
    async with living(tmp_path, answer) as home:
        await home.enter("ana")
        line = await said(home, await home.private_room("ana"), "ana", SECRET)
        await home.clock.advance(86_400)
        await said(home, await home.private_room("ana"), "ana", "@maya look it up")
        (asked,) = await home.app.growth.traits.open("maya")
        assert line.id in asked.lines


CORE = f"I trust {WORD} walls."


async def test_a_core_memory_that_holds_words_of_a_file_does_not_travel(tmp_path: Path) -> None:
    """What people gave is as much theirs as what they said."""
    notes = {"core": [{"text": CORE, "lines": []}]}
    async with noted(tmp_path, notes) as home:
        plan = File(name=Words("plan.txt"), size=40, text=Words(SECRET), media="text/plain")
        await home.hears("ana", "@maya here you are", files=(plan,))
        for line in ("@maya what of it?", "well", "so be it"):
            await home.hears("ana", line)
        await home.passes(5 * 3600)
        assert not (await held(home))[CORE].travels


async def test_what_others_said_while_somebody_was_away_is_not_their_own_word(
    tmp_path: Path,
) -> None:
    """Maya answered bo when ana was gone: what joins that to ana's word is not hers."""
    noted: dict[str, Any] = {"about": "ana", "subject": "", "text": SECRET, "lines": []}

    def answer(question: Question) -> dict[str, Any]:
        text = str(question.messages)
        if "Note what will matter" in text:
            return {"facts": [noted]}
        return hum(question) | {"say": f"Of {WORD} glass." if "whisper" in text else "Hm."}

    async with living(tmp_path, answer, environ={"LOOPFORGE_MEMORY_KEEP": "all"}) as home:
        await home.enter("ana", "bo")
        ana, bo = home.people["ana"], home.people["bo"]
        room = await home.private_room("bo")
        slug = room.removeprefix("room:")
        await home.app.front.bring(slug, bo, ana, "ana")
        await said(home, room, "ana", "@maya I build towers")
        await home.app.rooms.leave(slug, ana)
        await said(home, room, "bo", "@maya whisper")
        home.room = slug
        await home.passes(5 * 3600)
        (fact,) = await held(home)
        assert WORD in fact
        mine = await home.app.memory.memories.beliefs(MemoryReader(ana), "maya")
        assert [WORD in one.text for one in mine] == [False]
        alone = await home.private_room("ana")
        assert not await leaks(home, alone, "ana", QUESTION)
