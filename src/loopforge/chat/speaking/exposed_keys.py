"""Keys that somebody types in a room: people are told that one stands there, before it is used.

Looked for are those that are known by their shape (core/egress). The line stays as it is, for
mates and models too: it may be what somebody asks about. Passwords within addresses are passed
over, since most that people show are of no worth ("postgres://me:secret@localhost"). Pure.
"""

from collections.abc import Iterable

from loopforge.core.context_window import ContextEntry
from loopforge.core.egress.key_shapes import SHAPES

TOLD = (
    "That looks like {key}. It stands in this room now, and models of mates that read along are "
    "given it. Delete the line, and have the key replaced where it was made."
)
KINDS = tuple(shape for shape in SHAPES if shape.name != "password")


def exposed_keys(lines: Iterable[ContextEntry]) -> list[str]:
    """What the room says of keys in people's lines; of each kind once."""
    said = [str(line.text) for line in lines if line.kind == "heard" and not line.bot]
    found = (each.name for each in KINDS if any(map(each.pattern.search, said)))
    return [TOLD.format(key=_named(name)) for name in dict.fromkeys(found)]


def _named(name: str) -> str:
    return f"{'an' if name[0] in 'AEIO' else 'a'} {name}"
