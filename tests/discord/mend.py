"""What SimCord's payloads lack or have otherwise than Discord's, put right on the way out.

Only what Discord's schemas or a strict client (hikari) miss, and what makes a difference to a bot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.discord.town import World

GUILD_EXTRA: dict[str, Any] = {
    "nsfw_level": 0,
    "nsfw": False,
    "hub_type": None,
    "incidents_data": None,
    "safety_alerts_channel_id": None,
    "latest_onboarding_question_id": None,
    "home_header": None,
    "inventory_settings": None,
    "embedded_activities": [],
    "region": "us-east",
}


def mended(event: str, body: dict[str, Any], world: World) -> dict[str, Any]:
    """A gateway event as Discord says it."""
    if event in ("GUILD_CREATE", "GUILD_UPDATE"):
        return {**GUILD_EXTRA, **body}
    if event in ("MESSAGE_CREATE", "MESSAGE_UPDATE"):
        return message(body, world)
    return body


def message(body: dict[str, Any], world: World) -> dict[str, Any]:
    """A message: one of an application's webhook names the application."""
    if body.get("nonce", "") is None:
        del body["nonce"]
    webhook = body.get("webhook_id")
    if webhook is not None and int(webhook) in world.town.owners:
        body["application_id"] = str(world.town.owners[int(webhook)].application)
    if isinstance(body.get("referenced_message"), dict):
        message(body["referenced_message"], world)
    return body
