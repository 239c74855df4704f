"""Cross quotes: texts of other streams that repeat what people said in one, when that one is to go.

Within a stream one telling word makes a quote (quote_matching.py). Between streams that would be
far too much: two rooms that speak of gardens do not quote each other. So a text elsewhere is an
echo when it came later, and

* shares six words in a row with a line that a person said, or
* holds the whole of a shorter one, of three words or more;

if a distinctive word is among those words, and they stand in no text of its stream before. Not
looked for: echoes of what mates said, and of the texts of files, which are often given twice.

Reads alone, in a reading thread: nobody who writes waits for it, and what comes meanwhile is not
looked at.
"""

from collections.abc import Iterator, Sequence

from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard
from loopforge.ledger.erasure.quote_matching import folded_words, is_distinctive
from loopforge.ledger.storage.event_reading import read_events
from loopforge.ledger.storage.row_codec import sql_placeholder, unescape_stored_text

RUN = 6
"""Words in a row that make an echo."""
LEAST = 3
"""Words of a line that is looked for at all."""
PAGE = 1000


class CrossQuotes:
    """What people said in a stream. Tell it their lines, then ask of texts from elsewhere.

    Runs of words are kept as their hashes: a book of a million of them fits.
    """

    def __init__(self) -> None:
        self._telling: set[str] = set()
        self._since: dict[int, str] = {}
        self._lengths: set[int] = set()
        self._before: dict[str, set[int]] = {}

    def take(self, text: str, event: str) -> None:
        """A line; of events in their order. `event` is its id (ids are ordered in time)."""
        mine = folded_words(text)
        if len(mine) < LEAST:
            return
        length = min(RUN, len(mine))
        self._telling.update(filter(is_distinctive, mine))
        for run in _runs(mine, length, self._telling):
            self._lengths.add(length)
            self._since.setdefault(run, event)

    def repeats(self, text: str, event: str, stream: str) -> bool:
        """Whether this is an echo; ask of every text of a stream, in order."""
        mine = folded_words(text)
        if self._telling.isdisjoint(mine):
            return False
        before, found = self._before.setdefault(stream, set()), False
        for length in self._lengths:
            for run in _runs(mine, length, self._telling):
                since = self._since.get(run)
                if since is None or run in before:
                    continue
                if since < event:
                    found = True
                else:
                    before.add(run)
        return found


def _runs(mine: Sequence[str], length: int, telling: set[str]) -> Iterator[int]:
    """The hash of each run of so many words that holds a telling one."""
    last = -1
    for end, word in enumerate(mine, 1):
        if word in telling:
            last = end
        if end >= length and last > end - length:
            yield hash(tuple(mine[end - length : end]))


def elsewhere(connection: Connection, stream: str) -> dict[str, set[str]]:
    """The refs of the texts, by stream, that echo what people said in this one."""
    chorus, opened = CrossQuotes(), ""
    for event in _heard(connection, stream):
        if isinstance(event.body, Heard) and event.body.text.text is not None:
            opened = opened or event.id
            chorus.take(event.body.text.text, event.id)
    found: dict[str, set[str]] = {}
    if opened:
        for other, event_id, ref, text in _texts(connection, stream, opened):
            if chorus.repeats(text, event_id, other):
                found.setdefault(other, set()).add(ref)
    return found


def _heard(connection: Connection, stream: str) -> Iterator[Event]:
    after = 0
    while page := read_events(connection, stream, after=after, kinds=["room.heard"], limit=PAGE):
        yield from page
        after = page[-1].seq


def _texts(connection: Connection, stream: str, since: str) -> Iterator[tuple[str, str, str, str]]:
    """The private texts of all other streams from an event's time on, each stream in order."""
    one, place = sql_placeholder(connection), ("", "", "")
    query = (
        "SELECT stream, event, ref, text FROM texts "  # noqa: S608
        f"WHERE event >= {one} AND stream <> {one} "
        f"AND (stream, event, ref) > ({one}, {one}, {one}) "
        f"ORDER BY stream, event, ref LIMIT {PAGE}"
    )
    while rows := connection.exec_driver_sql(query, (since, stream, *place)).all():
        for other, event, ref, stored in rows:
            yield other, event, ref, unescape_stored_text(stored)
        place = tuple(rows[-1][:3])
