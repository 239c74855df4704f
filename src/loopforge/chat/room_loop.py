"""What is due in a room: the first of these that there is.

    1. a turn that was broken off (by a crash) is taken up again
    2. what is said in the voice notes of a new line is written down, where a model for that is set
    3. new lines are gathered for a moment and weighed: who has cause to speak?
    4. the mates that have take their turns, one after the other, each seeing every line so far
    5. a title is found when one is due
    6. a conversation ends in which nothing was said for long, or a mate is woken that speaks up

A reminder that is due rings before mates take their turns.

Everything it goes by is in the ledger, so that it can be broken off anywhere.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from msgspec.structs import replace

from loopforge.chat.reminders.due_reminders import DueReminders
from loopforge.chat.reminders.unprompted_turns import UnpromptedTurns
from loopforge.chat.room import guest_rules
from loopforge.chat.room.daily_quota import Quota
from loopforge.chat.room.permissions import charge_for_lines, is_answerable
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import RoomStore
from loopforge.chat.room.turn_queue import ANEW, GREETING, TITLE, TRANSCRIPT, DueTurn, OpenTurn
from loopforge.chat.speaking import addressee_detection, triggers
from loopforge.chat.speaking.exposed_keys import exposed_keys
from loopforge.chat.speaking.line_debounce import debounce_lines
from loopforge.chat.speaking.line_routing import LineRouting, is_posted_by_program
from loopforge.chat.speaking.memory_requests import wishes_in
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.chat.turns import room_titles
from loopforge.chat.turns.apply_acts import delivery_facts
from loopforge.chat.turns.fallback_mate import UNABLE, FallbackMate
from loopforge.chat.turns.voice_notes import oldest_untranscribed, skipped_audio_notices
from loopforge.core.context_window import ContextEntry
from loopforge.core.events import Fact
from loopforge.core.mates.mate_file import Mate
from loopforge.core.room_vocabulary import ConversationEnded, Told, TurnDropped, Weighed, Weight
from loopforge.core.text.erasable_text import Words
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp
from loopforge.runtime.world import ERASED, OVERTAKEN, TurnDue

SCRIBE = "room"
"""The handle under which the room itself thinks (it names conversations)."""
HALTING = (
    *("room.heard", "room.stopped", "room.closed", "room.line_deleted", "room.mate_left"),
    *("room.person_joined", "room.place_joined", "turn.perceived"),
)
"""What may make mates leave off, or begin."""
STOPPED = "a person said stop"
GONE = "what it was to answer was deleted"
SENT = "it was sent out of the room"
SPENT = "the room has no energy left; a line of a person gives some back"


def why_halted(state: RoomState, turn: OpenTurn) -> str:
    """Why a turn that has begun goes no further; "" where it may."""
    if not turn.halted:
        return OVERTAKEN if turn.overtaken else ""
    if state.stopped:
        return STOPPED
    return GONE if turn.mate in (*state.mates, SCRIBE) else SENT


@dataclass(frozen=True, kw_only=True)
class RoomTurn(TurnDue):
    """A mate's turn in a room: `called` says by which lines, and how."""

    called: DueTurn

    @property
    def awaited(self) -> bool:
        """Whether people wait for this mate's answer."""
        called = self.called.verdict == "speak" and self.step == 0
        return called and self.mate.handle != SCRIBE


class RoomLoop:
    """Says what is due in rooms. `mates` are those of this home by handle, as they are on file.

    `policies` are the names of the minds that are installed.
    """

    def __init__(
        self,
        ledger: Ledger,
        stamp: Stamp,
        house: RoomStore,
        mates: Mapping[str, Mate],
        rules: RoomRules,
        relief: FallbackMate,
        bell: DueReminders,
        unprompted: UnpromptedTurns,
        quota: Quota,
        policies: Collection[str],
    ) -> None:
        self._bell, self._unprompted, self._quota = bell, unprompted, quota
        self._ledger, self._stamp, self._house = ledger, stamp, house
        self._mates, self._rules, self._relief = mates, rules, relief
        self._policies = policies
        self.fold, self.routing = house.state, LineRouting()
        ledger.subscribe(lambda *_: addressee_detection.forget_all(), kinds=["ledger.erased"])

    async def due(self, state: RoomState) -> RoomTurn | Sequence[Fact] | datetime | None:
        """See `World.due`."""
        if not state.closed:
            if state.open:
                return self._again(state, next(iter(state.open.values())))
            if line := self._unheard(state):
                called = DueTurn(mate=SCRIBE, lines=(line,), summons=TRANSCRIPT)
                return self._taken(self._listener(), TRANSCRIPT, called)
            if state.pending():
                return await self._weighed(state)
            rings = await self._bell.due(state, self._quota.over)
            if rings is not None and not isinstance(rings, datetime):
                return rings
            if state.due:
                return self._turn(state, state.due[0])
            if not state.stopped and room_titles.due(state):
                called = DueTurn(mate=SCRIBE, lines=(state.recent(1)[-1].id,), summons=TITLE)
                return self._taken(self._scribe(), TITLE, called)
        await self._house.save(state.stream)
        ends = await self._end(state)
        rings = None if state.closed else await self._bell.due(state, self._quota.over)
        if rings is not None and not isinstance(rings, datetime):
            return rings
        woken = await self._unprompted.due(state, self._rules.zone, self._rules.guests)
        if woken is True:
            return ()
        moments = (one for one in (ends, rings, woken) if isinstance(one, datetime))
        return min(moments, default=None)

    async def _end(self, state: RoomState) -> datetime | None:
        """When the conversation ends if nobody speaks; if that is over, it ends now."""
        ends = self._rules.ends(state)
        if not state.conversation or ends is None or ends > self._stamp.clock.now():
            return ends if state.conversation else None

        async def attempt(seq: int) -> None:
            if state.conversation and self._rules.ends(state) == ends:  # nobody spoke meanwhile
                fact = self._stamp.fact(ConversationEnded(why="idle"), actor="room")
                await self._ledger.append(state.stream, [fact], expect=seq)

        await self._ledger.decide(state.stream, partial(self._house.head, state.stream), attempt)
        return None

    # ------------------------------------------------------------ weighing

    async def _weighed(self, state: RoomState) -> list[Fact]:
        """Wait for the rest of what somebody is saying, then weigh it all."""
        await debounce_lines(state, self._rules, self._stamp.clock)
        pending = state.pending()
        if not pending or self._unheard(state):
            return []
        mates, now = self._relief.listeners(state), self._stamp.clock.now()
        guests = self._rules.guests
        named = ((each, self._mates.get(each)) for each in state.mates)
        known = [(each, mate.name) for each, mate in named if mate is not None]
        weights = list[tuple[Weight, Weight]]()

        def alone(entry: ContextEntry) -> list[Weight]:
            found = triggers.weigh_triggers(state, [entry], mates, now, self._rules.thresholds)
            return [guests.weighed(state, [entry], weight) for weight in found]

        heeding = (
            entry
            for entry in pending
            if is_answerable(state, entry) and not is_posted_by_program(entry)
        )
        for batch in triggers.batches(heeding):
            first = triggers.weigh_triggers(state, batch, mates, now, self._rules.thresholds)
            found = [guests.weighed(state, batch, weight) for weight in first]
            weights += zip(
                first, await self.routing.routed(state, batch, found, known), strict=True
            )
        weighed = Weighed(upto=pending[-1].seq, weights=tuple(now for _, now in weights))
        facts = [self._stamp.fact(weighed, actor="room", cause=pending[-1].id)]
        for line, asked in wishes_in(state, pending, weighed.weights, alone, guests):
            facts.append(self._stamp.fact(asked, actor=f"person:{asked.person}", cause=line))
        told = await self._unanswered(state, pending)
        if names := [mates[mate].name for mate in guest_rules.refused(weights)]:
            told.append(guest_rules.told(names))
        if self._rules.transcriber:
            told += skipped_audio_notices(state, pending)
        told += exposed_keys(pending, state.places)
        for text in told:
            body = Told(text=Words(text))
            facts.append(self._stamp.fact(body, actor="room", cause=pending[-1].id))
            facts += delivery_facts(facts[-1], state.places, self._stamp)
        return facts

    async def _unanswered(self, state: RoomState, pending: Sequence[ContextEntry]) -> list[str]:
        """Why mates that were called by these lines do not answer: the answers of the day."""
        spent = [replace(entry, over=False) for entry in pending if entry.over]
        if not spent:
            return []
        mates, now, told = self._relief.listeners(state), self._stamp.clock.now(), list[str]()
        for batch in triggers.batches(entry for entry in spent if is_answerable(state, entry)):
            last = batch[-1]
            weights = triggers.weigh_triggers(state, batch, mates, now, self._rules.thresholds)
            charge = charge_for_lines(state, [last.id])
            called = any(each.verdict == "speak" for each in weights)
            if charge is not None and called and last.who in state.people:
                charge = replace(charge, stream=state.stream)
                told.append(await self._quota.why(charge, str(state.people[last.who].name)))
        return [each for each in told if each]

    def _unheard(self, state: RoomState) -> str:
        """The line whose voice note is to be written down before anything is weighed; "" for none.

        It may have come while others were waited for.
        """
        return oldest_untranscribed(state) if self._rules.transcriber else ""

    # ------------------------------------------------------------ turns

    def _turn(self, state: RoomState, due: DueTurn) -> RoomTurn | list[Fact]:
        """The turn, or the facts that another takes it or nobody does."""
        mate, why = self._mates.get(due.mate), self._hindrance(state, due)
        if mate is not None and not why:
            own = "" if due.summons == GREETING else state.policy(mate.handle) or mate.policy
            if (policy := own or "talk") in self._policies:
                return self._taken(mate, policy, due)
            return [self._dropped(due), *self._relief.mindless(state, due, mate, policy)]
        if not why and (other := self._relief.hand_over(state, due)):
            return other
        dropped = self._dropped(due, why or UNABLE)
        if why == SPENT:
            return [dropped, *self._relief.spent(state, due, mate)]
        return [dropped, *(self._relief.lament(state, due) if not why else ())]

    def _dropped(self, due: DueTurn, why: str = UNABLE) -> Fact:
        body = TurnDropped(mate=due.mate, line=due.line, why=why)
        return self._stamp.fact(body, actor="room", cause=due.line)

    def _hindrance(self, state: RoomState, due: DueTurn) -> str:
        if state.stopped:
            return STOPPED
        if due.step >= self._rules.steps:
            return f"it has taken {due.step} steps in a row"
        if state.energy.left < 1 and due.summons != ANEW:
            return SPENT
        return ""

    def _again(self, state: RoomState, turn: OpenTurn) -> RoomTurn:
        """A turn that was broken off."""
        mate = self._mates.get(turn.mate) or self._scribe(turn.mate)
        if turn.summons == TRANSCRIPT:
            mate = self._listener()
        due = turn.due or DueTurn(mate=turn.mate, lines=(turn.line,), summons=turn.summons)
        over = why_halted(state, turn)
        if turn.mate not in (*self._mates, SCRIBE):
            over = over or ERASED
        return self._taken(mate, "", due, open=turn.id, over=over, halted=turn.halted)

    def _taken(
        self,
        mate: Mate,
        policy: str,
        due: DueTurn,
        *,
        open: str = "",
        over: str = "",
        halted: bool = False,
    ) -> RoomTurn:
        return RoomTurn(
            mate=mate,
            policy=policy,
            line=due.line,
            summons=due.summons,
            step=due.step,
            longest=self._rules.say_limit,
            anew=due.line if due.summons == ANEW else "",
            open=open,
            over=over,
            halted=halted,
            called=due,
        )

    def _listener(self) -> Mate:
        """The room itself, as far as it listens to voice notes."""
        return replace(self._scribe(), model=self._rules.transcriber)

    def _scribe(self, handle: str = SCRIBE) -> Mate:
        """The room itself, as far as it thinks."""
        return Mate(name="the room", handle=handle, role="scribe", prompt="", hash="0" * 16)
