"""The emojis that Discord shows on a line that called a mate, one for each mark.

When a line bears which mark is decided in io/platforms/status_reactions.py.
"""

from __future__ import annotations

from loopforge.io.platforms.status_reactions import Mark

STATUS_EMOJIS: dict[Mark, str] = {
    "seen": "👀",
    "waiting": "⏳",
    "answered": "✅",
    "failed": "❌",
    "": "",
}
