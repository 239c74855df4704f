"""Tapes: what models were asked and answered, kept in a file and played back.

A tape is JSON lines. An answer is found again by the hash of its question and by how often that
question had been asked before; so the same run gets the same answers, in any order of rooms.
Playing back never asks a live model: what is not on the tape is a ModelError.

Does not keep the time between the pieces of an answer: they are played back at once.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from loopforge.core.text.erasable_text import decode_plain, encode_plain
from loopforge.errors import ModelError
from loopforge.models.providers.token_estimate import estimate
from loopforge.runtime.ports import ANEW, ModelFacts, ModelReply, Models, Question, Route


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
    for how in ("field", "aloud", "longest"):  # how it is listened to is no part of the question
        del built[how]
    return hashlib.sha256(json.dumps(built, sort_keys=True).encode()).hexdigest()[:32]


class Recording:
    """The `Models` port over another one, writing each answer to a tape as it comes."""

    def __init__(self, models: Models, path: Path) -> None:
        self._models, self._path = models, path
        self._asked: Counter[str] = Counter()

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """Ask the other, and write down what came. A cancelled answer is not written."""
        key = key_of(question)
        nth = self._asked[key]
        self._asked[key] += 1
        pieces: list[str] = []

        def overhear(piece: str) -> None:
            if piece == ANEW:
                pieces.clear()
            else:
                pieces.append(piece)
            hear(piece)

        reply = await self._models.ask(question, overhear)
        about = question.messages[-1][1][-80:] if question.messages else ""
        entry = TapeEntry(key=key, nth=nth, about=about, pieces=tuple(pieces), reply=reply)
        with self._path.open("ab") as tape:
            tape.write(_encoder.encode(entry) + b"\n")
        return reply

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:
        """As the other counts."""
        return await self._models.count(route, texts)

    def facts(self, route: Route) -> ModelFacts:
        """As the other says."""
        return self._models.facts(route)


class Replaying:
    """The `Models` port from a tape."""

    def __init__(self, path: Path, *, window: int = 8192) -> None:
        self._path, self._window = path, window
        self._asked: Counter[str] = Counter()
        self._entries = {(entry.key, entry.nth): entry for entry in _read(path)}

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """The answer that was recorded. Raises ModelError if there is none."""
        key = key_of(question)
        nth = self._asked[key]
        entry = self._entries.get((key, nth))
        if entry is None:
            asked = "this question" if nth == 0 else f"this question {nth + 1} times"
            about = question.messages[-1][1][-80:] if question.messages else ""
            raise ModelError(
                f"{self._path} does not hold {asked} (it ends: {about!r}). Record the tape anew."
            )
        self._asked[key] += 1
        for piece in entry.pieces:
            hear(piece)
        return entry.reply

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:  # noqa: ARG002
        """Estimated, whatever the recorded model was."""
        return [estimate(text) for text in texts]

    def facts(self, route: Route) -> ModelFacts:  # noqa: ARG002
        """A tape has no tools and asks nobody."""
        return ModelFacts(name="tape", window=self._window, counting="estimated")


def _read(path: Path) -> list[TapeEntry]:
    """Every entry. Raises ModelError, naming the line that is none."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise ModelError(f"The tape {path} cannot be read: {error.strerror}.") from error
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            entries.append(_decoder.decode(line))
        except msgspec.MsgspecError as error:
            raise ModelError(
                f"{path}, line {number}: this is no entry of a tape: {error}"
            ) from error
    return entries
