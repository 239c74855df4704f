"""Whether a sentence told in other words is faithful to its claim, as far as words can show.

A model may rephrase a sentence; it may not tell another. So names, places, numbers, quotes, and
words that judge are held against the phrases that templates make of the same claim: none may be
new, none may be gone, and who is named first stays first. This sees a swapped name, a changed
number, a good deed turned bad, a new before or because. It does not see tone, nor an adjective too
many.
"""

from __future__ import annotations

import re

from msgspec import Struct

from loopforge.lab.claims import AnyClaim
from loopforge.lab.phrases import phrases
from loopforge.lab.scenario import Scenario
from loopforge.lab.wording import number, ordinal

LONGER = 1.6
"""How much longer than the template's a sentence may be, with some letters to spare."""
SPARE = 40
WORDS_OF = {
    "denial": """no not never none nobody nothing nowhere neither nor without cannot unseen
        unnoticed missed failed""",
    "good": """right rightly well good fine safe safely saved sound luckily wisely true correctly
        properly""",
    "bad": """wrong wrongly badly bad worse hurt harm lost failed foolishly false mistaken broke
        broken poorly""",
    "order": "before after afterwards because therefore until since then later earlier despite",
}
JUDGING = {kind: frozenset(words.split()) for kind, words in WORDS_OF.items()}
NUMBERS = {number(n): n for n in range(1, 1000)} | {ordinal(n): n for n in range(1, 100)}
NUMBERS |= {"once": 1, "twice": 2, "zero": 0}
LOOSE = frozenset({"one", "first", "second"})
"""Number words that are as often something else."""


class Names(Struct, frozen=True):
    """The names of a run: of robots, of places, and of what can go wrong there."""

    robots: tuple[str, ...]
    places: tuple[str, ...]
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, scenario: Scenario) -> Names:
        """Those of this scenario."""
        kinds = {kind for rule in scenario.protocols for kind in (rule.miss, rule.bite)}
        return cls(
            robots=tuple(each.name for each in scenario.robots),
            places=tuple(each.name for each in scenario.places),
            kinds=tuple(sorted(kinds | {"seizure", "fire", "flood"})),
        )


def unfaithful(text: str, claim: AnyClaim, names: Names) -> str:
    """What is wrong with these words for this claim, or "": held against each of its phrases.

    It is enough that one phrase of the claim says the same.
    """
    if text != " ".join(text.split()) or not text.isprintable():
        return "it is not one line of plain text"
    if re.search(r"[\[\]{}<>*_`#|\\]", text):
        return "it holds signs that are no prose"
    first = ""
    for phrase in phrases(claim):
        problem = _parts(text, phrase, names)
        if not problem:
            return ""
        first = first or problem
    return first


def _parts(text: str, phrase: str, names: Names) -> str:
    """What is in one of the two and not in the other."""
    if sorted(re.findall("“[^”]*”", text)) != sorted(re.findall("“[^”]*”", phrase)):
        return "it does not quote what was said as it was said"
    if len(text) > LONGER * len(phrase) + SPARE:
        return "it is much longer than what it says"
    who = _named(text, names.robots), _named(phrase, names.robots)
    if who[0] != who[1]:
        return f"it names {_and(who[0])}, where {_and(who[1])} belongs"
    for kind, listed in (("place", names.places), ("incident", names.kinds)):
        said, meant = set(_named(text, listed)), set(_named(phrase, listed))
        if said != meant:
            return f"the {kind} is {_and(sorted(meant))}, not {_and(sorted(said))}"
    numbers = _numbers(text), _numbers(phrase)
    if numbers[0] != numbers[1]:
        return f"its numbers are {sorted(numbers[1])}, not {sorted(numbers[0])}"
    for kind, words in JUDGING.items():
        said, meant = _words(text) & words, _words(phrase) & words
        if kind == "denial" and bool(said) != bool(meant):
            return "it denies what is so, or the other way round"
        if kind != "denial" and said - meant:
            return f"it brings in {_and(sorted(said - meant))}"
    return ""


def _named(text: str, listed: tuple[str, ...]) -> list[str]:
    """Which of these names stand in a text, in the order of their first place there."""
    low, found = text.casefold(), list[tuple[int, str]]()
    for name in sorted(listed, key=len, reverse=True):
        at = re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", low)
        if at is not None:
            found.append((at.start(), name))
            low = low.replace(name.casefold(), " " * len(name))
    return [name for _, name in sorted(found)]


def _numbers(text: str) -> set[int]:
    """The numbers in a text, in digits or in words."""
    low = re.sub(r"\b(\w+) hundred and (\w)", r"\1 hundred-and-\2", text.casefold())
    found = {int(each) for each in re.findall(r"\d+", low)}
    for token in re.findall(r"[a-z]+(?:[- ]hundred(?:-and-[a-z-]+)?)?(?:-[a-z]+)?", low):
        for part in (token, token.replace("-and-", " and ").replace("hundred-and", "hundred and")):
            if part in NUMBERS and part not in LOOSE:
                found.add(NUMBERS[part])
                break
    return found


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.casefold().replace("n't", " not")))


def _and(parts: list[str]) -> str:
    return ", ".join(parts) or "nothing"
