"""Answering a mate that asks first: /approve and /deny, by the number of its question.

Who may have a tool used in this room may say yes to it. A yes is for that one use, with just the
arguments that were shown; whoever answers second is told that it was answered. Who may change the
room may also say that this mate need not ask for this tool here any more; of a tool that asks once
any yes says so.

A question as it stands (what it is bound to, how it ended) is read from the ledger, so that it is
the same after a restart:

    the question's line --cause--> the proposal --> its digest, who answered how

Does not know how a platform shows it.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from loopforge.chat.commands.command_request import CommandRequest, number_of
from loopforge.chat.room.permissions import (
    MATE,
    is_asked_once,
    may,
    may_answer,
    needs_owner_approval,
    originating_line,
    preapproved_tools,
    who_may,
)
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import PREFIX
from loopforge.chat.room.turn_queue import AwaitedEffect
from loopforge.chat.server import Rooms
from loopforge.chat.turns.program_calls import lapse
from loopforge.core.effect_states import (
    EffectApproved,
    EffectDenied,
    EffectExpired,
    EffectProposed,
    EffectStopped,
    approval_digest,
)
from loopforge.core.events import Body, Event
from loopforge.core.room_vocabulary import RightsSet, Told
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, Unknown
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.runtime.effects.effect_worker import lapse_of
from loopforge.runtime.ports import Clock, Tools

ALWAYS = "always"
LATE = "The time for an answer is over; it is not done."
LAPSED = "Nobody can say yes to that any more: {why}. /deny {n} ends it."
ONWARD = "It need not ask for that here any more; /rights {mate} ask takes that back."
LONGEST_REASON = 500
"""Characters of a reason that goes with a no."""
ANSWER = EffectApproved | EffectDenied | EffectExpired | EffectStopped
"""How a question ends."""
ANSWERS = ("effect.approved", "effect.denied", "effect.expired", "effect.stopped")
NEAR = 50
"""Words of the room among which a question is looked for: it is told as soon as it is proposed."""
FORGOTTEN = "What was asked here was forgotten."


def open_questions(state: RoomState) -> list[int]:
    """The numbers of the questions of a room that wait for an answer, the oldest first."""
    return sorted(one.asks for one in state.turns.effects.values() if one.asks)


class ApprovalQuestion(Struct, frozen=True, kw_only=True):
    """A question: its number and line, and what its answer is bound to.

    `open`: nobody has answered. `always`: it can be answered for good, too; `once`: any yes to it
    is for good.
    """

    number: int
    line: str
    effect: str
    digest: str
    open: bool
    always: bool
    once: bool = False


class ApprovalQuestions:
    """The questions of rooms."""

    def __init__(self, ledger: SqlLedger, rooms: Rooms, tools: Tools) -> None:
        self._ledger, self._rooms, self._tools = ledger, rooms, tools

    async def asked(self, line: Event) -> ApprovalQuestion | None:
        """The question that a word of the room asks; None if it asks none."""
        told = line.body
        if not isinstance(told, Told) or not told.asks:
            return None
        proposed = await self._ledger.event(line.cause)
        if not isinstance(proposed.body, EffectProposed):
            return None
        state = await self._rooms.state(line.stream.removeprefix(PREFIX))
        found = state.turns.question(told.asks)
        mate = proposed.actor.partition(":")[2]
        return ApprovalQuestion(
            number=told.asks,
            line=line.id,
            effect=proposed.id,
            digest=approval_digest(proposed.id, line.stream, mate, proposed.body),
            open=found is not None and found[0] == proposed.id,
            always=found is not None
            and _trusted(state, found[1].lines)
            and not needs_owner_approval(proposed.body.tool, self._tools.known()),
            once=is_asked_once(proposed.body.tool, self._tools.known()),
        )

    async def about(self, end: Event) -> Event | None:
        """The word of the room that asked what this ends; None if nothing was asked."""
        assert isinstance(end.body, ANSWER)
        proposed = await self._ledger.event(end.body.effect)
        told = await self._ledger.read(
            end.stream, after=proposed.seq, kinds=["room.told"], limit=NEAR
        )
        return next((one for one in told if one.cause == proposed.id), None)

    async def ended(self, question: ApprovalQuestion) -> str:
        """How it ended, in a sentence; "" while it is open."""
        line = await self._ledger.event(question.line)
        found = await self._ledger.read(line.stream, after=line.seq, kinds=list(ANSWERS))
        for event in found:
            if isinstance(event.body, ANSWER) and event.body.effect == question.effect:
                return await self.outcome(event)
        return ""

    async def outcome(self, end: Event) -> str:
        """What became of it, in a sentence."""
        match end.body:
            case EffectApproved(by=by):
                scene = await self._rooms.scene(end.stream.removeprefix(PREFIX))
                kind, _, person = by.partition(":")
                who = scene.person(person) if kind == "person" else "The owner of this home"
                return f"{who} said yes."
            case EffectDenied(value=value) | EffectExpired(value=value):
                return value.text or "It was answered."
            case EffectStopped():
                return "It was called off."
            case _:
                raise Unknown(f"{end.kind} answers no question.")

    async def settled(self, end: Event, told: Event) -> str:
        """What a question says once it is answered: what was asked, and who said what."""
        assert isinstance(told.body, Told)
        what, parted, _ = (told.body.text.text or FORGOTTEN).rpartition("\n\n")
        return f"{what if parted else FORGOTTEN}\n\n{await self.outcome(end)}"


class ApprovalCommands:
    """Yes or no to uses of tools that ask first."""

    def __init__(self, rooms: Rooms, tools: Tools, ledger: SqlLedger, clock: Clock) -> None:
        self._rooms, self._tools = rooms, tools
        self._ledger, self._clock = ledger, clock
        self.table = {"approve": self.approve, "deny": self.deny}

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
            mate = self._rooms.mates.get(what.mate)
            if why := lapse(state, mate, what, self._tools.known()):
                raise InputError(LAPSED.format(why=why, n=what.asks))
            approved = EffectApproved(effect=effect, by=by)
            if not (always or is_asked_once(what.tool, self._tools.known())):
                return approved, Told(text=Words(told))
            tools = sorted({*preapproved_tools(state, what.mate), what.tool})
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
        if self._clock.now() >= lapse_of(await self._ledger.event(effect)):
            raise InputError(LATE)

    def _answerable(
        self, state: RoomState, asked: CommandRequest, *, always: bool = False
    ) -> tuple[str, AwaitedEffect]:
        """The open question that is meant, if whoever asks may answer it so. Raises InputError."""
        number = number_of(asked.argument)
        found = state.turns.question(number) if number else None
        if found is None:
            open = open_questions(state)
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
        if always and needs_owner_approval(tool, known):
            raise InputError(f"{tool} is asked about each time; /approve {number} is for once.")
        free = always and not is_asked_once(tool, known)
        if free and not may(state, asked.person, "change", keeper=asked.keeper, owner=owner):
            whose = who_may(state, "change")
            raise InputError(f"Always is for {whose} to say; /approve {number} is for once.")
        return found


def _name(state: RoomState, asked: CommandRequest) -> str:
    """Who answers, as the room calls them."""
    person = state.people.get(asked.person)
    return str(person.name) if person is not None else "The owner of this home"


def _trusted(state: RoomState, lines: Sequence[str]) -> bool:
    """Whether a standing yes would count for those whom the turn answers."""
    askers = [originating_line(state, line) for line in lines]
    return all(entry is not None and not entry.untrusted for entry in askers)
