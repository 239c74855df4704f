"""The models that are open: one client for each as it is configured now, and places at each.

One that is configured otherwise (by another price, address, key or limit) is opened anew for the
next try; the one before is closed when it has answered what it was asked.
Knows no tiers, and neither tries nor waits.
"""

from asyncio import Semaphore
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from loopforge.models.embedded.embedded_model import EmbeddedProvider
from loopforge.models.providers.attempt_outcome import AttemptOutcome
from loopforge.models.providers.model_spec import ModelSpec
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Question

LONGEST = 5.0
"""Seconds that connections which are being closed have for it."""


class ModelVoice(Protocol):
    """One model, however it is reached."""

    async def attempt(
        self, question: Question, hear: Callable[[str], None], within: float | None = None
    ) -> AttemptOutcome:
        """Ask it once; its first word is waited for `within` so many seconds, or its own limit."""

    async def close(self) -> None:
        """Let go of it."""


@dataclass(eq=False)
class _Opened:
    """A voice, the model it was made for, and how many questions it has to answer."""

    spec: ModelSpec
    voice: ModelVoice
    asked: int = 0


class ModelPool:
    """Voices by model, made by `make`; `current` says whether a model is still configured so."""

    def __init__(
        self,
        make: Callable[[ModelSpec], ModelVoice],
        current: Callable[[ModelSpec], bool],
    ) -> None:
        self._make, self._current, self._tasks = make, current, BackgroundTasks()
        self._opened: list[_Opened] = []
        self._places: dict[tuple[str, int], Semaphore] = {}

    def places(self, spec: ModelSpec) -> Semaphore:
        """The places at a model, as many as it has slots."""
        return self._places.setdefault((spec.name, spec.slots), Semaphore(spec.slots))

    @contextmanager
    def voice(self, spec: ModelSpec) -> Iterator[ModelVoice]:
        """The voice of a model; until the block ends it is not closed."""
        one = next((one for one in self._opened if one.spec == spec), None)
        if one is None:
            one = _Opened(spec, self._make(spec))
            self._opened.append(one)
        one.asked += 1
        try:
            yield one.voice
        finally:
            one.asked -= 1
            self.close_former()

    def close_former(self) -> None:
        """Close those of models that are configured otherwise by now and have nothing to answer."""
        for one in list(self._opened):
            if not one.asked and not self._current(one.spec):
                self._opened.remove(one)
                self._tasks.spawn(one.voice.close(), "a model as it was configured before")

    def take_embedded(self) -> list[ModelVoice]:
        """Those of the embedded model, which are another's to close from now on."""
        taken = [one for one in self._opened if isinstance(one.voice, EmbeddedProvider)]
        self._opened = [one for one in self._opened if one not in taken]
        return [one.voice for one in taken]

    async def close(self) -> None:
        """Close them all; those of before are at it already."""
        await self._tasks.finish(LONGEST)
        for one in self._opened:
            await one.voice.close()
