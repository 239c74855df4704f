"""What a scenario must keep to before it is let into the world: sizes, names, numbers, texts.

Its author is a stranger. Names are words that nobody can mistake for one another, for a path or for
a part of the program; numbers are bounded; texts are short and can be printed. Each check gives one
sentence that says what to do, or "".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from loopforge.core.factory_vocabulary import BONDS, EMOTIONS, SCARS, STYLES, TRAITS, Style
from loopforge.core.perception import PerceptionMode
from loopforge.core.text.validation_errors import explain_validation_error
from loopforge.errors import BadScenario
from loopforge.lab.world.protocols import (
    INDEX,
    KINDS,
    Protocol,
    has_digits,
    printable_excerpt,
    sentence_problem,
    shipped_protocols,
)

MOST_ROBOTS, MOST_PLACES, MOST_RULES, MOST_FAULTS = 200, 100, 60, 1000
MOST_DAYS, MOST_STEPS = 400, 200
ABLATIONS = ("emotions", "traits", "scars", "bonds", "reflection", "voice", "cue")
LONGEST_NAME = 40
NAMED = "`name` is 1 to 60 letters, digits, hyphens and underscores; folders are named so."
SUPERVISOR = "supervisor"
"""Whose role sits in the office."""
SCRIPT_OF = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK"}
UNSEEN = frozenset("\u115f\u1160\u3164\uffa0")
"""Letters, by the book, that are drawn as nothing."""
TABLES = {"robots": "robot", "places": "place", "faults": "fault"}
"""What a scenario has many of, by the name of one of their tables."""
TAKEN = ("city",)
"""What rows call the whole of it."""


LATER = ("grew", "eased")
"""Lines of a rule that came later: left out where they say nothing, so that what was written before
them has the digest that it had."""


class PlaceSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """A place: its kind, its neighbours, and quantities that start elsewhere than usual."""

    name: str
    kind: str
    near: tuple[str, ...] = ()
    values: dict[str, int] = {}


class RobotSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """A robot: what it is, the round it walks, and how it starts; thousandths."""

    name: str
    role: str
    round: tuple[str, ...]
    voice: str = ""
    backstory: str = ""
    battery: int = 800
    meter: int = 0
    emotions: dict[str, int] = {}
    traits: dict[str, int] = {}
    scars: dict[str, int] = {}
    bonds: dict[str, int] = {}


class ScenarioFault(Struct, frozen=True, forbid_unknown_fields=True):
    """Bad luck from outside: at this step (from 0) this quantity of this place jumps by so much."""

    step: int
    place: str
    of: str
    by: int


class Scenario(Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A scenario, checked. `pressure` is the dose, 0 to 10, for each day; the last one stays."""

    name: str
    question: str
    robots: tuple[RobotSpec, ...]
    places: tuple[PlaceSpec, ...]
    protocols: tuple[Protocol, ...]
    about: str = ""
    seed: int = 1
    days: int = 3
    steps_per_day: int = 16
    perception: PerceptionMode = "accurate"
    supervisor: Style = "supportive"
    pressure: tuple[int, ...] = (3,)
    quota: tuple[int, ...] = (40,)
    faults: tuple[ScenarioFault, ...] = ()
    ablate: tuple[str, ...] = ()
    luck: dict[str, int] = {}

    @property
    def overseer(self) -> str:
        """The name of the Supervisor, or "" where there is none."""
        return next((robot.name for robot in self.robots if robot.role == SUPERVISOR), "")

    def pressure_on(self, day: int) -> int:
        """The dose of quota pressure on this day, 0 to 10."""
        return self.pressure[min(day, len(self.pressure) - 1)]

    def quota_on(self, day: int) -> int:
        """Pieces wanted on this day."""
        return self.quota[min(day, len(self.quota) - 1)]

    def faults_at(self, step: int) -> tuple[ScenarioFault, ...]:
        """The faults that strike at this step."""
        return self._faults.get(step, ())

    @cached_property
    def _faults(self) -> dict[int, tuple[ScenarioFault, ...]]:
        steps = {fault.step for fault in self.faults}
        return {step: tuple(f for f in self.faults if f.step == step) for step in steps}

    @cached_property
    def rules(self) -> dict[str, Protocol]:
        """The protocols by key."""
        return {rule.key: rule for rule in self.protocols}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, complete: `from_dict` gives the same scenario back without any file."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        for rule in plain["protocols"]:
            for name in LATER:
                if not rule[name]:
                    del rule[name]
        return plain

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Scenario:
        """Read and check what `to_dict` wrote. Raises BadScenario."""
        try:
            made = msgspec.convert(dict(fields), cls)
        except (msgspec.ValidationError, RecursionError) as error:
            called = {many: (one, fields.get(many)) for many, one in TABLES.items()}
            told = explain_validation_error(error, cls, Protocol, many=called)
            raise BadScenario(printable_excerpt(f"This is no scenario: {told}.")) from error
        problem = problem_of(made)
        if problem:
            raise BadScenario(printable_excerpt(f"Scenario {made.name[:60]!r}: {problem}"))
        return made

    @property
    def digest(self) -> str:
        """SHA-256 of all it says, in hex."""
        return sha256(msgspec.json.encode(self.to_dict(), order="sorted")).hexdigest()


def problem_of(made: Scenario) -> str:
    """What is wrong with a scenario, in one sentence, or ""."""
    checks = (_sizes, _names, _graph, _numbers, _texts)
    return next((found for check in checks if (found := check(made))), "")


def _sizes(made: Scenario) -> str:
    for what, count, most in (
        ("robots", len(made.robots), MOST_ROBOTS),
        ("places", len(made.places), MOST_PLACES),
        ("protocols", len(made.protocols), MOST_RULES),
    ):
        if not 1 <= count <= most:
            return f"it has {count} {what}; 1 to {most} can be."
    if len(made.faults) > MOST_FAULTS:
        return f"it has {len(made.faults)} faults; {MOST_FAULTS} is the most."
    if not 1 <= made.days <= MOST_DAYS or not 1 <= made.steps_per_day <= MOST_STEPS:
        return f"`days` is 1 to {MOST_DAYS} and `steps_per_day` 1 to {MOST_STEPS}."
    if not 1 <= len(made.pressure) <= MOST_DAYS or not 1 <= len(made.quota) <= MOST_DAYS:
        return "`pressure` and `quota` are lists with one number for each day, at least one."
    return ""


def _names(made: Scenario) -> str:
    if not plain_name(made.name):
        return NAMED
    names = [*(place.name for place in made.places), *(robot.name for robot in made.robots)]
    for name in (*names, *(robot.role for robot in made.robots)):
        if not is_name(name) and is_name(unicodedata.normalize("NFKC", name)):
            return (
                f"the name {name[:50]!r} has signs of several parts, such as a mark apart: "
                f"write {unicodedata.normalize('NFKC', name)!r}, each letter in one piece."
            )
        if not is_name(name):
            return f"{name[:50]!r} is no name here: letters, spaces and hyphens, 40 at most."
    roles = [robot.role for robot in made.robots]
    known = {role for rule in shipped_protocols().values() for role in rule.roles}
    if not one_script([*names, *(role for role in roles if role not in known)]):
        return "its names mix scripts, and then they may look alike; write all of them in one."
    alike = [name.casefold() for name in names]
    twice = next((name for name in names if alike.count(name.casefold()) > 1), "")
    if twice:
        return f"{twice!r} is named twice; places and robots need names of their own."
    taken = next((name for name in names if name.casefold() in TAKEN), "")
    if taken:
        return f"nothing can be called {taken!r}: rows call the whole of it so."
    if len({rule.key for rule in made.protocols}) < len(made.protocols):
        return "a protocol stands in it twice."
    close = next((r for r in roles if r.casefold() == SUPERVISOR != r), "")
    if close:
        return f'the role {close!r} is almost "supervisor"; write it so, or choose another word.'
    if roles.count(SUPERVISOR) > 1:
        return "it has two supervisors; one city, one Supervisor."
    unknown = set(made.luck) - set(names)
    return f"`luck` names {min(unknown)[:50]!r}, who is not here." if unknown else ""


def plain_name(name: str) -> bool:
    """Whether a scenario or a file may be called so: no dots, no slashes, nothing a shell knows."""
    return name.replace("_", "").replace("-", "").isalnum() and len(name) <= 60 and name[0] != "-"


def is_name(name: str) -> bool:
    """Whether this can be a name: words of letters, as they are drawn, with single spaces."""
    return (
        len(name) <= LONGEST_NAME
        and name.replace(" ", "").replace("-", "").isalpha()
        and name == " ".join(name.split())
        and (name.isascii() or unicodedata.normalize("NFKC", name) == name)
        and UNSEEN.isdisjoint(name)
    )


def one_script(names: Iterable[str]) -> bool:
    """Whether all letters of these names are of one script."""
    letters = {sign for sign in "".join(names) if sign.isalpha()}
    scripts = {unicodedata.name(letter, "?").partition(" ")[0] for letter in letters}
    return len({SCRIPT_OF.get(script, script) for script in scripts}) <= 1


def _graph(made: Scenario) -> str:
    places = {place.name for place in made.places}
    for place in made.places:
        if place.kind not in KINDS:
            return f"place {place.name!r} is a {place.kind[:50]!r}; kinds are {', '.join(KINDS)}."
        for near in place.near:
            if near not in places or near == place.name:
                return f"place {place.name!r} is near {near[:50]!r}, which is no other place here."
        if len(set(place.near)) < len(place.near):
            return f"place {place.name!r} names a neighbour twice in `near`."
    for robot in made.robots:
        if not 1 <= len(robot.round) <= 50:
            return f"robot {robot.name!r} needs a `round` of 1 to 50 places."
        for stop in robot.round:
            if stop not in places:
                return f"robot {robot.name!r} goes to {stop[:50]!r}, which is no place here."
    for fault in made.faults:
        if fault.place not in places:
            return f"a fault strikes at {fault.place[:50]!r}, which is no place here."
    return ""


def _numbers(made: Scenario) -> str:
    if made.supervisor not in STYLES:
        return f"`supervisor` is one of {', '.join(STYLES)}."
    if not all(0 <= dose <= 10 for dose in made.pressure):
        return "`pressure` is a dose from 0 to 10 for each day."
    if not all(0 <= pieces <= 100_000 for pieces in made.quota):
        return "`quota` is 0 to 100000 pieces for each day."
    if not all(abs(seed) < 1 << 63 for seed in (made.seed, *made.luck.values())):
        return "a seed is a whole number of at most 18 digits."
    for fault in made.faults:
        if fault.of not in INDEX or abs(fault.by) > 1000:
            return f"a fault is (step, place, of one of {', '.join(INDEX)}, by -1000 to 1000)."
        if not 0 <= fault.step < MOST_DAYS * MOST_STEPS:
            return f"a fault strikes at a `step` from 0 to {MOST_DAYS * MOST_STEPS - 1}."
    for place in made.places:
        if not all(n in INDEX and -500 <= v <= 1000 for n, v in place.values.items()):
            return f"place {place.name!r}: `values` are of {', '.join(INDEX)}, up to 1000."
    for robot in made.robots:
        problem = _robot_numbers(robot)
        if problem:
            return f"robot {robot.name!r}: {problem}"
    unknown = [name for name in made.ablate if name not in ABLATIONS]
    return f"`ablate` knows {', '.join(ABLATIONS)}." if unknown else ""


def _robot_numbers(robot: RobotSpec) -> str:
    if not 0 <= robot.battery <= 1000 or not -500 <= robot.meter <= 500:
        return "`battery` is 0 to 1000, `meter` (how far it lies) -500 to 500."
    for part, given, names in (
        ("emotions", robot.emotions, EMOTIONS),
        ("traits", robot.traits, TRAITS),
        ("scars", robot.scars, SCARS),
    ):
        if set(given) != set(names):
            return f"`{part}` are {', '.join(names)}."
        if not all(0 <= value <= 1000 for value in given.values()):
            return f"`{part}` lie between 0 and 1000."
    for key, value in robot.bonds.items():
        kind, _, other = key.partition(":")
        if kind not in BONDS or not is_name(other) or not 0 <= value <= 1000:
            return '`bonds` are like "trust:Name" = 700, with trust, fear or resentment.'
    if len(robot.bonds) > len(BONDS) * MOST_ROBOTS:
        return "it has more `bonds` than a city has robots."
    return ""


def _texts(made: Scenario) -> str:
    texts = [made.question]
    texts += [text for text in (made.about,) if text]
    for robot in made.robots:
        texts += [text for text in (robot.voice, robot.backstory) if text]
        if has_digits(robot.voice + robot.backstory):
            return f"robot {robot.name!r}: write numbers in words; minds are shown no digits."
    return sentence_problem(tuple(texts))
