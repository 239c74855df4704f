"""python-telegram-bot and aiogram, as they are, against Telegram's twin."""

from __future__ import annotations

from aiogram import Bot as AioBot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from telegram.ext import Application, MessageHandler, filters

from telegram import Update
from tests.telegram.city import City
from tests.telegram.twin import Twin


async def test_one_bot_answers(twin: Twin, city: City) -> None:
    """python-telegram-bot hears a line by long polling and answers it, once."""
    aria, ana = await city.bot("Aria"), await city.person("Ana", "ana_l")

    async def answer(update: Update, context: object) -> None:
        assert update.effective_message is not None
        await update.effective_message.reply_text("Hello!", do_quote=True)

    app = (
        Application.builder()
        .token(aria.token)
        .base_url(twin.base + "/bot")
        .base_file_url(twin.base + "/file/bot")
        .build()
    )
    app.add_handler(MessageHandler(filters.TEXT, answer))
    assert app.updater is not None
    async with app:
        await app.start()
        await app.updater.start_polling()
        line = await city.say(ana, aria, "hello")
        (said,) = await city.heard(line.chat, by=aria)
        assert (said.text, said.reply) == ("Hello!", line.key)
        await app.updater.stop()
        await app.stop()


async def test_aiogram_answers(twin: Twin, city: City) -> None:
    """aiogram reads its own name and says a line."""
    aria, ana = await city.bot("Aria"), await city.person("Ana", "ana_l")
    chat = await city.private(ana, aria)
    session = AiohttpSession(api=TelegramAPIServer.from_base(twin.base))
    async with AioBot(aria.token, session=session) as bot:
        assert (await bot.me()).username == "aria_bot"
        await bot.send_message(chat.id, "hello")
    assert [line.text for line in await city.lines(chat)] == ["hello"]
