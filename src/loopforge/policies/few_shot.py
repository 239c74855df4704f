"""Few-shot examples: which of a mate's examples a small model is shown, by what was just said.

A model of 135 million parameters imitates the nearest example and loses its way among many.
Likeness is counted in words, beginnings of words and pairs of neighbours: no model, no dice. Knows
no language but English, which is all that the embedded model has.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, TypeVar

NEAR, BESIDE, ALIKE = 0.4, 0.7, 0.8
"""Likeness (0 to 1) of the best example; of one beside it, as a share of that; and of lines that
share no telling word ("Who are you?"). Measured: below, an example misleads."""
MOST = 2
"""Examples that are shown; with four, the model mixes them up."""

_PLAIN_WORDS = """
a an the i you he she it we they me my your is are am was were be been do does did can could will
would should to of in on at for with or if so that this there here i'm today again now
just very really got get have has some any no not all also too then what who why how where when
which tell mean more about
"""
_PLAIN = frozenset(_PLAIN_WORDS.split())
"""Words that say little of what a line is about."""
_GREETING = frozenset(
    ("hello", "hi", "hey", "oh", "well", "ok", "okay", "so", "and", "but", "please")
)
_WORD = re.compile(r"[a-z0-9']+")
_LONG_FORMS = {
    "can't": "can not",
    "n't": " not",
    "'m": " am",
    "'s": " is",
    "'re": " are",
    "'ve": " have",
    "'ll": " will",
}
"""Contractions, and what they stand for ('s may be an owner's, too, which says as little)."""
_WEIGHT, _START, _PAIR = 0.25, 0.6, 0.35
"""What a plain word, the beginning of a telling word, and a pair of neighbours count."""

Bag = Mapping[str, float]
Example = tuple[str, str]
"""Somebody says, it answers."""
E = TypeVar("E", bound=tuple[Any, ...])
"""An example of any kind; what somebody says stands first in it."""


def nearest_examples(examples: Sequence[Example], said: str, name: str = "") -> tuple[Example, ...]:
    """The examples that are most like what was said, the best last; none if none is like it.

    `name` is the mate's own, which says nothing of what a line is about.
    """
    best = _ranked(examples, said, name)[-MOST:]
    if not best or best[-1][0] < NEAR:
        return ()
    return tuple(example for likeness, example in best if likeness >= BESIDE * best[-1][0])


def closest_example(examples: Sequence[Example], said: str, name: str = "") -> Example | None:
    """The one example that asks nearly the same, or none."""
    ranked = _ranked(examples, said, name)
    return ranked[-1][1] if ranked and ranked[-1][0] >= ALIKE else None


def sort_by_likeness(examples: Sequence[E], said: str, name: str = "") -> list[E]:
    """All of these examples, the one most like what was said last; none if none is like it."""
    ranked = _ranked(examples, said, name)
    return [one for _, one in ranked] if ranked and ranked[-1][0] >= NEAR else []


def _ranked(examples: Sequence[E], said: str, name: str) -> list[tuple[float, E]]:
    """The examples with their likeness to what was said, the best last; of equals the first."""
    line = _bag(said, name.lower())
    marked = [(_likeness(line, _bag(one[0], name.lower())), one) for one in reversed(examples)]
    return sorted(marked, key=lambda one: one[0])


def _bag(text: str, name: str) -> Bag:
    found = _WORD.findall(_in_full(text.lower()))
    words = [_one(word) for word in found if word != name and word not in _GREETING]
    words = words or ["hello"] * bool(found)  # a greeting, or the mate's bare name
    bag: dict[str, float] = defaultdict(float)
    for word in words:
        bag[word] += _WEIGHT if word in _PLAIN else 1
        if word not in _PLAIN and len(word) > 3:
            bag[f"{word[:4]}-"] += _START
    for pair in zip(["^", *words], words, strict=False):
        bag[" ".join(pair)] += _PAIR
    return dict(bag)


def _in_full(text: str) -> str:
    """The text with its contractions written out."""
    text = re.sub(r"\bim\b", "i'm", text.replace("’", "'"))
    for short, long in _LONG_FORMS.items():
        text = text.replace(short, long)
    return text


def _one(word: str) -> str:
    """The form under which a word is counted: any number is one word, "jokes" is "joke"."""
    if word.isdigit():
        return "#"
    plural = len(word) > 4 and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if plural and word not in _PLAIN else word


def _likeness(one: Bag, other: Bag) -> float:
    shared = one.keys() & other.keys()
    telling = any(" " not in part and part not in _PLAIN for part in shared)
    likeness = sum(one[part] * other[part] for part in shared) / (
        _length(one) * _length(other) or 1
    )
    return likeness if telling or likeness >= ALIKE else 0.0


def _length(bag: Bag) -> float:
    return sqrt(sum(count * count for count in bag.values()))
