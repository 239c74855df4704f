"""A request: one use of a command: where, by whom, and with what; and how names are understood."""

import re
from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from loopforge.chat.room.room_state import RoomState
from loopforge.core.mates.mate_file import Mate, find_mate
from loopforge.errors import Unknown

_NUMBER = re.compile(r"#?(\d{1,15})")


class CommandRequest(Struct, frozen=True, kw_only=True):
    """A command as somebody gives it. `person` is "" for somebody at the machine itself.

    `keeper`, `owner`, `guest` and `untrusted` (a stranger) say what else they are; `surface` and
    `account` by which account they came, where it was by one of a platform. `reply_to` is the line
    that it answers, `said` when it was given, where that was long before it came here.
    """

    room: str
    person: str
    argument: str = ""
    keeper: bool = False
    owner: bool = False
    guest: bool = False
    untrusted: bool = False
    surface: str = ""
    account: str = ""
    reply_to: str = ""
    said: datetime | None = None


def handle_of(said: str, mates: Mapping[str, Mate]) -> str:
    """The handle of a mate as people write it: "maya", "@Maya" or "Maya"; else what was said."""
    name = said.removeprefix("@")
    mate = find_mate(name, mates.values())
    return mate.handle if mate else name


def member_of(state: RoomState, said: str, mates: Mapping[str, Mate]) -> str:
    """The handle of a mate that is in the room, also of one whose file is gone. Raises Unknown."""
    mate = handle_of(said, mates)
    for handle in (mate, mate.casefold()):
        if handle in state.mates:
            return handle
    here = ", ".join(state.mates) or "nobody"
    raise Unknown(f"{mate!r} is not in this room. Here: {here}.")


def number_of(said: str) -> int:
    """The number of a line as people write it ("12", "#12", "#12 Maya: yes"); 0 if it is none."""
    found = _NUMBER.fullmatch(said.partition(" ")[0])
    return int(found[1]) if found else 0


def line_of(state: RoomState, said: str) -> str:
    """The id of a line that mates have in mind, by its number or id. Raises Unknown."""
    if said in state.lines:
        return said
    seq = number_of(said)
    for entry in state.lines.values():
        if seq and entry.seq == seq:
            return entry.id
    raise Unknown(f"No line {said!r} is in the mates' minds; it may be of an earlier conversation.")
