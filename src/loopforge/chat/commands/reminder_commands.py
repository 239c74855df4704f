"""Reminders by command: /remind, /reminders, /zone and /quiet, in words as people say them.

Nobody thinks about these: the words of when are read by tables, and what they leave open is asked.
"""

from zoneinfo import ZoneInfo

from loopforge.chat.commands.command_request import CommandRequest, number_of
from loopforge.chat.reminders.reminder_parsing import spoken_reminder
from loopforge.chat.reminders.reminder_service import ReminderRequester, ReminderService
from loopforge.chat.room.permissions import may
from loopforge.chat.room.room_store import stream_of
from loopforge.chat.server import Rooms
from loopforge.core.text.spoken_lists import seconds_in_words
from loopforge.errors import InputError
from loopforge.runtime.ports import Clock
from loopforge.schedule.phrases.phrase_reading import spoken_language
from loopforge.schedule.quiet_hours import NONE, hours_in
from loopforge.schedule.reminder_check import filled_form, zone_called
from loopforge.schedule.reminder_form import AsksBack, Checked, Fits, Refused, ReminderForm

HOW = "Say when, a colon, and of what: /remind on Friday at nine: call Anna"
WHERE = " Your time zone is not known, so this is by the home's, {zone}; /zone sets yours."
LATE = "Your words came here {late} after you wrote them."
WAYS = "Ways: /reminders; /reminders cancel N; /reminders snooze N in 10 minutes; move N WHEN."


class ReminderCommands:
    """What people have done with reminders by command."""

    def __init__(self, rooms: Rooms, service: ReminderService, clock: Clock) -> None:
        self._rooms, self._service, self._clock = rooms, service, clock
        self.table = {
            "remind": self.remind,
            "reminders": self.reminders,
            "zone": self.zone,
            "quiet": self.quiet,
        }

    async def remind(self, asked: CommandRequest) -> str:
        """Set one for whoever asks."""
        if not asked.argument:
            return HOW
        asker = await self._asker(asked)
        zone = self._service.zone(asker.person)
        now = self._clock.now()
        found = spoken_reminder(asked.argument, asked.said or now, zone[0])
        if found is None:
            raise InputError(f"{HOW}.")
        form, language = found
        checked, number = await self._service.set(stream_of(asked.room), asker, form, language)
        home = "" if zone[1] or form.zone else WHERE.format(zone=zone[0])
        if isinstance(checked, Refused) and checked.reason == "past" and asked.said:
            late = seconds_in_words((now - asked.said).total_seconds())
            raise InputError(f"{checked.why} {LATE.format(late=late)}")
        return _worded(checked, f"Reminder {number}", form) + home * isinstance(checked, Fits)

    async def reminders(self, asked: CommandRequest) -> str:
        """List them, or do something with one."""
        stream = stream_of(asked.room)
        if not asked.argument:
            waiting = await self._service.waiting(stream)
            listed = "\n".join(map(self._service.told, waiting))
            return f"{listed}\n{WAYS}" if listed else f"No reminder waits in this room. {HOW}"
        how, _, rest = asked.argument.partition(" ")
        which, _, when = rest.strip().partition(" ")
        number = number_of(which)
        if how not in ("cancel", "snooze", "move") or not number or (how != "cancel" and not when):
            raise InputError(WAYS)
        asker = await self._asker(asked)
        if how == "cancel":
            await self._service.cancel(stream, asker, number)
            return f"Reminder {number} is cancelled."
        zone, language = self._service.zone(asker.person)[0], spoken_language(when)
        form = filled_form(when, asked.said or self._clock.now(), zone, language)
        found = await self._service.move(stream, asker, number, form, snoozed=how == "snooze")
        return _worded(found, f"Reminder {number}", form)

    async def zone(self, asked: CommandRequest) -> str:
        """Tell or set the time zone of whoever asks."""
        asker = await self._asker(asked)
        zone, own = self._service.zone(asker.person)
        if not asked.argument:
            whose = "yours" if own else "the home's; yours is not known"
            return f"{zone} ({whose}). Another: /zone Europe/Berlin"
        name = zone_called(asked.argument)
        if not name:
            raise InputError(
                f"No time zone is called {asked.argument[:40]!r}; use one such as Europe/Berlin."
            )
        await self._service.people.choose_time(asker.person, zone=name)
        now = self._clock.now().astimezone(ZoneInfo(name))
        return f"Your time zone is {name} from now on; it is {now:%H:%M} there."

    async def quiet(self, asked: CommandRequest) -> str:
        """Tell or set the quiet hours of whoever asks."""
        asker = await self._asker(asked)
        if not asked.argument:
            hours, zone = self._service.quiet(asker.person)
            told = f"{hours} ({zone})" if hours_in(hours) else NONE
            ways = "Others: /quiet 22:00-07:00; none: /quiet off; the home's again: /quiet home"
            return f"Quiet hours: {told}. {ways}"
        said = asked.argument.casefold()
        wanted = {"home": "", "off": NONE, NONE: NONE}.get(said, asked.argument)
        kept = hours_in(wanted)
        await self._service.people.choose_time(asker.person, quiet=wanted)
        if kept:
            return f"Your reminders wait in these hours: {wanted}."
        return "Your reminders wait for no hours." if wanted else "The home's hold."

    async def _asker(self, asked: CommandRequest) -> ReminderRequester:
        if not asked.person:
            raise InputError("Somebody has to ask for it; the machine itself is nobody.")
        state = await self._rooms.state(asked.room)
        keeps = may(state, asked.person, "change", keeper=asked.keeper, owner=asked.owner)
        return ReminderRequester(person=asked.person, keeper=keeps and asked.owner, said=asked.said)


def _worded(found: Checked, which: str, form: ReminderForm) -> str:
    """What whoever asked is told. Raises InputError where nothing was set."""
    match found:
        case Fits(words=words, note=note):
            there = f" ({form.zone})" if form.zone else ""
            return f"{which}: {words}{there}." + (f" {note}." if note else "")
        case AsksBack(question=question):
            raise InputError(f"Nothing is set yet. {question}")
        case _:
            raise InputError(found.why)
