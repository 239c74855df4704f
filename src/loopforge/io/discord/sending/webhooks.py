"""Webhooks: by which many mates speak under their own names and faces through one account.

A picture that Discord shows must have a public address, or be a webhook's own. A home has no such
address, so each mate has a webhook of its own in each channel where it speaks, made when it first
does; a mark in its name says which picture it bears, and a mate with another face gets that once.
Where a channel has no room for more, and for people, one webhook of ours serves for everybody.

Their calls are made once and never again by themselves: a webhook knows no nonce, so whoever sends
reads the channel back first. Does not cover direct messages, which have none.
"""

import asyncio
import logging
import re
from collections import defaultdict
from collections.abc import Callable

import aiohttp
from msgspec import Struct, field

import discord
from loopforge.core.limits.retry_after import retry_after
from loopforge.errors import SendFailed
from loopforge.io.discord.connection.api_errors import CallBroken, redact_tokens
from loopforge.io.discord.connection.bot_accounts import BotAccounts
from loopforge.io.discord.connection.gateway_client import (
    PATIENCE,
    GatewayClient,
    Talk,
    own_permissions,
)
from loopforge.io.discord.text.markdown import webhook_name
from loopforge.mates.cards.avatar_image import Portraits

log = logging.getLogger(__name__)
NAME = "Loopforge"
OURS = 8
"""Webhooks of ours that a channel has at most, with the one for everybody."""
MOST = 12
"""Webhooks of anybody in a channel beyond which a mate gets none: Discord allows 15."""
FULL = 30007
"""Discord's code where a channel has 15."""
_OURS = re.compile(rf"{NAME}(?: (?P<label>\S+) [0-9a-f]{{6}})?")
Connector = Callable[[], aiohttp.BaseConnector]
Host = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.ForumChannel
"""Channels that can have webhooks."""


async def once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """A call that broke off is not made again: discord.py would, and say the same thing twice.

    Nor is one that is to wait for longer than a bot's: discord.py would sit there for hours.
    """
    try:
        response = await handler(request)
    except OSError as error:
        raise CallBroken(type(error).__name__) from None
    if response.status >= 500:
        response.release()
        raise CallBroken(f"status {response.status}")
    asked = response.headers.get("Retry-After", "") if response.status == 429 else ""
    wait = retry_after(asked, discord.utils.utcnow())
    if wait is not None and wait > PATIENCE:
        response.release()
        raise discord.RateLimited(wait)
    return response


class ChannelWebhooks(Struct):
    """An account's webhooks in a channel, by the mate's label ("" for everybody's).

    `ours` and `all`: how many of this home's, and of anybody's, are there. `refused`: labels of
    which Discord would not take the face, which are not tried again.
    """

    found: dict[str, discord.Webhook] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    ours: int = 0
    all: int = 0

    @property
    def room(self) -> bool:
        """Whether one more mate may have its own; a place is kept for everybody's."""
        return self.ours + ("" not in self.found) < OURS and self.all < MOST


class DiscordWebhooks:
    """Our webhooks, by channel."""

    def __init__(
        self, crowd: BotAccounts, portraits: Portraits, connector: Connector | None
    ) -> None:
        self._crowd, self._portraits, self._connector = crowd, portraits, connector
        self._sessions: dict[int, aiohttp.ClientSession] = {}
        self._racks: dict[tuple[int, int], ChannelWebhooks] = {}
        self._bare: dict[int, discord.Webhook] = {}
        self._ids: set[int] = set()
        self._others: set[int] = set()
        self._locks: dict[int, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def close(self) -> None:
        """Let the connections go."""
        for session in self._sessions.values():
            await session.close()

    # ------------------------------------------------------------ to speak by

    async def of(
        self, client: GatewayClient, channel: Talk, mate: str = ""
    ) -> discord.Webhook | None:
        """The webhook of a mate ("": of everybody) in a channel or a thread's channel.

        None where we may have none; of a mate also where there is room for everybody's only.
        """
        host = _host(channel)
        if host is None or not own_permissions(host).manage_webhooks:
            return None
        async with self._locks[host.id]:
            try:
                rack = await self._rack(client, host)
                if mate:
                    hook = await self._faced(client, host, rack, mate)
                else:
                    hook = rack.found.get("") or await self._made(client, host, rack, "", NAME)
            except discord.Forbidden:
                return None
            except discord.HTTPException as error:
                if error.code == FULL:
                    return None
                raise
        return self._bare.get(hook.id) if hook is not None else None

    async def by(self, channel: Talk, id: int) -> discord.Webhook | None:
        """The webhook of ours that said something in a channel; None if it is not ours, or gone.

        Raises SendFailed where Discord does not say.
        """
        if not await self._look(channel, id) and id not in self._bare:
            raise SendFailed("Discord does not say which webhooks there are.")
        return self._bare.get(id)

    async def _look(self, channel: Talk, id: int) -> bool:
        """Look for a webhook of ours among a channel's; whether whoever was asked answered."""
        host, told = _host(channel), True
        if id not in self._bare and host is not None:
            for client in self._crowd.clients():
                seen = client.get_channel(host.id)
                if isinstance(seen, Host) and own_permissions(seen).manage_webhooks:
                    async with self._locks[host.id]:
                        try:
                            await self._rack(client, seen)
                        except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
                            log.info("a channel's webhooks were not told: %s", redact_tokens(error))
                            told = False
        return told

    def lost(self, hook: discord.Webhook) -> None:
        """It is gone; the next one who speaks there gets another."""
        self._bare.pop(hook.id, None)
        for key, rack in list(self._racks.items()):
            if any(each.id == hook.id for each in rack.found.values()):
                del self._racks[key]

    def changed(self, channel: int) -> None:
        """Somebody made or took away webhooks there: where there was no room, there may be some."""
        for key, rack in list(self._racks.items()):
            if key[1] == channel and not rack.room:
                del self._racks[key]

    # ------------------------------------------------------------ who spoke

    async def ours(self, message: discord.Message) -> bool:
        """Whether one of our webhooks said this."""
        hook = message.webhook_id
        if hook in self._ids or message.application_id in self._crowd.applications():
            return True
        if hook is None or hook in self._others:
            return False
        seen = (client.get_channel(message.channel.id) for client in self._crowd.clients())
        channel = next((each for each in seen if isinstance(each, Talk)), None)
        told = channel is None or await self._look(channel, hook)
        if told and hook not in self._bare:
            self._others.add(hook)
        return hook in self._bare

    def said(self, message: discord.Message) -> bool:
        """Whether a webhook that is known to be ours said this."""
        hook = message.webhook_id
        ours = message.application_id in self._crowd.applications()
        return hook is not None and (hook in self._ids or ours)

    # ------------------------------------------------------------ found, made, changed

    async def _rack(self, client: GatewayClient, host: Host) -> ChannelWebhooks:
        """This account's webhooks in a channel; they are asked for once."""
        key = (client.id, host.id)
        if key not in self._racks:
            rack = ChannelWebhooks()
            for hook in await host.webhooks():
                maker = hook.user.id if hook.user is not None else 0
                name = _OURS.fullmatch(hook.name or "")
                mine = name is not None and maker == client.id and bool(hook.token)
                rack.all += 1
                rack.ours += name is not None and self._crowd.ours(maker) is not None
                if name is not None and mine:
                    rack.found.setdefault(name["label"] or "", hook)
                    self._know(client, hook)
            self._racks[key] = rack
        return self._racks[key]

    async def _faced(
        self, client: GatewayClient, host: Host, rack: ChannelWebhooks, mate: str
    ) -> discord.Webhook | None:
        """A mate's own, with the face that it has now; None where it can have none."""
        label, (_, colour) = webhook_name(mate).replace(" ", "-"), self._crowd.looks(mate)
        hook = rack.found.get(label)
        if not colour or label in rack.refused:
            return hook
        name = f"{NAME} {label} {self._portraits.fingerprint(mate, colour)}"
        if hook is not None and hook.name == name:
            return hook
        if hook is None and not rack.room:
            return None
        try:
            face = await self._portraits.picture(mate, colour)
            if hook is None:
                return await self._made(client, host, rack, label, name, face)
            rack.found[label] = await hook.edit(name=name, avatar=face)
        except (aiohttp.ClientError, OSError):
            self._racks.pop((client.id, host.id), None)  # it may have been made all the same
            raise
        except (discord.RateLimited, discord.DiscordServerError):
            self._racks.pop((client.id, host.id), None)  # another time, then
        except discord.DiscordException as error:
            rack.refused.add(label)
            log.info("a mate's face was not taken for a webhook: %s", redact_tokens(error))
        return rack.found.get(label)

    async def _made(
        self,
        client: GatewayClient,
        host: Host,
        rack: ChannelWebhooks,
        label: str,
        name: str,
        face: bytes | None = None,
    ) -> discord.Webhook:
        hook = await host.create_webhook(name=name, avatar=face)
        rack.found[label] = hook
        rack.ours, rack.all = rack.ours + 1, rack.all + 1
        self._know(client, hook)
        return hook

    def _know(self, client: GatewayClient, hook: discord.Webhook) -> None:
        """Keep the same webhook over connections on which nothing is done twice.

        Its calls take turns with those of its account. It knows the client because discord.py
        cannot read an answer with a reaction in it else.
        """
        if client.id not in self._sessions:
            connector = self._connector() if self._connector is not None else None
            traces = [client.http.http_trace] if client.http.http_trace is not None else []
            self._sessions[client.id] = aiohttp.ClientSession(
                connector=connector,
                middlewares=(once,),
                trace_configs=traces,
                proxy=client.http.proxy,
            )
        token, session = hook.token or "", self._sessions[client.id]
        self._bare[hook.id] = discord.Webhook.partial(
            hook.id, token, session=session, client=client
        )
        self._ids.add(hook.id)


def _host(channel: Talk) -> Host | None:
    """The channel whose webhooks speak there; None if it can have none."""
    host = channel.parent if isinstance(channel, discord.Thread) else channel
    return host if isinstance(host, Host) else None
