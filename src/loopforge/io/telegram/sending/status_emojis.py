"""The emojis that Telegram shows on a line that called a mate, one for each mark.

When a line bears which mark is decided in io/platforms/status_reactions.py.
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
