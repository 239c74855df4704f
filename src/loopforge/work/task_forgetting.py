"""A task whose words were forgotten keeps nothing else: no workspace, no checkpoint, no branch.

Whoever has a task, or a person, forgotten erases texts in the ledger. What is to go with them is
asked of the ledger, never remembered: a task that was opened with words which are no more. So a
process that died in between leaves the rest to the next start. What was merged stays merged.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from loopforge.core.events import Event
from loopforge.core.work.work_vocabulary import TaskOpened
from loopforge.errors import LoopforgeError
from loopforge.runtime.ports import Ledger
from loopforge.work.git.task_repositories import TaskRepositories
from loopforge.work.task_state import PREFIX

log = logging.getLogger(__name__)


class TaskForgetting:
    """Looks after that, where a home is run."""

    def __init__(self, ledger: Ledger, repositories: TaskRepositories) -> None:
        self._ledger, self._repositories = ledger, repositories
        self._gone: set[str] = set()
        self._wanted = True

    def follow(self) -> None:
        """Look again whenever something was forgotten, by this process or by another one."""
        self._ledger.subscribe(self._erased, kinds=["ledger.erased"])

    def _erased(self, _stream: str, _events: Sequence[Event]) -> None:
        self._wanted = True

    async def sweep_once(self) -> None:
        """Sweep, if anything was forgotten since; once at the start, too."""
        if self._wanted:
            self._wanted = False
            await self.sweep()

    async def sweep(self) -> list[str]:
        """Let go of what forgotten tasks have left; their streams."""
        swept = []
        for stream in sorted(await self._ledger.heads(PREFIX)):
            if stream in self._gone or not await self._forgotten(stream):
                continue
            try:
                await self._repositories.forget(stream)
            except (LoopforgeError, OSError) as error:
                log.warning("what %s left is there until the next start: %s", stream, error)
                continue
            self._gone.add(stream)
            swept.append(stream)
        return swept

    async def _forgotten(self, stream: str) -> bool:
        for event in await self._ledger.read(stream, kinds=["task.opened"]):
            if isinstance(event.body, TaskOpened):
                return event.body.text.text is None
        return False
