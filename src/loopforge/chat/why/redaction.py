"""Redaction: what a reader of a flight record may not see of it, word by word.

    every text that a record refers to --> which event brought it in --> may the reader see that?

A reader who came later, or was away, may open the records of turns that were taken while they were
here; but such a turn was shown older lines. Three things are withheld:

* a text that belongs to an event which they cannot see, wherever it is referred to;
* the name of a person who was never in the room together with them;
* in all other texts (answers, plans, narratives, what stands in prompts beside the lines): whatever
  repeats such a text: the whole of it, from 12 characters on; four words of it in a row; a word
  of it with a digit, of four characters or more.

What a line that they can see says as well is no secret, and stays. Texts of another room are never
shown, nor what a mate keeps, unless all that it rests on are lines of this room that the reader can
see. A paraphrase is not found.

Does not know what a record looks like, nor where rights come from: a Sight says what may be seen.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec import Struct
from sqlalchemy import Row, select
from sqlalchemy.engine import Connection

from loopforge.chat.room.member_visibility import FOREVER, MemberSight
from loopforge.chat.room.room_store import PREFIX
from loopforge.chat.why.flight_record import Changed
from loopforge.core.edited_lines import Revision
from loopforge.core.events import Event
from loopforge.core.memory.memory_vocabulary import PREFIX as MEMORY
from loopforge.core.perception import Line
from loopforge.core.room_vocabulary import Heard, PersonJoined, PersonLeft, Said, Told
from loopforge.core.text.erasable_text import Words, replace_lone_surrogates
from loopforge.ledger.erasure.quote_matching import (
    CHATTER,
    COMMON,
    RUN,
    decoded_strings,
    fold_for_search,
    word_ngrams,
    word_spans,
)
from loopforge.ledger.storage.revised_lines import latest_revisions
from loopforge.ledger.storage.row_codec import in_list_sql, list_parameter
from loopforge.ledger.table_access import Tables
from loopforge.memory.memory_view import memory_evidence

SHORTEST = 12
"""Characters from which on a whole text is looked for in others."""
CODE = 4
"""Characters from which on a word with a digit is."""

BEFORE = "[said before you came]"
AWAY = "[said while you were away]"
ELSEWHERE = "[said in another room]"
SOMEBODY = "somebody"

COMPOSED = ("turn.asked", "turn.perceived")
"""Kinds of event whose own texts are nobody's line, but what the house made of lines and files."""


class RecordPlace(NamedTuple):
    """Where an event stands."""

    stream: str
    seq: int
    kind: str


def owners(connection: Connection, refs: Iterable[str]) -> dict[str, RecordPlace]:
    """The events that brought texts in, by ref; without those that are forgotten."""
    query = (
        "SELECT texts.ref, events.stream, events.seq, events.kind FROM texts "  # noqa: S608
        f"JOIN events ON events.id = texts.event WHERE texts.ref {in_list_sql(connection)}"
    )
    rows = connection.exec_driver_sql(query, (list_parameter(connection, refs),))
    return {ref: RecordPlace(stream, seq, kind) for ref, stream, seq, kind in rows}


def locate_events(connection: Connection, ids: Iterable[str]) -> dict[str, RecordPlace]:
    """Where these events stand, by id."""
    query = f"SELECT id, stream, seq, kind FROM events WHERE id {in_list_sql(connection)}"  # noqa: S608
    rows = connection.exec_driver_sql(query, (list_parameter(connection, ids),))
    return {id: RecordPlace(stream, seq, kind) for id, stream, seq, kind in rows}


def private_texts(value: object) -> Iterator[Words]:
    """Every private text in a value made of structs and sequences."""
    match value:
        case Words():
            if not value.public:
                yield value
        case Struct():
            for name in value.__struct_fields__:
                yield from private_texts(getattr(value, name))
        case tuple() | list():
            for each in value:
                yield from private_texts(each)
        case dict():
            yield from private_texts(tuple(value.values()))


# ---------------------------------------------------------------- looking for repetitions


class HiddenPhrases:
    """What is looked for in other texts: runs of words of what is hidden."""

    def __init__(
        self, hidden: Iterable[str], open: Iterable[str] = (), names: Iterable[str] = ()
    ) -> None:
        self._runs: set[tuple[str, ...]] = set()
        known = [_words_of(reading) for text in open for reading in _readings_of(text)]
        for text in hidden:
            for reading in _readings_of(text):
                self._add_phrases(reading, known)
        for name in names:
            tokens = tuple(_words_of(name))
            if tokens and not CHATTER.issuperset(tokens):
                self._runs.add(tokens)
        self._lengths = sorted({len(run) for run in self._runs}, reverse=True)

    def __bool__(self) -> bool:
        return bool(self._runs)

    def _add_phrases(self, text: str, known: Sequence[Sequence[str]]) -> None:
        tokens = _words_of(text)
        found = {run for run in word_ngrams(tokens, RUN) if not _USUAL.issuperset(run)}
        found |= {
            (token,) for token in tokens if len(token) >= CODE and any(map(str.isdigit, token))
        }
        if tokens and len(fold_for_search(text)) >= SHORTEST:
            found.add(tuple(tokens))
        for said in known:
            if found:
                found -= {
                    run for size in {len(r) for r in found} for run in word_ngrams(said, size)
                }
        self._runs |= found

    def mask(self, text: str, marker: str) -> str:
        """The text with a marker in place of whatever repeats something hidden."""
        words = list(word_spans(text))
        tokens = [word for word, _, _ in words]
        covered = [False] * len(tokens)
        for length in self._lengths:
            for place, run in enumerate(word_ngrams(tokens, length)):
                if run in self._runs:
                    covered[place : place + length] = [True] * length
        parts, last, place = [], 0, 0
        while place < len(tokens):
            if not covered[place]:
                place += 1
                continue
            begin = words[place][1]
            while place < len(tokens) and covered[place]:
                end = words[place][2]
                place += 1
            parts += [text[last:begin], marker]
            last = end
        return "".join((*parts, text[last:]))


_USUAL = CHATTER | COMMON


def _readings_of(text: str) -> set[str]:
    return {text, *decoded_strings(text)}


def _words_of(text: str) -> list[str]:
    return [word for word, _, _ in word_spans(text)]


# ---------------------------------------------------------------- the veil itself


@dataclass
class RecordRedaction:
    """Gives texts as one reader may see them. One that is made without arguments hides nothing.

    `hidden` maps the refs and the ids of lines that are withheld to their marker; `seqs` gives
    lines' places by id; `unknown` are the refs of names of people that the reader never met;
    `copies` are hidden texts as JSON strings, which prompts hold where a text needs escaping.
    `changes` are the lines that were edited or deleted later, by id. `owner`: the reader is told
    what services of the home's own said, errors word for word.
    """

    hidden: Mapping[str, str] = field(default_factory=dict)
    seqs: Mapping[str, int] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    needles: HiddenPhrases | None = None
    copies: frozenset[str] = frozenset()
    sight: MemberSight | None = None
    changes: Mapping[str, Revision] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    owner: bool = True

    def sees(self, event: Event) -> bool:
        """Whether the reader may see an event of this room."""
        return self.sight is None or self.sight.sees(event.seq)

    def changed(self, line: str) -> Changed:
        """What became of a line later, as far as the reader may know."""
        change = self.changes.get(line)
        if change is None or not (self.sight is None or self.sight.sees(change.seq)):
            return ""
        return "deleted" if change.deleted else "edited"

    def marker(self, words: Words, line: str = "") -> str:
        """The marker in place of a text that is withheld; "" for one that is not."""
        return self._use_marker(self.hidden.get(line, "") or self.hidden.get(words.ref, ""))

    def line(self, words: Words, line: str = "") -> str:
        """A text of a line of the room: itself, or its marker."""
        return self.marker(words, line) or _without_lone_surrogates(str(words))

    def who(self, words: Words) -> str:
        """Somebody's name."""
        if words.ref and words.ref in self.unknown:
            self._use_marker(BEFORE)
            return SOMEBODY
        return _without_lone_surrogates(str(words))

    def words(self, words: Words) -> str:
        """Any other text that the record refers to."""
        return self.marker(words) or self.text(str(words))

    def text(self, text: str) -> str:
        """Any text: with a marker in place of what repeats something withheld."""
        text = _without_lone_surrogates(text)
        if text in self.copies:
            return self._use_marker(self._default_marker)
        if not self.needles or not text:
            return text
        if text.lstrip()[:1] in {"{", "[", '"'}:
            try:
                value = json.loads(text)
                cleared = self._redact_value(value)
                return text if cleared == value else json.dumps(cleared, ensure_ascii=False)
            except (ValueError, RecursionError):
                pass
        for reading in [*decoded_strings(text, 1)][::-1]:
            masked = self.needles.mask(reading, self._default_marker)
            if masked != reading:
                self._use_marker(self._default_marker)
                return masked
        return text

    @property
    def _default_marker(self) -> str:
        marks = set(self.hidden.values())
        return AWAY if BEFORE not in marks and AWAY in marks else BEFORE

    def _redact_value(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.text(key): self._redact_value(each) for key, each in value.items()}
            case list():
                return [self._redact_value(each) for each in value]
            case bool() | None:
                return value
            case number:
                cleared = self.text(str(number))
                return number if cleared == str(number) else cleared

    def _use_marker(self, marker: str) -> str:
        if marker:
            self.used.add(marker)
        return marker

    @property
    def notice(self) -> str:
        """One sentence on what has been withheld so far, and why; "" for nothing."""
        whens = {BEFORE: "before you came into this room", AWAY: "while you were away"}
        when = " or ".join(words for marker, words in whens.items() if marker in self.used)
        parts = [f"what was said {when}"] if when else []
        if ELSEWHERE in self.used:
            parts.append("what was said in another room")
        if not parts:
            return ""
        return (
            f"Part of this record is withheld from you: {' and '.join(parts)} stays between those "
            "who were there, and brackets stand in its place."
        )


def _without_lone_surrogates(text: str) -> str:
    return str(replace_lone_surrogates(text))


async def build_redaction(
    tables: Tables,
    stream: str,
    sight: MemberSight,
    events: Sequence[Event],
    lines: Sequence[Line],
    rest: Sequence[Words],
    presence: Sequence[Event],
    beside: Collection[str] = (),
) -> RecordRedaction:
    """The veil between a reader with this sight and a record made of these events and lines.

    `rest` are further texts that the record refers to (prompts); `presence` who came and went;
    `beside` are other streams that the reader may see whole.
    """
    texts = [*private_texts([event.body for event in events]), *private_texts(list(lines)), *rest]
    refs = {words.ref for words in texts if words.ref}
    ids = {line.id for line in lines if line.id} | {event.id for event in events}

    def look(
        connection: Connection,
    ) -> tuple[dict[str, RecordPlace], dict[str, RecordPlace], dict[str, Revision], set[str]]:
        owned, stand = owners(connection, refs), locate_events(connection, ids)
        open = _open_items(connection, stream, sight, stand, beside)
        return owned, stand, latest_revisions(connection, ids), open

    owned, stand, changes, open = await tables.look(look)
    judge = _Judge(stream, sight, beside)
    met, unknown = judge.people(presence)
    hidden = {id: mark for id, place in stand.items() if (mark := judge.marker(place))}
    hidden |= {ref: mark for ref, place in owned.items() if (mark := judge.text(place))}
    for id in open:
        hidden.pop(id, None)
    for line in lines:
        if line.id in open:
            hidden.pop(line.text.ref, None)
    named = {e.body.name.ref for e in presence if isinstance(e.body, PersonJoined)}
    for line in lines:
        if mark := hidden.get(line.id, ""):
            hidden |= {words.ref: mark for words in private_texts(line) if words.ref not in named}
    for ref in named:
        hidden.pop(ref, None)
    hidden.pop("", None)
    withheld = [str(words) for words in texts if words.ref in hidden and words.text]
    withheld += [str(line.text) for line in lines if line.id in hidden and line.text.text]
    came = {e.body.person: str(e.body.name) for e in presence if isinstance(e.body, PersonJoined)}
    names = {came[person] for person in came.keys() - met}
    names -= {came[person] for person in met}
    return RecordRedaction(
        hidden=hidden,
        seqs={id: place.seq for id, place in stand.items() if place.stream == stream},
        unknown=unknown,
        needles=HiddenPhrases(set(withheld), _openly_seen(events, lines, hidden), names),
        copies=frozenset(json.dumps(text, ensure_ascii=False) for text in withheld),
        sight=sight,
        changes=changes,
    )


def _open_items(
    connection: Connection,
    stream: str,
    sight: MemberSight,
    stand: Mapping[str, RecordPlace],
    beside: Collection[str],
) -> set[str]:
    """The items of memory that rest on lines of this room, or beside it, that may be seen."""
    items = [id for id, place in stand.items() if place.stream.startswith(MEMORY)]
    mine = memory_evidence.c.item.in_(items)
    rows = connection.execute(select(memory_evidence).where(mine)).all() if items else []

    def seen(row: Row[Any]) -> bool:
        return sight.sees(row.seq) if row.stream == stream else row.stream in beside

    return {row.item for row in rows} - {row.item for row in rows if not seen(row)}


def _openly_seen(
    events: Sequence[Event], lines: Sequence[Line], hidden: Mapping[str, str]
) -> set[str]:
    """What the reader has seen in the room itself."""
    said = [e for e in events if isinstance(e.body, Heard | Said | Told) and e.id not in hidden]
    texts = {str(e.body.text) for e in said if isinstance(e.body, Heard | Said | Told)}
    spoken = ("heard", "said", "mine", "told", "file")
    return texts | {
        str(line.text) for line in lines if line.kind in spoken and line.id not in hidden
    }


class _Judge:
    """What one reader may see of one room."""

    def __init__(self, stream: str, sight: MemberSight, beside: Collection[str]) -> None:
        self._stream, self._sight, self._beside = stream, sight, beside
        self._first = min((stay.since for stay in sight.stays), default=FOREVER)

    def marker(self, place: RecordPlace) -> str:
        """The marker for an event that may not be seen; "" for one that may."""
        if place.stream != self._stream:
            return "" if place.stream in self._beside else ELSEWHERE
        if self._sight.sees(place.seq):
            return ""
        return BEFORE if place.seq < self._first else AWAY

    def text(self, place: RecordPlace) -> str:
        """The marker for a text that this event brought in."""
        if place.stream.startswith(MEMORY):
            return ELSEWHERE
        if not place.stream.startswith(PREFIX) or place.kind in COMPOSED:
            return ""  # names are judged by who met whom; what was composed is searched
        return self.marker(place)

    def people(self, presence: Sequence[Event]) -> tuple[frozenset[str], frozenset[str]]:
        """Whom the reader met, by id, and the refs of the others' names."""
        strangers = self.strangers(presence)
        everybody = {e.body.person for e in presence if isinstance(e.body, PersonJoined)}
        met = everybody - {body.person for body in strangers}
        return frozenset(met), frozenset({body.name.ref for body in strangers} - {""})

    def strangers(self, presence: Sequence[Event]) -> list[PersonJoined]:
        """How those came whom the reader was never here together with."""
        met: set[str] = set()
        came: dict[str, int] = {}
        for event in presence:
            match event.body:
                case PersonJoined(person=person):
                    came.setdefault(person, event.seq)
                case PersonLeft(person=person):
                    if self._were_together(came.pop(person, event.seq), event.seq):
                        met.add(person)
        met |= {person for person, since in came.items() if self._were_together(since, FOREVER)}
        bodies = [e.body for e in presence if isinstance(e.body, PersonJoined)]
        return [body for body in bodies if body.person not in met]

    def _were_together(self, since: int, until: int) -> bool:
        return any(stay.since <= until and since <= stay.until for stay in self._sight.stays)
