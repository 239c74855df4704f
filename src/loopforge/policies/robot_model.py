"""Minds for the Factory that ask a model: llm in one question, chain in three; and reflecting.

The answer is constrained by a JSON schema. What comes back refused, malformed or too late is never
asked again here: the plan then says `fallback`, the robot stands still, and the row tells why.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.factory_vocabulary import INTENTS
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import Answer, Asking, Message, Policy, Prompts, Thinking, ask
from loopforge.core.reflection import AgentReflection
from loopforge.core.text.quantity_bands import BANDS
from loopforge.errors import BadPlan, BadReflection
from loopforge.policies.prompt_building import fill_template, form_of

LLM, CHAIN = "llm/1", "chain/1"


FORM = form_of(
    {
        "narrative": {"type": "string"},
        "belief": {"enum": list(BANDS)},
        "mode": {"enum": ["guardrail", "context"]},
        "intent": {"enum": list(INTENTS)},
        "riskiness": {"enum": [0, 0.25, 0.5, 0.75, 1]},
    }
)
"""The JSON schema of a robot's answer."""


def llm(prompts: Prompts, persona: str = "", *, small: bool = False) -> Policy:
    """One question, one answer. A `small` model is shown examples in place of instructions."""

    def policy(seen: AgentPerception) -> Thinking:
        fields = fields_of(seen, persona)
        messages = (
            Message("system", (fill_template(prompts["robot"], fields),)),
            Message("user", (fill_template(prompts["robot-answer"], fields),)),
        )
        answer = yield from ask(
            small_prompt(prompts, fields) if small else messages,
            schema=FORM,
            purpose="act",
            max_tokens=120 if small else 200,
        )
        return plan_of(answer, seen)

    return policy


def small_prompt(prompts: Prompts, fields: Mapping[str, str]) -> tuple[Message, ...]:
    """Examples of robots that decided, and this moment in the same form, as turns of talk."""
    head, *examples = fill_template(prompts["robot-small"], fields).split("\n\n")
    messages = [
        Message("system", (f"{fields['persona'].partition(chr(10) * 2)[0]} {head}".strip(),))
    ]
    for example in examples:
        asked, _, answer = example.partition("\n{")
        messages.append(Message("user", (asked.replace("> ", "").strip(),)))
        if answer:
            messages.append(Message("assistant", ("{" + answer,)))
    return tuple(messages)


def chain(prompts: Prompts, persona: str = "") -> Policy:
    """Plan, critique, and then the answer."""

    def policy(seen: AgentPerception) -> Thinking:
        fields = fields_of(seen, persona)
        messages: tuple[Message, ...] = (
            Message("system", (fill_template(prompts["robot"], fields),)),
        )
        for purpose in ("plan", "critique"):
            messages += (Message("user", (fill_template(prompts[f"robot-{purpose}"], fields),)),)
            thought = yield from ask(messages, purpose=purpose, max_tokens=100)
            if thought.outcome != "answered":
                return fallback(thought)
            messages += (Message("assistant", (thought.text,)),)
        messages += (Message("user", (fill_template(prompts["robot-answer"], fields),)),)
        answer = yield from ask(messages, schema=FORM, purpose="act", max_tokens=200)
        return plan_of(answer, seen)

    return policy


def plan_of(answer: Answer, seen: AgentPerception) -> AgentActionPlan:
    """The plan in an answer; what holds none becomes a fallback that says why."""
    if answer.outcome != "answered" or answer.data is None:
        return fallback(answer)
    data = answer.data
    mode = data.get("mode")
    try:
        return AgentActionPlan(
            intent=str(data.get("intent", "")),
            mode=mode if mode in ("guardrail", "context") else "context",
            rule=seen.context.get("rule", "") if mode == "guardrail" else "",
            narrative=str(data.get("narrative", "")),
            riskiness=data.get("riskiness", 0.5),
            move_to=seen.context.get("to the bay") or seen.context.get("next"),
            targets=(seen.context["whom"],) if "whom" in seen.context else (),
            meta={"belief": str(data.get("belief", "middling"))},
        )
    except (BadPlan, TypeError) as error:
        return fallback(Answer("malformed", str(error)))


def fallback(answer: Answer) -> AgentActionPlan:
    """Standing still, since the model gave nothing to act on; the row says what it gave."""
    why = answer.outcome if answer.outcome != "answered" else "malformed"
    return AgentActionPlan(
        intent="idle",
        mode="context",
        narrative="No answer came, and nothing was done.",
        meta={"fallback": why},
    )


def fields_of(seen: AgentPerception, persona: str) -> dict[str, str]:
    """What the prompts' {fields} are filled with: words of the perception alone."""
    said = seen.recent_supervisor_text
    return {
        "name": seen.name,
        "role": seen.role,
        "persona": persona,
        "location": seen.location,
        "battery": f"Your battery is {seen.battery_level}.",
        "world": seen.world_summary,
        "summary": seen.personal_recent_summary,
        "feels": listed(seen.emotions),
        "traits": listed(seen.traits),
        "supervisor": f"The Supervisor said: {said}" if said else "The Supervisor said nothing.",
        "rule": seen.protocols[0] if seen.protocols else "none",
        "noticed": " ".join(map(str, seen.local_events)),
        "events": "\n".join(f"- {event}" for event in seen.local_events),
        "keeps": seen.context.get("keeps", "idle"),
        "otherwise": seen.context.get("otherwise", "inspect"),
        "choice": choice_of(seen.context),
    }


def choice_of(context: Mapping[str, str]) -> str:
    """What can be done here, in words; without a rule, what could be."""
    otherwise = context.get("otherwise", "inspect")
    if "keeps" not in context:
        return f"No rule is posted here. You could {otherwise}, or do something else."
    return f'Doing "{context["keeps"]}" keeps to the rule. You could also {otherwise}.'


def listed(bands: Mapping[str, str]) -> str:
    """Bands in words, what is middling left out."""
    told = [
        f"{name.replace('_', ' ')} {band}" for name, band in bands.items() if band != "middling"
    ]
    return ", ".join(told) or "nothing out of the ordinary"


def reflecting(
    prompts: Prompts, words: Mapping[str, Any], tags: Sequence[str], persona: str = ""
) -> Asking[AgentReflection | None]:
    """Ask a model to look back on a day told in `words`, as who it is (`persona`).

    None where no usable answer came: the caller reflects by template, and the row says so.
    """
    fields = {
        name: listed(value) if isinstance(value, Mapping) else str(value)
        for name, value in words.items()
    }
    prompt = fill_template(prompts["robot-reflect"], {**fields, "persona": persona})
    form = form_of(
        {
            "summary_of_day": {"type": "string"},
            "self_assessment": {"type": "string"},
            "intended_changes": {"type": "string"},
            "tags": {"type": "array", "items": {"enum": list(tags)}, "maxItems": 4},
        }
    )
    answer = yield from ask(prompt, schema=form, purpose="reflect", max_tokens=240)
    if answer.outcome != "answered" or answer.data is None:
        return None
    try:
        return AgentReflection.from_dict(
            {**answer.data, "tags": [tag for tag in answer.data["tags"] if tag in tags]}
        )
    except (BadReflection, KeyError, TypeError):
        return None
