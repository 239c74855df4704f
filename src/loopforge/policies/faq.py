"""Frequently asked questions, answered from the house's documents and its clock, not guessed.

A small model knows nothing of the program it runs in and makes up the rest, and it misreads a clock
that it is told. Where a line asks about the house, its mate says what the documents say and where
it stands; where it asks for day or time, what the clock shows; no model is asked. The questions and
answers are prompts/faq.md and prompts/time-small.md, which a home may override. Knows English
alone.
"""

import re

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.mates.mate_file import parse_dialogue
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Prompts
from loopforge.core.room_vocabulary import Say, StaySilent
from loopforge.policies.few_shot import Example, closest_example
from loopforge.policies.prompt_building import fields_of, fill_template

RULE = "questions about the house are answered from its pages"
TIME_RULE = "day and time are read from the clock"

OF_TIME = re.compile(
    r"(?:\b(?:what|which) (?:time|date|day(?: of the week)?|weekday|month|year) "
    r"(?:is (?:it|today)|it is|do we have)\b"
    r"|\bwhat(?: is|['’]?s) (?:the (?:current )?(?:time|date|day)|today['’]?s date)\b"
    r"|\b(?:tell|give) (?:me|us) the (?:current )?(?:time|date)\b|\b(?:got|have) the time\b"
    r"|\b(?:time|late|early) is it\b|\bis it (?:late|early)\b)"
    r"(?:\W+(?!in\b)\w+){0,3}?\W*(?:[?!.]|\Z)",
    re.IGNORECASE,
)
"""Questions for day and time ("now, please" may follow, but no more than that, and no place)."""


def entries(faq: str) -> tuple[Example, ...]:
    """Each question of the file, however it is put, with the answer to it."""
    return tuple(
        (asked, answer)
        for questions, answer in parse_dialogue(faq).examples
        for asked in questions.splitlines()
    )


def answer_without_model(
    seen: AgentPerception, prompts: Prompts, called: Line, to: str
) -> AgentActionPlan | None:
    """The plan that answers what is known without a model, if `called` asks for it; else None.

    `to` is the line to reply to. Silent where the same has been said since it was asked.
    """
    said = str(called.text)
    if found := closest_example(entries(prompts["faq"]), said, seen.name):
        asked, template = found
        rule = RULE
        why = f"I was asked about the house ({asked}) and said what its pages say; I did not guess."
    elif OF_TIME.search(said) and seen.context.get("now"):
        template, rule = prompts["time-small"], TIME_RULE
        why = "I was asked for the time and said what the clock shows; I did not guess."
    else:
        return None
    answer = fill_template(template, fields_of(seen))
    since = seen.lines[seen.lines.index(called) + 1 :]
    silent = any(str(line.text) == answer for line in since)
    if silent:
        why = "What I was asked has been answered already."
    return AgentActionPlan(
        intent="listen" if silent else "talk",
        mode="guardrail",
        rule=rule,
        narrative=why,
        acts=(StaySilent(why=why),) if silent else (Say(text=answer, reply_to=to),),
    )
