"""Counting tokens without the model's own tokenizer: a stated estimate.

A token of today's tokenizers holds about four bytes of English and two or three of other
languages in UTF-8; the estimate rounds up, so that a prompt is rather too short than too long.
"""

MOST_TOKENS = 10**9
"""Tokens of one answer that are believed; sums of more would outgrow the database."""


def whole_tokens(tokens: float) -> int:
    """Whole, whatever a server tells: no record holds half of one."""
    return int(min(max(tokens, 0), MOST_TOKENS))


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: its UTF-8 bytes over 3.5, rounded up."""
    return -(-2 * len(text.encode("utf-8", "replace")) // 7)
