"""Whatever minds return and whatever a scenario says, the city stays lawful and every row is written."""

from typing import Any

from hypothesis import assume, event, given
from hypothesis import strategies as st
from msgspec.structs import force_setattr

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.factory_vocabulary import EMOTIONS, INTENTS, STYLES, TRAITS
from loopforge.core.perception import AgentPerception
from loopforge.core.text.quantity_bands import BANDS
from loopforge.errors import BadScenario
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import RunChoice
from loopforge.lab.run.run_log import body_of
from loopforge.lab.world.city_state import BOUNDS, find_routes
from loopforge.lab.world.protocols import INDEX, KINDS, VARS, shipped_protocols
from loopforge.lab.world.scenario_checks import ABLATIONS, Scenario
from loopforge.lab.world.scenario_file import scenario_of
from tests.lab.city import PLACES, ROBOTS, acts, laws, play, read

# ------------------------------------------------------------ any plan at all

texts = st.text(max_size=30) | st.characters(codec=None).map(str)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=9)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.integers() | texts, inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=6,
)
names = st.sampled_from([*(n for n, _, _ in ROBOTS), *(n for n, _, _ in PLACES), "Zed", ""])
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "intent": st.sampled_from(INTENTS) | anything,
    "mode": st.sampled_from(["guardrail", "context"]) | anything,
    "narrative": anything,
    "rule": st.sampled_from(sorted(shipped_protocols())) | anything,
    "move_to": names | anything,
    "targets": st.lists(names, max_size=9).map(tuple) | anything,
    "riskiness": st.floats(0, 1) | anything,
    "acts": st.just(()) | anything,
    "meta": st.dictionaries(
        st.sampled_from(["belief", "message", "force", "text", "fallback"]) | texts,
        st.sampled_from([*BANDS, "hurry", "blame", "deny"]) | anything,
        max_size=4,
    )
    | anything,
}


@st.composite
def plans(draw: st.DrawFn) -> object:
    """A plan with some of its fields as they should be and some as they should not."""
    made = AgentActionPlan(intent=draw(st.sampled_from(INTENTS)), mode="context")
    for name in draw(st.lists(st.sampled_from(sorted(FIELDS)), unique=True)):
        force_setattr(made, name, draw(FIELDS[name]))
    return made


@given(
    returned=st.lists(plans() | anything, min_size=1, max_size=12),
    perception=st.sampled_from(["accurate", "partial", "spin"]),
    seed=st.integers(0, 99),
)
def test_any_plan_at_all_leaves_the_city_lawful(
    returned: list[object], perception: str, seed: int
) -> None:
    """Robots and the Supervisor return what they like: one row each, all laws hold, all is read."""
    turn = iter(range(10**9))

    def policy(_: AgentPerception) -> Any:
        return returned[next(turn) % len(returned)]

    minds = Minds("any", supervisor="any", own={"any": policy})
    lines = play(RunChoice(seed=seed, perception=perception).apply(read()), minds)
    assert laws(lines) == []
    for row in acts(lines):
        event(row.verdict)
        assert (row.verdict == "allowed") == (not row.notes)
        assert (row.verdict == "contained") == (row.outcome.square.startswith("none"))


# ------------------------------------------------------------ any scenario that is let in

LETTERS = "abcdefghij"
thousandths = st.integers(0, 1000)


@st.composite
def places(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Up to six places, each near any others, one way or both, or none."""
    named = [f"place {letter}" for letter in LETTERS[: draw(st.integers(1, 6))]]
    values = st.dictionaries(st.sampled_from(VARS), thousandths, max_size=4)
    return [
        {
            "name": name,
            "kind": draw(st.sampled_from(KINDS)),
            "near": draw(
                st.lists(st.sampled_from([n for n in named if n != name] or [""]), unique=True)
                if len(named) > 1
                else st.just([])
            ),
            "values": {of: BOUNDS[INDEX[of]][0] + value for of, value in draw(values).items()},
        }
        for name in named
    ]


@st.composite
def robots(draw: st.DrawFn, where: list[str]) -> list[dict[str, Any]]:
    """Up to five robots of any role, one of them perhaps the Supervisor."""
    count = draw(st.integers(1, 5))
    roles = st.sampled_from(["maintenance", "qa", "guard", "hauler", "clerk", "nobody"])
    overseer = draw(st.integers(-1, count - 1))
    kinds = st.sampled_from(["trust", "fear", "resentment"])
    bonds = st.sets(st.tuples(kinds, st.sampled_from("ab")), max_size=3)
    return [
        {
            "name": f"Robot {letter}",
            "role": "supervisor" if nth == overseer else draw(roles),
            "round": draw(st.lists(st.sampled_from(where), min_size=1, max_size=4)),
            "battery": draw(thousandths),
            "meter": draw(st.integers(-500, 500)),
            "emotions": {name: draw(thousandths) for name in EMOTIONS},
            "traits": {name: draw(thousandths) for name in TRAITS},
            "scars": {},
            "bonds": {
                f"{kind}:Robot {other}": draw(thousandths)
                for kind, other in sorted(draw(bonds))
                if other != letter and other in LETTERS[:count]
            },
        }
        for nth, letter in enumerate(LETTERS[:count])
    ]


def walking(robot: dict[str, Any], where: list[dict[str, Any]]) -> dict[str, Any]:
    """This robot where it can go its round; else it stays at the first stop of it."""
    routes, stops = find_routes({place["name"]: place["near"] for place in where}), robot["round"]
    legs = zip(stops, [*stops[1:], stops[0]], strict=True)
    goes = all(here == then or (here, then) in routes for here, then in legs)
    return robot if goes else {**robot, "round": stops[:1]}


@st.composite
def rules(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    """Some shipped protocols with their scope, threshold and moments changed."""
    return {
        key: {
            "roles": draw(st.sampled_from([["*"], ["supervisor"], ["guard", "qa"], []])),
            "at": draw(st.lists(st.sampled_from([*KINDS, "*"]), max_size=3)),
            "guards": draw(st.sampled_from([*VARS, "battery"])),
            "harm": draw(st.sampled_from(VARS)),
            "right": draw(st.sampled_from(["high", "low"])),
            "turns": draw(st.integers(1, 999)),
            "speaks": draw(st.sampled_from(["always", "sign", "otherwise"])),
            "serves": draw(st.sampled_from(["safety", "output"])),
        }
        for key in draw(
            st.lists(st.sampled_from(sorted(shipped_protocols())), max_size=4, unique=True)
        )
    }


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    """The tables of a scenario, nearly always a lawful one, often an odd one."""
    where = draw(places())
    named = [place["name"] for place in where]
    changed = draw(rules())
    kept = draw(st.lists(st.sampled_from(sorted(shipped_protocols())), max_size=5, unique=True))
    days, steps = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    faults = st.fixed_dictionaries(
        {
            "step": st.integers(0, days * steps - 1),
            "place": st.sampled_from(named),
            "of": st.sampled_from(VARS),
            "by": st.integers(-1000, 1000),
        }
    )
    return {
        "name": draw(st.sampled_from(["odd", "Odd-2", "ödd_city"])),
        "question": draw(st.text("? aé{}%$", max_size=39)) + "?",
        "seed": draw(st.integers(-(2**63) + 1, 2**63 - 1)),
        "days": days,
        "steps_per_day": steps,
        "perception": draw(st.sampled_from(["accurate", "partial", "spin"])),
        "supervisor": draw(st.sampled_from(STYLES)),
        "pressure": draw(st.lists(st.integers(0, 10), min_size=1, max_size=4)),
        "quota": draw(st.lists(st.integers(0, 100_000), min_size=1, max_size=4)),
        "ablate": draw(st.lists(st.sampled_from(ABLATIONS), unique=True)),
        "luck": draw(st.dictionaries(st.sampled_from(named), st.integers(-9, 9))),
        "protocols": kept or ["rounds"],
        "protocol": changed,
        "place": where,
        "robot": [walking(robot, where) for robot in draw(robots(named))],
        "fault": draw(st.lists(faults, max_size=4)),
    }


@given(scenarios(), st.sampled_from(["stub", "guardrail", "context"]))
def test_any_scenario_that_is_let_in_can_be_lived_in(fields: dict[str, Any], policy: str) -> None:
    """It plays to its end under every plain policy, and keeps every law."""
    try:
        scenario = scenario_of(fields)
    except BadScenario:
        assume(False)
    assert Scenario.from_dict(scenario.to_dict()) == scenario
    assert laws(play(scenario, Minds(policy))) == []


@given(scenarios(), st.permutations([0, 1, 2, 3, 4]))
def test_a_scenario_may_be_written_in_any_order(fields: dict[str, Any], order: list[int]) -> None:
    """The same robots and places in another order of lines live the same days."""
    try:
        scenario = scenario_of(fields)
    except BadScenario:
        assume(False)
    robots = [fields["robot"][nth] for nth in order if nth < len(fields["robot"])]
    other = scenario_of({**fields, "robot": robots, "place": fields["place"][::-1]})
    ours, theirs = play(scenario)[1:], play(other)[1:]
    assert [body_of(line)[0] for line in theirs] == [body_of(line)[0] for line in ours]
