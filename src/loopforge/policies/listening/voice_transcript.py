"""transcript: a mind that writes down voice notes. It is shown one line and what was said with it.

Each note is asked about by itself, and what is heard in all of them is one Transcribe. In it stands
in its place, too, that a note was not written down, where others were.
"""

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Answer, Message, Mind, Policy, Prompts, Thinking, ask
from loopforge.core.room_vocabulary import StaySilent, Transcribe
from loopforge.policies.prompt_building import without_answer

VERSION = "transcript/2"
LONGEST = 8000
"""Tokens of what is said in one note; an hour has some 12,000."""
NOTHING = "nothing was said in it"
LOST = "[a voice note that could not be written down]"


def transcript(_prompts: Prompts) -> Policy:
    """The writing mind; a model that hears takes no prompt."""

    def policy(seen: AgentPerception) -> Thinking:
        heard: list[str] = []
        known, failed = False, None
        for line in seen.local_events:
            if not isinstance(line, Line) or line.picture is None:
                continue
            message = Message("user", ("",), (line.picture,))
            answer = yield from ask((message,), purpose="transcript", max_tokens=LONGEST)
            if answer.outcome != "answered":
                failed = answer
                heard.append(LOST)
            elif text := answer.text.strip():
                known = True
                heard.append(text)
        if failed is not None and not known:
            return without_answer(failed)
        return AgentActionPlan(
            intent="transcribe",
            mode="context",
            narrative="I wrote down what is said in the voice note.",
            acts=(Transcribe(text="\n\n".join(heard)),) if known else (StaySilent(why=NOTHING),),
            meta=_trouble(failed, known=known),
        )

    return policy


def _trouble(failed: Answer | None, *, known: bool) -> dict[str, str]:
    """What people are to be told: why a note was not written down, or that nothing was said."""
    if failed is not None:
        return {"trouble": failed.outcome}
    return {} if known else {"trouble": "silence"}


MIND = Mind(VERSION, transcript, hidden=True)
