"""Stop: the words, the sign and the reactions by which people silence mates.

Works on the text alone. What a stop does is the room's (chat/server.py).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from loopforge.chat.speaking.addressee import WORD, named
from loopforge.core.text.topics import folded

STOP_SIGN = "\N{OCTAGONAL SIGN}"
STOP_WORDS = frozenset(
    {
        "stop",
        "please",
        "pls",
        "it",
        "that",
        "this",
        "now",
        "just",
        "everyone",
        "everybody",
        "all",
        "talking",
        "ok",
        "okay",
    }
)
"""A line of at most STOP_LENGTH words, all of them among these and one of them stop, is a stop."""
STOP_LENGTH = 5
STOP_EMOJIS = ("🛑", "✋", "⏹️", "⏹", "🙊")
"""Reactions that say stop; the last is for platforms that have few."""

_BOT = re.compile(r"\A\s*@[\w-]+")


def is_stop(text: str, names: Mapping[str, str] | None = None, *, called: bool = False) -> bool:
    """Whether a line is just a stop: "stop", "STOP!", "/stop", "please stop", "stop it", the sign.

    "Stop by the shop" is none. It may be said to mates: `names` gives each one's name by handle;
    `called`: a mention that it begins with is of a bot that is there for several of them.
    """
    return _stops(text) or _stops(_unnamed(text, names or {}, called=called))


def _unnamed(text: str, names: Mapping[str, str], *, called: bool) -> str:
    """The folded text without the names of mates and mentions of them, wherever they stand."""
    text = folded(unicodedata.normalize("NFKC", text))
    if called:
        text = _BOT.sub(" ", text)
    spans = {(address.place, address.end) for _, address in named(text, names)}
    for place, end in sorted(spans, reverse=True):
        if text[place:end].lstrip("@") != "stop":  # a mate may have that name
            text = f"{text[:place]} {text[end:]}"
    return text


def _stops(text: str) -> bool:
    text = unicodedata.normalize("NFKC", text)
    words = [word.casefold() for word in WORD.findall(text)]
    if not words:
        return STOP_SIGN in text
    said = "stop" in words or STOP_SIGN in text
    return said and len(words) <= STOP_LENGTH and STOP_WORDS.issuperset(words)
