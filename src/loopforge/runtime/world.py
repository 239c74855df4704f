"""Worlds: kinds of streams that minds act in, and the one way in which all their turns go.

    lane wakes -> fold -> due -> perceive -> the mind (turn_driver.py) -> judge -> apply -> fold ...

A world says what is true in its streams, what is due there, what a mind is shown, what of its plan
may happen, and what that comes to. What is the same in all of them stands here: what is written
down of a turn, how it is halted, taken up where it was broken off, and ended, in one append. So
after a crash a turn has either no plan yet (its exchange is replayed and goes on) or is over.

A new kind of stream is one more world, given to `Worlds` in app.py; no other one is edited.
Knows none of them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from msgspec.structs import replace

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.egress.egress_filter import EgressFilter
from loopforge.core.events import Fact
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.limits.turn_bounds import (
    MOST_REQUESTS,
    UNBOUND,
    UNSPENT,
    TurnBounds,
    TurnSpending,
)
from loopforge.core.mates.mate_file import Mate
from loopforge.core.model_trouble import Delay, Trouble
from loopforge.core.perception import AgentPerception, Edit, Line
from loopforge.core.policy import Call, Policy
from loopforge.core.room_vocabulary import File
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Judged, Perceived, Recollection, TurnEnded, Verdict
from loopforge.runtime.exchange_replay import ReplaySaid, exchange_of
from loopforge.runtime.ports import (
    CallPermission,
    Lanes,
    Rested,
    Route,
    Thinking,
    Timers,
    Withdrawn,
)
from loopforge.runtime.turn_driver import Turn, TurnEnding, TurnPorts, TurnSeat
from loopforge.runtime.turn_meter import spent_when_resumed
from loopforge.runtime.turn_record import perception_of, shown_of
from loopforge.runtime.typing_pace import wait_for_typing

ERASED = "what it rested on is gone"
OVERTAKEN = "somebody came in who may not know what was recalled for it"
"""Why a turn is halted that is not stopped: it ends as one that diverged, and is due anew."""
WARM = 0.8
"""The least temperature by which a line is said anew; a small model is asked without any else."""
FOLDED_AT_ONCE = 2
"""Streams that are read at once for their lanes: at a start all are due, and people wait, too."""
EXCHANGE = ("effect.proposed", "turn.asked", "turn.answered", "turn.called", "turn.returned")
"""What taking a turn up after a crash needs of it."""


@dataclass(frozen=True, kw_only=True)
class TurnDue:
    """A turn that a mate is to take now as a policy, called by an event; `step` counts from 0.

    It says at most `longest` characters (0: any); `anew` is the line that it says once more. `open`
    is the id of one that has begun and was broken off; `over` says why that is not to be taken up,
    `halted` that a person had it halted.
    """

    mate: Mate
    policy: str
    line: str
    summons: str
    step: int = 0
    longest: int = 0
    anew: str = ""
    open: str = ""
    over: str = ""
    halted: bool = False


@dataclass(frozen=True, kw_only=True)
class OpeningView:
    """What a mind is shown, how that departs from the truth, how long it is in tokens.

    `before` is what has to be written down ahead of it; `upto`, `recalled`, `also` as in Perceived.
    """

    perception: AgentPerception
    edits: tuple[Edit, ...] = ()
    tokens: int = 0
    upto: int = 0
    before: Sequence[Fact] = ()
    recalled: tuple[Recollection, ...] = ()
    also: tuple[str, ...] = ()


def _tell_nobody(_model: str, _others: str, _how: Delay) -> None:
    """Nobody waits."""


@dataclass(frozen=True, kw_only=True)
class TurnSenses:
    """What reaches a mind while it takes its turn.

    Lines that came in since it was last asked; whether a call may run; `slow` is
    told of a model that lets one wait; `asking` gives what people are told of a call that asks
    first. `bounds` are those of this turn, which stands `depth` deep in what a person's line set
    off. `charge` says for whom it is paid. `pace` is how many characters a second it types: it
    lets people wait for its line as long (0: not at all).
    """

    news: Callable[[], tuple[Line, ...]] = tuple
    permit: Callable[[Call], CallPermission] = lambda _call: CallPermission()
    slow: Callable[[str, str, Delay], None] = _tell_nobody
    asking: Callable[[Call, str], Sequence[Fact]] = lambda _call, _effect: ()
    bounds: TurnBounds = UNBOUND
    depth: int = 1
    charge: Charge | None = None
    pace: float = 0


@dataclass(frozen=True, kw_only=True)
class AppliedTurn:
    """What a turn comes to: facts before its end, and what gives those after it.

    `withdrawn` says why what it showed so far is taken back; "" where it stands.
    """

    facts: Sequence[Fact] = ()
    after: Callable[[], Sequence[Fact]] = tuple
    withdrawn: str = ""


S = TypeVar("S")
D = TypeVar("D", bound=TurnDue)


@dataclass(frozen=True, kw_only=True)
class TakenTurn(Generic[D]):
    """A turn that is under way; `troubles` are the models that did not answer so far.

    `attached` are the kept files that its plan names, by their handles there; or why one stays.
    """

    id: str
    due: D
    perception: AgentPerception
    egress: EgressFilter
    troubles: list[Trouble] = field(default_factory=list)
    attached: dict[str, File | str] = field(default_factory=dict)


@dataclass(eq=False)
class _UnderWay:
    """A turn: when what its mind is shown is on record, and when it is over."""

    recorded: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)


class _Begun(NamedTuple):
    """What a turn is thought with, and what is to be written down, or is already, of it."""

    policy: Policy
    perception: AgentPerception
    opening: Sequence[Fact]
    record: tuple[ReplaySaid, ...] = ()
    spent: TurnSpending = UNSPENT


class Chores(Protocol[S]):
    """One kind of stream, those whose name begins with `prefix`, in which no mind takes turns.

    `waking` are the kinds of event that may make something due.
    """

    prefix: str
    waking: Collection[str]

    async def fold(self, stream: str) -> S:
        """What is true in this stream now."""

    async def due(self, state: S) -> Sequence[Fact] | datetime | None:
        """What is to be done next: facts to append; a moment to come back at; nothing."""


class World(Protocol[S, D]):
    """One kind of stream, as in `Chores`, in which minds take turns."""

    prefix: str
    waking: Collection[str]

    async def fold(self, stream: str) -> S:
        """What is true in this stream now."""

    async def due(self, state: S) -> D | Sequence[Fact] | datetime | None:
        """What is to be done next; it may be a turn."""

    async def perceive(self, state: S, due: D) -> OpeningView:
        """What the mind is shown at the beginning of its turn. Nothing is written yet."""

    def senses(self, state: S, turn: TakenTurn[D]) -> TurnSenses:
        """What reaches it after that."""

    async def judge(
        self, state: S, turn: TakenTurn[D], plan: AgentActionPlan
    ) -> tuple[AgentActionPlan, tuple[Verdict, ...]]:
        """The plan made fit to be seen, and for each of its acts whether it may happen."""

    def apply(
        self, state: S, turn: TakenTurn[D], ended: TurnEnding, verdicts: Sequence[Verdict]
    ) -> AppliedTurn:
        """What the turn comes to; of one without a plan, too."""


class Worlds:
    """Does what is due in any stream. `policies` are minds by name, each with its version.

    `secrets` are what no mate says, as they are known when a turn begins.
    """

    def __init__(
        self,
        ports: TurnPorts,
        timers: Timers,
        policies: Mapping[str, tuple[Policy, str]],
        worlds: Iterable[World[Any, Any] | Chores[Any]],
        secrets: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        self._ports, self.timers, self.policies = ports, timers, policies
        self._worlds, self.secrets = tuple(worlds), secrets
        self._under_way: dict[str, _UnderWay] = {}
        self._folding = asyncio.Semaphore(FOLDED_AT_ONCE)
        ports.ledger.subscribe(self._note_recorded, kinds=["turn.perceived"])

    async def work(self, stream: str) -> None:
        """Do everything that is due in this stream; what its lane runs when it is woken."""
        world: Any = next(each for each in self._worlds if stream.startswith(each.prefix))
        while True:
            async with self._folding:
                state = await world.fold(stream)
            match await world.due(state):
                case TurnDue() as due:
                    turn = self._under_way[stream] = _UnderWay()
                    if due.open:
                        turn.recorded.set()
                    try:
                        await self._take_turn(world, stream, state, due)
                    finally:
                        del self._under_way[stream]
                        turn.recorded.set()
                        turn.over.set()
                case datetime() as when:
                    return self.timers.at(stream, when)
                case None:
                    return self.timers.cancel(stream)
                case facts:
                    if facts:
                        await self._ports.ledger.append(stream, facts)

    def follow(self, lanes: Lanes) -> None:
        """Wake a stream's lane whenever something happened there that may make something due."""
        for world in self._worlds:
            self._ports.ledger.subscribe(
                lambda stream, _: lanes.wake(stream), streams=world.prefix, kinds=world.waking
            )

    async def wake_all(self, lanes: Lanes) -> None:
        """Look into every stream once: what was begun and not ended goes on now."""
        for world in self._worlds:
            for stream in await self._ports.ledger.heads(world.prefix):
                lanes.wake(stream)

    def wake_waiting(self, lanes: Lanes) -> None:
        """Look into every stream that waits for a moment, which may be another one now."""
        for stream in self.timers.waiting():
            lanes.wake(stream)

    def _note_recorded(self, stream: str, _: object) -> None:
        if turn := self._under_way.get(stream):
            turn.recorded.set()

    async def rested(self, concerned: Callable[[], Awaitable[Collection[str]]]) -> None:
        """Until all turns are over and written down that are under way in the streams concerned.

        These are asked for once what every mind is shown now is on record.
        """
        while under_way := [*self._under_way.values()]:
            for turn in under_way:
                await turn.recorded.wait()
            streams = await concerned()
            busy = [turn for stream, turn in self._under_way.items() if stream in streams]
            if not busy:
                return
            for turn in busy:
                await turn.over.wait()

    # ------------------------------------------------------------ one turn

    async def _take_turn(self, world: World[S, D], stream: str, state: S, due: D) -> None:
        """Take a turn from its beginning, or from where it was broken off, to its end."""
        ports, handle = self._ports, due.mate.handle
        id, halted = due.open or ports.stamp.id(), ""
        thinking: Turn | None = None
        hurry, since = asyncio.Event(), ports.stamp.clock.ticks()

        def halt(why: str) -> None:
            nonlocal halted
            hurry.set()
            if halted and why == OVERTAKEN:
                return
            halted = why
            if thinking is not None:
                thinking.stop(why, anew=why == OVERTAKEN)

        over = ports.signals.on_halt(stream, halt, id, handle)
        try:
            begun = await self._begin_turn(world, stream, state, due, id)
            if begun is None:
                return await self._abandon_turn(stream, due)
            if due.open:
                ports.effects.go_on(id)
            egress = EgressFilter(secrets=self.secrets(), name=due.mate.name, length=due.longest)
            turn = TakenTurn(id=id, due=due, perception=begun.perception, egress=egress)
            senses = world.senses(state, turn)
            thinking = self._start_thinking(stream, turn, senses, begun)
            if halted:
                thinking.stop(halted, anew=halted == OVERTAKEN)
            ports.signals.publish(stream, Thinking(turn=id, mate=handle))
            ended = await thinking.run(begun.policy, begun.perception, begun.record)
            await wait_for_typing(
                ports.tasks, ports.stamp.clock, ended.plan, senses.pace, since, hurry
            )
            await self._conclude(world, stream, state, turn, ended, lambda: halted)
        except BaseException:  # what was not written down is no ground for what follows
            ports.recorder.forget((stream, handle))
            raise
        finally:
            over()

    async def _begin_turn(
        self, world: World[S, D], stream: str, state: S, due: D, id: str
    ) -> _Begun | None:
        """What it thinks with; None where a turn that was broken off is not taken up."""
        if due.open:
            return None if due.over else await self._read_back(stream, due.open)
        policy, version = self.policies[due.policy]
        seen, recorder = await world.perceive(state, due), self._ports.recorder
        mate, place = due.mate, (stream, due.mate.handle)
        perceived = Perceived(
            mate=mate.handle,
            policy=version,
            mind=mate.hash,
            line=due.line,
            summons=due.summons,
            step=due.step,
            shown=shown_of(seen.perception),
            lines=recorder.lines(place, id, seen.perception.local_events),
            character=recorder.character(place, mate.prompt),
            edits=seen.edits,
            tokens=seen.tokens,
            upto=seen.upto,
            recalled=seen.recalled,
            also=seen.also,
        )
        now, actor = self._ports.stamp.clock.now(), f"mate:{mate.handle}"
        fact = Fact(id=id, at=now, actor=actor, body=perceived, cause=due.line)
        return _Begun(policy, seen.perception, (*seen.before, fact))

    async def _read_back(self, stream: str, id: str) -> _Begun | None:
        """A turn that was broken off; None where what it was shown was erased."""
        ledger = self._ports.ledger
        began = await ledger.event(id)
        assert isinstance(began.body, Perceived)
        perception = await perception_of(ledger, began)
        # whatever version it has now: replay finds out if it differs
        policy, _ = self.policies.get(began.body.policy.partition("/")[0], (None, ""))
        if perception is None or policy is None:
            return None
        after = await ledger.read(stream, after=began.seq, kinds=EXCHANGE)
        own = [event for event in after if getattr(event.body, "turn", "") == id]
        spent = spent_when_resumed(began, own)
        return _Begun(policy, perception, (), await exchange_of(ledger, own), spent)

    def _route_of(self, mate: Mate, *, anew: bool) -> Route:
        """By which models it is asked; for another answer than before never without any chance."""
        route = Route.of(mate)
        heat = route.temperature
        fixed = self._ports.models.facts(route).small if heat is None else heat < WARM
        return replace(route, temperature=WARM) if anew and fixed else route

    def _start_thinking(
        self, stream: str, turn: TakenTurn[D], senses: TurnSenses, begun: _Begun
    ) -> Turn:
        mate = turn.due.mate
        seat = TurnSeat(
            stream,
            mate.handle,
            turn.id,
            self._route_of(mate, anew=bool(turn.due.anew)),
            senses.permit,
            turn.egress.feed,
            senses.news,
            slow=senses.slow,
            asking=senses.asking,
            troubles=turn.troubles,
            longest=turn.due.longest,
            most=MOST_REQUESTS + 2 * (senses.bounds.calls or 0),
            bounds=senses.bounds,
            spent=replace(begun.spent, depth=senses.depth),
            charge=senses.charge,
            anew=turn.due.anew,
            whole=senses.pace > 0,
        )
        return Turn(self._ports, seat, begun.opening)

    # ------------------------------------------------------------ its end

    async def _conclude(
        self,
        world: World[S, D],
        stream: str,
        state: S,
        turn: TakenTurn[D],
        ended: TurnEnding,
        halted: Callable[[], str],
    ) -> None:
        """Judge the plan, apply what is allowed, end the turn; all in one append.

        Decided on the stream as it stands: where somebody wrote meanwhile, this program or another,
        it is judged anew, for a stop may be among it, or that somebody came in.
        """
        ledger, signals = self._ports.ledger, self._ports.signals
        known = await ledger.told(stream)
        facts, gone = await self._concluding_facts(world, state, turn, ended, halted)

        async def attempt(seq: int) -> None:
            nonlocal known, facts, gone
            if seq != known:
                known = seq
                facts, gone = await self._concluding_facts(world, state, turn, ended, halted)
            if gone:
                signals.publish(
                    stream, Withdrawn(turn=turn.id, mate=turn.due.mate.handle, why=gone)
                )
            await ledger.append(stream, facts, expect=seq)

        await ledger.decide(stream, partial(ledger.told, stream), attempt)
        signals.publish(stream, Rested(turn=turn.id, mate=turn.due.mate.handle))

    async def _concluding_facts(
        self,
        world: World[S, D],
        state: S,
        turn: TakenTurn[D],
        ended: TurnEnding,
        halted: Callable[[], str],
    ) -> tuple[list[Fact], str]:
        """What a turn comes to, to its end; and why what it showed is taken back, "" where not."""
        ended = copy(ended)
        if ended.plan is not None and halted() not in ("", OVERTAKEN):
            ended.plan, ended.outcome, ended.why = None, "stopped", halted()
        facts, handle = list(ended.facts), turn.due.mate.handle
        verdicts: tuple[Verdict, ...] = ()
        body = TurnEnded(turn=turn.id, outcome="done", took_in=ended.took_in)
        if ended.plan is not None:
            ended.plan, verdicts = await world.judge(state, turn, ended.plan)
        if ended.plan is not None and halted() == OVERTAKEN:
            ended.plan, ended.outcome, ended.why, verdicts = None, "diverged", OVERTAKEN, ()
        if ended.plan is not None:
            judged = Judged(turn=turn.id, verdicts=verdicts)
            facts.append(self._ports.stamp.fact(judged, actor="runtime", cause=turn.id))
        elif ended.outcome != "planned":
            body = TurnEnded(turn=turn.id, outcome=ended.outcome, why=Words(ended.why))
        applied = world.apply(state, turn, ended, verdicts)
        end = self._ports.stamp.fact(body, actor=f"mate:{handle}", cause=turn.id)
        return [*facts, *applied.facts, end, *applied.after()], applied.withdrawn

    async def _abandon_turn(self, stream: str, due: TurnDue) -> None:
        """End a turn that is not taken up; unless it was halted, its mate is due anew."""
        outcome: Literal["stopped", "diverged"] = "stopped" if due.halted else "diverged"
        why = due.over or ERASED
        body = TurnEnded(turn=due.open, outcome=outcome, why=Words(why))
        fact = self._ports.stamp.fact(body, actor=f"mate:{due.mate.handle}", cause=due.open)
        await self._ports.ledger.append(stream, [fact])
        if due.halted:
            self._ports.effects.stop(stream, why, due.open)
        self._ports.effects.go_on(due.open)
