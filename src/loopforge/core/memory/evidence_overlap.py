"""Which lines a sentence rests on: those of whose words it says enough again.

Told apart by stems, so that "allergic to fish" rests on "fish makes me ill, I am allergic". A line
has the words of its files, too. Pure; what is not found is a translation, or a paraphrase without a
word in common.
"""

from collections.abc import Sequence

from loopforge.core.text.topics import fold_case, stem, topic_stems, written_words

LEAST = 0.34
"""The share of a sentence's words of weight that lines must hold, for it to rest on them."""
Stems = frozenset[str]


def stems_of(text: str, given: str = "") -> Stems:
    """The stems of the words of a text that say something, numbers among them.

    And of all words of what was `given` with it: names of files, and what they say.
    """
    numbers = {word for word in map(fold_case, written_words(text)) if any(map(str.isdigit, word))}
    others = map(fold_case, written_words(given)) if given else ()
    return topic_stems(text) | frozenset(map(stem, numbers.union(others)))


def supporting_lines(sentence: str, lines: Sequence[Stems]) -> list[int]:
    """The places of the lines that share a word of weight with a sentence, in their order."""
    said = stems_of(sentence)
    return [place for place, line in enumerate(lines) if said & line]


def is_supported_by(sentence: str, lines: Sequence[Stems]) -> bool:
    """Whether lines hold enough of a sentence's words for it to rest on them."""
    said = stems_of(sentence)
    held = said & frozenset[str]().union(*lines)
    return bool(said) and len(held) / len(said) >= LEAST
