"""The permissions that an account of Discord needs, and the address that invites it with them."""

import discord

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


def invite(application: int, *, shared: bool) -> str:
    """The address by which the account is brought into a server, with exactly what it uses."""
    asked = discord.Permissions(**dict.fromkeys((*(SHARED if shared else NEEDED), *WELCOME), True))
    scopes = ("bot", "applications.commands")
    return discord.utils.oauth_url(application, permissions=asked, scopes=scopes)
