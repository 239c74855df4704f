"""reflexion: what is to be learned from an attempt at a task, each sentence by its turns.

    [what is wanted] [the task, and what was done and seen, turn by turn] [the score]

What worked, what failed, the root cause, what to do otherwise, one insight. Whether the record says
so is checked by code (core/work/reflection_rules.py), and what is kept is decided there as well.
"""

from collections.abc import Iterator
from typing import Any

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Message, Mind, Policy, Prompts, Thinking
from loopforge.core.work.work_vocabulary import LookBack, ReflectionPart, SaidOfAttempt
from loopforge.policies.flows.task_prompt import no_answer
from loopforge.policies.prompt_building import ask_again, fields_of, fill_template, form_of

LONG = 900
"""Tokens of a look back."""
LONGEST = 300
"""Characters of a sentence."""
MOST = 4
"""Sentences of one part."""
CITED = 8
"""Turns that one sentence cites."""
SENTENCE = form_of(
    {
        "text": {"type": "string", "maxLength": LONGEST},
        "turns": {"type": "array", "items": {"type": "integer", "minimum": 1}},
    }
)
SEVERAL = {"type": "array", "items": SENTENCE}
FORM = form_of(
    {
        "worked": SEVERAL,
        "failed": SEVERAL,
        "root_cause": SENTENCE,
        "strategy_change": SENTENCE,
        "insight": SENTENCE,
    }
)
PARTS: dict[str, ReflectionPart] = {
    "worked": "worked",
    "failed": "failed",
    "root_cause": "cause",
    "strategy_change": "change",
    "insight": "insight",
}
"""What each field of the form is a part of."""


def reflecting_on(prompts: Prompts) -> Policy:
    """The mind that looks back on an attempt, with these prompts."""

    def policy(seen: AgentPerception) -> Thinking:
        messages = (
            Message("system", (fill_template(prompts["work-reflect"], fields_of(seen)),)),
            *map(_message, seen.lines),
            Message("user", (f"Look back on attempt {seen.context.get('attempt', '')}.",)),
        )
        answer = yield from ask_again(messages, FORM, purpose="reflect", max_tokens=LONG)
        if answer.outcome != "answered" or answer.data is None:
            return no_answer(answer)
        claims = tuple(_claims(answer.data))
        insight = next((one.text for one in claims if one.part == "insight"), "")
        return AgentActionPlan(
            intent="reflect",
            mode="context",
            narrative=insight or "I looked back, and found nothing to remember.",
            acts=(LookBack(claims=claims),),
        )

    return policy


def _message(line: Line) -> Message:
    """One line of the attempt, with the turn that it is of."""
    turn = f"[turn {line.number}] " if line.number else ""
    match line.kind:
        case "result":
            return Message("user", (turn, line.who, " gave:\n", line.text))
        case "mine":
            return Message("user", (turn, "It says of this: ", line.text))
        case "told":
            return Message("user", (turn, "On record: ", line.text))
        case _:
            return Message("user", (line.who, ": ", line.text))


def _claims(data: dict[str, Any]) -> Iterator[SaidOfAttempt]:
    """The sentences of an answer, as far as they are some."""
    for name, part in PARTS.items():
        given = data.get(name)
        several = given if isinstance(given, list) else [given]
        for one in several[:MOST]:
            if isinstance(one, dict) and (text := " ".join(str(one.get("text") or "").split())):
                yield SaidOfAttempt(part=part, text=text[:LONGEST], turns=_turns(one.get("turns")))


def _turns(given: object) -> tuple[int, ...]:
    """The numbers of turns among what was given."""
    found = given if isinstance(given, list) else []
    good = (one for one in found if isinstance(one, int) and not isinstance(one, bool) and one > 0)
    return tuple(dict.fromkeys(good))[:CITED]


MIND = Mind("reflexion/2", reflecting_on, hidden=True)
