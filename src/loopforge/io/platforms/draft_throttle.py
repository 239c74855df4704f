"""The throttle of edits: when a place is shown more of a text that grows.

Has no clock: moments are seconds on any clock that never goes back, and are given. Does not send,
and does not know which messages show the text.
"""

from loopforge.io.text.message_split import VOID

GAP = 1.0
"""Seconds between two edits of one message; platforms allow about so many."""
SLOWEST = 10.0
"""Seconds between edits where a platform keeps asking for patience."""
EASING = 0.9
"""By how much the gap shrinks with each edit that was let through."""
FEW = 3
"""Words with which the first draft is worth showing."""
PATIENCE = 1.0
"""Seconds after which it is shown with fewer."""


class EditThrottle:
    """When a draft is shown again: the newest text, not too often.

        pace.offer(text, now)       whenever there is more
        pace.due()                  when to look again; None: nothing waits
        pace.take(now)              the text to show now, or None
        pace.put_off(seconds, now)  the platform did not take it and asks for so much patience
        pace.wait(seconds, now)     something else must come first

    The first text waits until it has a few words. Texts that came in between are left out. Each
    refusal doubles the gap between edits, each edit that gets through shortens it again.
    """

    def __init__(self) -> None:
        self._gap = GAP
        self._newest = self._shown = self._before = ""
        self._first: float | None = None
        self._taken: float | None = None
        self._held = float("-inf")

    def offer(self, text: str, now: float) -> None:
        """There is a newer text."""
        self._newest = text
        self._first = now if self._first is None else self._first

    def due(self) -> float | None:
        """The moment from which `take` gives a text; None while there is nothing new to show."""
        if self._newest == self._shown or self._first is None:
            return None
        if not self._newest.strip(VOID):
            return None
        if self._taken is not None:
            return max(self._held, self._taken + self._gap)
        enough = len(self._newest.split()) > FEW  # the last one may be half a word
        return max(self._held, self._first + (0.0 if enough else PATIENCE))

    def take(self, now: float) -> str | None:
        """The text to show now; None where it is not yet time, or nothing new."""
        due = self.due()
        if due is None or now < due:
            return None
        if self._taken is not None:
            self._gap = max(GAP, self._gap * EASING)
        self._before, self._shown, self._taken = self._shown, self._newest, now
        return self._shown

    def wait(self, seconds: float, now: float) -> None:
        """Show nothing for so many seconds; the platform is not to blame."""
        self._held = max(self._held, now + seconds)

    def put_off(self, seconds: float, now: float) -> None:
        """What was taken last did not get through; show nothing for so many seconds."""
        self._shown = self._before
        self._held = max(self._held, now + seconds)
        self._gap = min(self._gap * 2, SLOWEST)
