"""The emojis by which a message on Discord shows how its line stands.

When a line bears which is status_reactions.py's.
"""

from __future__ import annotations

from loopforge.io.platforms.status_reactions import Mark

STATUS_EMOJIS: dict[Mark, str] = {
    "seen": "👀",
    "waiting": "⏳",
    "answered": "✅",
    "failed": "❌",
}
