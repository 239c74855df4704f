"""A small world, added without an edit elsewhere: mates vote on what a person asks.

Its turns go as a room's do: recorded, judged, halted, taken up after a crash, ended in one append.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import pytest
from msgspec import Struct

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.events import Event, Fact
from loopforge.core.mates.mate_file import Mate
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Thinking, ask
from loopforge.core.room_vocabulary import Heard, Said, Say, Told
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Judged, Perceived, TurnEnded, Verdict
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.local.stream_lanes import LocalLanes, LocalTimers
from loopforge.runtime.ports import Question
from loopforge.runtime.turn_driver import TurnEnding
from loopforge.runtime.world import (
    FOLDED_AT_ONCE,
    AppliedTurn,
    OpeningView,
    TakenTurn,
    TurnDue,
    TurnSenses,
    Worlds,
)
from tests.playbook import heard, shown
from tests.runtime.conftest import Stage

STREAM = "vote:lunch"
MATES = tuple(
    Mate(name=handle.title(), handle=handle, role="voter", prompt="", hash="0" * 16)
    for handle in ("maya", "otto", "vera")
)
COUNTED = timedelta(minutes=1)


class Votes(Struct):
    """What is true in a vote. `open` are turns that have begun and not ended, by id."""

    stream: str
    question: Event | None = None
    open: dict[str, str] = {}
    votes: dict[str, str] = {}
    asked: list[str] = []
    last: datetime | None = None
    counted: bool = False

    def apply(self, event: Event) -> None:
        """Take in one event of a vote."""
        self.last = event.at
        match event.body:
            case Heard():
                self.question = event
            case Perceived(mate=mate):
                self.open[event.id] = mate
            case Said(mate=mate, text=text):
                self.votes[mate] = str(text)
            case TurnEnded(turn=turn):
                self.asked.append(self.open.pop(turn))
            case Told():
                self.counted = True
            case _:
                pass


class Vote:
    """Votes, as a `World`: everybody is asked once; a minute after the last it is counted."""

    prefix = "vote:"
    waking: Collection[str] = ("room.heard",)

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.read, self.reading, self.at_once = 0, 0, 0

    async def fold(self, stream: str) -> Votes:
        """All of it, each time."""
        votes = Votes(stream=stream)
        self.reading += 1
        self.at_once = max(self.at_once, self.reading)
        for event in await self._stage.ledger.read(stream):
            votes.apply(event)
        self.read, self.reading = self.read + 1, self.reading - 1
        return votes

    async def due(self, state: Votes) -> TurnDue | Sequence[Fact] | datetime | None:
        """Whoever was broken off, whoever was not asked yet, the count."""
        if state.question is None or state.counted or state.last is None:
            return None
        open = {mate: id for id, mate in state.open.items()}
        for mate in sorted(MATES, key=lambda mate: mate.handle not in open):
            if mate.handle not in state.asked:
                return TurnDue(
                    mate=mate,
                    policy="voter",
                    line=state.question.id,
                    summons="vote",
                    open=open.get(mate.handle, ""),
                )
        if self._stage.clock.now() < state.last + COUNTED:
            return state.last + COUNTED
        yes = list(state.votes.values()).count("yes")
        told = Told(text=Words(f"{yes} of {len(state.votes)} say yes"))
        return [self._stage.stamp.fact(told, actor="runtime")]

    async def perceive(self, state: Votes, due: TurnDue) -> OpeningView:
        """The question, and nobody's vote."""
        assert state.question is not None
        assert isinstance(state.question.body, Heard)
        seen = shown(heard("ana", str(state.question.body.text)), handle=due.mate.handle)
        return OpeningView(perception=seen)

    def senses(self, state: Votes, turn: TakenTurn[TurnDue]) -> TurnSenses:
        """Nothing reaches who votes."""
        return TurnSenses()

    async def judge(
        self, state: Votes, turn: TakenTurn[TurnDue], plan: AgentActionPlan
    ) -> tuple[AgentActionPlan, tuple[Verdict, ...]]:
        """A vote is yes or no."""
        fine = [isinstance(act, Say) and act.text in ("yes", "no") for act in plan.acts]
        why = {True: "", False: "say yes or no"}
        return plan, tuple(Verdict(act="say", allowed=each, why=why[each]) for each in fine)

    def apply(
        self,
        state: Votes,
        turn: TakenTurn[TurnDue],
        ended: TurnEnding,
        verdicts: Sequence[Verdict],
    ) -> AppliedTurn:
        """What was allowed is said."""
        mate, acts = turn.due.mate.handle, ended.plan.acts if ended.plan else ()
        said = [
            self._stage.stamp.fact(
                Said(turn=turn.id, mate=mate, text=Words(act.text), mode="context"),
                actor=f"mate:{mate}",
            )
            for act, verdict in zip(acts, verdicts, strict=True)
            if verdict.allowed and isinstance(act, Say)
        ]
        return AppliedTurn(facts=said, withdrawn="" if said else ended.why or "no vote")


def voter(seen: AgentPerception) -> Thinking:
    """Ask a model what it thinks, and say that."""
    (line,) = seen.local_events
    assert isinstance(line, Line)
    answer = yield from ask(f"{seen.context['handle']}: {line.text}")
    return AgentActionPlan(intent="talk", mode="context", acts=(Say(text=answer.text),))


@asynccontextmanager
async def voting(stage: Stage, world: Vote | None = None) -> AsyncIterator[LocalLanes[str]]:
    """A process that runs votes."""
    timers = LocalTimers(lambda stream: lanes.wake(stream), stage.clock)
    worlds = Worlds(stage.ports, timers, {"voter": (voter, "voter/1")}, [world or Vote(stage)])
    lanes = LocalLanes(worlds.work, stage.clock)
    worlds.follow(lanes)
    await worlds.wake_all(lanes)
    yield lanes
    await timers.close()
    await lanes.close()


async def question(stage: Stage) -> None:
    """Ana asks."""
    body = Heard(person="ana", text=Words("Soup?"), surface="terminal")
    await stage.ledger.append(STREAM, [stage.stamp.fact(body, actor="person:ana")])


async def became(stage: Stage) -> list[str]:
    """What happened, in order: who was asked, what was said, how turns ended, what was told."""
    found = []
    for event in await stage.ledger.read(STREAM):
        match event.body:
            case Perceived(mate=mate):
                found.append(f"{mate} begins")
            case Said(mate=mate, text=text):
                found.append(f"{mate}: {text}")
            case TurnEnded(outcome=outcome, why=why):
                found.append(f"{outcome} {why}".strip())
            case Told(text=text):
                found.append(str(text))
            case Judged(verdicts=verdicts):
                found += [verdict.why for verdict in verdicts if not verdict.allowed]
            case _:
                pass
    return found


def by_name(asked: Question) -> str:
    """Maya is for it, otto against, vera does not know."""
    text = asked.messages[-1][1]
    return {"maya": "yes", "otto": "no", "vera": "perhaps"}[text.partition(":")[0]]


async def test_another_kind_of_stream_runs_like_a_room(stage: Stage) -> None:
    """Each mate is shown the question, asked and judged; the count waits for its time."""
    stage.script(by_name)
    async with voting(stage) as lanes:
        await question(stage)
        await stage.clock.until(stage.tasks.spawn(lanes.settled(STREAM), "settled"))
        turns = ["maya begins", "maya: yes", "done", "otto begins", "otto: no", "done"]
        turns += ["vera begins", "say yes or no", "done"]
        assert await became(stage) == turns
        await stage.clock.advance(59)
        assert await became(stage) == turns
        await stage.clock.advance(2)
        assert await became(stage) == [*turns, "1 of 2 say yes"]
    assert (await stage.ledger.verify()).sound


class FullOnce(Vote):
    """A vote in which somebody's turn cannot begin at first: nothing can be opened."""

    tried = 0

    def senses(self, state: Votes, turn: TakenTurn[TurnDue]) -> TurnSenses:
        """Fail the first time."""
        self.tried += 1
        if self.tried == 1:
            raise OSError("too many open files")
        return super().senses(state, turn)


async def test_a_turn_that_could_not_begin_is_no_ground_for_the_next(stage: Stage) -> None:
    """What a mate is shown then rests on nothing that was never written down."""
    stage.script(by_name)
    async with voting(stage, FullOnce(stage)):
        await question(stage)
        await stage.clock.advance(70)
    events = await stage.ledger.read(STREAM)
    ids = {event.id for event in events}
    shown = [event.body for event in events if isinstance(event.body, Perceived)]
    assert len(shown) == 3
    assert all(each.lines.base in ids | {""} for each in shown)


@pytest.mark.parametrize("name", ["", "maya"])
async def test_what_is_halted_ends_at_once(stage: Stage, name: str) -> None:
    """By stream or by name; the turn is over with its reason, and the others have theirs."""
    stage.script(lambda asked: ScriptedAnswer(text="yes", wait=30 * ("maya" in str(asked))))
    async with voting(stage):
        await question(stage)
        await stage.clock.advance(5)
        stage.signals.halt(STREAM, "that is enough", "otto")
        await stage.clock.advance(1)
        assert await became(stage) == ["maya begins"]
        stage.signals.halt(STREAM, "that is enough", name)
        await stage.clock.advance(70)
    assert (await became(stage))[:2] == ["maya begins", "stopped that is enough"]
    assert (await became(stage))[-1] == "2 of 2 say yes"


async def test_at_a_start_streams_are_read_a_few_at_a_time(stage: Stage) -> None:
    """Of fifty that may have something to do two are read at once: what people ask for is between."""
    for nth in range(50):
        body = Told(text=Words("all is said"))
        await stage.ledger.append(f"vote:{nth}", [stage.stamp.fact(body, actor="runtime")])
    world = Vote(stage)
    async with voting(stage, world) as lanes:
        for nth in range(50):
            await lanes.settled(f"vote:{nth}")
    assert (world.read, world.at_once) == (50, FOLDED_AT_ONCE)
