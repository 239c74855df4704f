"""The emojis by which a message in Telegram shows how its line stands.

When a line bears which is status_reactions.py's.
"""

from __future__ import annotations

from loopforge.io.platforms.status_reactions import Mark

STATUS_EMOJIS: dict[Mark, str] = {
    "seen": "👀",
    "waiting": "🤔",
    "answered": "👌",
    "failed": "💔",
    "": "",
}
"""Bots may only put Telegram's own reactions: of a tick, a cross and an hourglass it has none."""
