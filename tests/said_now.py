"""What is said now, as a scripted mind reads it in a prompt: without what was only recalled."""

from __future__ import annotations

from loopforge.policies.prompt_building import RECALLED
from loopforge.runtime.ports import Question


def said_now(question: Question) -> list[str]:
    """The rows of a prompt that are lines and results before the mate's eyes, in order."""
    rows = [text for role, text in question.messages if role == "user"]
    return [text for text in rows if not text.startswith(RECALLED)]
