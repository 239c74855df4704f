"""Webhooks: by which many mates speak under their own names through one account.

One webhook of ours for each channel, found or made. Its calls are made once and never again by
themselves: a webhook knows no nonce, so whoever sends reads the channel back first. Does not cover
direct messages, which have none.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable

import aiohttp

import discord
from loopforge.io.discord.client import Client, Talk, rights
from loopforge.io.discord.crowd import Crowd
from loopforge.io.discord.troubles import Broken, scrub

log = logging.getLogger(__name__)
NAME = "Loopforge"
Connector = Callable[[], aiohttp.BaseConnector]
Host = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.ForumChannel
"""Channels that can have webhooks."""


async def once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """A call that broke off is not made again: discord.py would, and say the same thing twice."""
    try:
        response = await handler(request)
    except OSError as error:
        raise Broken(type(error).__name__) from None
    if response.status >= 500:
        response.release()
        raise Broken(f"status {response.status}")
    return response


class Hooks:
    """Our webhooks, by channel."""

    def __init__(self, crowd: Crowd, connector: Connector | None) -> None:
        self._crowd, self._connector = crowd, connector
        self._session: aiohttp.ClientSession | None = None
        self._made: dict[int, discord.Webhook] = {}
        self._ids: set[int] = set()
        self._others: set[int] = set()
        self._locks: dict[int, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def close(self) -> None:
        """Let the connections go."""
        if self._session is not None:
            await self._session.close()

    async def of(self, client: Client, channel: Talk) -> discord.Webhook | None:
        """The webhook of a channel or of a thread's channel; None where we may have none."""
        host = channel.parent if isinstance(channel, discord.Thread) else channel
        if not isinstance(host, Host):
            return None
        if not rights(host).manage_webhooks:
            return None
        async with self._locks[host.id]:
            if host.id not in self._made:
                try:
                    found = await self._found(client, host)
                    found = found or await host.create_webhook(name=NAME)
                except discord.Forbidden:
                    return None
                except discord.HTTPException as error:
                    if error.code == 30007:  # a channel has 15 at most
                        return None
                    raise
                self._made[host.id] = self._bare(found, client)
                self._ids.add(found.id)
        return self._made[host.id]

    def lost(self, hook: discord.Webhook) -> None:
        """It is gone; the next one who speaks there gets another."""
        self._made = {host: each for host, each in self._made.items() if each.id != hook.id}

    async def ours(self, message: discord.Message) -> bool:
        """Whether one of our webhooks said this."""
        hook = message.webhook_id
        if hook in self._ids or message.application_id in self._crowd.applications():
            return True
        if hook is None or hook in self._others:
            return False
        for client in self._crowd.clients():
            channel = client.get_channel(message.channel.id)
            host = channel.parent if isinstance(channel, discord.Thread) else channel
            if isinstance(host, Host) and rights(host).manage_webhooks:
                try:
                    found = await self._found(client, host)
                except discord.HTTPException as error:
                    log.info("the webhooks of a channel could not be read: %s", scrub(error))
                    continue
                if found is not None and found.id == hook:
                    self._ids.add(found.id)
                    return True
        self._others.add(hook)
        return False

    def said(self, message: discord.Message) -> bool:
        """Whether a webhook that is known to be ours said this."""
        return message.webhook_id in self._ids

    async def _found(self, client: Client, host: Host) -> discord.Webhook | None:
        for hook in await host.webhooks():
            maker = hook.user.id if hook.user is not None else 0
            if hook.token and hook.name == NAME and maker == client.id:
                return hook
        return None

    def _bare(self, hook: discord.Webhook, client: Client) -> discord.Webhook:
        """The same webhook over connections on which nothing is done twice.

        It knows the client because discord.py cannot read an answer with a reaction in it else.
        """
        if self._session is None:
            connector = self._connector() if self._connector is not None else None
            self._session = aiohttp.ClientSession(connector=connector, middlewares=(once,))
        token, session = hook.token or "", self._session
        return discord.Webhook.partial(hook.id, token, session=session, client=client)
