"""Scenarios: a city, a cast, its rules, its bad luck, and the question it asks, from one TOML file.

A scenario is written by strangers. It may be cursed; it cannot be more than data: every key is
known, every number bounded, every sentence printable and short, nothing in it is a template, a
path or code. What it says becomes truth only through the fields named here.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from loopforge.core.factory_vocabulary import EMOTIONS, SCARS, TRAITS
from loopforge.errors import BadScenario
from loopforge.lab.world.city_state import BOUNDS, find_routes
from loopforge.lab.world.emotions_traits import AT_FIRST
from loopforge.lab.world.protocols import (
    INDEX,
    parse_protocol,
    printable_excerpt,
    shipped_protocols,
)
from loopforge.lab.world.scenario_checks import TABLES, Scenario
from loopforge.lab.world.scenario_reading import (
    find_toml_text,
    parse_bounded_toml,
    refuse_misplaced_keys,
    shipped_names,
)

BIGGEST = 256 * 1024
"""Bytes of a scenario file."""
ABOVE = tuple(name for name in Scenario.__struct_fields__ if name not in ("name", *TABLES))
"""Lines of the whole scenario that no table of it has."""


def read_scenario(text: str, source: str) -> Scenario:
    """Read a scenario from TOML. Raises BadScenario, naming the source, the key and what to do."""
    fields = parse_bounded_toml(text, source, BIGGEST)
    try:
        return scenario_of(fields)
    except BadScenario as error:
        raise BadScenario(f"{source}: {error}") from error


def scenario_of(fields: Mapping[str, Any]) -> Scenario:
    """A scenario from the tables of its file: protocols by key, with changed and new ones.

    Raises BadScenario.
    """
    fields = dict(fields)
    _known(fields)
    keys = fields.pop("protocols", list(shipped_protocols()))
    own = fields.pop("protocol", {})
    written = _tables(fields.pop("robot", []), "robot")
    fields["robots"] = [_robot(each) for each in written]
    fields["places"] = _tables(fields.pop("place", []), "place")
    fields["faults"] = _tables(fields.pop("fault", []), "fault")
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise BadScenario('`protocols` is a list of keys, such as ["heat_lockout", "rounds"].')
    if not isinstance(own, dict) or not all(isinstance(each, dict) for each in own.values()):
        raise BadScenario("`[protocol.KEY]` is a table for each protocol that is new or changed.")
    rules = []
    for key in dict.fromkeys([*keys, *own]):
        base = shipped_protocols().get(key)
        if base is None and key not in own:
            known = ", ".join(shipped_protocols())
            raise BadScenario(
                f"there is no protocol {printable_excerpt(key[:60])!r}. Known are {known}."
            )
        start = {} if base is None else msgspec.to_builtins(base)
        start.pop("key", None)
        changed = own.get(key, {})
        refuse_misplaced_keys(changed, f"[protocol.{key}]", ABOVE)
        if "demands" in changed or "forbids" in changed:
            start.pop("demands", None)
            start.pop("forbids", None)
        rules.append(msgspec.to_builtins(parse_protocol(key, {**start, **changed})))
    made = Scenario.from_dict({**fields, "protocols": rules})
    _bonds(made, written)
    _played(made)
    for place in made.places:
        for of, value in place.values.items():
            low, high = BOUNDS[INDEX[of]]
            if not low <= value <= high:
                raise BadScenario(f"place {place.name!r}: `{of}` lies between {low} and {high}.")
    return made


def _bonds(made: Scenario, written: list[dict[str, Any]]) -> None:
    """Raises BadScenario for a bond that was written, and is to nobody who is there.

    Those of the cast may be: who has them is taken without those they are to.
    """
    for robot, table in zip(made.robots, written, strict=True):
        others = sorted(each.name for each in made.robots if each.name != robot.name)
        for name in (bond.partition(":")[2] for bond in table.get("bonds", ())):
            if name not in others:
                raise BadScenario(
                    f"robot {robot.name!r} has a bond to {name!r}, who is no other robot here; "
                    f"there are {', '.join(others)[:200] or 'none'}."
                )


def _played(made: Scenario) -> None:
    """Raises BadScenario for what is written and would never come: a fault, a stop of a round.

    A run may be shorter than its file, and a fork put a robot anywhere; then they do not come.
    """
    steps = made.days * made.steps_per_day
    late = next((fault for fault in made.faults if fault.step >= steps), None)
    if late is not None:
        raise BadScenario(
            f"a fault strikes at {late.place!r} at step {late.step}, and there are only the steps "
            f"0 to {steps - 1}, counted over all days."
        )
    routes = find_routes({place.name: place.near for place in made.places})
    for robot in made.robots:
        for here, then in zip(robot.round, (*robot.round[1:], robot.round[0]), strict=True):
            if here != then and (here, then) not in routes:
                raise BadScenario(
                    f"robot {robot.name!r} cannot go its `round`: no way leads from {here!r} to "
                    f"{then!r}. A way leads from a place to those that it names in `near`."
                )


def _known(fields: Mapping[str, Any]) -> None:
    """Raises BadScenario for a key that no scenario has."""
    keys = [TABLES.get(name, name) for name in Scenario.__struct_fields__]
    strange = next((name for name in fields if name not in (*keys, "protocol")), None)
    if strange is not None:
        raise BadScenario(
            f"there is no key {printable_excerpt(strange[:60])!r}; keys are {', '.join(keys)}."
        )


def _tables(found: object, name: str) -> list[dict[str, Any]]:
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise BadScenario(f"write each {name} under a line of its own: [[{name}]].")
    for each in found:
        refuse_misplaced_keys(each, f"[[{name}]]", ABOVE)
    return found


def _robot(fields: dict[str, Any]) -> dict[str, Any]:
    """A robot's table with what it leaves out filled in, from the cast where it says `use`."""
    whole = dict(fields)
    name = whole.pop("use", None)
    if name is not None:
        if not isinstance(name, str) or name not in shipped_cast():
            known = ", ".join(shipped_cast())
            raise BadScenario(
                f"there is no {printable_excerpt(str(name)[:60])!r} in the cast: {known}."
            )
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
    return shipped_names("scenario")


class ListedScenario(Struct, frozen=True, kw_only=True):
    """A scenario that can be run, or why it cannot; `own`: it is the home's."""

    key: str
    own: bool
    scenario: Scenario | None = None
    problem: str = ""


def listed_scenarios(folder: Path | None) -> list[ListedScenario]:
    """The scenarios of this folder, a home's, then those that ship; a name stands there once."""
    own = sorted(path.stem for path in folder.glob("*.toml")) if folder else []
    found = []
    for key in dict.fromkeys([*own, *shipped_scenarios()]):
        try:
            scenario = open_scenario(key, folder)
            found.append(ListedScenario(key=key, own=key in own, scenario=scenario))
        except BadScenario as error:
            found.append(ListedScenario(key=key, own=key in own, problem=str(error)))
    return found


def open_scenario(name: str, folder: Path | None = None) -> Scenario:
    """A scenario by its path, by its name in `folder` (a home's), or by its shipped name.

    Raises BadScenario: no such scenario, or what is wrong in it.
    """
    return read_scenario(*find_toml_text("scenario", name, folder, BIGGEST))
