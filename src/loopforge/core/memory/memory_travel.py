"""Core memories: whether one may travel, because it holds no person, no quote and no fact.

Checked by code when it is made, and strictly: what is not sure to be free of others stays where its
lines were seen. Only English sentences in "I", of talks in English, can pass (of another language a
translation shares no word with what was said); all others obey presence, which is safe. Pure.
"""

import re
from collections.abc import Iterable, Sequence

from loopforge.core.text.topics import (
    COMMON,
    FUNCTION_WORDS,
    fold_case,
    stem,
    topic_stems,
    written_words,
)

LONGEST_CORE = 200
"""Characters of a core memory."""
_OTHERS = re.compile(
    r"\b(?:he|she|him|her|hers|his|they|them|their|theirs|you|your|we|us|our|someone|somebody"
    r"|anyone|man|woman|boy|girl|child|wife|husband|mother|father|sister|brother|son|daughter"
    r"|friend|boss|colleague|neighbou?r|doctor|user|person|secret|said|told|asked|named|called"
    r"|mentioned|confessed|admitted|who|whose"
    r"|zero|nought|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundred|thousand|million)\b",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[\d\"“”„«»@#/\\:<>{}\[\]()]|['‘]\w+\s")
_NAMELIKE = re.compile(r"(?<=[\w,;.!?] )(?!I\b)[^\W\d_a-z]\w*")
_RUN = 4
_ELSEWHERE = re.compile(r"[^\W\d_\u0000-\u024f]")
"""A letter that English has not, nor its neighbours."""
ENGLISH, OF_A_LINE, WORDS = 0.3, 0.2, 3
"""The share of common English words in a talk, and in each line of so many words, from which on it
is taken for English (measured: lines of chats 0.25 to 0.6; of seven other languages 0 to 0.25)."""


def may_travel(text: str, names: Iterable[str], lines: Sequence[str]) -> bool:
    """Whether a core memory may be used anywhere; `lines` are what was said when it was made."""
    if len(text) > LONGEST_CORE or not text.isascii() or not re.match(r"I\b", text):
        return False
    if not _are_english(lines):
        return False
    if _SIGNS.search(text) or _OTHERS.search(text) or _NAMELIKE.search(text):
        return False
    said = {fold_case(word) for word in written_words(text)}
    if any(said & {fold_case(part) for part in written_words(name)} - COMMON for name in names):
        return False
    own = topic_stems(text) | {stem(word) for word in said - COMMON}
    heard = frozenset[str]().union(*({*topic_stems(line), *_stems(line)} for line in lines))
    return not own & heard and not _runs(text) & frozenset[str]().union(*map(_runs, lines))


def _are_english(lines: Sequence[str]) -> bool:
    """Whether what was said is in English, each line of it."""
    if any(map(_ELSEWHERE.search, lines)):
        return False
    common, every = 0, 0
    for line in lines:
        words = [fold_case(word).partition("'")[0] for word in written_words(line)]
        known = sum(word in COMMON or word in FUNCTION_WORDS for word in words)
        if len(words) >= WORDS and known < OF_A_LINE * len(words):
            return False
        common, every = common + known, every + len(words)
    return common >= ENGLISH * every


def _stems(line: str) -> set[str]:
    return {stem(word) for word in map(fold_case, written_words(line)) if word not in COMMON}


def _runs(text: str) -> frozenset[str]:
    words = [fold_case(word) for word in written_words(text)]
    return frozenset(" ".join(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
