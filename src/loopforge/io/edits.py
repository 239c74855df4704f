"""Streaming by edits: what to post, edit and delete so that a place shows a text as it grows.

`changes` says how to get to the messages of a text from those that stand, `Pace` when. A platform
shows messages in the order in which they came, so a new one is always the last.

Has no clock: moments are seconds on any clock that never goes back, and are given. Does not send,
and does not know which message a platform knows by which id.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from loopforge.io.split import VOID

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


class Post(Struct, frozen=True, tag="post"):
    """A new message, after all others."""

    text: str


class Edit(Struct, frozen=True, tag="edit"):
    """The message at this index of those shown gets another text."""

    at: int
    text: str


class Delete(Struct, frozen=True, tag="delete"):
    """The message at this index of those shown goes."""

    at: int


Change = Post | Edit | Delete


def changes(shown: Sequence[str], wanted: Sequence[str]) -> list[Change]:
    """The fewest changes that make `wanted` of `shown`; among equals, those that delete least.

    Edits and deletes come first, in the order of the messages, then posts. Indices are those of
    `shown` before any change.
    """
    costs = _costs(shown, wanted)
    rest = min(range(len(wanted) + 1), key=lambda n: _sum(costs[-1][n], (len(wanted) - n, 0)))
    found: list[Change] = [Post(text) for text in reversed(wanted[rest:])]
    i, j = len(shown), rest
    while i:
        i -= 1
        if costs[i + 1][j] == _sum(costs[i][j], (1, 1)):
            found.append(Delete(i))
            continue
        j -= 1
        if shown[i] != wanted[j]:
            found.append(Edit(i, wanted[j]))
    return found[::-1]


Cost = tuple[int, int]
"""Changes, and how many of them delete; `_NEVER` where there is no way."""
_NEVER: Cost = (1 << 30, 0)


def _costs(shown: Sequence[str], wanted: Sequence[str]) -> list[list[Cost]]:
    """What it costs to make the first j wanted of the first i shown, without posts, at [i][j]."""
    costs = [[(0, 0), *[_NEVER] * len(wanted)]]
    for old in shown:
        above = costs[-1]
        row = [_sum(above[0], (1, 1))]
        for j, new in enumerate(wanted):
            kept = _sum(above[j], (int(old != new), 0))
            row.append(min(kept, _sum(above[j + 1], (1, 1))))
        costs.append(row)
    return costs


def _sum(one: Cost, other: Cost) -> Cost:
    return (one[0] + other[0], one[1] + other[1])


class Pace:
    """When a draft is shown again: the newest text, not too often; the final one in any case.

        pace.offer(text, now)       whenever there is more
        pace.due()                  when to look again; None: nothing waits
        pace.take(now)              the text to show now, or None
        pace.put_off(seconds, now)  the platform did not take it and asks for so much patience
        pace.wait(seconds, now)     something else must come first

    The first text waits until it has a few words, the final one for nothing but such patience.
    Texts that came in between are left out. Each refusal doubles the gap between edits, each edit
    that gets through shortens it again.
    """

    def __init__(self, gap: float = GAP) -> None:
        self._least = self._gap = gap
        self._newest = self._shown = self._before = ""
        self._first: float | None = None
        self._taken: float | None = None
        self._held = float("-inf")
        self._final = False

    def offer(self, text: str, now: float, *, final: bool = False) -> None:
        """There is a newer text. After the final one, others come too late and are not shown."""
        if final or not self._final:
            self._newest, self._final = text, final
            self._first = now if self._first is None else self._first

    def due(self) -> float | None:
        """The moment from which `take` gives a text; None while there is nothing new to show."""
        if self._newest == self._shown or self._first is None:
            return None
        if self._final:
            return max(self._held, self._first)
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
            self._gap = max(self._least, self._gap * EASING)
        self._before, self._shown, self._taken = self._shown, self._newest, now
        return self._shown

    def wait(self, seconds: float, now: float) -> None:
        """Show nothing for so many seconds; the platform is not to blame."""
        self._held = max(self._held, now + seconds)

    def put_off(self, seconds: float, now: float) -> None:
        """What was taken last did not get through; show nothing for so many seconds."""
        self._shown = self._before
        self._held = max(self._held, now + seconds)
        self._gap = min(self._gap * 2, max(SLOWEST, self._least))
