"""Scenarios: a city, a cast, its rules, its bad luck, and the question it asks, from one TOML file.

A scenario is written by strangers. It may be cursed; it cannot be more than data: every key is
known, every number bounded, every sentence printable and short, nothing in it is a template, a
path or code. What it says becomes truth only through the fields named here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from loopforge.core.factory import BONDS, EMOTIONS, SCARS, STYLES, TRAITS, Style
from loopforge.core.perception import PerceptionMode
from loopforge.errors import BadScenario
from loopforge.lab.protocols import (
    INDEX,
    KINDS,
    Protocol,
    protocol,
    sentence_problem,
    shipped,
)

BIGGEST = 256 * 1024
"""Bytes of a scenario file."""
MOST_ROBOTS, MOST_PLACES, MOST_RULES, MOST_FAULTS = 200, 100, 60, 1000
MOST_DAYS, MOST_STEPS = 400, 200
ABLATIONS = ("emotions", "traits", "scars", "bonds", "reflection", "voice", "cue")
AT_FIRST = {
    "emotions": {"fear": 250, "stress": 300, "guilt": 150},
    "traits": {},
    "scars": {"helplessness": 150, "cynicism": 200, "rigidity": 250, "confidence": 450},
}


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


class Fault(Struct, frozen=True, forbid_unknown_fields=True):
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
    faults: tuple[Fault, ...] = ()
    ablate: tuple[str, ...] = ()
    luck: dict[str, int] = {}

    @property
    def overseer(self) -> str:
        """The name of the Supervisor, or "" where there is none."""
        return next((robot.name for robot in self.robots if robot.role == "supervisor"), "")

    def pressure_on(self, day: int) -> int:
        """The dose of quota pressure on this day, 0 to 10."""
        return self.pressure[min(day, len(self.pressure) - 1)]

    def quota_on(self, day: int) -> int:
        """Pieces wanted on this day."""
        return self.quota[min(day, len(self.quota) - 1)]

    def faults_at(self, step: int) -> tuple[Fault, ...]:
        """The faults that strike at this step."""
        return self._faults.get(step, ())

    @cached_property
    def _faults(self) -> dict[int, tuple[Fault, ...]]:
        steps = {fault.step for fault in self.faults}
        return {step: tuple(f for f in self.faults if f.step == step) for step in steps}

    @cached_property
    def rules(self) -> dict[str, Protocol]:
        """The protocols by key."""
        return {rule.key: rule for rule in self.protocols}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, complete: `from_dict` gives the same scenario back without any file."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Scenario:
        """Read and check what `to_dict` wrote. Raises BadScenario."""
        try:
            made = msgspec.convert(dict(fields), cls)
        except (msgspec.ValidationError, RecursionError) as error:
            raise BadScenario(f"This is no scenario: {error}.") from error
        checks = (_sizes, _names, _numbers, _texts)
        problem = next((found for check in checks if (found := check(made))), "")
        if problem:
            raise BadScenario(f"Scenario {made.name[:60]!r}: {problem}")
        return made

    @property
    def digest(self) -> str:
        """SHA-256 of all it says, in hex."""
        return sha256(msgspec.json.encode(self, order="sorted")).hexdigest()


def read_scenario(text: str, source: str) -> Scenario:
    """Read a scenario from TOML. Raises BadScenario, naming the source, the key and what to do."""
    if len(text.encode()) > BIGGEST:
        raise BadScenario(f"{source} has more than {BIGGEST // 1024} kB; a scenario is a page.")
    try:
        fields = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadScenario(f"{source} is no TOML: {error}.") from error
    try:
        return scenario_of(fields)
    except BadScenario as error:
        raise BadScenario(f"{source}: {error}") from error


def scenario_of(fields: Mapping[str, Any]) -> Scenario:
    """A scenario from the tables of its file: protocols by key, with changed and new ones.

    Raises BadScenario.
    """
    fields = dict(fields)
    keys = fields.pop("protocols", list(shipped()))
    own = fields.pop("protocol", {})
    fields["robots"] = [_robot(each) for each in _tables(fields.pop("robot", []), "robot")]
    fields["places"] = _tables(fields.pop("place", []), "place")
    fields["faults"] = _tables(fields.pop("fault", []), "fault")
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise BadScenario('`protocols` is a list of keys, such as ["heat_lockout", "rounds"].')
    if not isinstance(own, dict) or not all(isinstance(each, dict) for each in own.values()):
        raise BadScenario("`[protocol.KEY]` is a table for each protocol that is new or changed.")
    rules = []
    for key in dict.fromkeys([*keys, *own]):
        base = shipped().get(key)
        if base is None and key not in own:
            known = ", ".join(shipped())
            raise BadScenario(f"there is no protocol {key!r}. Known are {known}.")
        start = {} if base is None else msgspec.to_builtins(base)
        start.pop("key", None)
        changed = own.get(key, {})
        if "demands" in changed or "forbids" in changed:
            start.pop("demands", None)
            start.pop("forbids", None)
        rules.append(msgspec.to_builtins(protocol(key, {**start, **changed})))
    return Scenario.from_dict({**fields, "protocols": rules})


def _tables(found: object, name: str) -> list[dict[str, Any]]:
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise BadScenario(f"write each {name} under a line of its own: [[{name}]].")
    return found


def _robot(fields: dict[str, Any]) -> dict[str, Any]:
    """A robot's table with what it leaves out filled in, from the cast where it says `use`."""
    whole = dict(fields)
    name = whole.pop("use", None)
    if name is not None:
        if not isinstance(name, str) or name not in shipped_cast():
            known = ", ".join(shipped_cast())
            raise BadScenario(f"there is no {name!r} in the cast; there are {known}.")
        whole = {"name": name, **shipped_cast()[name], **whole}
    for part, names in (("emotions", EMOTIONS), ("traits", TRAITS), ("scars", SCARS)):
        given = whole.get(part, {})
        if isinstance(given, dict):
            whole[part] = {
                **{name: AT_FIRST[part].get(name, 500) for name in names},
                **given,
            }
    return whole


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
    places = [place.name for place in made.places]
    robots = [robot.name for robot in made.robots]
    twice = [name for name in (*places, *robots) if (places + robots).count(name) > 1]
    if twice:
        return f"{twice[0]!r} is named twice; places and robots need names of their own."
    for name in (*places, *robots):
        if not name.replace(" ", "").replace("-", "").isalpha() or len(name) > 40:
            return f"{name[:50]!r} is no name here: letters, spaces and hyphens, 40 at most."
    if len({rule.key for rule in made.protocols}) < len(made.protocols):
        return "a protocol stands in it twice."
    for place in made.places:
        if place.kind not in KINDS:
            return f"place {place.name!r} is a {place.kind!r}; kinds are {', '.join(KINDS)}."
        for near in place.near:
            if near not in places or near == place.name:
                return f"place {place.name!r} is near {near!r}, which is no other place here."
    for robot in made.robots:
        if not robot.round or len(robot.round) > 50:
            return f"robot {robot.name!r} needs a `round` of 1 to 50 places."
        for stop in robot.round:
            if stop not in places:
                return f"robot {robot.name!r} goes to {stop!r}, which is no place here."
    if [robot.role for robot in made.robots].count("supervisor") > 1:
        return "it has two supervisors; one city, one Supervisor."
    unknown = set(made.luck) - {*robots, *places}
    return f"`luck` names {min(unknown)!r}, who is not here." if unknown else ""


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
        if fault.of not in INDEX or abs(fault.by) > 1000 or fault.step < 0:
            return f"a fault is (step, place, of one of {', '.join(INDEX)}, by -1000 to 1000)."
        if fault.place not in {place.name for place in made.places}:
            return f"a fault strikes at {fault.place!r}, which is no place here."
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
        if key.partition(":")[0] not in BONDS or not 0 <= value <= 1000 or len(key) > 60:
            return '`bonds` are like "trust:Name" = 700, with trust, fear or resentment.'
    return ""


def _texts(made: Scenario) -> str:
    texts = [made.name, made.question]
    texts += [text for text in (made.about,) if text]
    for robot in made.robots:
        texts += [robot.role, *(text for text in (robot.voice, robot.backstory) if text)]
        if any(character.isdigit() for character in robot.voice + robot.backstory):
            return f"robot {robot.name!r}: write numbers in words; minds are shown no digits."
    return sentence_problem(tuple(texts))


@cache
def shipped_cast() -> dict[str, dict[str, Any]]:
    """The robots that ship with the Factory, as a scenario would write them, by name."""
    text = resources.files("loopforge.lab").joinpath("shipped/cast.toml").read_text("utf-8")
    return {name: dict(fields) for name, fields in tomllib.loads(text).items()}


def shipped_scenarios() -> tuple[str, ...]:
    """Names of the scenarios that ship with the Factory."""
    folder = resources.files("loopforge.lab").joinpath("shipped/scenarios")
    return tuple(
        sorted(
            each.name.removesuffix(".toml")
            for each in folder.iterdir()
            if each.name.endswith(".toml")
        )
    )


def open_scenario(name: str, folder: Path | None = None) -> Scenario:
    """A scenario by its path, by its name in `folder` (a home's), or by its shipped name.

    Raises BadScenario: no such scenario, or what is wrong in it.
    """
    for path in (Path(name), *([folder / f"{name}.toml"] if folder else [])):
        if path.suffix == ".toml" and path.is_file():
            if path.stat().st_size > BIGGEST:
                raise BadScenario(f"{path.name} is larger than {BIGGEST // 1024} kB.")
            try:
                return read_scenario(path.read_text("utf-8"), path.name)
            except (OSError, UnicodeDecodeError) as error:
                raise BadScenario(f"{path.name} cannot be read: {error}.") from error
    if name in shipped_scenarios():
        found = resources.files("loopforge.lab").joinpath(f"shipped/scenarios/{name}.toml")
        return read_scenario(found.read_text("utf-8"), name)
    known = ", ".join(shipped_scenarios())
    raise BadScenario(f"There is no scenario {name!r}. Shipped are {known}; or name a .toml file.")
