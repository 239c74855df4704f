"""Standing: which messages of groups are drafts, and which turns are said already, place by place.

Asked and changed under the lock of the place, so that no draft is posted after its line. Only as
much is remembered as can still matter: what a draft was is in the ledger, too.

Knows keys of places and turns; sends nothing.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

REMEMBERED = 500
"""Drafts, and turns that are over, of which it is remembered."""
MET = 5000
"""Numbers that are remembered of a chat, or of a bot's chats."""
SENT = 200
"""Sendings that are remembered of them."""


class GroupDraftKey(NamedTuple):
    """A turn in a place."""

    place: str
    turn: str


class DraftMessages:
    """The drafts of one surface."""

    def __init__(self) -> None:
        self._messages: dict[GroupDraftKey, int] = {}
        self._over: dict[GroupDraftKey, int] = {}
        self._lost: dict[GroupDraftKey, int] = {}

    def over(self, key: GroupDraftKey) -> bool:
        """Whether the turn was said there, or taken back: nothing of it is drafted any more."""
        return key in self._over

    def message(self, key: GroupDraftKey) -> int:
        """The message that shows the turn there; 0 if this process posted none."""
        return self._messages.get(key, 0)

    def put(self, key: GroupDraftKey, message: int) -> None:
        """This message shows the turn there."""
        _remember(self._messages, key, message)

    def end(self, key: GroupDraftKey) -> int:
        """Nothing of it is drafted there from now on; the message that showed it, or 0."""
        message = self._messages.pop(key, 0)
        _remember(self._over, key, message)
        return message

    def lose(self, key: GroupDraftKey) -> None:
        """Its posting broke off: nobody knows whether it stands, and it is drafted no more."""
        _remember(self._over, key, 0)
        _remember(self._lost, key, 0)

    def lost(self, key: GroupDraftKey) -> bool:
        """Whether a draft of it may stand that nobody has looked for."""
        return key in self._lost

    def found(self, key: GroupDraftKey) -> None:
        """It was looked for."""
        self._lost.pop(key, None)


class MetDraft:
    """Numbers that are accounted for and stand in no ledger: of strangers, commands, notices.

    `like` are the places whose messages are numbered together.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, ...], dict[int, None]] = {}

    def add(self, like: tuple[str, ...], number: int) -> None:
        """A message of this number is somebody's, or a notice of ours."""
        numbers = self._numbers.setdefault(like, {})
        numbers[number] = None
        while len(numbers) > MET:
            del numbers[next(iter(numbers))]

    def above(self, like: tuple[str, ...], number: int) -> set[int]:
        """Those above a number."""
        return {each for each in self._numbers.get(like, ()) if each > number}


class Sent:
    """Which numbers this process's sendings were given, and when each began (ticks)."""

    def __init__(self) -> None:
        self._sent: dict[tuple[str, ...], deque[tuple[float, int]]] = {}

    def add(self, like: tuple[str, ...], began: float, number: int) -> None:
        """What began to be sent then has this number."""
        self._sent.setdefault(like, deque(maxlen=SENT)).append((began, number))

    def later(self, like: tuple[str, ...], began: float) -> int:
        """The lowest number of what began to be sent at this time or later; 0: nothing was."""
        return min((number for at, number in self._sent.get(like, ()) if at >= began), default=0)


def _remember(kept: dict[GroupDraftKey, int], key: GroupDraftKey, message: int) -> None:
    kept[key] = message
    while len(kept) > REMEMBERED:
        del kept[next(iter(kept))]
