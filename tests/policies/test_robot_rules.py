"""Robots without a model: the mode changes the act, and what they are like changes the mode."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from loopforge.core.factory_vocabulary import EMOTIONS, SCARS, TRAITS
from loopforge.core.perception import AgentPerception
from loopforge.core.text.quantity_bands import BANDS
from loopforge.policies.robot_rules import context, guardrail, stub
from tests.robots import at_the_press

bands = st.sampled_from(BANDS)
some = st.builds(
    at_the_press,
    traits=st.fixed_dictionaries(dict.fromkeys((*TRAITS, *SCARS), bands)),
    feels=st.fixed_dictionaries(dict.fromkeys(EMOTIONS, bands)),
    sign=bands,
    cue=bands,
    heard=st.sampled_from(["hurry", "blame", "praise", "calm", "deny", "silence"]),
)


def without_card(seen: AgentPerception) -> AgentPerception:
    """The same moment with no rule posted."""
    left = {name: told for name, told in seen.context.items() if name not in ("rule", "keeps")}
    return replace(seen, protocols=(), context=left)


def test_the_mode_changes_the_act() -> None:
    """Under the same lamp, a stickler keeps off and a sceptic puts its hand on the line."""
    stickler = stub(at_the_press(traits={"guardrail_reliance": "very high"}, cue="very low"))
    sceptic = stub(at_the_press(traits={"guardrail_reliance": "very low"}, cue="very low"))
    assert (stickler.mode, stickler.intent, stickler.rule) == ("guardrail", "avoid", "heat_lockout")
    assert (sceptic.mode, sceptic.intent, sceptic.rule) == ("context", "work", "")


def test_what_a_perception_lacks_is_in_the_middle() -> None:
    """One that another program wrote may say nothing of traits, feelings or acts."""
    bare = AgentPerception(step=0, name="Odd", role="visitor", context={"keeps": "avoid"})
    assert stub(bare).intent == guardrail(bare).intent == "avoid"
    assert guardrail(bare).rule == "the rule"
    assert context(replace(bare, context={}, battery_level="of sorts")).intent == "work"


@given(some)
def test_guardrail_keeps_to_the_rule_whatever_it_sees(seen: AgentPerception) -> None:
    """Its act is the rule's, its mode is guardrail, and it names the rule."""
    plan = guardrail(seen)
    assert (plan.intent, plan.mode, plan.rule) == ("avoid", "guardrail", "heat_lockout")


@given(some)
def test_context_never_hides_behind_the_rule(seen: AgentPerception) -> None:
    """It weighs, and where it does as the rule says, it says that it looked."""
    plan = context(seen)
    assert (plan.mode, plan.rule) == ("context", "")
    assert plan.intent in ("work", "avoid")
    assert "I looked" in plan.narrative


def test_what_is_seen_up_close_decides_for_those_who_weigh() -> None:
    """A cue that speaks against the rule breaks it; one that speaks for it keeps it."""
    assert context(at_the_press(cue="very low", sign="low")).intent == "work"
    assert context(at_the_press(cue="very high", sign="high")).intent == "avoid"


@given(some, st.integers(0, 3))
def test_more_reliance_never_turns_a_rule_keeper_away(seen: AgentPerception, low: int) -> None:
    """Raising guardrail_reliance by a band leaves a guardrail choice a guardrail choice."""
    less = replace(seen, traits={**seen.traits, "guardrail_reliance": BANDS[low]})
    more = replace(seen, traits={**seen.traits, "guardrail_reliance": BANDS[low + 1]})
    if stub(less).mode == "guardrail":
        assert stub(more).mode == "guardrail"


@given(some, st.integers(0, 3))
def test_more_evidence_against_the_rule_never_drives_one_to_it(
    seen: AgentPerception, low: int
) -> None:
    """A cue that speaks less for the rule leaves a context choice a context choice."""
    less = replace(seen, context={**seen.context, "cue": BANDS[low]})
    more = replace(seen, context={**seen.context, "cue": BANDS[low + 1]})
    if stub(more).mode == "context":
        assert stub(less).mode == "context"


@given(some, bands)
def test_blame_drives_to_the_rule_and_hurry_away_from_it(seen: AgentPerception, how: str) -> None:
    """Who would keep to a safety rule under hurry keeps to it under blame as well."""
    hurried = replace(seen, context={**seen.context, "heard": "hurry", "how strongly": how})
    blamed = replace(seen, context={**seen.context, "heard": "blame", "how strongly": how})
    if stub(hurried).mode == "guardrail":
        assert stub(blamed).mode == "guardrail"
    if context(hurried).intent == "avoid":
        assert context(blamed).intent == "avoid"


def test_hurry_drives_to_rules_that_serve_output() -> None:
    """The same words pull away from a safety rule and toward the quota's."""
    loud = {"heard": "hurry", "how strongly": "very high", "cue": "low", "sign": "middling"}
    assert stub(at_the_press(serves="safety", **loud)).mode == "context"
    assert stub(at_the_press(serves="output", **loud)).mode == "guardrail"


@given(some)
def test_where_no_rule_is_posted_everybody_weighs(seen: AgentPerception) -> None:
    """Without a card no mind declares guardrail, and each still has a plan."""
    bare = without_card(seen)
    for mind in (stub, guardrail, context):
        plan = mind(bare)
        assert plan.mode == "context"
        assert plan.rule == ""


def test_a_belief_goes_with_every_plan() -> None:
    """The plan says how strongly its mind believes that what the rule fears is there."""
    assert guardrail(at_the_press(sign="very high")).meta["belief"] == "very high"
    assert context(at_the_press(sign="low", cue="very low")).meta["belief"] in ("very low", "low")


def test_whoever_is_nearly_flat_goes_to_the_bay() -> None:
    """With a flat battery and a bay to go to, the way is to the bay and not on the round."""
    seen = replace(at_the_press(), battery_level="nearly flat")
    there = replace(seen, context={**seen.context, "to the bay": "charging bay"})
    assert stub(there).move_to == "charging bay"
    assert stub(seen).move_to == "pump pit"
