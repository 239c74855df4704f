"""Progress: people are told how far a use of a tool is, while it works; kept nowhere.

What a tool says of itself is cut to a line and shown to people alone, never to a mind: a server of
others may say anything there. Does not know when a use ends; whoever ends it says so.
"""

from math import isfinite

from loopforge.core.text.name_labels import one_line
from loopforge.runtime.ports import Clock, Signals, ToolProgress

LONGEST = 80
"""Characters that are shown of what a tool says."""
PAUSE = 0.25
"""Seconds between two signs of one use; what comes faster is not shown."""


class CallProgress:
    """One use of a tool: it began when this was made."""

    def __init__(self, signals: Signals, clock: Clock, stream: str, began: ToolProgress) -> None:
        self._signals, self._clock, self._stream = signals, clock, stream
        self._began, self._last = began, -PAUSE
        signals.publish(stream, began)

    def tell(self, text: str, part: float | None) -> None:
        """Tell how far it is. Nonsense in numbers is left out."""
        now = self._clock.ticks()
        if now - self._last < PAUSE:
            return
        self._last = now
        known = part is not None and isfinite(part)
        self._say(text, min(1.0, max(0.0, part)) if known else None)  # type: ignore[type-var]

    def over(self) -> None:
        """It has ended, however it did."""
        self._say("", None, over=True)

    def _say(self, text: str, part: float | None, *, over: bool = False) -> None:
        of = self._began
        told = ToolProgress(
            effect=of.effect,
            turn=of.turn,
            mate=of.mate,
            tool=of.tool,
            text=one_line(text, LONGEST),
            part=part,
            over=over,
        )
        self._signals.publish(self._stream, told)
