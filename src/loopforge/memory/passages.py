"""Passages: the pieces of a line by which it is found, and what of their words is kept.

A line is one passage; a long one is cut into several, so that what it says in one place is not
drowned by the rest. Of the words there remain the numbers of their stems, and how often each
stands there: enough to rank by, too little to read. Knows no tables and no vectors.
"""

import re
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from zlib import crc32

from loopforge.core.text.topics import (
    FUNCTION_WORDS,
    fold_case,
    is_unspaced_script,
    stem,
    written_words,
)
from loopforge.memory.time_cues import MONTHS, SAYS_WHEN

LEAST, MOST = 20, 45
"""Words of a piece: it ends with the first sentence that makes it long enough. A vector of more is
the mean of much, and what was said by the way is not in it: of pieces of 100 words half were found
that these find."""
STEM = 6
"""Letters of a stem that count: the crudest cutting of endings, which helps in every language."""
TIMED, ASKING = 1, 2
"""Traits of a passage: it says when; it is a short question."""
SHORT = 25
"""Words that a question has at most to count as one: the next line is likely its answer."""
_UNIT = re.compile(r"\S{1,200}")
_ENDS = re.compile(r"[.!?:;…。！？][\"'”’»)\]*_]*\Z")


def split_passages(text: str) -> list[str]:
    """The passages of a line's text: at least one; a long one is cut where sentences end."""
    units = _UNIT.findall(text)
    if len(units) <= MOST:
        return [text]
    cut, since = list[str](), 0
    for at, unit in enumerate(units, 1):
        long = at - since
        if long == MOST or (long >= LEAST and _ENDS.search(unit)):
            cut.append(" ".join(units[since:at]))
            since = at
    rest = units[since:]
    if len(rest) < LEAST // 2:
        cut[-1] = " ".join([cut[-1], *rest])
    else:
        cut.append(" ".join(rest))
    return cut


def search_stems(text: str) -> Iterator[str]:
    """The stems of the words that say something; of scripts without spaces, pairs of letters."""
    for word in map(fold_case, written_words(text)):
        if len(word) > 1 and not word.isascii() and any(map(is_unspaced_script, word)):
            yield from map("".join, pairwise(word))
        elif word not in FUNCTION_WORDS:
            yield stem(word)[:STEM]


def hash_stem(stemmed: str) -> int:
    """The number that stands for a stem, in 32 bits; two of a language's stems hardly share one."""
    return crc32(stemmed.encode("utf-8", "surrogatepass"))


def date_words(at: datetime) -> Iterator[str]:
    """The words of a day, as people ask for it: its number, month and year."""
    yield from (str(at.day), MONTHS[at.month - 1][:STEM], str(at.year))


def bag_of_words(words: Iterable[str]) -> Counter[int]:
    """How often each word stands there, by number."""
    return Counter(map(hash_stem, words))


def pack_bag(words: Mapping[int, int]) -> bytes:
    """A bag in bytes: all numbers (4 each, least first), then how often (1 each)."""
    numbers = sorted(words)
    often = (min(words[each], 255) for each in numbers)
    return struct.pack(f"<{len(numbers)}I", *numbers) + bytes(often)


def passage_traits(piece: str) -> int:
    """What a passage is, besides its words: TIMED, ASKING."""
    asks = piece.rstrip().endswith("?") and len(piece.split()) <= SHORT
    return TIMED * bool(SAYS_WHEN.search(piece)) + ASKING * asks
