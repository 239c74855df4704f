"""Another file's model answers inside the program while it runs, without a new start.

    wanted -> is there memory for both? -> loaded beside the one that answers -> answers from the
    next question on; the one before goes when it has said what it was asked

Where that cannot be done, the one before goes on answering, and `trouble` says why. The one wanted
last wins. Does not know where settings are kept.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from loopforge.errors import ModelError
from loopforge.models.embedded.embedded_model import EmbeddedModel
from loopforge.models.files.model_library import free_memory, memory_of
from loopforge.models.model_router import TieredModels
from loopforge.runtime.background_tasks import BackgroundTasks

log = logging.getLogger(__name__)


class FileSetting(Protocol):
    """The setting embedded_file: `now` in force, `saved` as it is wanted."""

    @property
    def now(self) -> Any:
        """The settings in force."""

    @property
    def saved(self) -> Any:
        """Those of the next start."""

    def take(self, name: str, value: Any) -> None:
        """It holds now."""

    def follow(self, hear: Callable[[Any], None]) -> None:
        """Tell of every change."""


class EmbeddedSwitch:
    """Lets the file answer that the setting names; `make` makes a model ready to be loaded."""

    def __init__(
        self,
        models: TieredModels,
        setting: FileSetting,
        make: Callable[[Any], EmbeddedModel],
        tasks: BackgroundTasks,
    ) -> None:
        self._models, self._setting, self._make, self._tasks = models, setting, make, tasks
        self.has = self._wanted = str(setting.now.embedded_file)
        self.trouble, self.later = "", False
        self._working: asyncio.Task[None] | None = None
        setting.follow(lambda _: self.want(setting.saved.embedded_file))

    def want(self, file: str) -> None:
        """Let this file's model answer; nothing is done where it was wanted already."""
        if file == self._wanted:
            return
        self._wanted, self.trouble, self.later = file, "", False
        if self._working is None or self._working.done():
            self._working = self._tasks.spawn(self._work(), "changing the embedded model")

    async def settled(self) -> str:
        """Wait until the file that is wanted answers; why it does not, or "".

        With `later`: it is a lack of memory for two, so that it can answer from the next start on.
        """
        if self._working is not None:
            await asyncio.wait([self._working])
        return self.trouble

    def lacking(self, path: Path | None) -> str:
        """What memory lacks to load a file beside the model that is loaded; "" where none does."""
        wants, free = memory_of(path), free_memory()
        if free is None or free >= wants or not self._models.embedded.begun:
            return ""
        return (
            f"It takes about {wants / 1e9:.1f} GB of memory beside the model that answers now, and "
            f"{free / 1e9:.1f} GB are free."
        )

    async def _work(self) -> None:
        while (file := self._wanted) != self.has:
            try:
                await self._change(file)
            except ModelError as error:
                if file == self._wanted:
                    self.trouble = str(error)
                    log.warning("the model of %r does not answer: %s", file, error)
                    return
            else:
                self.has = file
                self._setting.take("embedded_file", file)

    async def _change(self, file: str) -> None:
        new = self._make(replace(self._setting.now, embedded_file=file))
        if lacking := self.lacking(new.path):
            self.later = True
            raise ModelError(lacking)
        await self._models.change_embedded(new)
