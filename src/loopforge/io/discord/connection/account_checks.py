"""Checks: what is wrong with an account and what to do about it; and what it is to be allowed.

Pure: account_setup.py asks, this judges. Does not cover what a server's own rules (slow mode,
AutoMod) do to single messages.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import discord
from loopforge.core.text.spoken_lists import join_as_prose, pluralize
from loopforge.io.platforms.surface_plugin import AccountFinding

NEEDED = {
    "view_channel": "",
    "send_messages": ": it reads there, and cannot answer",
    "send_messages_in_threads": "",
    "read_message_history": ": it can neither catch up nor know whether a message was sent",
    "attach_files": ": it cannot give files there",
    "add_reactions": ": it cannot show that it has seen a line",
}
"""What a mate does in a channel, by discord.py's names: nothing that it does not do is asked for.

With each what is not done without it.
"""
SHARED = {
    **NEEDED,
    "manage_webhooks": ": its mates speak there with their names before their words",
}
"""What an account of several mates needs, to speak under each one's name."""
WELCOME = {
    "create_public_threads": "mates open no threads there, and answer where they are called",
}
"""What an invitation asks for besides, and what is not done without it: nothing else needs it."""


def bot_invite_link(application: int, *, shared: bool) -> str:
    """The address by which the account is brought into a server, with exactly what it uses."""
    asked = discord.Permissions(**dict.fromkeys((*(SHARED if shared else NEEDED), *WELCOME), True))
    scopes = ("bot", "applications.commands")
    return discord.utils.oauth_url(application, permissions=asked, scopes=scopes)


PORTAL = "https://discord.com/developers/applications"
VITAL = ("send_messages", "read_message_history")
"""Without these a mate cannot talk at all, or cannot know whether a message was sent."""


class DiscordChannel(NamedTuple):
    """A channel that messages can be in, and what the account may do there."""

    name: str
    allowed: discord.Permissions


def application_findings(info: discord.AppInfo) -> Iterator[AccountFinding]:
    """What is wrong with an application, and what is right with it."""
    page, flags = f"{PORTAL}/{info.id}", info.flags
    if flags.gateway_message_content or flags.gateway_message_content_limited:
        yield AccountFinding("ok", "its Message Content Intent is on.")
    else:
        said = "its Message Content Intent is off, so that Discord does not let it in."
        mend = f"Switch it on under Privileged Gateway Intents, and save: {page}/bot"
        yield AccountFinding("bad", said, mend)
    if info.bot_require_code_grant:
        said = "it wants an OAuth2 Code Grant, so that nobody can invite it."
        yield AccountFinding("bad", said, f"Switch off Requires OAuth2 Code Grant: {page}/bot")
    if info.interactions_endpoint_url is not None:
        said = "its commands go to an address on the web, and never reach this home."
        mend = f"Empty the Interactions Endpoint URL, and save: {page}/information"
        yield AccountFinding("warn", said, mend)


def server_findings(
    server: str, channels: Sequence[DiscordChannel], address: str, *, shared: bool
) -> Iterator[AccountFinding]:
    """The same of a server that the account is in; `address` is that by which it is invited."""
    seen = [each for each in channels if each.allowed.view_channel]
    if not seen:
        said = f"in {server} it can see no channel."
        yield AccountFinding(
            "bad", said, "Give its role View Channel there, or in some of the channels."
        )
        return
    gaps = False
    for permission in SHARED if shared else NEEDED:
        # Where it may not write, Discord counts files as forbidden too: said once is enough.
        there = [e for e in seen if permission != "attach_files" or e.allowed.send_messages]
        if without := [each for each in there if not getattr(each.allowed, permission)]:
            gaps = True
            yield _lacking(server, seen, without, permission, address)
    if not gaps:
        where = pluralize(len(seen), "channel")
        yield AccountFinding("ok", f"in {server} it may do all that it needs, in {where}.")
    for permission, consequence in WELCOME.items():
        if without := [each for each in seen if not getattr(each.allowed, permission)]:
            places = join_as_prose((f"#{each.name}" for each in without), 4)
            right = permission_label(permission)
            said = f"it is without the permission {right} in {places}: {consequence}."
            yield AccountFinding("ok", f"in {server} {said}")


def _lacking(
    server: str,
    seen: Sequence[DiscordChannel],
    without: Sequence[DiscordChannel],
    permission: str,
    address: str,
) -> AccountFinding:
    label = permission_label(permission)
    if len(without) == len(seen):
        said = f"in {server} it lacks the permission {label}"
        mend = f"Give it to its role, or invite it anew: {address}"
    else:
        places = join_as_prose((f"#{each.name}" for each in without), 4)
        said = f"in {server} it lacks the permission {label} in {places}"
        mend = "Give it to its role in these channels, or leave them to others."
    vital = permission in VITAL and len(without) == len(seen)
    return AccountFinding("bad" if vital else "warn", f"{said}{SHARED[permission]}.", mend)


def permission_label(permission: str) -> str:
    """What Discord calls a permission."""
    return permission.replace("_", " ").title().replace(" In ", " in ")
