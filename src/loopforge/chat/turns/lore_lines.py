"""What a mate's lore puts before it: what it knows always, and what was just spoken of.

Always known lore stands before the lines, where it stays cached; the rest stands after them, beside
what is remembered, and only while the last few lines speak of it. No model is asked.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from loopforge.core.context_window import ContextEntry
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.core.mates.lorebook import LoreEntry, triggered_lore
from loopforge.core.mates.mate_file import Mate
from loopforge.core.perception import Line
from loopforge.core.text.erasable_text import Words
from loopforge.runtime.ports import ModelFacts

BYTES, SMALL_BYTES = 3600, 360
"""Of lore that comes to mind, at most: some 1200 tokens; for a small model 120. As much again of
what is known always."""
HELD = 2000
"""Pieces of lore whose Words are held, of all mates in all rooms."""


class LoreLines(NamedTuple):
    """Lore as lines: before those of the room, and after them."""

    standing: tuple[Line, ...] = ()
    recalled: tuple[Line, ...] = ()


def most_lore(mate: Mate, facts: ModelFacts) -> int:
    """Tokens that its lore takes at most, about."""
    whole = sum(len(entry.text) for entry in mate.lore)
    return min(whole, 2 * _bytes(facts)) // 3


class LoreReader:
    """Finds the lore for turns, as Words that are the same again as long as they stand there."""

    def __init__(self) -> None:
        self._words: BoundedMapping[tuple[str, str, str], Words] = BoundedMapping(HELD)

    def lines(
        self, stream: str, mate: Mate, entries: Sequence[ContextEntry], facts: ModelFacts
    ) -> LoreLines:
        """A mate's lore for a turn in which these lines are before its eyes."""
        if not mate.lore:
            return LoreLines()
        spoken = [str(entry.text) for entry in entries if entry.kind in ("heard", "said", "mine")]
        left, always = _bytes(facts), list[LoreEntry]()
        for entry in mate.lore:
            size = len(entry.text.encode("utf-8", "replace"))
            if entry.always and not entry.off and size <= left:
                left -= size
                always.append(entry)
        called = triggered_lore(mate.lore, spoken, _bytes(facts))
        place = stream, mate.handle
        return LoreLines(
            tuple(self._line("standing", place, entry) for entry in always),
            tuple(self._line("recalled", place, entry) for entry in called),
        )

    def _line(
        self, kind: Literal["standing", "recalled"], place: tuple[str, str], entry: LoreEntry
    ) -> Line:
        key = *place, entry.text
        words = self._words.get(key)
        if words is None or words.text is None:
            words = Words(entry.text)
        self._words[key] = words
        return Line(kind=kind, text=words, which="what you know")


def _bytes(facts: ModelFacts) -> int:
    return SMALL_BYTES if facts.small else min(BYTES, facts.window // 4)
