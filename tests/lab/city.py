"""A small city for tests, runs of it kept in memory, and the laws that every run keeps.

`laws(lines)` holds the bytes against what must hold whatever minds and scenarios do: bounds and
causes that are looked up here, and the twelve questions. It gives a sentence for each law broken.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from loopforge.core.factory_vocabulary import INTENTS, Began, Decided, Row, RunLastRow, Stepped
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_log import START, LogChain, body_of, row_of
from loopforge.lab.run.step_loop import DecisionRecord, Episode, make_first_row
from loopforge.lab.verification.decision_rubric import RubricJudge
from loopforge.lab.verification.world_fold import WorldFold
from loopforge.lab.world.city_state import BOUNDS
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import read_scenario

PLACES = (
    ("mill", "line", ["lane", "panel"]),
    ("panel", "console", ["mill", "desk"]),
    ("lane", "corridor", ["mill", "dock", "yard"]),
    ("dock", "bay", ["lane"]),
    ("yard", "gate", ["lane"]),
    ("desk", "office", ["panel"]),
)
ROBOTS = (
    ("Ada", "maintenance", ["mill", "dock"]),
    ("Bo", "maintenance", ["mill", "lane", "yard"]),
    ("Cy", "guard", ["yard", "lane", "dock"]),
    ("Overseer Dee", "supervisor", ["desk"]),
)


def city(**changed: Any) -> dict[str, Any]:
    """The tables of a small scenario, as its file would hold them, with changes on top."""
    return {
        "name": "small",
        "question": "Does it hold?",
        "seed": 11,
        "days": 1,
        "steps_per_day": 4,
        "pressure": [4],
        "quota": [10],
        "place": [{"name": n, "kind": k, "near": list(near)} for n, k, near in PLACES],
        "robot": [{"name": n, "role": r, "round": list(stops)} for n, r, stops in ROBOTS],
        **changed,
    }


def toml(fields: Mapping[str, Any]) -> str:
    """These tables as a file: one key a line, each robot and place on a line of its own."""
    return "".join(f"{_key(key)} = {_value(value, top=True)}\n" for key, value in fields.items())


def _key(key: str) -> str:
    return key if key.replace("_", "").isalnum() and key.isascii() else json.dumps(key)


def _value(value: object, *, top: bool = False) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value)
        case dict():
            inside = ", ".join(f"{_key(str(key))} = {_value(each)}" for key, each in value.items())
            return "{ " + inside + " }"
        case list() | tuple():
            between = ",\n" if top or len(value) > 20 else ", "
            return "[" + between.join(map(_value, value)) + "]"
        case _:
            return str(value)


def read(**changed: Any) -> Scenario:
    """The small scenario through its file's own surface."""
    return read_scenario(toml(city(**changed)), "small.toml")


class Kept:
    """A sink that keeps its lines."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def write(self, lines: bytes) -> None:
        """Keep each line."""
        self.lines += lines.splitlines(keepends=True)


def play(
    scenario: Scenario,
    minds: Minds | None = None,
    record: DecisionRecord | None = None,
    chain: LogChain | None = None,
) -> list[bytes]:
    """Play a scenario to its end; the lines of its log, or what `chain` makes of the rows."""
    minds = minds or Minds()
    kept = Kept()
    episode = Episode(make_first_row(scenario, scenario.seed, minds), minds, kept, record)
    episode.chain = chain or episode.chain

    async def to_the_end() -> None:
        async for _ in episode.run():
            pass

    asyncio.run(to_the_end())
    return kept.lines


def rows(lines: Iterable[bytes]) -> list[Row]:
    """The rows of these lines."""
    return [row_of(line) for line in lines]


def acts(lines: Iterable[bytes]) -> list[Decided]:
    """The decisions among these lines."""
    return [row for row in rows(lines) if isinstance(row, Decided)]


def floor(lines: Iterable[bytes]) -> list[Decided]:
    """The decisions of those who are not the Supervisor."""
    return [row for row in acts(lines) if row.role != "supervisor"]


# ------------------------------------------------------------ the laws of every run


def laws(lines: list[bytes]) -> list[str]:
    """Each law of the city that this run breaks, in a sentence; none where it is lawful."""
    found = list(_chained(lines))
    if found:
        return found
    told = rows(lines)
    first = told[0]
    if not isinstance(first, Began):
        return ["the first row does not say what the run is"]
    scenario = Scenario.from_dict(first.scenario)
    return [*_whole(told, scenario), *_bounded(told, scenario), *_caused(told), *_judged(told)]


def _chained(lines: list[bytes]) -> Iterator[str]:
    head = START
    for number, line in enumerate(lines):
        body, stated = body_of(line)
        head = sha256(head + body).digest()
        if head.hex() != stated:
            yield f"line {number} breaks the chain"
        if msgspec.json.encode(row_of(line)) != body:
            yield f"line {number} is read as something else than what was written"


def _whole(told: list[Row], scenario: Scenario) -> Iterator[str]:
    if [row.n for row in told] != list(range(len(told))):
        yield "rows are not numbered one by one"
    if not isinstance(told[-1], RunLastRow):
        yield "the last row is no end"
    steps = [row for row in told if isinstance(row, Stepped)]
    if [row.step for row in steps] != list(range(scenario.days * scenario.steps_per_day)):
        yield f"the steps are {[row.step for row in steps]}"
    everybody = sorted(robot.name for robot in scenario.robots)
    yield from (
        f"in step {row.step} {row.order} acted" for row in steps if sorted(row.order) != everybody
    )


def _judged(told: list[Row]) -> Iterator[str]:
    """What the twelve questions find: each row against those before it."""
    assert isinstance(told[0], Began)
    judge = RubricJudge(WorldFold(told[0]))
    for row in told[1:]:
        judge.see(row, whole=True)
    yield from judge.findings
    for score in judge.scores.values():
        yield from (f"row {each.row}, {score.asks}: {each.why}" for each in score.missing)


def _bounded(told: list[Row], scenario: Scenario) -> Iterator[str]:
    places = {place.name: place for place in scenario.places}
    output, day = 0, 0
    for row in told:
        if isinstance(row, Decided):
            if row.at not in places or row.outcome.did not in INTENTS:
                yield f"row {row.n}: {row.who} did {row.outcome.did} at {row.at}"
            gone = row.plan.get("move_to")
            if gone and gone not in places[row.at].near:
                yield f"row {row.n}: {row.who} went from {row.at} to {gone}"
            for of, what in row.outcome.delta.items():
                pairs = [value for pair in what.values() for value in pair]
                if of != "city" and not all(-500 <= value <= 1000 for value in pairs):
                    yield f"row {row.n} leaves the bounds: {what}"
        elif isinstance(row, Stepped):
            for name, values in row.places.items():
                if any(not low <= v <= high for v, (low, high) in zip(values, BOUNDS, strict=True)):
                    yield f"step {row.step}: {name} has {values}"
            for name, (at, battery) in row.robots.items():
                if at not in places or not 0 <= battery <= 1000:
                    yield f"step {row.step}: {name} is at {at} with {battery}"
            if row.day == day and row.output < output:
                yield f"step {row.step}: output fell from {output} to {row.output}"
            output, day = row.output, row.day


def _caused(told: list[Row]) -> Iterator[str]:
    known = {""}
    for row in told:
        if isinstance(row, Decided):
            known.add(f"r{row.n}")
        if isinstance(row, Stepped):
            known |= {each.id for each in row.incidents}
            known |= {f"f{row.step}"} if row.faults else set()
            for each in row.incidents:
                if each.causes and not set(each.causes) <= known:
                    yield f"{each.id} has the causes {each.causes}"
                if not each.causes and each.who:
                    yield f"{each.id} came of {each.who}, and no cause is said"
