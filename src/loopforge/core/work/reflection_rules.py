"""When a task is looked back on, and sentences of that against the record: each cites turns.

    claim + what was seen in its turns -> "" | "the tests of turn 2 failed" | "there was no turn 9"

A flag says how the record contradicts a sentence, or that it rests on nothing. Knows English words
and no meaning: what is not flagged is not proven. What is advised for later is held to its turns
alone, since it speaks of what nobody did yet. Pure.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.core.work.command_results import SeenResult, error_of, exit_code, exit_of_tests
from loopforge.core.work.work_vocabulary import ReflectionPart

LOOKED_BACK_BELOW = 60.0
"""Completion below which a simple task is looked back on; others are in any case."""

_NOT = r"(?!(?:\W+\w+){0,3}?\W+(?:not|never|no|didn't|don't|doesn't|cannot|won't|neither)\b)"
_TESTS = rf"\b(?:tests?|test suite|pytest|unittest)\b{_NOT}[^.;!?]{{0,40}}?"
TESTS_PASSED = re.compile(
    rf"{_TESTS}\b(?:pass(?:ed|es)?|succeed(?:ed|s)?"
    r"|(?:were|was|went|are|is) (?:all )?(?:green|ok))\b",
    re.IGNORECASE,
)
TESTS_FAILED = re.compile(
    rf"{_TESTS}\b(?:fail(?:ed|s)?|broke|(?:were|was|went|are|is) (?:still )?red)\b", re.IGNORECASE
)
EXIT_CODE = re.compile(r"\bexit(?:ed)?(?: with)?(?: (?:code|status))? (\d{1,3})\b", re.IGNORECASE)
FILE = re.compile(r"(?<![\w/.-])((?:[\w.-]+/)*[\w-]+\.[A-Za-z][A-Za-z0-9]{0,4})\b(?!\()")
CHANGING_WORDS = re.compile(
    r"\b(?:wrote|created|edited|changed|modified|updated|rewrote|patched|renamed|deleted)\b",
    re.IGNORECASE,
)
NEGATED = re.compile(r"\b(?:not|never|no|without|didn't|nothing|nobody)\b", re.IGNORECASE)
QUOTED = re.compile(r"[\"“`]([^\"”`]{4,80})[\"”`]")
ADVICE: frozenset[ReflectionPart] = frozenset({"change", "insight"})
"""Parts that speak of what is to be done later."""


class TurnSeen(NamedTuple):
    """What was seen in one turn: uses of tools, the files it changed, all of its words."""

    results: Sequence[SeenResult] = ()
    written: frozenset[str] = frozenset()
    words: str = ""


class CitedClaim(NamedTuple):
    """A sentence with what was seen in the turns that it cites."""

    part: ReflectionPart
    text: str
    numbers: tuple[int, ...]
    turns: tuple[TurnSeen, ...]

    @property
    def where(self) -> str:
        """The turns it cites, in words."""
        return f"turn {join_as_prose([str(one) for one in self.numbers])}"

    @property
    def results(self) -> list[SeenResult]:
        """All that was seen in them."""
        return [one for turn in self.turns for one in turn.results]

    @property
    def tests(self) -> list[int]:
        """How tests ended in them."""
        codes = [exit_of_tests(one.what, one.value) for one in self.results]
        return [code for code in codes if code is not None]


def flag_of(
    part: ReflectionPart, text: str, numbers: Sequence[int], record: Mapping[int, TurnSeen]
) -> str:
    """How the record contradicts a sentence; "" where it does not, as far as can be seen."""
    if not numbers:
        return "it cites no turn"
    if missing := [one for one in numbers if one not in record]:
        return f"there was no turn {missing[0]} in this attempt"
    claim = CitedClaim(part, text, tuple(numbers), tuple(record[one] for one in numbers))
    rules = ADVISED if part in ADVICE else RULES
    return next((flag for rule in rules if (flag := rule(claim))), "")


def _passed(claim: CitedClaim) -> str:
    if not TESTS_PASSED.search(claim.text):
        return ""
    if not claim.tests:
        return f"no tests were run in {claim.where}"
    return f"the tests of {claim.where} failed" if claim.tests[-1] else ""


def _failed(claim: CitedClaim) -> str:
    if not TESTS_FAILED.search(claim.text) or TESTS_PASSED.search(claim.text):
        return ""
    if not claim.tests:
        return f"no tests were run in {claim.where}"
    return "" if any(claim.tests) else f"the tests of {claim.where} passed"


def _code(claim: CitedClaim) -> str:
    seen = {exit_code(one.value) for one in claim.results}
    wrong = [said for said in EXIT_CODE.findall(claim.text) if int(said) not in seen]
    return f"nothing ended with {wrong[0]} in {claim.where}" if wrong else ""


def _written(claim: CitedClaim) -> str:
    """A file that it says was changed, in turns that changed others or none."""
    if not CHANGING_WORDS.search(claim.text) or NEGATED.search(claim.text):
        return ""
    written = [path for turn in claim.turns for path in turn.written]
    words = " ".join(one.what for one in claim.results)
    for name in FILE.findall(claim.text):
        if not any(path.endswith(name) for path in written) and name not in words:
            return f"{name} was not changed in {claim.where}"
    return ""


def _there(claim: CitedClaim) -> str:
    """A file, or quoted words, that stand nowhere in those turns."""
    words = " ".join(" ".join(turn.words.split()) for turn in claim.turns)
    for said in (*FILE.findall(claim.text), *QUOTED.findall(claim.text)):
        if " ".join(said.split()).rstrip(".,") not in words:
            return f"“{said}” stands nowhere in {claim.where}"
    return ""


def _worked(claim: CitedClaim) -> str:
    if claim.part != "worked" or not claim.results:
        return ""
    good = [one for one in claim.results if not error_of(one)]
    return "" if good else f"all that was done in {claim.where} failed"


RULES: tuple[Callable[[CitedClaim], str], ...] = (
    _passed,
    _failed,
    _code,
    _written,
    _there,
    _worked,
)
"""What is looked at, the first that contradicts is told."""
ADVISED: tuple[Callable[[CitedClaim], str], ...] = (_code,)
"""The same of what is advised."""
