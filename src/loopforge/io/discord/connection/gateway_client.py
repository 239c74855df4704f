"""One account of ours as a client of discord.py.

Only raw events are used, so that messages count which were said before it started. An event that
discord.py does not understand would end its connection: it is logged once and passed over, and a
message in it is asked for again. Without what a session stands on (READY, its servers) or without
the channel of a message, the connection does end, and what was missed is read. Does not decide
anything, and does not start again by itself (surface.py does).
"""

import logging
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp

import discord
from discord import app_commands
from discord.gateway import KeepAliveHandler
from loopforge.io.discord.connection.api_errors import redact_tokens
from loopforge.io.discord.connection.posted_messages import MessageCalls, note_answer
from loopforge.io.discord.discord_settings import DiscordOptions
from loopforge.io.platforms.bot_tokens import BotAccount

log = logging.getLogger(__name__)
NOBODY = discord.AllowedMentions.none()
"""Given with every message that is posted or edited: whatever stands in it, it rings nobody."""
PATIENCE = 30.0
"""Seconds that Discord may ask to wait before a call is given back; the least discord.py takes."""

VITAL = ("READY", "RESUMED", "GUILD_CREATE")
"""Events without which a session is none."""
SAID = ("MESSAGE_CREATE", "MESSAGE_UPDATE")
"""Events that bring a message."""
ENDED, HOUR = 3, 3600.0
"""Sessions that Discord may end within so many seconds before this client ends, and is paused.

The library begins one anew after 5 seconds; Discord takes a token back that did so 1000 times in a
day.
"""
CUT, MINUTE = 20, 60.0
"""Connections, too, that may end in so many seconds: the library makes a new one at once."""
UNREACHED = 7
"""Tries in a row that reach no session before this client ends: the library would wait longer and
longer, up to 17 minutes, and be called connected meanwhile."""
ASKED, REMEMBERED = "INTERACTION_CREATE", 1000
"""The event that brings a command or a press, and of how many it is known that they came."""
NEEDED = ("author", "mentions", "role_mentions")
"""What discord.py leaves out of a message that came without it."""

Talk = (
    discord.TextChannel
    | discord.VoiceChannel
    | discord.StageChannel
    | discord.Thread
    | discord.DMChannel
)
"""Where messages can be."""


def is_complete_message(message: discord.Message) -> bool:
    """Whether a message came with all that is needed of it."""
    return all(hasattr(message, name) for name in NEEDED)


def own_permissions(channel: discord.abc.GuildChannel | discord.Thread) -> discord.Permissions:
    """What this account may do there; all, while Discord has not told who it is there."""
    me: discord.Member | None = channel.guild.me
    return channel.permissions_for(me) if me is not None else discord.Permissions.all()


def environment_proxy() -> str | None:
    """The proxy by which the environment wants Discord reached (HTTPS_PROXY, NO_PROXY), if any.

    Other libraries look for it by themselves. Of another kind than http, it can be used by no call.
    """
    named = getproxies()
    proxy = named.get("https") or named.get("all", "")
    if not proxy.startswith("http://") or proxy_bypass("discord.com"):
        return None
    return proxy


class SessionsEnded(discord.ClientException):
    """Discord ends one session, or connection, after the other."""


class GatewayClient(discord.Client):
    """A client of one account. `user` is known once it is connected.

    `in_session`: it is told what happens, as far as anybody knows; not between two connections.

    Its commands are for where it is itself, not for servers without it and talks among others:
    who added the application to their own account could give them there.
    """

    def __init__(
        self,
        account: BotAccount,
        options: DiscordOptions,
        connector: aiohttp.BaseConnector | None,
        trace: aiohttp.TraceConfig,
    ) -> None:
        trace.on_response_chunk_received.append(note_answer)
        intents = discord.Intents(
            guilds=True, messages=True, reactions=True, webhooks=True, message_content=True
        )
        super().__init__(
            intents=intents,
            max_messages=None,
            guild_ready_timeout=options.guilds,
            max_ratelimit_timeout=PATIENCE,
            allowed_mentions=NOBODY,
            connector=connector,
            proxy=environment_proxy(),
            http_trace=trace,
        )
        self.account = account
        self.tree = app_commands.CommandTree(
            self,
            allowed_installs=app_commands.AppInstallationType(guild=True),
            allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True),
        )
        self.privates: dict[int, discord.DMChannel] = {}
        self.speech, self.calls = TokenConflict(), MessageCalls()
        self.in_session = False
        self._told: set[str] = set()
        self._asked: deque[int] = deque(maxlen=REMEMBERED)
        self._ended: deque[float] = deque(maxlen=ENDED)
        self._cut: deque[float] = deque(maxlen=CUT)
        self._unreached = 0
        parsers = self._connection.parsers  # discord.py has no other place for this
        for event in parsers.keys() - set(VITAL):
            parsers[event] = partial(self._parse, event, parsers[event])

    @property
    def id(self) -> int:
        """Its user's id; 0 before it is known."""
        return self.user.id if self.user is not None else 0

    def met(self, channel: object) -> Talk | None:
        """The channel that a message came in, remembered if it is private; None for another kind.

        discord.py remembers no private talks, since Discord does not tell of them at the start.
        """
        if isinstance(channel, discord.DMChannel):
            return self.privates.setdefault(channel.id, channel)
        return channel if isinstance(channel, Talk) else None

    def sees(self, channel: object) -> bool:
        """Whether it may read there."""
        if isinstance(channel, discord.DMChannel):
            return True
        if not isinstance(channel, discord.abc.GuildChannel | discord.Thread):
            return False
        if isinstance(channel, discord.Thread) and channel.parent is None:
            return False
        return own_permissions(channel).read_messages

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Tell of an event; of what comes while it closes, nobody: there is no loop.

        Raises SessionsEnded, so that the library begins no further one.
        """
        if self.is_closed():
            return
        super().dispatch(event, *args, **kwargs)
        if event in ("connect", "resumed"):
            self._unreached, self.in_session = 0, True
        if event == "disconnect":
            self.in_session = False
            self._unreached += 1
            if self._unreached >= UNREACHED:
                raise SessionsEnded("Discord cannot be reached; it is tried again by itself")
            if (
                self.ws is not None
                and self.ws.session_id is None
                and self._often(self._ended, HOUR)
            ):
                raise SessionsEnded("Discord ends one session after the other.")
            if self._often(self._cut, MINUTE):
                raise SessionsEnded("Discord ends one connection after the other.")

    async def close(self) -> None:
        """End it, and a connection that was given up while it began: the library knows none such.

        The thread of its heartbeats would go on after its client's end.
        """
        await self.calls.close()
        await super().close()
        for thread in threading.enumerate():
            ws = thread.ws if isinstance(thread, KeepAliveHandler) else None
            if ws is not None and getattr(ws, "_connection", None) is self._connection:
                await ws.close()

    def _often(self, times: deque[float], within: float) -> bool:
        """Note one more time; whether it were as many as are noted, within so many seconds."""
        times.append(now := self.loop.time())
        return len(times) == times.maxlen and now - times[0] < within

    async def on_error(self, event: str, /, *_args: Any, **_more: Any) -> None:
        """A handler failed: said without what it was given, which may hold anything."""
        error = sys.exc_info()[1]
        log.error("%s of Discord was not handled: %s", event, redact_tokens(repr(error)))

    # ------------------------------------------------------------ what comes spoiled

    def _parse(self, event: str, parse: Callable[[Any], object], data: Any) -> None:
        """Let discord.py take an event in. Raises what it does if more than this would be lost.

        What is asked for comes once, however often it is told: only the first is answered.
        """
        if event == ASKED:
            if (asked := _id(data, "id")) in self._asked:
                return
            self._asked.append(asked)
        try:
            parse(data)
        except Exception as error:
            channel, id = _id(data, "channel_id"), _id(data, "id")
            if event in SAID and channel and id:
                self.passed_over(event, error)
                self.dispatch("spoiled", channel, id, edited=event == SAID[1])  # after those before
            elif event in SAID or event.startswith("MESSAGE_DELETE"):
                raise
            else:
                self.passed_over(event, error)

    def passed_over(self, event: str, error: Exception | None = None) -> None:
        """Say once of each kind that it comes spoiled; never what it holds."""
        if event not in self._told:
            self._told.add(event)
            why = type(error).__name__ if error is not None else "something in it is missing"
            log.warning("%s of Discord was not understood and is passed over: %s", event, why)


def _id(data: Any, key: str) -> int:
    """An id in a payload; 0 if there is none."""
    found = str(data.get(key) or "") if isinstance(data, dict) else ""
    return int(found) if found.isdecimal() else 0


# ---------------------------------------------------------------- another program with our token

FEW = 3
"""Messages of nobody here that say it; one or two may be of calls that broke off."""
SOON, RECENT = 60_000 << 22, 3_600_000 << 22
"""A minute and an hour, in ids: within the first a call may still be answered."""
REMEMBERED = 1000
"""Messages of this process, and of nobody, that are remembered."""


class TokenConflict:
    """What one account says and hears of itself: whether another program speaks by it.

    Discord lets any number of programs in by one token, and tells none of the others. But an
    account hears what is said by itself: what this process did not say, another one did, or it is
    of a call that broke off. So a few of them within an hour say it.
    """

    def __init__(self) -> None:
        self._said: deque[int] = deque(maxlen=REMEMBERED)
        self._heard: deque[int] = deque(maxlen=REMEMBERED)

    def said(self, message: int) -> None:
        """This process said this."""
        self._said.append(message)

    def heard(self, message: int) -> bool:
        """The account is told that it said this; whether it is clear now that others use it."""
        ours = set(self._said)
        unknown = [id for id in self._heard if id not in ours and id > message - RECENT]
        self._heard = deque([*unknown, message], maxlen=REMEMBERED)
        return sum(id < message - SOON for id in unknown) >= FEW
