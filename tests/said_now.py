"""What is said now, as a scripted mind reads it in a prompt: without what was only recalled."""

import re

from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.policies.prompt_building import RECALLED
from loopforge.runtime.ports import Question

ASKED = re.compile(r"use (\w+) (\{.*\})")


def said_now(question: Question) -> list[str]:
    """The rows of a prompt that are lines and results before the mate's eyes, in order."""
    rows = [text for role, text in question.messages if role == "user"]
    return [text for text in rows if not text.startswith(RECALLED)]


def using_what_is_asked(question: Question) -> ScriptedAnswer:
    """Use the tool that the last line asks for, then say what came."""
    texts = said_now(question)
    asked = [nth for nth, text in enumerate(texts) if ASKED.search(text)]
    results = [text for text in texts[asked[-1] :] if "[result of " in text] if asked else []
    if results or not asked:
        return ScriptedAnswer(data={"say": results[-1] if results else "Yes?"})
    tool, arguments = [*ASKED.finditer(texts[asked[-1]])][-1].groups()
    return ScriptedAnswer(data={"say": "", "tool": tool, "arguments": arguments})
