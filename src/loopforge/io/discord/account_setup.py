"""Account setup: a short visit to Discord with one account's token, without its gateway.

Asks how the account stands (account_checks.py judges it), tells Discord its commands, and gives it
a mate's name and face. What Discord refuses of that is a finding, and no failure. Does not hear or
say anything.
"""

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any, cast

import aiohttp

import discord
from loopforge.core.mates.mate_file import Mate
from loopforge.errors import NotLetIn, Unreachable
from loopforge.io.discord.connection.account_checks import (
    DiscordChannel,
    application_findings,
    bot_invite_link,
    server_findings,
)
from loopforge.io.discord.connection.api_errors import as_send_failure
from loopforge.io.discord.connection.gateway_client import GatewayClient
from loopforge.io.discord.connection.rate_limit import DiscordPace
from loopforge.io.discord.discord_settings import DiscordOptions
from loopforge.io.discord.receiving.slash_commands import SlashCommands
from loopforge.io.discord.sending.webhooks import Connector
from loopforge.io.platforms.platform_time import PlatformTime
from loopforge.io.platforms.surface_plugin import (
    AccountFinding,
    AccountVisit,
    ConnectReport,
    clock_findings,
)
from loopforge.mates.cards.avatar_image import Portraits
from loopforge.runtime.system_clock import SystemClock

LONGEST = 60.0
"""Seconds that a visit may take; Discord may ask for patience in between."""
MOST = 5
"""Servers that are looked at closely; each costs three calls."""
NAME = 32
"""Characters that a user's name may have."""
TALK = (discord.TextChannel, discord.VoiceChannel, discord.StageChannel, discord.ForumChannel)


async def set_up_account(order: AccountVisit, connector: Connector | None = None) -> ConnectReport:
    """Look at an account, and tell Discord what is wanted. Raises NotLetIn, Unreachable."""
    # What is worth knowing is found; discord.py would warn of voice, which nobody uses here.
    logging.getLogger("discord").setLevel(logging.CRITICAL)
    made = connector() if connector is not None else None
    time = PlatformTime(SystemClock())
    trace = DiscordPace().trace(time.answered)
    client = GatewayClient(order.account, DiscordOptions(), made, trace)
    try:
        async with asyncio.timeout(LONGEST):
            async with client:  # it never connects to the gateway
                await client.login(order.account.token)
                address = bot_invite_link(client.application_id or 0, shared=order.shared)
                found = await _looked_at(client, address, shared=order.shared)
                found += clock_findings(time.amiss("Discord"))
                found += [await _register(client)] if order.told else []
                found += (
                    await _present(client, order.face, order.portraits or Portraits())
                    if order.face
                    else []
                )
    except discord.LoginFailure:
        raise NotLetIn(
            "Discord does not know this token. Make a new one (Reset Token, on the page Bot of the "
            "application): https://discord.com/developers/applications"
        ) from None
    except aiohttp.ClientConnectorError:
        raise Unreachable("Discord cannot be reached. Try again.") from None
    except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
        why = as_send_failure(error, "Discord").why
        raise Unreachable(f"Discord could not be asked: {why} Try again.") from None
    return ConnectReport(tuple(found), (("Bring it into a server", address),))


async def _looked_at(client: GatewayClient, address: str, *, shared: bool) -> list[AccountFinding]:
    """Everything that was looked at, from the account down to its channels."""
    info = client.application
    assert info is not None  # known since the login
    found = [AccountFinding("ok", f"the token is good: this is {client.user}.")]
    found += application_findings(info)
    guilds = [guild async for guild in client.fetch_guilds(limit=200, with_counts=False)]
    if not guilds:
        said = "the bot is in no server yet, so that nobody can talk to it."
        mend = f"Open this, and choose a server: {address}"
        return [*found, AccountFinding("warn", said, mend)]
    for each in guilds[:MOST]:
        guild = await client.fetch_guild(each.id, with_counts=False)
        me = await guild.fetch_member(client.id)
        channels = [
            DiscordChannel(channel.name, channel.permissions_for(me))
            for channel in await guild.fetch_channels()
            if isinstance(channel, TALK)
        ]
        found += server_findings(guild.name, channels, address, shared=shared)
    if (rest := len(guilds) - MOST) > 0:
        said = f"it is in {rest} more servers, which were not looked at."
        found.append(AccountFinding("ok", said))
    return found


async def _register(client: GatewayClient) -> AccountFinding:
    """Tell Discord the commands, just as the home does whenever it connects."""
    nobody = cast("Any", None)  # carries out commands; here they are only told
    SlashCommands(nobody, nobody).equip(client, nobody)
    try:
        made = await client.tree.sync()
    except discord.DiscordException as error:
        why = as_send_failure(error, "Discord").why
        mend = "The home tells them again whenever it starts."
        return AccountFinding("warn", f"Discord did not take the commands: {why}", mend)
    return AccountFinding("ok", f"Discord knows its {len(made)} commands; type / to see them.")


async def _present(client: GatewayClient, mate: Mate, portraits: Portraits) -> list[AccountFinding]:
    """Give the account the mate's name and face."""
    user, wanted = client.user, mate.name[:NAME]
    assert user is not None
    if user.name == wanted:
        named = AccountFinding("ok", f"its name is {wanted}.")
    else:
        named = await _tried(user.edit(username=wanted), f"its name is {wanted} now.", "name")
    name = wanted if named.state == "ok" else user.name
    # A picture goes with the name that there is: Discord's schema wants one.
    avatar = await portraits.picture(mate.handle, mate.colour)
    face = user.edit(username=name, avatar=avatar)
    return [named, await _tried(face, f"it has {mate.name}'s face now.", "picture")]


async def _tried(edit: Awaitable[object], done: str, what: str) -> AccountFinding:
    try:
        await edit
    except (discord.DiscordException, ValueError) as error:
        why = as_send_failure(error, "Discord").why
        mend = "Discord lets it be changed twice an hour: run this again later, or set it in the "
        return AccountFinding("warn", f"its {what} stays: {why}", f"{mend}developer portal.")
    return AccountFinding("ok", done)
