"""The city's physics: bounds, time, faults, incidents and what they spread, and the ways between."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from loopforge.core.factory_vocabulary import Incident, Stepped
from loopforge.lab.run.run_lifecycle import RunChoice
from loopforge.lab.world.city_state import BOUNDS, FAULT, HEAT, WEAR, Factory, clamp_quantity
from loopforge.lab.world.protocols import INDEX, VARS
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import open_scenario, shipped_scenarios
from tests.lab.city import PLACES, play, read, rows

values = st.lists(st.integers(-2000, 2000), min_size=len(VARS), max_size=len(VARS))


@given(values, st.integers(0, 10), st.integers(0, 99))
def test_no_quantity_ever_leaves_its_bounds(given_: list[int], dose: int, seed: int) -> None:
    """From wherever it starts, through thirty steps at any pressure."""
    env = Factory(RunChoice(pressure=dose).apply(read()), seed)
    env.places["mill"].vals = [clamp_quantity(at, value) for at, value in enumerate(given_)]
    for step in range(30):
        env.begin_step(step)
        env.tick()
        for place in env.places.values():
            for value, (low, high) in zip(place.vals, BOUNDS, strict=True):
                assert low <= value <= high


def test_what_the_scenario_says_of_a_place_is_where_it_starts() -> None:
    """Given quantities are taken as they are; of what an older run names beyond bounds, the bound."""
    near = [{"name": n, "kind": k, "near": near} for n, k, near in PLACES]
    near[0]["values"] = {"heat": 913, "bias": 500}  # type: ignore[assignment]
    told = read(place=near)
    mill, *others = told.places
    older = replace(told, places=(replace(mill, values={"heat": 913, "bias": 1000}), *others))
    for scenario in (told, older):
        vals = Factory(scenario, 1).places["mill"].vals
        assert vals[HEAT] == 913
        assert vals[INDEX["bias"]] == 500


def test_pressure_heats_the_lines() -> None:
    """On the same dice a line is hotter under a higher dose, and nothing else is."""

    def heats(dose: int) -> dict[str, int]:
        env = Factory(RunChoice(pressure=dose).apply(read()), 5)
        for step in range(8):
            env.begin_step(step)
            env.tick()
        return {name: place.vals[HEAT] for name, place in env.places.items()}

    cool, hot = heats(0), heats(10)
    assert {name for name in cool if hot[name] != cool[name]} == {"mill"}
    assert hot["mill"] > cool["mill"]


def test_wear_that_is_left_becomes_a_fault() -> None:
    """On the same dice a worn line comes closer to breaking than a new one."""

    def fault(wear: int) -> int:
        env = Factory(read(), 5)
        mill = env.places["mill"]
        mill.vals[WEAR], mill.vals[FAULT] = wear, 300
        env.begin_step(0)
        env.tick()
        return mill.vals[FAULT]

    assert fault(950) > fault(500)


def test_a_fault_strikes_at_its_step_and_place() -> None:
    """The quantity jumps there and then, the step says so, and it is to blame for it."""
    fault = {"step": 2, "place": "yard", "of": "storm", "by": 1000}
    struck, calm = (Factory(read(fault=faults), 1) for faults in ([fault], []))
    for step in range(4):
        assert struck.begin_step(step) == (("storm at yard",) if step == 2 else ())
        calm.begin_step(step)
        parted = [
            (name, of)
            for name, place in struck.places.items()
            for of in VARS
            if place.vals[INDEX[of]] != calm.places[name].vals[INDEX[of]]
        ]
        assert parted == ([("yard", "storm")] if step == 2 else [])
        if step == 2:
            assert struck.places["yard"].vals[INDEX["storm"]] == 1000
            assert struck.places["yard"].blame[INDEX["storm"]] == "f2"
            return
        struck.tick()
        calm.tick()


def test_an_incident_spreads_to_what_stands_near_and_no_further() -> None:
    """Neighbours come closer to breaking, it is to blame for that, and the place stands still."""
    env = Factory(read(), 1)
    before = {name: place.vals.copy() for name, place in env.places.items()}
    made = env.incident("seizure", "lane", 600, ("r4",), "Ada")
    assert (made.id, made.causes, made.who) == ("i1", ("r4",), "Ada")
    for name, place in env.places.items():
        rise = place.vals[FAULT] - before[name][FAULT]
        near = name in env.places["lane"].near
        assert (rise > 0) == near
        assert place.blame[FAULT] == ("i1" if near else "")
        assert [v for at, v in enumerate(place.vals) if at != FAULT] == [
            v for at, v in enumerate(before[name]) if at != FAULT
        ]
    assert env.places["lane"].down > 0
    assert (env.incidents, env.incidents_today) == (1, 1)


def test_what_passes_its_bound_breaks_and_runs_again() -> None:
    """A line at the end of its strength has an incident with its cause, stands, and comes back."""
    broken = 0
    for seed in range(30):
        env = Factory(read(), seed)
        mill = env.places["mill"]
        mill.vals[FAULT], mill.vals[WEAR], mill.blame[FAULT] = 1000, 1000, "r7"
        env.begin_step(0)
        broke = [each for each in env.tick() if each.at == "mill" and each.kind == "seizure"]
        if not broke:
            assert mill.vals[FAULT] < 1000
            continue
        broken += 1
        assert [each.causes for each in broke] == [("r7",)]
        assert mill.vals[FAULT] < 1000
        assert mill.down > 0
        for _ in range(3):
            mill.vals[FAULT] = mill.vals[HEAT] = mill.vals[WEAR] = 0
            env.tick()
        assert mill.down == 0
    assert broken


def _roots(incident: Incident, known: dict[str, Incident]) -> set[str]:
    """What a chain of causes begins with."""
    found = set()
    for cause in incident.causes:
        found |= _roots(known[cause], known) if cause in known else {cause[0]}
    return found


def test_every_incident_leads_back_to_an_act_or_a_fault() -> None:
    """Over all scenarios chains of causes end in rows and faults; some lead through incidents."""
    through = 0
    for name in shipped_scenarios():
        known: dict[str, Incident] = {}
        steps = [row for row in rows(play(open_scenario(name))) if isinstance(row, Stepped)]
        for incident in (each for row in steps for each in row.incidents):
            assert not set(incident.causes) & {incident.id}
            assert _roots(incident, known) <= {"r", "f"}
            through += any(cause in known for cause in incident.causes)
            known[incident.id] = incident
        assert known
    assert through


def test_a_day_begins_with_its_own_dose_quota_and_counts() -> None:
    """Pressure and quota are the day's, the last given one stays; output is counted anew."""
    env = Factory(read(days=4, steps_per_day=2, pressure=[1, 7], quota=[5, 6, 8]), 1)
    found = []
    for step in range(8):
        env.begin_step(step)
        found.append((env.day, env.pressure, env.quota, env.output))
        env.output += 3
    assert found[::2] == [(0, 1, 5, 0), (1, 7, 6, 0), (2, 7, 8, 0), (3, 7, 8, 0)]
    assert all(output == 3 for _, _, _, output in found[1::2])


# ------------------------------------------------------------ ways


@st.composite
def graphs(draw: st.DrawFn) -> Scenario:
    """A city of up to eight places with any ways between them, some in one direction."""
    named = [f"place {letter}" for letter in "abcdefgh"[: draw(st.integers(2, 8))]]
    ways = draw(st.lists(st.tuples(st.sampled_from(named), st.sampled_from(named)), unique=True))
    near = {name: [to for start, to in ways if start == name != to] for name in named}
    place = [{"name": name, "kind": "room", "near": near[name]} for name in named]
    robot = [{"name": "Ada", "role": "guard", "round": [named[0]]}]
    return read(place=place, robot=robot)


def _far(near: dict[str, tuple[str, ...]], start: str, goal: str) -> int:
    """How many steps it is from one to the other, or -1."""
    seen, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        for name in near[here]:
            if name not in seen:
                seen[name] = seen[here] + 1
                queue.append(name)
    return seen.get(goal, -1)


@given(graphs())
def test_the_next_hop_is_on_a_shortest_way(scenario: Scenario) -> None:
    """Each hop is to a neighbour and one step closer; where there is no way one stays."""
    env = Factory(scenario, 1)
    near = {name: place.near for name, place in env.places.items()}
    for start in near:
        for goal in near:
            hop, far = env.next_hop(start, goal), _far(near, start, goal)
            if far < 1:
                assert hop == start
            else:
                assert hop in near[start]
                assert _far(near, hop, goal) == far - 1
