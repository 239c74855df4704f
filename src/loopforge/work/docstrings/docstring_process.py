"""Docstrings of files of a repository: where they are missing, and whether nothing else changed.

    seen = await missing_docstrings(pairs, waiting)    # of new and changed functions and classes
    why = await only_docstrings(pairs)                 # what else changed; none where nothing did

The code is read by `docstring_check.py`, a process that is held to limits: it comes from strangers
and from models. Does not know where files come from.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from loopforge.core.work.watch_events import CodePlace
from loopforge.errors import RepositoryError
from loopforge.runtime.installation.limited_process import run_limited

T = TypeVar("T")
_PROGRAM = Path(__file__).with_name("docstring_check.py")
SECONDS, WALL, MEMORY = 20, 40.0, 1 << 30
"""What reading may take: seconds of a processor and in all, bytes of memory."""
LARGEST, MOST_FILES, MOST_BYTES = 1 << 20, 1_000, 16 << 20
"""Bytes of a file that is read, files that are, and bytes of all of them."""


class FilePair(Struct, frozen=True):
    """A file before and after a change; None where there is none."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def size(self) -> int:
        """Bytes of both."""
        return len(self.before or b"") + len(self.after or b"")


class MissingDocstrings(NamedTuple):
    """Where docstrings are missing, and files that were not read."""

    places: tuple[CodePlace, ...] = ()
    unread: tuple[str, ...] = ()


class _Found(Struct, frozen=True):
    missing: tuple[CodePlace, ...]
    unread: tuple[str, ...]


class _Refused(Struct, frozen=True):
    objections: tuple[str, ...]


async def missing_docstrings(
    pairs: Sequence[FilePair], waiting: Collection[CodePlace] = ()
) -> MissingDocstrings:
    """Which functions and classes that are new or changed after it have no docstring.

    Those that were `waiting` already are among them while they have none. Raises RepositoryError.
    """
    read, left = list[FilePair](), MOST_BYTES
    for pair in pairs:
        if pair.size <= min(2 * LARGEST, left) and len(read) < MOST_FILES:
            read.append(pair)
            left -= pair.size
    there = {pair.path for pair in read}
    aside = tuple(pair.path for pair in pairs if pair.path not in there)
    still = tuple(one for one in waiting if one.path not in there)  # they wait on, unread
    found = await _missing(read, [one for one in waiting if one.path in there])
    return MissingDocstrings((*still, *found.places), (*aside, *found.unread))


async def _missing(pairs: Sequence[FilePair], waiting: Sequence[CodePlace]) -> MissingDocstrings:
    """Those of files that are read together; one that ends its reader is found by halving."""
    if not pairs:
        return MissingDocstrings()
    found = await _told("missing", pairs, [[one.path, one.name] for one in waiting], _Found)
    if found is not None:
        return MissingDocstrings(found.missing, found.unread)
    if len(pairs) == 1:
        return MissingDocstrings(tuple(waiting), (pairs[0].path,))
    parts = list[MissingDocstrings]()
    for half in (pairs[: len(pairs) // 2], pairs[len(pairs) // 2 :]):
        there = {pair.path for pair in half}
        parts.append(await _missing(half, [one for one in waiting if one.path in there]))
    one, other = parts
    return MissingDocstrings((*one.places, *other.places), (*one.unread, *other.unread))


async def only_docstrings(pairs: Sequence[FilePair]) -> list[str]:
    """Why a change is of more than docstrings, file by file; nothing where it is not.

    Raises RepositoryError.
    """
    if len(pairs) > MOST_FILES or sum(pair.size for pair in pairs) > MOST_BYTES:
        return ["it is too much to be looked through"]
    if other := [pair.path for pair in pairs if not pair.path.endswith(".py")]:
        return [f"{path}: it is no Python" for path in other]
    found = await _told("only", pairs, [], _Refused)
    if found is None:
        return ["its code could not be read within limits"]
    told = zip(pairs, found.objections, strict=True)
    return [f"{pair.path}: {why}" for pair, why in told if why]


async def _told(
    what: str, pairs: Sequence[FilePair], waiting: list[list[str]], kind: type[T]
) -> T | None:
    """What the reader says; None where a limit ended it. Raises RepositoryError."""
    given = msgspec.json.encode({"files": pairs, "waiting": waiting})
    try:
        ended = await run_limited(_PROGRAM, (what, str(SECONDS), str(MEMORY)), given, WALL)
    except OSError as error:
        raise RepositoryError(f"No process could be started that reads code: {error}") from error
    return None if ended.code != 0 else msgspec.json.decode(ended.output, type=kind)
