"""What Discord answered to a call by which a message was said or changed, as soon as it did.

Where a call is the last one that its route may make for some seconds, discord.py keeps the answer
until these are over: the message stands there, and a reply to it or a press of its buttons would
be one to what nobody knows. So the answer is taken as it comes in, and the call is left to end by
itself. Does not know what a call is about, nor how the library comes by its waits.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from types import SimpleNamespace

import aiohttp
import msgspec

import discord
from loopforge.runtime.background_tasks import BackgroundTasks


class PostedMessage(msgspec.Struct, frozen=True):
    """Which message there is by a call, and where."""

    id: int
    channel_id: int


_answer: ContextVar[asyncio.Future[PostedMessage] | None] = ContextVar("answer", default=None)
_read = msgspec.json.Decoder(PostedMessage, strict=False)
"""Ids are words in JSON."""


async def note_answer(
    _session: aiohttp.ClientSession,
    _context: SimpleNamespace,
    params: aiohttp.TraceResponseChunkReceivedParams,
) -> None:
    """Take the answer of a call in; one that names no message is none."""
    waiting = _answer.get()
    if waiting is not None and not waiting.done():
        with contextlib.suppress(msgspec.DecodeError):
            waiting.set_result(_read.decode(params.chunk))


class MessageCalls:
    """The calls of one account. `close` breaks off those that are not at their end."""

    def __init__(self) -> None:
        self._tasks = BackgroundTasks()

    async def close(self) -> None:
        """Make none any more."""
        await self._tasks.close()

    async def answer(self, call: Callable[[], Awaitable[discord.Message]]) -> PostedMessage:
        """Make a call; its answer. Raises what it does, and breaks it off if that is cancelled."""
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[PostedMessage] = loop.create_future()
        before = _answer.set(answered)
        task = self._tasks.spawn(_outcome(call), "a message on Discord")
        _answer.reset(before)
        try:
            await asyncio.wait((answered, task), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if answered.done():
            return answered.result()
        outcome = task.result()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


async def _outcome(call: Callable[[], Awaitable[discord.Message]]) -> PostedMessage | Exception:
    try:
        made = await call()
    except Exception as error:
        return error
    return PostedMessage(made.id, made.channel.id)
