"""Tapes: what models were asked and answered, kept in a file and played back.

A tape is JSON lines. An answer is found again by the hash of its question and by how often that
question had been asked before; so the same run gets the same answers, in any order of rooms. What
is on a tape is played back, and only what comes after is asked and paid for. Without a live model
nothing is ever asked: what is not on the tape is told in `trouble`, and whoever drives must look
there, since a mind's own failures are outcomes and never stop a run.

Does not keep the time between the pieces of an answer, and writes it in one.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

import msgspec
from msgspec import Struct

from loopforge.core.text.erasable_text import decode_plain, encode_plain
from loopforge.errors import BadRun, LoopforgeError, ModelLost
from loopforge.models.providers.token_estimate import estimate_tokens
from loopforge.runtime.ports import ModelFacts, ModelReply, Models, Question, Route

FACTS = "facts of "
"""How the key of an entry begins that holds what is known of a model, and no answer."""


class TapeEntry(Struct, frozen=True, kw_only=True):
    """One line of a tape: the `nth` time (from 0) the question with this `key` was asked.

    `about` is the end of the prompt, for people who read tapes.
    """

    key: str
    nth: int
    about: str
    pieces: tuple[str, ...]
    reply: ModelReply


_encoder = msgspec.json.Encoder(enc_hook=encode_plain)
_decoder = msgspec.json.Decoder(TapeEntry, dec_hook=decode_plain)


def key_of(question: Question) -> str:
    """The hash of everything in a question; 32 hex digits."""
    built = msgspec.to_builtins(question)
    if not question.pictures:  # a tape of words alone is as old as tapes are
        del built["pictures"]
    if question.fits == "any":  # likewise of what any model may answer
        del built["fits"]
    if not question.exact:
        del built["exact"]
    if not question.tools:
        del built["tools"], built["listing"]
    # how it is listened to, and who pays, is no part of the question
    for how in ("field", "aloud", "longest", "charge"):
        del built[how]
    return hashlib.sha256(json.dumps(built, sort_keys=True).encode()).hexdigest()[:32]


class Tape:
    """The `Models` port over a tape. `live` answers what is not on it; None: nobody does.

    `spent` is in US dollars, of all that was asked, before or now; answers whose price nobody knows
    are counted in `unpriced`. Raises BadRun if the tape is damaged or not there; what happens while
    it runs, a miss or a disk that is full, is a sentence in `trouble`.
    """

    def __init__(self, path: Path, live: Models | None = None) -> None:
        self._path, self._live = path, live
        self._asked: Counter[str] = Counter()
        self.trouble = ""
        self.spent = Decimal(0)
        self.unpriced = 0
        entries = read_tape(path, mend=live is not None)
        self._known = {(entry.key, entry.nth): entry for entry in entries}
        for entry in entries:
            self._pay(entry.reply)

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """The answer on the tape; else a live one, which is written down as it comes."""
        key = key_of(question)
        nth = self._asked[key]
        self._asked[key] += 1
        about = question.messages[-1][1][-80:] if question.messages else ""
        known = self._known.get((key, nth))
        if known is not None:
            for piece in known.pieces or (known.reply.text,):
                hear(piece)
            return known.reply
        if self._live is None:
            self.trouble = self.trouble or (
                f"{self._path.name} does not hold a question that is asked now (it ends: "
                f"{about!r}). The scenario, the prompts or the minds are not those of the tape."
            )
            return ModelReply(outcome="failed", text=self.trouble)
        try:
            reply = await self._live.ask(question, hear)
        except ModelLost:  # what is on the tape is not asked again
            raise
        except LoopforgeError as error:
            reply = ModelReply(outcome="failed", text=str(error))
        self._pay(reply)
        self._write(TapeEntry(key=key, nth=nth, about=about, pieces=(), reply=reply))
        return reply

    def _pay(self, reply: ModelReply) -> None:
        price = _price(reply)
        self.spent += price or 0
        self.unpriced += price is None

    def _write(self, entry: TapeEntry) -> None:
        try:
            with self._path.open("ab") as tape:
                tape.write(_encoder.encode(entry) + b"\n")
        except OSError as error:
            self.trouble = f"The tape {self._path} cannot be written: {error.strerror}."

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:  # noqa: ARG002
        """Estimated, so that it is the same when played back."""
        return [estimate_tokens(text) for text in texts]

    def facts(self, route: Route) -> ModelFacts:
        """As the tape says, or the live model, and then the tape says so too.

        Minds may ask otherwise of a small model, so what was known of it belongs to its answers.
        """
        key = f"{FACTS}{msgspec.json.encode(route, order='sorted').decode()}"
        known = self._known.get((key, 0))
        if known is not None:
            return msgspec.json.decode(known.reply.text, type=ModelFacts)
        if self._live is None:
            return ModelFacts(name="tape", window=8192)
        facts = self._live.facts(route)
        reply = ModelReply(outcome="answered", text=msgspec.json.encode(facts).decode())
        about = "what is known of the model"
        entry = TapeEntry(key=key, nth=0, about=about, pieces=(), reply=reply)
        self._known[key, 0] = entry
        self._write(entry)
        return facts


def read_tape(path: Path, *, mend: bool) -> list[TapeEntry]:
    """The entries of a tape. With `mend` none need be there, and a last line cut off is removed.

    Raises BadRun, naming the line that is no entry.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        if mend:
            return []
        raise BadRun(f"The tape {path} is not there; without it nothing can be scored.") from None
    except OSError as error:
        raise BadRun(f"The tape {path} cannot be read: {error.strerror}.") from error
    whole = data[: data.rfind(b"\n") + 1]
    if mend and len(whole) < len(data):
        path.write_bytes(whole)
        data = whole
    entries = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            entries.append(_decoder.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise BadRun(f"{path}, line {number}: this is no entry of a tape: {error}.") from error
    return entries


def spent_on(path: Path) -> float:
    """What a tape has cost so far, in US dollars; nothing where there is none."""
    return float(sum((_price(entry.reply) or 0) for entry in read_tape(path, mend=True)))


def _price(reply: ModelReply) -> Decimal | None:
    """What an answer cost; None where tokens were used at a price that nobody knows."""
    try:
        return Decimal(reply.usage.cost)
    except InvalidOperation:
        used = reply.usage.read + reply.usage.written
        return None if used else Decimal(0)
