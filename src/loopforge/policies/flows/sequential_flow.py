"""sequential-thinking: plan, act by tools, and look at what came of it.

One turn is one answer: what it plans, which tools it uses now, and where it stands. What the tools
gave is seen in the next turn, together with what people said meanwhile. Whether that was any good
is judged by what can be seen, not by this mind, and looked back on by another (reflexion_flow.py).
A small model is given its steps (small_steps.py).
"""

from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from loopforge.core.action_plan import Act, AgentActionPlan
from loopforge.core.model_trouble import OUTCOMES
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import (
    Answer,
    Ask,
    Asking,
    Message,
    Mind,
    Policy,
    Prompts,
    Thinking,
    ask,
    together,
)
from loopforge.core.work.work_vocabulary import (
    AdmitStuck,
    AskPerson,
    FinishWork,
    GoOn,
    SetPlan,
)
from loopforge.policies.flows.small_steps import small_steps
from loopforge.policies.flows.task_prompt import LISTING, no_answer, work_form, work_messages
from loopforge.policies.prompt_building import is_small
from loopforge.policies.tool_requests import use_tools, wanted_calls

LONG = 4000
"""Tokens of an answer, which may hold a whole file as an argument."""
SECOND = 800
"""Tokens of a second opinion."""
MOST_STEPS = 20
"""Steps of a plan that are kept."""
SILENT = "It said nothing of it."
LONGEST_SAID = 2000
"""Characters of what it says of a turn; a thought of the form is no longer, prose may be."""


def sequential(prompts: Prompts) -> Policy:
    """The mind that works step by step, with these prompts."""

    def policy(seen: AgentPerception) -> Thinking:
        if is_small(seen):
            return (yield from small_steps(seen, prompts))
        answer = yield from ask(
            work_messages(seen, prompts, "work-turn"),
            schema=work_form(seen),
            purpose="work",
            field="say",
            max_tokens=LONG,
            tools=seen.offered,
            listing=LISTING if seen.offered else -1,
        )
        if answer.outcome != "answered" or answer.data is None:
            return no_answer(answer)
        data, acts = answer.data, list[Act]()
        if steps := _steps(data):
            acts.append(SetPlan(steps=steps))
        wanted = wanted_calls(data) if seen.offered else []
        if wanted:
            if data.keys() <= {"calls"}:  # what stood beside them was prose
                data = {**data, "thought": answer.text}
            used = yield from use_tools(wanted, seen)
            unused = " ".join(dict.fromkeys(used.unused))
            acts.append(GoOn(did=said_of(data), estimate=estimate_of(data), unused=unused))
            return _plan("act", data, acts)
        acts.append(_stand(data))
        if isinstance(acts[-1], FinishWork):
            acts[-1] = yield from _second(acts[-1], seen, prompts)
        return _plan("work", data, acts)

    return policy


def _steps(data: dict[str, Any]) -> tuple[str, ...]:
    written = data.get("plan")
    steps = [str(one).strip() for one in written] if isinstance(written, list) else []
    return tuple(step for step in steps if step)[:MOST_STEPS]


def _stand(data: dict[str, Any]) -> Act:
    """Where it says that it stands."""
    said = str(data.get("say") or "").strip()
    match data.get("state"):
        case "done":
            evidence = str(data.get("evidence") or "").strip()
            return FinishWork(
                result=said or said_of(data), evidence=evidence, estimate=estimate_of(data)
            )
        case "question" if said:
            return AskPerson(question=said)
        case "stuck":
            return AdmitStuck(why=said or said_of(data))
        case _:
            return GoOn(did=said_of(data), estimate=estimate_of(data))


def said_of(data: dict[str, Any]) -> str:
    """What it says of this turn."""
    said = str(data.get("thought") or "").strip() or str(data.get("say") or "").strip()
    return said[:LONGEST_SAID] or SILENT


def estimate_of(data: dict[str, Any]) -> float:
    """Its own confidence, 0 to 100; -1 where it gave none that is one. 0.9 is a share: 90."""
    value = data.get("confidence")
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value.strip().removesuffix("%"))
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        return -1.0
    return float(round(value * 100 if 0 < value < 1 else value, 2))


def _plan(intent: str, data: dict[str, Any], acts: list[Act]) -> AgentActionPlan:
    return AgentActionPlan(
        intent=intent, mode="context", narrative=said_of(data)[:600], acts=tuple(acts)
    )


def _second(done: FinishWork, seen: AgentPerception, prompts: Prompts) -> Asking[FinishWork]:
    """The same result with what a peer thinks of it, or why it said nothing, where one is asked."""
    peer = seen.context.get("peer", "")
    if not peer:
        return done
    asked = work_messages(seen, prompts, "work-second", seen.context.get("peer_character", ""))
    told = Message("assistant", ("The result:\n", done.result))
    messages = (*asked[:-1], told, asked[-1])
    tier = int(seen.context.get("peer_tier", "0"))
    question = Ask(messages, purpose="second-opinion", max_tokens=SECOND, tier=tier)
    (answer,) = yield from together(question)
    if not isinstance(answer, Answer):
        return done
    text = answer.text.strip()
    if answer.outcome != "answered" or not text:
        why = OUTCOMES.get(answer.outcome, "it said nothing")
        return replace(done, result=f"{done.result}\n\n*No second opinion by {peer}: {why}.*")
    by = f"{peer}, {answer.model}" if answer.model else peer
    return replace(done, result=f"{done.result}\n\n**A second opinion ({by}):** {text}")


MIND = Mind("sequential-thinking/4", sequential, hidden=True)
