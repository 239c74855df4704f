"""One transaction that adds the facts of many appends, each all or none.

    head of each stream -> expectation -> refs and JSON in one pass -> hash -> views -> rows

A refused append (a Conflict, a line that cannot be stored) takes nothing with it: the others of the
same transaction go on. Views see all of a transaction at once; where one says no to some of it, the
caller writes each append by itself. Runs in the writing thread; knows no futures.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy.engine import Connection

from loopforge.core.events import (
    GENESIS,
    Event,
    Fact,
    chain_hash,
    decode_body,
    epoch_micros,
    kind_of,
)
from loopforge.core.text.erasable_text import Words, encode_stored, salted_digest, set_words_ref
from loopforge.errors import BadLine, Conflict, LoopforgeError
from loopforge.ledger.database.row_insert import fetch_rows, insert_rows
from loopforge.ledger.storage.folded_views import FoldedView, apply_to_views
from loopforge.ledger.storage.row_codec import (
    COLUMNS,
    escape_stored_text,
    in_list_sql,
    list_parameter,
    sql_placeholder,
)

Head = tuple[int, str]
EMPTY: Head = (0, GENESIS)


class PendingAppend:
    """What one caller wants added, and what came of it: `events`, or an `error`.

    `seed` is the randomness of its texts' salts, drawn where the caller stands, so that a run with
    scripted dice repeats itself however threads take turns.
    """

    __slots__ = ("error", "events", "expect", "facts", "seed", "stream")

    def __init__(self, stream: str, facts: Sequence[Fact], expect: int | None, seed: bytes) -> None:
        self.stream, self.facts, self.expect, self.seed = stream, facts, expect, seed
        self.events: tuple[Event, ...] = ()
        self.error: BaseException | None = None


class EventWriter:
    """Writes bodies as JSON, giving a ref to each of their private words that has none yet."""

    def __init__(self) -> None:
        self._encoder = msgspec.json.Encoder(enc_hook=self._word)
        self._append: PendingAppend | None = None
        self._event, self._first = "", 0
        self.named: list[Words] = []
        self.texts: list[tuple[Any, ...]] = []

    def compose(
        self, append: PendingAppend, head: Head
    ) -> tuple[list[Event], list[tuple[Any, ...]]]:
        """The events and rows of an append on top of a head; texts gather in `texts`."""
        seq, previous = head
        if append.expect is not None and append.expect != seq:
            raise Conflict(
                f"{append.stream} stands at {seq}, not at {append.expect}; nothing was written. "
                "Read what was added and decide again."
            )
        self._append, self._first = append, len(self.named)
        events, rows = [], []
        for fact in append.facts:
            seq, at, self._event = seq + 1, epoch_micros(fact.at), fact.id
            body = self._encode(fact)
            previous = chain_hash(
                previous, append.stream, seq, fact.id, at, fact.actor, fact.cause, body
            )
            event = Event(
                stream=append.stream,
                seq=seq,
                id=fact.id,
                at=fact.at,
                actor=fact.actor,
                cause=fact.cause,
                body=fact.body,
                hash=previous,
            )
            events.append(event)
            kind, text = kind_of(fact.body), body.decode()
            rows.append(
                (append.stream, seq, fact.id, kind, at, fact.actor, fact.cause, text, previous)
            )
        return events, rows

    def _encode(self, fact: Fact) -> bytes:
        try:
            body = self._encoder.encode(fact.body)
        except UnicodeEncodeError as error:
            raise BadLine(
                f"{kind_of(fact.body)} holds a plain string that is not text (half a surrogate "
                "pair); it was not written."
            ) from error
        if b"null" in body and not _readable(body):
            raise BadLine(
                f"{kind_of(fact.body)} holds a number that is none (not a number, or infinite); "
                "it was not written."
            )
        return body

    def _word(self, value: Any) -> Any:
        if isinstance(value, Words) and not value.public and not value.ref:
            self._name(value)
        return encode_stored(value)

    def _name(self, words: Words) -> None:
        if words.text is None:
            raise BadLine("Private words have neither a text nor a ref; nothing was written.")
        assert self._append is not None
        count = (len(self.named) - self._first).to_bytes(8, "big")
        salt = hashlib.sha256(self._append.seed + count).digest()[:16]
        set_words_ref(words, salted_digest(words.text, salt))
        self.named.append(words)
        self.texts.append(
            (words.ref, salt, escape_stored_text(words.text), self._event, self._append.stream)
        )

    def undo(self, named: int = 0) -> None:
        """Take back every ref given after the first `named`, with its text: it is not stored."""
        for words in self.named[named:]:
            set_words_ref(words, "")
        del self.named[named:], self.texts[named:]

    def clear(self) -> None:
        """Begin anew; what was named is stored."""
        self.named.clear()
        self.texts.clear()


def _readable(body: bytes) -> bool:
    """Whether it can be read again: a number that is none is written as null."""
    try:
        decode_body(body)
    except msgspec.ValidationError:
        return False
    return True


def check_append_names(stream: str, facts: Sequence[Fact]) -> None:
    """Check the names of an append. Raises BadLine."""
    for fact in facts:
        names = (stream, fact.id, fact.actor)
        if not all(names) or not all(name.isprintable() for name in (*names, fact.cause)):
            raise BadLine(
                "A stream, an id, an actor and a cause are printable names, and only a cause may "
                f"be empty; {(*names, fact.cause)!r} was not written."
            )


class ViewRefused(Exception):
    """A view refused one of several appends, by this `cause`: each is to be written by itself."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


def write_appends(
    connection: Connection,
    appends: Sequence[PendingAppend],
    scribe: EventWriter,
    views: Sequence[FoldedView],
) -> None:
    """Write all appends, setting `events` or `error` on each. The caller commits.

    Raises what a view raises, or of several appends ViewRefused; then the caller rolls back.
    """
    heads = lock(connection, {append.stream for append in appends})
    rows: list[tuple[Any, ...]] = []
    moved: dict[str, Head] = {}
    for append in appends:
        append.events, append.error, named = (), None, len(scribe.named)
        try:
            events, more = scribe.compose(append, heads.get(append.stream, EMPTY))
        except (LoopforgeError, ValueError, TypeError) as error:
            append.error = error
            scribe.undo(named)
            continue
        append.events = tuple(events)
        rows.extend(more)
        if events:
            heads[append.stream] = moved[append.stream] = (events[-1].seq, events[-1].hash)
    try:
        apply_to_views(connection, views, [event for append in appends for event in append.events])
    except (LoopforgeError, ValueError, TypeError) as error:
        if len(appends) > 1:
            raise ViewRefused(error) from error
        raise
    insert(connection, rows, scribe.texts, moved)


def lock(connection: Connection, streams: set[str]) -> dict[str, Head]:
    """The heads of streams, held against other writers until the transaction ends.

    SQLite's write lock holds everything already. On PostgreSQL the rows are locked in the order of
    their names, so that two processes never wait for each other in a ring.
    """
    query = f"SELECT stream, seq, hash FROM streams WHERE stream {in_list_sql(connection)}"  # noqa: S608
    named = (list_parameter(connection, sorted(streams)),)
    if connection.dialect.name != "sqlite":
        query = f"{query} ORDER BY stream FOR UPDATE"
    found = fetch_rows(connection, query, named)
    return {stream: (seq, hash) for stream, seq, hash in found}


def insert(
    connection: Connection,
    rows: list[tuple[Any, ...]],
    texts: list[tuple[Any, ...]],
    heads: dict[str, Head],
) -> None:
    """Write the rows of events, of texts and of heads."""
    if not rows:
        return
    one = sql_placeholder(connection)
    insert_rows(
        connection,
        f"INSERT INTO events ({COLUMNS}) VALUES ({', '.join([one] * 9)})",  # noqa: S608
        rows,
    )
    if texts:
        insert_rows(
            connection,
            "INSERT INTO texts (ref, salt, text, event, stream) "  # noqa: S608
            f"VALUES ({', '.join([one] * 5)})",
            texts,
        )
    insert_rows(
        connection,
        f"INSERT INTO streams (stream, seq, hash) VALUES ({', '.join([one] * 3)}) "  # noqa: S608
        "ON CONFLICT (stream) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
        [(stream, seq, hash) for stream, (seq, hash) in heads.items()],
    )
