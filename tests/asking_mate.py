"""A mate that asks before it posts: its file, its scripted mind, and the tool."""

import json

from loopforge.app import App
from loopforge.runtime.ports import Question, Tool, ToolCall
from tests.said_now import said_now

MAYA = "---\nname: Maya\nrole: r\ntools: [post]\n---\nYou are Maya."


def asking(question: Question) -> dict[str, object]:
    """A mind that posts what it is told to send to somebody of four letters, and talks else."""
    told = said_now(question)
    asked = next((text for text in reversed(told) if "send it" in text), "")
    if not asked or told.index(asked) < len(told) - 1:
        return {"say": f"Well, {len(told)}."}
    return {"say": "", "tool": "post", "arguments": json.dumps({"to": asked[-4:]})}


def at_length(question: Question) -> dict[str, object]:
    """The same mind; but what it posts is long, and ends in whom it is for."""
    wanted = asking(question)
    if "tool" in wanted:
        to = json.loads(str(wanted["arguments"]))["to"]
        words = " ".join(f"word{nth}" for nth in range(700))
        wanted["arguments"] = json.dumps({"text": words, "to": to})
    return wanted


def with_post(app: App) -> list[str]:
    """Give a home the tool, which asks first; to whom was posted."""
    posted = list[str]()

    async def post(call: ToolCall) -> str:
        posted.append(str(call.arguments["to"]))
        return "Sent."

    app.tools.add(Tool(name="post", summary="Sends.", asks=True), post)
    return posted
