"""How much of one bot Telegram takes: waits that it asks for, drafts in groups, wrong codes."""

from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager

from loopforge.errors import SendFailed
from loopforge.io.telegram.connection.api_errors import convert_api_errors, rate_limit_failure
from loopforge.runtime.ports import Clock

MINUTE = 60.0
FEW, CLOSE, APART = 5, 3.0, 9.0
"""Drafts of a minute that may stand so close in a group (seconds), and how far apart the others.

A group takes about 20 messages and edits in a minute: drafts have half of that, lines the rest.
"""
SLOW = 3.0
"""Seconds between messages of a chat, at most, for a minute after Telegram refused one: a group
takes about 20 in a minute, and what waits after an outage would meet one refusal after another."""
WRONG = 10
"""Wrong codes of strangers that one bot answers in a minute, so that it can talk meanwhile."""


class FloodWait:
    """For how long Telegram wants nothing more from one bot in a chat; and the pace of drafts.

    And of answers to wrong codes, which are for whoever types them, but cost all chats of the bot.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[int, float] = {}
        self._slow: dict[int, tuple[float, float]] = {}
        """Until when, and how far apart, messages stand in a chat that was refused some."""
        self._drafts: dict[int, deque[float]] = defaultdict(lambda: deque(maxlen=FEW))
        self._wrong: deque[float] = deque(maxlen=WRONG)

    def answers_wrong(self) -> bool:
        """Whether a wrong code may be answered now; then it is counted."""
        now = self._clock.ticks()
        if len(self._wrong) == WRONG and self._wrong[0] > now - MINUTE:
            return False
        self._wrong.append(now)
        return True

    def drafting(self, chat: int) -> float:
        """Seconds until a draft may be shown in a group; 0: now, and it is counted."""
        shown, now = self._drafts[chat], self._clock.ticks()
        while shown and shown[0] <= now - MINUTE:
            shown.popleft()
        if shown and (left := shown[-1] + (CLOSE if len(shown) < FEW else APART) - now) > 0:
            return left
        shown.append(now)
        return 0.0

    @contextmanager
    def asking(self, chat: int) -> Iterator[None]:
        """What counts as a message in a chat is asked in here. Raises SendFailed, also unasked."""
        if (left := self._until.get(chat, 0.0) - self._clock.ticks()) > 0:
            raise rate_limit_failure(left)
        self._until.pop(chat, None)
        try:
            with convert_api_errors():
                yield
        except SendFailed as refused:
            if refused.after:
                self._until[chat] = self._clock.ticks() + refused.after
                self._slow[chat] = self._until[chat] + MINUTE, min(refused.after, SLOW)
            raise
        until, apart = self._slow.get(chat, (0.0, 0.0))
        if (now := self._clock.ticks()) < until:
            self._until[chat] = now + apart
