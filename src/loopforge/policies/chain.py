"""chain: plan, critique, final.

Three questions in a row: what do I want to say, what is wrong with that, and then the words
themselves, aloud. What was heard meanwhile is put before the model in the next question.
"""

from __future__ import annotations

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Fits, Message, Mind, Policy, Prompts, Thinking, ask
from loopforge.core.room_vocabulary import Note, Say
from loopforge.policies.prompt_building import (
    Transcripts,
    account,
    fields_of,
    fill,
    for_small,
    is_small,
    may_pass,
    prompt,
    without_answer,
    words_of,
)
from loopforge.policies.small_prompt import small_prompt
from loopforge.policies.speaker_messages import SpeakerTold, instruction, row
from loopforge.policies.talk import plainly

VERSION = "chain/3"


def _news(lines: tuple[Line, ...], seen: AgentPerception) -> tuple[Message, ...]:
    told, small = SpeakerTold(seen.lines), is_small(seen)
    return tuple(row(line, told.before(line), small=small, numbered=not small) for line in lines)


def chain(prompts: Prompts) -> Policy:
    """The mind that thinks in three steps, with these prompts."""
    told = Transcripts(spoken=True)

    def policy(seen: AgentPerception) -> Thinking:
        def question(name: str) -> Message:
            text = fill(prompts[name], fields_of(seen))
            return Message("user", (text,)) if is_small(seen) else instruction(text, seen)

        fits: Fits = "any" if is_small(seen) else "large"
        base = small_prompt(seen, prompts) if is_small(seen) else prompt(seen, prompts, told=told)
        messages = (*base, question("plan"))
        plan = yield from ask(messages, purpose="plan", max_tokens=120, fits=fits)
        if plan.small:
            return (yield from plainly(for_small(seen), prompts))
        if plan.outcome != "answered":
            return without_answer(plan)
        messages += (
            Message("assistant", (plan.text,)),
            *_news(plan.news, seen),
            question("critique"),
        )
        critique = yield from ask(messages, purpose="critique", max_tokens=120, fits=fits)
        if critique.small:
            return (yield from plainly(for_small(seen), prompts))
        if critique.outcome != "answered":
            return without_answer(critique)
        messages += (
            Message("assistant", (critique.text,)),
            *_news(critique.news, seen),
            question("final"),
        )
        final = yield from ask(messages, aloud=True, purpose="final", max_tokens=400, fits=fits)
        if final.small:
            return (yield from plainly(for_small(seen), prompts))
        said = final.text.strip()
        if final.outcome != "answered" or not said:
            return without_answer(final, "" if may_pass(seen) else words_of(final))
        mode, rule, narrative = yield from account(messages, said, seen, prompts)
        return AgentActionPlan(
            intent="talk",
            mode=mode,
            rule=rule,
            narrative=narrative,
            acts=(Say(text=said), Note(text=f"I meant to: {plan.text.strip()}")),
        )

    return policy


MIND = Mind(VERSION, chain)
