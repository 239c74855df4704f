"""Reminders as a service: what people and mates may have done with those of a room.

Whoever asks, a command, a mate's tool or a page, it is the same here: the form is checked against
the words (schedule/reminder_check.py), and what stands is changed in one decision on the room as it
is. Whose reminder it is may change it, and who may change the room.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple
from zoneinfo import ZoneInfo

from loopforge.chat.reminders.reminder_parsing import wished_reminder
from loopforge.chat.room.permissions import origin_of_person
from loopforge.chat.room.room_snapshot import WaitingReminder
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import RoomStore
from loopforge.core.act_guard import moment_of
from loopforge.core.events import Body, Event
from loopforge.core.limits.line_origin import LineOrigin
from loopforge.core.room_vocabulary import Schedule
from loopforge.core.schedule.reminder_events import (
    LONGEST_WHAT,
    ReminderCancelled,
    ReminderMoved,
    ReminderSet,
)
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.text.name_labels import one_line
from loopforge.errors import InputError, Unknown
from loopforge.people.identity.person_registry import PersonRegistry
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp
from loopforge.schedule.quiet_hours import hours_in, quiet_until
from loopforge.schedule.reminder_book import Reminder
from loopforge.schedule.reminder_check import check, completed_form, parse_local_time
from loopforge.schedule.reminder_form import Checked, Fits, ReminderForm
from loopforge.schedule.rule_expansion import rule_start
from loopforge.schedule.time_wording import localized_sentence, told_ahead, told_moment


@dataclass(frozen=True, kw_only=True)
class ReminderRequester:
    """Who wants something done: a person, by a mate or not; `keeper`: they may change the room.

    `cause` is the event that it follows from; done again for the same one, it is done once. `turn`
    is the mate's. `said`: when they said so, where that was long ago; `origin`: as what. `beside`:
    others whom the same turn answers, whose wish it may be.
    """

    person: str
    mate: str = ""
    turn: str = ""
    cause: str = ""
    keeper: bool = False
    beside: tuple[str, ...] = ()
    said: datetime | None = None
    origin: LineOrigin | None = None


class ReminderRules(NamedTuple):
    """What holds for reminders of a home: its time zone, quiet hours, how many one may have."""

    zone: str
    quiet: str
    most: int


class ReminderService:
    """Reminders of rooms. `rules` says what holds for them in this home now."""

    def __init__(
        self,
        ledger: Ledger,
        house: RoomStore,
        people: PersonRegistry,
        stamp: Stamp,
        rules: Callable[[], ReminderRules],
    ) -> None:
        self._ledger, self._house, self.people = ledger, house, people
        self._stamp, self._rules = stamp, rules

    # ------------------------------------------------------------ whose time

    def zone(self, person: str) -> tuple[str, bool]:
        """The time zone of a person, and whether they said so themselves; else the home's."""
        chosen = self.people.time(person)
        own = chosen.zone if chosen else ""
        return own or self._rules().zone, bool(own)

    def quiet(self, person: str) -> tuple[str, str]:
        """The quiet hours of a person, or the home's, and by whose clock."""
        chosen = self.people.time(person)
        hours = chosen.quiet if chosen else ""
        return hours or self._rules().quiet, self.zone(person)[0]

    def awake(self, one: Reminder, at: datetime) -> datetime:
        """That moment, or the end of the quiet hours in which it would ring then."""
        if one.wakes:
            return at
        hours, zone = self.quiet(one.person if one.whom == "me" else one.whom)
        return quiet_until(at, hours_in(hours), ZoneInfo(zone or one.zone))

    # ------------------------------------------------------------ looking

    async def waiting(self, stream: str) -> Sequence[Reminder]:
        """Those of a room that are to ring, the next first."""
        return (await self._house.state(stream)).reminders.waiting()

    def told(self, one: Reminder) -> str:
        """Such as "[2] call Anna: Friday 27 March, 09:00, in 1 day 19 hours".

        Not "2.": where Markdown is shown, a list counts on from its first number.
        """
        zone = ZoneInfo(one.zone)
        now, moment = self._stamp.clock.now().astimezone(zone), one.moment
        if moment is None:
            when = "over"
        elif moment > now:
            when = told_ahead(moment.astimezone(zone), now, one.language)
        else:
            at = told_moment(moment.astimezone(zone), now, one.language)
            when = localized_sentence(one.language, "late", moment=at)
            if self.awake(one, now) > now:
                when += f"; {localized_sentence(one.language, 'held')}"
        what = one.what.text if one.what.text is not None else "(forgotten)"
        again = " ↻" if one.rule else ""
        there = "" if one.zone == self.zone(one.person)[0] else f" ({one.zone})"
        return f"[{one.number}] {what}{again}: {when}{there}"

    async def said(self, stream: str, turn: str) -> datetime | None:
        """When the line that called a mate's turn was said, where that was long ago."""
        state = await self._house.state(stream)
        due = state.open[turn].due if turn in state.open else None
        lines = [state.lines[line] for line in due.lines if line in state.lines] if due else []
        return lines[-1].said_at if lines and lines[-1].ago else None

    async def origin(self, stream: str, turn: str, effect: str, person: str) -> LineOrigin:
        """As what a person said what a mate's turn answers; a stranger's guest, if that is gone."""
        state = await self._house.state(stream)
        about = state.turns.effects.get(effect) or state.open.get(turn)
        found = origin_of_person(state, about.lines, person) if about else None
        return found or LineOrigin(who=person, untrusted=True, guest=True)

    # ------------------------------------------------------------ doing

    def read(self, line: str, asker: ReminderRequester) -> tuple[ReminderForm, str]:
        """The form that a whole line of somebody's fills, and its language. Raises InputError."""
        zone, _ = self.zone(asker.person)
        now = asker.said or self._stamp.clock.now()
        if (found := wished_reminder(line, now, zone)) is None:
            raise InputError("say of what to remind, and when: *remind me in two hours of the tea*")
        return found

    async def set(
        self,
        stream: str,
        asker: ReminderRequester,
        form: ReminderForm,
        language: str,
        wakes: str = "",
    ) -> tuple[Checked, int]:
        """Check the form and set it where it fits; the number it has then, else 0.

        What a mate had set already, to the minute, is not set again. Raises InputError for one
        without a text or with too long a one, or more than may wait.
        """
        what = one_line(form.what, LONGEST_WHAT + 1)
        if not what:
            raise InputError("say of what to remind: `what` is empty")
        if len(what) > LONGEST_WHAT:
            raise InputError(
                f"say shorter of what to remind: it may have at most {LONGEST_WHAT} characters"
            )
        now, zone = self._stamp.clock.now(), self.zone(asker.person)[0]
        said = asker.said or now
        form = completed_form(form, said, zone, language)
        found = check(form, now, zone, language, said)
        if not isinstance(found, Fits):
            return found, 0
        numbers: list[int] = []

        def decide(state: RoomState) -> Sequence[Body]:
            most = self._rules().most
            if reminders_left(state, asker.person, most) <= 0:
                raise InputError(f"{most} reminders wait already; cancel one first")
            numbers[:] = [state.reminders.count + 1]
            whom, asked = _whom(state, form.whom), _asked(state, asker.turn)
            wish = (asker.mate, asker.person, whom, wakes, form.rule, what)
            for one in state.reminders.waiting():
                had = (one.mate, one.person, one.whom, one.wakes, one.rule, one.what.text)
                same = bool(asker.mate) and had == wish
                if same and one.due and abs(one.due - found.first) < timedelta(minutes=1):
                    numbers[:] = [one.number]
                    return []
            if wakes and not asked and state.energy.left < 1:
                raise InputError("this room has no energy left; a person has to speak first")
            body = ReminderSet(
                number=numbers[0],
                what=Words(what),
                said=Words(form.said),
                person=asker.person,
                due=found.first.astimezone(UTC),
                zone=found.zone,
                whom=whom,
                rule=form.rule,
                start=_start(form, found, said) if form.rule else "",
                language=language,
                mate=asker.mate,
                wakes=wakes,
                asked=asked or not wakes,
                origin=asker.origin,
            )
            return [body]

        done = await self._decide(stream, asker, "reminder.set", decide)
        body = done[0].body if done else None
        return found, body.number if isinstance(body, ReminderSet) else numbers[0]

    async def move(
        self,
        stream: str,
        asker: ReminderRequester,
        number: int,
        form: ReminderForm,
        *,
        snoozed: bool = False,
    ) -> Checked:
        """Have it ring at another moment; `snoozed`: once more then, beside its rule.

        One without a rule that did not ring yet is moved by that. Raises Unknown, InputError.
        """
        one = self._own(await self._house.state(stream), asker, number)
        now, zone = self._stamp.clock.now(), self.zone(asker.person)[0]
        said = asker.said or now
        form = completed_form(form, said, zone, one.language)
        found = check(form, now, zone, one.language, said)
        if not isinstance(found, Fits):
            return found
        if snoozed and form.rule:
            raise InputError("it can only be put off to one moment; give `in` or `at`")

        def decide(state: RoomState) -> Sequence[Body]:
            known = self._own(state, asker, number)
            body = ReminderMoved(
                reminder=known.id,
                by=asker.person,
                due=found.first.astimezone(UTC),
                said=Words(form.said),
                zone=found.zone,
                rule=form.rule,
                start=_start(form, found, said) if form.rule else "",
                snoozed=snoozed and (bool(known.rule) or known.due is None),
            )
            return [body]

        await self._decide(stream, asker, "reminder.moved", decide)
        return found

    async def cancel(self, stream: str, asker: ReminderRequester, number: int) -> None:
        """It will not ring. Raises Unknown, InputError."""

        def decide(state: RoomState) -> Sequence[Body]:
            one = self._own(state, asker, number)
            return [ReminderCancelled(reminder=one.id, by=asker.person)]

        await self._decide(stream, asker, "reminder.cancelled", decide)

    # ------------------------------------------------------------ deciding

    def _own(self, state: RoomState, asker: ReminderRequester, number: int) -> Reminder:
        one = state.reminders.numbered(number)
        if one is None:
            known = ", ".join(str(each.number) for each in state.reminders.waiting()) or "none"
            raise Unknown(f"There is no reminder {number} here. Waiting: {known}.")
        same = self.people.same
        people = (asker.person, *asker.beside)
        theirs = all(same(one.person) == same(who) or one.whom == who for who in people)
        if not (asker.keeper or theirs):
            raise InputError(f"Reminder {number} is somebody else's; only they may change it.")
        return one

    async def _decide(
        self,
        stream: str,
        asker: ReminderRequester,
        kind: str,
        decide: Callable[[RoomState], Sequence[Body]],
    ) -> tuple[Event, ...]:
        """Append what is decided; nothing where that was done for the same cause before."""

        async def attempt(seq: int) -> tuple[Event, ...]:
            if asker.cause:
                done = await self._ledger.read(stream, kinds=[kind], limit=100, newest=True)
                if before := [one for one in done if one.cause == asker.cause]:
                    return tuple(before)
            state = await self._house.state(stream)
            actor = f"mate:{asker.mate}" if asker.mate else f"person:{asker.person}"
            facts = [
                self._stamp.fact(body, actor=actor, cause=asker.cause) for body in decide(state)
            ]
            return await self._ledger.append(stream, facts, expect=seq)

        return await self._ledger.decide(stream, partial(self._house.head, stream), attempt)


def _start(form: ReminderForm, found: Fits, said: datetime) -> str:
    """From when on a rule goes, local: as the form says, or from its first moment on."""
    zone = ZoneInfo(found.zone)
    now = said.astimezone(zone).replace(tzinfo=None)
    start: datetime = (
        parse_local_time(form.start, zone) if form.start else rule_start(form.rule, now)
    )
    return start.isoformat(timespec="minutes")


def reminders_left(state: RoomState, person: str, most: int) -> int:
    """How many more reminders of a person may wait in a room."""
    return most - sum(one.person == person for one in state.reminders.waiting())


def _asked(state: RoomState, turn: str) -> bool:
    """Whether a person's line called this turn: no reminder that rang, no silence."""
    due = state.open[turn].due if turn in state.open else None
    if due is None:
        return True
    return any(state.lines[line].kind == "heard" for line in due.lines if line in state.lines)


def own_waking(
    state: RoomState,
    now: datetime,
    act: Schedule,
    before: int,
    *,
    origin: LineOrigin | None,
    **whose: str,
) -> ReminderSet:
    """What it comes to that a mate has itself woken; `before`: so many are set in the same moment.

    `whose` are the fields `person`, `mate` and `zone`, `origin` is that person's. The guard let
    the act pass.
    """
    when = moment_of(act.when, now)
    assert when is not None
    return ReminderSet(
        number=state.reminders.count + 1 + before,
        what=Words(one_line(act.what, LONGEST_WHAT)),
        said=public_words(""),
        due=when.astimezone(UTC),
        wakes=whose["mate"],
        asked=False,
        origin=origin,
        **whose,
    )


def waking_told(name: str, one: ReminderSet, now: datetime) -> str:
    """What a room is told of it, so that nobody is surprised, and whoever minds cancels it."""
    zone = ZoneInfo(one.zone)
    moment = told_moment(one.due.astimezone(zone), now.astimezone(zone), "en")
    listed = f"/reminders lists it, /reminders cancel {one.number} ends it."
    return f"{name} has itself woken {moment}: {one.what} ({listed})"


def _whom(state: RoomState, said: str) -> str:
    """Whom a form means: "me", "room", or a person of the room by name. Raises InputError."""
    name = said.strip().removeprefix("@").casefold() or "me"
    if name in ("me", "room"):
        return name
    for id, person in state.people.items():
        if name in (id.casefold(), str(person.name).casefold()):
            return id
    here = ", ".join(str(person.name) for person in state.people.values()) or "nobody"
    raise InputError(f"nobody called {said!r} is in this room; here: {here}. Or: me, room")


# ---------------------------------------------------------------- waiting reminders


def waiting_of(state: RoomState) -> tuple[WaitingReminder, ...]:
    """Those that are to ring, the next first."""
    return tuple(map(_seen, state.reminders.waiting()))


def _seen(one: Reminder) -> WaitingReminder:
    """By the clock and in the language in which it was set."""
    zone = ZoneInfo(one.zone)
    assert one.moment is not None
    return WaitingReminder(
        number=one.number,
        what=one.what.text if one.what.text is not None else "(forgotten)",
        when=told_moment(one.moment.astimezone(zone), one.set_at.astimezone(zone), one.language),
        again=bool(one.rule),
    )
