"""Line as HTML: one event of a room as HTML, for a page, for its history and for the stream alike.

What comes out is the same for everybody who may see the event, so it is made once and kept for a
while; of a notice on models there is a second form, for the owner. Nothing personal is in it, and
no word of any other line: a line that answers another one names it by its id, and the page's script
puts the words in if the reader has that line.

Knows nothing of who may see what.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

from jinja2 import Environment
from markupsafe import Markup

from loopforge.artifacts.media_types import PICTURES, SOUNDS, SPOKEN_FILM
from loopforge.chat.room.event_wording import event_sentence, line_asides
from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.core.edited_lines import TRANSCRIBED, Revised, edit_remark
from loopforge.core.events import AnyBody, Event
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.core.model_trouble import fixes_for_owner
from loopforge.core.room_vocabulary import (
    Heard,
    LineDeleted,
    LineEdited,
    LinePinned,
    Marked,
    PersonLeft,
    PersonReacted,
    Reacted,
    RightsSet,
    Said,
    Stopped,
    Titled,
    Told,
)
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.spoken_lists import pluralize
from loopforge.web.rendering import avatar_faces, markdown_html
from loopforge.web.rendering.avatar_faces import AvatarFaces
from loopforge.web.rendering.markdown_html import Names

KEPT = 4000
"""Lines that are kept as they were rendered; about 2 kB each."""
LONG = 6000
"""Characters of a line that is folded: it scrolls in itself, and is rendered anew each time."""
FORGOTTEN = Markup('<p class="forgotten">These words were forgotten.</p>')


class LineHtml:
    """Renders lines by the template line.html of this environment, and keeps the last of them."""

    def __init__(self, environ: Environment, most: int = KEPT) -> None:
        self._environ = environ
        self._faces = cast("AvatarFaces", environ.globals["faces"])
        self._hears = cast("Callable[[], str]", environ.globals["hears"])
        self._kept: BoundedMapping[tuple[Any, ...], str] = BoundedMapping(most)

    @property
    def kept(self) -> int:
        """How many lines are kept now."""
        return len(self._kept)

    def render(
        self,
        event: Event,
        scene: RoomSnapshot,
        replied: Event | None = None,
        used: Sequence[str] = (),
        *,
        owner: bool = False,
    ) -> str:
        """The event's HTML; "" if it is nothing people see. `replied` is the line it answers.

        `used`: the tools of the turn that said it. `owner`: for the owner's eyes, who is told what
        to mend.
        """
        owner = owner and for_owner_too(event)
        key = (*_key(event, scene, replied), owner, _sounds(event.body) and bool(self._hears()))
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept
        made = self._made(event, scene, replied, used, owner=owner)
        if _long(event.body):
            return made
        self._kept[key] = made
        return made

    def forget_all(self) -> None:
        """Let go of everything that was rendered, here and on the way here."""
        self._kept.clear()
        markdown_html.forget_all()
        avatar_faces.forget_all()

    def _made(
        self,
        event: Event,
        scene: RoomSnapshot,
        replied: Event | None,
        used: Sequence[str],
        *,
        owner: bool,
    ) -> str:
        body = event.body
        if isinstance(body, Heard | Said):
            shown = _line(event, body, scene, self._faces, deaf=not self._hears())
            shown |= _answer(body, scene, replied)
            shown["used"] = uses(used)
            return self._environ.get_template("line.html").render(shown)
        told = sentence(event, scene)
        if told is None:
            return ""
        change = {k: v for k, v in change_of(event, scene).items() if k != "html"}
        mend = fixes_for_owner(body.mend) if owner and isinstance(body, Told) else ""
        asks = body.asks if isinstance(body, Told) else 0
        rang = isinstance(body, Told) and bool(body.rang)
        shown = {"event": event, "told": told, "change": change, "mend": mend, "asks": asks}
        shown["rang"] = rang
        return self._environ.get_template("room-event.html").render(shown)


def for_owner_too(event: Event) -> bool:
    """Whether the owner reads more of this than others do."""
    return isinstance(event.body, Told) and bool(event.body.mend)


def names_of(scene: RoomSnapshot) -> Names:
    """Who may be mentioned in a room, and the class of each mention."""
    mates = [
        (name, f"mate-{card.handle}")
        for card in scene.mates
        for name in dict.fromkeys((card.handle, card.name))
    ]
    return (*mates, *((name, "") for _, name in scene.people))


def _key(event: Event, scene: RoomSnapshot, replied: Event | None) -> tuple[Any, ...]:
    """Everything that what is rendered depends on."""
    body, who = event.body, ""
    match body:
        case Heard(person=person) | PersonLeft(person=person) | Stopped(person=person):
            who = scene.person(person)
        case PersonReacted(person=person) | LinePinned(person=person):
            who = scene.person(person)
        case Titled(by=by):
            who = scene.person(by)
        case LineEdited(by=by) | LineDeleted(by=by):
            who = scene.author(by)
        case RightsSet(who=person):
            who = scene.person(person)
    change = event.revision.event if isinstance(event, Revised) else ""
    gone = isinstance(body, Heard | Said | Told) and body.text.text is None
    names = names_of(scene)
    return (event.id, scene.room, who, gone, change, names, replied.id if replied else "")


# ---------------------------------------------------------------- what people and mates say


def _line(
    event: Event, body: Heard | Said, scene: RoomSnapshot, faces: AvatarFaces, *, deaf: bool
) -> dict[str, Any]:
    shown: dict[str, Any] = {"event": event, "scene": scene}
    shown["words"] = _words(body.text, names_of(scene))
    shown["long"] = _long(body)
    shown["asides"] = line_asides(event)
    shown["transcribed"] = isinstance(event, Revised) and event.revision.aside == TRANSCRIBED
    shown["files"] = _files(body)
    shown["unheard"] = deaf and _sounds(body) and not shown["transcribed"]
    shown["beside"] = isinstance(body, Said) and not (body.mode or body.cut) and bool(event.cause)
    if isinstance(event, Revised) and event.revision.deleted:
        shown["words"] = Markup('<p class="forgotten">{}</p>').format(
            _deletion(event.revision.by, scene)
        )
    if isinstance(body, Said):
        card = scene.mate(body.mate)
        face = avatar_faces.shown(card.handle) if scene.has(body.mate) else faces.mate(card.handle)
        return shown | {"mate": card.handle, "turn": body.turn, "name": card.name, "face": face}
    name = scene.person(body.person)
    face = faces.person(body.person, name)
    return shown | {"mate": "", "person": body.person, "name": name, "face": face}


def _files(body: Heard | Said) -> list[dict[str, Any]]:
    return [
        {
            "name": str(file.name),
            "size": size(file.size),
            "picture": file.media in PICTURES and bool(str(file.hash)),
            "sound": file.media in SOUNDS and bool(str(file.hash)),
            "film": file.media == SPOKEN_FILM and str(file.name).lower().endswith(".mp4"),
            "gone": file.name.text is None,
        }
        for file in body.files
    ]


def _sounds(body: AnyBody) -> bool:
    """Whether a person said it with a voice note, or other sound, that is still here."""
    return isinstance(body, Heard) and any(
        file.media in SOUNDS and bool(str(file.hash)) for file in body.files
    )


def _long(body: AnyBody) -> bool:
    return isinstance(body, Heard | Said) and len(body.text.text or "") > LONG


def _deletion(by: str, scene: RoomSnapshot) -> str:
    who = scene.author(by)
    return f"Deleted by {who}." if who else "Deleted on the platform where it was said."


def _words(words: Words, names: Names) -> Markup:
    return FORGOTTEN if words.text is None else markdown_html.render_markdown(words.text, names)


def _answer(body: Heard | Said, scene: RoomSnapshot, replied: Event | None) -> dict[str, Any]:
    """Which line this one answers, and whose that is; none of its words."""
    match replied.body if replied else None:
        case Heard(person=person):
            to = dict(scene.people).get(person, "")  # who went away may be unknown to a reader
        case Said(mate=mate):
            to = scene.mate(mate).name
        case _:
            to = ""
    return {"reply_to": body.reply_to, "to": to, "to_seq": replied.seq if replied and to else 0}


def uses(tools: Sequence[str]) -> str:
    """Tools as people read them: "clock, calculator (2 times)"."""
    counts = Counter(tools)
    return ", ".join(
        name if count == 1 else f"{name} ({count} times)" for name, count in counts.items()
    )


def size(count: int) -> str:
    """A number of bytes as people say it: "12 kB"."""
    if count < 1000:
        return pluralize(count, "byte")
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1_000_000:.1f} MB"


# ---------------------------------------------------------------- what else happens


def change_of(event: Event, scene: RoomSnapshot) -> dict[str, Any]:
    """What an event changes on the page it comes to, mostly on another line."""
    match event.body:
        case Marked(line=line, mark=mark):
            return {"kind": event.kind, "line": line, "mark": mark}
        case Reacted(to=line, emoji=emoji, mate=mate):
            name = scene.mate(mate).name
            return {"kind": event.kind, "line": line, "emoji": emoji, "who": mate, "name": name}
        case PersonReacted(to=line, emoji=emoji, person=person, back=back):
            put = {"kind": event.kind, "line": line, "emoji": emoji, "back": back}
            return put | {"who": f"person:{person}", "name": scene.person(person)}
        case LinePinned(line=line, back=back):
            return {"kind": event.kind, "line": line, "back": back}
        case LineEdited(line=line, text=text, turn=turn) as body:
            made = {"turn": turn, "aside": edit_remark(body), "html": _words(text, names_of(scene))}
            return {"kind": event.kind, "line": line, **made}
        case LineDeleted(line=line, by=by):
            return {"kind": event.kind, "line": line, "told": _deletion(by, scene)}
        case _:
            return {"kind": event.kind, "seq": event.seq}


def sentence(event: Event, scene: RoomSnapshot) -> str | None:
    """What an event other than a line reads like; None for what nobody need read."""
    match event.body:
        case Told(text=text):
            return FORGOTTEN if text.text is None else markdown_html.render_markdown(text.text)
        case _:
            return event_sentence(event.body, scene)
