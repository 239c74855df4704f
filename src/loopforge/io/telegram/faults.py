"""What Telegram's refusals mean for a delivery.

    not connected                 nothing was sent: try again
    retry after                   nothing was sent: try again then
    502, cut off, no answer       it may have been sent: look before sending again
    forbidden, chat not found     the place is gone
    any other refusal             trying again would not help

Nothing of an error is passed on that could hold the token, which stands in every address.
"""

from __future__ import annotations

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

GONE = ("chat not found", "group chat was deactivated", "have no rights", "not enough rights")
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class Unsent(SendFailed):
    """Nothing was sent, for certain."""


def failure(error: TelegramError) -> SendFailed:
    """The failure of a delivery that this error is: Unsent where that is certain."""
    if isinstance(error.__cause__, UNSENT):
        return Unsent("Telegram cannot be reached.")
    match error:
        case RetryAfter():
            wait = error.retry_after
            seconds = wait if isinstance(wait, int) else wait.total_seconds()
            why = f"Telegram asks for {seconds:.0f} s of patience"
            return Unsent(why, after=float(seconds))
        case Forbidden():
            why = "Telegram refuses: the bot was sent away or blocked. Let it in again"
            return SendFailed(f"{why}.", gone=True)
        case ChatMigrated():
            return SendFailed("the group became another one; it is followed there.")
        case InvalidToken():
            return SendFailed("Telegram does not know the bot's token any more.")
        case BadRequest():
            said = str(error.message)
            gone = any(sign in said.casefold() for sign in GONE)
            return SendFailed(f"Telegram refuses it: {said}.", final=True, gone=gone)
        case _:
            return SendFailed("Telegram could not be reached, or did not answer.")
