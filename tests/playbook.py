"""A language for tests of minds: this was shown, it asked, it was told, it planned."""

from __future__ import annotations

from typing import Any

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Answer, Ask, Policy, Reply, Request, Thinking, as_policy
from loopforge.core.text.erasable_text import Words, public_words

PROMPTS = {
    name: f"<{name}>"
    for name in (
        "base",
        "base-small",
        "reply",
        "reply-also",
        "reply-more",
        "reply-pass",
        "form",
        "form-tools",
        "reply-link",
        "form-react",
        "form-more",
        "form-files",
        "form-attach",
        "tools",
        "account",
        "decide",
        "plan",
        "critique",
        "final",
        "title",
    )
} | {
    "time-small": "It is {now}.",
    "faq": "> What is this?\n> Where am I?\nThis is {name}'s home. (README.md)",
    "tool-small": '> What is 2 + 3?\n> Calculate 2 + 3.\ncalculator {"expression": "2 + 3"}\n\n'
    '> Remind me at 8 to eat.\nremind {"said": "{line}"}\n\n'
    "> Which files are here?\nlist_files {}\n\n> Broken?\ncalculator {",
    "decide-small": "<decide-small>",
    "title-small": "<title-small>\n\n> bo: hi\n{}",
    "account-small": "<account-small>\n\n> bo: Hi!\\nMaya: Hi.\nI greeted.",
}


def heard(who: str, text: str, id: str = "") -> Line:
    """A person's line."""
    return Line(kind="heard", who=Words(who), text=Words(text), id=id or f"{who}-{len(text)}")


def mine(text: str, narrative: str = "", mode: str = "context") -> Line:
    """The mate's own line, with what it meant."""
    return Line(
        kind="mine",
        who=public_words("maya"),
        text=Words(text),
        mode=mode,
        narrative=Words(narrative),
    )


def shown(*lines: Line, **context: str) -> AgentPerception:
    """What maya is shown in a room."""
    return AgentPerception(
        step=0,
        name="Maya",
        role="gardener",
        location="commons",
        local_events=lines,
        context={"character": "You are Maya.", "summons": "mention", "now": "noon"} | context,
    )


class Playbook:
    """One turn of one mind, written as a conversation between it and its driver."""

    def __init__(self, policy: Policy, perception: AgentPerception) -> None:
        self.thinking: Thinking = as_policy(policy)(perception)
        self.plan: AgentActionPlan | None = None
        self.request: Request | None = None
        self._step(None)

    def _step(self, reply: Reply | None) -> None:
        try:
            self.request = next(self.thinking) if reply is None else self.thinking.send(reply)
        except StopIteration as end:
            self.request, self.plan = None, end.value

    def asks(self, purpose: str, *, aloud: bool | None = None) -> Playbook:
        """It now asks a model, for this purpose."""
        assert isinstance(self.request, Ask), self.plan or self.request
        assert self.request.purpose == purpose
        if aloud is not None:
            assert self.request.aloud is aloud
        return self

    def told(self, reply: Reply) -> Playbook:
        """It is told this."""
        self._step(reply)
        return self

    def answered(self, text: str = "", **data: object) -> Playbook:
        """It is told a good answer: a text, or the fields of a structured one."""
        return self.told(Answer("answered", text or str(data), dict(data) or None, "model"))

    @property
    def prompt(self) -> str:
        """The prompt it asks with, as text."""
        assert isinstance(self.request, Ask)
        return "\n".join(f"[{one.role}] {one.text}" for one in self.request.messages)

    @property
    def form(self) -> dict[str, Any]:
        """The fields of the form it wants its answer in."""
        assert isinstance(self.request, Ask)
        fields: dict[str, Any] = (self.request.schema or {}).get("properties", {})
        return fields

    def plans(self) -> AgentActionPlan:
        """It is done, with this plan."""
        assert self.plan is not None, self.request
        return self.plan
