"""What was read for one erasure: looking again reads on from there, and is a matter of moments.

Looking for what goes along reads much of a ledger, for seconds. So a reader does it first, and the
writing thread, for which everybody waits, reads only what was appended meanwhile. Where something
was under way that may still write down some of it, that is looked at by it afterwards, though the
texts themselves are no more. Nothing here is kept beyond one erasure, for it holds what is to be
forgotten.

Knows what was read; not why, nor what follows from it.
"""

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from sqlalchemy.engine import Connection

from loopforge.ledger.erasure.quote_matching import ForgottenText
from loopforge.ledger.erasure.stream_quotes import Contents, FoundQuote, StreamQuotes
from loopforge.ledger.storage.event_reading import read_texts as texts_of
from loopforge.ledger.storage.event_reading import stream_heads
from loopforge.ledger.storage.row_codec import in_list_sql, list_parameter, sql_placeholder

T = TypeVar("T")
SHOWN = ("turn.perceived", "turn.asked", "effect.returned")
"""Events that say what a mind was shown."""
PAGE = 1000
_NAME = re.compile("[0-9a-f]{32,64}")
"""An id or a ref, as it stands in the body of an event."""


class Origin(NamedTuple):
    """Where a text came in: its stream, and the event, with its kind."""

    stream: str
    event: str
    kind: str


class Mention(NamedTuple):
    """An event that shows a mind something, and which ids and refs it names of those asked for."""

    stream: str
    seq: int
    names: frozenset[str]


class _Shown:
    """The events that name some of these, since one."""

    def __init__(self, names: frozenset[str], since: str) -> None:
        self._names, self._since = names, since
        self._heads: Mapping[str, int] | None = None
        self._mentions: list[Mention] = []

    def mentions(self, connection: Connection) -> list[Mention]:
        """All so far."""
        now, before = stream_heads(connection), self._heads
        if before is None:
            rows = _since(connection, self._since)
        else:
            moved = {each: before.get(each, 0) for each in now if now[each] > before.get(each, 0)}
            rows = _after(connection, moved)
        for stream, seq, body in rows:
            if names := self._names.intersection(_NAME.findall(body)):
                self._mentions.append(Mention(stream, seq, names))
        self._heads = now
        return self._mentions


class ErasureSearch:
    """Reads for one erasure. To be used by one thread at a time.

    `gone` are the refs whose texts were taken away already.
    """

    def __init__(self, contents: Contents = lambda _: "") -> None:
        self.gone: set[str] = set()
        self._contents = contents
        self._texts: dict[str, str] = {}
        self._origins: dict[str, Origin] = {}
        self._sieves: dict[tuple[str, frozenset[ForgottenText]], StreamQuotes] = {}
        self._shown: dict[tuple[frozenset[str], str], _Shown] = {}
        self._found: dict[Hashable, object] = {}

    def texts(self, connection: Connection, refs: Collection[str]) -> dict[str, str]:
        """The texts of these refs, as far as they were there when they were first asked for."""
        known = self._texts
        known.update(texts_of(connection, sorted({*refs} - known.keys())))
        return {ref: known[ref] for ref in refs if ref in known}

    def origins(self, connection: Connection, refs: Collection[str]) -> dict[str, Origin]:
        """Where the texts of these refs came in, likewise."""
        known = self._origins
        if new := sorted({*refs} - known.keys()):
            query = (
                "SELECT texts.ref, texts.stream, texts.event, events.kind FROM texts "  # noqa: S608
                "JOIN events ON events.id = texts.event AND events.stream = texts.stream "
                f"WHERE texts.ref {in_list_sql(connection)}"
            )
            for ref, *origin in connection.exec_driver_sql(
                query, (list_parameter(connection, new),)
            ):
                known[ref] = Origin(*origin)
        return {ref: known[ref] for ref in refs if ref in known}

    def quotes(
        self, connection: Connection, stream: str, forgotten: Iterable[ForgottenText]
    ) -> list[FoundQuote]:
        """What quotes these texts in a stream."""
        key = stream, frozenset(forgotten)
        if key not in self._sieves:
            self._sieves[key] = StreamQuotes(connection, *key, self._contents)
        return self._sieves[key].quotes(connection)

    def unread(self) -> dict[str, str]:
        """Files in which nothing could be read: their hashes by ref."""
        return {ref: hash for one in self._sieves.values() for ref, hash in one.unread.items()}

    def mentions(self, connection: Connection, names: Collection[str], since: str) -> list[Mention]:
        """The events after one that showed minds what has one of these names: an id, or a ref."""
        key = frozenset(names), since
        return self._shown.setdefault(key, _Shown(*key)).mentions(connection)

    def once(self, key: Hashable, find: Callable[[], T]) -> T:
        """What was found for this key, or is now."""
        if key not in self._found:
            self._found[key] = find()
        found: T = self._found[key]  # type: ignore[assignment]
        return found


def _since(connection: Connection, last: str) -> Iterator[tuple[str, int, str]]:
    """What minds were shown since an event, by the order of ids."""
    one, kinds = sql_placeholder(connection), list_parameter(connection, SHOWN)
    query = (
        "SELECT id, stream, seq, body FROM events "  # noqa: S608
        f"WHERE id > {one} AND kind {in_list_sql(connection)} ORDER BY id LIMIT {PAGE}"
    )
    while rows := connection.exec_driver_sql(query, (last, kinds)).all():
        for id, stream, seq, body in rows:
            yield stream, seq, body
            last = id


def _after(connection: Connection, places: Mapping[str, int]) -> Iterator[tuple[str, int, str]]:
    """The same after these places in their streams."""
    one, kinds = sql_placeholder(connection), list_parameter(connection, SHOWN)
    query = (
        "SELECT stream, seq, body FROM events "  # noqa: S608
        f"WHERE stream = {one} AND seq > {one} AND kind {in_list_sql(connection)}"
    )
    for stream, seq in places.items():
        yield from connection.exec_driver_sql(query, (stream, seq, kinds))
