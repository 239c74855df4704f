"""Connections to Telegram: polling, errors, the keys of chats."""
