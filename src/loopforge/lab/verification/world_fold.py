"""The world as the rows of a run tell it: folded from them, one step at a time.

A row's word for what changed is taken, and held against what stood before; between steps, where
time passes by itself, the closing row's word is. So it can be said of each row whether it fits
those before it, without any policy, and without the physics: that the physics does the same once
more is shown by playing the run again (run_verify.py). Holds one world, however long the run.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from loopforge.core.factory_vocabulary import Began, Change, DayEnded, Decided, Stepped
from loopforge.lab.run.fork_change import apply_fork_changes
from loopforge.lab.run.robot_minds import MATE, PLAIN, Minds, Persona
from loopforge.lab.run.run_lifecycle import minds_of, policies_of
from loopforge.lab.world.city_state import AT_REST, Factory
from loopforge.lab.world.protocols import INDEX
from loopforge.lab.world.robot_perception import ShapedPerception, shape_perception
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.supervisor_message import set_supervisor_message
from loopforge.policies.robot_rules import stub


def stand_in_minds(first: Began) -> Minds:
    """Minds of the names that this run knows, who need decide nothing: its record did.

    In which version a policy of one's own was set by a fork is in the rows alone: it has none here.
    """
    names = policies_of(first)
    own = {name for name in names if name not in PLAIN and name not in ("llm", "chain")}
    mates = {name for name in own if name.startswith(MATE)}
    given = Minds(
        personas={name.removeprefix(MATE): Persona("") for name in sorted(mates)},
        own=dict.fromkeys(sorted(own - mates), stub),
        versions={name: f"{name}/" for name in own - mates},
    )
    return minds_of(first, given)


def has_repeatable_minds(first: Began) -> bool:
    """Whether all minds of this run can be asked again now, and must say the same."""
    now = {version for version, _ in PLAIN.values()}
    plain = policies_of(first) <= set(PLAIN) and set(first.policies.values()) <= now
    return plain and first.settings["reflects"] == "template"


class WorldFold:
    """What is known after some rows. `seen` is what each robot could see as the step opened.

    The glimpses are made as if perceptions were accurate, so that they tell what there was to be
    seen; `mode` says how they were in fact shaped. Raises BadScenario where the first row holds no
    scenario, BadRun where it is of another format.
    """

    def __init__(self, first: Began) -> None:
        self.first, self.minds = first, stand_in_minds(first)
        self.env = Factory(Scenario.from_dict(first.scenario), first.seed)
        self.versions = dict(first.policies)
        self.seen: dict[str, ShapedPerception] = {}
        self._spoken: Mapping[str, Any] = {}
        self.mode = self.env.scenario.perception
        self._plain()

    def _plain(self) -> None:
        """Have everything seen as it is."""
        self.env.scenario = replace(self.env.scenario, perception="accurate")
        self.env.ablated -= {"cue"}

    # ------------------------------------------------------------ a step

    def open(self, step: int) -> None:
        """Come to a step: the fork's changes, the faults, and what there is to be seen."""
        env, forked = self.env, self.first.forked
        if forked is not None and step == forked["at"]:
            self._fork(forked["set"])
        env.begin_step(step)
        self.seen = {name: shape_perception(robot, env, step) for name, robot in env.robots.items()}

    def _fork(self, what: Mapping[str, Any]) -> None:
        env, minds = self.env, self.minds
        before = {name: self._policy(name) for name in env.robots}
        apply_fork_changes(env, minds, what)
        if "perception" in what:
            self.mode = env.scenario.perception
        self._plain()
        for name in env.robots:
            if (now := self._policy(name)) != before[name]:
                self.versions[name] = minds.version(now)

    def _policy(self, who: str) -> str:
        return self.minds.name_for(who, supervisor=who == self.env.overseer)

    def close(self, row: Stepped) -> list[str]:
        """Take a closed step in; gives what does not add up."""
        env = self.env
        wrong = []
        for name, robot in env.robots.items():
            told = row.robots.get(name)
            if told != (robot.at, robot.battery):
                stood = f"at {robot.at} with battery {robot.battery}"
                wrong.append(f"{name} stands {stood} by its rows, and {told} by the closing one")
        if row.output != env.output:
            wrong.append(f"output is {env.output} by the rows, and {row.output} by the closing one")
        for name, place in env.places.items():
            values = row.places.get(name, ())
            if len(values) == len(place.vals):
                place.vals[:] = values
            else:
                wrong.append(f"how {name} stands is not told")
        air = env.said
        if (row.said, row.message, row.strength) != (air.text, air.message, air.strength):
            wrong.append("the Supervisor's words of this step are not those of its last row")
        if env.overseer:
            set_supervisor_message(self._spoken, env)
        return wrong

    def night(self, row: DayEnded) -> list[str]:
        """Take a closed day in; gives where its table is not what all entries add up to."""
        wrong = []
        for name, robot in self.env.robots.items():
            told = dict(row.robots.get(name, {}))
            robot.battery = max(robot.battery, told.pop("battery", 0))
            if told != (stands := robot.inner):
                what = next((k for k in {**stands, **told} if told.get(k) != stands.get(k)), "")
                wrong.append(
                    f"{name}'s {what} is {stands.get(what)} by the entries and "
                    f"{told.get(what)} by the day's table"
                )
        return wrong

    # ------------------------------------------------------------ a row

    def act(self, row: Decided) -> str:
        """Take in what a row says was changed; gives the first thing that stood otherwise."""
        wrong = ""
        for name, values in row.outcome.delta.items():
            for what, (before, after) in values.items():
                now = self._turn(name, what, after)
                if now != before and not wrong:
                    wrong = f"{what} of {name} stood at {now}, and the row says {before}"
        if row.who == self.env.overseer:
            self._spoken = row.plan
        robot = self.env.robots.get(row.who)
        to = row.plan.get("move_to")
        if robot is not None and to in self.env.places and row.verdict != "contained":
            robot.at = str(to)
        return wrong

    def _turn(self, name: str, what: str, after: int) -> int | None:
        """Set one value of the world, and give what it was; None where there is no such value."""
        env = self.env
        if name in env.places and what in INDEX:
            vals, at = env.places[name].vals, INDEX[what]
            before, vals[at] = vals[at], after
            return before
        if name in env.robots and what == "battery":
            robot = env.robots[name]
            before, robot.battery = robot.battery, after
            return before
        if (name, what) == ("city", "output"):
            before, env.output = env.output, after
            return before
        return None

    def feel(self, entries: Iterable[Change]) -> str:
        """Take entries of the trait ledger in; gives the first that does not follow."""
        wrong = ""
        for entry in entries:
            now = self._become(entry)
            fits = now == entry.before and 0 <= entry.after <= 1000 and entry.rule
            if not fits and not wrong:
                told = f"{entry.before} to {entry.after} by {entry.rule!r}"
                wrong = f"{entry.who}'s {entry.what} stood at {now}, and the entry says {told}"
        return wrong

    def _become(self, entry: Change) -> int | None:
        robot = self.env.robots.get(entry.who)
        part, _, what = entry.what.partition(".")
        if robot is None:
            return None
        if part == "bonds" and what.partition(":")[0] in AT_REST:
            before = robot.bonds.get(what, AT_REST[what.partition(":")[0]])
            robot.bonds[what] = entry.after
            return before
        if part in ("emotions", "traits", "scars"):
            table: dict[str, int] = getattr(robot, part)
            if what in table:
                before, table[what] = table[what], entry.after
                return before
        return None
