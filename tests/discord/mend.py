"""What SimCord's payloads lack or have otherwise than Discord's, put right on the way out.

Only what Discord's schemas or a strict client (hikari) miss, and what makes a difference to a bot:
users' clans, a forum's defaults, an application's portal, a message's nonce and application, and
that a guild comes with its open threads alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.discord.town import World
    from tests.discord.words import Bot

GUILD: dict[str, Any] = {
    "nsfw_level": 0,
    "hub_type": None,
    "incidents_data": None,
    "safety_alerts_channel_id": None,
}
GUILD_READ: dict[str, Any] = {
    **GUILD,
    "nsfw": False,
    "home_header": None,
    "region": "us-east",
    "widget_enabled": False,
    "widget_channel_id": None,
    "max_stage_video_channel_users": 50,
    "max_video_channel_users": 25,
}
EVENTS_ONLY = [
    "members",
    "channels",
    "threads",
    "presences",
    "voice_states",
    "stage_instances",
    "guild_scheduled_events",
    "soundboard_sounds",
    "large",
    "unavailable",
    "joined_at",
    "member_count",
]
"""What a guild's event tells and its resource does not."""
KEPT = {
    "THREAD_MEMBERS_UPDATE": (
        "id",
        "guild_id",
        "member_count",
        "added_members",
        "removed_member_ids",
    ),
    "THREAD_DELETE": ("id", "guild_id", "parent_id", "type"),
}
"""Events that tell less than SimCord does."""
VOICES = (2, 13)
"""Channels in which one speaks have no topic."""
FORUM: dict[str, Any] = {"default_sort_order": None, "default_forum_layout": 0}
APPLICATION: dict[str, Any] = {
    "type": None,
    "redirect_uris": [],
    "interactions_endpoint_url": None,
    "role_connections_verification_url": None,
    "approximate_guild_count": 1,
    "approximate_user_install_count": 0,
    "approximate_user_authorization_count": 0,
    "explicit_content_filter": 0,
    "eligible_oauth2_scopes": [],
}


EMOJI = re.compile(r"<a?(:\w{1,32}:)\d{1,20}>")
"""Of a server; none in the city has any."""


def event(name: str, body: dict[str, Any], world: World) -> dict[str, Any]:
    """A gateway event as Discord says it."""
    guild = body.get("guild_id")
    made: dict[str, Any] = anything(body, world)
    if name in ("GUILD_CREATE", "GUILD_UPDATE"):
        if "threads" in made:
            made["threads"] = [t for t in made["threads"] if not t["thread_metadata"]["archived"]]
        return {**GUILD, **made}
    if name in KEPT:
        return {key: one for key, one in made.items() if key in KEPT[name]}
    if name == "GUILD_AUDIT_LOG_ENTRY_CREATE":
        return {key: one for key, one in made.items() if one is not None or key == "target_id"}
    if guild is not None:
        made["guild_id"] = guild
    return made


def guild(made: dict[str, Any]) -> dict[str, Any]:
    """A guild that was asked for."""
    return {**GUILD_READ, **{key: one for key, one in made.items() if key not in EVENTS_ONLY}}


def guilds(asked: list[dict[str, Any]], bot: Bot, world: World) -> list[dict[str, Any]]:
    """The guilds a bot is in, in the short form."""
    inside = [one for one in asked if bot.id in world.town.guilds[int(one["id"])].members]
    short = ("id", "name", "icon", "banner", "features")
    permissions = str(world.town.compute_permissions(world.guild.id, bot.id))
    return [
        {**{k: one[k] for k in short}, "owner": False, "permissions": permissions} for one in inside
    ]


def stored(body: dict[str, Any]) -> dict[str, Any]:
    """A message as Discord keeps it: of an emoji that may not be used there, its name alone."""
    text = body.get("content")
    return {**body, "content": EMOJI.sub(r"\1", text)} if isinstance(text, str) else body


def anything(value: Any, world: World) -> Any:
    """Whatever a response or an event holds, by its shape; changed in place."""
    if isinstance(value, list):
        return [anything(one, world) for one in value]
    if not isinstance(value, dict):
        return value
    made = {key: anything(one, world) for key, one in value.items()}
    if "username" in made and "discriminator" in made:
        made.setdefault("primary_guild", None)
    if "joined_at" in made and "premium_since" in made:
        made.setdefault("banner", None)
    if "hoist" in made and "mentionable" in made:
        made |= _tags(int(made["id"]), world)
    if "available_tags" in made:
        made = {**FORUM, **made}
    if made.get("type") in VOICES and "permission_overwrites" in made:
        made.pop("topic", None)
    if "recipients" in made or "permission_overwrites" in made:
        made.setdefault("flags", 0)
    if "default_member_permissions" in made:
        needed = made["default_member_permissions"]
        made["default_member_permissions"] = None if needed is None else str(needed)
        made |= {"version": made["id"], "integration_types": made.get("integration_types") or [0]}
    if "response_message_loading" in made:
        made = {key: one for key, one in made.items() if one is not None}
    if "authorizing_integration_owners" in made and "data" not in made:
        _asked(made, world)
    if "author" in made and "content" in made and "channel_id" in made:
        _message(made, world)
    return made


def _tags(role: int, world: World) -> dict[str, Any]:
    """Whose a role is: a bot's own says by which bot it came."""
    bots = [bot for bot in world.bots.values() if bot.role == role]
    return {"tags": {"bot_id": str(bots[0].id)}} if bots else {}


def _message(made: dict[str, Any], world: World) -> None:
    """A message: its guild is said in events alone; an application's webhook names it."""
    if made.get("nonce", "") is None:
        del made["nonce"]
    made.pop("guild_id", None)
    made.setdefault("components", [])
    if "message_reference" in made:
        made["message_reference"].pop("fail_if_not_exists", None)
    webhook = made.get("webhook_id")
    if webhook is not None and int(webhook) in world.town.owners:
        made["application_id"] = str(world.town.owners[int(webhook)].application)


def _asked(made: dict[str, Any], world: World) -> None:
    """A message's interaction: where it was asked, and under which message was pressed."""
    record = world.town.interactions[int(made["id"])]
    if record.source_message_id and made["type"] == 3:
        made["interacted_message_id"] = str(record.source_message_id)
    if record.source_message_id and made["type"] == 5:
        before = [
            one.id
            for one in world.town.interactions.values()
            if one.modal and one.source_message_id == record.source_message_id
        ]
        press = {**made, "id": str(before[-1]), "type": 3}
        press["interacted_message_id"] = str(record.source_message_id)
        press["authorizing_integration_owners"] = {"0": str(record.guild_id or 0)}
        made["triggering_interaction_metadata"] = press
    made["authorizing_integration_owners"] = {"0": str(record.guild_id or 0)}


def portal_flags(bot: Bot) -> int:
    """An application's flags: its privileged intents, as one in fewer than 100 guilds has them."""
    bits = {"presences": 1 << 13, "members": 1 << 15, "message_content": 1 << 19}
    return sum(bit for name, bit in bits.items() if name in bot.approved)
