"""Answering a mate that asks first: /approve and /deny, by the number of its question.

Who may have a tool used in this room may say yes to it. A yes is for that one use, with just the
arguments that were shown; whoever answers second is told that it was answered. Who may change the
room may also say that this mate need not ask for this tool here any more; of a tool that asks once
any yes says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from loopforge.chat.commands.command_request import CommandRequest, number_of
from loopforge.chat.room.permissions import (
    MATE,
    asker,
    may,
    may_answer,
    once,
    owned,
    tools_in_turn,
    unasked,
    who_may,
)
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.turn_queue import AwaitedEffect
from loopforge.chat.server import Rooms
from loopforge.core.effect_states import EffectApproved, EffectDenied
from loopforge.core.events import Body
from loopforge.core.room_vocabulary import RightsSet, Told
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, Unknown
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.runtime.effect_worker import DAY
from loopforge.runtime.ports import Clock, Tools

ALWAYS = "always"
LATE = "The time for an answer is over; it is not done."
LAPSED = (
    "Whom {mate} wants {tool} used for may not have it used here any more, so nobody can say yes "
    "to that; /deny {n} ends it."
)
ONWARD = "It need not ask for that here any more; /rights {mate} ask takes that back."
LONGEST_REASON = 500
"""Characters of a reason that goes with a no."""


class ApprovalCommands:
    """Yes or no to uses of tools that ask first."""

    def __init__(self, rooms: Rooms, tools: Tools, ledger: SqlLedger, clock: Clock) -> None:
        self._rooms, self._tools = rooms, tools
        self._ledger, self._clock = ledger, clock

    @property
    def table(self) -> dict[str, Callable[[CommandRequest], Awaitable[str]]]:
        """What does each command."""
        return {"approve": self.approve, "deny": self.deny}

    async def approve(self, asked: CommandRequest) -> str:
        """Let it be used, once; or from now on."""
        how = asked.argument.partition(" ")[2].strip().casefold()
        if how not in ("", ALWAYS):
            raise InputError(f"Say /approve and the number, and {ALWAYS} where it is for good.")
        always = how == ALWAYS

        def bodies(state: RoomState, effect: str, what: AwaitedEffect) -> Sequence[Body]:
            who = _name(state, asked)
            told = f"{who} said yes to question {what.asks}: {what.mate} uses {what.tool}."
            by = f"person:{asked.person}" if asked.person else "terminal"
            still = [line for line in what.lines if asker(state, line)]
            if still and what.tool not in tools_in_turn(state, still, self._tools.known()):
                raise InputError(LAPSED.format(mate=what.mate, tool=what.tool, n=what.asks))
            approved = EffectApproved(effect=effect, by=by)
            if not (always or once(what.tool, self._tools.known())):
                return approved, Told(text=Words(told))
            tools = sorted({*unasked(state, what.mate), what.tool})
            standing = RightsSet(who=MATE + what.mate, rights=("tools",), tools=tuple(tools))
            return approved, standing, Told(text=Words(f"{told} {ONWARD.format(mate=what.mate)}"))

        done = "Yes: it is done now, and the mate is told."
        return await self._answer(asked, bodies, done, always=always)

    async def deny(self, asked: CommandRequest) -> str:
        """Do not let it be used; the mate is told, with the reason."""
        reason = asked.argument.partition(" ")[2].strip()[:LONGEST_REASON]

        def bodies(state: RoomState, effect: str, what: AwaitedEffect) -> Sequence[Body]:
            who = _name(state, asked)
            why = f": {reason}" if reason else "."
            told = f"{who} said no to question {what.asks}{why}"
            denied = EffectDenied(effect=effect, rule="asked", value=Words(f"{who} said no{why}"))
            return denied, Told(text=Words(told))

        return await self._answer(asked, bodies, "No: it is not done, and the mate is told.")

    async def _answer(
        self,
        asked: CommandRequest,
        bodies: Callable[[RoomState, str, AwaitedEffect], Sequence[Body]],
        done: str,
        *,
        always: bool = False,
    ) -> str:
        def decide(state: RoomState) -> Sequence[Body]:
            return bodies(state, *self._answerable(state, asked, always=always))

        await self.check(asked, always=always)
        await self._rooms.answer(asked.room, asked.person, decide)
        return done

    async def check(self, asked: CommandRequest, *, always: bool = False) -> None:
        """Raise InputError where whoever asks may not answer so, or it is too late for that."""
        state = await self._rooms.state(asked.room)
        effect, _ = self._answerable(state, asked, always=always)
        if self._clock.now() >= (await self._ledger.event(effect)).at + DAY:
            raise InputError(LATE)

    def _answerable(
        self, state: RoomState, asked: CommandRequest, *, always: bool = False
    ) -> tuple[str, AwaitedEffect]:
        """The open question that is meant, if whoever asks may answer it so. Raises InputError."""
        number = number_of(asked.argument)
        found = state.turns.question(number) if number else None
        if found is None:
            open = sorted(one.asks for one in state.turns.effects.values() if one.asks)
            which = (
                f"Open here: {', '.join(map(str, open))}." if open else "No question is open here."
            )
            raise Unknown(
                f"No question {number or asked.argument[:20]!r} waits for an answer. {which}"
            )
        tool, known, owner = found[1].tool, self._tools.known(), asked.owner or not asked.person
        if not may_answer(
            state,
            asked.person,
            tool,
            known,
            keeper=asked.keeper,
            owner=owner,
            untrusted=asked.untrusted and not owner,
        ):
            raise InputError(
                f"You may not have {tool} used here, so you cannot say yes or no to it."
            )
        if always and owned(tool, known):
            raise InputError(f"{tool} is asked about each time; /approve {number} is for once.")
        free = always and not once(tool, known)
        if free and not may(state, asked.person, "change", keeper=asked.keeper, owner=owner):
            whose = who_may(state, "change")
            raise InputError(f"Always is for {whose} to say; /approve {number} is for once.")
        return found


def _name(state: RoomState, asked: CommandRequest) -> str:
    """Who answers, as the room calls them."""
    person = state.people.get(asked.person)
    return str(person.name) if person is not None else "The owner of this home"
