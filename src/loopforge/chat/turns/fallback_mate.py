"""Fallback: a mate that was called and cannot run is answered for by the fallback mate, if any.

    its file is broken or gone  ->  it is weighed for calls alone, and its turn is handed over
    no model answered it        ->  with the end of its turn, the line is handed over
    it took a turn again        ->  it answers for itself; a fallback that is no member goes again
    there is no fallback mate   ->  the room is told why it cannot answer; so it is where the line
                                    is a guest's, and the fallback is not for guests

The room is told once, when a mate is first stood in for, or in a conversation first called in vain
for this cause. Everything is a fact: after a crash the turn is due to whoever it was due to. That a
model does not answer a mate is told with the end of its turn (room_loop.py).
"""

from collections.abc import Callable, Mapping, Sequence

from loopforge.chat.room.energy_limit import SPENT
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.turn_queue import UNCALLED, DueTurn
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.chat.speaking.triggers import AbsentMate, TriggerListener
from loopforge.chat.turns.apply_acts import delivery_facts
from loopforge.core.events import Fact
from loopforge.core.mates.mate_file import Mate
from loopforge.core.model_trouble import Trouble, cause_to_report, explain_no_answer
from loopforge.core.room_vocabulary import StoodDown, StoodIn, Told
from loopforge.core.text.erasable_text import Words
from loopforge.runtime.ports import Route
from loopforge.runtime.system_clock import Stamp

UNABLE = "it cannot run"
CALLED = ("mention", "reply", "name", "alone")
"""How somebody expects an answer of this very mate."""
MINDLESS = (
    "{name} cannot answer just now: the policy {policy!r} is not installed. Install it again, or "
    "choose another with /policy."
)


def room_notice(text: str, troubles: Sequence[Trouble] = ()) -> Told:
    """What a room is told; of what is to be mended, the owner alone is told more."""
    return Told(text=Words(text), mend=tuple(dict.fromkeys(troubles)))


class FallbackMate:
    """Who answers for whom. `fallback` is a handle, "" for nobody; `mates` are those that run.

    `why_not` says why one cannot, for anybody, and where that is to be mended.
    """

    def __init__(
        self,
        fallback: str,
        mates: Mapping[str, Mate],
        why_not: Callable[[str], tuple[str, str]],
        stamp: Stamp,
        rules: RoomRules,
    ) -> None:
        self.fallback = fallback
        self._mates, self._why_not, self._stamp, self._rules = mates, why_not, stamp, rules

    def by(self, mate: str) -> Mate | None:
        """The mate that answers for this one; None where nobody does."""
        return None if mate == self.fallback else self._mates.get(self.fallback)

    def listeners(self, state: RoomState) -> dict[str, TriggerListener]:
        """The mates of the room that can be called, by handle."""
        return {handle: self._mates.get(handle) or AbsentMate(handle) for handle in state.mates}

    def hand_over(self, state: RoomState, due: DueTurn) -> list[Fact]:
        """The facts that another mate takes this turn, of a mate without a file; none if none."""
        why, where = self._why_not(due.mate)
        return self._stand_in(state, due, AbsentMate(due.mate).name, why, [(where, "file")])

    def lament(self, state: RoomState, due: DueTurn) -> list[Fact]:
        """The facts that people are told why nobody takes this turn; none where they know it."""
        why, where = self._why_not(due.mate)
        text = f"{AbsentMate(due.mate).name} cannot answer just now: {why}."
        return self._once(state, due, text, [(where, "file")])

    def mindless(self, state: RoomState, due: DueTurn, mate: Mate, policy: str) -> list[Fact]:
        """The facts that people are told which policy is missing; none where they know it."""
        return self._once(state, due, MINDLESS.format(name=mate.name, policy=policy))

    def spent(self, state: RoomState, due: DueTurn, mate: Mate | None) -> list[Fact]:
        """The facts that a person who called it is told that the room has no energy left."""
        called = state.lines.get(due.line)
        by_person = called is not None and called.kind == "heard"
        if due.verdict != "speak" or due.step or due.summons not in CALLED or not by_person:
            return []
        name = mate.name if mate else AbsentMate(due.mate).name
        return self._once(state, due, SPENT.format(name=name))

    def _once(
        self, state: RoomState, due: DueTurn, text: str, troubles: Sequence[Trouble] = ()
    ) -> list[Fact]:
        """The facts that the room is told this; none where nothing was said by it since."""
        for entry in reversed(state.lines.values()):
            if entry.kind == "said" and entry.who == due.mate:
                break
            if entry.kind == "told" and str(entry.text) == text:
                return []
        told = self._stamp.fact(room_notice(text, troubles), actor="room", cause=due.line)
        return [told, *delivery_facts(told, state.places, self._stamp)]

    def after(
        self,
        state: RoomState,
        mate: Mate,
        due: DueTurn,
        *,
        reached: bool,
        troubles: Sequence[Trouble] = (),
    ) -> list[Fact]:
        """The facts that go with the end of a mate's turn, by whether a model answered it.

        `troubles` are the models that did not.
        """
        if reached:
            known = mate.handle in state.stand_ins
            return [self._stamp.fact(StoodDown(mate=mate.handle), actor="room")] if known else []
        other = self.by(mate.handle)
        called = due.verdict == "speak" and due.step == 0
        if other is None or not called or Route.of(other) == Route.of(mate):
            return []
        why = explain_no_answer(cause_to_report(each[1] for each in troubles))
        return self._stand_in(state, due, mate.name, why, troubles)

    def _stand_in(
        self,
        state: RoomState,
        due: DueTurn,
        name: str,
        why: str,
        troubles: Sequence[Trouble] = (),
    ) -> list[Fact]:
        other, line = self.by(due.mate), state.lines.get(due.line)
        if due.by or due.summons in UNCALLED:  # its own line, or its own idea
            return []
        if other is None or (line and self._rules.guests.barred(state, [line], other.handle)):
            return []
        known = state.stand_ins.get(due.mate)
        guest = other.handle not in state.mates or (known is not None and known.guest)
        body = StoodIn(mate=due.mate, by=other.handle, line=due.line, guest=guest)
        facts = [self._stamp.fact(body, actor="room", cause=due.line)]
        if known is None or known.mate != other.handle:
            text = f"{name} cannot answer just now ({why}), so {other.name} answers."
            told = self._stamp.fact(room_notice(text, troubles), actor="room", cause=due.line)
            facts += [told, *delivery_facts(told, state.places, self._stamp)]
        return facts
