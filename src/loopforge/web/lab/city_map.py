"""The map of a city: where its places are drawn, and what stands there.

Places are laid out from the graph alone, by stress majorization (Gansner, Koren and North 2004):
the same city always looks the same, and what is near in walking is near on paper. Each place is a
building of its kind, and the columns of light in it are its quantities. Two layouts are made, one
for wide windows and one for phones; where a box is too full for places to give way to each other,
they stand in rows.

Knows no run: what a moment puts into these buildings is said in lab_pages.py and drawn by the
template.
"""

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import ceil
from typing import Any

from msgspec import Struct

from loopforge.lab.world.city_state import MOVING
from loopforge.lab.world.protocols import VARS
from loopforge.lab.world.scenario_checks import Scenario

Point = tuple[float, float]
Near = tuple[tuple[str, tuple[str, ...]], ...]
ROUNDS = 300
"""Rounds of majorization; a city of a hundred places has settled long before."""
CELL = (200.0, 178.0)
"""The room that a place takes with its name and two or three robots before it, in map units."""
WIDE, TALL = (1000.0, 660.0), (470.0, 1010.0)
APART = 0.5
"""Any two places lie at least this part of a cell from each other, across or down."""
STEP, BAR = 12, 8
"""From one column of light to the next, and how broad each is."""
HIGH = {"office": 64, "console": 52, "line": 50, "room": 46, "gate": 50, "street": 46}
LOW = 36
CRY = 58
"""From the top of a building to that of the words over it, which name what has just happened."""


class MapBar(Struct, frozen=True):
    """A column of light: which quantity, where in the building, how high when full."""

    name: str
    nth: int
    x: int
    full: int


class CitySpot(Struct, frozen=True, kw_only=True):
    """A place on the map: its foot in both layouts, its building, and its columns of light."""

    nth: int
    name: str
    kind: str
    wide: tuple[int, int]
    tall: tuple[int, int]
    width: int
    height: int
    bars: tuple[MapBar, ...]


class CityMap(Struct, frozen=True, kw_only=True):
    """A city as drawn. `ways` are pairs of places; `scale` is 1 unless there are very many."""

    spots: tuple[CitySpot, ...]
    ways: tuple[tuple[int, int], ...]
    scale: float
    wide: tuple[int, int]
    tall: tuple[int, int]


@lru_cache(maxsize=64)
def city_of(near: Near, kinds: tuple[str, ...]) -> CityMap:
    """The map of a graph, given as (place, its neighbours) in order, and their kinds."""
    names = [name for name, _ in near]
    index = {name: nth for nth, name in enumerate(names)}
    ways = tuple(
        sorted(
            {
                (min(nth, index[other]), max(nth, index[other]))
                for nth, (_, others) in enumerate(near)
                for other in others
            }
        )
    )
    points = _majorized(_distances(len(names), ways))
    scale = min(1.0, (9.0 / max(9, len(names))) ** 0.5 * 1.06)
    cell = (CELL[0] * scale, CELL[1] * scale)
    buildings = [_building(kind) for kind in kinds]
    highs = [(height + CRY) * scale for _, height, _ in buildings]
    wide, above = _below(_fitted(points, WIDE, cell), highs)
    tall, over = _below(_fitted([(y, x) for x, y in points], TALL, cell), highs)
    spots = []
    for nth, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        width, height, bars = buildings[nth]
        spots.append(
            CitySpot(
                nth=nth,
                name=name,
                kind=kind,
                wide=wide[nth],
                tall=tall[nth],
                width=width,
                height=height,
                bars=bars,
            )
        )
    return CityMap(
        spots=tuple(spots),
        ways=ways,
        scale=round(scale, 3),
        wide=(round(WIDE[0]), round(WIDE[1]) + above),
        tall=(round(TALL[0]), round(TALL[1]) + over),
    )


def build_city_map(scenario: Scenario) -> CityMap:
    """The map of a scenario's city."""
    near = tuple((place.name, place.near) for place in scenario.places)
    return city_of(near, tuple(place.kind for place in scenario.places))


def _building(kind: str) -> tuple[int, int, tuple[MapBar, ...]]:
    """How broad and high a building of this kind is, and its columns of light."""
    moving = [at for at, *_ in MOVING[kind]]
    width = max(44, len(moving) * STEP + 12)
    height = HIGH.get(kind, LOW)
    left = -(len(moving) * STEP - (STEP - BAR)) // 2
    bars = tuple(
        MapBar(VARS[at], at, left + nth * STEP, height - 10) for nth, at in enumerate(moving)
    )
    return width, height, bars


# ---------------------------------------------------------------- where places lie


def _distances(count: int, ways: Sequence[tuple[int, int]]) -> list[list[float]]:
    """How many corridors lie between any two places; more than between any where none lead."""
    near: list[list[int]] = [[] for _ in range(count)]
    for a, b in ways:
        near[a].append(b)
        near[b].append(a)
    found = []
    for start in range(count):
        far = {start: 0}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for there in near[here]:
                if there not in far:
                    far[there] = far[here] + 1
                    queue.append(there)
        found.append([float(far.get(other, -1)) for other in range(count)])
    most = max((max(row) for row in found), default=0.0) + 1.5
    return [[most if each < 0 else each for each in row] for row in found]


def _majorized(far: list[list[float]]) -> list[Point]:
    """Points whose distances are as near to these as a plane allows, the broad way lying flat."""
    import numpy as np

    count = len(far)
    if count == 1:
        return [(0.0, 0.0)]
    wanted: Any = np.array(far)
    centre = np.eye(count) - np.ones((count, count)) / count
    values, vectors = np.linalg.eigh(-centre @ (wanted**2) @ centre / 2)
    points = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    points = points + np.array([[0.001 * np.cos(n), 0.001 * np.sin(2.4 * n)] for n in range(count)])
    weight = np.divide(1.0, wanted**2, out=np.zeros_like(wanted), where=wanted > 0)
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    for _ in range(ROUNDS):
        between = points[:, None, :] - points[None, :, :]
        now = np.maximum(np.sqrt((between**2).sum(axis=2)), 1e-9)
        part = weight * wanted / now
        points = inverse @ ((np.diag(part.sum(axis=1)) - part) @ points)
    points = points - points.mean(axis=0)
    _, _, turned = np.linalg.svd(points, full_matrices=False)
    points = points @ turned.T
    for axis in (0, 1):  # the first place always lies to the upper left
        if points[0, axis] > 0:
            points[:, axis] *= -1
    return [(float(x), float(y)) for x, y in points]


def _fitted(points: Sequence[Point], box: Point, cell: Point) -> list[tuple[int, int]]:
    """The points spread over a box, each with the room of a cell about it."""
    margin = (cell[0] / 2, cell[1] / 2)
    low = [min(each[axis] for each in points) for axis in (0, 1)]
    high = [max(each[axis] for each in points) for axis in (0, 1)]
    placed = [
        [
            margin[axis]
            + (box[axis] - 2 * margin[axis])
            * (
                (each[axis] - low[axis]) / (high[axis] - low[axis])
                if high[axis] > low[axis]
                else 0.5
            )
            for axis in (0, 1)
        ]
        for each in points
    ]
    for nth in range(ROUNDS):
        more = max(1.0, 1.45 - nth / ROUNDS)  # a wide berth at first, so that the box is used
        berth = (cell[0] * more, cell[1] * more)
        if not _pushed_apart(placed, box, berth, margin) and more == 1.0:
            break
    if any(_apart(one, other, cell) < APART for one, other in combinations(placed, 2)):
        placed = _seated(placed, box, cell)
    return [(round(x), round(y)) for x, y in placed]


def _below(
    feet: Sequence[tuple[int, int]], highs: Sequence[float]
) -> tuple[list[tuple[int, int]], int]:
    """The places so far down that all that stands above each is on the map, and how far that is."""
    down = max(0, *(ceil(high - y) for (_, y), high in zip(feet, highs, strict=True)))
    return [(x, y + down) for x, y in feet], down


def _apart(one: Sequence[float], other: Sequence[float], cell: Point) -> float:
    """How far two places lie from each other, in cells, the way in which it is further."""
    return max(abs(one[axis] - other[axis]) / cell[axis] for axis in (0, 1))


def _seated(placed: list[list[float]], box: Point, cell: Point) -> list[list[float]]:
    """The places in rows, each where it lies among the others: below whom, and right of whom."""

    def steps(columns: int) -> list[float]:
        counts = (columns, -(-len(placed) // columns))
        return [(box[axis] - cell[axis]) / max(1, counts[axis] - 1) for axis in (0, 1)]

    def room(columns: int) -> float:
        return min(step / side for step, side in zip(steps(columns), cell, strict=True))

    columns = max(range(1, len(placed) + 1), key=room)
    step = steps(columns)
    down = sorted(range(len(placed)), key=lambda nth: placed[nth][1])
    seats = [[0.0, 0.0] for _ in placed]
    for row, first in enumerate(range(0, len(down), columns)):
        across = sorted(down[first : first + columns], key=lambda nth: placed[nth][0])
        for column, nth in enumerate(across):
            seats[nth] = [cell[0] / 2 + column * step[0], cell[1] / 2 + row * step[1]]
    return seats


def _pushed_apart(placed: list[list[float]], box: Point, cell: Point, margin: Point) -> bool:
    """Move cells that overlap a little apart; whether any did."""
    moved = False
    for nth, one in enumerate(placed):
        for other in placed[nth + 1 :]:
            over = [cell[axis] - abs(one[axis] - other[axis]) for axis in (0, 1)]
            if min(over) <= 0.5:
                continue
            moved = True
            axis = 0 if over[0] / cell[0] <= over[1] / cell[1] else 1
            push = min(over[axis] / 2, 6.0) * (1 if one[axis] >= other[axis] else -1)
            one[axis] += push
            other[axis] -= push
    for each in placed:
        for axis in (0, 1):
            each[axis] = min(max(each[axis], margin[axis]), box[axis] - margin[axis])
    return moved
