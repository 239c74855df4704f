"""What Telegram's refusals mean for a delivery.

    not connected                 nothing was sent: try again
    retry after                   nothing was sent: try again then
    502, cut off, no answer       it may have been sent: look before sending again
    forbidden, chat not found     the place is gone
    migrated                      the place has another number: send it there
    a page, no answer of the API  a proxy on the way refused: nothing was sent, try again
    any other refusal             trying again would not help

Nothing of an error is passed on that could hold the token, which stands in every address.
"""

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

from loopforge.core.text.spoken_lists import seconds_in_words
from loopforge.errors import SendFailed
from loopforge.io.telegram.connection.chat_keys import ChatKey

GONE = (
    "chat not found",
    "group chat was deactivated",
    "have no rights",
    "not enough rights to send text",
    "message thread not found",
    "topic_closed",
    "topic_deleted",
    "chat_write_forbidden",
    "need administrator rights in the channel chat",
)
"""Also of a forum's topic that is no more, or where no bot may write; not where only files are
refused, to which words say so."""
CODES = {
    "topic_closed": "the topic is closed; open it again.",
    "topic_deleted": "the topic is gone.",
    "chat_write_forbidden": "the bot may not write there; whoever manages the group can let it.",
    "need administrator rights in the channel chat": "the bot may not post in that channel; "
    "whoever manages it can give it the right to post messages.",
    "reaction_invalid": "that emoji may not be put on messages there.",
}
"""What is told of refusals that are no words, or do not say what to do."""
SENT_AWAY = "Telegram refuses: the bot was sent away or blocked. Let it in again."
DENIED = {
    "user is deactivated": "that account of Telegram was deleted.",
    "group chat was deleted": "the group was deleted.",
    "can't initiate conversation": "whom it is for has to write to the bot first.",
}
"""What is told of the refusals that letting the bot in does not mend."""
OUT = "Telegram does not let the bot in. The owner of this home finds the reason under Admin."
MOVED = "the group became another one; what is said goes on there."
TOO_LARGE = ("(413)", "entity too large")
"""What stands in the message of an error whose status the library does not know: that status, or
what the server said with it."""
LARGE = "Telegram refuses it: it is too large."
PAGE = "Parsing the server response"
"""What the library puts into the message of an error whose answer is none of the Bot API's."""
ON_THE_WAY = "Something on the way to Telegram (a proxy, a firewall) refuses the call."
BUSY = "too many requests"
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


def rate_limit_failure(seconds: float) -> SendFailed:
    """Telegram wants to be left alone for so long; nothing was sent."""
    why = f"Telegram asks for {seconds_in_words(seconds)} of patience."
    return SendFailed(why, unsent=True, after=seconds)


def is_refused_by_proxy(error: TelegramError) -> bool:
    """Whether a call was refused by something before Telegram, which says nothing of the bot."""
    refused = isinstance(error, BadRequest | Forbidden | InvalidToken)
    return refused and any(PAGE in str(each) for each in (error, error.__cause__))


@contextmanager
def convert_api_errors() -> Iterator[None]:
    """Something is asked of Telegram in here. Raises SendFailed for what it refuses."""
    try:
        yield
    except TelegramError as error:
        raise as_send_failure(error) from None


def as_send_failure(error: TelegramError) -> SendFailed:
    """The failure of a delivery that this error is."""
    if isinstance(error.__cause__, UNSENT):
        return SendFailed("Telegram could not be reached.", unsent=True)
    if is_refused_by_proxy(error):
        return SendFailed(ON_THE_WAY, unsent=True)
    match error:
        case RetryAfter():
            wait = error.retry_after
            seconds = wait if isinstance(wait, int) else wait.total_seconds()
            return rate_limit_failure(float(seconds))
        case Forbidden():
            said = str(error.message).casefold()
            why = next((told for sign, told in DENIED.items() if sign in said), SENT_AWAY)
            return SendFailed(why, gone=True)
        case ChatMigrated():
            return SendFailed(MOVED, unsent=True, moved=ChatKey(error.new_chat_id).key)
        case InvalidToken():
            return SendFailed(OUT, unsent=True)
        case BadRequest():
            said = str(error.message)
            gone = any(sign in said.casefold() for sign in GONE)
            why = CODES.get(said.casefold(), f"Telegram refuses it: {said}.")
            return SendFailed(why, final=True, gone=gone)
        case _ if any(sign in str(error.message).casefold() for sign in TOO_LARGE):
            return SendFailed(LARGE, final=True)
        case _ if str(error.message).casefold().startswith(BUSY):
            why = "Telegram asks for patience, and does not say for how long."
            return SendFailed(why, unsent=True)
        case _:
            return SendFailed("Telegram could not be reached, or did not answer.")
