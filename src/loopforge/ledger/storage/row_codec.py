r"""Rows and what they mean: an event's columns, a body's private words, a text as it is kept.

Any Python string can be kept. PostgreSQL cannot store NUL in a text, and neither database stores
half a surrogate pair; a text with either (or that begins with \x01) is kept as \x01 and its JSON
escape, with a seam between two halves that are one sign to JSON and two here. Nothing is dropped or
replaced, and the digest is always over the text itself. Names
(streams, ids, actors, causes) must be printable, and plain strings of a body must be UTF-8; the
ledger refuses others with BadLine.
"""

import json
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy.engine import Connection

from loopforge.core.events import Body, Event, from_epoch_micros
from loopforge.core.text.erasable_text import Words, decode_stored, set_words_text
from loopforge.errors import LedgerBroken

ESCAPED = "\x01"
SEAM = r"\/"
"""What JSON's own escapes never are: nothing, between two halves."""
_UNFIT = re.compile("[\x00\ud800-\udfff]|\\A\x01")
_HALVES = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")
_SEAMED = re.compile(r"(?<=\\ud[89ab][0-9a-f]{2})\\/(?=\\ud[c-f])")
_UNSEAMED = re.compile(r"(?<=\\ud[89ab][0-9a-f]{2})(?=\\ud[c-f])")

COLUMNS = "stream, seq, id, kind, at, actor, cause, body, hash"
"""The columns of an event's row, in order."""

Row = Sequence[Any]


def escape_stored_text(text: str) -> str:
    """The text as both databases can keep it."""
    if text.isascii() and "\x00" not in text and not text.startswith(ESCAPED):
        return text
    if not _UNFIT.search(text):
        return text
    return ESCAPED + SEAM.join(json.dumps(part)[1:-1] for part in _HALVES.split(text))


def unescape_stored_text(stored: str) -> str:
    """The text that was kept so. Raises ValueError when nothing could have been kept so."""
    if not stored.startswith(ESCAPED):
        return stored
    text = _unescape(_SEAMED, stored[1:])
    if escape_stored_text(text) == stored:
        return text
    text = _unescape(_UNSEAMED, stored[1:])  # as it was written before there were seams
    if escape_stored_text(text).replace(SEAM, "") != stored:
        raise ValueError("this escape was not written by the ledger")
    return text


def _unescape(seams: re.Pattern[str], escaped: str) -> str:
    """The text of an escape, whose parts are read each by itself."""
    return "".join(json.loads(f'"{part}"') for part in seams.split(escaped))


class _Bodies(threading.local):
    """A decoder of bodies for each thread, and the private words it came by."""

    def __init__(self) -> None:
        self.found: list[Words] = []
        self.decoder: msgspec.json.Decoder[Body] = msgspec.json.Decoder(
            Body, dec_hook=collector(self.found)
        )


def collector(found: list[Words]) -> Callable[[type, Any], Any]:
    """A msgspec `dec_hook` that lists the private words it makes."""

    def collect(kind: type, value: Any) -> Any:
        made = decode_stored(kind, value)
        if isinstance(made, Words) and not made.public:
            found.append(made)
        return made

    return collect


_bodies = _Bodies()


def event_of(row: Row) -> tuple[Event, list[Words]]:
    """The event of a row, and its private words, still without text.

    Raises LedgerBroken when the body cannot be read.
    """
    stream, seq, id, kind, at, actor, cause, body, hash = row
    found = _bodies.found
    found.clear()
    try:
        event = Event(
            stream=stream,
            seq=seq,
            id=id,
            at=from_epoch_micros(at),
            actor=actor,
            cause=cause,
            body=_bodies.decoder.decode(body),
            hash=hash,
        )
    except (msgspec.DecodeError, ValueError, OverflowError, TypeError) as error:
        raise LedgerBroken(
            f"Event {id} of {stream} (number {seq}, {kind}) cannot be read: {error}. It may have "
            "been written by a newer Loopforge, or changed; `loopforge ledger verify` tells."
        ) from error
    return event, found[:]


def events_of(connection: Connection, rows: Iterable[Row]) -> list[Event]:
    """The events of rows, with all private words filled in by one query."""
    events: list[Event] = []
    words: list[Words] = []
    for row in rows:
        event, found = event_of(row)
        events.append(event)
        words.extend(found)
    fill_words(connection, words)
    return events


def fill_words(connection: Connection, words: Iterable[Words]) -> None:
    """Give words their texts; those of forgotten ones stay None."""
    waiting: dict[str, list[Words]] = {}
    for one in words:
        waiting.setdefault(one.ref, []).append(one)
    if not waiting:
        return
    for ref, stored in connection.exec_driver_sql(
        f"SELECT ref, text FROM texts WHERE ref {in_list_sql(connection)}",  # noqa: S608
        (list_parameter(connection, waiting),),
    ):
        try:
            text = unescape_stored_text(stored)
        except (ValueError, TypeError) as error:
            raise LedgerBroken(
                f"The text {ref} is damaged. Run `loopforge ledger verify` to see how much is."
            ) from error
        for one in waiting[ref]:
            set_words_text(one, text)


def in_list_sql(connection: Connection) -> str:
    """The SQL that says "one of a list", the list being one parameter of any length."""
    if connection.dialect.name == "sqlite":
        return "IN (SELECT value FROM json_each(?))"
    return "= ANY(%s)"


def list_parameter(connection: Connection, values: Iterable[str]) -> object:
    """The list, as that parameter."""
    if connection.dialect.name == "sqlite":
        return msgspec.json.encode(list(values)).decode()
    return list(values)


def sql_placeholder(connection: Connection) -> str:
    """The sign of a parameter in this dialect's statements."""
    return "?" if connection.dialect.name == "sqlite" else "%s"
