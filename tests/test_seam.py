"""The seam: what goes out as plain values comes back the same, and what is wrong is refused."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from loopforge import AgentActionPlan, AgentPerception, AgentReflection
from loopforge.core.action_plan import MODES
from loopforge.core.perception import Line, LineKind, PerceptionMode, SeamValue, ToolOffer
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


@given(perceptions | plans | reflections)
def test_the_seam_survives_json(value: SeamValue) -> None:
    """to_dict, JSON and from_dict give the same value back: lines, bands, acts in their types."""
    assert type(value).from_dict(through_json(value.to_dict())) == value


WRONG: list[tuple[type[SeamValue], dict[str, Any], str]] = [
    (AgentActionPlan, {"mode": "whim"}, "mode"),
    (AgentActionPlan, {"mode": None}, "mode"),
    (AgentActionPlan, {"mode": UNSET}, "mode"),
    (AgentActionPlan, {"riskiness": 7}, "riskiness"),
    (AgentActionPlan, {"riskiness": -0.1}, "riskiness"),
    (AgentActionPlan, {"riskiness": "high"}, "riskiness"),
    (AgentActionPlan, {"intent": ""}, "intent"),
    (AgentActionPlan, {"intent": "  "}, "intent"),
    (AgentActionPlan, {"intent": None}, "intent"),
    (AgentActionPlan, {"intent": UNSET}, "intent"),
    (AgentActionPlan, {"acts": [{"type": "explode"}]}, "explode"),
    (AgentActionPlan, {"acts": [{"type": "say"}]}, "text"),
    (AgentActionPlan, {"acts": [{"type": "mark", "line": "x", "mark": "burn"}]}, "burn"),
    (AgentActionPlan, {"targets": "maya"}, "targets"),
    (AgentActionPlan, {"plans": []}, "plans"),
    (AgentPerception, {"name": " "}, "name"),
    (AgentPerception, {"step": -1}, "step"),
    (AgentPerception, {"step": "first"}, "step"),
    (AgentPerception, {"perception_mode": "lie"}, "lie"),
    (AgentPerception, {"battery_level": 0.8}, "battery_level"),
    (AgentPerception, {"traits": {"warmth": 0.9}}, "traits"),
    (AgentPerception, {"emotions": {"joy": "enormous"}}, "enormous"),
    (AgentPerception, {"local_events": [{"kind": "sung"}]}, "sung"),
    (AgentPerception, {"mood": "fine"}, "mood"),
    (AgentReflection, {"tags": ["Regretted Obedience"]}, "tags"),
    (AgentReflection, {"tags": [""]}, "tags"),
    (AgentReflection, {"summary_of_day": None}, "summary_of_day"),
    (AgentReflection, {"mood": "fine"}, "mood"),
]
"""What is no value of the seam: changes of one, and the word of the refusal."""
GOOD: dict[type[SeamValue], dict[str, Any]] = {
    AgentPerception: {"step": 1, "name": "maya", "role": "friend"},
    AgentActionPlan: {"intent": "talk", "mode": "context"},
    AgentReflection: {"summary_of_day": "quiet"},
}
REFUSALS = {
    AgentPerception: BadPerception,
    AgentActionPlan: BadPlan,
    AgentReflection: BadReflection,
}


@pytest.mark.parametrize(("kind", "changes", "word"), WRONG)
def test_what_is_wrong_is_refused_by_name(
    kind: type[SeamValue], changes: dict[str, Any], word: str
) -> None:
    """Unknown fields, modes, acts and tags, raw numbers, and what is missing: each is named."""
    fields = {key: each for key, each in (GOOD[kind] | changes).items() if each is not UNSET}
    kind.from_dict(GOOD[kind])
    with pytest.raises(REFUSALS[kind], match=word):
        kind.from_dict(fields)


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
