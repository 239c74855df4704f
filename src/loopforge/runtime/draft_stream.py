"""Drafts: what a mind is saying so far, put into the air a dozen times a second at most.

    pieces of an answer --feed--> the words so far --look--> the egress filter --> a Draft

The words are read piece by piece; only a look, which takes the filter over all of them, costs more
the longer they are. Knows nothing of who hears them.
"""

import asyncio
from collections.abc import Callable, Sequence

from loopforge.core.model_trouble import Delay
from loopforge.core.policy import Ask
from loopforge.core.text.erasable_text import replace_lone_surrogates
from loopforge.core.text.streamed_answer import SpokenWords
from loopforge.core.turn_events import Attempt, Usage
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.mind_containment import MindFailed, call_contained
from loopforge.runtime.ports import ANEW, Clock

APART = 1 / 12
"""Seconds between two looks."""
KEPT_DRAFT = 60
"""Characters that a mate must have said for them to be kept when a person stops it."""


class DraftStream:
    """Hears one answer come, and shows it as it grows: `show` is given the words so far.

    `slow` is told of a model that lets one wait, who is asked next, and how it does.
    """

    def __init__(
        self,
        part: Ask,
        show: Callable[[str], None],
        clock: Clock,
        tasks: BackgroundTasks,
        *,
        slow: Callable[[str, str, Delay], None] = lambda _model, _others, _how: None,
    ) -> None:
        self._part, self._show, self._clock, self._tasks = part, show, clock, tasks
        self._slow = slow
        self.raw, self.usage, self.tries = list[str](), Usage(), tuple[Attempt, ...]()
        self._spoken = SpokenWords(part.schema, part.field)
        self._shown, self._last = "", float("-inf")
        self._failed = False
        self._later: asyncio.Task[None] | None = None

    def __call__(self, piece: str) -> None:
        """A piece has come; with ANEW, what came so far counts no more."""
        if piece == ANEW:
            self.raw, self._spoken = [], SpokenWords(self._part.schema, self._part.field)
            return
        if not piece:
            return  # a sign of life and nothing else
        self.raw.append(piece)
        if not self._part.aloud:
            return
        self._spoken.feed(piece)
        if self._later is None:
            left = self._last + APART - self._clock.ticks()
            if left <= 0:
                self._look()
            else:
                self._later = self._tasks.spawn(self._wait(left), "draft")

    def slow(self, model: str, others: str, how: Delay) -> None:
        """A model lets one wait; that it thinks is told only where no word is to be seen."""
        wordless = self._part.aloud and not self._spoken.words
        if how in ("slow", "busy") or (how == "thinking") == wordless:
            self._slow(model, others, how)

    def paid(self, usage: Usage, tries: Sequence[Attempt]) -> None:
        """The question was cancelled; `usage` says what that took, beside the tries before it."""
        self.usage, self.tries = usage, tuple(tries)

    async def _wait(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._later = None
        self._look()

    def _look(self) -> None:
        words = self._said(replace_lone_surrogates(self._spoken.words))
        if words and words != self._shown:
            self._shown, self._last = words, self._clock.ticks()
            self._show(words)

    def _said(self, words: str) -> str:
        """What the mind would say of them; nothing more is shown where it fails at that."""
        shown = self._part.shown
        if shown is None or self._failed:
            return "" if self._failed else words
        said = call_contained(lambda: str(shown(words)))
        self._failed = isinstance(said, MindFailed)
        return "" if self._failed else said

    def stop(self) -> None:
        """Nothing more is shown."""
        if self._later is not None:
            self._later.cancel()
            self._later = None

    def end(self) -> None:
        """No more comes: what was not shown yet is."""
        if self._later is not None:
            self.stop()
            self._look()
