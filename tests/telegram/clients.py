"""The two client libraries, as they are, pointed at a twin by their own public settings.

A surprise of python-telegram-bot 22.8: RetryAfter warns, while it is made, that its field will
have another type, and where warnings are errors that is what is raised instead of it. With
PTB_TIMEDELTA=1 in the environment it does not.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from telegram.ext import Application, ApplicationBuilder, ExtBot, TypeHandler
from telegram.request import HTTPXRequest

from telegram import Update
from tests.telegram.records import Bot

Telegram = ExtBot[Any]


def builder(base: str, bot: Bot) -> ApplicationBuilder[Any, Any, Any, Any, Any, Any]:
    """python-telegram-bot's builder, with this bot's token and the twin's addresses.

    Its requests are the library's own too; but certificates, which loopback has none of, are not
    read from disk for each of them: that takes longer than most tests.
    """
    addresses = Application.builder().base_url(base + "/bot").base_file_url(base + "/file/bot")
    requests = addresses.request(_request()).get_updates_request(_request())
    return requests.token(bot.token)


def _request() -> HTTPXRequest:
    return HTTPXRequest(httpx_kwargs={"verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)})


@asynccontextmanager
async def calling(base: str, bot: Bot) -> AsyncIterator[Telegram]:
    """python-telegram-bot that calls methods and hears nothing."""
    app = builder(base, bot).build()
    async with app.bot as ready:
        yield ready


@asynccontextmanager
async def polling(base: str, bot: Bot, heard: list[Update]) -> AsyncIterator[Telegram]:
    """python-telegram-bot that polls; what it hears, of every kind, goes into the list."""
    app = builder(base, bot).build()

    async def hear(update: Update, _: object) -> None:
        heard.append(update)

    app.add_handler(TypeHandler(Update, hear))
    assert app.updater is not None
    async with app:
        await app.start()
        await app.updater.start_polling(allowed_updates=Update.ALL_TYPES)
        try:
            yield app.bot
        finally:
            await app.updater.stop()
            await app.stop()
