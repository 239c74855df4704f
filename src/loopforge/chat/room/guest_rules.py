"""Guests: what people who came in by an invite may use, as the owner set it.

A guest's line is one of the browser that is not the owner's, or one by an account elsewhere that is
linked to a guest's: they are no one else there. What a mate says goes back to the line
of a person, so no guest reaches through one mate another that is not for them. What they may do in
one room is permissions.py's, how many answers they have in a day daily_quota.py's.

Pure.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from loopforge.artifacts.media_types import PICTURES
from loopforge.chat.room.permissions import PermissionFacts, lost_origin, originating_line
from loopforge.core.context_window import ContextEntry
from loopforge.core.room_vocabulary import Heard, Weight
from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.errors import BadLine, InputError

GuestFiles = Literal["all", "no-pictures", "none"]
BROWSER = "web"
NONE = "none"
NOT_FOR_GUESTS = "not for guests"
"""The reason that keeps a mate from answering them."""


def handles_in(said: str) -> frozenset[str] | None:
    """The mates that a setting names: nothing for all of them, "none" for none."""
    named = frozenset(each.strip().removeprefix("@").casefold() for each in said.split(","))
    return (named - {"", NONE}) if named - {""} else None


class GuestRules(Struct, frozen=True, kw_only=True):
    """What guests may use. `mates` are handles; None: all. `rooms`: they may open some."""

    mates: frozenset[str] | None = None
    rooms: bool = True
    files: GuestFiles = "all"

    def uses(self, mate: str) -> bool:
        """Whether a mate is for guests."""
        return self.mates is None or mate in self.mates

    def for_them(self, mates: Iterable[str]) -> list[str]:
        """Those of these mates that are for guests."""
        return [mate for mate in mates if self.uses(mate)]

    def open(self, mates: Collection[str]) -> None:
        """Raise InputError where a guest may not open a room with these mates."""
        if not self.rooms:
            raise InputError(
                "Guests cannot open rooms in this home; its owner can invite you to one."
            )
        for mate in mates:
            self.bring(mate)

    def bring(self, mate: str) -> None:
        """Raise InputError where a guest may not bring this mate into a room."""
        if not self.uses(mate):
            raise InputError(f"{mate!r} is not for guests of this home; its owner can change that.")

    def give(self, line: Heard) -> None:
        """Raise BadLine where a guest's line comes with files that it may not come with."""
        if self.files == "all" or not line.files or not is_guest_line(line):
            return
        if self.files == "none":
            raise BadLine("Guests cannot send files in this home; say it in words.")
        if any(file.media in PICTURES for file in line.files):
            raise BadLine("Guests cannot send pictures in this home; other files are welcome.")

    def weighed(
        self, state: PermissionFacts, lines: Sequence[ContextEntry], weight: Weight
    ) -> Weight:
        """The weight of a mate after these lines; nothing where it is not for who caused them."""
        if not self.barred(state, lines, weight.mate):
            return weight
        return replace(weight, score=0, reasons={NOT_FOR_GUESTS: 0}, verdict="pass")

    def barred(self, state: PermissionFacts, lines: Sequence[ContextEntry], mate: str) -> bool:
        """Whether a mate is not for who caused these lines."""
        return not self.uses(mate) and any(self._asked(state, entry) for entry in lines)

    def _asked(self, state: PermissionFacts, entry: ContextEntry) -> bool:
        begun = entry if entry.kind == "heard" else originating_line(state, entry.id)
        return lost_origin(state, entry.id) if begun is None else is_guest_line(begun)


def is_guest_line(line: Heard | ContextEntry) -> bool:
    """Whether a person's line is a guest's."""
    return (line.guest or line.surface == BROWSER) and not line.owner and not line.bot


def refused(weights: Iterable[tuple[Weight, Weight]]) -> list[str]:
    """The mates that were called (as first weighed) and do not answer (as weighed for guests)."""
    return [
        was.mate for was, now in weights if NOT_FOR_GUESTS in now.reasons and was.verdict == "speak"
    ]


def told(names: Sequence[str]) -> str:
    """What the room is told where mates were called that are not for guests."""
    do = "do" if len(names) > 1 else "does"
    return f"{join_as_prose(names)} {do} not answer guests of this home."
