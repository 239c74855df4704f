"""branch: two models think of options side by side, and one consolidates them; no code is written.

Where one of the two does not answer, what the other said is consolidated alone, which the result
says. Who proposed something in a turn that came to no end is not asked again.
"""

from loopforge.core.model_trouble import OUTCOMES
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import (
    Answer,
    Ask,
    Message,
    Mind,
    Policy,
    Prompts,
    Thinking,
    ask,
    together,
)
from loopforge.core.text.erasable_text import Words
from loopforge.policies.flows.task_prompt import no_answer, told_as_result, work_messages

LONG = 1500
"""Tokens of one model's options."""
TIERS = (4, 3)
"""The tiers of the two, where nothing else is set."""


def branching(prompts: Prompts) -> Policy:
    """The mind that weighs options, with these prompts."""

    def policy(seen: AgentPerception) -> Thinking:
        messages = work_messages(seen, prompts, "work-options")
        had = [line for line in seen.lines if line.kind == "option"]
        done = {line.which for line in had}
        tiers = [
            tier for tier in tiers_of(seen.context.get("branches", "")) if str(tier) not in done
        ]
        asked = [Ask(messages, purpose="options", max_tokens=LONG, tier=tier) for tier in tiers]
        given = (yield from together(*asked)) if asked else ()
        good = [one for one in given if isinstance(one, Answer) and one.outcome == "answered"]
        texts = [line.text for line in had]
        texts += [Words(text) for one in good if (text := one.text.strip())]
        if not texts:
            return no_answer(next(one for one in given if isinstance(one, Answer)))
        proposals = tuple(
            Message("assistant", (f"Proposal {nth}:\n", text)) for nth, text in enumerate(texts, 1)
        )
        last = Message("user", (prompts["work-consolidate"].strip(),))
        joined = (*messages[:-1], *proposals, last)
        answer = yield from ask(joined, purpose="consolidate", max_tokens=LONG, aloud=True)
        models = [*(str(line.who) for line in had), *(one.model for one in good)]
        named = " and ".join(dict.fromkeys(filter(None, models)))
        why = f"I had {named or 'two models'} think of options and laid them side by side."
        missed = [one.outcome for one in given if isinstance(one, Answer) and one not in good]
        trouble = OUTCOMES.get(missed[0], "it said nothing") if missed else ""
        note = f"*Another model was asked, too: {trouble}.*" if missed else ""
        return told_as_result(answer, "weigh", why, note)

    return policy


def tiers_of(written: str) -> tuple[int, ...]:
    """The tiers that are written so: "4 3"."""
    found = tuple(int(one) for one in written.split() if one in {"1", "2", "3", "4"})
    return found or TIERS


MIND = Mind("branch/3", branching, hidden=True)
