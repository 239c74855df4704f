"""Client state: what one terminal knows of its room. A fold over the updates of a link.

Holds the scene and the last lines, so that they can be named by number, quoted and asked about.
Knows nothing of screens.
"""

from msgspec.structs import replace

from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.core.edited_lines import Revised, Revision, apply_revision, edit_remark
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, LineDeleted, LineEdited, PersonJoined, Said, Told
from loopforge.core.text.erasable_text import Words
from loopforge.io.socket.socket_client import LinkJoined, Update
from loopforge.io.socket.wire_protocol import RoomSight

KEPT = 2000
"""Lines one terminal remembers; older ones are asked of the host."""


class ClientState:
    """What is known here: `scene`, who is `here` (ids of people), and lines.

    `asks`: by number, the questions of mates that wait for an answer.
    """

    def __init__(self) -> None:
        self.scene = RoomSnapshot(room="")
        self.here: tuple[str, ...] = ()
        self.last_said: Event | None = None
        self.asks: dict[int, Event] = {}
        self._by_id: dict[str, Event] = {}
        self._by_seq: dict[int, Event] = {}
        self._came: dict[str, str] = {}

    def take(self, update: Update) -> None:
        """Note what an update says."""
        if isinstance(update, LinkJoined) and update.anew:
            self._by_id.clear()
            self._by_seq.clear()
            self.last_said = None
        if isinstance(update, LinkJoined | RoomSight):
            self.scene, self.here = update.scene, update.here
            open, last = update.scene.questions, update.scene.asked
            self.asks = {n: one for n, one in self.asks.items() if n in open or n > last}
            came, self._came = self._came, {}
            for person, name in came.items():
                self._introduce(person, name)  # the look may be older than their coming
        elif isinstance(update, Event):
            self.add(update)
            if isinstance(update.body, Said):
                self.last_said = update

    def add(self, event: Event) -> None:
        """Note a line, which may be an old one."""
        match event.body:
            case LineEdited(line=line, by=by):
                aside = edit_remark(event.body)
                return self._revise(event, Revision(line=line, by=by, aside=aside), event.body.text)
            case LineDeleted(line=line, by=by):
                return self._revise(event, Revision(line=line, by=by, deleted=True))
            case Told(asks=number) if number:
                self.asks[number] = event
            case Heard() | Said() | Told():
                pass
            case PersonJoined(person=person, name=name):
                return self._introduce(person, str(name))
            case _:
                return None
        self._by_id[event.id] = event
        self._by_seq[event.seq] = event
        while len(self._by_id) > KEPT:
            oldest = next(iter(self._by_id))
            self._by_seq.pop(self._by_id.pop(oldest).seq, None)
        return None

    def _introduce(self, person: str, name: str) -> None:
        """Who came in since the room was last looked at is known by name at once."""
        if person not in dict((*self.scene.people, *self.scene.former)):
            self._came[person] = name
            self.scene = replace(self.scene, people=(*self.scene.people, (person, name)))

    def _revise(self, event: Event, change: Revision, text: Words | None = None) -> None:
        """A line says something else from now on, or nothing."""
        line = self._by_id.get(change.line)
        known = line.revision if isinstance(line, Revised) else None
        if line is None or (known and (known.deleted or known.seq >= event.seq)):
            return  # what it says by now is newer
        change = replace(change, event=event.id, seq=event.seq)
        fields = {name: getattr(line, name) for name in Event.__struct_fields__}
        self._by_id[line.id] = self._by_seq[line.seq] = apply_revision(
            Event(**fields), change, text
        )

    def line(self, id: str) -> Event | None:
        """A line by its event's id."""
        return self._by_id.get(id)

    def numbered(self, seq: int) -> Event | None:
        """A line by its number."""
        return self._by_seq.get(seq)

    def newest(self) -> Event | None:
        """The last line that somebody said."""
        said = (event for event in self._by_id.values() if isinstance(event.body, Heard | Said))
        return max(said, key=lambda event: event.seq, default=None)

    def speaker(self, event: Event) -> str:
        """The name of who said a line."""
        match event.body:
            case Heard(person=person):
                return self.scene.person(person)
            case Said(mate=mate):
                return self.scene.mate(mate).name
            case _:
                return ""

    def mine(self, event: Event) -> bool:
        """Whether the person at this terminal said it (here or elsewhere)."""
        return isinstance(event.body, Heard) and event.body.person == self.scene.you
