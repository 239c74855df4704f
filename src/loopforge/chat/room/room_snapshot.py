"""A snapshot: what a person sees of a room at one moment, whichever surface shows it.

Plain values, made by the room and drawn by a surface. Knows no surface: a face is a few letters,
a colour is a name or "#rrggbb".
"""

import hashlib
import re

from msgspec import Struct

from loopforge.chat.room.visible_lines import NewestLine
from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.people.identity.account_names import fold_name

NO_MATE = "not the mate"
MADE = re.compile("room-[0-9a-f]{12}")
"""A slug that was made for a room without a title."""
MATES_NAMED = 3
"""How many mates stand for a title, where there is none."""
_EYES = ("•", "◦", "°", "^", "o", "-", "¬", "◉", "◕", "ˆ")
_MOUTHS = ("‿", "_", "~", ".", "-", "▿", "ω", "v", "o", "u")
_HEADS = ("()", "[]", "{}", "||", "ʕʔ")


def kaomoji_for(seed: str) -> str:
    """A face in five columns that is always the same for one seed: `(•‿•)`."""
    roll = hashlib.sha256(b"face\x1f" + seed.encode("utf-8", "replace")).digest()
    eye = _EYES[roll[0] % len(_EYES)]
    head = _HEADS[roll[2] % len(_HEADS)]
    return f"{head[0]}{eye}{_MOUTHS[roll[1] % len(_MOUTHS)]}{eye}{head[1]}"


class MateCard(Struct, frozen=True, kw_only=True):
    """What people see of a mate. With no `colour` or `face`, a surface draws one from `handle`."""

    handle: str
    name: str
    role: str = ""
    colour: str = ""
    face: str = ""


class WaitingReminder(Struct, frozen=True, kw_only=True):
    """A reminder of a room, as people see it: of what, and when it rings next, in words."""

    number: int
    what: str
    when: str
    again: bool = False


class RoomSnapshot(Struct, frozen=True, kw_only=True):
    """A room as it stands.

    `room` is its slug; `people` are (id, name) of everybody who belongs to it, `you` the id of the
    one this scene was made for ("" if for nobody). `energy` of `capacity` lines are left to mates.
    `conversation` is the id of the running one, "" between two. `notice` is a sentence or two to
    show on entering, such as which model answers here. `opener` is the id of the person who opened
    it, `refill` what a person's line gives back of energy, `thinking` the mates that are at it now.
    `former` are (id, name) of people who went away. `titled_at` is the event by which the room gave
    itself its title (0: a person did); that is made of what was said until then. `reserved` are the
    handles and names of the home's mates: another speaker of such a name is marked. `questions` are
    the numbers of those that wait for somebody's yes, `asked` is the last number that was given.
    `waiting` are its reminders, the next first. `newest` is the last line of a mate. `hearing` is
    the id of the line whose voice note is being written down at this moment, "" for none.
    """

    room: str
    title: str = ""
    you: str = ""
    people: tuple[tuple[str, str], ...] = ()
    mates: tuple[MateCard, ...] = ()
    energy: int = 0
    capacity: int = 0
    stopped: bool = False
    conversation: str = ""
    policy: str = ""
    notice: str = ""
    private: bool = False
    opener: str = ""
    refill: int = 0
    thinking: tuple[str, ...] = ()
    former: tuple[tuple[str, str], ...] = ()
    titled_at: int = 0
    reserved: tuple[str, ...] = ()
    questions: tuple[int, ...] = ()
    asked: int = 0
    waiting: tuple[WaitingReminder, ...] = ()
    newest: NewestLine = NewestLine()
    hearing: str = ""

    @property
    def called(self) -> str:
        """What people read of which room it is: its title, its slug, or with which mates it is."""
        if self.title or not MADE.fullmatch(self.room):
            return self.title or self.room
        mates = join_as_prose([card.name for card in self.mates], MATES_NAMED)
        return f"With {mates}" if mates else "New room"

    def person(self, id: str) -> str:
        """What people read of who a person is: the name, which no mate bears; "somebody" for none.

        Every surface asks here, for lines and for what answers them.
        """
        everybody = (*self.people, *self.former)
        name = next((name for known, name in everybody if known == id), "somebody")
        taken = {fold_name(each) for each in self.reserved}
        return f"{name} ({NO_MATE})" if fold_name(name) in taken else name

    def author(self, actor: str) -> str:
        """The name of whoever changed a line; "" for the keepers of a platform."""
        return self.person(actor.removeprefix("person:")) if actor.startswith("person:") else ""

    def has(self, handle: str) -> bool:
        """Whether this mate belongs to the room. The room itself has turns too (for its title)."""
        return any(card.handle == handle for card in self.mates)

    def mate(self, handle: str) -> MateCard:
        """A mate's card; a bare one for a mate that is no longer here."""
        for card in self.mates:
            if card.handle == handle:
                return card
        return MateCard(handle=handle, name=handle.capitalize())
