"""What Discord refuses and SimCord lets pass: looked at before a call is carried out.

Each rule raises a BackendError with Discord's own status and code. Knows the town and the call;
changes nothing but an archived thread that is written to, which wakes up as in Discord.
"""

from collections.abc import Sequence
from typing import Any

from simcord.backend.errors import BackendError

from tests.discord.town import Town

LARGEST = 10 * 1024 * 1024
"""Bytes a file may have where nobody pays."""
FORBIDDEN_NAMES = ("clyde", "discord")
"""Words no webhook may bear."""
DM = 1
"""The type of a direct message channel."""
READ_HISTORY, ATTACH = 1 << 16, 1 << 15
"""The permissions to read what was said before, and to give files."""
CONTENT = ("content", "embeds", "components", "sticker_ids", "poll", "attachments")


def invalid(field: str, code: str, message: str) -> BackendError:
    """400/50035, with what is wrong about which field."""
    errors = {field: {"_errors": [{"code": code, "message": message}]}}
    return BackendError(400, 50035, "Invalid Form Body", errors=errors)


def check(town: Town, method: str, parts: Sequence[str], body: Any, sizes: Sequence[int]) -> None:
    """All of them, for one call. `sizes` are those of its uploads, in bytes."""
    if any(size > LARGEST for size in sizes):
        raise BackendError(413, 40005, "Request entity too large")
    told: dict[str, Any] = body if isinstance(body, dict) else {}
    if parts[0] == "channels":
        _private(town, int(parts[1]))
    match [method, *parts]:
        case ["POST", "channels", channel, "messages"]:
            _archived(town, int(channel), writing=True)
            _empty(told, sizes)
            if sizes and not _may(town, int(channel)) & ATTACH:
                raise BackendError(403, 50013, "Missing Permissions")
            _reply(town, int(channel), told)
        case ["PATCH" | "PUT" | "DELETE", "channels", channel, "messages", *_]:
            _archived(town, int(channel), writing=False)
        case ["POST", "channels", _, "messages", message, "threads"]:
            if int(message) in town.channels:
                said = "A thread has already been created for this message"
                raise BackendError(400, 160004, said)
        case ["POST", "channels", _, "webhooks"]:
            _named("name", told)
        case ["POST", "webhooks", _, token] if token in town.webhook_tokens:
            _named("username", told)
            _empty(told, sizes)


def _private(town: Town, channel: int) -> None:
    """A direct message channel is nobody's business but of those who are in it."""
    found = town.channels.get(channel)
    if found is not None and found.type == DM and channel not in town.dm_channels.values():
        raise BackendError(403, 50001, "Missing Access")


def _archived(town: Town, channel: int, *, writing: bool) -> None:
    thread = town.channels.get(channel)
    if thread is None or thread.thread_metadata is None or not thread.thread_metadata.archived:
        return
    if thread.thread_metadata.locked or not writing:
        raise BackendError(400, 50083, "Thread is archived")
    town.edit_channel(channel, {}, thread_metadata={"archived": False})


def _may(town: Town, channel: int) -> int:
    """What whoever calls may do there; in private all that is asked for here."""
    found = town.channels.get(channel)
    guild = found.guild_id if found is not None else None
    return (
        town.compute_permissions(guild, town.bot_user.id, channel)
        if guild
        else READ_HISTORY | ATTACH
    )


def _empty(told: dict[str, Any], sizes: Sequence[int]) -> None:
    forward = (told.get("message_reference") or {}).get("type") == 1
    if not sizes and not forward and not any(told.get(key) for key in CONTENT):
        raise BackendError(400, 50006, "Cannot send an empty message")


def _reply(town: Town, channel: int, told: dict[str, Any]) -> None:
    """An answer needs the right to read; to a message that is gone, that the caller lets it be."""
    reference = told.get("message_reference")
    if not reference or reference.get("type", 0) != 0:
        return
    if not _may(town, channel) & READ_HISTORY:
        said = "Cannot reply without permission to read message history"
        raise BackendError(403, 160002, said)
    if int(reference["message_id"]) not in town.messages.get(channel, {}):
        if reference.get("fail_if_not_exists", True):
            raise invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        del told["message_reference"]


def _named(field: str, told: dict[str, Any]) -> None:
    name = str(told.get(field) or "").lower()
    for word in FORBIDDEN_NAMES:
        if word in name:
            message = f'Username cannot contain "{word}"'
            raise invalid(field, "USERNAME_INVALID_CONTAINS", message)
