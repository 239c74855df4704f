"""Topics: which words a text is about, by the crudest means that work: no model, no dictionary.

Words are folded to lower case, common ones left out, endings cut off, so that "baking" meets
"bakes". English endings and common words only; other languages are compared word by word, and
scripts without spaces between words by substring.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

_COMMON = """
    a about after again all also always am an and any anyone anything are as at be because
    been before being but by can cannot could did do does doing done down each else even
    ever every everybody everyone few find first for from get give go goes going gone good
    got great had has have having he hello her here hers hey hi him his how i if in into is
    it its just know last let like little long look lot made make many may maybe me might
    mine more most much must my never new next no nor not nothing now of off oh ok okay on
    once one only or other our ours out over own please put quite rather really right said
    same say see shall she should since so some somebody someone something still such sure
    take tell than thank thanks that the their them then there these they thing things think
    this those though through to today too two under until up us use very want was way we
    well went were what when where which while who whom whose why will with without would
    yes yet you your yours
"""
COMMON = frozenset(_COMMON.split())
_SMALL = """
    a an the and or but if of to in on at by for with from as is are was were be been am do does
    did has have had i you he she it we they me him her us them my your his its our their this
    that these those so not no what which who whom how why when where would could should will
    can there then than too very just also s t
"""
FUNCTION_WORDS = frozenset(_SMALL.split())
"""Words that say nothing by themselves. Few: COMMON, which leaves out verbs and numbers
too, found 77 of 100 turns in recall where these found 79."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")
_SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a name in code has a new word without saying so."""
_SHORTEST = 3

UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x9FFF),  # Han
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)
"""Scripts that write words without spaces between them, as ranges of code points."""


def is_unspaced_script(char: str) -> bool:
    """Whether a character belongs to a script without spaces between words."""
    code = ord(char)
    return any(first <= code <= last for first, last in UNSPACED)


MOST_MARKS = 8
"""Combining marks in a row that are read; of those above it the rest is left out."""


def normal_form(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"] = "NFKC") -> str:
    """The text in one of Unicode's normal forms, with at most MOST_MARKS marks in a row read.

    Normalizing puts the marks of a letter in order, which takes the square of their number: forty
    thousand of mixed classes hold everybody up for seconds. No script needs as many as are read.
    """
    if text.isascii():
        return text
    return unicodedata.normalize(form, _runs().sub(r"\1", text))


@cache
def _runs() -> Any:
    import regex  # takes a while, and only what stands beyond ASCII needs it

    mark = r"[\p{M}\uff9e\uff9f]"  # the marks of halfwidth kana, which become combining ones
    return regex.compile(f"({mark}{{{MOST_MARKS}}}){mark}+")


def fold_case(text: str) -> str:
    """The text without differences of case and of composed and decomposed letters."""
    if text.isascii():
        return text.lower()
    return normal_form(normal_form(text, "NFC").casefold(), "NFC")


_ENDINGS = ("ing", "ed", "es", "ly", "s")


@lru_cache(8192)
def stem(word: str) -> str:
    """A folded word without its English ending; the same for the forms of most words."""
    word = word.replace("’", "'").partition("'")[0]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(_ENDINGS) and not word.endswith("ss"):
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                word = word[: -len(ending)]
                break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def written_words(text: str) -> list[str]:
    """Every word of a text as it is written; of names in code, too: `getUserName`, `HTTP_port`."""
    return _WORD.findall(_SEAM.sub(" ", text))


def topic_words(text: str) -> list[str]:
    """The words that carry a topic, as they are written, in order, repeated ones too."""
    found = [one for one in _WORD.findall(text) if len(one) >= _SHORTEST and not one.isdigit()]
    plain = found if text.islower() and text.isascii() else map(fold_case, found)
    return [word for word, one in zip(found, plain, strict=True) if one not in COMMON]


def topic_stems(text: str) -> frozenset[str]:
    """The stems of a text's words."""
    if text.isascii():
        return frozenset(map(stem, topic_words(text.lower())))
    return frozenset([stem(fold_case(word)) for word in topic_words(text)])


class TextTopics(NamedTuple):
    """What a text is about: the stems of its words, and the text folded."""

    stems: frozenset[str]
    plain: str


def text_topics(text: str) -> TextTopics:
    """What a text is about."""
    return TextTopics(topic_stems(text), fold_case(text))


def count_interests_touched(about: TextTopics, interests: Iterable[str]) -> int:
    """How many of the interests a subject touches: it shares a stem with each of them."""
    return sum(
        within in about.plain if within else not about.stems.isdisjoint(stems)
        for within, stems in map(_interest, interests)
    )


@lru_cache(4096)
def _interest(interest: str) -> tuple[str, frozenset[str]]:
    """What to look for: the folded words themselves (in unspaced scripts), or their stems."""
    return fold_case(interest) if any(map(is_unspaced_script, interest)) else "", topic_stems(
        interest
    )


def overlap_coefficient(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of the smaller set lies in the other, 0 to 1; 0 where one is empty."""
    least = min(len(one), len(other))
    return len(one & other) / least if least else 0.0


def forget_all() -> None:
    """Let go of every word that was met."""
    stem.cache_clear()
    _interest.cache_clear()
