"""The Discord surface: accounts kept connected, what people do there heard, what is said shown.

Each account has one client, which is made anew whenever it ends (discord.py's own connection ends
on a payload that it does not understand, and on a first connection that fails); no account is
disturbed by another. Satisfies runtime.ports.Surface. Does not know settings, nor who made it.
"""

import asyncio
import logging

from loopforge.io.discord.connection.api_errors import (
    as_send_failure,
    connection_trouble,
    login_refusal,
    redact_tokens,
)
from loopforge.io.discord.connection.bot_accounts import BotAccounts
from loopforge.io.discord.connection.gateway_client import GatewayClient
from loopforge.io.discord.connection.rate_limit import DiscordPace
from loopforge.io.discord.discord_settings import DiscordOptions
from loopforge.io.discord.mate_threads import Threads
from loopforge.io.discord.receiving.button_presses import ButtonPresses
from loopforge.io.discord.receiving.file_download import FileDownload
from loopforge.io.discord.receiving.incoming_events import IncomingEvents
from loopforge.io.discord.receiving.slash_commands import SlashCommands
from loopforge.io.discord.sending.attachment_upload import FileUpload
from loopforge.io.discord.sending.draft_messages import TYPING_AGAIN, DiscordLiveUpdates
from loopforge.io.discord.sending.message_delivery import DiscordDelivery
from loopforge.io.discord.sending.personas import Personas
from loopforge.io.discord.sending.webhooks import Connector, DiscordWebhooks
from loopforge.io.platforms.surface_plugin import SurfaceParts
from loopforge.io.platforms.typing_updates import RoomWatch
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Outgoing

log = logging.getLogger(__name__)
WELL = 600.0
"""Seconds connected after which an account has not failed in a row any more."""


class Discord:
    """Our accounts on Discord. `connector` makes the connections of one client, for tests."""

    name = "discord"

    def __init__(
        self,
        parts: SurfaceParts,
        options: DiscordOptions,
        connector: Connector | None = None,
    ) -> None:
        self._clock, self._dice, self._options = parts.clock, parts.dice, options
        self._channels, self._connector = parts.front.channels, connector
        self._time = parts.reception.time
        self._crowd = crowd = BotAccounts(parts.accounts, parts.front.rooms.mates, parts.clock)
        self._hooks = hooks = DiscordWebhooks(crowd, parts.portraits, connector)
        self._paces = [DiscordPace() for _ in parts.accounts]
        manners, voices = parts.manners, Personas(crowd, hooks)
        files = FileDownload(parts.artifacts, parts.clock, manners.limits)
        uploads = FileUpload(parts.artifacts)
        self._stage = stage = DiscordLiveUpdates(crowd, voices, hooks, parts.front)
        streams, marks = manners.streams, manners.marks
        self._watch = watch = RoomWatch(
            parts.front, stage, parts.clock, again=TYPING_AGAIN, streams=streams, marks=marks
        )
        self.attend, self.states = watch.room, crowd.states
        self._outward = DiscordDelivery(crowd, voices, parts.front, hooks, uploads, stage)
        self._threads = threads = Threads(crowd, parts, options)
        self._slash = SlashCommands(parts.reception, threads)
        self._presses = ButtonPresses(parts.reception, threads)
        arrived = self._slash.offer
        self._inward = IncomingEvents(
            crowd, parts, options, hooks, files, watch, stage, threads, arrived
        )
        self._tasks = BackgroundTasks()
        self._over = asyncio.Event()
        # What is worth knowing is said here; discord.py logs requests with everything in them.
        logging.getLogger("discord").setLevel(logging.CRITICAL)

    async def run(self) -> None:
        """Keep every account connected until `close`."""
        for room in (await self._channels.all(self.name)).values():
            self._watch.room(room)  # what was said before this process may arrive now
        for index in range(len(self._crowd.accounts)):
            self._tasks.spawn(self._keep(index), f"Discord account {index}")
        await self._over.wait()

    async def close(self) -> None:
        """Leave Discord."""
        self._crowd.leave()
        await self._tasks.close()
        await self._inward.close()
        await self._slash.close()
        await self._presses.close()
        await self._threads.close()
        await self._watch.close()
        await self._hooks.close()
        self._over.set()

    @property
    def turns(self) -> list[int]:
        """How many calls of each account, by itself or by its webhooks, took their turn."""
        return [pace.turns for pace in self._paces]

    async def send(self, out: Outgoing) -> str:
        """Send it; the ids of its messages. Raises SendFailed."""
        try:
            sent = await self._outward.send(out)
        except Exception as error:
            raise as_send_failure(error, "that place") from None
        await self._stage.returned(out.place)
        return sent

    async def sent(self, out: Outgoing) -> str | None:
        """Whether all of it is there already. Raises SendFailed."""
        try:
            return await self._outward.sent(out)
        except Exception as error:
            raise as_send_failure(error, "that place") from None

    # ------------------------------------------------------------ one account

    async def _keep(self, index: int) -> None:
        """Connect, and again whenever that ends, later and later."""
        failures, told = 0, ""
        while True:
            began = self._clock.ticks()
            account = self._crowd.accounts[index]
            try:
                await self._connect(index)
                why = said = "the connection ended"
                lasting = ""
            except Exception as error:
                secrets = [each.token for each in self._crowd.accounts]
                lasting = login_refusal(error, account.renewal)
                why = lasting or redact_tokens(f"{type(error).__name__}: {error}", secrets)[:300]
                said = lasting or connection_trouble(error)
            self._crowd.stands(index, "refused" if lasting else "waiting", said)
            if self._clock.ticks() - began > WELL:
                failures, told = 0, ""
            mates = ", ".join(account.mates)
            if why != told:
                log.warning("the Discord account of %s is not connected: %s", mates, why)
            told = why
            await self._clock.sleep(self._pause(failures, bool(lasting)))
            failures += 1

    def _pause(self, failures: int, lasting: bool) -> float:
        pauses = self._options.pauses
        pause = self._options.refused if lasting else pauses[min(failures, len(pauses) - 1)]
        return pause * (1 + self._dice.bytes(1)[0] / 1024)

    async def _connect(self, index: int) -> None:
        """One client, from its first call to its end."""
        connector = self._connector() if self._connector is not None else None
        account = self._crowd.accounts[index]
        trace = self._paces[index].trace(self._time.answered)
        client = GatewayClient(account, self._options, connector, trace)
        self._slash.equip(client, self._inward.thread)
        self._inward.listen(client)
        self._presses.listen(client)
        self._crowd.place(index, client)
        try:
            async with client:
                await client.start(account.token)
        finally:
            self._inward.forget(client)
