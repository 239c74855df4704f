"""Checks: from what Discord says of an account to what is wrong with it, and what to do.

Pure: account_visit.py asks, this judges. Which permissions mates need stands in bot_invite.py.
Does not cover what a server's own rules (slow mode, AutoMod) do to single messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

import discord
from loopforge.io.discord.connection.bot_invite import WELCOME, invite, needed
from loopforge.io.platforms.account_findings import AccountFinding, listed

PORTAL = "https://discord.com/developers/applications"
MESSAGE_CONTENT = 1 << 18 | 1 << 19
"""An application's flags: it may read messages, as one in many servers or in few."""
VITAL = ("send_messages", "read_message_history")
"""Without these a mate cannot talk at all, or cannot know whether a message was sent."""
CONSEQUENCES = {
    "send_messages": ": it reads there, and cannot answer",
    "read_message_history": ": it can neither catch up nor know whether a message was sent",
    "manage_webhooks": ": its mates speak there with their names before their words",
    "add_reactions": ": it cannot show that it has seen a line",
    "attach_files": ": it cannot give files there",
}


class DiscordChannel(Struct, frozen=True):
    """A channel, and what the account may do there."""

    name: str
    permissions: int


class DiscordServer(Struct, frozen=True):
    """A server that the account is in, and its channels that messages can be in."""

    name: str
    channels: tuple[DiscordChannel, ...] = ()


class DiscordStanding(Struct, frozen=True, kw_only=True):
    """What Discord says of an account. `servers` are the first ones, of as many as `of`.

    `code_grant`: it can be invited only by a program of its maker's. `endpoint`: its commands go to
    an address on the web instead.
    """

    application: int
    name: str
    flags: int
    code_grant: bool = False
    endpoint: bool = False
    servers: tuple[DiscordServer, ...] = ()
    of: int = 0


def findings(standing: DiscordStanding, *, shared: bool) -> list[AccountFinding]:
    """Everything that was looked at, from the account down to its channels."""
    found = [AccountFinding("ok", f"the token is good: this is {standing.name}.")]
    found += _application(standing)
    if not standing.servers:
        said = "the bot is in no server yet, so that nobody can talk to it."
        address = invite(standing.application, shared=shared)
        return [*found, AccountFinding("warn", said, f"Open this, and choose a server: {address}")]
    for server in standing.servers:
        found += _server(server, standing.application, shared=shared)
    if standing.of > len(standing.servers):
        rest = standing.of - len(standing.servers)
        found.append(
            AccountFinding("ok", f"it is in {rest} more servers, which were not looked at.")
        )
    return found


def _application(standing: DiscordStanding) -> Iterator[AccountFinding]:
    page = f"{PORTAL}/{standing.application}"
    if standing.flags & MESSAGE_CONTENT:
        yield AccountFinding("ok", "its Message Content Intent is on.")
    else:
        said = "its Message Content Intent is off, so that Discord does not let it in."
        mend = f"Switch it on under Privileged Gateway Intents, and save: {page}/bot"
        yield AccountFinding("bad", said, mend)
    if standing.code_grant:
        said = "it wants an OAuth2 Code Grant, so that nobody can invite it."
        yield AccountFinding("bad", said, f"Switch off Requires OAuth2 Code Grant: {page}/bot")
    if standing.endpoint:
        said = "its commands go to an address on the web, and never reach this home."
        mend = f"Empty the Interactions Endpoint URL, and save: {page}/information"
        yield AccountFinding("warn", said, mend)


def _server(server: DiscordServer, application: int, *, shared: bool) -> Iterator[AccountFinding]:
    seen = [each for each in server.channels if _may(each, "view_channel")]
    if not seen:
        said = f"in {server.name} it can see no channel."
        yield AccountFinding(
            "bad", said, "Give its role View Channel there, or in some of the channels."
        )
        return
    gaps = False
    for permission in needed(shared=shared):
        # Where it may not write, Discord counts files as forbidden too: said once is enough.
        there = [e for e in seen if permission != "attach_files" or _may(e, "send_messages")]
        if without := [each for each in there if not _may(each, permission)]:
            gaps = True
            yield _lacking(server, seen, without, permission, application, shared=shared)
    if not gaps:
        count = len(seen)
        where = f"{count} channel" if count == 1 else f"{count} channels"
        yield AccountFinding("ok", f"in {server.name} it may do all that it needs, in {where}.")
    for permission, consequence in WELCOME.items():
        if without := [each for each in seen if not _may(each, permission)]:
            places = listed(f"#{each.name}" for each in without)
            said = f"it is without the permission {_label(permission)} in {places}: {consequence}."
            yield AccountFinding("ok", f"in {server.name} {said}")


def _lacking(
    server: DiscordServer,
    seen: Sequence[DiscordChannel],
    without: Sequence[DiscordChannel],
    permission: str,
    application: int,
    *,
    shared: bool,
) -> AccountFinding:
    label = _label(permission)
    if len(without) == len(seen):
        said = f"in {server.name} it lacks the permission {label}"
        mend = f"Give it to its role, or invite it anew: {invite(application, shared=shared)}"
    else:
        places = listed(f"#{each.name}" for each in without)
        said = f"in {server.name} it lacks the permission {label} in {places}"
        mend = "Give it to its role in these channels, or leave them to others."
    vital = permission in VITAL and len(without) == len(seen)
    return AccountFinding(
        "bad" if vital else "warn", f"{said}{CONSEQUENCES.get(permission, '')}.", mend
    )


def _label(permission: str) -> str:
    """What Discord calls a permission."""
    return permission.replace("_", " ").title().replace(" In ", " in ")


def _may(channel: DiscordChannel, permission: str) -> bool:
    return bool(getattr(discord.Permissions(channel.permissions), permission))
