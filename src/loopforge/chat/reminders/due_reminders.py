"""Due reminders: what is due in a room is told, once, where the person is.

    due --Fired--> a line here
           |
           +-- to another room --> a line there --Passed--> over

That it rang and what is told stand in one append, made only where nobody rang it before; so a crash
or a second program rings nothing twice. Where it is told in another room, that room is looked
through for the line before it is said there.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from loopforge.chat.reminders.reminder_service import ReminderService
from loopforge.chat.room.member_visibility import present_with
from loopforge.chat.room.permissions import may
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import RoomStore
from loopforge.chat.turns.apply_acts import delivery_facts
from loopforge.core.events import Body, Fact
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.mates.mate_file import Mate, mate_name
from loopforge.core.room_vocabulary import ConversationBegan, Told, Weighed, Weight
from loopforge.core.schedule.reminder_events import ReminderCancelled, ReminderFired, ReminderPassed
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.table_access import ReadableLedger
from loopforge.runtime.background_tasks import LASTING
from loopforge.runtime.system_clock import Stamp
from loopforge.schedule.reminder_book import PassingRing, Reminder
from loopforge.schedule.rule_expansion import next_ring
from loopforge.schedule.time_wording import localized_sentence, told_moment

SCHEDULED = "scheduled"
"""The summons of a mate that a routine wakes."""
LATE = timedelta(minutes=1)
"""After so long, people are told that it is late."""
LOOKED_BACK = 200
"""Lines of another room among which a ring is looked for."""
WORDS = {
    "en": ("Reminder for {who}: {what}", "Scheduled for {who}, {mate} does it now: {what}"),
    "de": ("Erinnerung für {who}: {what}", "Geplant für {who}, {mate} tut es jetzt: {what}"),
    "fr": ("Rappel pour {who} : {what}", "Prévu pour {who}, {mate} s'en occupe : {what}"),
    "es": ("Recordatorio para {who}: {what}", "Previsto para {who}, {mate} lo hace ya: {what}"),
}
EVERYBODY = {"en": "everybody", "de": "alle", "fr": "tout le monde", "es": "todos"}
Over = Callable[[Charge], Awaitable[bool]]
FORGOTTEN = "(the words were forgotten)"


class DueReminders:
    """Rings the reminders of rooms; `service` knows whose time is quiet."""

    def __init__(
        self,
        ledger: ReadableLedger,
        stamp: Stamp,
        house: RoomStore,
        mates: Mapping[str, Mate],
        service: ReminderService,
    ) -> None:
        self._ledger, self._stamp, self._house, self._mates = ledger, stamp, house, mates
        self._service = service

    async def due(self, state: RoomState, over: Over) -> Sequence[Fact] | datetime | None:
        """Ring what is due (then nothing is left to append); else when the next one is.

        `over` says whether the day's answers for somebody were given.
        """
        for ring in tuple(state.reminders.passing.values()):
            await self._pass(state, ring)
            return ()
        now = self._stamp.clock.now()
        waiting = [(one.moment, one) for one in state.reminders.waiting()]
        ahead = [(self._service.awake(one, max(at, now)), one) for at, one in waiting if at]
        first = min(ahead, key=lambda pair: pair[0], default=None)
        if first is None:
            return None
        if first[0] > now:
            return first[0]
        await self._ring(state, first[1], over)
        return ()

    # ------------------------------------------------------------ here

    async def _ring(self, state: RoomState, one: Reminder, over: Over) -> None:
        """Write down that it rang, with the line that tells it, unless somebody did."""
        due = one.moment
        to, barred = await self._where(state, one), await self._is_barred(state, one, over)

        async def attempt(seq: int) -> None:
            known = state.reminders.items.get(one.id)
            if known is None or known.moment != due or state.closed:
                return
            await self._ledger.append(
                state.stream, self._rung(state, one, to, barred=barred), expect=seq
            )

        await self._ledger.decide(state.stream, partial(self._house.head, state.stream), attempt)

    def _rung(self, state: RoomState, one: Reminder, to: str, *, barred: bool) -> list[Fact]:
        now, due = self._stamp.clock.now(), one.moment
        assert due is not None
        if one.what.text is None:
            gone = ReminderCancelled(reminder=one.id, by="room")
            return [self._stamp.fact(gone, actor="room", cause=one.id)]
        again = one.due
        if one.due == due:
            zone = ZoneInfo(one.zone)
            start = datetime.fromisoformat(one.start) if one.start else due.astimezone(zone)
            local = start.replace(tzinfo=None)
            again = next_ring(one.rule, local, max(due, now), zone) if one.rule else None
        held = self._service.awake(one, due) > due
        body = ReminderFired(reminder=one.id, due=due, next=again, to=to, held=held)
        fired = self._stamp.fact(body, actor="room", cause=one.id)
        if to:
            return [fired]
        return [fired, *self._told(state, one, due, fired.id, held=held, barred=barred)]

    async def _is_barred(self, state: RoomState, one: Reminder, over: Over) -> bool:
        """Whether nobody would answer whoever set a routine, if they said it now."""
        if not one.wakes or (by := one.origin) is None:
            return False
        charge = Charge(
            stream=state.stream, person=by.who, surface=by.surface, guest=by.guest, owner=by.owner
        )
        may_talk = may(state, by.who, "talk", keeper=by.keeper, owner=by.owner)
        return not may_talk or await over(charge)

    def _told(
        self,
        state: RoomState,
        one: Reminder,
        due: datetime,
        fired: str,
        *,
        held: bool,
        barred: bool = False,
    ) -> list[Fact]:
        """The line that tells it, and for a routine the call of its mate."""
        before: list[Body] = [] if state.conversation else [ConversationBegan(why="asked")]
        facts = [self._stamp.fact(body, actor="room") for body in before]
        woken = _woken(state, one) and not barred
        text = self.text(state, one, due, held=held, woken=woken)
        told = Told(text=Words(text), person=one.person, rang=fired, origin=one.origin)
        line = self._stamp.fact(told, actor="room", cause=fired)
        facts += [line, *delivery_facts(line, state.places, self._stamp, "reminder")]
        if woken:
            weight = Weight(
                mate=one.wakes,
                line=line.id,
                score=100,
                reasons={SCHEDULED: 100},
                summons=SCHEDULED,
                verdict="speak",
            )
            body = Weighed(upto=state.weighed, weights=(weight,))
            facts.append(self._stamp.fact(body, actor="room", cause=line.id))
        return facts

    def text(
        self, state: RoomState, one: Reminder, due: datetime, *, held: bool, woken: bool
    ) -> str:
        """What people are told, in the language in which it was set."""
        language = one.language if one.language in WORDS else "en"
        plain, routine = WORDS[language]
        mate = mate_name(self._mates, one.wakes)
        everyone = state.people | state.former
        if one.whom == "room":
            who = EVERYBODY[language]
        else:
            person = everyone.get(one.person if one.whom == "me" else one.whom)
            who = str(person.name) if person else one.whom
        what = str(one.what) if one.what.text is not None else FORGOTTEN
        told = (routine if woken else plain).format(who=who, what=what, mate=mate)
        now = self._stamp.clock.now()
        notes = []
        if one.wakes and not woken:
            notes.append(localized_sentence(language, "unable", mate=mate))
        if now - due > LATE:
            zone = ZoneInfo(one.zone)
            when = told_moment(due.astimezone(zone), now.astimezone(zone), language)
            notes.append(localized_sentence(language, "late", moment=when))
        if held:
            notes.append(localized_sentence(language, "held"))
        noted = f" ({'; '.join(notes)})" if notes else ""
        return f"⏰ {told}{noted} [{one.number}]"

    # ------------------------------------------------------------ elsewhere

    async def _where(self, state: RoomState, one: Reminder) -> str:
        """The stream of another room where the person is to be told; "" for this one.

        A routine stays. Who asked a mate for themselves, among others, is told where they spoke
        last with that mate alone; where there is no such room that can be read, here.
        """
        if one.wakes or one.whom != "me" or not one.mate:
            return ""
        if _alone(state):
            return ""
        best = list[tuple[datetime, str]]()
        present = await self._ledger.look(lambda tables: present_with(tables, one.mate))
        for stream, people in present.items():
            if not self._is_only(people, one.person):
                continue
            try:
                other = await self._house.state(stream)
            except LASTING:  # its own lane says what cannot be read
                continue
            if other.last_at is not None and self._is_alone(other, one):
                best.append((other.last_at, stream))
        return max(best, default=(None, ""))[1]

    def _is_only(self, people: Collection[str], person: str) -> bool:
        """Whether these are that one person, by whichever account they were met."""
        same = self._service.people.same
        return {same(each) for each in people} == {same(person)}

    def _is_alone(self, other: RoomState, one: Reminder) -> bool:
        """Whether whose it is, is alone there with the mate that set it.

        Nobody is in a group of a platform: who reads along there is not known.
        """
        if other.closed or one.mate not in other.mates:
            return False
        private = all(place.kind == "private" for place in other.places.values())
        return private and self._is_only(other.people, one.person)

    async def _pass(self, state: RoomState, ring: PassingRing) -> None:
        """Tell it in the other room, unless it stands there; then it is over here.

        It is told here, where they are not alone there any more, or that room cannot be read.
        """
        one = state.reminders.items.get(ring.reminder)
        known = one if one is not None and one.what.text is not None else None
        try:
            there = known is None or await self._tell_there(ring, known)
        except LASTING:  # what is no fault of that room alone is met again below
            there = False

        async def passed(seq: int) -> None:
            if ring.fired in state.reminders.passing:
                body = ReminderPassed(fired=ring.fired)
                facts = [self._stamp.fact(body, actor="room", cause=ring.fired)]
                if known is not None and not there:
                    facts += self._told(state, known, ring.due, ring.fired, held=ring.held)
                await self._ledger.append(state.stream, facts, expect=seq)

        await self._ledger.decide(state.stream, partial(self._house.head, state.stream), passed)

    async def _tell_there(self, ring: PassingRing, one: Reminder) -> bool:
        """Tell it in the other room, unless it stands there; whether it does now."""
        there = await self._house.state(ring.to)

        async def attempt(seq: int) -> bool:
            said = await self._ledger.read(
                ring.to, kinds=["room.told"], limit=LOOKED_BACK, newest=True
            )
            if any(event.cause == ring.fired for event in said):
                return True
            if not self._is_alone(there, one):
                return False
            facts = self._told(there, one, ring.due, ring.fired, held=ring.held)
            await self._ledger.append(ring.to, facts, expect=seq)
            return True

        return await self._ledger.decide(ring.to, partial(self._house.head, ring.to), attempt)


def _woken(state: RoomState, one: Reminder) -> bool:
    """Whether a mate takes a turn for it: one that is here, where none was stopped."""
    return one.wakes in state.mates and not state.stopped


def _alone(state: RoomState) -> bool:
    """Whether there is one person with mates here, and nobody else."""
    return len(state.people) == 1
