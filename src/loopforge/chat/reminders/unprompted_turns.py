"""Turns that nobody called for: after a silence, or at an hour, a mate is asked for a word.

    nobody spoke --(its file says when)--> Weighed, "ask" --> its turn --> a line, or silence

Only where the room lets it, the mate is for who spoke last (guest_rules.py), people are there,
energy is left, nobody said stop, it is nobody's quiet hour, and a person has spoken since a mate
was woken so last: nobody is left alone with a mate that talks to itself. What it is told of why it
was woken is build_perception.py's.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import NamedTuple
from zoneinfo import ZoneInfo

from loopforge.chat.reminders.reminder_service import ReminderService
from loopforge.chat.room.guest_rules import GuestRules
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import RoomStore
from loopforge.core.mates.mate_file import Mate
from loopforge.core.mates.unprompted_times import next_moment
from loopforge.core.room_vocabulary import Weighed, Weight
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp
from loopforge.schedule.quiet_hours import hours_in, quiet_until

EVERYTHING = GuestRules()
SCORE = 50
"""Of 100: cause enough to be asked whether it has something to say."""


class _Moment(NamedTuple):
    when: datetime
    spoke: int
    mate: str
    why: str


class UnpromptedTurns:
    """Wakes mates by time. `service` knows whose time is quiet; `zone` is the home's."""

    def __init__(
        self,
        ledger: Ledger,
        stamp: Stamp,
        house: RoomStore,
        mates: Mapping[str, Mate],
        service: ReminderService,
    ) -> None:
        self._ledger, self._stamp, self._house = ledger, stamp, house
        self._mates, self._service = mates, service

    async def due(
        self, state: RoomState, zone: ZoneInfo, guests: GuestRules = EVERYTHING
    ) -> datetime | bool:
        """Whether a mate was woken now (a turn is due then); else when one is, if ever."""
        found = self._next(state, zone, guests)
        if found is None:
            return False
        if found.when > self._stamp.clock.now():
            return found.when
        last = next(reversed(state.authors))
        weight = Weight(
            mate=found.mate,
            line=last,
            score=SCORE,
            reasons={found.why: SCORE},
            summons=found.why,
            verdict="ask",
        )

        async def attempt(seq: int) -> bool:
            again = self._next(state, zone, guests)
            if again is None or again.mate != found.mate or again.when > self._stamp.clock.now():
                return False  # somebody spoke, or it was woken
            body = Weighed(upto=state.weighed, weights=(weight,))
            fact = self._stamp.fact(body, actor="room", cause=last)
            await self._ledger.append(state.stream, [fact], expect=seq)
            return True

        head = partial(self._house.head, state.stream)
        return await self._ledger.decide(state.stream, head, attempt)

    def _next(self, state: RoomState, zone: ZoneInfo, guests: GuestRules) -> _Moment | None:
        """Which mate is woken next, and when; the one that spoke longest ago first.

        None that is not for guests, where the last line was said by one, or because of one's.
        """
        able = state.lets_unprompted and bool(state.people) and not state.unprompted.woken
        busy = state.closed or state.stopped or state.energy.left < 1 or state.due or state.open
        if not able or busy or state.last_at is None or not state.authors:
            return None
        now, found = self._stamp.clock.now(), list[_Moment]()
        last = state.recent(1)
        for handle, member in state.mates.items():
            mate = self._mates.get(handle)
            if mate is None or not mate.unprompted or guests.barred(state, last, handle):
                continue
            if nearest := next_moment(mate.unprompted, state.last_at, now, zone):
                moment, why = nearest
                when = self._awake(state, max(moment, now), zone)
                found.append(_Moment(when, member.spoke_seq, handle, why))
        return min(found, default=None)

    def _awake(self, state: RoomState, moment: datetime, zone: ZoneInfo) -> datetime:
        """The same moment, or when nobody's quiet hours hold any more."""
        held = {self._service.quiet(person) for person in ("", *state.people)}
        parsed = [(hours_in(hours), ZoneInfo(where) if where else zone) for hours, where in held]
        for _ in parsed:  # the end of one's may lie in another's
            before = moment
            for hours, where in parsed:
                moment = quiet_until(moment, hours, where)
            if moment == before:
                break
        return moment
