"""chain: plan, critique, final.

Three questions in a row: what do I want to say, what is wrong with that, and then the words
themselves, aloud. What was heard meanwhile is put before the model in the next question.
"""

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Answer, Fits, Message, Mind, Policy, Prompts, Thinking, ask
from loopforge.core.room_vocabulary import Note, Say
from loopforge.core.text.tool_markup import without_calls
from loopforge.policies.prompt_building import (
    TranscriptMessages,
    ask_for_account,
    build_prompt,
    fields_of,
    fill_template,
    is_small,
    may_pass,
    without_answer,
    words_of,
)
from loopforge.policies.small_prompt import small_prompt, trim_for_small_model
from loopforge.policies.speaker_messages import SpeakerTold, instruction_message, line_message
from loopforge.policies.talk import ask_small_model

VERSION = "chain/3"
STEPS = (("plan", 120), ("critique", 120), ("final", 400))
"""What it is asked in a row, each with the most tokens of the answer."""


def _news(lines: tuple[Line, ...], seen: AgentPerception) -> tuple[Message, ...]:
    told, small = SpeakerTold(seen.lines), is_small(seen)
    return tuple(
        line_message(line, told.before(line), small=small, numbered=not small) for line in lines
    )


def chain(prompts: Prompts) -> Policy:
    """The mind that thinks in three steps, with these prompts."""
    told = TranscriptMessages(spoken=True)

    def policy(seen: AgentPerception) -> Thinking:
        small = is_small(seen)
        fits: Fits = "any" if small else "large"
        messages = small_prompt(seen, prompts) if small else build_prompt(seen, prompts, told=told)
        answers: list[Answer] = []
        for purpose, most in STEPS:
            text = fill_template(prompts[purpose], fields_of(seen))
            messages += (Message("user", (text,)) if small else instruction_message(text, seen),)
            answer = yield from ask(
                messages, aloud=purpose == "final", purpose=purpose, max_tokens=most, fits=fits
            )
            if answer.small:
                return (yield from ask_small_model(trim_for_small_model(seen), prompts))
            if answer.outcome != "answered" and purpose != "final":
                return without_answer(answer)
            answers.append(answer)
            if purpose != "final":
                messages += (Message("assistant", (answer.text,)), *_news(answer.news, seen))
        plan, _, final = answers
        said = without_calls(final.text).strip()
        if final.outcome != "answered" or not said:
            return without_answer(final, "" if may_pass(seen) else words_of(final))
        mode, rule, narrative = yield from ask_for_account(messages, said, seen, prompts)
        return AgentActionPlan(
            intent="talk",
            mode=mode,
            rule=rule,
            narrative=narrative,
            acts=(Say(text=said), Note(text=f"I meant to: {plan.text.strip()}")),
        )

    return policy


MIND = Mind(VERSION, chain)
