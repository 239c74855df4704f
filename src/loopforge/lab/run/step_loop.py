"""The loop over steps: steps, days, and the row of everything.

    all are shown the same moment -> all decide -> the dice say in which order they act
    -> the world acts on each, its row is written -> time passes -> the step is closed

A run is taken up again, forked and verified by playing it again with the decisions that were
recorded: the world does the same, byte for byte, and goes on live where the record ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from loopforge.core.factory_vocabulary import (
    INTENTS,
    Began,
    DayEnded,
    Decided,
    Incident,
    Minded,
    Reflected,
    Row,
    RunLastRow,
    Stepped,
)
from loopforge.core.reflection import AgentReflection
from loopforge.errors import BadRun
from loopforge.lab.run.fork_change import apply_fork_changes
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_log import LogChain, LogSink
from loopforge.lab.world.action_effects import ActionEffect, apply_guarded_plan, lawful_options
from loopforge.lab.world.city_state import Factory, Robot
from loopforge.lab.world.daily_reflection import apply_reflection_to_traits, summarize_agent_day
from loopforge.lab.world.plan_guard import GuardedPlan, guard_plan
from loopforge.lab.world.robot_perception import MIDDLE, ShapedPerception, shape_perception
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.supervisor_message import set_supervisor_message

FORMAT = 1


@dataclass(slots=True)
class DecisionRecord:
    """What was decided before, by step and by day: instead of asking anybody again."""

    steps: dict[int, dict[str, Decided]] = field(default_factory=dict)
    days: dict[int, dict[str, Reflected]] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Row]) -> DecisionRecord:
        """The decisions and reflections in these rows; of closed steps and days alone."""
        record = cls()
        steps: dict[str, Decided] = {}
        days: dict[str, Reflected] = {}
        for row in rows:
            match row:
                case Decided():
                    steps[row.who] = row
                case Stepped():
                    record.steps[row.step], steps = steps, {}
                case Reflected():
                    days[row.who] = row
                case DayEnded():
                    record.days[row.day], days = days, {}
        return record


class Episode:
    """One run. `began` says all of it; `minds` decide; lines go to `sink`, a step at a time."""

    def __init__(
        self, began: Began, minds: Minds, sink: LogSink, record: DecisionRecord | None = None
    ) -> None:
        scenario = Scenario.from_dict(began.scenario)
        self.began, self.minds, self.sink = began, minds, sink
        self.env = Factory(scenario, began.seed)
        self.chain = LogChain()
        self.record = record or DecisionRecord()
        self._rows: list[Row] = []
        self._squares: defaultdict[str, int] = defaultdict(int)
        self._failings: defaultdict[str, int] = defaultdict(int)
        self._tensions: list[int] = []
        minds.characters = {
            robot.name: f"{robot.voice} {robot.backstory}".strip() for robot in scenario.robots
        }

    async def run(self) -> AsyncGenerator[Stepped | DayEnded | RunLastRow, None]:
        """Play to the end, giving each closing row once it is written."""
        self._queue_row(self.began)
        self._flush()
        scenario = self.env.scenario
        for step in range(scenario.days * scenario.steps_per_day):
            if self.began.forked and step == self.began.forked["at"]:
                apply_fork_changes(self.env, self.minds, self.began.forked["set"])
            yield await self.step(step)
            if (step + 1) % scenario.steps_per_day == 0:
                yield await self.end_day()
        ended = RunLastRow(
            self.env.row, self.env.day, self.env.step, "the days were over", self.env.row
        )
        self._queue_row(ended)
        self._flush()
        yield ended

    # ------------------------------------------------------------ a step

    async def step(self, step: int) -> Stepped:
        """One step of everybody."""
        env = self.env
        faults = env.begin_step(step)
        said = env.said
        robots = list(env.robots.values())
        glimpses = [shape_perception(robot, env, step) for robot in robots]
        decided = await self._decide(step, robots, glimpses)
        turns = [(seen.dice["order"], seen.shown.name) for seen in glimpses]
        order = sorted(range(len(robots)), key=turns.__getitem__)
        incidents: list[Incident] = []
        failed = 0
        spoken: Mapping[str, Any] = {}
        for nth in order:
            robot, seen = robots[nth], glimpses[nth]
            guarded, minded = decided[nth]
            at = robot.at
            acted = apply_guarded_plan(guarded, robot, env, seen)
            if acted.incident:
                incidents.append(acted.incident)
            if acted.outcome.failing:
                failed += 1
            if robot.name == env.overseer:
                spoken = guarded.plan
            self._note_decision(robot, at, seen, guarded, minded, acted)
        if env.overseer:
            set_supervisor_message(spoken, env)
        incidents += env.tick()
        tension = self._tension_now(robots, incidents, failed)
        self._tensions.append(tension)
        row = Stepped(
            n=env.row,
            day=env.day,
            step=step,
            rows=len(robots),
            order=tuple(robots[nth].name for nth in order),
            places={name: tuple(place.vals) for name, place in env.places.items()},
            robots={robot.name: (robot.at, robot.battery) for robot in robots},
            incidents=tuple(incidents),
            faults=faults,
            pressure=env.pressure,
            output=env.output,
            quota=env.quota,
            said=said.text,
            message=said.message,
            strength=said.strength,
            tension=tension,
        )
        self._queue_row(row)
        self._flush()
        return row

    async def _decide(
        self, step: int, robots: list[Robot], glimpses: list[ShapedPerception]
    ) -> list[tuple[GuardedPlan, Minded]]:
        recorded = self.record.steps.pop(step, None)
        if recorded is not None:
            return [_recorded_decision(recorded, robot, self.env) for robot in robots]
        shown = [seen.shown for seen in glimpses]
        plans = await self.minds.decide(shown, self.env.overseer)
        return [
            (guard_plan(plan, robot, self.env, seen), minded)
            for (plan, minded), robot, seen in zip(plans, robots, glimpses, strict=True)
        ]

    def _note_decision(
        self,
        robot: Robot,
        at: str,
        seen: ShapedPerception,
        guarded: GuardedPlan,
        minded: Minded,
        acted: ActionEffect,
    ) -> None:
        outcome = acted.outcome
        self._squares[outcome.square] += 1
        if outcome.failing:
            self._failings[outcome.failing] += 1
        self._queue_row(decided_row(robot, at, self.env, seen, guarded, minded, acted))

    def _tension_now(self, robots: list[Robot], incidents: list[Incident], failed: int) -> int:
        """0 to 1000: stress and fear of the floor, the dose, what broke, and who got it wrong."""
        inner = sum(robot.emotions["stress"] + robot.emotions["fear"] for robot in robots)
        floor = inner * 300 // (2000 * len(robots))
        wrong = failed * 200 // len(robots)
        return min(1000, floor + self.env.pressure * 20 + wrong + 100 * min(3, len(incidents)))

    # ------------------------------------------------------------ a day's end

    async def end_day(self) -> DayEnded:
        """Everybody looks back; what that leaves behind is applied; the day is closed."""
        env = self.env
        recorded = self.record.days.pop(env.day, {})
        env.night()
        for robot in env.robots.values():
            await self._reflect(robot, recorded.get(robot.name))
        row = DayEnded(
            n=env.row,
            day=env.day,
            step=env.step,
            output=env.output,
            quota=env.quota,
            incidents=env.incidents_today,
            tension=sum(self._tensions) // max(1, len(self._tensions)),
            squares=dict(sorted(self._squares.items())),
            failings=dict(sorted(self._failings.items())),
            robots={
                robot.name: {"battery": robot.battery, **robot.inner}
                for robot in env.robots.values()
            },
        )
        self._tensions.clear()
        self._squares.clear()
        self._failings.clear()
        self._queue_row(row)
        self._flush()
        return row

    async def _reflect(self, robot: Robot, before: Reflected | None) -> None:
        env = self.env
        summary = summarize_agent_day(robot, env)
        if before is not None:
            reflection = AgentReflection.from_dict(before.reflection)
            minded = before.minded
        else:
            reflection, minded = await self.minds.reflect(summary)
        inner = apply_reflection_to_traits(robot, reflection, env)
        row = Reflected(
            n=env.row,
            day=env.day,
            step=env.step,
            who=robot.name,
            role=robot.role,
            summary=summary.to_dict(),
            minded=minded,
            reflection=reflection.to_dict(),
            of=tuple(robot.beliefs),
            inner=inner,
            misjudged=sum(each.good != each.truly for each in robot.beliefs),
        )
        robot.today, robot.beliefs = [], []
        self._queue_row(row)

    # ------------------------------------------------------------ writing

    def _queue_row(self, row: Row) -> None:
        self._rows.append(row)
        self.env.row += 1

    def _flush(self) -> None:
        self.sink.write(b"".join([self.chain.line(row) for row in self._rows]))
        self._rows.clear()


def decided_row(
    robot: Robot,
    at: str,
    env: Factory,
    seen: ShapedPerception,
    guarded: GuardedPlan,
    minded: Minded,
    acted: ActionEffect,
) -> Decided:
    """The complete row of what a robot did, which stood `at` that place before."""
    return Decided(
        n=env.row,
        day=env.day,
        step=env.step,
        who=robot.name,
        role=robot.role,
        at=at,
        truth=seen.truth,
        shown=seen.shown,
        edits=seen.edits,
        options=lawful_options(env, at, seen.shown.context),
        minded=minded,
        plan=guarded.plan,
        verdict=guarded.verdict,
        notes=guarded.notes,
        outcome=acted.outcome,
        inner=acted.inner,
        voice=seen.voice,
        dice=seen.dice,
    )


def _recorded_decision(
    rows: Mapping[str, Decided], robot: Robot, env: Factory
) -> tuple[GuardedPlan, Minded]:
    """A decision as its row tells it. Raises BadRun for what this world cannot have written."""
    row = rows.get(robot.name)
    if row is None:
        raise BadRun(f"The record lacks what {robot.name} decided; it is not of this run.")
    plan = dict(row.plan)
    told = {} if row.verdict == "contained" else plan
    move_to, targets = told.get("move_to", ""), told.get("targets", ())
    known = (
        row.outcome.did in INTENTS
        and row.outcome.belief in MIDDLE
        and (move_to == "" or move_to in env.places[robot.at].near)
        and isinstance(targets, list | tuple)
        and all(name in tuple(env.robots) for name in targets)
    )
    if not known:
        raise BadRun(f"Row {row.n} is no decision that {robot.name} could have made here.")
    if "targets" in plan:
        plan["targets"] = tuple(plan["targets"])
    guarded = GuardedPlan(
        intent=row.outcome.did,
        mode=row.outcome.mode,
        move_to=move_to,
        targets=tuple(targets),
        belief=row.outcome.belief,
        verdict=row.verdict,
        notes=row.notes,
        plan=plan,
    )
    return guarded, row.minded


def make_first_row(scenario: Scenario, seed: int, minds: Minds) -> Began:
    """The first row of a run of this scenario by these minds."""
    from loopforge import __version__

    names = {
        robot.name: minds.name_for(robot.name, supervisor=robot.role == "supervisor")
        for robot in scenario.robots
    }
    return Began(
        n=0,
        format=FORMAT,
        scenario=scenario.to_dict(),
        digest=scenario.digest,
        seed=seed,
        settings={
            "policy": minds.policy,
            "supervisor": minds.supervisor,
            "named": dict(minds.named),
            "reflects": minds.reflects,
            "route": msgspec.to_builtins(minds.route),
        },
        policies={who: minds.version(name) for who, name in names.items()},
        versions={"loopforge": __version__, "format": str(FORMAT)},
    )
