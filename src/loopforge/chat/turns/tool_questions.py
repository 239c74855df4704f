"""What is said of a tool before it is used: the question to people, and what it would tell.

For a mind and for the programs that it writes, alike.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

from loopforge.chat.room.permissions import Given, answered_people, borrowed_words, is_asked_once
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.turns.apply_acts import delivery_facts, spoken_here
from loopforge.chat.turns.fallback_mate import room_notice
from loopforge.core.effect_states import QUESTION_HOURS
from loopforge.core.egress.egress_filter import EgressFilter
from loopforge.core.events import Fact
from loopforge.core.mates.mate_file import Mate
from loopforge.core.policy import Call
from loopforge.core.room_vocabulary import Told
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.spoken_lists import hours_in_words, join_as_prose
from loopforge.core.text.taint_tracking import argument_texts
from loopforge.runtime.ports import Tools
from loopforge.runtime.system_clock import Stamp

QUESTION = (
    "{name} asks first. It wants to use **{tool}**{whom} with exactly this:\n\n    {what}\n\n"
    "{mind}{cost}{once}"
    "Say `/approve {n}`, or `/deny {n}` and why. After {hours} without an answer it is not done."
)
"""What people are told of a tool that asks first; as a rule its arguments stand in one line."""
MIND = "Mind that `{which}` holds words that nobody here said: they come from {source}.\n\n"
COST = "A use costs ${price}.\n\n"
ONCE = "With a yes it is not asked about here again; `/rights {mate} ask` takes that back.\n\n"
KEPT_IN = (
    "It was not used: what it was given holds a key or password of this home. No tool and nobody "
    "may be told those, in whatever form. Say that you cannot do this."
)
LEAK = "{name} was kept from sending out something that must not leave this home."


class ShownTools(Tools, Protocol):
    """Tools that say how their uses are shown to people."""

    def shown(self, tool: str, arguments: dict[str, Any]) -> str:
        """What people see of a use, before it runs."""


class AskingMate(NamedTuple):
    """Who asks: a mate, in a turn that answers these lines, or in a program of such a turn."""

    state: RoomState
    mate: Mate
    lines: Sequence[str]

    @property
    def whom(self) -> list[str]:
        """The names of those it is for."""
        people = self.state.people
        whose = answered_people(self.state, self.lines)
        return [str(people[id].name) for id in whose if id in people]


class ToolQuestions:
    """Asks the people of a room whether a mate may use a tool, with exactly what is to run."""

    def __init__(
        self, tools: ShownTools, stamp: Stamp, hours: Callable[[], int] = lambda: QUESTION_HOURS
    ) -> None:
        self._tools, self._stamp, self._hours = tools, stamp, hours
        self._last: dict[str, int] = {}

    def facts(self, asks: AskingMate, call: Call, effect: str, gave: Given = ()) -> list[Fact]:
        """What people are told; `gave` as in `call_permission`."""
        state, mate = asks.state, asks.mate
        number = 1 + max(state.turns.asked, self._last.get(state.stream, 0))
        self._last[state.stream] = number
        strange = borrowed_words(state, mate.handle, call, self._tools.known(), gave)
        mind = (MIND.format(which=which, source=source) for which, source in strange.items())
        what = self._tools.shown(call.tool, call.arguments).replace("\n", "\n    ")
        text = QUESTION.format(
            name=mate.name,
            tool=call.tool,
            whom=f" for {join_as_prose(whom)}" if (whom := asks.whom) else "",
            what=what,
            mind="".join(mind),
            cost=self._cost(call.tool),
            once=ONCE.format(mate=mate.handle)
            if is_asked_once(call.tool, self._tools.known())
            else "",
            n=number,
            hours=hours_in_words(self._hours()),
        )
        fact = self._stamp.fact(Told(text=Words(text), asks=number), actor="room", cause=effect)
        return [fact, *delivery_facts(fact, state.places, self._stamp)]

    def _cost(self, tool: str) -> str:
        price = next((each.price for each in self._tools.known() if each.name == tool), 0.0)
        return COST.format(price=f"{Decimal(repr(price)):f}") if price else ""

    def leaked(self, state: RoomState, mate: Mate, program: str, way: str) -> list[Fact]:
        """What people and the owner are told where a program would have told a secret."""
        told = room_notice(LEAK.format(name=mate.name), [(way, "secret")])
        fact = self._stamp.fact(told, actor="room", cause=program)
        return [fact, *delivery_facts(fact, state.places, self._stamp)]


def leak_of(state: RoomState, egress: EgressFilter, call: Call) -> str:
    """How a call would tell a secret of this home; "" where it tells none."""
    texts = [text for _, text in argument_texts(call.arguments)]
    return egress.leak(texts, spoken_here(state))
