"""Telegram's limits on messages, as its documents and its developers tell them.

    in a group          about 20 messages and edits together in a minute
    in one chat         one in a second; short bursts are let through
    of one bot          about 30 in a second

What goes beyond is refused with 429 and `retry_after`, and so is whatever is sent there before that is
over: this is counted (`impatient`), since a client that does not obey is shut out for longer. Edits that
change nothing, or that are refused for another reason, count like others. Other calls (marks, typing
signs, deletions, drafts in private) are not counted here: nobody tells their limits.
"""

import math
from collections import defaultdict, deque

from loopforge.runtime.ports import Clock
from tests.telegram.wire import Refused

GROUP, MINUTE = 20, 60.0
BURST = 5
"""Messages that may come at once in one chat, if nothing came before."""
BOT = 30
COUNTED = ("send", "edit", "copy", "forward", "stopmessagelivelocation")
FREE = ("sendchataction", "sendmessagedraft")


class Floods:
    """Counts calls; `on` is False where a test wants no limits."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self.on = clock, True
        self.refused = self.impatient = 0
        self._minutes: dict[tuple[int, int], deque[float]] = defaultdict(deque)
        self._levels: dict[tuple[int, int], tuple[float, float]] = {}
        self._seconds: dict[int, deque[float]] = defaultdict(deque)
        self._shut: dict[tuple[int, int], float] = {}

    def weigh(self, method: str, bot: int, chat: object) -> None:
        """Count a call. Raises Refused (429)."""
        name, place = method.lower(), str(chat)
        counted = name.startswith(COUNTED) and name not in FREE
        if not (self.on and counted and place.removeprefix("-").isdigit()):
            return
        key, now = (bot, int(place)), self._clock.ticks()
        if (left := self._shut.get(key, 0.0) - now) > 0:
            self.impatient += 1
            raise self._refusal(key, left, now)
        if (wait := self._wait(key, now)) > 0:
            raise self._refusal(key, wait, now)

    def _refusal(self, key: tuple[int, int], wait: float, now: float) -> Refused:
        self.refused += 1
        seconds = max(1, math.ceil(wait))
        self._shut[key] = now + seconds - 0.5  # clients round, and so do clocks
        return Refused(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)

    def _wait(self, key: tuple[int, int], now: float) -> float:
        """Seconds until this may be sent; where that is now, it is counted."""
        minute, second = self._minutes[key], self._seconds[key[0]]
        while minute and minute[0] <= now - MINUTE:
            minute.popleft()
        while second and second[0] <= now - 1:
            second.popleft()
        level, at = self._levels.get(key, (0.0, now))
        level = max(0.0, level - (now - at))
        if key[1] < 0 and len(minute) >= GROUP:
            return minute[0] + MINUTE - now
        if level > BURST - 1:
            return level - (BURST - 1)
        if len(second) >= BOT:
            return second[0] + 1 - now
        minute.append(now)
        second.append(now)
        self._levels[key] = (level + 1, now)
        return 0.0
