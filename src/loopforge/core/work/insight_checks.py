"""Whether an insight may be kept: it holds no secret, no person, and no words of other people.

    "Set the mode before you run it."          -> ""
    "Ana said the door code is 4711."          -> "it names a person"

Checked by code before it is kept, and strictly: what is not sure stays out. A run of words that
somebody said, or that a file or command gave, is theirs. Pure.
"""

import re
from collections.abc import Iterable

from loopforge.core.egress.key_shapes import MARK
from loopforge.core.text.topics import COMMON, fold_case, written_words

LONGEST = 300
"""Characters of an insight."""
SAID_RUN, SEEN_RUN = 4, 6
"""Words in a row that make a quote: of what people said, of what tools gave."""
ADDRESS = re.compile(r"\b[\w.+-]+@[\w-]+\.\w+|\bhttps?://|\bwww\.|(?<!\w)\+?\d[\d /-]{7,}\d\b")
"""Mail addresses, links, numbers to call."""
QUOTE = re.compile(r"[“”„«»]|\"[^\"]+\s[^\"]+\"")


def insight_objection(
    text: str, names: Iterable[str], said: Iterable[str], seen: Iterable[str]
) -> str:
    """Why an insight is not kept, in words; "" where it may be.

    `names` are those of people, `said` what people said in the task, `seen` what tools gave there.
    """
    if MARK in text:
        return "it held a secret"
    if len(text) > LONGEST or "\n" in text:
        return "it is no single sentence"
    if ADDRESS.search(text):
        return "it holds an address"
    if QUOTE.search(text):
        return "it quotes somebody"
    words = {fold_case(word) for word in written_words(text)}
    for name in names:
        parts = {fold_case(part) for part in written_words(name)} - COMMON
        if words & {part for part in parts if len(part) > 1}:
            return "it names a person"
    if _shares(text, said, SAID_RUN):
        return "it holds what a person said"
    if _shares(text, seen, SEEN_RUN):
        return "it holds what stood in a file or came of a command"
    return ""


def _shares(text: str, others: Iterable[str], length: int) -> bool:
    own = _runs(text, length)
    return bool(own) and any(own & _runs(one, length) for one in others)


def _runs(text: str, length: int) -> frozenset[str]:
    words = [fold_case(word) for word in written_words(text)]
    return frozenset(" ".join(words[at : at + length]) for at in range(len(words) - length + 1))
