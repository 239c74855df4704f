"""The host of a home in which a task is worked on, made to be killed; `main` runs in its own process.

The real app on SQLite, the real sandbox, a scripted model. The mate appends marks to a file, one
command for each, so that a command that ran twice is seen. It knows what was done by what it is
shown alone: of a command of which nobody knows whether it ran it looks into the file first.
"""

import asyncio
import json
import re
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from loopforge.app import open_app
from loopforge.host_lock import lock_home
from loopforge.models.scripted_model import ScriptedModels
from loopforge.runtime.ports import Question
from loopforge.settings import load_settings

MARKS = 5
"""Commands of the task that change something."""
LOG = "marks.txt"
TASK = f"Write the Python marks into {LOG}, one by one"


def answer(asked: Question) -> Any:
    """What the mate does next, by what it is shown."""
    if asked.schema is None or "state" not in asked.schema["properties"]:
        return "It went as it went."
    done, unsure = set[int](), False
    for _, text in asked.messages:
        if text.startswith("[work_run, unknown]"):
            unsure = True
        elif text.startswith("[work_run]"):
            wrote = re.search(r"echo (\d+) >>", text)
            if wrote and "[exit code 0" in text:
                done.add(int(wrote[1]))
            if "cat " in text:
                unsure = False
                done |= {int(one) for one in re.findall(r"^(\d+)$", text, re.MULTILINE)}
    left = [nth for nth in range(1, MARKS + 1) if nth not in done]
    if unsure:
        return _uses(f"cat {LOG} || true", "I look first.")
    if left:
        return _uses(f"echo {left[0]} >> {LOG}; sleep 0.1", f"Mark {left[0]}.")
    return {"state": "done", "say": "All marks stand.", "calls": [], "plan": [], "confidence": 90}


def _uses(command: str, thought: str) -> dict[str, Any]:
    calls = [{"tool": "work_run", "arguments": json.dumps({"command": command})}]
    return {"thought": thought, "plan": [], "calls": calls, "state": "going", "confidence": 70}


async def labor(home: Path, line: Connection) -> None:
    """Run the home until the pipe ends."""
    settings = load_settings(home, environ={"LOOPFORGE_TIMEZONE": "UTC"})
    with lock_home(home):
        async with open_app(settings, models=ScriptedModels(answer), follow=0):
            line.send_bytes(b"ready")
            await asyncio.to_thread(line.poll, None)


def main(home: str, line: Connection) -> None:
    """Begin a life."""
    asyncio.run(labor(Path(home), line))
