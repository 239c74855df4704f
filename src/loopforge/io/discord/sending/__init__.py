"""Sending to Discord: messages, webhooks, drafts, typing signs, attachments."""
