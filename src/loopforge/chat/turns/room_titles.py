"""Titles: when a room is due a title of its own, and what a usable title looks like.

A title is due after the first few lines, and again when the subject has moved and the talk has
settled on the new one; never when a person gave the title. Pure: who words the title (a model) is
not known here; what a model gave is cleaned, and where nothing is left, keywords make one.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from loopforge.chat.room.room_state import RoomState
from loopforge.core.context_window import ContextEntry
from loopforge.core.text.topics import (
    COMMON,
    fold_case,
    overlap_coefficient,
    stem,
    topic_stems,
    topic_words,
)

Why = Literal["", "first", "moved"]

FIRST_LINES = 4
"""A room without a title gets one after this many lines ..."""
FIRST_HEARD = 2
"""... of which people said this many."""
APART = 12
"""Least lines between two titles, or two tries at one."""
RETRY = 4
"""Least lines after a try that gave no title."""
WINDOW = 4
"""Recent lines are compared in two halves of this many."""
MOVED = 0.15
"""The subject may have moved when no more than this share of words is common to old and new."""
SETTLED = 0.2
"""The talk has settled on something new when the two halves have at least this much in common."""
LONGEST = 60
"""Characters of a title."""


def due(state: RoomState) -> Why:
    """Whether the room is due a title, and why: "first", "moved", or "" for not."""
    if state.titled_by not in ("", "room"):
        return ""
    if not state.titled_by:
        ripe = state.spoken >= FIRST_LINES and state.heard >= FIRST_HEARD and state.recent(1)
        tried = state.untried != state.untitled
        return "first" if ripe and (not tried or state.untried >= RETRY) else ""
    if state.untitled < APART or state.untried < RETRY:
        return ""
    return "moved" if _moved(state) else ""


def _moved(state: RoomState) -> bool:
    """Both halves of the recent lines are off the old subject, and on one new subject."""
    recent = state.recent(2 * WINDOW)
    if len(recent) < 2 * WINDOW:
        return False
    old = topic_stems("\n".join(str(words) for words in state.basis if words.text is not None))
    later = _about(recent[WINDOW:])
    if not (old and later) or overlap_coefficient(old, later) > MOVED:
        return False
    earlier = _about(recent[:WINDOW])
    off = bool(earlier) and overlap_coefficient(old, earlier) <= MOVED
    return off and overlap_coefficient(earlier, later) >= SETTLED


def _about(entries: Sequence[ContextEntry]) -> frozenset[str]:
    return topic_stems("\n".join(str(e.text) for e in entries if e.text.text is not None))


# ---------------------------------------------------------------- wording

_LABEL = re.compile(r"^\W*(?:the\s+)?(?:\w+\s+)?title\W*[:：\-–—]\W*", re.IGNORECASE)
_FIELD = re.compile(r'^\s*\{\s*"\w+"\s*:\s*"((?:[^"\\]|\\.)*)')
_MARKUP = re.compile(r"[*_`#~|<>{}\[\]]+")
_CONTRACTED = re.compile(r"['’](?:m|re|ve|ll|d|t)$", re.IGNORECASE)
_EDGES = " \t.,;:!。．！·•-–—\"'“”„‚‘’«»‹›「」『』()"
_USELESS = re.compile(
    r"^(?:title|untitled|none|null|n/?a|unknown|conversation|i['’]?m sorry\b.*|sorry\b.*"
    r"|as an ai\b.*|i can(?:not|['’]t)\b.*|\[?forgotten\]?|here (?:is|are)\b.*)$",
    re.IGNORECASE,
)


def clean(raw: str) -> str:
    """A title as it may stand: one line, no quotes, no label, no markup, no full stop, not long.

    "" where nothing usable is left.
    """
    field = _FIELD.match(raw)
    text = field[1] if field else raw
    lines = (_line(line) for line in text.replace("\\n", "\n").splitlines())
    return next((line for line in lines if line and not _USELESS.match(line)), "")


def _line(line: str) -> str:
    line = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in line)
    while True:
        bare = _LABEL.sub("", _MARKUP.sub(" ", line))
        bare = _short(" ".join(bare.split()).strip(_EDGES))
        if bare == line:
            return bare
        line = bare


def _short(line: str) -> str:
    """At most LONGEST characters, cut between words where there is a space to cut at."""
    if len(line) <= LONGEST:
        return line
    head, space, _ = line[: LONGEST + 1].rpartition(" ")
    return head if space and len(head) >= LONGEST // 2 else line[:LONGEST]


def fallback(texts: Iterable[str], names: Iterable[str] = ()) -> str:
    """A title made of the words that come up most, such as "Kettle, tea, green".

    None of the `names` of who is there, and no "I'm".
    """
    spelled: dict[str, str] = {}
    counts: Counter[str] = Counter()
    left_out = topic_stems("\n".join(names))
    for text in texts:
        for word in topic_words(text):
            root = stem(fold_case(word))
            if root in COMMON or root in left_out or _CONTRACTED.search(word):
                continue
            spelled.setdefault(root, word)
            counts[root] += 1
    places = {root: place for place, root in enumerate(spelled)}
    most = sorted(counts, key=lambda root: (-counts[root], places[root]))[:3]
    named = ", ".join(spelled[root] for root in sorted(most, key=places.__getitem__))
    return clean(named[:1].upper() + named[1:]) or "Small talk"
