"""A small bot in a process of its own, to be killed: it asks every line back.

Run as `python -m tests.telegram.asker BASE TOKEN`. It is written as many are: it says something,
then acknowledges what it answered, and remembers neither.
"""

from __future__ import annotations

import asyncio
import sys

from telegram import Bot


async def main(base: str, token: str) -> None:
    """Poll until killed."""
    offset = 0
    async with Bot(token, base_url=base + "/bot", base_file_url=base + "/file/bot") as bot:
        while True:
            for update in await bot.get_updates(offset=offset, limit=1, timeout=30):
                message = update.effective_message
                assert message is not None
                await message.reply_text(f"{message.text}?", do_quote=True, read_timeout=60)
                offset = update.update_id + 1


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
