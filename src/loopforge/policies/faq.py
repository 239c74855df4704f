"""Frequently asked questions about the house, answered from its documents instead of guessed.

A small model knows nothing of the program it runs in and makes up the rest. Where a line asks about
the house, its mate says what the documents say and where it stands; no model is asked. The
questions and answers are prompts/faq.md, which a home may override. Knows English alone.
"""

from __future__ import annotations

from loopforge.core.mate import dialogue
from loopforge.core.perception import AgentPerception
from loopforge.core.plan import AgentActionPlan
from loopforge.core.policy import Prompts
from loopforge.core.room import Say, StaySilent
from loopforge.policies.few_shot import Example, closest
from loopforge.policies.prompting import fields_of, fill

RULE = "questions about the house are answered from its pages"


def entries(faq: str) -> tuple[Example, ...]:
    """Each question of the file, however it is put, with the answer to it."""
    return tuple(
        (asked, answer)
        for questions, answer in dialogue(faq).examples
        for asked in questions.splitlines()
    )


def from_documents(
    seen: AgentPerception, prompts: Prompts, said: str, to: str
) -> AgentActionPlan | None:
    """The plan that answers from the documents, if `said` asks about the house; else None.

    `to` is the line to reply to. Silent where the same stands among the room's lines already.
    """
    found = closest(entries(prompts["faq"]), said, seen.name)
    if found is None:
        return None
    asked, template = found
    answer = fill(template, fields_of(seen))
    why = f"I was asked about the house ({asked}) and said what its pages say; I did not guess."
    if any(str(line.text) == answer for line in seen.lines):
        why = "I was asked about the house; what its pages say stands here already."
    silent = why.endswith("already.")
    return AgentActionPlan(
        intent="listen" if silent else "talk",
        mode="guardrail",
        rule=RULE,
        narrative=why,
        acts=(StaySilent(why=why),) if silent else (Say(text=answer, reply_to=to),),
    )
