"""Status emojis: which emoji Discord shows for each mark on a line that called a mate."""

from loopforge.io.platforms.emoji_reactions import Mark

STATUS_EMOJIS: dict[Mark, str] = {
    "seen": "👀",
    "waiting": "⏳",
    "answered": "✅",
    "failed": "❌",
}
