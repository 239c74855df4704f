"""A discord.py bot as a process of its own, for tests that kill it: `python -m tests.discord.child`.

Arguments: the twin's `rest` and `gateway`, a token, a channel's id, a nonce. When it is ready it
sends "here" with that nonce, prints the message's id, and answers every line with "heard: ...".
It ends when it is killed, or when its input ends.
"""

from __future__ import annotations

import asyncio
import sys

import discord
from tests.discord.loopback import point


class Child(discord.Client):
    """Sends one line, and answers."""

    def __init__(self, channel: int, nonce: str) -> None:
        super().__init__(intents=discord.Intents.all(), guild_ready_timeout=0.05)
        self._channel, self._nonce = channel, nonce

    async def on_ready(self) -> None:
        """Send it, and say so."""
        channel = self.get_channel(self._channel)
        assert isinstance(channel, discord.TextChannel)
        sent = await channel.send("here", nonce=self._nonce)
        sys.stdout.write(f"{sent.id}\n")
        sys.stdout.flush()

    async def on_message(self, message: discord.Message) -> None:
        """Answer a person."""
        if not message.author.bot:
            await message.reply(f"heard: {message.content}")


async def main(rest: str, gateway: str, token: str, channel: str, nonce: str) -> None:
    """Run until the end of input."""
    point(rest, gateway)
    client = Child(int(channel), nonce)
    async with client, asyncio.TaskGroup() as group:
        running = group.create_task(client.start(token))
        await asyncio.to_thread(sys.stdin.read)
        await client.close()
        await running


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
