"""The cast of a run as pages show it: faces, moods, and one step of the city in plain values.

A mood is one word made of the bands that a robot was shown of its feelings; the strongest feeling
names it. Knows no request and no file.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from loopforge.core.factory_vocabulary import Decided
from loopforge.core.text.quantity_bands import BANDS
from loopforge.lab.inspect.run_reader import StepMoment
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.web.lab.city_map import CityMap

MOODS = {
    "fear": "afraid",
    "stress": "strained",
    "guilt": "guilty",
    "social_need": "lonely",
    "satisfaction": "content",
    "curiosity": "curious",
}
"""The mood that each feeling makes where it is high; of equally strong ones the first."""
CALM = "calm"
AT: dict[str, int] = {name: nth for nth, name in enumerate(BANDS)}
HIGH = AT["high"]
SLOT, ROW = 50, 56
"""Map units between robots that stand side by side, and between rows of them."""
ABREAST = 4


class RobotFigure(Struct, frozen=True, kw_only=True):
    """Somebody of the cast. `nth` is their place in the scenario's order."""

    nth: int
    name: str
    role: str
    overseer: bool


def cast_of(scenario: Scenario) -> tuple[RobotFigure, ...]:
    """Everybody, in the scenario's order."""
    return tuple(
        RobotFigure(
            nth=nth,
            name=robot.name,
            role=robot.role,
            overseer=robot.role == "supervisor",
        )
        for nth, robot in enumerate(scenario.robots)
    )


def mood_word(feels: Mapping[str, str]) -> str:
    """One word for how somebody feels, from bands."""
    best, found = HIGH - 1, CALM
    for name, word in MOODS.items():
        level = AT.get(feels.get(name, ""), 0)
        if level > best:
            best, found = level, word
    return found


def slots(count: int) -> list[tuple[int, int]]:
    """Where so many robots stand before a place, from its foot: rows of four."""
    found = []
    for nth in range(count):
        row = nth // ABREAST
        abreast = min(ABREAST, count - row * ABREAST)
        across = round((nth % ABREAST - (abreast - 1) / 2) * SLOT)
        found.append((across, 44 + row * ROW))
    return found


class CastStanding(Struct, frozen=True, kw_only=True):
    """Where somebody stands and how, at one moment."""

    place: int
    slot: tuple[int, int]
    battery: int
    mood: str
    deed: Decided | None


def cast_standings(
    moment: StepMoment, city: CityMap, cast: Sequence[RobotFigure]
) -> list[CastStanding]:
    """Everybody, in the cast's order, where they are after this step."""
    index = {spot.name: spot.nth for spot in city.spots}
    deeds = {deed.who: deed for deed in moment.deeds}
    where = [moment.row.robots.get(figure.name, (city.spots[0].name, 0)) for figure in cast]
    crowd: dict[str, list[int]] = {}
    for figure, (at, _) in zip(cast, where, strict=True):
        crowd.setdefault(at, []).append(figure.nth)
    found = []
    for figure, (at, battery) in zip(cast, where, strict=True):
        here, deed = crowd[at], deeds.get(figure.name)
        found.append(
            CastStanding(
                place=index.get(at, 0),
                slot=slots(len(here))[here.index(figure.nth)],
                battery=battery,
                mood=mood_word(deed.shown.emotions) if deed else CALM,
                deed=deed,
            )
        )
    return found


def step_as_json(moment: StepMoment, city: CityMap, cast: Sequence[RobotFigure]) -> dict[str, Any]:
    """A step as the page's script takes it: numbers by the orders of places and cast."""
    index = {spot.name: spot.nth for spot in city.spots}
    row = moment.row
    return {
        "n": row.step,
        "day": row.day,
        "tension": row.tension,
        "pressure": row.pressure,
        "output": row.output,
        "quota": row.quota,
        "places": [[row.places[spot.name][bar.nth] for bar in spot.bars] for spot in city.spots],
        "bots": [
            [one.place, *one.slot, one.battery, one.mood, *_mark(one.deed)]
            for one in cast_standings(moment, city, cast)
        ],
        "still": [index[name] for name in moment.still if name in index],
        "hurt": [
            [index[each.at], each.kind, each.severity] for each in row.incidents if each.at in index
        ],
        "message": heard_of(moment)[0],
        "strength": heard_of(moment)[1],
    }


def _mark(deed: Decided | None) -> list[str]:
    """[mode, what it came to, what was heard] of a deed, each one word."""
    if deed is None:
        return ["none", "", "silence"]
    return [deed.outcome.mode, deed.outcome.failing or "good", deed.voice.heard]


def heard_of(moment: StepMoment) -> tuple[str, int]:
    """What the Supervisor had meant when robots decided, and how strongly."""
    for deed in moment.deeds:
        return deed.voice.meant, deed.voice.meant_strength
    return "silence", 0


def hearings_by_message(
    moment: StepMoment, cast: Sequence[RobotFigure]
) -> list[tuple[str, list[tuple[RobotFigure, int]]]]:
    """Each thing that was heard, with who heard it and how strongly; as meant first."""
    meant = heard_of(moment)[0]
    found: dict[str, list[tuple[RobotFigure, int]]] = {}
    by_name = {figure.name: figure for figure in cast}
    for deed in moment.deeds:
        figure = by_name.get(deed.who)
        if figure and not figure.overseer:
            found.setdefault(deed.voice.heard, []).append((figure, deed.voice.heard_strength))
    return sorted(found.items(), key=lambda each: (each[0] != meant, -len(each[1])))
