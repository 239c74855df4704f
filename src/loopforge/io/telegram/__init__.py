"""Telegram: a room as a chat, a mate as one who speaks there."""
