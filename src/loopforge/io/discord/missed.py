"""Missed: what was said on Discord while nobody of ours was there, read when an account is back.

Each known place is read from the message that was heard there last. Does not know what is done
with a message; does not cover the order with what is heard meanwhile (inward.py keeps that).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

import aiohttp

import discord
from loopforge.errors import LedgerError, SendFailed
from loopforge.io.discord.client import Client
from loopforge.io.discord.crowd import Seat, channel_of, find
from loopforge.io.discord.options import Options
from loopforge.io.discord.troubles import failed
from loopforge.io.session import Sessions
from loopforge.runtime.ports import Clock

log = logging.getLogger(__name__)
Job = Callable[[], Awaitable[None]]
Hear = Callable[[Client, discord.Message], Awaitable[None]]
TRIES = (1.0, 2.0, 5.0, 15.0)
"""Seconds between tries to read, or to write down what the ledger could not take."""


class Reading(Protocol):
    """Who is told which places are read."""

    def attend(self, room: str) -> None:
        """In this room something is, or may be, heard."""

    async def tidy(self, seat: Seat, room: str) -> None:
        """This place is about to be read: what was left behind there may go."""


class Missed:
    """Reads what was missed; `hear` takes each message in."""

    def __init__(
        self, sessions: Sessions, clock: Clock, options: Options, reading: Reading, hear: Hear
    ) -> None:
        self._sessions, self._clock, self._options = sessions, clock, options
        self._reading, self._hear = reading, hear

    async def jobs(self, client: Client) -> list[tuple[int, Job]]:
        """What is to be read by a client that is back: channels, and what reads each."""
        places: dict[str, str] = {}
        try:
            places = await self._sessions.all("discord")
        except LedgerError as error:
            log.critical("what was missed on Discord cannot be found out: %s", error)

        def missed(place: str, room: str) -> Job:
            return lambda: self._missed(client, place, room)

        for room in set(places.values()):
            self._reading.attend(room)
        return [(channel_of(place), missed(place, room)) for place, room in places.items()]

    async def _missed(self, client: Client, place: str, room: str) -> None:
        """Hear what was missed in a place; what is said there meanwhile waits for it."""
        for pause in (*TRIES, None):
            try:
                await self._read(client, place, room)
            except (SendFailed, discord.DiscordException, aiohttp.ClientError, OSError) as error:
                failure = failed(error, place)
                log.info("what was missed in %s could not be read: %s", place, failure.why)
                if pause is None or failure.final or client.is_closed():
                    return
                await self._clock.sleep(pause)
            else:
                return

    async def _read(self, client: Client, place: str, room: str) -> None:
        """Hear what was said in a place since the last message that was heard there."""
        channel = await find(client, channel_of(place))
        if channel is None:
            return
        await self._reading.tidy(Seat(client, channel), room)
        last = await self._sessions.last(place)
        if not last:
            return
        after, count = discord.Object(int(last)), 0
        async for message in channel.history(
            after=after, limit=self._options.catch_up, oldest_first=True
        ):
            await self._hear(client, message)
            count += 1
        if count == self._options.catch_up:
            log.warning("more than %d messages were missed in %s", count, place)
