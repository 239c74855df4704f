"""Keys that somebody types in a room: people are told that one stands there, before it is used.

Looked for are those that are known by their shape (core/egress). The line stays as it is, for
mates and models too: it may be what somebody asks about. Passwords within addresses are passed
over, since most that people show are of no worth ("postgres://me:secret@localhost"). Pure.
"""

from collections.abc import Iterable, Mapping, Sequence

from loopforge.chat.room.participants import RoomPlace
from loopforge.core.context_window import ContextEntry
from loopforge.core.egress.key_shapes import SHAPES

TOLD = (
    "{what} looks like {key}. It stands in {where} now, and models of mates that read along are "
    "given it. Delete the line, and have the key replaced where it was made."
)
KINDS = tuple(shape for shape in SHAPES if shape.name != "password")


def exposed_keys(lines: Iterable[ContextEntry], places: Mapping[str, RoomPlace]) -> list[str]:
    """What the room says of keys in people's lines; of each kind once.

    Not of what was said in a group on a platform: that is told to whoever said it, alone.
    """
    said = [
        str(line.text)
        for line in lines
        if line.kind == "heard"
        and not line.bot
        and (line.surface not in places or places[line.surface].kind == "private")
    ]
    return [TOLD.format(what="That", key=key, where="this room") for key in _keys(said)]


def key_warnings(text: str, place: str) -> list[str]:
    """What is said to somebody who wrote this in a place of this name."""
    what = f"What you wrote in {place}"
    return [TOLD.format(what=what, key=key, where="that place") for key in _keys([text])]


def _keys(said: Sequence[str]) -> list[str]:
    """Which kinds of keys stand in these texts, each once."""
    found = (each.name for each in KINDS if any(map(each.pattern.search, said)))
    return [f"{'an' if name[0] in 'AEIO' else 'a'} {name}" for name in dict.fromkeys(found)]
