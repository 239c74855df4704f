"""title: a mind that names a conversation. It reads the room's lines and plans one Entitle."""

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import Message, Mind, Policy, Prompts, Thinking, ask
from loopforge.core.room_vocabulary import Entitle, StaySilent
from loopforge.core.text.topics import is_unspaced_script, topic_stems
from loopforge.policies.prompt_building import (
    few_shot_messages,
    fields_of,
    fill_template,
    form_of,
    is_small,
    last_lines,
    without_answer,
)

VERSION = "title/3"
LINES = 12
"""Lines that a title is made from."""
SCHEMA = form_of({"title": {"type": "string", "minLength": 3, "maxLength": 48}})


def title(prompts: Prompts) -> Policy:
    """The naming mind with this prompt."""

    def policy(seen: AgentPerception) -> Thinking:
        if is_small(seen):
            asked = few_shot_messages(prompts["title-small"], fields_of(seen))
        else:
            asked = (Message("system", (fill_template(prompts["title"], fields_of(seen)),)),)
        messages = (*asked, last_lines(seen, LINES))
        answer = yield from ask(
            messages, schema=SCHEMA, field="title", purpose="title", max_tokens=40
        )
        if answer.outcome != "answered" or answer.data is None:
            return without_answer(answer)
        name = str(answer.data.get("title") or "").strip()
        if is_small(seen) and name and not _is_about(name, seen):
            return AgentActionPlan(
                intent="name",
                mode="context",
                narrative="The name that came was not of this conversation: its own words are.",
                acts=(Entitle(title=""),),
            )
        return AgentActionPlan(
            intent="name",
            mode="context",
            narrative="I named what the conversation is about.",
            acts=(Entitle(title=name),) if name else (StaySilent(why="no name came"),),
        )

    return policy


def _is_about(name: str, seen: AgentPerception) -> bool:
    """Whether a name has a word of the lines: a small model may give one of its examples."""
    said = topic_stems("\n".join(str(line.text) for line in seen.lines[-LINES:]))
    return not said.isdisjoint(topic_stems(name)) or any(map(is_unspaced_script, name))


MIND = Mind(VERSION, title, hidden=True)
