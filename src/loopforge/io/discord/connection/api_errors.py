"""Troubles of Discord, as sentences that say what to do; and no secret in any of them.

Tells apart what ends for good (a right that is missing, a channel that is gone) from what is worth
another try. Does not try anything itself.
"""

import asyncio
import re
from collections.abc import Iterable

import aiohttp

import discord
from loopforge.core.limits.retry_after import retry_after
from loopforge.errors import InputError, SendFailed

_HOOK = re.compile(r"(webhooks/\d+/)[\w-]+")
_LOGIN = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_TOKEN = re.compile(r"[\w-]{20,}\.[\w-]{6,}\.[\w-]{20,}")
GONE = {
    10003: "the channel is gone.",
    10004: "the server is gone.",
    50001: "the bot cannot see {place} any more. Whoever manages that server can invite it again, "
    "or let it view the channel.",
    50007: "this person takes no direct messages from the bot. They can allow them in the privacy "
    "settings of a server that both are in.",
    50278: "this person takes no direct messages from the bot: they share no server any more.",
}
"""Codes after which nothing else is worth sending there."""
BEFORE = "a gateway or a proxy before Discord refuses it ({status})."
OUT = "Discord does not let the bot in. The owner of this home finds the reason under Admin."
LOST = "the message it belongs to is gone."
FINAL = {
    10008: LOST,
    10014: "Discord does not know this emoji.",
    30010: "the message bears too many reactions already.",
    40005: "it is too large for Discord.",
    50005: "it was said by a webhook or a bot that this home has no more: nobody can change it.",
    50013: "the bot may not do this in {place}. Whoever manages that server can give it the "
    "permissions Send Messages, Read Message History, Add Reactions and Attach Files there.",
    50083: "the thread is closed; open it again.",
    160005: "the thread is locked; unlock it.",
    90001: "the one it is for has blocked the bot.",
}
FORBIDDEN, SLOW_MODE = 50013, 20016
LOOKS = 60.0
"""Seconds after which it is tried again whether a time-out is over, which may be lifted early."""
CLOSED = (RuntimeError, AssertionError)
"""What a client raises that was closed meanwhile: the one before a call, the other within one."""
FAILURES = (SendFailed, discord.DiscordException, aiohttp.ClientError, OSError, *CLOSED)
"""What a call may raise."""


class CallBroken(aiohttp.ClientError):
    """A webhook's call broke off: it was carried out, or it was not."""


def redact_tokens(text: object, secrets: Iterable[str] = ()) -> str:
    """The text without tokens of accounts and webhooks, and without the password of a proxy."""
    clean = _LOGIN.sub("(secret)", _HOOK.sub(r"\1(secret)", str(text)))
    for secret in secrets:
        clean = clean.replace(secret, "(secret)")
    return _TOKEN.sub("(secret)", clean)


def login_refusal(error: BaseException, renewal: str) -> str:
    """Why Discord does not let an account in, and what to do; "" if it may do so in a moment.

    `renewal`: what gives it another token.
    """
    if isinstance(error, discord.LoginFailure):
        return f"Discord does not know its token. Make a new one in the developer portal; {renewal}"
    if isinstance(error, discord.PrivilegedIntentsRequired):
        return "its Message Content Intent is off. Switch it on in the developer portal (Bot)."
    if isinstance(error, discord.ConnectionClosed) and error.code == 4004:
        told = "Discord does not know its token any more. Make a new one in the developer portal"
        return f"{told}; {renewal}"
    if isinstance(error, discord.ConnectionClosed) and error.code in (4010, 4011, 4012, 4013):
        return f"Discord refuses the connection (code {error.code}). A newer Loopforge may help."
    return ""


def connection_trouble(error: Exception) -> str:
    """Why an account is not connected just now, where trying again may help."""
    match error:
        case aiohttp.ClientHttpProxyError():
            said = f"the proxy answers {error.status}"
        case aiohttp.ClientConnectorError():
            said = error.strerror or "no connection"
        case discord.HTTPException():
            said = f"it answers {error.status}"
        case aiohttp.ClientError() | OSError():
            said = "the connection broke off"
        case discord.DiscordException():
            return redact_tokens(error)[:300]
        case _:
            said = type(error).__name__  # discord.py's, where the first connection fails
    return f"Discord cannot be reached ({said}); it is tried again by itself"


def as_send_failure(error: BaseException, place: str) -> SendFailed:
    """What became of something that Discord did not take."""
    match error:
        case SendFailed():
            return error
        case InputError():
            return SendFailed(str(error), final=True)
        case discord.RateLimited():
            return SendFailed("Discord asks to wait (rate limit).", after=error.retry_after)
        case discord.HTTPException():
            return _answered(error, place)
        case asyncio.TimeoutError() | TimeoutError():
            return SendFailed("Discord did not answer in time.")
        case aiohttp.ClientError() | OSError():
            return SendFailed("the connection to Discord broke off.")
        case _:
            return SendFailed(
                f"it went wrong: {type(error).__name__}: {redact_tokens(error)[:200]}"
            )


def bot_timeout_failure(error: Exception, me: object) -> SendFailed | None:
    """The same where somebody put the bot aside for a while; None where it is none of that."""
    if not isinstance(error, discord.Forbidden) or error.code != FORBIDDEN:
        return None
    if not isinstance(me, discord.Member) or me.timed_out_until is None or not me.is_timed_out():
        return None
    left = (me.timed_out_until - discord.utils.utcnow()).total_seconds()
    why = f"the bot has a time-out in {me.guild}, which ends by itself or can be lifted there."
    return SendFailed(why, after=min(max(left, 1.0), LOOKS))


def missing_permission_failure(error: Exception, right: str, place: str) -> SendFailed | None:
    """The same where it is known which permission that takes; `right` is what people call it."""
    if not right or not isinstance(error, discord.Forbidden) or error.code != FORBIDDEN:
        return None
    why = (
        f"the bot lacks the permission {right} in {place}. Whoever manages that server can give it."
    )
    return SendFailed(why, final=True)


def _answered(error: discord.HTTPException, place: str) -> SendFailed:
    if why := GONE.get(error.code):
        return SendFailed(why.format(place=place), gone=True)
    if why := FINAL.get(error.code):
        return SendFailed(why.format(place=place), final=True)
    said = redact_tokens(error.text)[:200] or "no reason was given"
    if error.code == SLOW_MODE:
        return SendFailed("the channel is in slow mode.", after=_patience(error))
    if error.status == 429:
        return SendFailed("Discord asks to wait (rate limit).", after=_patience(error))
    if error.status >= 500:
        return SendFailed(f"Discord has trouble of its own ({error.status}).")
    if error.status == 401:
        return SendFailed(
            OUT,
            after=60.0,
        )
    if is_refused_by_proxy(error):
        return SendFailed(BEFORE.format(status=error.status), final=True)
    if error.status == 404:
        return SendFailed("it is gone from Discord.", final=True)
    return SendFailed(f"Discord refuses it ({error.status}): {said}", final=True)


def is_refused_by_proxy(error: discord.HTTPException) -> bool:
    """Whether a call was refused by something before Discord, which says nothing of a place."""
    return "json" not in error.response.headers.get("Content-Type", "")


def _patience(error: discord.HTTPException) -> float:
    """Seconds that the answer's header asks for, at most an hour; a few if it does not say."""
    said = error.response.headers.get("Retry-After", "")
    asked = retry_after(said, discord.utils.utcnow())
    return 5.0 if asked is None else min(max(asked, 1.0), 3600.0)
