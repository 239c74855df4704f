"""Whether what outlives a turn by days may use tools in a room: programs of mates, and a late yes.

Both are judged by the room as it stands then, each call of a program as a turn's would be: whoever
lost a right meanwhile, or took back their line, has nothing done any more.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from loopforge.chat.room.permissions import (
    Given,
    call_permission,
    originating_line,
    tools_in_turn,
)
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import RoomStore
from loopforge.chat.room.turn_queue import AwaitedEffect
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.chat.turns.apply_acts import EGRESS
from loopforge.chat.turns.build_perception import own_tools
from loopforge.chat.turns.tool_questions import KEPT_IN, AskingMate, ToolQuestions, leak_of
from loopforge.core.effect_states import EffectProposed
from loopforge.core.egress.egress_filter import EgressFilter
from loopforge.core.events import Event
from loopforge.core.limits import turn_bounds
from loopforge.core.limits.turn_bounds import TurnSpending, strictest_bounds
from loopforge.core.mates.mate_file import Mate
from loopforge.core.mates.sandbox_profile import UNCONFINED, SandboxProfile
from loopforge.core.policy import Call
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.runtime.effects.nested_calls import spent_within
from loopforge.runtime.ports import CallPermission, InnerPermission, Tool, Tools
from loopforge.runtime.turn_meter import spent_before

COUNTED = ("effect.proposed", "turn.answered", "turn.returned")
UNANSWERED = "what its mate was to answer is gone, so nothing more is done for it"
GONE = "the mate that wanted it is here no longer"
TAKEN = "{mate} has {tool} no longer"
LAPSED = "whom {mate} wants {tool} used for may not have it used here any more"


class ProgramCalls:
    """See `InnerSite`. `secrets` are what no mate says, as they are known now."""

    def __init__(
        self,
        ledger: SqlLedger,
        house: RoomStore,
        mates: Mapping[str, Mate],
        rules: RoomRules,
        questions: ToolQuestions,
        tools: Tools,
        secrets: Callable[[], Collection[str]],
    ) -> None:
        self._ledger, self._house, self._mates, self._rules = ledger, house, mates, rules
        self._questions, self._known, self._secrets = questions, tools.known, secrets

    async def offered(self, program: Event) -> Sequence[Tool]:
        """See `InnerSite.offered`."""
        state, mate = await self._house.state(program.stream), self._mate(program)
        if mate is None:
            return ()
        known = self._known()
        may = tools_in_turn(state, _lines(state, program), known)
        own = set(own_tools(mate, known))
        return [tool for tool in known if tool.name in may & own and not tool.composes]

    async def permission(self, program: Event, call: Call, gave: Given) -> InnerPermission:
        """See `InnerSite.permission`."""
        state, mate = await self._house.state(program.stream), self._mate(program)
        if mate is None or not _lines(state, program):
            why = GONE if mate is None else UNANSWERED
            return InnerPermission(CallPermission(by="grant", why=why), lambda _: ())
        permission = await self._judged(state, mate, program, call, gave)
        asks = AskingMate(state, mate, _lines(state, program))
        asking = partial(self._questions.facts, asks, call, gave=gave)
        if permission.verdict == "refused":
            return InnerPermission(permission, asking)
        egress = EgressFilter(secrets=self._secrets(), name=mate.name)
        if way := leak_of(state, egress, call):
            permission = permission._replace(verdict="refused", by=EGRESS, why=KEPT_IN)
            told = self._questions.leaked(state, mate, program.id, way)
            return InnerPermission(permission, asking, told)
        return InnerPermission(permission, asking)

    async def lapsed(self, effect: Event) -> str:
        """See `InnerSite.lapsed`."""
        state = await self._house.state(effect.stream)
        used = state.turns.effects.get(effect.id)
        return lapse(state, self._mate(effect), used, self._known()) if used else UNANSWERED

    async def granted(self, effect: Event) -> frozenset[str]:
        """See `InnerSite.granted`."""
        state, mate = await self._house.state(effect.stream), self._mate(effect)
        return _granted(state, mate, _lines(state, effect), self._known()) if mate else frozenset()

    async def sandbox(self, stream: str, mate: str) -> SandboxProfile:  # noqa: ARG002
        """See `InnerSite.sandbox`."""
        found = self._mates.get(mate)
        return found.sandbox if found is not None else UNCONFINED

    async def _judged(
        self, state: RoomState, mate: Mate, program: Event, call: Call, gave: Given
    ) -> CallPermission:
        known = self._known()
        own = [tool.name for tool in known if not tool.composes]
        own = [name for name in own_tools(mate, known) if name in own]
        lines = _lines(state, program)
        found = call_permission(state, mate.handle, own, lines, call, known, gave)
        if found.verdict == "refused":
            return found
        if bound := await self._bound(state, mate, program):
            why = f"{call.tool} was not used: {bound}."
            return found._replace(verdict="refused", by="bounds", why=why)
        return found

    async def _bound(self, state: RoomState, mate: Mate, program: Event) -> str:
        """Which bound of its turn is met. Time is the program's own: its turn may be long over."""
        assert isinstance(program.body, EffectProposed)
        began = await self._ledger.event(program.body.turn)
        after = await self._ledger.read(program.stream, after=began.seq, kinds=COUNTED)
        own = [event for event in after if getattr(event.body, "turn", "") == began.id]
        spent, (_, cost) = spent_before(began, own), await spent_within(self._ledger, program)
        bounds = strictest_bounds(mate.bounds, state.bounds, self._rules.bounds)
        return turn_bounds.met(bounds, TurnSpending(calls=spent.calls, money=spent.money + cost))

    def _mate(self, program: Event) -> Mate | None:
        return self._mates.get(program.actor.partition(":")[2])


def lapse(state: RoomState, mate: Mate | None, used: AwaitedEffect, known: Collection[Tool]) -> str:
    """Why a use that waits for a yes may not run as the room stands now; "" where it may."""
    if mate is None or not (used.lines or used.mate in state.mates):
        return GONE
    if not used.lines:
        return UNANSWERED
    if used.tool not in own_tools(mate, known):
        return TAKEN.format(mate=used.mate, tool=used.tool)
    if used.tool not in _granted(state, mate, used.lines, known):
        return LAPSED.format(mate=used.mate, tool=used.tool)
    return ""


def _granted(
    state: RoomState, mate: Mate, lines: Sequence[str], known: Collection[Tool]
) -> frozenset[str]:
    """The tools that a mate may use for whom these lines are of; the lost take none away."""
    still = [line for line in lines if originating_line(state, line)]
    own = frozenset(own_tools(mate, known))
    return own & tools_in_turn(state, still, tuple(known)) if still or not lines else own


def _lines(state: RoomState, program: Event) -> tuple[str, ...]:
    """The lines that the program's turn answers, as far as they still count."""
    found = state.turns.effects.get(program.id)
    return found.lines if found is not None else ()
