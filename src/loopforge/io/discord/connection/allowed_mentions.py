"""Whom a message of ours may ring on Discord: nobody, whatever stands in it."""

import discord

NOBODY = discord.AllowedMentions.none()
"""Given with every message that is posted or edited."""
