"""What other streams hold of texts that are to go: echoes of lines, and what turns were shown.

Within a stream one telling word makes a quote (quote_matching.py). Between streams that would be
far too much: two rooms that speak of gardens do not quote each other. So a text elsewhere is an
echo (`CrossQuotes`) when it came later, and

* shares six words in a row with a line that a person said, or
* holds the whole of a shorter one, of three words or more;

if a distinctive word is among those words, and they stand in no text of its stream before. Not
looked for: echoes of what mates said, and of the texts of files, which are often given twice.

And a line of one room comes to a mate in another (`shown_elsewhere`): recalled, told by a tool, or
looked back on. The record there names what it was shown, by ref or by id (Perceived, Asked,
EffectReturned). What quotes it (stream_quotes.py) goes along: of the record of turns, from there
on; of what mates said and tools gave, in such a turn alone. What people said there stays: they said
it themselves; and what is kept of it in memory goes by the lines that it rests on
(derived_texts.py). What a tool told, whose result does not say of which lines, is not known.

Reads alone, in a reading thread: nobody who writes waits for it, and what comes meanwhile is not
looked at.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.memory.memory_vocabulary import MemoryCorrected
from loopforge.core.room_vocabulary import Heard, LineEdited
from loopforge.ledger.erasure.erasure_search import ErasureSearch, Origin
from loopforge.ledger.erasure.quote_matching import ForgottenText, folded_words, is_distinctive
from loopforge.ledger.erasure.stream_quotes import EVER, QuotesMade, Span, made_of
from loopforge.ledger.storage.event_reading import read_events
from loopforge.ledger.storage.revised_lines import events_by_id
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


# ---------------------------------------------------------------- shown elsewhere


CHANGES = ("room.line_edited", "memory.corrected")
SAID = ("room.heard", "memory.kept", *CHANGES)
"""Events whose words a mind in another stream can be shown."""


def shown_elsewhere(
    connection: Connection,
    search: ErasureSearch,
    refs: Collection[str],
    named: Mapping[str, bool],
    whole: str,
) -> dict[str, QuotesMade]:
    """By stream, in what mates elsewhere quote what they were shown of these.

    `named` are those that were wanted gone themselves, and whether each is a person's name. The
    stream `whole` goes anyway.
    """
    texts, found = search.texts(connection, refs), dict[str, QuotesMade]()
    brought = _brought(search.origins(connection, refs), named)
    for stream, shown in _places(connection, search, brought, whole).items():
        forgotten = [
            ForgottenText(texts[ref], min(at), named.get(ref, False)) for ref, at in shown.items()
        ]
        spans = _turns(connection, stream, set[int]().union(*shown.values()))
        found[stream] = made_of(search.quotes(connection, stream, forgotten), spans)
    return found


def _turns(connection: Connection, stream: str, shown: Collection[int]) -> list[Span]:
    """From each of these events to the end of its turn."""
    one = sql_placeholder(connection)
    query = (
        f"SELECT seq FROM events WHERE stream = {one} AND seq >= {one} "  # noqa: S608
        "AND kind = 'turn.ended' ORDER BY seq"
    )
    ends = connection.exec_driver_sql(query, (stream, min(shown))).scalars().all()
    over = [*ends, EVER]
    return [(seq, over[bisect_left(ends, seq)]) for seq in sorted(shown)]


def _brought(origins: Mapping[str, Origin], named: Collection[str]) -> dict[str, Origin]:
    """What people said, memories, and what was named: phrases of mates come again everywhere."""
    return {ref: one for ref, one in origins.items() if one.kind in SAID or ref in named}


def _changed(connection: Connection, origins: Iterable[Origin]) -> dict[str, str]:
    """What changes gave other words, by the changes: a line or memory, by whose id it is shown."""
    ids = {origin.event for origin in origins if origin.kind in CHANGES}
    found = ((event.id, event.body) for event in events_by_id(connection, ids))
    return {
        id: body.line if isinstance(body, LineEdited) else body.item
        for id, body in found
        if isinstance(body, LineEdited | MemoryCorrected)
    }


def _places(
    connection: Connection, search: ErasureSearch, brought: Mapping[str, Origin], whole: str
) -> dict[str, dict[str, set[int]]]:
    """By stream, which of these texts were shown there, and in which events."""
    called, changed = dict[str, set[str]](), _changed(connection, brought.values())
    for ref, origin in brought.items():
        for name in {ref, origin.event, changed.get(origin.event, origin.event)}:
            called.setdefault(name, set()).add(ref)
    found: dict[str, dict[str, set[int]]] = {}
    if not brought:
        return found
    since = min(origin.event for origin in brought.values())
    for stream, seq, names in search.mentions(connection, called, since):
        for ref in set[str]().union(*(called[name] for name in names)):
            if stream not in (whole, brought[ref].stream):
                found.setdefault(stream, {}).setdefault(ref, set()).add(seq)
    return found
