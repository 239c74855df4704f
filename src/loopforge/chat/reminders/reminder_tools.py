"""Reminders as tools of mates: set, list, change, put off, cancel; each tells what came of it.

A form that does not fit is no failure: its result says what to ask the person, or what was wrong.
"""

from msgspec.structs import replace

from loopforge.chat.reminders.reminder_service import ReminderRequester, ReminderService
from loopforge.errors import InputError
from loopforge.runtime.ports import Tool, ToolCall, ToolWork, arguments_schema
from loopforge.schedule.phrases.phrase_reading import spoken_language
from loopforge.schedule.reminder_form import AsksBack, Checked, Fits, ReminderForm

ZONE = " That goes by the home's time zone, {zone}; /zone sets your own."
_WHEN = {
    "said": {
        "type": "string",
        "description": "when, in the person's own words, exactly as they said it; with what they "
        "answered to your question, if you asked",
    },
    "in": {
        "type": "string",
        "description": "where you are sure: a span from now, such as PT2H or P3D",
    },
    "at": {"type": "string", "description": "or a local date and time, such as 2026-03-27T09:00"},
    "rule": {
        "type": "string",
        "description": "or an RRULE, such as FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0",
    },
    "start": {"type": "string", "description": "from when on the rule goes, local"},
    "zone": {"type": "string", "description": "a time zone they named, such as Asia/Tokyo"},
    "language": {"type": "string", "enum": ["en", "de", "fr", "es"]},
}
_NUMBER = {"number": {"type": "integer", "minimum": 1, "description": "its number in the list"}}
_RINGING = {
    "what": {
        "type": "string",
        "minLength": 1,
        "maxLength": 500,
        "description": "of what; left out where `said` is the whole wish",
    },
    "whom": {"type": "string", "description": "me (default: who asked), room, or a name here"},
    "act": {
        "type": "boolean",
        "description": "true: you are woken then, to do it; else they are only told",
    },
}


def _tool(name: str, summary: str, properties: dict[str, object], *required: str) -> Tool:
    return Tool(
        name=name,
        summary=summary,
        schema=arguments_schema(required, **properties),
        idempotent=True,
        harmless=True,
        trusted=True,
    )


REMIND = _tool(
    "remind",
    "Sets a reminder or a routine, by the person's own words of when. Tell them what it tells.",
    {**_RINGING, **_WHEN},
    "said",
)
REMINDERS = _tool("reminders", "Lists the reminders of this room, with their numbers.", {})
CHANGE_REMINDER = _tool(
    "change_reminder",
    "Has a reminder ring at another time; with once, only the next time (it is put off).",
    {**_NUMBER, **_WHEN, "once": {"type": "boolean"}},
    "number",
    "said",
)
CANCEL_REMINDER = _tool("cancel_reminder", "Cancels a reminder.", {**_NUMBER}, "number")


class ReminderTools:
    """The work of these tools, for a home."""

    def __init__(self, service: ReminderService) -> None:
        self._service = service

    async def remind(self, call: ToolCall) -> str:
        """Set one."""
        form, asker = _form(call), await self._asker(call)
        language = self._language(call, form)
        if not form.what:
            wished, language = self._service.read(form.said, asker)
            form = replace(form, said=wished.said, what=wished.what)
        wakes = call.mate if call.arguments.get("act") else ""
        found, number = await self._service.set(call.stream, asker, form, language, wakes)
        return self._worded(found, asker.person, f"Reminder {number}, {form.what}, is set")

    async def reminders(self, call: ToolCall) -> str:
        """List them."""
        waiting = await self._service.waiting(call.stream)
        return "\n".join(map(self._service.told, waiting)) or "No reminder waits in this room."

    async def change(self, call: ToolCall) -> str:
        """Move one, or put it off."""
        number, once = int(call.arguments["number"]), bool(call.arguments.get("once"))
        asker = await self._asker(call)
        found = await self._service.move(call.stream, asker, number, _form(call), snoozed=once)
        return self._worded(found, asker.person, f"Reminder {number} is changed")

    async def cancel(self, call: ToolCall) -> str:
        """Cancel one."""
        number = int(call.arguments["number"])
        await self._service.cancel(call.stream, await self._asker(call), number)
        return f"Reminder {number} is cancelled."

    async def _asker(self, call: ToolCall) -> ReminderRequester:
        if not call.people:
            raise InputError("there is nobody here whom it would be for")
        return ReminderRequester(
            person=call.people[-1],
            mate=call.mate,
            turn=call.turn,
            cause=call.id,
            beside=tuple(call.people[:-1]),
            said=await self._service.said(call.stream, call.turn),
            origin=await self._service.origin(call.stream, call.turn, call.id, call.people[-1]),
        )

    def _language(self, call: ToolCall, form: ReminderForm) -> str:
        return str(call.arguments.get("language") or spoken_language(form.said))

    def _worded(self, found: Checked, person: str, done: str) -> str:
        """What the mate is told of it, so that it can say so."""
        match found:
            case AsksBack(question=question):
                return f"Nothing is set yet. {question}"
            case Fits(words=words, note=note, zone=zone):
                odd = f" Note: {note}." if note else ""
                here, own = self._service.zone(person)
                home = "" if own or zone != here else ZONE.format(zone=zone)
                return f"{done}: {words}.{odd}{home}"
            case _:
                return f"Nothing was set. {found.why}"

    @property
    def table(self) -> tuple[tuple[Tool, ToolWork], ...]:
        """Each tool and its work."""
        return (
            (REMIND, self.remind),
            (REMINDERS, self.reminders),
            (CHANGE_REMINDER, self.change),
            (CANCEL_REMINDER, self.cancel),
        )


def _form(call: ToolCall) -> ReminderForm:
    given = {name: str(value) for name, value in call.arguments.items()}
    return ReminderForm(
        said=given.get("said", ""),
        after=given.get("in", ""),
        at=given.get("at", ""),
        rule=given.get("rule", ""),
        start=given.get("start", ""),
        what=given.get("what", ""),
        whom=given.get("whom", "me"),
        zone=given.get("zone", ""),
    )
