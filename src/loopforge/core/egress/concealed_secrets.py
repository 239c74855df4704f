"""Known secrets in a text where they do not stand as they are: split, turned, spaced, encoded.

    watch_for(frozenset({"zinc-harbour-4711"})).way("1174 ruobrah cniz")
        ->  "in another form, backwards"

Each secret is written in every way that is looked for, as letters and figures alone, and cut into
overlapping pieces. A text is taken the same way (with what is encoded in it, and with the first
letters of its words and lines); where it holds more than half of one writing of a secret, in
whatever order, that is a way out. Texts of before count too, so that two halves in two lines do.

Finds no riddle ("the third letter is c"), no cipher but rot13, no picture of a secret, and none of
fewer than eight letters and figures: that is looked for as it is alone (egress_filter.py). Pure.
"""

import base64
import codecs
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from loopforge.core.text.decoded_text import decoded_forms, plain_signs

SHORTEST_CONCEALED = 8
"""Letters and figures of a secret that is looked for, and of what of it is too much."""
FEWEST = 6
"""Signs of the shortest piece of one that is looked for."""
DEEP = 2
"""How many encodings may lie one in the other."""
MOST_LOOKED_AT = 200_000
"""Characters of texts of before, the newest first."""
_WORD = re.compile(r"\S+")


class _Writing(NamedTuple):
    """One way to write a secret: `size` is the length of the pieces that are looked for."""

    way: str
    signs: str
    size: int


class SecretWatch:
    """Finds these secrets, in any of the writings above."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._writings = [
            writing
            for secret in secrets
            if len(plain_signs(secret)) >= SHORTEST_CONCEALED
            for writing in dict.fromkeys(_both_ways(secret))
        ]
        self._pieces: dict[int, dict[str, list[tuple[int, int]]]] = defaultdict(dict)
        self._begun = {run for one in self._writings for run in _runs(one.signs, FEWEST)}
        for nth, (_, signs, size) in enumerate(self._writings):
            for at, piece in enumerate(_runs(signs, size)):
                self._pieces[size].setdefault(piece, []).append((nth, at))

    def way(self, text: str, before: Sequence[str] = ()) -> str:
        """How a text gives a secret away, in words; "" where it does not.

        `before` are texts that are out already, newest first; they count where this one goes on.
        """
        told = self._told(text)
        if not told:
            return ""
        if way := self._most(told):
            return way
        left = MOST_LOOKED_AT
        for each in before:
            for nth, signs in self._told(each[:left]).items():
                told[nth] |= signs
            if (left := left - len(each)) <= 0:
                break
        way = self._most(told)
        return f"in pieces, {way}" if way else ""

    def clear_length(self, text: str) -> int:
        """How many characters of a text, from its beginning, may be shown before it tells one."""
        if not self.way(text):
            return len(text)
        low, high = 0, len(text)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.way(text[:middle]) else (middle, high)
        return low

    def _told(self, text: str) -> dict[int, set[int]]:
        """Which signs of each writing stand in a text."""
        told: dict[int, set[int]] = defaultdict(set)
        for plain in _readings(text) if self._writings else ():
            if self._begun.isdisjoint(_runs(plain, FEWEST)):
                continue
            for size, pieces in self._pieces.items():
                for piece in pieces.keys() & set(_runs(plain, size)):
                    for nth, at in pieces[piece]:
                        told[nth].update(range(at, at + size))
        return told

    def _most(self, told: dict[int, set[int]]) -> str:
        """The way in which more than half of a secret is told."""
        for nth, signs in told.items():
            way, whole, _ = self._writings[nth]
            if len(signs) > max(SHORTEST_CONCEALED - 1, len(whole) // 2):
                return way
        return ""


@lru_cache(maxsize=4)
def watch_for(secrets: frozenset[str]) -> SecretWatch:
    """The watch for these secrets, made once."""
    return SecretWatch(secrets)


def _runs(signs: str, size: int) -> Iterator[str]:
    return (signs[at : at + size] for at in range(len(signs) - size + 1))


def _readings(text: str) -> Iterator[str]:
    """The letters and figures of a text in each way that it may be read."""
    for form in decoded_forms(text, DEEP):
        yield plain_signs(form)
    yield plain_signs("".join(word[0][0] for word in _WORD.finditer(text)))
    yield plain_signs("".join(line.strip()[:1] for line in text.splitlines()))


def _both_ways(secret: str) -> Iterator[_Writing]:
    for way, signs, size in _writings(secret):
        yield _Writing(way, signs, size)
        yield _Writing(f"{way}, backwards", signs[::-1], size)


def _writings(secret: str) -> Iterator[_Writing]:
    """A secret in each writing that is looked for."""
    plain, raw = plain_signs(secret), secret.encode()
    yield _Writing("in another form", plain, FEWEST)
    yield _Writing("turned by thirteen", codecs.encode(plain, "rot13"), FEWEST)
    for turned in (raw, raw[::-1]):
        for lead in range(3):
            yield _Writing("in base64", plain_signs(_inner64(turned, lead)), 8)
        for lead in range(5):
            yield _Writing("in base32", plain_signs(_inner32(turned, lead)), 10)
    yield _Writing("in hexadecimal", raw.hex(), 12)
    yield _Writing("as numbers", "".join(map(str, raw)), 12)
    yield _Writing("in octal", "".join(f"{sign:o}" for sign in raw), 12)
    yield _Writing("in octal", "".join(f"{sign:03o}" for sign in raw), 12)
    yield _Writing("in ones and noughts", "".join(f"{sign:08b}" for sign in raw), 40)


def _inner64(raw: bytes, lead: int) -> str:
    """What base64 makes of these bytes behind `lead` others, without what those reach into."""
    made = base64.b64encode(bytes(lead) + raw + bytes(-(lead + len(raw)) % 3)).decode()
    return made[-(-lead * 8 // 6) : (lead + len(raw)) * 8 // 6]


def _inner32(raw: bytes, lead: int) -> str:
    """The same of base32."""
    made = base64.b32encode(bytes(lead) + raw + bytes(-(lead + len(raw)) % 5)).decode()
    return made[-(-lead * 8 // 5) : (lead + len(raw)) * 8 // 5]
