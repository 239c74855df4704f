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

from loopforge.core.factory import EMOTIONS, SCARS, TRAITS, Style
from loopforge.core.perception import PerceptionMode
from loopforge.errors import BadScenario
from loopforge.lab.checks import ABLATIONS as ABLATIONS
from loopforge.lab.checks import MOST_DAYS as MOST_DAYS
from loopforge.lab.checks import MOST_STEPS as MOST_STEPS
from loopforge.lab.checks import problem_of
from loopforge.lab.protocols import Protocol, protocol, quoted, shipped
from loopforge.lab.tables import held, tables, text_of

BIGGEST = 256 * 1024
"""Bytes of a scenario file."""
LATER = ("grew", "eased")
"""Lines of a rule that came later: left out where they say nothing, so that what was written before
them has the digest that it had."""
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
            raise BadScenario(quoted(f"This is no scenario: {error}.")) from error
        problem = problem_of(made)
        if problem:
            raise BadScenario(quoted(f"Scenario {made.name[:60]!r}: {problem}"))
        return made

    @property
    def digest(self) -> str:
        """SHA-256 of all it says, in hex."""
        return sha256(msgspec.json.encode(self.to_dict(), order="sorted")).hexdigest()


def read_scenario(text: str, source: str) -> Scenario:
    """Read a scenario from TOML. Raises BadScenario, naming the source, the key and what to do."""
    fields = tables(text, source, BIGGEST)
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
            raise BadScenario(f"there is no protocol {quoted(key[:60])!r}. Known are {known}.")
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
            raise BadScenario(f"there is no {quoted(str(name)[:60])!r} in the cast: {known}.")
        whole = {"name": name, **shipped_cast()[name], **whole}
    for part, names in (("emotions", EMOTIONS), ("traits", TRAITS), ("scars", SCARS)):
        given = whole.get(part, {})
        if isinstance(given, dict):
            whole[part] = {
                **{name: AT_FIRST[part].get(name, 500) for name in names},
                **given,
            }
    return whole


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

    A name in a folder stays in that folder, whatever it is and wherever a link there leads.
    Raises BadScenario: no such scenario, or what is wrong in it.
    """
    if name.endswith(".toml"):
        path = Path(name)
        return read_scenario(text_of(path, BIGGEST), path.name)
    if own := held(name, folder):
        return read_scenario(text_of(own, BIGGEST), own.name)
    if name in shipped_scenarios():
        found = resources.files("loopforge.lab").joinpath(f"shipped/scenarios/{name}.toml")
        return read_scenario(found.read_text("utf-8"), name)
    known = ", ".join(shipped_scenarios())
    raise BadScenario(
        f"There is no scenario {quoted(name[:80])!r}. Shipped are {known}; or name a .toml file."
    )
