"""The count after the crashes: what people said, what the ledger holds, what screens showed.

Takes nobody's word: lines are what the terminals know they said, events are read from the ledger
anew, `shown` is what reached each screen, `posts` what stands on the board. Every trouble is a
sentence; a count without troubles is sound.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopforge.core.delivery_states import Accepted, Failed, Queued
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.turn_events import Judged, Perceived, TurnEnded
from loopforge.ledger.chain_verify import LedgerVerification
from loopforge.ledger_opening import open_ledger_of
from loopforge.settings import load_settings


@dataclass(frozen=True)
class Line:
    """A line somebody said at a terminal; `mark` is a token its answer must hold, if there is one.

    `mate` is whom it addresses: that mate must answer it, once. "" wants no answer.
    """

    source: str
    person: str
    text: str
    mark: str = ""
    mate: str = ""


@dataclass(frozen=True)
class Tally:
    """What was counted."""

    lines: int = 0
    wanting: int = 0
    answers: int = 0
    lost: int = 0
    duplicated: int = 0
    troubles: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.troubles


@dataclass
class Record:
    """All there is to count."""

    lines: Sequence[Line]
    events: Sequence[Event]
    verified: LedgerVerification
    shown: Mapping[str, Sequence[Event]] = field(default_factory=dict)
    posts: Sequence[Mapping[str, Any]] | None = None
    repeats: bool = False
    """Whether a mate may by itself say the same words twice (a real model may)."""


Finder = Callable[[Line, Sequence[Event]], list[Event]]
"""Which of the mates' lines answer this line."""


def by_mark(line: Line, events: Sequence[Event]) -> list[Event]:
    """The lines that hold its mark, once for each time they do."""
    return [
        event
        for event in events
        if isinstance(event.body, Said)
        for _ in range(str(event.body.text).count(line.mark))
    ]


def by_turn(line: Line, events: Sequence[Event]) -> list[Event]:
    """What came of the turns which this line called: what was said, or what the guard refused.

    A small model may say word for word what it said before; that it was refused is an answer too,
    and stands in the ledger once.
    """
    ids = {e.id for e in events if isinstance(e.body, Heard) and e.body.source == line.source}
    turns = {e.id for e in events if isinstance(e.body, Perceived) and e.body.line in ids}
    mine = [e for e in events if getattr(e.body, "turn", "") in turns]
    refused = {e.body.turn for e in mine if isinstance(e.body, Judged) and _refused(e.body)}
    return [
        e
        for e in mine
        if isinstance(e.body, Said) or (isinstance(e.body, TurnEnded) and e.body.turn in refused)
    ]


def _refused(judged: Judged) -> bool:
    """Whether the guard let none of the words through."""
    says = [verdict.allowed for verdict in judged.verdicts if verdict.act == "say"]
    return bool(says) and not any(says)


def count(record: Record, find: Finder = by_mark) -> Tally:
    """Count everything."""
    heard = Counter(e.body.source for e in record.events if isinstance(e.body, Heard))
    wanting = [line for line in record.lines if line.mate]
    answers = {line.source: _of(line.mate, find(line, record.events)) for line in wanting}
    others = {line.source: find(line, record.events) for line in wanting}
    lost = [line for line in record.lines if not heard[line.source]]
    unanswered = [line for line in wanting if not answers[line.source]]
    troubles = [f"lost: {line.text!r} is not in the ledger" for line in lost]
    troubles += [f"unanswered: {line.text!r}" for line in unanswered]
    troubles += [
        f"answered by another: {line.text!r}"
        for line in wanting
        if len(others[line.source]) > len(answers[line.source])
    ]
    doubles = list(_doubles(record, heard, answers))
    troubles += doubles
    troubles += _misplaced(record)
    troubles += _undelivered(record)
    troubles += [f"the chain is broken: {finding.says}" for finding in record.verified.findings]
    return Tally(
        lines=len(record.lines),
        wanting=len(wanting),
        answers=sum(map(len, answers.values())),
        lost=len(lost) + len(unanswered),
        duplicated=len(doubles),
        troubles=tuple(troubles),
    )


def _of(mate: str, events: Iterable[Event]) -> list[Event]:
    """Those of this mate."""
    return [e for e in events if mate in {getattr(e.body, "mate", ""), e.actor[len("mate:") :]}]


def _doubles(
    record: Record, heard: Counter[str], answers: Mapping[str, Sequence[Event]]
) -> Iterator[str]:
    """What is there more than once."""
    known = {line.source: line for line in record.lines}
    for source, times in heard.items():
        if times > 1:
            yield f"duplicated: the line of {source} is {times} times in the ledger"
        if source not in known:
            yield f"duplicated: the ledger has a line of {source}, which nobody said"
    for source, said in answers.items():
        if len(said) > 1:
            yield f"duplicated: {known[source].text!r} is answered {len(said)} times"
    yield from _twice("in the ledger", record.events, record.repeats)
    for name, shown in record.shown.items():
        yield from _twice(f"on {name}'s screen", shown, record.repeats)
    if record.posts is not None:
        for delivery, times in Counter(post["delivery"] for post in record.posts).items():
            if times > 1:
                yield f"duplicated: the post {delivery} stands {times} times on the board"
        yield from _same((post["text"] for post in record.posts), "on the board", record.repeats)


def _twice(where: str, events: Sequence[Event], repeats: bool) -> Iterator[str]:
    for id, times in Counter(event.id for event in events).items():
        if times > 1:
            yield f"duplicated: event {id} is {times} times {where}"
    said = [e.body for e in events if isinstance(e.body, Said)]
    for turn, times in Counter(body.turn for body in said).items():
        if times > 1:
            yield f"duplicated: turn {turn} spoke {times} times {where}"
    yield from _same((f"{body.mate}: {body.text}" for body in said), where, repeats)


def _same(texts: Iterable[str], where: str, repeats: bool) -> Iterator[str]:
    for text, times in Counter(texts).items():
        if times > 1 and not repeats:
            yield f"duplicated: {text!r} is {times} times {where}"


def _misplaced(record: Record) -> Iterator[str]:
    """Order: each person's lines in the ledger as they were said, each screen as the ledger."""
    places = {e.body.source: e.seq for e in record.events if isinstance(e.body, Heard)}
    for person in {line.person for line in record.lines}:
        mine = [places[x.source] for x in record.lines if x.person == person and x.source in places]
        if mine != sorted(mine):
            yield f"misplaced: {person}'s lines are in another order in the ledger"
    told = [e.id for e in record.events if isinstance(e.body, Heard | Said)]
    for name, shown in record.shown.items():
        seen = [e.id for e in shown if isinstance(e.body, Heard | Said)]
        first = told.index(seen[0]) if seen and seen[0] in told else 0
        if seen != told[first:]:
            missing = len(set(told[first:]) - set(seen))
            yield f"misplaced: {name}'s screen is not as the ledger; {missing} lines are not on it"


def _undelivered(record: Record) -> Iterator[str]:
    """Every delivery ends accepted, exactly once; and the board has what was accepted."""
    queued = {e.id: e.body for e in record.events if isinstance(e.body, Queued)}
    accepted = Counter(e.body.delivery for e in record.events if isinstance(e.body, Accepted))
    failed = {e.body.delivery for e in record.events if isinstance(e.body, Failed)}
    for id, body in queued.items():
        if accepted[id] != 1 or id in failed:
            yield f"undelivered: {body.of} to {body.surface} was accepted {accepted[id]} times"
    if record.posts is not None:
        wanted = Counter(body.of for body in queued.values() if body.surface == "board")
        there = Counter(post["of"] for post in record.posts)
        for of in wanted.keys() - there.keys():
            yield f"undelivered: {of} is not on the board"


async def read(
    home: Path,
    lines: Sequence[Line],
    shown: Mapping[str, Sequence[Event]] | None = None,
    posts: Sequence[Mapping[str, Any]] | None = None,
    *,
    room: str = "commons",
    repeats: bool = False,
) -> Record:
    """Read the ledger of a home whose host is dead, and put everything side by side."""
    async with open_ledger_of(load_settings(home, environ={})) as ledger:
        events = await ledger.read(f"room:{room}")
        verified = await ledger.verify()
    return Record(lines, events, verified, shown or {}, posts, repeats)
