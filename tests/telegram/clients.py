"""The client library, as it is, pointed at a twin by its own public settings.

A surprise of python-telegram-bot 22.8: RetryAfter warns, while it is made, that its field will
have another type, and where warnings are errors that is what is raised instead of it. With
PTB_TIMEDELTA=1 in the environment it does not.
"""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from telegram.request import HTTPXRequest

from telegram import Bot as Telegram
from tests.telegram.records import Bot


def _request() -> HTTPXRequest:
    """As the library's own; but certificates are not read from disk for each: that takes long."""
    return HTTPXRequest(httpx_kwargs={"verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)})


@asynccontextmanager
async def calling(base: str, bot: Bot) -> AsyncIterator[Telegram]:
    """python-telegram-bot that calls methods and hears nothing."""
    made = Telegram(
        bot.token,
        base_url=f"{base}/bot",
        base_file_url=f"{base}/file/bot",
        request=_request(),
        get_updates_request=_request(),
    )
    async with made:
        yield made
