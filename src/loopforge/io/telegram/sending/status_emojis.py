"""Status emojis: which emoji Telegram shows for each mark on a line that called a mate."""

from loopforge.io.platforms.emoji_reactions import Mark

STATUS_EMOJIS: dict[Mark, str] = {
    "seen": "👀",
    "waiting": "🤔",
    "answered": "👌",
    "failed": "💔",
    "": "",
}
"""Bots may only put Telegram's own reactions: of a tick, a cross and an hourglass it has none."""
