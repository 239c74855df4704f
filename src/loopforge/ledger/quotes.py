"""Quotes: which later texts still hold what somebody wants forgotten.

To be filled.
"""

from __future__ import annotations

import unicodedata


def folded(text: str) -> str:
    """The text without differences of case, of width, of composition and of white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
