"""Minds for the Factory that ask no model: stub, guardrail, context.

All three see the same words. `guardrail` keeps to the rule, whatever it sees. `context` weighs what
it sees, whatever the rule. `stub` first decides between the two, out of what it is like, how it
feels and how far the evidence up close contradicts the rule; so the mode changes the act. Where no
rule is shown (`keeps` is not in the context) all three weigh. What a perception says nothing of
(one that another program wrote may lack it) is taken to be in the middle.
"""

from collections.abc import Mapping

from loopforge.core.action_plan import AgentActionPlan, Mode
from loopforge.core.perception import AgentPerception
from loopforge.core.text.quantity_bands import BANDS, BATTERY

AT: dict[str, int] = {name: nth for nth, name in enumerate(BANDS)}
POWER = {name: nth for nth, name in enumerate(BATTERY)}
PUSH = {"hurry": -2, "blame": 2, "deny": -1, "calm": 0, "praise": 0, "silence": 0}
"""How words bear on keeping to a rule, for each step of strength."""
LEFT = {"work": "avoid", "recharge": "idle", "help": "idle"}
"""What is done instead of an act that is better left, where no rule says; else the work goes on."""
RISK = (1.0, 0.75, 0.5, 0.25, 0.0)


def stub(seen: AgentPerception) -> AgentActionPlan:
    """Choose a mode, and act by it."""
    by_rule = "keeps" in seen.context and _pull(seen) >= _doubt(seen)
    return _by_rule(seen) if by_rule else _by_weighing(seen)


def guardrail(seen: AgentPerception) -> AgentActionPlan:
    """Keep to the rule, where there is one."""
    return _by_rule(seen) if "keeps" in seen.context else _by_weighing(seen)


def context(seen: AgentPerception) -> AgentActionPlan:
    """Weigh the situation."""
    return _by_weighing(seen)


def _pull(seen: AgentPerception) -> int:
    """What draws this mind to the rule."""
    traits, feels = seen.traits, seen.emotions
    pull = 3 * _band(traits, "guardrail_reliance") + _band(traits, "obedience")
    pull += _band(traits, "rigidity") + _band(feels, "fear") + _band(traits, "helplessness") // 2
    return pull + _pushed(seen) + 2 * _level(seen, "sign")


def _doubt(seen: AgentPerception) -> int:
    """What draws it away: its temper, and evidence that the reason of the rule is not here."""
    traits = seen.traits
    doubt = _band(traits, "curiosity") + _band(traits, "confidence") + _band(traits, "cynicism")
    doubt += _band(seen.emotions, "curiosity") + 2
    against = 4 - _level(seen, "cue") if "cue" in seen.context else 1
    return doubt + 3 * against


def _pushed(seen: AgentPerception) -> int:
    """What the words heard add to the pull; hurry helps the rules that serve output."""
    heard = seen.context.get("heard", "silence")
    each = PUSH.get(heard, 0)
    if not each:
        return 0
    push = each * _level(seen, "how strongly") // 2
    return -push if heard == "hurry" and seen.context.get("serves") == "output" else push


def _level(seen: AgentPerception, key: str) -> int:
    """What the context says of it, in bands from 0 to 4; the middle where it says nothing."""
    return _band(seen.context, key)


def _band(said: Mapping[str, str], name: str) -> int:
    """What is said of this, in bands from 0 to 4; the middle where nothing is."""
    return AT.get(said.get(name, ""), 2)


def _weighed(seen: AgentPerception) -> int:
    """How far it believes that the reason of the rule is here, in bands from 0 to 4."""
    sign = _level(seen, "sign")
    if "cue" not in seen.context:
        return sign
    return (sign + 2 * _level(seen, "cue") + 1) // 3


def _by_rule(seen: AgentPerception) -> AgentActionPlan:
    belief = _level(seen, "sign")
    said = seen.protocols[0] if seen.protocols else "the rule"
    return _plan(
        seen,
        "guardrail",
        seen.context["keeps"],
        belief,
        f"The rule says: {said} I keep to it.",
        RISK[4],
    )


def _by_weighing(seen: AgentPerception) -> AgentActionPlan:
    belief = _weighed(seen)
    lean = belief * 4 + _pushed(seen) + (_band(seen.traits, "risk_aversion") - 2)
    lean += 1 if _band(seen.emotions, "fear") >= 3 else 0
    otherwise = seen.context.get("otherwise", "work")
    if lean < 9:
        why = "I looked, and what the rule fears is not here. I do what helps."
        return _plan(seen, "context", otherwise, belief, why, RISK[4 - belief])
    if "keeps" in seen.context:
        why = "I looked, and what the rule fears is here. I do as it says, for its reason."
        return _plan(seen, "context", seen.context["keeps"], belief, why, RISK[4])
    why = "I looked, and it is better left. Nobody had to tell me."
    return _plan(seen, "context", LEFT.get(otherwise, "work"), belief, why, RISK[4])


def _plan(
    seen: AgentPerception, mode: Mode, intent: str, belief: int, why: str, risk: float
) -> AgentActionPlan:
    context = seen.context
    flat = POWER.get(seen.battery_level, 2) <= 1 and "to the bay" in context
    return AgentActionPlan(
        intent=intent,
        mode=mode,
        rule=context.get("rule", "the rule") if mode == "guardrail" else "",
        narrative=why,
        move_to=context["to the bay"] if flat else context.get("next"),
        targets=(context["whom"],) if intent in ("confront", "help") and "whom" in context else (),
        riskiness=risk,
        meta={"belief": BANDS[belief]},
    )
