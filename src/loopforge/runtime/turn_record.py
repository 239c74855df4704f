"""The record of a turn: prompts and lines written as changes, and read back whole.

A prompt that grows at its end would fill the ledger with itself. So an Asked holds only how it
differs from the Asked before it (`base`, the first `keep` messages, then `more`), and a Perceived
likewise. What is read back is what was stored, never computed again.
"""

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from loopforge.core.events import Event
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Ask, Message
from loopforge.core.text.erasable_text import Words, decode_plain, encode_plain, public_words
from loopforge.core.turn_events import Asked, LineRun, Perceived, PieceRun, TextPiece
from loopforge.errors import LedgerBroken
from loopforge.runtime.ports import Ledger

DEPTH = 128
"""How many changes may lie on top of each other before a whole record is written again: each is
read when somebody asks why, and a whole one of a long talk is a hundred times one change."""

NEAR = 32
"""So many records are read at once."""

KINDS = 3
"""How many unlike prompts of one mate are remembered (a talk and its account, say)."""

PLACES = 500
"""Of so many rooms' mates, those that were last at work, is remembered what was written."""

T = TypeVar("T")
B = TypeVar("B")
Texts = tuple[tuple[str, str], ...]
"""Messages as models are given them: role and text."""


class _Last(NamedTuple, Generic[T]):
    """What was written last in one place: by which event, whole, on how many changes."""

    event: str
    items: tuple[T, ...]
    depth: int


def _base(known: list[_Last[T]], event: str, items: tuple[T, ...], kinds: int) -> tuple[str, int]:
    """The event that these items are a change to, and how many they share with it.

    They are remembered, of `kinds` unlike ones the newest.
    """
    kept = [_common(one.items, items) for one in known]
    keep = max(kept, default=0)
    last = known.pop(kept.index(keep)) if keep else None
    if last is None or last.depth >= DEPTH:
        last, keep = None, 0
    known.append(_Last(event, items, last.depth + 1 if last else 0))
    del known[:-kinds]
    return last.event if last else "", keep


def _common(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items at the beginning of both are equal."""
    same = bytes(map(is_, one, other))  # mostly they are the same ones: those are not compared
    at = same.find(0)
    while at >= 0 and one[at] == other[at]:
        at = same.find(0, at + 1)
    return len(same) if at < 0 else at


class Recorder:
    """Writes runs for one process. It remembers what it wrote last for each (stream, mate).

    After a restart it remembers nothing, and the first record of each place is whole again; so
    it is where many others were at work since.
    """

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], list[_Last[Line | str]]] = {}
        self._prompts: dict[tuple[str, str], list[_Last[Message]]] = {}
        self._characters: dict[tuple[str, str], Words] = {}
        self._texts: dict[tuple[str, str], tuple[tuple[Message, ...], Texts]] = {}
        self._places: dict[tuple[str, str], None] = {}

    def texts(self, place: tuple[str, str], messages: tuple[Message, ...]) -> Texts:
        """The messages as a model reads them; those of the last question are not laid out anew."""
        self._work(place)
        known, read = self._texts.get(place, ((), ()))
        same = _common(known, messages)
        texts = (*read[:same], *[(one.role, one.text) for one in messages[same:]])
        self._texts[place] = (messages, texts)
        return texts

    def lines(self, place: tuple[str, str], event: str, lines: tuple[Line | str, ...]) -> LineRun:
        """The run that event `event` is to hold for these lines."""
        self._work(place)
        base, keep = _base(self._lines.setdefault(place, []), event, lines, 1)
        return LineRun(more=lines[keep:], base=base, keep=keep)

    def prompt(self, place: tuple[str, str], event: str, ask: Ask) -> PieceRun:
        """The run that event `event` is to hold for this request's messages."""
        self._work(place)
        known = self._prompts.setdefault(place, [])
        base, keep = _base(known, event, ask.messages, KINDS)
        more = tuple(
            TextPiece(message.role, _words(message), message.pictures, message.layout)
            for message in ask.messages[keep:]
        )
        return PieceRun(more=more, base=base, keep=keep)

    def character(self, place: tuple[str, str], text: str) -> Words:
        """The Words of a mate's character, the same ones as long as it does not change."""
        self._work(place)
        known = self._characters.get(place)
        if known is None or known.text != text or not known.ref:
            known = self._characters[place] = Words(text)
        return known

    def _work(self, place: tuple[str, str]) -> None:
        """It is the last at work; of too many, the one that was at work longest ago is let go."""
        self._places.pop(place, None)
        self._places[place] = None
        if len(self._places) > PLACES:
            self.forget(next(iter(self._places)))

    def forget(self, place: tuple[str, str]) -> None:
        """Write whole records again (after an append that failed, or an erasure)."""
        self._places.pop(place, None)
        for memory in (self._lines, self._prompts, self._characters, self._texts):
            memory.pop(place, None)

    def forget_all(self) -> None:
        """Write whole records again everywhere."""
        self._places.clear()
        for memory in (self._lines, self._prompts, self._characters, self._texts):
            memory.clear()


def _words(message: Message) -> tuple[Words, ...]:
    """The parts as Words: references stay, a bare joint (": ", a newline) is nobody's secret."""
    return tuple(
        part
        if isinstance(part, Words)
        else (Words(part) if any(map(str.isalnum, part)) else public_words(part))
        for part in message.parts
    )


# ---------------------------------------------------------------- reading back


async def pieces_of(ledger: Ledger, event: Event) -> tuple[TextPiece, ...]:
    """The whole prompt of an Asked event, as it was stored."""
    return await _whole(ledger, event, Asked, lambda asked: asked.prompt)


async def lines_of(ledger: Ledger, event: Event) -> tuple[Line | str, ...]:
    """All lines of a Perceived event, as they were stored."""
    return await _whole(ledger, event, Perceived, lambda perceived: perceived.lines)


async def _whole(
    ledger: Ledger, event: Event, kind: type[B], run_of: Callable[[B], Any]
) -> tuple[Any, ...]:
    """What an event holds, with what it rests on: mostly what stands next before it."""
    runs, near = list[Any](), dict[str, Event]()
    while True:
        if not isinstance(event.body, kind):
            raise LedgerBroken(f"event {event.id}, on which others rest, is no {kind.__name__}")
        runs.append(run := run_of(event.body))
        if not run.base:
            break
        if run.base not in near:
            found = await ledger.read(
                event.stream, kinds=[event.kind], before=event.seq, limit=NEAR, newest=True
            )
            near = {each.id: each for each in found}
        event = near.get(run.base) or await ledger.event(run.base)
    whole: list[Any] = []
    for run in reversed(runs):
        whole[run.keep :] = run.more
    return tuple(whole)


_encoder = msgspec.json.Encoder(enc_hook=encode_plain)
_decoder = msgspec.json.Decoder(AgentPerception, dec_hook=decode_plain)


def shown_of(perception: AgentPerception) -> Words:
    """The perception as it is stored: JSON without its lines and its character."""
    context = {key: value for key, value in perception.context.items() if key != "character"}
    bare = msgspec.structs.replace(perception, local_events=(), context=context)
    return Words(_encoder.encode(bare).decode())


async def perception_of(ledger: Ledger, event: Event) -> AgentPerception | None:
    """What a turn was shown, read back; None when part of it was forgotten."""
    body = event.body
    assert isinstance(body, Perceived)
    if body.shown.text is None or body.character.text is None:
        return None
    bare = _decoder.decode(body.shown.text)
    context = bare.context | ({"character": body.character.text} if body.character else {})
    lines = await lines_of(ledger, event)
    return msgspec.structs.replace(bare, local_events=lines, context=context)
