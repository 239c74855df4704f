"""Reminders as pages: those of a room, those of a person in all their rooms, and one that rang.

Everything a form does here is a command of the rooms (/remind and others), so that what is open is
asked as it is there; what was typed stays. It works without scripts, and on a phone.
"""

from typing import Annotated, Any

from litestar import Response, get, post
from litestar.params import Parameter
from litestar.response import Redirect, Template
from msgspec import Struct

from loopforge.chat.commands.reminder_buttons import REMINDER_WAYS, RungReminder
from loopforge.chat.reminders.reminder_service import waiting_of
from loopforge.chat.room.room_store import stream_of
from loopforge.errors import InputError, Unknown
from loopforge.people.accounts.account_values import Visitor
from loopforge.schedule.reminder_book import Reminder
from loopforge.web.room.room_pages import form_response
from loopforge.web.server.access_guards import RoomAccess
from loopforge.web.server.flash_messages import FlashMessages
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page

UNSET = "Nothing is set yet."
"""How the answer to a form begins that left something open."""
Word = Annotated[str, Parameter(max_length=40)]


class ReminderRow(Struct, frozen=True, kw_only=True):
    """A reminder as it is listed: what, when in words, for whom, whose, and whether it is theirs.

    `mate` is the name of one that is woken to do it.
    """

    number: int
    what: str
    when: str
    again: bool
    whom: str
    by: str
    mate: str
    mine: bool


def _row(site: PageContext, place: RoomAccess, one: Reminder) -> ReminderRow:
    same, me = site.people.same, place.visitor.person
    mine = same(one.person) == same(me) or one.whom == me
    by = place.scene.person(one.person)
    whom = {"me": by, "room": "everybody here"}.get(one.whom) or place.scene.person(one.whom)
    _, _, told = site.reminders.told(one).partition("] ")
    return ReminderRow(
        number=one.number,
        what=one.what.text if one.what.text is not None else "(forgotten)",
        when=told.rpartition(": ")[2],
        again=bool(one.rule),
        whom=whom,
        by=by,
        mate=place.scene.mate(one.wakes).name if one.wakes else "",
        mine=mine or place.owner,
    )


@get("/rooms/{room:str}/reminders")
async def room_reminders(
    request: Asked, site: PageContext, place: RoomAccess, told: Word = ""
) -> Template:
    """What waits in a room, and a form for one more; `told` names what a form was answered."""
    notes: FlashMessages = request.app.state["notes"]
    return await _reminders(site, place, told=notes.read(place.visitor.person, told))


async def _reminders(site: PageContext, place: RoomAccess, **more: Any) -> Template:
    zone, own = site.reminders.zone(place.visitor.person)
    quiet, _ = site.reminders.quiet(place.visitor.person)
    waiting = await site.reminders.waiting(stream_of(place.room))
    return render_page(
        "reminders.html",
        place.visitor,
        here="rooms",
        place=place,
        name=place.scene.called,
        rows=[_row(site, place, one) for one in waiting],
        ways=[(verb, label) for verb, (label, _) in REMINDER_WAYS.items() if verb != "cancel"],
        zone=zone,
        own=own,
        quiet=quiet,
        **{"told": "", "error": "", "when": "", "what": "", **more},
    )


def _argument(data: dict[str, str]) -> tuple[str, str]:
    """The command that a form is, and what is typed after it. Raises InputError."""
    act, number = data.get("act", ""), data.get("number", "")
    when, what = data.get("when", "").strip(), data.get("what", "").strip()
    if not when and act in ("set", "move", "zone"):
        raise InputError("Say when." if act != "zone" else "Say which zone.")
    match act:
        case "set" if not what:
            raise InputError("Say of what.")
        case "set":
            return "remind", f"{when.rstrip(':')}: {what}"
        case "move":
            return "reminders", f"move {number} {when}"
        case "zone":
            return "zone", when
        case "quiet":
            return "quiet", when or "home"
        case verb if verb in REMINDER_WAYS:
            way = REMINDER_WAYS[verb][1]
            return "reminders", way.format(number=number)
        case _:
            raise InputError("There is no such change of reminders.")


@post("/rooms/{room:str}/reminders")
async def change_reminders(
    request: Asked, site: PageContext, place: RoomAccess, data: Fields
) -> Response[Any] | Template:
    """Set one, put one off, move or cancel it; or say where one lives, and when it is quiet."""
    person = place.visitor.person
    site.paces.changes.take(person)
    kept = {name: data.get(name, "") for name in ("when", "what") if data.get("act") == "set"}
    try:
        command, argument = _argument(data)
        told = await site.front.commands.act(
            place.room, person, command, argument, owner=place.owner
        )
    except InputError as refusal:
        return await _reminders(site, place, error=str(refusal), status=400, **kept)
    if told.startswith(UNSET):
        return await _reminders(site, place, error=told, **kept)
    notes: FlashMessages = request.app.state["notes"]
    code = notes.keep(person, told)
    return Redirect(f"/rooms/{place.room}/reminders?told={code}", status_code=303)


# ---------------------------------------------------------------- one that rang


@get("/rooms/{room:str}/rung/{event:str}")
async def rung(request: Asked, site: PageContext, place: RoomAccess, event: str) -> Template:
    """A reminder that rang, and what can be done about it; in the room itself, a card."""
    return await _rung(site, place, event, card="hx-request" in request.headers)


async def _told(site: PageContext, place: RoomAccess, event: str) -> tuple[str, RungReminder]:
    line = await site.front.line(place.room, event, place.sight)
    found = await site.front.rung.told(line)
    if found is None:
        raise Unknown("There is no such reminder here.")
    return str(getattr(line.body, "text", "")), found


async def _rung(
    site: PageContext, place: RoomAccess, event: str, *, card: bool = False, told: str = ""
) -> Template:
    words, found = await _told(site, place, event)
    same, me = site.people.same, place.visitor.person
    return render_page(
        "reminder-snooze-form.html" if card else "reminder-snooze.html",
        place.visitor,
        here="rooms",
        place=place,
        event=event,
        words=words,
        told=told,
        card=card,
        open=found.kept and (same(found.person) == same(me) or found.whom == me or place.owner),
        kept=found.kept,
        ways=[(verb, label) for verb, (label, _) in REMINDER_WAYS.items()],
    )


@post("/rooms/{room:str}/rung/{event:str}")
async def answer_rung(
    request: Asked,
    site: PageContext,
    place: RoomAccess,
    event: str,
    data: Fields,
) -> Response[Any] | Template:
    """Put it off, or have it ring no more."""
    site.paces.changes.take(place.visitor.person)
    verb = data.get("act", "")
    if verb not in REMINDER_WAYS:
        raise InputError("There is no such change of reminders.")
    _, found = await _told(site, place, event)
    told = await site.front.commands.act(
        found.room,
        place.visitor.person,
        "reminders",
        found.argument(verb),
        owner=place.owner,
    )
    if "application/json" in request.headers.get("accept", ""):
        return form_response(request, place.room, told=told)
    return await _rung(site, place, event, told=told)


# ---------------------------------------------------------------- all of a person's


@get("/reminders")
async def my_reminders(site: PageContext, visitor: Visitor) -> Template:
    """What waits for a person, room by room."""
    found = []
    for plate in await site.front.lobby.rooms_of(visitor.person, {}):
        state = await site.front.rooms.state(plate.room)
        mine = {
            one.number
            for one in state.reminders.waiting()
            if site.people.same(one.person) == site.people.same(visitor.person)
            or one.whom in (visitor.person, "room")
        }
        if rows := [one for one in waiting_of(state) if one.number in mine]:
            found.append((plate, rows))
    zone, own = site.reminders.zone(visitor.person)
    quiet, _ = site.reminders.quiet(visitor.person)
    return render_page(
        "my-reminders.html", visitor, here="you", found=found, zone=zone, own=own, quiet=quiet
    )
