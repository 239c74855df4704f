"""Emojis that do something where they are put as a reaction: they stop, or answer a question."""

STOP_EMOJIS = ("🛑", "✋", "⏹️", "⏹", "🙊")
"""Reactions that say stop; the last is for platforms that have few."""
EMOJI_ANSWERS = {"👍": "approve", "✅": "approve", "👎": "deny", "❌": "deny"}
"""What reactions to a question whether a tool may be used say; skins of thumbs are no matter."""
SKINS = "".join(map(chr, range(0x1F3FB, 0x1F400)))


def says_something(emoji: str) -> bool:
    """Whether an emoji does something where it is put."""
    return emoji in STOP_EMOJIS or emoji.rstrip(SKINS) in EMOJI_ANSWERS
