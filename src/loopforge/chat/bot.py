"""The bot answers for mates: it begins a turn, or takes up a broken one, and concludes it.

A turn's plan, the guard's verdicts and what the acts come to are appended at once, with the end of
the turn; so after a crash a turn either has no plan yet (its exchange is replayed and goes on) or
is over. What tools it used is worked off beside it (runtime/effect_worker.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from loopforge.chat.room.permissions import tools_in_turn
from loopforge.chat.room.room_state import Due, OpenTurn, RoomState
from loopforge.chat.speaking.room_rules import Rules
from loopforge.chat.turns.apply_acts import ActsOutcome, carry_out, filtered, safe_plan
from loopforge.chat.turns.build_perception import Viewer, route_of
from loopforge.core.act_guard import Rights, judge
from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.context_window import ContextEntry
from loopforge.core.events import Body, Event, Fact, Perceived, TurnEnded
from loopforge.core.mates.mate_file import Mate
from loopforge.core.model_trouble import for_everybody, worst
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Policy
from loopforge.core.room_vocabulary import Noted, TurnDropped
from loopforge.core.text.egress_filter import Egress
from loopforge.core.text.erasable_text import Words
from loopforge.runtime.exchange_replay import ReplaySaid as RecordedExchange
from loopforge.runtime.exchange_replay import exchange_of
from loopforge.runtime.ports import Rested, Thinking, Withdrawn
from loopforge.runtime.turn_driver import Ports, Turn, TurnEnding, TurnSeat
from loopforge.runtime.turn_record import perception_of, shown_of

SCRIBE = "room"
"""The handle under which the room itself thinks (it names conversations)."""

TROUBLE = {
    "failed": "no model could be reached",
    "timed_out": "the model took too long",
    "malformed": "the model's answer made no sense",
    "refused": "the model would not answer",
}


UNREACHED = ("failed", "timed_out")
"""Troubles of a turn that mean that no model could be reached."""

News = Callable[[], tuple[Line, ...]]
After = Callable[[bool], Sequence[Fact]]
"""What goes with the end of a turn, by whether a model was reached."""


def _nothing(_reached: bool) -> Sequence[Fact]:
    return ()


@dataclass
class RunningTurns:
    """A turn that is under way in a room."""

    stream: str
    mate: Mate
    due: Due
    id: str
    turn: Turn
    policy: Policy
    perception: AgentPerception
    egress: Egress
    record: tuple[RecordedExchange, ...] = ()
    title: str = ""
    """What a title falls back to."""


@dataclass(frozen=True)
class Concluded:
    """How it ended, for the room: whether it spoke, and what people should be told."""

    spoke: bool = False
    trouble: str = ""


class Bot:
    """Takes turns for mates. `policies` are minds by name, each with its version.

    `secrets` are what no mate says, as they are known when a turn begins.
    """

    def __init__(
        self,
        ports: Ports,
        viewer: Viewer,
        policies: Mapping[str, tuple[Policy, str]],
        rules: Rules,
        secrets: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        self._ports, self._viewer, self._policies = ports, viewer, policies
        self._rules, self._secrets = rules, secrets

    # ------------------------------------------------------------ beginning

    async def begin(
        self,
        stream: str,
        state: RoomState,
        mate: Mate,
        due: Due,
        policy: str,
        news: News,
        entries: list[ContextEntry] | None = None,
    ) -> RunningTurns:
        """A new turn: look, and be ready to think. Nothing is written until the first request."""
        mind, version = self._policies[policy]
        view = await self._viewer.view(state, mate, due, entries)
        id = self._ports.stamp.id()
        place = (stream, mate.handle)
        perceived = Perceived(
            mate=mate.handle,
            policy=version,
            mind=mate.hash,
            line=due.line,
            summons=due.summons,
            step=due.step,
            shown=shown_of(view.perception),
            lines=self._ports.recorder.lines(place, id, view.perception.local_events),
            character=self._ports.recorder.character(place, mate.prompt),
            edits=view.edits,
            tokens=view.tokens,
        )
        actor, now = f"mate:{mate.handle}", self._ports.stamp.clock.now()
        opening = [Fact(id=id, at=now, actor=actor, body=perceived, cause=due.line)]
        if view.purged is not None:
            opening.insert(0, self._fact(view.purged, actor="room", cause=due.line))
        return self._running(state, mate, due, id, mind, view.perception, news, opening)

    async def take_up(
        self,
        state: RoomState,
        mate: Mate,
        due: Due,
        events: Sequence[Event],
        news: News,
    ) -> RunningTurns | None:
        """A turn that was broken off, read back; None when it cannot be (its texts were erased)."""
        began = events[0]
        assert isinstance(began.body, Perceived)
        perception = await perception_of(self._ports.ledger, began)
        found = self._by_version(began.body.policy)
        if perception is None or found is None:
            return None
        running = self._running(state, mate, due, began.id, found, perception, news, ())
        running.record = await exchange_of(self._ports.ledger, events)
        return running

    def _running(
        self,
        state: RoomState,
        mate: Mate,
        due: Due,
        id: str,
        policy: Policy,
        perception: AgentPerception,
        news: News,
        opening: Sequence[Fact],
    ) -> RunningTurns:
        egress = Egress(secrets=self._secrets(), name=mate.name, length=self._rules.say_limit)
        offered = frozenset(tool.name for tool in perception.offered)

        def granted() -> frozenset[str]:
            return offered & tools_in_turn(state, due.lines, self._ports.tools.known())

        stream = state.stream
        seat = TurnSeat(
            stream,
            mate.handle,
            id,
            route_of(mate),
            granted,
            egress.feed,
            news,
            longest=self._rules.say_limit,
        )
        turn = Turn(self._ports, seat, opening)
        return RunningTurns(stream, mate, due, id, turn, policy, perception, egress)

    def _by_version(self, version: str) -> Policy | None:
        """The policy of that name, whatever version it has now: replay finds out if it differs."""
        name = version.partition("/")[0]
        return self._policies[name][0] if name in self._policies else None

    async def run(self, running: RunningTurns) -> TurnEnding:
        """Think."""
        signals = self._ports.signals
        signals.publish(running.stream, Thinking(turn=running.id, mate=running.mate.handle))
        return await running.turn.run(running.policy, running.perception, running.record)

    # ------------------------------------------------------------ concluding

    async def conclude(
        self,
        running: RunningTurns,
        ended: TurnEnding,
        rights: Rights,
        places: Iterable[str] = (),
        after: After = _nothing,
    ) -> Concluded:
        """Judge the plan, carry out what is allowed, end the turn; all in one append.

        `places` are those of platforms that are part of the room; `after` gives what else is true
        with the end of the turn.
        """
        if ended.plan is not None:
            return await self._conclude_plan(running, ended, ended.plan, rights, places, after)
        facts = list(ended.facts)
        if ended.outcome == "diverged" and ended.effects:
            note = "My last turn broke off half way; what I did then may or may not have happened."
            facts.append(
                self._mine(
                    running, Noted(turn=running.id, mate=running.mate.handle, text=Words(note))
                )
            )
        outcome = ended.outcome if ended.outcome != "planned" else "done"
        facts.append(
            self._mine(running, TurnEnded(turn=running.id, outcome=outcome, why=Words(ended.why)))
        )
        self._withdraw(running, ended.why or ended.outcome)
        await self._ports.ledger.append(running.stream, facts)
        self._rest(running)
        if ended.outcome == "failed":
            return Concluded(trouble="its policy failed")
        return Concluded()

    async def _conclude_plan(
        self,
        running: RunningTurns,
        ended: TurnEnding,
        plan: AgentActionPlan,
        rights: Rights,
        places: Iterable[str],
        after: After,
    ) -> Concluded:
        plan, taken = safe_plan(plan, running.egress, running.title)
        verdicts = filtered(judge(plan, rights), taken)
        done = carry_out(
            plan,
            verdicts,
            stamp=self._ports.stamp,
            turn=running.id,
            mate=running.mate.handle,
            surfaces=(*self._rules.surfaces, *places),
        )
        facts = [*ended.facts, *done.facts]
        answered = done.spoke or done.again
        reached = answered or str(plan.meta.get("trouble", "")) not in UNREACHED
        body = TurnEnded(turn=running.id, outcome="done", took_in=ended.took_in)
        facts.append(self._mine(running, body))
        relief = after(reached)
        if not done.spoke:
            refused = next((v.why for v in verdicts if v.act == "say" and not v.allowed), "")
            self._withdraw(running, refused or "it decided to say nothing")
        await self._ports.ledger.append(running.stream, [*facts, *relief])
        self._rest(running)
        relieved = relief and not reached
        trouble = "" if relieved else self._trouble(plan, done, verdicts, running)
        return Concluded(spoke=done.spoke, trouble=trouble)

    def _trouble(
        self,
        plan: AgentActionPlan,
        done: ActsOutcome,
        verdicts: Sequence[object],
        running: RunningTurns,
    ) -> str:
        """Why an addressed mate gave no answer, in plain words; "" when there is nothing to say."""
        if done.spoke or done.again:
            return ""
        named = str(plan.meta.get("trouble", ""))
        if named in UNREACHED and (cause := worst(one[1] for one in running.turn.troubles)):
            return for_everybody(cause)
        if named:
            return TROUBLE.get(named, "")
        refused = [v for v in verdicts if getattr(v, "act", "") == "say"]
        return str(getattr(refused[0], "why", "")) if refused else ""

    async def abandon(self, turn: OpenTurn, stream: str, why: str) -> None:
        """End a turn that cannot be taken up; unless it was stopped, its mate is due anew."""
        outcome: Literal["stopped", "diverged"] = "stopped" if turn.halted else "diverged"
        body = TurnEnded(turn=turn.id, outcome=outcome, why=Words(why))
        fact = self._fact(body, actor=f"mate:{turn.mate}", cause=turn.id)
        await self._ports.ledger.append(stream, [fact])
        if turn.halted:
            self._ports.effects.stop(stream, why, turn.id)

    # ------------------------------------------------------------ small things

    def dropped(self, due: Due, why: str) -> Fact:
        """The fact that a mate which was to take a turn does not."""
        body = TurnDropped(mate=due.mate, line=due.line, why=why)
        return self._fact(body, actor="room", cause=due.line)

    def _withdraw(self, running: RunningTurns, why: str) -> None:
        gone = Withdrawn(turn=running.id, mate=running.mate.handle, why=why)
        self._ports.signals.publish(running.stream, gone)

    def _rest(self, running: RunningTurns) -> None:
        rested = Rested(turn=running.id, mate=running.mate.handle)
        self._ports.signals.publish(running.stream, rested)

    def _mine(self, running: RunningTurns, body: Body) -> Fact:
        return self._fact(body, actor=f"mate:{running.mate.handle}", cause=running.id)

    def _fact(self, body: Body, *, actor: str, cause: str = "") -> Fact:
        return self._ports.stamp.fact(body, actor=actor, cause=cause)
