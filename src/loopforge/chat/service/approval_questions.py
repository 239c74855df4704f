"""Questions whether a mate may use a tool, as they stand: what one is bound to, how it ended.

    the question's line --cause--> the proposal --> its digest, who answered how

Read from the ledger, so that it is the same after a restart. Does not decide who may answer
(chat/commands/approval_commands.py), and does not know how a platform shows it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from loopforge.chat.room.permissions import asker, once, owned
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import PREFIX
from loopforge.chat.server import Rooms
from loopforge.core.effect_states import (
    EffectApproved,
    EffectDenied,
    EffectExpired,
    EffectProposed,
    EffectStopped,
    approval_digest,
)
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Told
from loopforge.errors import Unknown
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.runtime.ports import Tools

ANSWER = EffectApproved | EffectDenied | EffectExpired | EffectStopped
"""How a question ends."""
ANSWERS = ("effect.approved", "effect.denied", "effect.expired", "effect.stopped")
NEAR = 50
"""Words of the room among which a question is looked for: it is told as soon as it is proposed."""
FORGOTTEN = "What was asked here was forgotten."


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
            and not owned(proposed.body.tool, self._tools.known()),
            once=once(proposed.body.tool, self._tools.known()),
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


def _trusted(state: RoomState, lines: Sequence[str]) -> bool:
    """Whether a standing yes would count for those whom the turn answers."""
    askers = [asker(state, line) for line in lines]
    return all(entry is not None and not entry.untrusted for entry in askers)
