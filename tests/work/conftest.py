"""A home in which tasks are worked on for real: SQLite, the sandbox, a scripted model."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from loopforge.app import App, open_app
from loopforge.core.events import Event
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Clock, Question
from loopforge.settings import load_settings
from loopforge.work.task_service import TaskService
from loopforge.work.task_state import PREFIX, TaskState
from loopforge.work.workspace.task_workspace import folder_name

B = TypeVar("B")
Step = Mapping[str, Any] | ScriptedAnswer | str


def uses(tool: str, thought: str = "I go on.", **arguments: Any) -> dict[str, Any]:
    """An answer that uses one tool."""
    calls = [{"tool": tool, "arguments": json.dumps(arguments)}]
    return {"thought": thought, "plan": [], "calls": calls, "state": "going", "confidence": 70}


def says(state: str, say: str = "", **more: Any) -> dict[str, Any]:
    """An answer that uses none: where it stands."""
    bare = {"thought": say or state, "plan": [], "calls": [], "evidence": "", "confidence": 80}
    return {**bare, "state": state, "say": say, **more}


@dataclass
class Workshop:
    """A running home, and the tasks in it."""

    app: App
    models: ScriptedModels
    given: str = ""

    @property
    def tasks(self) -> TaskService:
        """Where tasks are given."""
        return self.app.work.tasks

    async def give(self, text: str, **more: Any) -> str:
        """Give a task, and wait until nothing is left to be done without a person."""
        id = await self.tasks.open(text, "ana", owner=True, **more)
        await self.rest(id)
        return id

    async def rest(self, id: str) -> TaskState:
        """Wait until nothing is left to be done without a person; the task as it stands then."""
        stream, before = PREFIX + id, 0
        while True:
            await self.app.lanes.settled(stream)
            state = await self.state(id)
            if state.running:
                await self.app.effects.settled(stream)
            elif (now := len(await self.events(id))) == before:
                return state
            else:  # its last event may be one that the lane has not heard of yet
                before = now
                self.app.lanes.wake(stream)

    async def until(self, id: str, kind: str, count: int = 1) -> None:
        """Wait until something of a kind has happened to it so often."""
        ear = self.app.work.ports.signals.listen(PREFIX + id)
        seen = {one.seq for one in await self.events(id) if one.kind == kind}
        while len(seen) < count:
            heard = await ear.__anext__()
            if isinstance(heard, Event) and heard.kind == kind:
                seen.add(heard.seq)  # what was read while it happened is heard, too
        ear.close()

    async def state(self, id: str) -> TaskState:
        """The task as it stands."""
        return await self.tasks.store.state(PREFIX + id)

    async def events(self, id: str) -> list[Event]:
        """Everything that happened to it."""
        return await self.app.ledger.read(PREFIX + id)

    async def bodies(self, id: str, kind: type[B]) -> list[B]:
        """All that happened to it of one kind."""
        return [event.body for event in await self.events(id) if isinstance(event.body, kind)]

    def file(self, id: str, path: str) -> Path:
        """A file in its workspace."""
        return self.app.settings.home / "workspaces" / folder_name(PREFIX + id) / path


Script = Callable[[Question], Step]


def in_order(*steps: Step) -> Script:
    """A script that gives these answers of work one after the other, and then says that it is done.

    Questions for anything else are answered in a word.
    """
    left = list(steps)

    def script(asked: Question) -> Step:
        if asked.schema is None or "state" not in asked.schema.get("properties", {}):
            return {"reason": "so"} if asked.schema else "So it was."
        return left.pop(0) if left else says("done", "All of it is done.")

    return script


def only(steps: Sequence[Step]) -> Script:
    """A script that gives these answers of work and no more; lines of a room are answered in a word."""
    left = list(steps)

    def script(asked: Question) -> Step:
        if asked.schema is None or "state" not in asked.schema.get("properties", {}):
            return {"say": "Well."} if asked.schema else "So it was."
        return left.pop(0)

    return script


@asynccontextmanager
async def working(
    home: Path,
    script: Script | None,
    environ: Mapping[str, str] = {},
    pace: Clock | None = None,
    **more: Any,
) -> AsyncIterator[Workshop]:
    """A home that runs until the block ends; without a script with the embedded model.

    The waits of its answers are those of `pace`.
    """
    settings = load_settings(home, environ={"LOOPFORGE_TIMEZONE": "UTC", **environ})
    (home / "data").mkdir(parents=True, exist_ok=True)
    models = ScriptedModels(script or in_order(), clock=pace)
    real = models if script else None
    async with open_app(settings, models=real, follow=0, **more) as app:
        yield Workshop(app, models)
        ending = [task for task in asyncio.all_tasks() if task.get_name().startswith("effect ")]
        await asyncio.gather(*ending, return_exceptions=True)  # what was stopped ends in peace


def kinds(events: Sequence[Event]) -> list[str]:
    """What happened to a task, without what its turns are made of."""
    return [event.kind for event in events if event.kind.startswith("task.")]
