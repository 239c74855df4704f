"""Flight records: gathered from a room that lives, and withheld from those who were not there."""

from collections.abc import Callable, Sequence
from datetime import UTC
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest
from sqlalchemy.engine import Connection

from loopforge.chat.room.member_visibility import EVERYTHING, MemberSight, sight_in_stream
from loopforge.chat.why.flight_record import (
    AskedStep,
    LineRecord,
    RecordedCall,
    SpokenPart,
    TurnRecord,
)
from loopforge.chat.why.plain_summary import clock, why_record_as_text, why_story
from loopforge.chat.why.record_building import build_redacted_record, build_why_record
from loopforge.core.delivery_states import Attempting, Queued, Uncertain
from loopforge.core.events import Event, Fact
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.erasable_text import Words
from loopforge.errors import Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.table_access import ReadableLedger
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Tool
from tests.rooms.conftest import Home, living

T = TypeVar("T")
SECRET = "The spare key lies under the blue flowerpot."
STREAM = "room:commons"


class Telling:
    """A model that says something else each time; what it is to say more can be set."""

    def __init__(self, **more: object) -> None:
        self.more, self.nth = more, 0

    def __call__(self, question: Question) -> ScriptedAnswer:
        self.nth += 1
        data = {"mode": "context", "narrative": "I thought.", "say": f"Answer number {self.nth}."}
        return ScriptedAnswer(data=data | self.more)


async def last(home: Home, kind: type = Said) -> Event:
    """The newest line of this kind."""
    return [event for event in await home.events() if isinstance(event.body, kind)][-1]


async def ask(home: Home, name: str, text: str) -> Event:
    """A person says something, and the mate's line that came of it."""
    await home.hears(name, text)
    return await last(home)


async def turn(home: Home, id: str) -> TurnRecord:
    """The whole record of a turn."""
    record = await build_why_record(home.app.ledger, id, {"maya": "Maya"})
    assert isinstance(record, TurnRecord)
    return record


async def sight_of(home: Home, name: str) -> MemberSight:
    """What a person may see of the room."""
    person = home.people[name]
    return await home.app.ledger.look(
        lambda connection: sight_in_stream(connection, STREAM, person)
    )


async def seen(home: Home, id: str, name: str) -> TurnRecord | LineRecord:
    """The record as a person may see it."""
    return await build_redacted_record(home.app.ledger, id, STREAM, await sight_of(home, name))


async def come(home: Home, name: str, *, past: bool = False) -> None:
    """A person is brought into the room."""
    known = await home.app.people.meet("terminal", name)
    home.people[name] = known.id
    await home.app.front.bring("commons", "", known.id, name, past=past)


async def leave(home: Home, name: str) -> None:
    """A person goes away."""
    await home.app.front.rooms.leave("commons", home.people[name])


def whole(record: TurnRecord | LineRecord) -> str:
    """Everything a reader could get out of a record, in every form."""
    return (
        msgspec.json.encode(record).decode()
        + why_record_as_text(record)
        + "\n".join(why_story(record, clock(UTC)))
    )


# ---------------------------------------------------------------- gathering


async def test_what_nobody_said_is_told_without_a_name(tmp_path: Path) -> None:
    """What was heard meanwhile has a name before it only where somebody said it."""
    async with living(tmp_path, Telling()) as home:
        line = await ask(home, "ana", "@maya what broke?")
        record = await turn(home, line.id)
    day = SpokenPart(kind="told", text="Sunday, 29 November")
    word = SpokenPart(kind="heard", text="The bell.", who="ben")
    asked = msgspec.structs.replace(record.requests[0], heard=(day, word))
    written = why_record_as_text(msgspec.structs.replace(record, requests=(asked,)))
    assert "  heard meanwhile: Sunday, 29 November\n" in written
    assert "  heard meanwhile: ben: The bell.\n" in written


async def test_a_record_is_complete(tmp_path: Path) -> None:
    """Caller, weights with their meaning, lines, plan, verdicts, prompts, times: all is there."""
    async with living(tmp_path, Telling(mode="guardrail", rule="be honest")) as home:
        line = await ask(home, "ana", "@maya what broke?")
        await home.app.front.seen("commons", home.people["ana"], line.seq)
        record = await turn(home, line.id)
        heard = await last(home, Heard)
    assert record.caller
    assert (record.caller.who, record.caller.text) == ("ana", "@maya what broke?")
    assert record.caller.id == heard.id
    assert record.own
    assert (record.own.score, record.own.reasons[0].meaning[:10]) == (100, "its handle")
    assert {one.mate for one in record.others} == {"merlin", "zuzu"}
    assert [line.text for line in record.shown.lines if line.id] == ["@maya what broke?"]
    assert record.intent
    assert (record.intent.mode, record.intent.rule) == ("guardrail", "be honest")
    assert [(act.act, act.allowed) for act in record.intent.acts] == [("say", True)]
    (request,) = record.requests
    assert isinstance(request, AskedStep)
    assert [message.role for message in request.prompt][:1] == ["system"]
    assert (request.outcome, request.aloud) == ("answered", True)
    assert [deed.kind for deed in record.deeds] == ["said"]
    assert [one.state for one in record.deliveries] == ["accepted"]
    assert record.timeline[-1].what.startswith("it arrived")
    assert record.withheld == ""
    assert record.replay == f"loopforge turn replay {record.turn}"


async def test_a_record_says_that_nobody_knows_whether_a_line_arrived(tmp_path: Path) -> None:
    """A delivery that broke off and cannot be looked for is over, and not on its way."""
    async with living(tmp_path, Telling()) as home:
        line = await ask(home, "ana", "@maya what broke?")
        (sent,) = [e for e in await home.events() if isinstance(e.body, Queued)]
        for body in (Attempting(delivery=sent.id, nth=1), Uncertain(delivery=sent.id)):
            fact = home.app.stamp.fact(body, actor="runtime", cause=sent.id)
            await home.app.ledger.append(STREAM, [fact])
        record = await turn(home, line.id)
    assert [one.state for one in record.deliveries] == ["uncertain"]
    assert record.timeline[-1].what.startswith("nobody knows whether it arrived")
    assert "Nobody knows whether its line arrived" in "\n".join(why_story(record, clock(UTC)))


async def test_the_guards_notes_and_refusals_are_in_it(tmp_path: Path) -> None:
    """What the guard refused is there with its rule, what is odd about the plan in a sentence."""
    script = Telling(say="Always the same, @maya and @zuzu.", narrative="")
    async with living(tmp_path, script) as home:
        await home.enter("ana", mates=("maya", "zuzu"))
        await ask(home, "ana", "@maya one")
        await home.rest()
        ended = [e for e in await home.events() if e.kind == "turn.ended"][-1]
        record = await turn(home, ended.id)
    assert record.intent
    assert "It does not say what it does and why." in record.intent.notes
    (act,) = record.intent.acts
    assert (act.allowed, act.rule) == (False, "repeat")
    assert "word for word" in act.refuses
    assert "The guard refused its wish to say." in "\n".join(why_story(record, clock(UTC)))


async def test_the_steps_of_a_chain_lead_to_each_other(tmp_path: Path) -> None:
    """A tool that outlasts its turn makes a next step; each names the other, and the tool's end."""

    def script(question: Question) -> ScriptedAnswer:
        shown = str(question.messages)
        if "[result of clock: noon]" in shown:
            more = {"say": "Noon."}
        elif "[result of clock, deferred" in shown:
            more = {"say": "I am looking."}
        else:
            more = {"tool": "clock", "arguments": "{}", "say": ""}
        return ScriptedAnswer(data={"mode": "context", "narrative": "Look."} | more)

    async with living(tmp_path, script) as home:

        async def slow(_: object) -> str:
            await home.clock.sleep(20)
            return "noon"

        tool = Tool(name="clock", summary="Tells.", idempotent=True, harmless=True)
        home.app.tools.add(tool, slow, instead=True)
        looking = await ask(home, "ana", "@maya what time is it?")
        await home.passes(20)
        second = await turn(home, (await last(home)).id)
        first = await turn(home, second.before)
        answered = await build_why_record(home.app.ledger, (await last(home, Heard)).id)
    assert (first.step, second.step, second.after) == (0, 1, "")
    assert isinstance(answered, LineRecord)
    assert answered.candidates[0].outcome == "answered"
    assert first.deeds[0].id == looking.id
    assert first.after == second.turn
    assert first.before == ""
    (call,) = [one for one in first.requests if isinstance(one, RecordedCall)]
    assert (call.tool, call.outcome, call.value) == ("clock", "returned", "noon")
    assert call.deferred
    assert [stage.what for stage in call.stages] == ["approved", "running", "returned"]
    assert "clock, which returned, after it had gone on without it" in " ".join(
        why_story(first, clock(UTC))
    )
    assert "step 2 of a chain: Maya had used a tool" in why_story(second, clock(UTC))[0]


async def test_a_persons_line_tells_who_answered_and_who_passed(tmp_path: Path) -> None:
    """Each mate's score, and for those that were called the turn and what came of it."""
    async with living(tmp_path, Telling()) as home:
        said = await ask(home, "ana", "@maya hello")
        heard = await last(home, Heard)
        record = await build_why_record(home.app.ledger, heard.id)
    assert isinstance(record, LineRecord)
    assert isinstance(said.body, Said)
    (first, *rest) = record.candidates
    assert (first.mate, first.turn, first.outcome) == ("maya", said.body.turn, "answered")
    assert {one.verdict for one in rest} == {"pass"}
    assert all(not one.turn for one in rest)


async def test_lines_weighed_as_one_say_so(tmp_path: Path) -> None:
    """Of two lines in a row, the first is weighed with the second, and knows."""
    async with living(tmp_path, Telling()) as home:
        first = await home.says("ana", "I was thinking.")
        await home.hears("ana", "@maya what about slugs?")
        record = await build_why_record(home.app.ledger, first.id)
    assert isinstance(record, LineRecord)
    assert (record.state, record.gathered) == ("weighed", 1)
    assert record.candidates[0].outcome == "answered"


async def test_a_stop_leaves_a_line_unweighed(tmp_path: Path) -> None:
    """A line that is a stop is answered by nobody, and its record says why."""
    async with living(tmp_path, Telling()) as home:
        stop = await home.hears("ana", "stop")
        record = await build_why_record(home.app.ledger, stop.id)
    assert isinstance(record, LineRecord)
    assert (record.state, record.candidates) == ("stopped", ())


class Counting:
    """A ledger that counts how many events are read from it."""

    def __init__(self, ledger: ReadableLedger) -> None:
        self._ledger, self.count = ledger, 0
        self.decide, self.subscribe, self.told = ledger.decide, ledger.subscribe, ledger.told

    async def read(self, stream: str, **how: object) -> list[Event]:
        """Count what comes back."""
        events = await self._ledger.read(stream, **how)  # type: ignore[arg-type]
        self.count += len(events)
        return events

    async def look(self, work: Callable[[Connection], T]) -> T:
        """Look into tables, which counts as nothing."""
        return await self._ledger.look(work)

    async def event(self, id: str) -> Event:
        """Count one."""
        self.count += 1
        return await self._ledger.event(id)

    async def append(self, stream: str, facts: Sequence[Fact], **how: object) -> tuple[Event, ...]:
        """Not for reading."""
        raise AssertionError

    async def heads(self, prefix: str = "") -> dict[str, int]:
        """Not needed."""
        raise AssertionError


async def test_an_early_line_costs_no_more_than_a_late_one(tmp_path: Path) -> None:
    """Records of a turn and of a line read few events, however long the room went on."""
    async with living(tmp_path, Telling()) as home:
        said = await ask(home, "ana", "@maya hello")
        heard = await last(home, Heard)
        await home.app.front.seen("commons", home.people["ana"], said.seq)
        facts = [
            home.app.stamp.fact(Heard(person="p", text=Words(f"Line {nth}.")), actor="person:p")
            for nth in range(5000)
        ]
        await home.app.ledger.append(STREAM, facts)
        for id in (said.id, heard.id):
            ledger = Counting(home.app.ledger)
            await build_why_record(ledger, id)
            assert ledger.count < 150, id


# ---------------------------------------------------------------- withholding


async def test_who_came_later_sees_later_turns_without_earlier_words(tmp_path: Path) -> None:
    """Earlier lines, own words of mates, and what repeats them, are withheld; the rest is there."""
    script = Telling(narrative=f"Ana told me: {SECRET.upper()}", note="Mind the blue flowerpot.")
    async with living(tmp_path, script) as home:
        first = await ask(home, "ana", f'@maya {SECRET} Say "xyzzy".')
        await come(home, "lea")
        later = await ask(home, "ana", "@maya and now?")
        record = await seen(home, later.id, "lea")
        everything = await turn(home, later.id)
        with pytest.raises(Unknown, match="There is no event"):
            await seen(home, first.id, "lea")
    assert isinstance(record, TurnRecord)
    text = whole(record)
    assert "flowerpot" not in text.casefold()
    assert "Answer number 1." not in text
    assert "xyzzy" not in text
    assert "[said before you came]" in text
    assert "what was said before you came into this room" in record.withheld
    assert "@maya and now?" in text
    assert "You are Maya." in text
    assert len(record.requests) == len(everything.requests)
    assert SECRET in whole(everything)


async def test_who_may_see_the_past_sees_all_of_it(tmp_path: Path) -> None:
    """With `past`, nothing is withheld, not even of turns before they came."""
    async with living(tmp_path, Telling()) as home:
        first = await ask(home, "ana", f"@maya {SECRET}")
        await come(home, "pat", past=True)
        later = await ask(home, "ana", "@maya and now?")
        for line in (first, later):
            record = await seen(home, line.id, "pat")
            assert SECRET in whole(record)
            assert record.withheld == ""


async def test_who_came_back_does_not_see_what_was_said_meanwhile(tmp_path: Path) -> None:
    """Of a turn after their return, what was said while they were away is withheld, no more."""
    async with living(tmp_path, Telling()) as home:
        await home.enter("ana")
        await come(home, "bo")
        before = await ask(home, "ana", "@maya is the kettle on?")
        await leave(home, "bo")
        away = await ask(home, "ana", f"@maya {SECRET}")
        await come(home, "bo")
        after = await ask(home, "ana", "@maya so?")
        record = await seen(home, after.id, "bo")
        with pytest.raises(Unknown):
            await seen(home, away.id, "bo")
        assert (await seen(home, before.id, "bo")).withheld == ""
    text = whole(record)
    assert "flowerpot" not in text
    assert "is the kettle on?" in text
    assert "[said while you were away]" in text
    assert "[said before you came]" not in text


async def test_of_a_turn_that_one_left_only_its_beginning_is_seen(tmp_path: Path) -> None:
    """Who went while a mate was thinking does not see what came of it."""
    async with living(tmp_path, Telling()) as home:
        await home.enter("ana")
        await come(home, "bo")
        said = await ask(home, "ana", "@maya hello")
        record = await turn(home, said.id)
        narrow = MemberSight(((await sight_of(home, "bo")).stays[0]._replace(until=record.seq),))
        seen_by = await build_redacted_record(home.app.ledger, record.turn, STREAM, narrow)
        with pytest.raises(Unknown):
            await build_redacted_record(home.app.ledger, said.id, STREAM, narrow)
    assert isinstance(seen_by, TurnRecord)
    assert (seen_by.deeds, seen_by.requests, seen_by.intent) == ((), (), None)
    assert "Answer number" not in whole(seen_by)


async def test_names_of_people_one_never_met_are_withheld(tmp_path: Path) -> None:
    """Who had gone before a reader came has no name in their records."""
    async with living(tmp_path, Telling(narrative="Wilhelmina had asked before.")) as home:
        await ask(home, "Wilhelmina", "@maya hello")
        await home.enter("ana")
        await leave(home, "Wilhelmina")
        await come(home, "lea")
        later = await ask(home, "ana", "@maya hello")
        record = await seen(home, later.id, "lea")
        mine = await seen(home, later.id, "ana")
    assert "Wilhelmina" not in whole(record)
    assert "ana" in whole(record)
    assert "Wilhelmina" in whole(mine)


async def test_another_room_does_not_exist_here(tmp_path: Path) -> None:
    """A record is found in its own room alone, whatever one may see there."""
    async with living(tmp_path, Telling()) as home:
        said = await ask(home, "ana", "@maya hello")
        for stream in ("room:elsewhere", "people"):
            with pytest.raises(Unknown, match="in this room"):
                await build_redacted_record(home.app.ledger, said.id, stream, EVERYTHING)
        with pytest.raises(Unknown, match="in this room"):
            await build_redacted_record(home.app.ledger, "nonsense", STREAM, EVERYTHING)


async def test_what_was_forgotten_is_forgotten_here_too(tmp_path: Path) -> None:
    """Erased words show as such in every part of a record, prompts included."""
    async with living(tmp_path, Telling()) as home:
        said = await ask(home, "ana", f"@maya {SECRET}")
        heard = await last(home, Heard)
        await home.app.ledger.erase(ErasureRequest(events=(heard.id,), by="owner"))
        record = await turn(home, said.id)
        own = await seen(home, said.id, "ana")
    for one in (record, own):
        assert "flowerpot" not in whole(one)
        assert "[forgotten]" in whole(one)
