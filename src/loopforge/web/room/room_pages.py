"""Rooms as pages: the list, one room with its past, speaking, and what people do to a room.

Everything a form does here is a command of the rooms; the page is told by the stream. A request
that wants JSON (the page's own script) gets JSON, any other is sent back to the room.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from litestar import Response, get, post
from litestar.datastructures import UploadFile
from litestar.enums import MediaType
from litestar.params import Parameter
from litestar.response import Redirect, Template

from loopforge.artifacts.file_intake import FileLimits, data_of, ingest_file, is_erased
from loopforge.artifacts.media_types import PICTURES, SOUNDS
from loopforge.chat.room import rights_parsing
from loopforge.chat.room.event_wording import CHANGES
from loopforge.chat.room.permissions import MEANING
from loopforge.chat.room.rights_parsing import NOTHING
from loopforge.chat.room.room_store import stream_of
from loopforge.chat.speaking.triggers import CALLS
from loopforge.core.events import Event
from loopforge.core.limits import turn_bounds
from loopforge.core.mates.mate_file import parse_dialogue
from loopforge.core.room_vocabulary import File, Heard, Said
from loopforge.core.text.erasable_text import Words
from loopforge.errors import BadLine, InputError, Unknown
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.server.access_guards import RoomAccess, provide_visitor
from loopforge.web.server.file_response import file_response
from loopforge.web.server.flash_messages import FlashMessages
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page

PAGE = 60
"""Events of the past on a page at once, without those that change a line."""
FOUND = 50
BESIDE = 40
"""Rooms in the list beside a room; all of them stand on the page of rooms."""
MOST_FILES = 10
LARGE = 3
"""Files of the largest size that one line may come with; more of them, if they are smaller."""
ORDER = re.compile(r"\s*/([^\s/]+)(?:\s+(.*))?", re.DOTALL)
"""A line that is for the room. A first word with another slash in it, such as a path, is said."""
Seq = Annotated[int, Parameter(ge=0, le=2**53)]
Word = Annotated[str, Parameter(max_length=10)]
Sought = Annotated[str, Parameter(max_length=500)]


def max_request_bytes(site: PageContext) -> int:
    """Bytes that a line may have with all its files."""
    return int(site.live.now.upload_limit_bytes * LARGE + 1_000_000)


def wants_json(request: Asked) -> bool:
    """Whether the page's own script asks."""
    return "application/json" in request.headers.get("accept", "")


def form_response(request: Asked, room: str, **told: Any) -> Response[Any]:
    """The answer to a form: JSON for a script, else back to the room."""
    if wants_json(request):
        return Response(told, media_type=MediaType.JSON, status_code=200)
    return Redirect(f"/rooms/{room}", status_code=303)


# ---------------------------------------------------------------- the list


@get("/")
async def rooms(site: PageContext, visitor: Visitor) -> Template:
    """The rooms somebody is in."""
    reads = await site.accounts.decisions.vault.reads(visitor.person)
    plates = await site.front.lobby.rooms_of(visitor.person, reads)
    guests, mates = site.front.rooms.guests, site.roster.mates()
    if visitor.guest:
        mates = {handle: mates[handle] for handle in guests.for_them(mates)}
    opens = guests.rooms or not visitor.guest
    return render_page("rooms.html", visitor, here="rooms", plates=plates, mates=mates, opens=opens)


@get("/rooms")
async def listed_rooms(visitor: Visitor) -> Redirect:  # noqa: ARG001
    """Who types the address of the list by hand comes to it."""
    return Redirect("/")


@post("/rooms")
async def open_room(site: PageContext, visitor: Visitor, request: Asked) -> Redirect:
    """A new private room, with the mates that were ticked."""
    site.paces.changes.take(visitor.person)
    form = await request.form()
    mates = [str(handle) for handle in form.getall("mates", [])]
    title = str(form.get("title", ""))
    rooms, guest = site.front.rooms, visitor.guest
    room = await rooms.open(visitor.person, visitor.name, title, mates, guest=guest)
    return Redirect(f"/rooms/{room}", status_code=303)


# ---------------------------------------------------------------- one room


@get("/rooms/{room:str}")
async def room(
    request: Asked,
    site: PageContext,
    place: RoomAccess,
    at: Seq = 0,
    welcome: Word = "",
    told: Word = "",
) -> Template:
    """A room with the last of its past; with `at`, that line in its surroundings.

    Who has just come in by an invite (`welcome`) is told whose room it is, and how to leave.
    """
    front = site.front
    notes: FlashMessages = request.app.state["notes"]
    head = (await front.rooms.state(place.room)).seq
    before = at + PAGE // 2 if at else None
    events = await front.past(place.room, before=before, limit=PAGE, sight=place.sight)
    lines = [(event, await _render_line(site, place, event)) for event in events]
    reads = await site.accounts.decisions.vault.reads(place.visitor.person)
    plates = await front.lobby.rooms_of(place.visitor.person, reads)
    read = reads.get(stream_of(place.room), 0)
    return render_page(
        "room.html",
        place.visitor,
        here="rooms",
        place=place,
        scene=place.scene,
        lines=lines,
        head=head,
        oldest=events[0].seq if events else 0,
        more=_may_have_more(events),
        read=read,
        plates=plates[:BESIDE],
        unread=next((plate.unread for plate in plates if plate.room == place.room and read), 0),
        unread_at=await _first_unread(site, place, read),
        present=site.hub.here(place.room),
        welcome=welcome == "yes" and place.visitor.person != place.scene.opener,
        house=site.accounts.decisions.book.owner_name,
        examples=_example_lines(site, place, events),
        told=notes.read(place.visitor.person, told),
        limits={
            "file": site.live.now.upload_limit_bytes,
            "files": MOST_FILES,
            "all": site.live.now.upload_limit_bytes * LARGE,
        },
    )


async def _first_unread(site: PageContext, place: RoomAccess, read: int) -> int:
    """Where what this person has not read begins; 0 for who has read nothing, or all."""
    after = await site.front.history(place.room, after=read, limit=1, sight=place.sight)
    return after[0].seq if read and after else 0


@get("/rooms/{room:str}/beside")
async def beside(site: PageContext, place: RoomAccess) -> Template:
    """The list of rooms beside this one, with what is new in each, as a fragment."""
    reads = await site.accounts.decisions.vault.reads(place.visitor.person)
    plates = await site.front.lobby.rooms_of(place.visitor.person, reads)
    return render_page("room-list.html", place.visitor, scene=place.scene, plates=plates[:BESIDE])


def _example_lines(site: PageContext, place: RoomAccess, events: Sequence[Event]) -> list[str]:
    """A line to each of the first mates, of those their files give an answer to.

    None where a person has spoken.
    """
    if any(isinstance(event.body, Heard) for event in events):
        return []
    found = []
    for nth, card in enumerate(place.scene.mates[:3]):
        mate = site.front.rooms.mates.get(card.handle)
        asked = [asked for asked, _ in parse_dialogue(mate.prompt).examples] if mate else []
        line = asked[min(2 * nth, len(asked) - 1)] if asked else "Who are you?"
        found.append(f"@{card.handle} {line}")
    return found


async def _render_line(site: PageContext, place: RoomAccess, event: Event) -> str:
    return await site.hub.render.line(event, place.scene, place.owner)


@get("/rooms/{room:str}/before")
async def before(site: PageContext, place: RoomAccess, seq: Seq) -> Template:
    """Lines from before `seq`, as a fragment."""
    events = await site.front.past(place.room, before=seq, limit=PAGE, sight=place.sight)
    lines = [(event, await _render_line(site, place, event)) for event in events]
    more, oldest = _may_have_more(events), events[0].seq if events else 0
    return render_page(
        "earlier-lines.html", place.visitor, place=place, lines=lines, more=more, oldest=oldest
    )


def _may_have_more(events: Sequence[Event]) -> bool:
    """Whether there may be more before a page of the past."""
    return sum(event.kind not in CHANGES for event in events) == PAGE


@get("/rooms/{room:str}/search")
async def search(site: PageContext, place: RoomAccess, words: Sought = "") -> Template:
    """Lines that hold these words."""
    found = await site.front.search(place.room, words, FOUND, place.sight) if words.strip() else []
    lines = [(event, await _render_line(site, place, event)) for event in found]
    return render_page(
        "search.html", place.visitor, here="rooms", place=place, words=words, lines=lines
    )


# ---------------------------------------------------------------- speaking


@post("/rooms/{room:str}/lines")
async def speak(request: Asked, site: PageContext, place: RoomAccess) -> Response[Any]:
    """Say a line, with files or without. A `source` that was heard before is heard once."""
    person = place.visitor.person
    site.paces.lines.take(person)
    form = await request.form()
    await provide_visitor(request, site)  # a long form may outlast the session that began it
    uploads = [each for each in form.getall("files", []) if isinstance(each, UploadFile)]
    files = await _receive_files(site, person, [each for each in uploads if each.filename])
    if not files and not wants_json(request) and ORDER.fullmatch(_form_words(form, "text")):
        return await _obey_command(request, site, place, _form_words(form, "text"))
    source = _form_words(form, "source")[:80]
    head = (await site.front.rooms.state(place.room)).seq
    try:
        event = await site.front.rooms.hear(
            place.room,
            Heard(
                person=person,
                text=Words(_form_words(form, "text")),
                surface="web",
                source=f"{person}:{source}" if source else "",
                reply_to=await _answered_line(site, place, _form_words(form, "reply_to")[:80]),
                files=tuple(files),
                owner=_is_owner(place),
            ),
        )
    except BaseException:
        _let_go(site, files)
        raise
    if event.seq <= head:
        _let_go(site, files)  # the line was heard before, with files of its own
    return form_response(request, place.room, seq=event.seq, id=event.id)


def _is_owner(place: RoomAccess) -> bool:
    return place.visitor.right == "owner"


async def _change_room(site: PageContext, place: RoomAccess, name: str, argument: str) -> str:
    person = place.visitor.person
    return await site.front.commands.act(place.room, person, name, argument, owner=_is_owner(place))


async def _answered_line(site: PageContext, place: RoomAccess, line: str) -> str:
    """The line that is answered, if this person may see it."""
    try:
        return (await site.front.line(place.room, line, place.sight)).id if line else ""
    except Unknown:
        return ""


def _form_words(form: Any, name: str) -> str:
    """A field of a form that is words; "" where it is something else."""
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


async def _receive_files(site: PageContext, person: str, uploads: list[UploadFile]) -> list[File]:
    if len(uploads) > MOST_FILES:
        raise BadLine(f"At most {MOST_FILES} files go with one line; send the rest with the next.")
    limits = FileLimits(size=site.live.now.upload_limit_bytes, text=site.live.now.file_limit_bytes)
    given = [(upload.filename, await upload.read()) for upload in uploads]
    site.paces.bytes.take(person, sum(min(len(data), limits.size) for _, data in given))
    files: list[File] = []
    try:
        for name, data in given:
            files.append(await ingest_file(site.artifacts, name, data, limits))
    except BaseException:
        _let_go(site, files)
        raise
    return files


def _let_go(site: PageContext, files: Iterable[File]) -> None:
    """No line will hold these: their bytes go with the next sweep."""
    for one in files:
        site.artifacts.settle(str(one.hash))


@get("/rooms/{room:str}/files/{event:str}/{nth:int}")
async def file(
    request: Asked, site: PageContext, place: RoomAccess, event: str, nth: int
) -> Response[bytes]:
    """A file that a person or a mate gave to the room, byte for byte."""
    body = (await site.front.line(place.room, event, place.sight)).body
    files = body.files if isinstance(body, Heard | Said) else ()
    if not 0 <= nth < len(files):
        raise Unknown("There is no such file here.")
    given = files[nth]
    if is_erased(given):
        raise Unknown("This file was forgotten.")
    data = await data_of(site.artifacts, given)
    inline = given.media in (PICTURES | SOUNDS)
    media = given.media if inline else "application/octet-stream"
    return file_response(data, str(given.name), media, request.headers, inline=inline)


@post("/rooms/{room:str}/stop")
async def stop(request: Asked, site: PageContext, place: RoomAccess) -> Response[Any]:
    """Halt everything mates do here, at once."""
    site.paces.stops.take(place.visitor.person)
    told = await _change_room(site, place, "stop", "")
    return form_response(request, place.room, told=told)


@post("/rooms/{room:str}/command")
async def command(
    request: Asked, site: PageContext, place: RoomAccess, data: Fields
) -> Response[Any]:
    """Do what a line that begins with a slash asks for, such as `/status`; who asked is told."""
    return await _obey_command(request, site, place, data.get("text", ""))


async def _obey_command(
    request: Asked, site: PageContext, place: RoomAccess, text: str
) -> Response[Any]:
    person = place.visitor.person
    site.paces.changes.take(person)
    found = ORDER.fullmatch(text)
    name, argument = (found[1].casefold(), (found[2] or "").strip()) if found else ("", "")
    if name == "link":
        raise InputError("Accounts are linked under your picture, at the top right.")
    told = await _change_room(site, place, name, argument)
    if wants_json(request):
        return form_response(request, place.room, told=told)
    notes: FlashMessages = request.app.state["notes"]
    return Redirect(f"/rooms/{place.room}?told={notes.keep(person, told)}", status_code=303)


@post("/rooms/{room:str}/mark")
async def mark(request: Asked, site: PageContext, place: RoomAccess, data: Fields) -> Response[Any]:
    """Mark a line: keep it in the mates' minds, or let it go first."""
    site.paces.changes.take(place.visitor.person)
    name = data.get("mark", "")
    if name not in ("keep", "spent"):
        raise InputError("A line is marked keep or spent.")
    await site.front.line(place.room, data.get("line", ""), place.sight)
    told = await _change_room(site, place, name, data.get("line", ""))
    return form_response(request, place.room, told=told)


@post("/rooms/{room:str}/seen")
async def seen(site: PageContext, place: RoomAccess, data: Fields) -> Response[None]:
    """Everything up to `seq` was shown to this person."""
    text = data.get("seq", "")
    if not text.isdecimal() or len(text) > 15:
        raise InputError("Say up to which line, by its number.")
    seq = min(int(text), (await site.front.rooms.state(place.room)).seq)
    await site.front.seen(place.room, place.visitor.person, seq, "web")
    await site.accounts.decisions.vault.read_upto(place.visitor.person, stream_of(place.room), seq)
    return Response(None, status_code=204)


@post("/rooms/{room:str}/typing")
async def typing(site: PageContext, place: RoomAccess) -> Response[None]:
    """This person is typing."""
    site.hub.typing(place.room, place.visitor.person, place.visitor.name)
    return Response(None, status_code=204)


# ---------------------------------------------------------------- what a room is


@get("/rooms/{room:str}/settings")
async def settings(
    request: Asked,
    site: PageContext,
    place: RoomAccess,
    told: Annotated[str, Parameter(max_length=40)] = "",
) -> Template:
    """Who is here, and how each mate is called; `told` names what a change was answered."""
    notes: FlashMessages = request.app.state["notes"]
    return await _settings_page(site, place, notes.read(place.visitor.person, told))


async def _settings_page(site: PageContext, place: RoomAccess, told: str) -> Template:
    state = await site.front.rooms.state(place.room)
    mates = site.roster.mates()
    return render_page(
        "room-settings.html",
        place.visitor,
        here="rooms",
        place=place,
        scene=place.scene,
        state=state,
        mates=mates,
        absent=[
            mate
            for handle, mate in mates.items()
            if handle not in state.mates
            and (not place.visitor.guest or site.front.rooms.guests.uses(handle))
        ],
        policies=site.policies,
        calls=CALLS,
        holds=rights_parsing.told(state).splitlines(),
        meanings=MEANING,
        bounds=turn_bounds.MEANING,
        home_bounds=site.front.rooms.bounds,
        told=told,
        spending=(await _change_room(site, place, "budget", "")).splitlines(),
        not_inviting=await site.front.inviting.why_not(
            place.visitor.person, place.room, owner=place.owner
        ),
    )


ACTS = (
    "title",
    "energy",
    "bounds",
    "policy",
    "triggers",
    "add",
    "remove",
    "new",
    "end",
    "mate",
    "talk",
    "unprompted",
    "pace",
    "rights",
    "budget",
)
ASKS = (
    *("status", "mates", "model", "usage", "rights", "talk", "mate", "energy", "policy"),
    "budget",
)
"""Those that may tell how things stand, which is shown at once and can be long."""


@post("/rooms/{room:str}/settings")
async def change(request: Asked, site: PageContext, place: RoomAccess) -> Response[Any] | Template:
    """One change: a command of the room by its name, with what the form's fields say."""
    site.paces.changes.take(place.visitor.person)
    form = await request.form()

    def given(name: str) -> str:
        return str(form.get(name, ""))

    act, mate = given("act"), given("mate")
    if act not in (*ACTS, *ASKS):
        raise InputError(f"There is no such change; there are {', '.join(ACTS)}.")
    match act:
        case "triggers":
            calls = [str(call) for call in form.getall("calls", [])]
            argument = " ".join([mate, *(["own"] if given("own") else calls or ["none"])])
        case "policy":
            argument = f"{given('policy')} {mate}".strip()
        case "energy":
            argument = f"{given('capacity')} {given('refill')}".strip()
        case "bounds":
            every = [f"{name} {given(name)}" for name in turn_bounds.MEANING if given(name).strip()]
            argument = " ".join(every) or "none"
        case "rights" if given("who"):
            rights = [str(right) for right in form.getall("right", [])]
            argument = " ".join([given("who"), *(rights or [NOTHING])])
        case "title" | "talk" | "unprompted" | "pace" | "rights" | "budget":
            argument = given(act)
        case "status" | "mates" | "model" | "usage":
            argument = ""
        case _:
            argument = mate
    told = await _change_room(site, place, act, argument)
    if wants_json(request):
        return Response({"told": told}, media_type=MediaType.JSON, status_code=200)
    if act in ASKS and (act not in ACTS or not argument):
        return await _settings_page(site, place, told)
    notes: FlashMessages = request.app.state["notes"]
    code = notes.keep(place.visitor.person, told)
    return Redirect(f"/rooms/{place.room}/settings?told={code}", status_code=303)


@post("/rooms/{room:str}/invite")
async def invite(site: PageContext, place: RoomAccess, data: Fields) -> Template:
    """A link by which one more person comes into this room; it is shown this once."""
    site.paces.changes.take(place.visitor.person)
    past = data.get("past", "") == "yes"
    person = place.visitor.person
    made, token = await site.front.inviting.invite(person, place.room, past=past, owner=place.owner)
    path = f"/join/{token}"
    return render_page(
        "invite-link.html", place.visitor, here="rooms", place=place, invite=made, path=path
    )


@post("/rooms/{room:str}/leave")
async def leave(site: PageContext, place: RoomAccess) -> Redirect:
    """Go, and see no more of it."""
    await site.front.rooms.leave(place.room, place.visitor.person)
    return Redirect("/", status_code=303)


@get("/rooms/{room:str}/delete")
async def ask_delete(site: PageContext, place: RoomAccess) -> Template:
    """What deleting it would mean, and whether."""
    _check_may_close(place)
    rests = await site.front.closing.resting(place.room)
    return render_page("room-delete.html", place.visitor, here="rooms", place=place, rests=rests)


@post("/rooms/{room:str}/delete")
async def delete(site: PageContext, place: RoomAccess, data: Fields) -> Redirect:
    """Delete it, and truly forget what was said in it."""
    _check_may_close(place)
    if data.get("sure", "") != "yes":
        raise InputError("Tick that you are sure; what is forgotten cannot be brought back.")
    await site.front.closing.close_room(
        place.room,
        place.visitor.person,
        keep_quotes=data.get("quotes", "") == "keep",
        keep_memories=data.get("memories", "") == "keep",
    )
    return Redirect("/", status_code=303)


def _check_may_close(place: RoomAccess) -> None:
    if not place.may_close:
        raise InputError("Only who opened this room, or the owner of the home, may delete it.")
