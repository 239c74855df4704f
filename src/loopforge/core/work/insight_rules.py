"""Insights of mates at work: which may be kept, and which are worth being told. Pure.

    "Set the mode before you run it."          -> ""
    "Ana said the door code is 4711."          -> "it names a person"

Checked by code before one is kept, and strictly: it holds no secret, no person, and no words of
other people; what is not sure stays out. A run of words that somebody said, or that a file or
command gave, is theirs.

    worth = lift * uses / (uses + DOUBT) + USED * log2(1 + uses)

The lift is the mean score of attempts that were given it, less that of the mate's attempts that
were not; of few uses little is believed. What was never used stands in between: below what helped,
above what harmed. Age alone moves nothing; among equals the newer one comes first. That attempts
with it went better does not prove that it was the reason: `work_learning = "split"` does.
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from loopforge.core.egress.key_shapes import MARK
from loopforge.core.text.topics import COMMON, fold_case, written_words
from loopforge.core.work.work_vocabulary import AttemptScored

DOUBT = 3.0
"""So many uses, and half of the lift is believed."""
USED = 1.0
"""Points for each doubling of its uses."""
MOST = 20
"""Insights that a task is given."""


class InsightWorth(NamedTuple):
    """What an insight was worth: its uses, mean scores with it and without (-1: there is none)."""

    insight: str
    uses: int = 0
    given: float = -1.0
    without: float = -1.0

    @property
    def lift(self) -> float:
        """How much better attempts went that were given it; 0 where nobody knows."""
        return self.given - self.without if self.uses and self.without >= 0 else 0.0

    @property
    def worth(self) -> float:
        """By which it is ranked."""
        believed = self.lift * self.uses / (self.uses + DOUBT)
        return round(believed + USED * math.log2(1 + self.uses), 2)


def worth_of(insight: str, attempts: Iterable[AttemptScored]) -> InsightWorth:
    """What an insight was worth in these attempts of its mate.

    Attempts that were given what others had learned say nothing of it.
    """
    given, without = list[float](), list[float]()
    for one in attempts:
        if one.arm != "shuffled":
            (given if insight in one.used else without).append(one.together)
    return InsightWorth(insight, len(given), _mean(given), _mean(without))


def _mean(scores: Sequence[float]) -> float:
    return round(sum(scores) / len(scores), 2) if scores else -1.0


def rank_insights(worths: Iterable[InsightWorth]) -> list[InsightWorth]:
    """The best first; ids tell when, so that among equals the newest comes first."""
    return sorted(worths, key=lambda one: (one.worth, one.insight), reverse=True)


# ---------------------------------------------------------------- insight checks


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
