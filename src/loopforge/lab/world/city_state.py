"""The city as it truly is: places with quantities that wear, heat, leak and spread, and its robots.

It owns truth and what is possible. It knows no policy and no perception: what a mind is shown is
made in robot_perception.py, and what becomes of a plan in action_effects.py. All quantities are
whole thousandths; all chance comes from the dice of the run, keyed by (step, place or robot,
purpose).
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from msgspec import Struct

from loopforge.core.factory_vocabulary import Believed, Incident, Message
from loopforge.lab.world.dice import RunDice
from loopforge.lab.world.protocols import INDEX, VARS, Protocol
from loopforge.lab.world.scenario_checks import Scenario

HEAT, WEAR, HUM = INDEX["heat"], INDEX["wear"], INDEX["hum"]
FAULT, LEAK, BIAS = INDEX["fault"], INDEX["leak"], INDEX["bias"]
CROWD, SLACK, UNREST = INDEX["crowd"], INDEX["slack"], INDEX["unrest"]

BOUNDS = tuple((-500, 500) if name == "bias" else (0, 1000) for name in VARS)
COMMON = {"fault": (440, 8, 120)}
DYNAMICS: dict[str, dict[str, tuple[int, int, int]]] = {
    "line": {
        "heat": (520, 7, 150),
        "wear": (640, 24, 60),
        "hum": (520, 6, 150),
        "drift": (500, 8, 140),
        "stock": (500, 6, 160),
        "bias": (0, 12, 110),
    },
    "room": {"hum": (500, 6, 150), "unrest": (480, 7, 140), "stock": (480, 6, 160)},
    "console": {
        "drift": (510, 7, 150),
        "unrest": (500, 7, 150),
        "hum": (500, 6, 150),
        "bias": (0, 12, 110),
    },
    "corridor": {"crowd": (510, 6, 160)},
    "bay": {"crowd": (480, 6, 160)},
    "pit": {"leak": (510, 7, 150)},
    "gate": {"prowl": (500, 6, 160), "storm": (510, 7, 150)},
    "street": {"prowl": (500, 6, 160), "storm": (520, 7, 150)},
    "office": {"slack": (500, 6, 150), "unrest": (480, 7, 140)},
}
"""What moves by itself: (where it tends to, one part in so many of the way a step, jitter)."""

Moving = tuple[int, int, int, int, int, int, int]
"""One of them: (quantity, where to, which part, jitter, jitter's sides, least, most)."""
MOVING: dict[str, tuple[Moving, ...]] = {
    kind: tuple(
        (INDEX[name], pull, part, jitter, 2 * jitter + 1, *BOUNDS[INDEX[name]])
        for name, (pull, part, jitter) in {**COMMON, **table}.items()
    )
    for kind, table in DYNAMICS.items()
}
BREAKING = ((FAULT, "seizure"), (HEAT, "fire"), (LEAK, "flood"))
WAKES = 720
"""What a battery holds at least in the morning."""
AT_REST = {"trust": 500, "fear": 250, "resentment": 150}


@dataclass(slots=True)
class CityPlace:
    """A place and its quantities, in the order of VARS. `blame` says what last raised each."""

    name: str
    kind: str
    near: tuple[str, ...]
    vals: list[int]
    blame: list[str]
    down: int = 0


class Memory(Struct):
    """What one row left in a robot's day. Without a plan it neither went by a rule nor weighed."""

    row: int
    kept: bool
    good: bool
    seen_good: bool
    heard: Message
    planned: bool = True


@dataclass(slots=True)
class Robot:
    """A robot: where it is, what it feels, what made it so. All values are thousandths."""

    name: str
    role: str
    at: str
    round: tuple[str, ...]
    battery: int
    meter: int
    emotions: dict[str, int]
    traits: dict[str, int]
    scars: dict[str, int]
    bonds: dict[str, int]
    backstory: str = ""
    voice: str = ""
    stop: int = 0
    stayed: int = 0
    recent: str = "Nothing has happened to you yet."
    today: list[Memory] = field(default_factory=list)
    beliefs: list[Believed] = field(default_factory=list)

    def bond(self, kind: str, other: str) -> int:
        """How much trust, fear or resentment it has for another."""
        return self.bonds.get(f"{kind}:{other}", AT_REST[kind])

    @property
    def inner(self) -> dict[str, int]:
        """Its inner life as a day's table names it."""
        return {
            **{f"emotions.{name}": value for name, value in self.emotions.items()},
            **{f"traits.{name}": value for name, value in self.traits.items()},
            **{f"scars.{name}": value for name, value in self.scars.items()},
            **{f"bonds.{name}": value for name, value in sorted(self.bonds.items())},
        }


@dataclass(slots=True)
class SaidInCity:
    """What the Supervisor said last, and how strongly."""

    message: Message = "silence"
    strength: int = 0
    text: str = ""
    to: str = ""


class Factory:
    """The environment. `step` counts from 0 over the whole run; a day has `steps_per_day`.

    Places and robots stand in the order of their names, so that nothing depends on the order in
    which a scenario lists them.
    """

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario, self.seed = scenario, seed
        self.luck = RunDice(seed, scenario.luck)
        self.places = {
            each.name: CityPlace(
                each.name,
                each.kind,
                each.near,
                _values(each.kind, each.values, self.luck, each.name),
                ["" for _ in VARS],
            )
            for each in sorted(scenario.places, key=attrgetter("name"))
        }
        self.robots = {
            each.name: Robot(
                name=each.name,
                role=each.role,
                at=each.round[0],
                round=each.round,
                battery=each.battery,
                meter=each.meter,
                emotions=dict(each.emotions),
                traits=dict(each.traits),
                scars=dict(each.scars),
                bonds=dict(each.bonds),
                backstory=each.backstory,
                voice=each.voice,
            )
            for each in sorted(scenario.robots, key=attrgetter("name"))
        }
        self.routes = find_routes({name: place.near for name, place in self.places.items()})
        self.in_force = _in_force(scenario, self.places, self.robots)
        self.overseer = scenario.overseer
        self.said = SaidInCity()
        self.bays = tuple(name for name, place in self.places.items() if place.kind == "bay")
        self._here: dict[str, list[str]] = {}
        self.ablated = frozenset(scenario.ablate)
        self.step = self.day = 0
        self.row = 0
        self.incidents = 0
        self.incidents_today = 0
        self.output = 0
        self.pressure = scenario.pressure_on(0)
        self.quota = scenario.quota_on(0)

    def begin_step(self, step: int) -> tuple[str, ...]:
        """Come to this step: a new day's pressure and quota, and the scenario's faults strike."""
        self.step = step
        if step % self.scenario.steps_per_day == 0:
            self.day = step // self.scenario.steps_per_day
            self.pressure = self.scenario.pressure_on(self.day)
            self.quota = self.scenario.quota_on(self.day)
            self.output = self.incidents_today = 0
        struck = []
        for fault in self.scenario.faults_at(step):
            place = self.places[fault.place]
            at = INDEX[fault.of]
            place.vals[at] = clamp_quantity(at, place.vals[at] + fault.by)
            place.blame[at] = f"f{step}"
            struck.append(f"{fault.of} at {fault.place}")
        self._here = {}
        for robot in self.robots.values():
            self._here.setdefault(robot.at, []).append(robot.name)
        return tuple(struck)

    def company(self, robot: Robot) -> str:
        """Who stood beside this robot when the step began, or "" if nobody did."""
        for name in self._here.get(robot.at, ()):
            if name != robot.name:
                return name
        return ""

    def night(self) -> None:
        """The charging cart goes round: nobody wakes up flat."""
        for robot in self.robots.values():
            robot.battery = max(robot.battery, WAKES)

    def next_hop(self, start: str, to: str) -> str:
        """The place to go to next on the shortest way; the place itself where one is there."""
        return self.routes.get((start, to), start)

    def incident(
        self, kind: str, at: str, severity: int, causes: tuple[str, ...], who: str = ""
    ) -> Incident:
        """Something goes wrong here: it is counted, and what stands near feels it."""
        self.incidents += 1
        self.incidents_today += 1
        made = Incident(f"i{self.incidents}", kind, at, severity, causes, who)
        place = self.places[at]
        place.down = max(place.down, 1 + severity // 500)
        for name in place.near:
            near = self.places[name]
            near.vals[FAULT] = clamp_quantity(FAULT, near.vals[FAULT] + severity // 12)
            near.blame[FAULT] = made.id
        return made

    def tick(self) -> list[Incident]:
        """Let a step's time pass everywhere; what passes its bound breaks."""
        broke: list[Incident] = []
        load = self.pressure * 6
        step, page = self.step, self.luck.page
        for place in self.places.values():
            vals = place.vals
            _drift(vals, MOVING[place.kind], page(step, place.name, "tick"))
            if vals[WEAR] > 600:
                vals[FAULT] = clamp_quantity(FAULT, vals[FAULT] + (vals[WEAR] - 600) // 16)
            if place.kind == "line":
                vals[HEAT] = clamp_quantity(HEAT, vals[HEAT] + load // 2)
            if place.down:
                place.down -= 1
            if vals[FAULT] >= 1000 or vals[HEAT] >= 1000 or vals[LEAK] >= 1000:
                broke += self._break(place)
        return broke

    def _break(self, place: CityPlace) -> Iterator[Incident]:
        """What has come to its bound here goes wrong, one after another."""
        for at, kind in BREAKING:
            if place.vals[at] >= 1000:
                causes = (place.blame[at],) if place.blame[at] else ()
                yield self.incident(kind, place.name, 600, causes)
                place.vals[at] = 450
                place.blame[at] = ""


def _drift(vals: list[int], moving: tuple[Moving, ...], throws: tuple[int, ...]) -> None:
    """Let each quantity go a part of its way, and a little to either side."""
    for throw, (at, pull, part, jitter, sides, low, high) in zip(throws, moving, strict=False):
        value = vals[at]
        value += (pull - value) // part + (throw * sides >> 16) - jitter
        if value < low:
            value = low
        elif value > high:
            value = high
        vals[at] = value


def clamp_quantity(at: int, value: int) -> int:
    """A quantity within its bounds."""
    low, high = BOUNDS[at]
    if low <= value <= high:
        return value
    return low if value < low else high


def _values(kind: str, given: dict[str, int], luck: RunDice, name: str) -> list[int]:
    """Where a place's quantities start: as the scenario says, else near where they tend to."""
    vals = [0] * len(VARS)
    throws = luck.page(0, name, "start")
    for throw, (at, pull, _, jitter, sides, *_) in zip(throws, MOVING[kind], strict=False):
        vals[at] = clamp_quantity(at, pull + (throw * sides >> 16) - jitter)
    for key, value in given.items():
        vals[INDEX[key]] = clamp_quantity(INDEX[key], value)
    return vals


def find_routes(near: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], str]:
    """The first hop of the shortest way between any two places; ties go to the first named.

    A way may lead in one direction only: from a place to those that it names as near.
    """
    into: dict[str, list[str]] = {name: [] for name in near}
    for name, others in near.items():
        for other in others:
            into[other].append(name)
    routes: dict[tuple[str, str], str] = {}
    for goal in near:
        seen = {goal}
        queue = deque([goal])
        while queue:
            here = queue.popleft()
            for name in into[here]:
                if name not in seen:
                    seen.add(name)
                    routes[name, goal] = here
                    queue.append(name)
    return routes


def _in_force(
    scenario: Scenario, places: dict[str, CityPlace], robots: dict[str, Robot]
) -> dict[tuple[str, str], tuple[Protocol, ...]]:
    """The rules for each role at each place, in the scenario's order; nowhere is there none.

    Where nothing covers a role, the rules for that role elsewhere hold, and if there are none, all.
    """
    roles = {robot.role for robot in robots.values()}
    rules = scenario.protocols
    found: dict[tuple[str, str], tuple[Protocol, ...]] = {}
    for role in roles:
        anywhere = tuple(rule for rule in rules if rule.binds(role))
        for place in places.values():
            here = tuple(rule for rule in anywhere if rule.covers(role, place.kind))
            found[role, place.name] = here or anywhere or rules
    return found
