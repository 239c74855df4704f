"""Effects: every use of a tool, from its proposal to its end, worked off outside the lanes.

Each one is a lane of its own: it waits for nobody, and nobody waits for it but its turn, and that
only for a while. `running` is written before the tool is touched, and its end when it is over; who
stops a stream or a turn ends its effects at once, whether their tools obey or not.

Caller must: call `start` once, before turns are taken up.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from difflib import get_close_matches
from math import inf
from typing import Any, NamedTuple, get_args

import msgspec

from loopforge.core.delivery_states import Queued
from loopforge.core.effect_states import (
    HALTS,
    QUESTION_HOURS,
    EffectApproved,
    EffectDenied,
    EffectEnd,
    EffectEvent,
    EffectExpired,
    EffectFailed,
    EffectProposed,
    EffectRunning,
    EffectStopped,
    EffectUnknown,
    paid_for,
)
from loopforge.core.events import Event, Fact
from loopforge.core.policy import Call, ResultOutcome
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.spoken_lists import hours_in_words, seconds_in_words
from loopforge.core.turn_events import TurnEnded
from loopforge.errors import Conflict
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.effects.call_progress import CallProgress
from loopforge.runtime.effects.nested_calls import (
    PROGRAM_OVER,
    TOLD,
    InnerCalls,
    calls_within,
    spent_within,
)
from loopforge.runtime.effects.tool_results import failure_shown, store_tool_result
from loopforge.runtime.local.stream_lanes import LocalLanes
from loopforge.runtime.mind_containment import as_json
from loopforge.runtime.ports import (
    CallPermission,
    EffectPlace,
    EffectQueue,
    EffectSite,
    Ledger,
    OpenEffect,
    Tool,
    ToolCall,
    ToolProgress,
    Tools,
)
from loopforge.runtime.system_clock import Stamp

log = logging.getLogger(__name__)
DIED = "This was under way when the program died; it may or may not have happened."
GONE = "What it was to be used with has been forgotten."
GOES_ON = "It is not done yet and goes on; you are told when it ends."
ASKED = "People were asked first, and nobody has answered yet; you are told what they say."
PAUSED = (
    "It has come to a call that people are asked about first, and nobody has answered yet. "
    "It goes on from there when they have; you are told when it ends."
)
AGAIN = "People were asked just that already, and nobody has answered yet. Do not ask again."
UNANSWERED = "Nobody said yes to it in {}, so it was not done."
LAPSED = "{tool} was not used, though somebody said yes to it: {why}."
NEAR, FEW = 3, 8
"""Tools that are named to a mind which named none that it may use, where some are like it and where
none is."""


def _event_kinds(*bodies: type) -> tuple[str, ...]:
    return tuple(str(body.__struct_config__.tag) for body in bodies)  # type: ignore[attr-defined]


ENDS = _event_kinds(*get_args(EffectEnd))
FOLLOWED = _event_kinds(*get_args(EffectEvent), *HALTS)


def _unknown_tool_notice(name: str, granted: Collection[str]) -> str:
    """What a mind is told that names a tool it may not use: those it may mean, or all, if few."""
    may = sorted(granted)
    near = get_close_matches(name, may, n=NEAR, cutoff=0.4) or (may if len(may) <= FEW else [])
    told = f"There is no tool {name!r} that you may use."
    return f"{told} Nearest are: {', '.join(near)}." if near else told


class EffectOutcome(NamedTuple):
    """What a mind is told of an effect, and what that cost in US dollars, as far as it is known.

    `calls` are those that it made itself.
    """

    outcome: ResultOutcome
    value: str
    cost: float = 0.0
    calls: int = 0

    @classmethod
    def of(cls, end: EffectEnd, calls: int = 0, cost: float = 0.0) -> EffectOutcome:
        """What it is told of this end, which so many calls led to, at their own cost."""
        return cls(TOLD[type(end)], str(end.value), getattr(end, "cost", 0.0) + cost, calls)


def lapse_of(asked: Event) -> datetime:
    """When a use that asks is not done any more, where nobody answered."""
    assert isinstance(asked.body, EffectProposed)
    return asked.at + timedelta(hours=asked.body.hours)


class Effects:
    """All open effects of this process, and the one door to a tool."""

    def __init__(
        self,
        ledger: Ledger,
        tools: Tools,
        stamp: Stamp,
        site: EffectSite,
        hours: Callable[[], int] = lambda: QUESTION_HOURS,
    ) -> None:
        self._ledger, self._tools, self._stamp, self._site = ledger, tools, stamp, site
        self._hours = hours
        self._open: dict[str, OpenEffect] = {}
        self._ends: dict[str, EffectEnd] = {}
        self._limits: dict[str, asyncio.Task[None]] = {}
        self._waiting: dict[str, asyncio.Future[EffectEnd | None]] = {}
        self._paused: set[str] = set()
        self._programs: dict[str, str] = {}
        self._held: set[str] = set()
        self._asked: dict[str, asyncio.Task[None]] = {}
        self._questions: dict[str, tuple[str, str, str, str | None]] = {}
        self._tasks = BackgroundTasks()
        self._lanes = LocalLanes(self._work_off, stamp.clock)
        self._started = False
        ledger.subscribe(self._follow, kinds=FOLLOWED)

    async def start(self, queue: EffectQueue) -> None:
        """Take up what was open when the last process ended, and work from now on.

        What belongs to a turn that was broken off waits until that is taken up: see `go_on`.
        """
        self._started = True
        for found in await queue.open_effects():
            self._open.setdefault(found.effect, found)
            if found.halted:
                self._stop_effect(found, found.halted)
                continue
            event = await self._ledger.event(found.effect)
            assert isinstance(event.body, EffectProposed)
            if found.state == "proposed":
                self._expire_unanswered(event, event.body)
            if program := event.body.within:
                self._note_program(found, program)
            else:
                await self._hold_to_its_turn(found, event)
        for effect in tuple(self._open):
            self._wake(effect)

    async def _hold_to_its_turn(self, found: OpenEffect, proposed: Event) -> None:
        """Whether its turn was stopped may be known when that is taken up; or is on record."""
        ends = await self._ledger.read(found.stream, after=proposed.seq, kinds=["turn.ended"])
        bodies = (event.body for event in ends)
        over = next((b for b in bodies if isinstance(b, TurnEnded) and b.turn == found.turn), None)
        if over is None:
            self._held.add(found.turn)
        elif over.outcome == "stopped":
            self._stop_effect(found, str(over.why))

    def go_on(self, turn: str) -> None:
        """Work off what is open of a turn that was broken off, for that is taken up, or over."""
        self._held.discard(turn)
        for found in tuple(self._open.values()):
            if found.turn == turn:
                self._wake(found.effect)

    async def close(self) -> None:
        """Stop working; what is open stays in the ledger."""
        await self._lanes.close()
        await self._tasks.close()

    def busy(self, stream: str) -> bool:
        """Whether a tool is at work for this stream."""
        return any(
            found.stream == stream and found.state in ("approved", "running")
            for found in self._open.values()
        )

    async def settled(self, stream: str) -> None:
        """Return when every effect of a stream is over that is to be."""
        for found in [found for found in self._open.values() if found.stream == stream]:
            await self._lanes.settled(found.effect)

    # ------------------------------------------------------------ the door

    def proposal(
        self,
        call: Call,
        place: EffectPlace,
        actor: str,
        permission: CallPermission,
        within: str = "",
    ) -> list[Fact]:
        """The facts that a mind, or a program `within` which it is, wants a tool used.

        And whether it may. The first has its id. Where somebody is to be asked, it stands alone.
        """
        stream, turn, nth, charge = place
        tool = self._known_tool(call.tool)
        objection = self._objection(call, permission)
        asks = permission.verdict == "asks" and objection is None
        written = as_json(call.arguments)
        if asks and (stream, actor, call.tool, written) in self._questions.values():
            asks, objection = False, ("asked", AGAIN)
        body = EffectProposed(
            turn=turn,
            nth=nth,
            tool=call.tool,
            arguments=Words(written),
            idempotent=tool is not None and tool.idempotent,
            asks=asks,
            people=permission.people,
            within=within,
            charge=charge,
            hours=self._hours() if asks else QUESTION_HOURS,
        )
        proposed = self._stamp.fact(body, actor=actor, cause=within or turn)
        if asks:
            return [proposed]
        verdict: EffectApproved | EffectDenied
        verdict = EffectApproved(effect=proposed.id, by=permission.by)
        if objection:
            rule, why = objection
            verdict = EffectDenied(effect=proposed.id, rule=rule, value=Words(why))
        return [proposed, self._stamp.fact(verdict, actor="runtime", cause=proposed.id)]

    def _objection(self, call: Call, permission: CallPermission) -> tuple[str, str] | None:
        """By which rule it may not be used, and why; None where it may."""
        if permission.verdict == "refused":
            return permission.by, permission.why or _unknown_tool_notice(
                call.tool, permission.granted
            )
        why = self._tools.misfit(call.tool, call.arguments)
        return ("arguments", why) if why else None

    def _known_tool(self, name: str) -> Tool | None:
        return next((tool for tool in self._tools.known() if tool.name == name), None)

    async def outcome(self, effect: str, within: float = inf) -> EffectOutcome:
        """How it ended; "deferred" where that takes longer than a turn waits, as people do.

        No turn waits longer than its tool's patience, nor than `within` seconds.
        """
        found = self._open.get(effect)
        if found is None:
            return await self._outcome_of(effect, await self._recorded_end(effect))
        if found.state == "proposed":
            return EffectOutcome("deferred", ASKED)
        if effect in self._paused:
            return EffectOutcome("deferred", PAUSED)
        waiting, tool = self._end_of(effect), self._known_tool(found.tool)
        patience = min(tool.patience if tool else 0, within)
        if not await self._in_time(waiting, self._start_timer(patience)):
            return EffectOutcome("deferred", GOES_ON)
        end = waiting.result()
        return await self._outcome_of(effect, end) if end else EffectOutcome("deferred", PAUSED)

    def _end_of(self, effect: str) -> asyncio.Future[EffectEnd | None]:
        """To be known when it has ended; None where it waits for people."""
        return self._waiting.setdefault(effect, asyncio.get_running_loop().create_future())

    async def _outcome_of(self, effect: str, end: EffectEnd) -> EffectOutcome:
        """What a mind is told of an end, with what a program spent on its way there."""
        event = await self._ledger.event(effect)
        assert isinstance(event.body, EffectProposed)
        tool = self._known_tool(event.body.tool)
        if tool is None or not tool.composes:
            return EffectOutcome.of(end)
        return EffectOutcome.of(end, *await spent_within(self._ledger, event))

    def inner_proposal(
        self, call: Call, program: Event, nth: int, permission: CallPermission
    ) -> list[Fact]:
        """See `InnerWorker.inner_proposal`."""
        assert isinstance(program.body, EffectProposed)
        place = EffectPlace(program.stream, program.body.turn, nth, program.body.charge)
        return self.proposal(call, place, program.actor, permission, within=program.id)

    async def inner_end(self, effect: str, program: str) -> EffectEnd | None:
        """See `InnerWorker.inner_end`."""
        found = self._open.get(effect)
        if found is None:
            return await self._recorded_end(effect)
        self._programs[effect] = program
        if found.state == "proposed":
            return None
        waiting = self._end_of(effect)
        await asyncio.wait({waiting})
        return waiting.result()

    async def _recorded_end(self, effect: str) -> EffectEnd:
        began = await self._ledger.event(effect)
        for event in await self._ledger.read(began.stream, after=began.seq, kinds=ENDS):
            if isinstance(event.body, EffectEnd) and event.body.effect == effect:
                return event.body
        return EffectUnknown(effect=effect, value=Words(DIED))

    def stop(self, stream: str, why: str, turn: str = "") -> None:
        """End every effect of a stream, or of one turn in it, wherever it stands."""
        for found in tuple(self._open.values()):
            if found.stream == stream and turn in ("", found.turn):
                self._stop_effect(found, why)

    # ------------------------------------------------------------ following

    def _follow(self, stream: str, events: Sequence[Event]) -> None:
        for event in events:
            body = event.body
            if (new := OpenEffect.proposed(event)) is not None:
                self._open[event.id] = new
                if isinstance(body, EffectProposed) and body.within:
                    self._note_program(new, body.within)
                if isinstance(body, EffectProposed) and body.asks:
                    self._expire_unanswered(event, body)
            elif type(body) in HALTS:
                self.stop(stream, HALTS[type(body)])
            elif isinstance(body, EffectApproved):
                self._note_state(body.effect, "approved")
                self._wake(body.effect)
            elif isinstance(body, EffectRunning):
                self._note_state(body.effect, "running")
            elif isinstance(body, EffectEnd):
                self._note_end(body)

    def _note_program(self, found: OpenEffect, program: str) -> None:
        """A program wants it; where that is over, or to end, in the same moment, it ends too."""
        self._programs[found.effect] = program
        if program not in self._open or program in self._ends:
            self._stop_effect(found, PROGRAM_OVER)

    def _expire_unanswered(self, event: Event, body: EffectProposed) -> None:
        """Let it expire where nobody answers."""
        self._questions[event.id] = (event.stream, event.actor, body.tool, body.arguments.text)
        if self._started:
            lapse = self._expire_at(event.id, lapse_of(event), body.hours)
            self._asked[event.id] = self._tasks.spawn(lapse, "asking")

    async def _expire_at(self, effect: str, when: datetime, hours: int) -> None:
        await self._stamp.clock.sleep_until(when)
        told = Words(UNANSWERED.format(hours_in_words(hours)))
        self._ends.setdefault(effect, EffectExpired(effect=effect, value=told))
        self._wake(effect)

    def _note_state(self, effect: str, state: str) -> None:
        self._questions.pop(effect, None)
        if asked := self._asked.pop(effect, None):
            asked.cancel()
        if found := self._open.get(effect):
            self._open[effect] = found._replace(state=state)

    def _note_end(self, end: EffectEnd) -> None:
        self._forget(end.effect)
        self._resolve_waiters(end.effect, end)
        if (program := self._programs.pop(end.effect, "")) in self._paused:
            self._paused.discard(program)
            self._wake(program)
        for effect in [one for one, program in self._programs.items() if program == end.effect]:
            if found := self._open.get(effect):
                self._stop_effect(found, PROGRAM_OVER)

    def _resolve_waiters(self, effect: str, end: EffectEnd | None) -> None:
        """Let whoever waits for it know."""
        waiting = self._waiting.pop(effect, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(end)

    def _forget(self, effect: str) -> None:
        self._open.pop(effect, None)
        self._ends.pop(effect, None)
        self._paused.discard(effect)
        self._questions.pop(effect, None)
        if asked := self._asked.pop(effect, None):
            asked.cancel()
        if limit := self._limits.get(effect):
            limit.cancel()

    def _stop_effect(self, found: OpenEffect, why: str) -> None:
        stopped = EffectStopped(effect=found.effect, value=Words(why))
        self._ends.setdefault(found.effect, stopped)
        if limit := self._limits.get(found.effect):
            limit.cancel()
        self._wake(found.effect)

    def _wake(self, effect: str) -> None:
        found = self._open.get(effect)
        held = found is not None and found.turn in self._held and effect not in self._ends
        if self._started and not held:
            self._lanes.wake(effect)

    # ------------------------------------------------------------ working

    async def _work_off(self, effect: str) -> None:
        """Bring one effect to its end. What fails without saying so (the ledger) is tried again."""
        found = self._open.get(effect)
        if found is None:
            return
        end = self._ends.get(effect) or await self._advance(found)
        if end is not None:
            end = self._ends.setdefault(effect, end)
            await self._record(found, end)

    async def _advance(self, found: OpenEffect) -> EffectEnd | None:
        if found.state == "proposed" or found.effect in self._paused:
            return None
        if found.state == "running" and not found.idempotent:
            return EffectUnknown(effect=found.effect, value=Words(DIED))
        call = await self._call_of(found)
        if call is None:
            return EffectFailed(effect=found.effect, value=Words(GONE))
        if why := await self._objection_now(found, call):
            return EffectFailed(effect=found.effect, value=Words(why))
        await self._record(found, EffectRunning(effect=found.effect))
        if found.effect in self._ends or found.effect not in self._open:
            return self._ends.get(found.effect)
        return await self._use_tool(found, call)

    async def _objection_now(self, found: OpenEffect, call: ToolCall) -> str:
        """Why it is not done, though it was allowed: a yes may come days after its question."""
        proposed = await self._ledger.event(found.effect)
        assert isinstance(proposed.body, EffectProposed)
        if proposed.body.asks and (why := await self._site.inner.lapsed(proposed)):
            return LAPSED.format(tool=found.tool, why=why)
        if self._known_tool(found.tool) is None:
            return ""
        return self._tools.misfit(found.tool, call.arguments)

    async def _call_of(self, found: OpenEffect) -> ToolCall | None:
        """What the tool is given; None where its arguments were forgotten."""
        proposed = await self._ledger.event(found.effect)
        body, tool = proposed.body, self._known_tool(found.tool)
        mate = proposed.actor.partition(":")[2]
        if not isinstance(body, EffectProposed) or body.arguments.text is None:
            return None
        return ToolCall(
            arguments=msgspec.json.decode(body.arguments.text),
            id=found.effect,
            stream=found.stream,
            turn=found.turn,
            mate=mate,
            people=body.people,
            present=await self._site.rooms.present(found.stream),
            until=self._stamp.clock.now() + timedelta(seconds=tool.limit if tool else 0),
            door=await self._inner_calls_of(proposed) if tool and tool.composes else None,
            charge=paid_for(found.stream, mate, body),
            sandbox=await self._site.inner.sandbox(found.stream, mate),
            granted=await self._site.inner.granted(proposed),
        )

    async def _inner_calls_of(self, program: Event) -> InnerCalls:
        """By which a program has other tools used."""
        known, site = await calls_within(self._ledger, program), self._site
        return InnerCalls(program, self._ledger, self, site.inner, site.files.read, known)

    def _pause_for_people(self, effect: str) -> None:
        """It waits for people; unless they answered meanwhile, it is woken by that."""
        asked = [one for one, program in self._programs.items() if program == effect]
        if any(self._open[one].state == "proposed" for one in asked if one in self._open):
            self._paused.add(effect)
            self._resolve_waiters(effect, None)
        else:
            self._wake(effect)

    async def _use_tool(self, found: OpenEffect, call: ToolCall) -> EffectEnd | None:
        """Let the tool do it, for as long as it may. One that is stopped is waited for no more."""
        effect, tool = found.effect, self._known_tool(found.tool)
        limit = tool.limit if tool else 0
        nap = self._limits[effect] = self._start_timer(limit)
        began = ToolProgress(effect=effect, turn=found.turn, mate=call.mate, tool=found.tool)
        progress = CallProgress(self._site.signals, self._stamp.clock, found.stream, began)
        call = msgspec.structs.replace(call, tell=progress.tell)
        work = self._tasks.spawn(self._tools.call(found.tool, call), f"effect {effect}")
        try:
            done = await self._in_time(work, nap)
        finally:
            del self._limits[effect]
            work.cancel()
            progress.over()
        if effect in self._ends or effect not in self._open:
            return self._ends.get(effect)
        if not done:
            why = f"{found.tool} took longer than {seconds_in_words(limit)}."
            return EffectExpired(effect=effect, value=Words(why))
        if isinstance(call.door, InnerCalls) and call.door.asked:
            self._pause_for_people(effect)
            return None
        if work.cancelled() or work.exception() is not None:
            return EffectFailed(effect=effect, value=Words(f"{found.tool} broke off."))
        worked, given = work.result()
        if not worked:
            return EffectFailed(effect=effect, value=Words(failure_shown(given.text)))
        return await store_tool_result(found, given, tool.price if tool else 0.0, self._site.files)

    def _start_timer(self, seconds: float) -> asyncio.Task[None]:
        return self._tasks.spawn(self._stamp.clock.sleep(seconds), "patience")

    async def _in_time(self, work: asyncio.Future[Any], nap: asyncio.Task[None]) -> bool:
        """Whether the work was done before the nap was over, or cut short."""
        try:
            await asyncio.wait({work, nap}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            nap.cancel()
        return work.done()

    async def _record(self, found: OpenEffect, body: EffectRunning | EffectEnd) -> None:
        """Write what happened to it, unless somebody else ended it before."""
        facts = [self._stamp.fact(body, actor="runtime", cause=found.effect)]
        if found.state == "proposed":  # people were asked, and nobody answered
            facts += [
                self._stamp.fact(
                    Queued(surface=place, of=facts[0].id, what="approval"),
                    actor="runtime",
                    cause=facts[0].id,
                )
                for place in await self._site.rooms.places(found.stream)
            ]
        try:
            await self._ledger.append(found.stream, facts)
        except Conflict as error:
            if isinstance(body, EffectExpired) and await self._is_allowed(found):
                self._ends.pop(found.effect, None)
                self._note_state(found.effect, "approved")
                self._wake(found.effect)
                return
            log.warning("effect %s is over already: %s", found.effect, error)
            self._forget(found.effect)

    async def _is_allowed(self, found: OpenEffect) -> bool:
        """Whether somebody said yes in the last moment before it lapsed: it is to run, then."""
        kinds, began = (
            _event_kinds(EffectApproved, *get_args(EffectEnd)),
            await self._ledger.event(found.effect),
        )
        after = await self._ledger.read(found.stream, after=began.seq, kinds=kinds)
        own = [one.body for one in after if getattr(one.body, "effect", "") == found.effect]
        return bool(own) and isinstance(own[-1], EffectApproved)
