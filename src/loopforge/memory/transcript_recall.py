"""Recall from the transcript: which lines fit, among those that may be used here.

    question -> its vector -> rooms and spans that may be used -> their passages ranked -> the lines

What may be used is asked once for each question (`UsableRooms`, which the home wires), and all that
is outside is dropped before anything is counted: a line that may not be used does not even change
how rare a word is. A line is looked at once more as it stands now before it is given: an edit that
somebody present cannot have seen hides it. Where vectors are not to be had, words do alone.

Which passages are worth ranking is asked of a CandidateSearch (candidates/candidate_search.py).
While vectors are made anew for another model, the old ones serve as far as a question can be asked
by them: by models that come in packages it always can.

Nothing is read when a home starts; what is searched is mapped or read when it is first searched.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, select
from sqlalchemy.engine import Connection

from loopforge.core.edited_lines import Revised
from loopforge.core.events import Event
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.topics import fold_case
from loopforge.errors import LoopforgeError
from loopforge.ledger.storage.revised_lines import apply_revisions, events_by_place
from loopforge.ledger.table_access import ReadableLedger
from loopforge.memory.passage_index import passages
from loopforge.memory.time_cues import time_named
from loopforge.runtime.ports import Clock, Embeddings, WeightedEmbeddings
from loopforge.runtime.ports.memory_port import EVER, RecalledLine, RecallQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from loopforge.memory.candidates.candidate_search import CandidateSearch
    from loopforge.memory.passage_loading import VectorSpace
    from loopforge.memory.passage_ranking import RecallCue

log = logging.getLogger(__name__)
SECONDS = 5.0
"""A question's vector is waited for so long; then words do alone."""
PAUSE = 60.0
"""Seconds after a failure before vectors are asked for again."""
SPARE = 2
"""So many times the lines that are wanted are looked at: some may turn out to be gone."""

KNOWN, FOLLOWED = 2000, 200
"""Of so many rooms it is remembered whether mates see all there is, and of each so many lines."""
LINES = ("room.heard", "room.said")

_WORD = re.compile(r"[^\W_]+")
_PLACES = (
    select(passages.c.seq)
    .where(
        passages.c.stream == bindparam("stream"),
        passages.c.seq >= bindparam("since"),
        passages.c.seq <= bindparam("upto"),
    )
    .order_by(passages.c.seq)
)
_FIRST_PLACE = _PLACES.limit(1)
Meant = dict[str, "NDArray[Any]"]
"""A question's vectors by the names of models, today's first."""
Span = tuple[int, int]
"""Sequence numbers, both included."""
UsableRooms = Callable[[Connection, RecallQuery], Mapping[str, Sequence[Span]]]
"""The rooms whose lines may be used for a question, each with the spans that may."""


class RankedPlace(NamedTuple):
    """Where something that fits stands, its score, and what that is made of, by name."""

    stream: str
    seq: int
    score: float
    parts: dict[str, float]


class _Looked(NamedTuple):
    """What was seen when it was last looked whether a mate has all there is before its eyes.

    `more`: something stands before what it sees, or in another room. Else it saw all that lies in
    these spans up to a line: so many `lines`, from `first` on. `alone`: no other room may be used.
    `asked`: with whom present, and whether everywhere. `moves`: those counted until then.
    """

    more: bool = True
    spans: tuple[Span, ...] = ()
    first: int = 0
    lines: int = 0
    upto: int = -1
    alone: bool = False
    asked: tuple[object, ...] = ()
    moves: int = -1


@dataclass
class _Watched:
    """How a room was for each mate in it, and the numbers of lines that were said since.

    Of those after `before` none is missing.
    """

    mates: dict[str, _Looked] = field(default_factory=dict)
    said: list[int] = field(default_factory=list)
    before: int = -1

    def take(self, said: Iterable[int]) -> None:
        """Lines were said."""
        self.said.extend(said)
        if len(self.said) > FOLLOWED:
            self.before = self.said[-FOLLOWED // 2]
            del self.said[: -FOLLOWED // 2 + 1]

    def since(self, looked: _Looked, upto: int) -> list[int] | None:
        """The lines after those that were seen, up to one; None where that is not known."""
        if looked.upto < self.before:
            return None
        return self.said[bisect_right(self.said, looked.upto) : bisect_right(self.said, upto)]


class TranscriptRecall:
    """See `Recall`. `embeddings` gives those of today, or raises: then it goes by words alone.

    `older` gives those of another name, or None where they cannot be had any more. `search` gives
    what finds passages for the vectors of some models. `usable` may give something else after an
    event of the kinds `moves`.
    """

    def __init__(
        self,
        ledger: ReadableLedger,
        usable: UsableRooms,
        moves: Collection[str],
        embeddings: Callable[[], Embeddings],
        older: Callable[[str], Embeddings | None],
        search: Callable[[VectorSpace], CandidateSearch],
        clock: Clock,
    ) -> None:
        self._ledger, self._usable, self._clock = ledger, usable, clock
        self._embeddings, self._older, self._search = embeddings, older, search
        self._searched: CandidateSearch | None = None
        self._searching = threading.Lock()
        self._again = 0.0
        self._former = ""
        self._watched: BoundedMapping[str, _Watched] = BoundedMapping(KNOWN)
        self._moves = 0
        ledger.subscribe(self._count_moves, kinds=moves)
        ledger.subscribe(self._note_said, kinds=LINES)
        self._last: tuple[tuple[str, ...], Meant] = ((), {})

    async def recall(self, query: RecallQuery) -> Sequence[RecalledLine]:
        """See `Recall.recall`."""
        if not query.text.strip() or not query.present:
            return ()
        if not await self._has_more(query):
            return ()
        former = self._former
        meant = await self.meant(query.text)
        found = await self._ledger.look(partial(self._find_lines, query=query, meant=meant))
        if self._former not in ("", former):
            meant = await self.meant(query.text)
            found = await self._ledger.look(partial(self._find_lines, query=query, meant=meant))
        return found

    async def meant(self, text: str) -> Meant:
        """What the question means; nothing where that is not to be had now.

        The last question's is kept: what is kept of people is asked for it, too.
        """
        if self._clock.ticks() < self._again:
            return {}
        meant: Meant = {}
        try:
            async with asyncio.timeout(SECONDS):
                today = self._embeddings()
                asked = text, today.name, self._former
                if asked == self._last[0]:
                    return dict(self._last[1])
                meant[today.name] = await _vector_of(today, text)
                if self._former and (former := self._older(self._former)) is not None:
                    meant[self._former] = await _vector_of(former, text)
                self._last = asked, dict(meant)
        except (LoopforgeError, TimeoutError) as error:
            self._again = self._clock.ticks() + PAUSE
            log.warning("Memory is searched by words alone for now. %s", error)
        return meant

    async def _has_more(self, query: RecallQuery) -> bool:
        """Whether there is anything that the mate does not see anyway: in a young room, nothing."""
        room = self._watched.setdefault(query.stream, _Watched())
        self._watched.move_to_end(query.stream)
        known = room.mates.get(query.mate)
        if known is not None and known.more:
            return True  # it hardly ever gets less
        if (
            known is not None
            and (same := self._look_without_reading(room, known, query)) is not None
        ):
            room.mates[query.mate] = same
            return False
        moves = self._moves
        found = await self._ledger.look(partial(self._look_now, query=query, known=known))
        room.mates.pop(query.mate, None)
        if found is not None:
            room.mates[query.mate] = found._replace(asked=_terms_of_use(query), moves=moves)
        return found is None or found.more

    def _look_without_reading(
        self, room: _Watched, known: _Looked, query: RecallQuery
    ) -> _Looked | None:
        """How it is now, where that is plain without reading: all there is, it sees still."""
        seen, new = query.seen, room.since(known, query.upto)
        stays = known.alone and (known.moves, known.asked) == (self._moves, _terms_of_use(query))
        sees = known.lines <= len(seen) and known.first == min(seen, default=EVER)
        if new is None or not (stays and sees and seen.issuperset(new)):
            return None
        return known._replace(lines=len(seen), upto=max(new, default=known.upto))

    def _count_moves(self, _stream: str, events: Sequence[Event]) -> None:
        self._moves += len(events)

    def _note_said(self, stream: str, events: Sequence[Event]) -> None:
        if room := self._watched.get(stream):
            room.take(event.seq for event in events)

    def _look_now(
        self, connection: Connection, query: RecallQuery, known: _Looked | None
    ) -> _Looked | None:
        """How it is now; None where only lines amid those it sees are out of its sight."""
        spans, seen = dict(self._usable(connection, query)), query.seen
        own = tuple(spans.pop(query.stream, ()))
        first = min(seen, default=EVER)
        since, upto = first, -1
        if known and (known.spans, known.first) == (own, first) and known.lines <= len(seen):
            since, upto = known.upto + 1, known.upto
        elif any(
            _passage_places(connection, query.stream, each, before=first, first=True)
            for each in own
        ):
            return _Looked()
        if any(
            _passage_places(connection, one, span, first=True)
            for one in spans
            for span in spans[one]
        ):
            return _Looked()
        within = partial(
            _passage_places, connection, query.stream, since=since, before=query.upto + 1
        )
        there = [seq for each in own for seq in within(each)]
        if not seen.issuperset(there):
            return None
        return _Looked(False, own, first, len(seen), max(there, default=upto), alone=not spans)

    def _find_lines(
        self, connection: Connection, query: RecallQuery, meant: Meant
    ) -> list[RecalledLine]:
        spans, searched = self._usable(connection, query), dict[str, Sequence[Span]]()
        searched.update(spans)
        if own := spans.get(query.stream):  # up to there a line was said; it may be edited later
            searched[query.stream] = [(since, min(until, query.upto)) for since, until in own]
        ranked = self.ranked(connection, query, searched, meant)
        lines = _lines_at(connection, [(each.stream, each.seq) for each in ranked])
        usable = [
            (r, line) for r, line in zip(ranked, lines, strict=True) if _may_be_used(line, spans)
        ]
        return [
            RecalledLine(line=line, score=round(r.score, 4), parts=r.parts)
            for r, line in usable[: query.limit]
            if line is not None
        ]

    def ranked(
        self,
        connection: Connection,
        query: RecallQuery,
        spans: Mapping[str, Sequence[Span]],
        meant: Meant,
    ) -> list[RankedPlace]:
        """What fits best of these spans of any streams, the best first, each place once."""
        import numpy as np

        from loopforge.memory.passage_ranking import rank_passages

        asked = self._cue_of(query, meant)
        streams, found, corpus, strange = self._searching_by(meant).candidates(
            connection, spans, asked
        )
        # A model whose vectors some passages still have, and a question can be asked by.
        others = sorted(name for name in strange if self._older(name) is not None)
        self._former = others[0] if others else ""
        seen = np.zeros(len(found), bool)
        if query.seen and query.stream in streams:
            seen |= np.isin(found.seq, [*query.seen]) & (found.room == streams.index(query.stream))
        best = rank_passages(found, asked, query.limit * SPARE, corpus=corpus, besides=seen)
        return [
            RankedPlace(streams[found.room[r.place]], int(found.seq[r.place]), r.score, r.parts)
            for r in best
        ]

    def _searching_by(self, meant: Meant) -> CandidateSearch:
        """For vectors of these models; as it was where none can be asked now."""
        from loopforge.memory.passage_loading import VectorSpace

        names = [*meant, "", ""][:2]
        lengths = [*map(len, meant.values()), 0, 0][:2]
        space = VectorSpace(names[0], lengths[0], names[1], lengths[1])
        with self._searching:
            if self._searched is None or (meant and self._searched.space != space):
                self._searched = self._search(space)
            return self._searched

    def _cue_of(self, query: RecallQuery, meant: Meant) -> RecallCue:
        from loopforge.memory.passage_ranking import RecallCue

        vector, former = [*meant.values(), None, None][:2]
        return RecallCue(
            text=query.text,
            vector=vector,
            former=former,
            named=_named_speaker(query),
            asker=query.asker,
            span=time_named(query.text, self._clock.now()),
        )


async def _vector_of(embeddings: Embeddings, text: str) -> NDArray[Any]:
    (vector,) = await embeddings.vectors([text])
    return embeddings.leaning(vector) if isinstance(embeddings, WeightedEmbeddings) else vector


def _terms_of_use(query: RecallQuery) -> tuple[object, ...]:
    """By what, besides room and mate, it is decided what may be used."""
    return query.present, query.everywhere


def _named_speaker(query: RecallQuery) -> frozenset[str]:
    """The one speaker whom the question names; nobody where it names several."""
    said = f" {' '.join(_WORD.findall(fold_case(query.text)))} "
    named = {who for who, name in query.names.items() if name and f" {fold_case(name)} " in said}
    return frozenset(named) if len({query.names[who] for who in named}) == 1 else frozenset()


def _passage_places(
    connection: Connection,
    stream: str,
    span: Span,
    since: int = 0,
    *,
    before: int = EVER,
    first: bool = False,
) -> Sequence[int]:
    """The lines of a room with passages, within a span, from one on and before another."""
    given = {"stream": stream, "since": max(since, span[0]), "upto": min(before - 1, span[1])}
    return connection.execute(_FIRST_PLACE if first else _PLACES, given).scalars().all()


def _lines_at(connection: Connection, wanted: Sequence[tuple[str, int]]) -> list[Event | None]:
    """The lines at these places as they stand now; None for one that is gone."""
    events = apply_revisions(connection, events_by_place(connection, wanted))
    found = {(event.stream, event.seq): event for event in events}
    return [found.get(place) for place in wanted]


def _may_be_used(event: Event | None, spans: Mapping[str, Sequence[Span]]) -> bool:
    """Whether a line has words, and both it and its last change lie where all may know them."""
    if event is None or not isinstance(event.body, Heard | Said) or not event.body.text.text:
        return False
    changed = event.revision.seq if isinstance(event, Revised) else event.seq
    mine = spans.get(event.stream, ())
    return all(any(since <= seq <= until for since, until in mine) for seq in (event.seq, changed))
