"""One thing made different in a running world: what `lab fork --set KEY=VALUE` may name.

pressure=9                        the dose, from here on
supervisor=punitive               the Supervisor's style
perception=spin                   how perceptions are shaped
policy=context                    every robot's policy
policy.Sprocket=guardrail         one robot's
robot.Sprocket.traits.guardrail_reliance=900
robot.Sprocket.battery=40
place.press hall.heat=950
luck.Sprocket=5                   other dice for one robot, or one place
ablate=emotions                   a part of the inner life stands still from here on
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from loopforge.core.factory_vocabulary import PERCEPTION_MODES, STYLES
from loopforge.errors import BadScenario, InputError
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.world.city_state import BOUNDS, Factory, clamp_quantity
from loopforge.lab.world.dice import RunDice
from loopforge.lab.world.protocols import INDEX
from loopforge.lab.world.scenario_checks import ABLATIONS, Scenario

KNOWN = """pressure, supervisor, perception, ablate, policy[.NAME], robot.NAME..., place.NAME...,
luck.NAME""".replace("\n", " ")


def parse_key_values(lines: Iterable[str], told: str) -> dict[str, str]:
    """KEY=VALUE lines as a table; `told` takes them. Raises InputError."""
    table = {}
    for each in lines:
        key, sign, value = each.partition("=")
        if not sign or not key.strip() or not value.strip():
            raise InputError(f"{told} takes KEY=VALUE, not {each.strip()[:60]!r}.")
        if key.strip() in table:
            raise InputError(f"{told} has {key.strip()[:60]!r} twice; give it once.")
        table[key.strip()] = value.strip()
    return table


def apply_fork_changes(env: Factory, minds: Minds, what: Mapping[str, Any]) -> None:
    """Make these things different, all or none. Raises BadScenario, naming what cannot be."""
    for key, value in what.items():
        _one(env, minds, key, str(value))


def check_changes(scenario: Scenario, seed: int, minds: Minds, what: Mapping[str, Any]) -> None:
    """Raises BadScenario if these things could not be made different in this scenario.

    Older runs may name more of a quantity than there can be; they are played as they were.
    """
    apply_fork_changes(Factory(scenario, seed), minds, what)
    for key, value in what.items():
        if key.startswith("place."):
            _number(key, str(value), *BOUNDS[INDEX[key.rpartition(".")[2]]])


def _one(env: Factory, minds: Minds, key: str, value: str) -> None:
    head, _, rest = key.partition(".")
    match head:
        case "pressure":
            dose = _number(key, value, 0, 10)
            env.scenario = replace(env.scenario, pressure=(dose,))
            env.pressure = dose
        case "supervisor" if value in STYLES:
            env.scenario = replace(env.scenario, supervisor=value)
        case "perception" if value in PERCEPTION_MODES:
            env.scenario = replace(env.scenario, perception=value)
        case "ablate" if value in ABLATIONS:
            env.ablated |= {value}
        case "policy":
            minds.version(value)
            if not rest:
                minds.policy = value
            elif rest in env.robots:
                minds.named = {**minds.named, rest: value}
            else:
                raise _nobody(key, rest, env.robots)
        case "luck":
            if rest not in env.robots and rest not in env.places:
                raise _nobody(key, rest, (*env.robots, *env.places))
            luck = {**env.scenario.luck, rest: _number(key, value, -(1 << 62), 1 << 62)}
            env.scenario = replace(env.scenario, luck=luck)
            env.luck = RunDice(env.seed, luck)
        case "robot":
            _robot(env, key, rest, value)
        case "place":
            name, _, of = rest.rpartition(".")
            if name not in env.places or of not in INDEX:
                raise BadScenario(f"{key!r}: write place.NAME.QUANTITY, of {', '.join(INDEX)}.")
            at = INDEX[of]
            env.places[name].vals[at] = clamp_quantity(at, _number(key, value, -500, 1000))
        case "supervisor" | "perception" | "ablate":
            known = {"supervisor": STYLES, "perception": PERCEPTION_MODES, "ablate": ABLATIONS}
            raise BadScenario(f"{key} cannot be {value!r}; it is one of {', '.join(known[head])}.")
        case _:
            raise BadScenario(f"{key!r} cannot be set; what can is {KNOWN}.")


def _robot(env: Factory, key: str, rest: str, value: str) -> None:
    name, _, what = rest.partition(".")
    robot = env.robots.get(name)
    if robot is None:
        raise _nobody(key, name, env.robots)
    if what == "battery":
        robot.battery = _number(key, value, 0, 1000)
        return
    if what == "at":
        if value not in env.places:
            raise _nobody(key, value, env.places)
        robot.at = value
        return
    part, _, of = what.partition(".")
    if part not in ("emotions", "traits", "scars"):
        raise BadScenario(
            f"{key!r}: write robot.NAME.traits.TRAIT, .emotions., .scars., .battery or .at."
        )
    table: dict[str, int] = getattr(robot, part)
    if of not in table:
        raise BadScenario(f"{key!r}: {part} are {', '.join(table)}.")
    table[of] = _number(key, value, 0, 1000)


def _nobody(key: str, name: str, known: Iterable[str]) -> BadScenario:
    return BadScenario(f"{key!r}: there is no {name!r}; there are {', '.join(known)}.")


def _number(key: str, value: str, least: int, most: int) -> int:
    try:
        number = int(value)
    except ValueError:
        raise BadScenario(f"{key[:80]} needs a whole number, not {value[:40]!r}.") from None
    if not least <= number <= most:
        raise BadScenario(f"{key} lies between {least} and {most}, not {number}.")
    return number
