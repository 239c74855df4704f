"""What Telegram's refusals mean for a delivery.

    not connected                 nothing was sent: try again
    retry after                   nothing was sent: try again then
    502, cut off, no answer       it may have been sent: look before sending again
    forbidden, chat not found     the place is gone
    any other refusal             trying again would not help

Nothing of an error is passed on that could hold the token, which stands in every address.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Forbidden,
    InvalidToken,
    RetryAfter,
    TelegramError,
)

from loopforge.errors import SendFailed
from loopforge.runtime.ports import Clock

GONE = ("chat not found", "group chat was deactivated", "have no rights", "not enough rights")
OUT = "Telegram does not let the bot in. The owner of this home finds the reason under Admin."
TOO_LARGE = "(413)"
"""How the library ends the message of an error whose status it does not know."""
MINUTE = 60.0
FEW, CLOSE, APART = 5, 3.0, 9.0
"""Drafts of a minute that may stand so close in a group (seconds), and how far apart the others.

A group takes about 20 messages and edits in a minute: drafts have half of that, lines the rest.
"""
WRONG = 10
"""Wrong codes of strangers that one bot answers in a minute, so that it can talk meanwhile."""
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


def patience(seconds: float) -> SendFailed:
    """Telegram wants to be left alone for so long; nothing was sent."""
    why = f"Telegram asks for {math.ceil(seconds)} s of patience."
    return SendFailed(why, unsent=True, after=seconds)


class Flood:
    """For how long Telegram wants nothing more from one bot in a chat; and the pace of drafts.

    And of answers to wrong codes, which are for whoever types them, but cost all chats of the bot.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[int, float] = {}
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
            raise patience(left)
        self._until.pop(chat, None)
        try:
            with asking():
                yield
        except SendFailed as refused:
            if refused.after:
                self._until[chat] = self._clock.ticks() + refused.after
            raise


@contextmanager
def asking() -> Iterator[None]:
    """Something is asked of Telegram in here. Raises SendFailed for what it refuses."""
    try:
        yield
    except TelegramError as error:
        raise failure(error) from None


def failure(error: TelegramError) -> SendFailed:
    """The failure of a delivery that this error is."""
    if isinstance(error.__cause__, UNSENT):
        return SendFailed("Telegram could not be reached.", unsent=True)
    match error:
        case RetryAfter():
            wait = error.retry_after
            seconds = wait if isinstance(wait, int) else wait.total_seconds()
            return patience(float(seconds))
        case Forbidden():
            why = "Telegram refuses: the bot was sent away or blocked. Let it in again"
            return SendFailed(f"{why}.", gone=True)
        case ChatMigrated():
            return SendFailed("the group became another one; it is followed there.", unsent=True)
        case InvalidToken():
            return SendFailed(OUT, unsent=True)
        case BadRequest():
            said = str(error.message)
            gone = any(sign in said.casefold() for sign in GONE)
            return SendFailed(f"Telegram refuses it: {said}.", final=True, gone=gone)
        case _ if TOO_LARGE in str(error.message):
            return SendFailed("Telegram refuses it: it is too large.", final=True)
        case _:
            return SendFailed("Telegram could not be reached, or did not answer.")
