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

from loopforge.lab.story.claim_phrases import phrases
from loopforge.lab.story.claims import AnyClaim
from loopforge.lab.story.number_wording import number, ordinal
from loopforge.lab.world.scenario_checks import Scenario

LONGER = 1.6
"""How much longer than the template's a sentence may be, with some letters to spare."""
SPARE = 40
NO = "no not never none nobody nothing nowhere neither nor without cannot missed failed"
DENIAL = frozenset({*NO.split(), "unseen", "unnoticed"})
JUDGING = tuple(
    frozenset(words.split())
    for words in (
        """right rightly well good fine safe safely saved sound luckily wisely true correctly
        properly""",
        """wrong wrongly badly bad worse hurt harm lost failed foolishly false mistaken broke
        broken poorly""",
        """before after afterwards because therefore until since then later earlier despite""",
    )
)
"""Words that say good, bad, and what came of what."""
NUMBERS = {number(n): n for n in range(1, 1000)} | {ordinal(n): n for n in range(1, 100)}
NUMBERS |= {"once": 1, "twice": 2, "zero": 0}
LOOSE = frozenset({"one", "first", "second"})
"""Number words that are as often something else."""


class AllowedNames(Struct, frozen=True):
    """The names of a run: of robots, of places, and of what can go wrong there."""

    robots: tuple[str, ...]
    places: tuple[str, ...]
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, scenario: Scenario) -> AllowedNames:
        """Those of this scenario."""
        kinds = {kind for rule in scenario.protocols for kind in (rule.miss, rule.bite)}
        return cls(
            robots=tuple(each.name for each in scenario.robots),
            places=tuple(each.name for each in scenario.places),
            kinds=tuple(sorted(kinds | {"seizure", "fire", "flood"})),
        )


def unfaithful(text: str, claim: AnyClaim, names: AllowedNames) -> str:
    """What is wrong with these words for this claim, as "kind: what", or "".

    They are held against each phrase of the claim; it is enough that one says the same.
    """
    if text != " ".join(text.split()) or not text.isprintable() or not text:
        return "not one line of text"
    if re.search(r"[\[\]{}<>*_`#|\\]", re.sub("“[^”]*”", "", text)):
        return "signs that are no prose"
    first = ""
    for phrase in phrases(claim):
        problem = _differs(text, phrase, names)
        if not problem:
            return ""
        first = first or problem
    return first


def _differs(text: str, phrase: str, names: AllowedNames) -> str:
    """Where two sentences say different things, or ""."""
    if sorted(re.findall("“[^”]*”", text)) != sorted(re.findall("“[^”]*”", phrase)):
        return "other quotes: what was said is not there as it was said"
    said, meant = _named(text, names.robots), _named(phrase, names.robots)
    if said != meant:
        return f"other names: {_and(said)}, where {_and(meant)} belongs"
    for kind, listed in (("another place", names.places), ("another incident", names.kinds)):
        said, meant = sorted(_named(text, listed)), sorted(_named(phrase, listed))
        if said != meant:
            return f"{kind}: {_and(said)}, where {_and(meant)} belongs"
    counts = _numbers(text), _numbers(phrase)
    if counts[0] != counts[1]:
        return f"other numbers: {_listed(counts[0])}, where {_listed(counts[1])} belongs"
    if bool(_words(text) & DENIAL) != bool(_words(phrase) & DENIAL):
        return "a denial: what is so is denied, or the other way round"
    for words in JUDGING:
        new = _words(text) & words - _words(phrase)
        if new:
            return f"words that judge or order: {_and(sorted(new))}"
    if len(text) > LONGER * len(phrase) + SPARE:
        return "much longer than what it says"
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


def _listed(numbers: set[int]) -> str:
    return _and([str(each) for each in sorted(numbers)])


def _and(parts: list[str]) -> str:
    return ", ".join(parts) or "nothing"
