"""A mate asks to be changed in a trait, as a tool: what it says waits for the owner of the home.

A use changes nothing by itself (mates/trait_proposals.py); so it needs no leave. The line that the
turn answers is what the proposal rests on: whoever may not see that may not read why.
"""

from __future__ import annotations

from typing import get_args

from loopforge.chat.room.room_store import House
from loopforge.core.text.quantity_bands import Band
from loopforge.mates.trait_proposals import LONGEST, TraitProposals
from loopforge.runtime.ports import Tool, ToolCall

PROPOSE_TRAIT = Tool(
    name="propose_trait",
    summary="Asks the owner of this home to let you change in one trait of your character.",
    schema={
        "type": "object",
        "properties": {
            "trait": {"type": "string", "minLength": 2, "maxLength": 40},
            "amount": {"type": "string", "enum": list(get_args(Band))},
            "why": {"type": "string", "minLength": 1, "maxLength": LONGEST},
        },
        "required": ["trait", "amount", "why"],
        "additionalProperties": False,
    },
    harmless=True,
    idempotent=True,
)


class TraitTool:
    """Puts down what mates ask of their own character."""

    def __init__(self, traits: TraitProposals, house: House) -> None:
        self._traits, self._house = traits, house

    async def ask(self, call: ToolCall) -> str:
        """Put it down. Raises InputError where it makes no sense."""
        state = await self._house.state(call.stream)
        turn = state.open.get(call.turn)
        given = call.arguments
        await self._traits.propose(
            call.mate,
            str(given["trait"]),
            str(given["amount"]),
            str(given["why"]),
            (turn.line,) if turn and turn.line else (call.turn,),
        )
        return "It is put down. You stay as you are until the owner of this home says yes."
