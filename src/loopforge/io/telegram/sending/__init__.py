"""Sending to Telegram: messages, drafts, typing signs, answers of commands."""
