"""The link by which a bot is invited into a server, with the permissions that it asks for.

The permissions that mates need stand here, and nowhere else. Whether an account has them is looked
at in account_checks.py.
"""

from __future__ import annotations

import discord

NEEDED = (
    "view_channel",
    "send_messages",
    "send_messages_in_threads",
    "read_message_history",
    "attach_files",
    "add_reactions",
)
"""What a mate does in a channel: nothing that it does not do is asked for."""
WEBHOOKS = "manage_webhooks"
"""What an account of several mates needs besides, to speak under each one's name."""
WELCOME = {
    "create_public_threads": "mates open no threads there, and answer where they are called",
}
"""What an invitation asks for besides, and what is not done without it: nothing else needs it."""


def needed(*, shared: bool) -> tuple[str, ...]:
    """The permissions that an account needs, by their names in discord.py."""
    return (*NEEDED, WEBHOOKS) if shared else NEEDED


def invite(application: int, *, shared: bool) -> str:
    """The address by which the account is brought into a server, with exactly what it uses."""
    asked = discord.Permissions(**dict.fromkeys((*needed(shared=shared), *WELCOME), True))
    scopes = ("bot", "applications.commands")
    return discord.utils.oauth_url(application, permissions=asked, scopes=scopes)
