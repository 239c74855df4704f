"""Regular expressions: no text that somebody may send keeps the house at one of them for ever."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants as sre
from re import _parser as sre_parser
from typing import Any

import pytest

import loopforge

LONG = 100
"""Characters: little for who looks at all pairs of places, endless for who tries every split."""
REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
PROBE = " a1_-.,:\n\t'\"*>/"


def patterns() -> dict[re.Pattern[str], str]:
    """Every pattern for text that a module of the house holds, and where it stands."""
    found: dict[re.Pattern[str], str] = {}
    for module in pkgutil.walk_packages(loopforge.__path__, "loopforge."):
        if not module.name.endswith(("__main__", ".migrations.env")):
            for name, value in vars(importlib.import_module(module.name)).items():
                for each in held(value):
                    found.setdefault(each, f"{module.name}.{name}")
    return found


def held(value: object, deep: int = 0) -> Iterator[re.Pattern[str]]:
    """The patterns in a value of a module: it itself, or those in its tables."""
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif deep < 3 and isinstance(value, dict):
        for each in (*value, *value.values()):
            yield from held(each, deep + 1)
    elif deep < 3 and isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from held(each, deep + 1)


def ways(kind: Any, value: Any) -> list[str]:
    """Texts that one part of a pattern takes, the plainest first."""
    if kind is sre.LITERAL:
        return [chr(value)]
    if kind in (sre.NOT_LITERAL, sre.ANY):
        return ["a", " "]
    if kind is sre.IN:
        return [sign for sign in PROBE if takes(value, sign)] or [chr(next(signs(value)))]
    if kind is sre.BRANCH:
        return [each for branch in value[1] for each in examples(branch)]
    if kind in (sre.SUBPATTERN, sre.ATOMIC_GROUP):
        return examples(value[3] if kind is sre.SUBPATTERN else value)
    if kind in REPEATS:
        ones = examples(value[2])
        return [each * max(value[0], 1) for each in ones] + [ones[0] * 2]
    return [""]


def takes(choice: Any, sign: str) -> bool:
    """Whether a sign is one of a class of signs."""
    word = sign.isalnum() or sign == "_"
    categories = {"SPACE": sign.isspace(), "DIGIT": sign.isdigit(), "WORD": word}
    for kind, value in choice:
        if kind is sre.CATEGORY:
            _, *no, name = str(value).rsplit("_", 2 if "NOT" in str(value) else 1)
            if categories[name] is not bool(no):
                return not negated(choice)
        elif kind is not sre.NEGATE and ord(sign) in span(kind, value):
            return not negated(choice)
    return negated(choice)


def negated(choice: Any) -> bool:
    """Whether a class of signs names those that are not in it."""
    return bool(choice[0][0] is sre.NEGATE)


def span(kind: Any, value: Any) -> range:
    """The signs of a range, or the one, by number."""
    return range(value[0], value[1] + 1) if kind is sre.RANGE else range(value, value + 1)


def signs(choice: Any) -> Iterator[int]:
    """Signs of a class, by number, one of each of its parts."""
    for kind, value in choice:
        if kind in (sre.LITERAL, sre.RANGE):
            yield span(kind, value)[0]


def examples(parts: Any) -> list[str]:
    """Texts that fit: the plainest, and one for each other way that some part of it may go."""
    plain, found = "", list[str]()
    for kind, value in parts:
        first, *others = dict.fromkeys(ways(kind, value))
        found = [each + first for each in found] + [plain + other for other in others]
        plain += first
    return [plain, *found]


def repeated(parts: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """What stands before each part that may be repeated for ever, and texts that it takes."""
    for kind, value in parts:
        inner = {sre.SUBPATTERN: 3, sre.ASSERT: 1, sre.ASSERT_NOT: 1}.get(kind)
        if kind in REPEATS:
            if value[1] > LONG:
                yield from ((before, each) for each in examples(value[2]))
            yield from repeated(value[2], before)
        elif kind is sre.BRANCH:
            for branch in value[1]:
                yield from repeated(branch, before)
        elif inner is not None or kind is sre.ATOMIC_GROUP:
            yield from repeated(value if inner is None else value[inner], before)
        before += ways(kind, value)[0]


LONG_TEXTS = {
    "loopforge.policies.prompt_building.SENTENCE": ".",
    "loopforge.memory.passage_ranking._OTHERS_WORDS": "you ",
    "loopforge.runtime.turn_meter.HANDLE": "\n[]",
}
"""Patterns that are looked for in texts of any length, and what took the square of that."""


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", LONG_TEXTS)
def test_what_is_looked_for_in_long_texts_takes_no_square(name: str) -> None:
    """An answer of nothing but dots, a question of nothing but "you", rows of brackets of a tool."""
    (pattern,) = [each for each, at in patterns().items() if at == name]
    text = LONG_TEXTS[name] * 100_000 + "x"
    assert not [found for found in pattern.finditer(text) if found[0] != "[]"]


def test_no_text_takes_for_ever() -> None:
    """Each pattern, on what it repeats said again and again with an end that does not fit."""
    tried = 0
    for pattern in patterns():
        for before, unit in set(repeated(sre_parser.parse(pattern.pattern, pattern.flags))):
            for end in ("\0", "x"):
                text = f"{before}{unit * (LONG // max(len(unit), 1))}{end}"
                pattern.search(text)
                pattern.fullmatch(text)
            tried += 1
    assert tried > 1000
