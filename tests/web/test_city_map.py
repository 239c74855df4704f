"""The map of a city: the same for the same city, readable, and near on paper what is near on foot."""

from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loopforge.core.text.quantity_bands import BANDS
from loopforge.lab.world.city_state import MOVING
from loopforge.lab.world.protocols import KINDS
from loopforge.lab.world.scenario_file import open_scenario, shipped_scenarios
from loopforge.web.lab.city_map import CELL, CityMap, build_city_map, city_of
from loopforge.web.lab.robot_cast import CALM, MOODS, mood_word, slots
from tests.examples import few
from tests.web.conftest import Town, words
from tests.web.labs import until


@st.composite
def graphs(draw: st.DrawFn) -> CityMap:
    """The map of any city, of one place or many, in one piece or several."""
    count = draw(st.integers(1, 30))
    places = st.integers(0, count - 1)
    ways = draw(st.lists(st.tuples(places, places).filter(lambda w: w[0] != w[1]), max_size=60))
    near = tuple(
        (f"place {n}", tuple(dict.fromkeys(f"place {b}" for a, b in ways if a == n)))
        for n in range(count)
    )
    kinds = tuple(draw(st.sampled_from(KINDS)) for _ in range(count))
    return city_of(near, kinds)


def alone(count: int) -> CityMap:
    """The map of so many places with no corridor at all."""
    return city_of(tuple((f"place {n}", ()) for n in range(count)), (KINDS[0],) * count)


def apart(one: tuple[int, int], other: tuple[int, int], scale: float) -> float:
    """How many cells lie between two places, the way in which it is more."""
    return max(abs(a - b) / (side * scale) for a, b, side in zip(one, other, CELL, strict=True))


@given(graphs())
@example(alone(15))
@settings(max_examples=few(9))
def test_any_city_fits_its_map(drawn: CityMap) -> None:
    """Every place lies within both layouts with room about it, and no two lie on each other."""
    for layout in ("wide", "tall"):
        width, height = getattr(drawn, layout)
        points = [getattr(spot, layout) for spot in drawn.spots]
        assert all(0 < x < width and 0 < y < height for x, y in points)
        for pair in combinations(points, 2):
            assert apart(*pair, drawn.scale) > 0.45, pair  # half a cell, and what rounding takes
    for spot in drawn.spots:
        assert len(spot.bars) == len(MOVING[spot.kind])
        assert all(-spot.width / 2 <= bar.x <= spot.width / 2 for bar in spot.bars)


@pytest.mark.parametrize("name", shipped_scenarios())
def test_shipped_cities_are_readable(name: str) -> None:
    """On a wide window no place of a shipped city stands in another's room."""
    drawn = build_city_map(open_scenario(name))
    for one, other in combinations(drawn.spots, 2):
        assert apart(one.wide, other.wide, drawn.scale) > 0.7, (one.name, other.name)


@pytest.mark.parametrize("name", shipped_scenarios())
def test_what_happens_at_the_top_is_on_the_map(name: str) -> None:
    """A building and the words above it, which begin 42 units over its roof, are not cut off."""
    drawn = build_city_map(open_scenario(name))
    for spot in drawn.spots:
        above = (spot.height + 42 + 14) * drawn.scale
        assert min(spot.wide[1], spot.tall[1]) >= above, spot.name


@pytest.mark.parametrize("name", shipped_scenarios())
def test_near_on_foot_is_near_on_paper(name: str) -> None:
    """Places with a corridor between them lie nearer to each other than others do, on average."""
    drawn = build_city_map(open_scenario(name))
    near: list[float] = []
    far: list[float] = []
    for one, other in combinations(drawn.spots, 2):
        length = ((one.wide[0] - other.wide[0]) ** 2 + (one.wide[1] - other.wide[1]) ** 2) ** 0.5
        (near if (one.nth, other.nth) in drawn.ways else far).append(length)
    assert sum(near) / len(near) < 0.8 * sum(far) / len(far)


def test_the_same_city_always_looks_the_same() -> None:
    """Two scenarios with the same graph share one map, whatever else is different in them."""
    assert build_city_map(open_scenario("first_shift")) == build_city_map(
        open_scenario("lying_lamps")
    )
    city_of.cache_clear()
    again = build_city_map(open_scenario("first_shift"))
    city_of.cache_clear()
    assert build_city_map(open_scenario("first_shift")) == again


@given(st.dictionaries(st.sampled_from(sorted(MOODS)), st.sampled_from(BANDS)))
def test_the_strongest_feeling_names_the_mood(feels: dict[str, str]) -> None:
    """A mood is that of a feeling that none exceeds; where none is high, it is calm."""
    found = mood_word(feels)
    levels = {MOODS[name]: BANDS.index(band) for name, band in feels.items()}
    if found == CALM:
        assert all(level < BANDS.index("high") for level in levels.values())
    else:
        assert levels[found] == max(levels.values()) >= BANDS.index("high")


def test_robots_stand_side_by_side() -> None:
    """However many stand at a place, no two stand on each other, and a row is centred on it."""
    for count in range(1, 30):
        places = slots(count)
        assert len(set(places)) == count
        first = [x for x, y in places if y == places[0][1]]
        assert sum(first) == 0


ALONE = """
question = "Who looks after whom?"
name = "alone"
days = 1
steps_per_day = 1
place = [{ name = "hall", kind = "line" }]
robot = [{ name = "Ada", role = "operator", round = ["hall"] }]
"""


async def test_a_city_without_a_supervisor_has_none_on_its_pages(site: Town) -> None:
    """No style of one who is not there is told, and one day of one step is told as such."""
    owner = await site.owner()
    (site.path / "scenarios").mkdir(exist_ok=True)
    (site.path / "scenarios" / "alone.toml").write_text(ALONE)
    assert "alone · yours · 1 day of 1 step · accurate " in words(await owner.get("/lab"))
    answer = await owner.post("/lab", {"scenario": "alone", "policy": "stub"})
    run = answer.url.path.rpartition("/")[2]
    await until(owner, run, "finished")
    page = words(await owner.get(f"/lab/{run}"))
    assert "no Supervisor" in page
    assert "supportive" not in page
    assert "alone · stub · accurate · pressure" in words(await owner.get("/lab"))
