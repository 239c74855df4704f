"""Text between Telegram and the house: entities, Markdown, incoming messages."""
