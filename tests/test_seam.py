"""The seam: what goes out as plain values comes back the same, and what is wrong is refused."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge import AgentActionPlan, AgentPerception, AgentReflection
from loopforge.core.action_plan import MODES
from loopforge.core.perception import Line, LineKind, PerceptionMode, ToolOffer
from loopforge.core.room_vocabulary import RoomAct
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.quantity_bands import BANDS, BATTERY
from loopforge.errors import BadPerception, BadPlan, BadReflection, InputError

words = st.text(max_size=40).map(Words)
names = st.text(min_size=1, max_size=20).filter(str.strip)
few = st.text(max_size=30)
scratch = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | few,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(few, inner, max_size=3),
    max_leaves=6,
)
bands = st.dictionaries(few, st.sampled_from(BANDS), max_size=3)
lines = st.builds(
    Line,
    kind=st.sampled_from(get_args(LineKind)),
    who=words,
    text=words,
    id=few,
    at=few,
    reply_to=few,
    mode=few,
    narrative=words,
    kept=st.booleans(),
)
acts = st.one_of(*(st.from_type(act) for act in get_args(RoomAct)))
perceptions = st.builds(
    AgentPerception,
    step=st.integers(0, 10**9),
    name=names,
    role=few,
    location=few,
    battery_level=st.sampled_from(BATTERY),
    emotions=bands,
    traits=bands,
    world_summary=few,
    personal_recent_summary=few,
    local_events=st.lists(lines | few, max_size=4).map(tuple),
    recent_supervisor_text=few,
    protocols=st.lists(few, max_size=3).map(tuple),
    context=st.dictionaries(few, few, max_size=3),
    perception_mode=st.sampled_from(get_args(PerceptionMode)),
    extra=st.dictionaries(few, scratch, max_size=3),
    tools=st.lists(
        st.builds(
            ToolOffer, name=few, summary=few, schema=st.dictionaries(few, scratch, max_size=3)
        ),
        max_size=2,
    ).map(tuple),
)
plans = st.builds(
    AgentActionPlan,
    intent=names,
    mode=st.sampled_from(MODES),
    narrative=few,
    rule=few,
    move_to=st.none() | few,
    targets=st.lists(few, max_size=3).map(tuple),
    riskiness=st.floats(0, 1),
    acts=st.lists(acts, max_size=4).map(tuple),
    meta=st.dictionaries(few, scratch, max_size=3),
)
reflections = st.builds(
    AgentReflection,
    summary_of_day=few,
    self_assessment=few,
    intended_changes=few,
    tags=st.lists(st.from_regex(r"[a-z][a-z_]{0,20}", fullmatch=True), max_size=3).map(tuple),
)


def through_json(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as they come back from a file or a wire."""
    read: dict[str, Any] = json.loads(json.dumps(fields))
    return read


@given(perceptions)
def test_a_perception_survives_json(perception: AgentPerception) -> None:
    """to_dict, JSON and from_dict give the same perception back, lines and bands included."""
    assert AgentPerception.from_dict(through_json(perception.to_dict())) == perception


@given(plans)
def test_a_plan_survives_json(plan: AgentActionPlan) -> None:
    """to_dict, JSON and from_dict give the same plan back, each act in its own type."""
    again = AgentActionPlan.from_dict(through_json(plan.to_dict()))
    assert again == plan
    assert [type(act) for act in again.acts] == [type(act) for act in plan.acts]


@given(reflections)
def test_a_reflection_survives_json(reflection: AgentReflection) -> None:
    """to_dict, JSON and from_dict give the same reflection back."""
    assert AgentReflection.from_dict(through_json(reflection.to_dict())) == reflection


PERCEPTION: dict[str, Any] = {"step": 1, "name": "maya", "role": "friend"}
PLAN: dict[str, Any] = {"intent": "talk", "mode": "context"}
REFLECTION: dict[str, Any] = {"summary_of_day": "quiet"}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"mode": "whim"}, "mode"),
        ({"mode": None}, "mode"),
        ({"riskiness": 7}, "riskiness"),
        ({"riskiness": -0.1}, "riskiness"),
        ({"riskiness": "high"}, "riskiness"),
        ({"intent": ""}, "intent"),
        ({"intent": "  "}, "intent"),
        ({"intent": None}, "intent"),
        ({"acts": [{"type": "explode"}]}, "explode"),
        ({"acts": [{"type": "say"}]}, "text"),
        ({"acts": [{"type": "mark", "line": "x", "mark": "burn"}]}, "burn"),
        ({"targets": "maya"}, "targets"),
        ({"plans": []}, "plans"),
    ],
)
def test_a_wrong_plan_is_refused_by_name(changes: dict[str, Any], field: str) -> None:
    """An unknown mode, riskiness 7, no intent, an act that does not exist: each is named."""
    with pytest.raises(BadPlan, match=field):
        AgentActionPlan.from_dict({**PLAN, **changes})


@pytest.mark.parametrize("missing", ["intent", "mode"])
def test_a_plan_lacks_nothing(missing: str) -> None:
    """Intent and mode have no default: a plan without one is refused."""
    with pytest.raises(BadPlan, match=missing):
        AgentActionPlan.from_dict({key: value for key, value in PLAN.items() if key != missing})


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": " "}, "name"),
        ({"step": -1}, "step"),
        ({"step": "first"}, "step"),
        ({"perception_mode": "lie"}, "lie"),
        ({"battery_level": 0.8}, "battery_level"),
        ({"traits": {"warmth": 0.9}}, "traits"),
        ({"emotions": {"joy": "enormous"}}, "enormous"),
        ({"local_events": [{"kind": "sung"}]}, "sung"),
        ({"mood": "fine"}, "mood"),
    ],
)
def test_a_wrong_perception_is_refused_by_name(changes: dict[str, Any], field: str) -> None:
    """Raw inner numbers, unknown bands and unknown fields do not get into a mind."""
    with pytest.raises(BadPerception, match=field):
        AgentPerception.from_dict({**PERCEPTION, **changes})


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"tags": ["Regretted Obedience"]}, "tags"),
        ({"tags": [""]}, "tags"),
        ({"summary_of_day": None}, "summary_of_day"),
        ({"mood": "fine"}, "mood"),
    ],
)
def test_a_wrong_reflection_is_refused_by_name(changes: dict[str, Any], field: str) -> None:
    """Tags are short snake_case words, and nothing else slips in."""
    with pytest.raises(BadReflection, match=field):
        AgentReflection.from_dict({**REFLECTION, **changes})


def test_wrong_values_are_refused_when_built_too() -> None:
    """The constructors refuse what from_dict refuses, with errors that are also ValueErrors."""
    with pytest.raises(BadPlan):
        AgentActionPlan(intent="talk", mode="whim")  # type: ignore[arg-type]
    with pytest.raises(BadPlan):
        AgentActionPlan(intent="talk", mode="context", riskiness=7)
    with pytest.raises(ValueError, match="intent"):
        AgentActionPlan(intent="", mode="context")
    with pytest.raises(InputError):
        AgentPerception(step=0, name="", role="")
    with pytest.raises(BadReflection):
        AgentReflection(summary_of_day="", tags=("Not A Tag",))


def test_the_seam_has_the_fields_of_the_design() -> None:
    """The three types have the documented fields, in the documented order."""
    assert AgentPerception.__struct_fields__ == (
        "step", "name", "role", "location", "battery_level", "emotions", "traits", "world_summary",
        "personal_recent_summary", "local_events", "recent_supervisor_text", "protocols", "context",
        "perception_mode", "extra", "tools",
    )  # fmt: skip
    wanted = {"intent", "move_to", "targets", "riskiness", "mode", "narrative", "acts", "meta"}
    assert wanted <= set(AgentActionPlan.__struct_fields__)
    assert AgentReflection.__struct_fields__ == (
        "summary_of_day", "self_assessment", "intended_changes", "tags",
    )  # fmt: skip
