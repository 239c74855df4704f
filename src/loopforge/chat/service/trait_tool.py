"""A mate asks to be changed in a trait, as a tool: what it says waits for the owner of the home.

A use changes nothing by itself (mates/trait_proposals.py); so it needs no leave. A proposal rests
on the line that the turn answers, and on each that the mate has in mind or was reminded of and that
shares a word of weight with why. Whoever may not see all of those may not read it, and with any of
them it is forgotten.
"""

from collections.abc import Sequence
from typing import get_args

from loopforge.chat.room.room_store import RoomStore
from loopforge.core.effect_states import EffectReturned
from loopforge.core.memory.evidence_overlap import stems_of, supporting_lines
from loopforge.core.memory.memory_vocabulary import MemoryKept
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.quantity_bands import Band
from loopforge.core.turn_events import Perceived
from loopforge.errors import Unknown
from loopforge.mates.trait_proposals import LONGEST, TraitProposals
from loopforge.memory.memory_store import MemoryStore
from loopforge.runtime.ports import Ledger, Tool, ToolCall, arguments_schema

PROPOSE_TRAIT = Tool(
    name="propose_trait",
    summary="Asks the owner of this home to let you change in one trait of your character.",
    schema=arguments_schema(
        ["trait", "amount", "why"],
        trait={"type": "string", "minLength": 2, "maxLength": 40},
        amount={"type": "string", "enum": list(get_args(Band))},
        why={"type": "string", "minLength": 1, "maxLength": LONGEST},
    ),
    harmless=True,
    idempotent=True,
)


class TraitTool:
    """Puts down what mates ask of their own character."""

    def __init__(
        self, traits: TraitProposals, house: RoomStore, ledger: Ledger, items: MemoryStore
    ) -> None:
        self._traits, self._house, self._ledger = traits, house, ledger
        self._items = items

    async def ask(self, call: ToolCall) -> str:
        """Put it down. Raises InputError where it makes no sense."""
        given = call.arguments
        why = str(given["why"])
        await self._traits.propose(
            call.mate,
            str(given["trait"]),
            str(given["amount"]),
            why,
            await self._grounds(call, why),
        )
        return "It is put down. You stay as you are until the owner of this home says yes."

    async def _grounds(self, call: ToolCall, why: str) -> list[str]:
        """The lines that a reason rests on, by their events' ids."""
        state = await self._house.state(call.stream)
        turn = state.open.get(call.turn)
        called = [turn.line] if turn and turn.line else [call.turn]
        minded = [entry for entry in state.lines.values() if entry.kind in ("heard", "said")]
        near = supporting_lines(why, [stems_of(str(entry.text), entry.given) for entry in minded])
        results = [entry.id for entry in state.visible(call.mate) if entry.kind == "result"]
        reminded = [
            line
            for text, lines in await self._reminded(call.turn, results)
            if supporting_lines(why, [stems_of(text)])
            for line in lines
        ]
        return list(dict.fromkeys([*called, *(minded[at].id for at in near), *reminded]))

    async def _reminded(self, turn: str, results: Sequence[str]) -> list[tuple[str, list[str]]]:
        """What was remembered for a turn, or by tools: its words, the lines that it is or rests on.

        `results` are the ends of the tools that it sees.
        """
        try:
            seen = (await self._ledger.event(turn)).body
        except Unknown:
            return []
        recalled = seen.recalled if isinstance(seen, Perceived) else ()
        ids = [one.of for one in recalled if not one.left]
        for result in results:
            body = (await self._ledger.event(result)).body
            ids += body.tells if isinstance(body, EffectReturned) else ()
        found = []
        for id in dict.fromkeys(ids):
            event = await self._ledger.event(id)
            match event.body:
                case MemoryKept():
                    item = await self._items.item(event.id)
                    found.append((str(item.text), [line.line for line in item.evidence]))
                case Heard(text=text) | Said(text=text):
                    found.append((str(text), [event.id]))
        return found
