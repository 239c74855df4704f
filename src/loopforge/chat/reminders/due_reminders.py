"""Due reminders: what is due in a room is told, once, where the person is.

    due --Fired--> a line here
           |
           +-- to another room --> a line there --Passed--> over

That it rang and what is told stand in one append, made only where nobody rang it before; so a crash
or a second program rings nothing twice. Where it is told in another room, that room is looked
through for the line before it is said there.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from loopforge.chat.reminders.reminder_service import ReminderService
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import PREFIX, RoomStore
from loopforge.chat.turns.apply_acts import delivery_facts
from loopforge.core.events import Body, Fact
from loopforge.core.mates.mate_file import Mate, mate_name
from loopforge.core.room_vocabulary import ConversationBegan, Told, Weighed, Weight
from loopforge.core.schedule.reminder_events import ReminderCancelled, ReminderFired, ReminderPassed
from loopforge.core.text.erasable_text import Words
from loopforge.runtime.ports import Ledger
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
FORGOTTEN = "(the words were forgotten)"


class DueReminders:
    """Rings the reminders of rooms; `service` knows whose time is quiet."""

    def __init__(
        self,
        ledger: Ledger,
        stamp: Stamp,
        house: RoomStore,
        mates: Mapping[str, Mate],
        service: ReminderService,
    ) -> None:
        self._ledger, self._stamp, self._house, self._mates = ledger, stamp, house, mates
        self._service = service

    async def due(self, state: RoomState) -> Sequence[Fact] | datetime | None:
        """Ring what is due (then nothing is left to append); else when the next one is."""
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
        await self._ring(state, first[1])
        return ()

    # ------------------------------------------------------------ here

    async def _ring(self, state: RoomState, one: Reminder) -> None:
        """Write down that it rang, with the line that tells it, unless somebody did."""
        due = one.moment
        to = await self._where(state, one)

        async def attempt(seq: int) -> None:
            known = state.reminders.items.get(one.id)
            if known is None or known.moment != due or state.closed:
                return
            await self._ledger.append(state.stream, self._rung(state, one, to), expect=seq)

        await self._ledger.decide(state.stream, partial(self._house.head, state.stream), attempt)

    def _rung(self, state: RoomState, one: Reminder, to: str) -> list[Fact]:
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
        return [fired, *self._told(state, one, due, fired.id, held=held)]

    def _told(
        self, state: RoomState, one: Reminder, due: datetime, fired: str, *, held: bool
    ) -> list[Fact]:
        """The line that tells it, and for a routine the call of its mate."""
        before: list[Body] = [] if state.conversation else [ConversationBegan(why="asked")]
        facts = [self._stamp.fact(body, actor="room") for body in before]
        text = self.text(state, one, due, held=held)
        told = Told(text=Words(text), person=one.person, rang=fired)
        line = self._stamp.fact(told, actor="room", cause=fired)
        facts += [line, *delivery_facts(line, state.places, self._stamp, "reminder")]
        if _woken(state, one):
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

    def text(self, state: RoomState, one: Reminder, due: datetime, *, held: bool) -> str:
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
        woken = _woken(state, one)
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
        last with that mate alone; where there is no such room, here.
        """
        if one.wakes or one.whom != "me" or not one.mate:
            return ""
        if _alone(state):
            return ""
        person, best = self._service.people.same(one.person), list[tuple[datetime, str]]()
        for stream in await self._ledger.heads(PREFIX):
            other = await self._house.state(stream)
            if other.closed or other.last_at is None or one.mate not in other.mates:
                continue
            if {self._service.people.same(each) for each in other.people} == {person}:
                best.append((other.last_at, stream))
        return max(best, default=(None, ""))[1]

    async def _pass(self, state: RoomState, ring: PassingRing) -> None:
        """Tell it in the other room, unless it stands there; then it is over here."""
        there = await self._house.state(ring.to)
        one = state.reminders.items.get(ring.reminder)

        async def attempt(seq: int) -> None:
            said = await self._ledger.read(
                ring.to, kinds=["room.told"], limit=LOOKED_BACK, newest=True
            )
            if any(event.cause == ring.fired for event in said) or one is None or there.closed:
                return
            if one.what.text is None:
                return
            facts = self._told(there, one, ring.due, ring.fired, held=ring.held)
            await self._ledger.append(ring.to, facts, expect=seq)

        await self._ledger.decide(ring.to, partial(self._house.head, ring.to), attempt)

        async def passed(seq: int) -> None:
            if ring.fired in state.reminders.passing:
                body = ReminderPassed(fired=ring.fired)
                fact = self._stamp.fact(body, actor="room", cause=ring.fired)
                await self._ledger.append(state.stream, [fact], expect=seq)

        await self._ledger.decide(state.stream, partial(self._house.head, state.stream), passed)


def _woken(state: RoomState, one: Reminder) -> bool:
    """Whether a mate takes a turn for it: one that is here, where none was stopped."""
    return one.wakes in state.mates and not state.stopped


def _alone(state: RoomState) -> bool:
    """Whether there is one person with mates here, and nobody else."""
    return len(state.people) == 1
