"""A room under whatever people do, mates say and the machine does: it comes to rest whole."""

import asyncio
import logging
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.chat.room.room_state import fold
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.errors import LoopforgeError
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.models.scripted_model import ScriptedAnswer, in_character
from loopforge.runtime.ports import Question
from tests.examples import few
from tests.models.hearing import OGG
from tests.rooms.conftest import START, Home, living
from tests.sim_clock import SimClock

TEXTS = (
    "hello",
    "@maya hi",
    "maya, what is that?",
    "@merlin and @zuzu, come",
    "what do you all think?",
    "@maya remember that I like tea",
    "@maya remind me in 5 minutes to eat",
    "thanks",
    "stop",
)
COMMANDS = (
    "stop",
    "new",
    "end",
    "again",
    "more",
    "talk called",
    "talk free",
    "pace on",
    "unprompted on",
    "title A room",
    "energy 0",
    "energy 6",
    "policy chain",
    "policy talk",
    "remove maya",
    "add maya",
    "triggers maya none",
)
ANSWERS = (
    None,
    ScriptedAnswer(outcome="failed", cause="busy"),
    ScriptedAnswer(outcome="malformed"),
    ScriptedAnswer(text='{"say":'),
    ScriptedAnswer(text="Tea it is.", wait=2),
    ScriptedAnswer(text="Tea it is.", wait=9),
)
"""None: in character, at once."""
NOBODY = ("wait", "rest", "restart")
OFTEN = ("say", "say", "reply", "note", "wait")
Deed = tuple[str, str, int, str]
"""What is done, by whom, with which of the last lines or for how long, and the words of it."""
DEEDS = st.tuples(
    st.sampled_from((*OFTEN, *NOBODY, "edit", "delete", "forget", "leave", "enter", "command")),
    st.sampled_from(("ana", "ben", "cleo")),
    st.integers(0, 4),
    st.sampled_from(TEXTS) | st.sampled_from(COMMANDS),
)


class Script:
    """Answers one after the other, over and over; what is heard in a voice note calls a mate."""

    def __init__(self, answers: list[ScriptedAnswer | None]) -> None:
        self._answers, self._count = answers, 0

    def __call__(self, question: Question) -> ScriptedAnswer | str:
        """The next answer."""
        self._count += 1
        answer = self._answers[self._count % len(self._answers)]
        if question.sound and (answer is None or answer.text):
            return "Maya, is the sourdough ready?"
        return in_character(question) if answer is None else answer


async def do(home: Home, deed: Deed) -> None:
    """Do it, where it can be done. Raises what people are told where it cannot."""
    what, who, number, text = deed
    front, rooms = home.app.front, home.app.front.rooms
    lines = [e for e in await home.events() if isinstance(e.body, Heard | Said)]
    line = lines[-1 - number % len(lines)].id if lines else ""
    you = home.people.get(who, "")
    match what:
        case "wait":
            await home.clock.advance((0.2, 1, 4, 70, 20_000)[number])
        case "rest":
            await home.rest()
        case "enter":
            await home.enter(who)
        case "leave":
            await rooms.leave(home.room, you)
        case "say":
            await home.says(who, text)
        case "reply":
            await home.says(who, text, reply_to=line)
        case "note":
            limits = FileLimits(9_000_000, 200_000)
            file = await ingest_file(home.app.artifacts, "voice.ogg", OGG + bytes([number]), limits)
            await home.says(who, "", files=(file,))
        case "edit":
            await rooms.edit(home.room, you, line, text)
        case "delete":
            await rooms.delete(home.room, you, line)
        case "forget":
            await home.app.ledger.erase(ErasureRequest(events=(line,)))
        case "command":
            name, _, argument = text.partition(" ")
            await front.commands.act(home.room, you, name, argument)
        case _:
            raise AssertionError(what)


async def amiss(home: Home) -> list[str]:
    """What is not as it should be in a room at rest."""
    events, state = await home.events(), await home.app.rooms.state(home.room)
    unfolded = [each for each in fold(events).lines.values() if each != state.lines.get(each.id)]
    found = {
        "turns are open": state.open,
        "lines are not weighed": state.pending(),
        "mates are due": () if state.stopped else state.due,
        "lines are not what their events make them": unfolded,
        "findings": (await home.app.ledger.verify()).findings,
        "lines without a record": [e.id for e in events if not await recorded(home, e)],
    }
    return [f"{name}: {what}" for name, what in found.items() if what]


async def recorded(home: Home, event: Event) -> bool:
    """Whether it can be asked why a mate said this."""
    return not isinstance(event.body, Said) or bool(await home.app.front.why(event.id))


async def evening(path: Path, deeds: list[Deed], script: Script) -> list[str]:
    """Do all of it, each part in a life of its own of the home, and look at the room at rest."""
    clock, people = SimClock(START), dict[str, str]()
    parts: list[list[Deed]] = [[]]
    for deed in deeds:
        parts[-1].append(deed) if deed[0] != "restart" else parts.append([])
    for life, part in enumerate(parts):
        ears = {"LOOPFORGE_TRANSCRIPTION_MODEL": "ears"}
        lived = living(path, script, clock=clock, seed=life, environ=ears, debounce_seconds=1)
        async with lived as home:
            home.people = people
            if not people:
                await home.enter("ana", "ben")
            for deed in part:
                with suppress(LoopforgeError):  # whoever cannot do something is told why
                    await do(home, deed)
            if part is parts[-1]:
                await home.rest()
                return await amiss(home)
    raise AssertionError


@settings(
    max_examples=few(12),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(DEEDS, min_size=1, max_size=30),
    st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=5),
)
def test_a_room_comes_to_rest_whole(
    caplog: pytest.LogCaptureFixture, deeds: list[Deed], answers: list[ScriptedAnswer | None]
) -> None:
    """Nothing is left undone, all is on record, the ledger verifies, and nothing failed unseen."""
    caplog.clear()
    with tempfile.TemporaryDirectory() as folder:
        assert asyncio.run(evening(Path(folder), deeds, Script(answers))) == []
    assert [each.message for each in caplog.records if each.levelno >= logging.ERROR] == []
